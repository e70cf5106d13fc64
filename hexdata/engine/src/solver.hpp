// Exact answers about positions: who wins, and by which moves.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "bits.hpp"
#include "parameters.hpp"

namespace hexdata::proof {

struct SolvePosition {
  int size;
  std::vector<int> black, white;
  Colour to_move;
};

struct SolveOptions {
  bool all_moves = false;
  uint64_t limit_nodes = 0;  // 0 = none
  double limit_seconds = 0;  // 0 = none
  size_t table_bytes = size_t{64} << 20;
  int threads = 1;
  Parameters parameters = {};
};

enum class Winner { kBlack = 0, kWhite = 1, kUnknown = 2 };

struct Solution {
  Winner winner = Winner::kUnknown;
  std::vector<int> winning_moves, losing_moves, unknown_moves;  // every legal move is in one of them, unless decided
  std::vector<int> line;
  std::vector<int> proof;  // the winner's proof set: he wins even if every other empty cell goes to the loser
  uint64_t nodes = 0;
  uint64_t expansions = 0;  // positions of the search that were evaluated
  uint64_t knowledge = 0;   // connections of one colour in one position that were computed
  double cpu_seconds = 0;
};

// Each position from an empty table of its own; what was proved of a position in the batch is used for those one move before
// it. Threads take different positions, each with a table of `table_bytes`; on a single position they work together, and
// then the work, and which winning move is found first, vary from run to run; labels do not. `poll` is called about ten
// times a second on the calling thread and may set `stop`; positions that were not finished are then unknown.
std::vector<Solution> solve_all(const std::vector<SolvePosition>& positions, const SolveOptions& options,
                                std::atomic<bool>& stop, const std::function<void()>& poll);

}  // namespace hexdata::proof
