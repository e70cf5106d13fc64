#include "selfplay.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "portable_math.hpp"
#include "solver_player.hpp"

namespace hexdata {

namespace {

constexpr std::uint8_t kEndedByChain = 0, kEndedByProof = 1;

// Integer weights, so that the draw itself is exact: the visits at temperature 1, else visits^(1/T) in units of 2^-32
// of the largest.
std::uint64_t weight(std::uint32_t visits, std::uint32_t most, double temperature) {
    if (temperature == 1.0) return visits;
    const double exponent = portable_log(static_cast<double>(visits) / most) / temperature;
    if (exponent < -32.0) return 0;
    return static_cast<std::uint64_t>(portable_exp(exponent) * 4294967296.0);
}

Cell draw(const std::vector<Visits>& visits, double temperature, Rng& rng) {
    const std::uint32_t most = std::ranges::max(visits, {}, &Visits::count).count;
    std::uint64_t sum = 0;
    for (const Visits& v : visits) sum += weight(v.count, most, temperature);
    std::uint64_t ticket = rng.below64(sum);
    for (const Visits& v : visits) {
        const std::uint64_t w = weight(v.count, most, temperature);
        if (ticket < w) return v.cell;
        ticket -= w;
    }
    return visits.back().cell;
}

void check_temperature(double temperature) {
    // The negation also catches a temperature that is not a number.
    if (!(temperature >= 0.0 && temperature <= 1000.0))
        throw std::invalid_argument("temperature must be from 0 to 1000, not " + std::to_string(temperature));
}

void play_opening(Board& board, const std::vector<int>& opening, std::size_t game) {
    for (std::size_t ply = 0; ply < opening.size(); ++ply) {
        try {
            board.play(opening[ply]);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument("opening " + std::to_string(game) + ", ply " + std::to_string(ply) + ": " +
                                        error.what());
        }
    }
}

void append_move(GameRecords& records, Cell move, const Thought& thought, bool sampled) {
    records.moves.push_back(move);
    records.budget.push_back(thought.budget);
    records.root_value.push_back(thought.value);
    records.sampled.push_back(sampled ? 1 : 0);
    for (const Visits& v : thought.visits) {
        records.visit_cells.push_back(v.cell);
        records.visit_counts.push_back(v.count);
    }
    records.visit_offsets.push_back(static_cast<std::int64_t>(records.visit_cells.size()));
}

std::optional<Colour> proved_winner(const Board& board, std::uint64_t nodes, const Poll& poll) {
    if (nodes == 0) return std::nullopt;
    proof::SolveOptions options;
    options.limit_nodes = nodes;
    const proof::Winner winner = solve_board(board, options, poll).winner;
    if (winner == proof::Winner::kUnknown) return std::nullopt;
    return winner == proof::Winner::kBlack ? Colour::black : Colour::white;
}

}  // namespace

Side::Side(const std::string& player, std::uint64_t seed) : player_(make_player(player)), seed_(seed) {}

void Side::new_game(std::uint64_t seed) {
    seed_ = seed;
    player_->new_game();
}

Side::Choice Side::choose(const Board& board, double temperature, const Poll& poll, Thought& thought) {
    if (board.winner())
        throw std::invalid_argument(std::string("there is nothing to search: ") + name_of(*board.winner()) +
                                    " has won");
    check_temperature(temperature);
    Rng rng(seed_, board.moves().size());
    player_->think(board, rng, poll, thought);
    const bool sampled = temperature > 0.0 && !thought.visits.empty();
    return {sampled ? draw(thought.visits, temperature, rng) : thought.best, sampled};
}

Thought think_once(const Board& board, const std::string& player, std::uint64_t seed, const Poll& poll) {
    Thought thought;
    Side(player, seed).choose(board, 0.0, poll, thought);
    return thought;
}

GameRecords play_games(int size, const std::string& black, const std::string& white,
                       std::span<const std::vector<int>> openings, std::span<const std::uint64_t> seeds,
                       const Dither& dither, std::uint64_t end_nodes, const Poll& poll) {
    check_size(size);
    if (openings.size() != seeds.size())
        throw std::invalid_argument("seeds must be as many as openings (" + std::to_string(openings.size()) +
                                    "), not " + std::to_string(seeds.size()));
    if (dither.moves < 0)
        throw std::invalid_argument("dither_moves must be 0 or more, not " + std::to_string(dither.moves));
    check_temperature(dither.temperature);
    std::array<Side, 2> sides{Side(black, 0), Side(white, 0)};
    // Before any game is played, because a bad opening at the end would waste all games before it.
    for (std::size_t game = 0; game < openings.size(); ++game) {
        Board board(size);
        play_opening(board, openings[game], game);
    }

    GameRecords records;
    Thought thought;
    const Thought nothing;
    for (std::size_t game = 0; game < openings.size(); ++game) {
        Board board(size);
        play_opening(board, openings[game], game);
        for (Side& side : sides) side.new_game(seeds[game]);
        for (const Cell move : board.moves()) append_move(records, move, nothing, false);
        std::optional<Colour> proved;
        while (!board.winner()) {
            poll();
            proved = proved_winner(board, end_nodes, poll);
            if (proved) break;
            const std::size_t ply = board.moves().size();
            const bool early = ply - openings[game].size() < static_cast<std::size_t>(dither.moves);
            const auto [move, sampled] =
                sides[index_of(board.to_move())].choose(board, early ? dither.temperature : 0.0, poll, thought);
            append_move(records, move, thought, sampled);
            board.play(move);
        }
        records.offsets.push_back(static_cast<std::int64_t>(records.moves.size()));
        records.winner.push_back(static_cast<std::uint8_t>(index_of(proved ? *proved : *board.winner())));
        records.ended_by.push_back(proved ? kEndedByProof : kEndedByChain);
    }
    return records;
}

}  // namespace hexdata
