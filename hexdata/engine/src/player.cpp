#include "player.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "mohex.hpp"
#include "resistance_player.hpp"
#include "solver_player.hpp"
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

void PlayerSpec::know(std::string_view key) {
    if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
}

bool PlayerSpec::has(std::string_view key) {
    know(key);
    return std::ranges::find(parameters_, key, &std::pair<std::string, std::string>::first) != parameters_.end();
}

bool PlayerSpec::take(std::string_view key, std::string& value) {
    know(key);
    const auto found = std::ranges::find(parameters_, key, &std::pair<std::string, std::string>::first);
    if (found == parameters_.end()) return false;
    value = found->second;
    parameters_.erase(found);
    return true;
}

PlayerSpec::Range PlayerSpec::take_range(std::string_view key, std::uint32_t least, std::uint32_t most) {
    const std::string name(key);
    std::string value;
    take(key, value);
    const std::string_view view = value;
    const std::size_t dash = view.find('-');
    Range range{};
    const bool parsed = parse(view.substr(0, dash), range.low) &&
                        parse(dash == std::string_view::npos ? view : view.substr(dash + 1), range.high);
    if (!parsed || range.low < least || range.high > most || range.low > range.high)
        refuse("parameter '" + name + "' must be a number or a rising range like 200-400 within " +
               std::to_string(least) + " to " + std::to_string(most) + ", not '" + value + "'");
    settings_.push_back({name, value, false});
    return range;
}

PlayerSpec::Budget PlayerSpec::take_budget(std::uint32_t most_playouts) {
    const bool timed = has("seconds");
    if (timed == has("playouts")) refuse("give either 'playouts' or 'seconds'");
    if (timed) return {{most_playouts, most_playouts}, take_number("seconds", 0.0, 0.001, 100'000.0)};
    return {take_range("playouts", 1, most_playouts), 0.0};
}

std::uint32_t PlayerSpec::take_count(std::string_view key, std::uint32_t standard, std::uint32_t least,
                                     std::uint32_t most) {
    std::string value;
    std::uint32_t number = standard;
    if (take(key, value) && (!parse(std::string_view(value), number) || number < least || number > most))
        refuse("parameter '" + std::string(key) + "' must be a whole number from " + std::to_string(least) + " to " +
               std::to_string(most) + ", not '" + value + "'");
    settings_.push_back({std::string(key), std::to_string(number), false});
    return number;
}

bool PlayerSpec::take_switch(std::string_view key, bool standard) {
    std::string value;
    if (!take(key, value)) value = standard ? "on" : "off";
    if (value != "on" && value != "off")
        refuse("parameter '" + std::string(key) + "' must be on or off, not '" + value + "'");
    settings_.push_back({std::string(key), value, true});
    return value == "on";
}

double PlayerSpec::take_number(std::string_view key, double standard, double least, double most) {
    std::string value;
    double number = standard;
    if (take(key, value) && (!parse(std::string_view(value), number) || !(number >= least && number <= most)))
        refuse("parameter '" + std::string(key) + "' must be a number from " + shown(least) + " to " + shown(most) +
               ", not '" + value + "'");
    settings_.push_back({std::string(key), shown(number), false});
    return number;
}

void PlayerSpec::finish() const {
    if (parameters_.empty()) return;
    std::string known = known_.empty() ? "none" : "";
    for (const std::string& key : known_) known += (known.empty() ? "" : ", ") + key;
    refuse("unknown parameter '" + parameters_.front().first + "' (expected: " + known + ")");
}

namespace {

struct Maker {
    std::string_view name;
    std::unique_ptr<Player> (*make)(PlayerSpec&);
};

constexpr std::array<Maker, 7> kMakers{{
    {"random", [](PlayerSpec&) -> std::unique_ptr<Player> { return std::make_unique<RandomPlayer>(); }},
    {"uct", [](PlayerSpec& spec) -> std::unique_ptr<Player> { return std::make_unique<UctPlayer>(spec); }},
    {"mohex",
     [](PlayerSpec& spec) -> std::unique_ptr<Player> {
         return std::make_unique<MohexPlayer>(spec, Patterns::learned());
     }},
    {"mohex-2011",
     [](PlayerSpec& spec) -> std::unique_ptr<Player> { return std::make_unique<MohexPlayer>(spec, Patterns::none()); }},
    {"resistance",
     [](PlayerSpec& spec) -> std::unique_ptr<Player> { return std::make_unique<ResistancePlayer>(spec, 1); }},
    {"resistance-4ply",
     [](PlayerSpec& spec) -> std::unique_ptr<Player> { return std::make_unique<ResistancePlayer>(spec, 4); }},
    {"solver", [](PlayerSpec& spec) -> std::unique_ptr<Player> { return std::make_unique<SolverPlayer>(spec); }},
}};

std::unique_ptr<Player> make(PlayerSpec& spec) {
    const auto maker = std::ranges::find(kMakers, spec.name(), &Maker::name);
    if (maker == kMakers.end()) {
        std::string names;
        for (const Maker& known : kMakers) names.append(names.empty() ? "" : ", ").append(known.name);
        throw std::invalid_argument("unknown player '" + spec.name() + "' (expected: " + names + ")");
    }
    std::unique_ptr<Player> player = maker->make(spec);
    spec.finish();
    return player;
}

}  // namespace

std::unique_ptr<Player> make_player(std::string_view text) {
    PlayerSpec spec(text);
    return make(spec);
}

std::vector<Setting> player_settings(std::string_view text) {
    PlayerSpec spec(text);
    make(spec);
    return spec.settings();
}

}  // namespace hexdata
