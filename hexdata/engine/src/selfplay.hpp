// Whole games between two players, one after the other, each a function of its opening and its seed alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "player.hpp"

namespace hexdata {

// After the opening, the first `moves` moves are drawn with probability proportional to visits^(1/temperature);
// a temperature of 0 takes the most visited, as later moves do.
struct Dither {
    int moves;
    double temperature;
};

// The games of one call, one entry per game, per move or per visited cell. Grows with the games, then goes to numpy.
struct GameRecords {
    std::vector<std::uint16_t> moves;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint8_t> winner;
    std::vector<std::uint8_t> ended_by;
    std::vector<std::uint32_t> budget;
    std::vector<float> root_value;
    std::vector<std::uint8_t> sampled;
    std::vector<std::int64_t> visit_offsets{0};
    std::vector<std::uint16_t> visit_cells;
    std::vector<std::uint32_t> visit_counts;
};

// One side of a game: its player, and the seed that all chance of the game comes from.
class Side {
public:
    // Throws std::invalid_argument if there is no such player.
    Side(const std::string& player, std::uint64_t seed);

    // What the player remembers of the game before is forgotten.
    void new_game(std::uint64_t seed);

    struct Choice {
        Cell move;
        bool sampled;
    };

    // The player's move, drawn from its visits if the temperature is above 0. Throws std::invalid_argument if the board
    // is decided. Whatever poll throws passes through; the player can go on thinking afterwards.
    Choice choose(const Board& board, double temperature, const Poll& poll, Thought& thought);

private:
    std::unique_ptr<Player> player_;
    std::uint64_t seed_;
};

// What a player thinks of one position: what it would think at the same ply of a game with this seed. Throws
// std::invalid_argument if the board is decided or the player unknown.
Thought think_once(const Board& board, const std::string& player, std::uint64_t seed, const Poll& poll);

// Before each move the solver may spend `end_nodes` nodes (0: it is not asked); a game that it decides ends there.
// Throws std::invalid_argument with one sentence about the argument that is wrong; whatever poll throws passes through.
GameRecords play_games(int size, const std::string& black, const std::string& white,
                       std::span<const std::vector<int>> openings, std::span<const std::uint64_t> seeds,
                       const Dither& dither, std::uint64_t end_nodes, const Poll& poll);

}  // namespace hexdata
