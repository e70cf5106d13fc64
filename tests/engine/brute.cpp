#include "brute.hpp"

#include <algorithm>

namespace brute {

namespace {

constexpr int kStep[6][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, 1}, {1, -1}};

template <typename F>
void for_each_neighbour(int cell, int n, F&& f) {
  for (const auto& s : kStep) {
    const int r = cell / n + s[0], k = cell % n + s[1];
    if (r >= 0 && k >= 0 && r < n && k < n) f(r * n + k);
  }
}

bool joins(const uint8_t* cell, int n, int colour) {
  int todo[400], count = 0;
  bool seen[400] = {};
  for (int i = 0; i < n; ++i) {
    const int c = colour == 1 ? i : i * n;
    if (cell[c] == colour) seen[c] = true, todo[count++] = c;
  }
  while (count) {
    const int c = todo[--count];
    if ((colour == 1 ? c / n : c % n) == n - 1) return true;
    for_each_neighbour(c, n, [&](int d) {
      if (!seen[d] && cell[d] == colour) seen[d] = true, todo[count++] = d;
    });
  }
  return false;
}

}  // namespace

int joined(const uint8_t* cells, int n) { return joins(cells, n, 1) ? 1 : joins(cells, n, 2) ? 2 : 0; }

void Game::start(const uint8_t* cells, int n, int colour, int x, int y, const std::vector<int>& free_cells) {
  const int first = n * n, last = n * n + 1;
  count_ = static_cast<int>(free_cells.size());
  std::vector<int> free_index(n * n + 2, -1), group(n * n + 2, -1);
  for (int i = 0; i < count_; ++i) free_index[free_cells[i]] = i;
  const auto own = [&](int c) { return c >= first || c == x || c == y || (cells[c] == colour && free_index[c] < 0); };
  const auto for_each_near = [&](int c, auto&& f) {
    if (c < first) {
      for_each_neighbour(c, n, f);
      const int line = colour == 1 ? c / n : c % n;
      if (line == 0) f(first);
      if (line == n - 1) f(last);
    } else {
      const int line = c == first ? 0 : n - 1;
      for (int i = 0; i < n; ++i) f(colour == 1 ? line * n + i : i * n + line);
    }
  };

  // touch[g]: the free cells around the g-th group of own stones and edges.
  std::vector<uint32_t> touch;
  for (int c = 0; c <= last; ++c) {
    if (!own(c) || group[c] >= 0) continue;
    const int g = static_cast<int>(touch.size());
    touch.push_back(0);
    std::vector<int> todo{c};
    group[c] = g;
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      for_each_near(at, [&](int d) {
        if (free_index[d] >= 0) touch[g] |= 1u << free_index[d];
        else if (own(d) && group[d] < 0) group[d] = g, todo.push_back(d);
      });
    }
  }
  from_ = touch[group[x]];
  to_ = touch[group[y]];
  linked_already_ = group[x] == group[y];
  uint32_t weight = 1;
  for (int i = 0; i < count_; ++i) {
    near_[i] = 0;
    for_each_near(free_cells[i], [&](int d) {
      if (free_index[d] >= 0) near_[i] |= 1u << free_index[d];
    });
    for (const uint32_t around : touch)
      if (around >> i & 1) near_[i] |= around;
    weight_[i] = weight;
    weight *= 3;
  }
  memo_.assign(weight, 0);
}

bool Game::linked(uint32_t own) const {
  if (linked_already_) return true;
  uint32_t reached = from_ & own, todo = reached;
  while (todo && !(reached & to_)) {
    const uint32_t more = near_[__builtin_ctz(todo)] & own & ~reached;
    todo &= todo - 1;
    todo |= more;
    reached |= more;
  }
  return reached & to_;
}

bool Game::holds(uint32_t own, uint32_t theirs, bool owner_moves) {
  uint32_t code = 0;
  for (uint32_t m = own; m; m &= m - 1) code += weight_[__builtin_ctz(m)];
  for (uint32_t m = theirs; m; m &= m - 1) code += 2 * weight_[__builtin_ctz(m)];
  return search(own, theirs, code, owner_moves);
}

bool Game::search(uint32_t own, uint32_t theirs, uint32_t code, bool owner_moves) {
  const int shift = owner_moves ? 2 : 0;
  if (const int known = memo_[code] >> shift & 3) return known == 2;
  const uint32_t open = ((1u << count_) - 1) & ~(own | theirs);
  bool result;
  if (linked(own)) {
    result = true;
  } else if (!linked(own | open)) {
    result = false;
  } else {
    result = !owner_moves;
    int& good = good_[__builtin_popcount(open)];
    for (uint32_t m = open; m && result != owner_moves;) {
      const int i = m >> good & 1 ? good : __builtin_ctz(m);
      m &= ~(1u << i);
      result = owner_moves ? search(own | 1u << i, theirs, code + weight_[i], false)
                           : search(own, theirs | 1u << i, code + 2 * weight_[i], true);
      if (result == owner_moves) good = i;
    }
  }
  memo_[code] |= static_cast<uint8_t>((result ? 2 : 1) << shift);
  return result;
}

}  // namespace brute

// For Python.
extern "C" {

// 1 if the connection holds: the opponent moves first against a full, the owner in a semi.
int brute_connection(const uint8_t* cells, int n, int colour, int x, int y, int full, const int* carrier, int length) {
  static brute::Game game;
  game.start(cells, n, colour, x, y, {carrier, carrier + length});
  return game.holds(0, 0, !full);
}

int brute_joined(const uint8_t* cells, int n) { return brute::joined(cells, n); }

// The winner of every move of `side`, into moves[cell]; returns the winner of the position. At most 16 empty cells.
int brute_moves(const uint8_t* cells, int n, int side, uint8_t* moves) {
  static brute::Game game;
  std::vector<int> empty;
  for (int c = 0; c < n * n; ++c)
    if (!cells[c]) empty.push_back(c);
  game.start(cells, n, 1, n * n, n * n + 1, empty);
  for (size_t i = 0; i < empty.size(); ++i)
    moves[empty[i]] = game.holds(side == 1 ? 1u << i : 0, side == 2 ? 1u << i : 0, side == 2) ? 1 : 2;
  return game.holds(0, 0, side == 1) ? 1 : 2;
}

// Every position of an n x n board (n <= 4), by another way: a board code is a ternary number, cell i worth 3^i, and
// table[code * 2 + (side - 1)] is the winner. 3^(n*n) * 2 bytes.
void brute_table(int n, uint8_t* table) {
  const int cells = n * n;
  int64_t total = 1;
  std::vector<int64_t> weight;
  for (int i = 0; i < cells; ++i) weight.push_back(total), total *= 3;
  std::vector<uint8_t> board(cells);
  // A stone raises the code, so counting down meets every successor first.
  for (int64_t code = total - 1; code >= 0; --code) {
    int64_t rest = code;
    bool full = true;
    for (int i = 0; i < cells; ++i) {
      board[i] = rest % 3;
      rest /= 3;
      if (!board[i]) full = false;
    }
    if (full) {
      table[code * 2] = table[code * 2 + 1] = brute::joins(board.data(), n, 1) ? 1 : 2;
      continue;
    }
    for (int side = 1; side <= 2; ++side) {
      uint8_t result = 3 - side;
      for (int i = 0; i < cells && result != side; ++i)
        if (!board[i] && table[(code + side * weight[i]) * 2 + (2 - side)] == side) result = side;
      table[code * 2 + (side - 1)] = result;
    }
  }
}
}
