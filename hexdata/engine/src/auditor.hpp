// The second path to a label: the rules of Hex and plain proof-number search, for positions with few empty cells.
//
// It includes nothing of the solver: no fill-in, no connections, no mustplay, no proof sets, no domination and no
// symmetry. It looks at every legal move, and a position is decided only when a chain joins two sides.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace hexdata::audit {

constexpr int kMostEmpty = 32;  // a position is two 32-bit sets of the cells that were empty at the root

struct Reproof {
    int winner = -1;  // 0 Black, 1 White, -1 unknown: the node budget ran out
    std::vector<int> winning_moves, losing_moves, unknown_moves;  // none once somebody has won
    std::uint64_t nodes = 0;
};

// Who wins with `mover` (0 Black, 1 White) to move, and with `all_moves` what every legal move is worth; without, all
// moves stay unknown. `limit_nodes` bounds the whole call. Stones must be distinct and on the board, and at most
// kMostEmpty cells empty. `poll` is called every few thousand nodes and may throw.
Reproof reprove(int size, const std::vector<int>& black, const std::vector<int>& white, int mover, bool all_moves,
                std::uint64_t limit_nodes, const std::function<void()>& poll);

}  // namespace hexdata::audit
