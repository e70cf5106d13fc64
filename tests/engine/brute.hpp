// Truth for the solver's tests: plain exhaustive play from the rules alone. Shares no code with the engine.
//
// A position is a list of cells, 0 empty, 1 black, 2 white. Black joins the first and last row, White the first and last
// column.
#pragma once

#include <cstdint>
#include <vector>

namespace brute {

// `colour` wants to join two ends, both sides fill the free cells in turn, and every other cell that has no stone of
// `colour` is the opponent's. An end is a cell, which counts as own, or n*n and n*n + 1, the first and last edge.
// With Black, his two edges and all empty cells this is Hex itself. At most 16 free cells; 3^cells bytes of memo, which
// live until the next start.
class Game {
 public:
  void start(const uint8_t* cells, int n, int colour, int x, int y, const std::vector<int>& free_cells);

  // Does `colour` succeed, with these free cells already taken? Bit i is the i-th free cell.
  bool holds(uint32_t own, uint32_t theirs, bool owner_moves);

 private:
  bool search(uint32_t own, uint32_t theirs, uint32_t code, bool owner_moves);
  bool linked(uint32_t own) const;

  int count_;
  bool linked_already_;
  uint32_t from_, to_;          // the free cells that touch x and y
  uint32_t near_[16];           // the free cells that touch this one, directly or through own stones
  uint32_t weight_[16];         // 3^i
  int good_[17] = {};           // [open cells]: the move that last succeeded there, tried first
  std::vector<uint8_t> memo_;   // [ternary code]: two bits for each side to move, 0 unknown, 1 no, 2 yes
};

// 0, or the colour that has joined its sides.
int joined(const uint8_t* cells, int n);

}  // namespace brute
