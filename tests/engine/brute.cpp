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
  int todo[400], count = 0;
  bool seen[400] = {};
  for (int i = 0; i < n; ++i) {
    const int c = colour == 1 ? i : i * n;
    if (cell[c] == colour) seen[c] = true, todo[count++] = c;
  }
  while (count) {
    const int c = todo[--count], r = c / n, k = c % n;
    if ((colour == 1 ? r : k) == n - 1) return true;
    const int step[6][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, 1}, {1, -1}};
    for (const auto& s : step) {
      const int rr = r + s[0], kk = k + s[1], d = rr * n + kk;
      if (rr < 0 || kk < 0 || rr >= n || kk >= n || seen[d] || cell[d] != colour) continue;
      seen[d] = true;
      todo[count++] = d;
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

// Does the owner join x and y inside a carrier? Cells outside it belong to the opponent, both endpoints to the owner;
// ids n*n and n*n + 1 are the owner's first and last edge. Extra stones never hurt, so both fill the carrier in turn.
struct Local {
  int n, colour, x, y;
  std::vector<uint8_t> cell;
  std::vector<int> carrier;
  std::unordered_map<uint64_t, bool> memo;

  bool linked() const {
    std::vector<char> seen(n * n, 0);
    std::vector<int> todo;
    bool first = x == n * n, last = x == n * n + 1;
    const auto add = [&](int c) {
      if (!seen[c] && cell[c] == colour) seen[c] = 1, todo.push_back(c);
    };
    const auto side = [&](int i, bool end) { return colour == 1 ? (end ? n - 1 : 0) * n + i : i * n + (end ? n - 1 : 0); };
    if (first || last)
      for (int i = 0; i < n; ++i) add(side(i, last));
    else
      add(x);
    bool used_first = first, used_last = last;
    while (!todo.empty()) {
      const int c = todo.back(), r = c / n, k = c % n;
      todo.pop_back();
      if (c == y) return true;
      const int at = colour == 1 ? r : k;
      if (at == 0 && !used_first) {
        if (y == n * n) return true;
        used_first = true;
        for (int i = 0; i < n; ++i) add(side(i, false));
      }
      if (at == n - 1 && !used_last) {
        if (y == n * n + 1) return true;
        used_last = true;
        for (int i = 0; i < n; ++i) add(side(i, true));
      }
      const int step[6][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, 1}, {1, -1}};
      for (const auto& s : step) {
        const int rr = r + s[0], kk = k + s[1];
        if (rr >= 0 && kk >= 0 && rr < n && kk < n) add(rr * n + kk);
      }
    }
    return false;
  }

  bool holds(uint32_t own, uint32_t theirs, bool owner_moves) {
    const uint32_t all = (1u << carrier.size()) - 1;
    if (linked()) return true;
    if ((own | theirs) == all) return false;
    const uint64_t key = (uint64_t{own} << 33) | (uint64_t{theirs} << 1) | owner_moves;
    if (const auto known = memo.find(key); known != memo.end()) return known->second;
    bool result = !owner_moves;
    for (size_t i = 0; i < carrier.size() && result != owner_moves; ++i) {
      if ((own | theirs) >> i & 1) continue;
      cell[carrier[i]] = owner_moves ? colour : 3 - colour;
      result = holds(own | (owner_moves ? 1u << i : 0), theirs | (owner_moves ? 0 : 1u << i), !owner_moves);
      cell[carrier[i]] = 0;
    }
    return memo[key] = result;
  }
};

}  // namespace

extern "C" {

// 1 if the connection holds: the opponent moves first against a full, the owner in a semi.
int brute_connection(const uint8_t* cells, int n, int colour, int x, int y, int full, const int* carrier, int length) {
  Local game{n, colour, x, y, std::vector<uint8_t>(n * n), {}, {}};
  for (int c = 0; c < n * n; ++c) game.cell[c] = cells[c] == colour ? colour : 3 - colour;
  for (const int end : {x, y})
    if (end < n * n) game.cell[end] = colour;
  for (int i = 0; i < length; ++i) {
    game.carrier.push_back(carrier[i]);
    game.cell[carrier[i]] = 0;
  }
  return game.holds(0, 0, !full);
}

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
