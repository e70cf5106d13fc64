// The moves of recorded games as pattern codes, for learning their weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hexdata {

// One entry per position (before each move of each game) or per candidate move. Grows with the games, then goes to numpy.
struct PatternCandidates {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint16_t> cells;   // rising in each position
    std::vector<std::uint32_t> codes;   // canonical for the mover; bit 24 is set near the last move
    std::vector<std::uint32_t> replies;  // near it: the canonical code around it | (step + 1) << 24; else 0
    std::vector<std::uint8_t> bridge;   // 1 if the last move cut a bridge of the mover
};

// If `filled`, the codes and candidates are those of a tree node: of the position with its fill-in, without moves that
// need not be tried. Else those of a playout: of the bare position, every cell that is not dead. Game g is
// moves[offsets[g]..offsets[g + 1]), Black first. Throws std::invalid_argument that names the game and the ply of an illegal
// move.
PatternCandidates pattern_candidates(int size, std::span<const std::uint16_t> moves,
                                     std::span<const std::int64_t> offsets, bool filled);

}  // namespace hexdata
