// Truth for the solver's tests: plain exhaustive play from the rules alone. Shares no code with the engine.
//
// A position is a list of cells, 0 empty, 1 black, 2 white. Black joins the first and last row, White the first and last
// column. Codes are ternary numbers, cell i worth 3^i.
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace {

bool joined(const uint8_t* cell, int n, int colour) {
  std::vector<int> todo;
  std::vector<char> seen(n * n, 0);
  for (int i = 0; i < n; ++i) {
    const int c = colour == 1 ? i : i * n;
    if (cell[c] == colour) seen[c] = 1, todo.push_back(c);
  }
  while (!todo.empty()) {
    const int c = todo.back(), r = c / n, k = c % n;
    todo.pop_back();
    if ((colour == 1 ? r : k) == n - 1) return true;
    const int step[6][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, 1}, {1, -1}};
    for (const auto& s : step) {
      const int rr = r + s[0], kk = k + s[1], d = rr * n + kk;
      if (rr < 0 || kk < 0 || rr >= n || kk >= n || seen[d] || cell[d] != colour) continue;
      seen[d] = 1;
      todo.push_back(d);
    }
  }
  return false;
}

// Memo over the empty cells of one position: 2 bits per ternary filling and side.
struct Player {
  int n;
  uint8_t* cell;
  std::vector<int> empty;
  std::vector<int64_t> weight;
  std::vector<uint8_t> memo;  // [code * 2 + side]: 0 unknown, 1 black wins, 2 white wins

  int winner(int64_t code, int side, int left) {
    uint8_t& known = memo[code * 2 + (side - 1)];
    if (known) return known;
    if (left == 0) return known = joined(cell, n, 1) ? 1 : 2;
    int result = 3 - side;
    for (size_t i = 0; i < empty.size() && result != side; ++i) {
      if (cell[empty[i]]) continue;
      cell[empty[i]] = side;
      if (winner(code + side * weight[i], 3 - side, left - 1) == side) result = side;
      cell[empty[i]] = 0;
    }
    return known = result;
  }
};

}  // namespace

extern "C" {

// 0, or the colour that has joined its sides.
int brute_joined(const uint8_t* cells, int n) { return joined(cells, n, 1) ? 1 : joined(cells, n, 2) ? 2 : 0; }

// Who wins with `side` to move; 0 if there are more than `most` empty cells.
int brute_winner(const uint8_t* cells, int n, int side, int most) {
  std::vector<uint8_t> board(cells, cells + n * n);
  Player p{n, board.data(), {}, {}, {}};
  int64_t weight = 1;
  for (int c = 0; c < n * n; ++c)
    if (!cells[c]) {
      p.empty.push_back(c);
      p.weight.push_back(weight);
      weight *= 3;
    }
  if (static_cast<int>(p.empty.size()) > most) return 0;
  p.memo.assign(weight * 2, 0);
  return p.winner(0, side, static_cast<int>(p.empty.size()));
}

// The winner of every move of `side`, into moves[cell]; returns the winner of the position, 0 if too many are empty.
int brute_moves(const uint8_t* cells, int n, int side, int most, uint8_t* moves) {
  std::vector<uint8_t> board(cells, cells + n * n);
  Player p{n, board.data(), {}, {}, {}};
  int64_t weight = 1;
  for (int c = 0; c < n * n; ++c)
    if (!cells[c]) {
      p.empty.push_back(c);
      p.weight.push_back(weight);
      weight *= 3;
    }
  if (static_cast<int>(p.empty.size()) > most) return 0;
  p.memo.assign(weight * 2, 0);
  int best = 3 - side;
  for (size_t i = 0; i < p.empty.size(); ++i) {
    board[p.empty[i]] = side;
    moves[p.empty[i]] = p.winner(side * p.weight[i], 3 - side, static_cast<int>(p.empty.size()) - 1);
    if (moves[p.empty[i]] == side) best = side;
    board[p.empty[i]] = 0;
  }
  return best;
}

// Every position of an n x n board (n <= 4): table[code * 2 + (side - 1)] = winner. 3^(n*n) * 2 bytes.
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
      table[code * 2] = table[code * 2 + 1] = joined(board.data(), n, 1) ? 1 : 2;
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
