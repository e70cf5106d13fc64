#include "player.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "uct.hpp"

namespace hexdata {

namespace {

class RandomPlayer final : public Player {
public:
    void think(const Board& board, Rng& rng, const Poll&, Thought& thought) override {
        const std::vector<Cell> legal = board.legal();
        thought = {};
        thought.best = legal[rng.below(static_cast<std::uint32_t>(legal.size()))];
    }
};

template <typename T>
bool parse(std::string_view text, T& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

std::string shown(double value) {
    std::array<char, 32> buffer;
    return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

}  // namespace

PlayerSpec::PlayerSpec(std::string_view text) : text_(text) {
    const std::size_t colon = text.find(':');
    name_ = text.substr(0, colon);
    if (colon == std::string_view::npos) return;
    std::string_view rest = text.substr(colon + 1);
    for (;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view part = rest.substr(0, comma);
        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos) refuse("'" + std::string(part) + "' is not of the form name=value");
        const std::string key(part.substr(0, equals));
        for (const auto& [seen, value] : parameters_)
            if (seen == key) refuse("parameter '" + key + "' is given twice");
        parameters_.emplace_back(key, part.substr(equals + 1));
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
}

void PlayerSpec::refuse(const std::string& why) const { throw std::invalid_argument("player '" + text_ + "': " + why); }

bool PlayerSpec::take(std::string_view key, std::string& value) {
    known_.emplace_back(key);
    const auto found = std::ranges::find(parameters_, key, &std::pair<std::string, std::string>::first);
    if (found == parameters_.end()) return false;
    value = found->second;
    parameters_.erase(found);
    return true;
}

PlayerSpec::Range PlayerSpec::take_range(std::string_view key, std::uint32_t least, std::uint32_t most) {
    const std::string name(key);
    std::string value;
    if (!take(key, value)) refuse("parameter '" + name + "' is missing");
    const std::string_view view = value;
    const std::size_t dash = view.find('-');
    Range range{};
    const bool parsed = parse(view.substr(0, dash), range.low) &&
                        parse(dash == std::string_view::npos ? view : view.substr(dash + 1), range.high);
    if (!parsed || range.low < least || range.high > most || range.low > range.high)
        refuse("parameter '" + name + "' must be a number or a rising range like 200-400 within " +
               std::to_string(least) + " to " + std::to_string(most) + ", not '" + value + "'");
    return range;
}

double PlayerSpec::take_number(std::string_view key, double standard, double least, double most) {
    std::string value;
    if (!take(key, value)) return standard;
    double number = 0;
    if (!parse(std::string_view(value), number) || !(number >= least && number <= most))
        refuse("parameter '" + std::string(key) + "' must be a number from " + shown(least) + " to " + shown(most) +
               ", not '" + value + "'");
    return number;
}

void PlayerSpec::finish() const {
    if (parameters_.empty()) return;
    std::string known = known_.empty() ? "none" : "";
    for (const std::string& key : known_) known += (known.empty() ? "" : ", ") + key;
    refuse("unknown parameter '" + parameters_.front().first + "' (expected: " + known + ")");
}

std::unique_ptr<Player> make_player(std::string_view text) {
    PlayerSpec spec(text);
    std::unique_ptr<Player> player;
    if (spec.name() == "random")
        player = std::make_unique<RandomPlayer>();
    else if (spec.name() == "uct")
        player = std::make_unique<UctPlayer>(spec);
    else
        throw std::invalid_argument("unknown player '" + spec.name() + "' (expected: random, uct)");
    spec.finish();
    return player;
}

}  // namespace hexdata
