// The solver's knowledge and answers against exhaustive play (brute.hpp), in C++ so that every 4x4 position can be met.
//
//   hexdata_checks positions N FROM STEP     every STEP-th undecided position of an N x N board, N = 2..4, from the FROM-th
//   hexdata_checks random SEED COUNT         COUNT random undecided 5x5 positions with 10 stones or more
//   hexdata_checks widths                    every part of the engine on every board size
//   hexdata_checks play SEED COUNT           COUNT random strings of bytes as play and undo (fuzz_board.cpp)
//   hexdata_checks connections SEED COUNT    COUNT random sequences of stones played and taken back (undo.cpp)
//   hexdata_checks boards SEED COUNT         the connections of COUNT random boards, 6x6 to 13x13 (undo.cpp)
//   hexdata_checks table BYTES               fills a transposition table until it has to replace entries
//
// Prints what was counted, or draws the first position at fault, names the broken rule and exits with 1.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/resource.h>

#include "brute.hpp"
#include "fuzz_board.hpp"
#include "inspect.hpp"
#include "solver.hpp"
#include "table.hpp"
#include "undo.hpp"
#include "widths.hpp"

namespace {

using namespace hexdata::proof;
using Mask = uint32_t;  // of cells: boards to 5x5

constexpr int kSample = 4;        // one position in so many is also solved with either side to move and for one move only
constexpr int kSides[] = {1, 2};  // as in brute.hpp; the engine's colours are one less

struct Fault {
  std::string text;
};

std::string cell_names(Mask cells, int n) {
  std::string text;
  for (; cells; cells &= cells - 1) {
    const int c = std::countr_zero(cells);
    if (!text.empty()) text += ' ';
    text += static_cast<char>('a' + c % n);
    text += std::to_string(c / n + 1);
  }
  return text.empty() ? "nothing" : text;
}

Mask mask_of(const std::vector<int>& cells) {
  Mask mask = 0;
  for (const int c : cells) mask |= Mask{1} << c;
  return mask;
}

// An undecided position and the sets that its checks need.
struct Board {
  int n;
  Mask stones[3];  // [1] black, [2] white
  uint8_t cells[25];

  Board(int size, const uint8_t* from) : n(size), stones{} {
    for (int c = 0; c < n * n; ++c) {
      cells[c] = from[c];
      stones[from[c]] |= Mask{1} << c;
    }
  }
  Mask all() const { return (Mask{1} << n * n) - 1; }
  Mask empty() const { return stones[0]; }
  int to_move() const { return std::popcount(stones[1]) > std::popcount(stones[2]) ? 2 : 1; }

  SolvePosition to_solve(int side) const {
    SolvePosition p{n, {}, {}, side == 1 ? kBlack : kWhite};
    for (int c = 0; c < n * n; ++c)
      if (cells[c]) (cells[c] == 1 ? p.black : p.white).push_back(c);
    return p;
  }

  [[noreturn]] void fault(int side, const std::string& rule) const {
    std::string text = "  ";
    for (int k = 0; k < n; ++k) text.append(1, ' ').append(1, static_cast<char>('a' + k));
    for (int r = 0; r < n; ++r) {
      text.append(1, '\n').append(r + 1, ' ').append(std::to_string(r + 1));
      for (int k = 0; k < n; ++k) text.append(1, ' ').append(1, ".XO"[cells[r * n + k]]);
    }
    throw Fault{text + '\n' + (side == 1 ? "black" : "white") + " to move: " + rule};
  }
};

// brute::Game with cells in place of the numbers of free cells.
class LocalGame {
 public:
  void start(const Board& b, int colour, int x, int y, Mask free) {
    free_.clear();
    for (Mask left = free; left; left &= left - 1) free_.push_back(std::countr_zero(left));
    game_.start(b.cells, b.n, colour, x, y, free_);
  }
  bool holds(Mask own, Mask theirs, bool owner_moves) { return game_.holds(pick(own), pick(theirs), owner_moves); }

 private:
  Mask pick(Mask cells) const {
    Mask mask = 0;
    for (size_t i = 0; i < free_.size(); ++i) mask |= (cells >> free_[i] & 1) << i;
    return mask;
  }
  std::vector<int> free_;
  brute::Game game_;
};

// Who wins, by exhaustive play: one memo for a position and all fillings of its empty cells.
class Truth {
 public:
  void start(const Board& b) { game_.start(b, 1, b.n * b.n, b.n * b.n + 1, b.empty()); }
  int winner(Mask black, Mask white, int side) { return game_.holds(black, white, side == 1) ? 1 : 2; }

 private:
  LocalGame game_;
};

class Checker {
 public:
  // One memo of all positions to 4x4; on 5x5 each position has its own.
  explicit Checker(int n) : n_(n), proved_(size_t{1} << 22) {
    limits_off_.connections.limit_fulls = limits_off_.connections.limit_or = false;
    limits_off_.connections.edge_midpoints = true;
    const uint8_t nothing[25] = {};
    if (n <= 4) truth_.start(Board(n, nothing));
  }

  void add(const Board& b) {
    batch_.push_back(b);
    if (batch_.size() == 1000) finish();
  }

  // Many positions a call, as users solve them: what one leaves behind in the solver must not harm the next.
  void finish() {
    std::vector<SolvePosition> turn, sample;
    for (const Board& b : batch_) {
      turn.push_back(b.to_solve(b.to_move()));
      if (turn.size() % kSample == 0)
        for (const int side : kSides) sample.push_back(b.to_solve(side));
    }
    std::atomic<bool> stop{false};
    const std::vector<Solution> labelled = solve_all(turn, {.all_moves = true}, stop, {});
    const std::vector<Solution> sampled = solve_all(sample, {.all_moves = false}, stop, {});
    for (size_t i = 0, at = 0; i < batch_.size(); ++i) {
      const Board& b = batch_[i];
      if (n_ > 4) truth_.start(b);
      for (const int side : kSides) {
        value_[side] = truth_.winner(b.stones[1], b.stones[2], side);
        check_knowledge(b, side);
        check_connections(b, side);
        if (side == b.to_move()) check_solution(b, side, labelled[i], true);
        if ((i + 1) % kSample == 0) check_solution(b, side, sampled[at++], false);
      }
      ++positions;
    }
    batch_.clear();
  }

  uint64_t positions = 0, decided = 0, connections = 0, played = 0, labels = 0;

 private:
  // Does `winner` win if every empty cell outside the set goes to the loser?
  bool proves(const Board& b, int side, int winner, Mask proof) {
    Mask stones[3] = {0, b.stones[1], b.stones[2]};
    stones[3 - winner] |= b.empty() & ~proof;
    return truth_.winner(stones[1], stones[2], side) == winner;
  }

  void check_knowledge(const Board& b, int side) {
    const KnowledgeReport known = report_knowledge(b.to_solve(side), standard_);
    const Mask filled[3] = {0, mask_of(known.black), mask_of(known.white)};
    if ((filled[1] & filled[2]) || (b.stones[1] & ~filled[1]) || (b.stones[2] & ~filled[2]))
      b.fault(side, "fill-in moved a stone");
    for (const int mover : kSides)
      if (truth_.winner(filled[1], filled[2], mover) != truth_.winner(b.stones[1], b.stones[2], mover))
        b.fault(mover, "fill-in changes the winner: black " + cell_names(filled[1], b.n) + ", white " +
                           cell_names(filled[2], b.n));
    if (known.value) {
      ++decided;
      if (value_[side] != (known.value > 0 ? side : 3 - side)) b.fault(side, "the verdict is wrong");
      if (!proves(b, side, value_[side], mask_of(known.proof)))
        b.fault(side, "the verdict's proof set does not hold: " + cell_names(mask_of(known.proof), b.n));
      return;
    }
    Mask wins = 0;
    for (Mask left = b.all() & ~filled[1] & ~filled[2]; left; left &= left - 1) {
      Mask after[3] = {0, filled[1], filled[2]};
      after[side] |= left & -left;
      if (truth_.winner(after[1], after[2], 3 - side) == side) wins |= left & -left;
    }
    if (wins & ~mask_of(known.mustplay))
      b.fault(side, "the mustplay " + cell_names(mask_of(known.mustplay), b.n) + " misses winning moves of " +
                        cell_names(wins, b.n));
    if (wins && !(wins & mask_of(known.moves)))
      b.fault(side, "pruning leaves " + cell_names(mask_of(known.moves), b.n) + ", none of the winning moves " +
                        cell_names(wins, b.n));
  }

  struct Claim {
    int x, y;
    bool full;
    Mask carrier;
  };

  // The claims about one pair share a game: a cell outside a claim's carrier is one that the opponent has taken.
  void check_connections(const Board& b, int colour) {
    std::vector<Claim> claims;
    for (const Parameters* limits : {&standard_, &limits_off_})
      for (const Carrier& c : list_connections(b.to_solve(colour), colour == 1 ? kBlack : kWhite, *limits))
        claims.push_back({c.x, c.y, c.full, mask_of(c.cells)});
    std::ranges::sort(claims, {}, [](const Claim& c) { return c.x * 27 + c.y; });
    for (size_t from = 0, to; from < claims.size(); from = to) {
      to = from;
      Mask together = 0;
      for (; to < claims.size() && claims[to].x == claims[from].x && claims[to].y == claims[from].y; ++to)
        together |= claims[to].carrier;
      bool started = false;
      for (size_t i = from; i < to; ++i) {
        const Claim& c = claims[i];
        const Mask ends = (c.x < n_ * n_ ? Mask{1} << c.x : 0) | (c.y < n_ * n_ ? Mask{1} << c.y : 0);
        if (c.x == c.y || (c.carrier & ~b.empty()) || (ends & (c.carrier | b.stones[3 - colour])))
          b.fault(colour, "no connection at all: " + text_of(c, colour));
        ++connections;
        // Whether a cell outside the carrier is the opponent's or empty is all the same, so a claim that was played out
        // on another board need not be played again.
        const uint64_t key = (uint64_t{b.stones[colour]} << 37 | uint64_t{c.carrier} << 12 |
                              uint64_t(c.x * 27 + c.y) << 2 | uint64_t(colour == 1) << 1 | c.full) + 1;
        uint64_t& known = proved_[(key * 0x9E3779B97F4A7C15) >> 42];
        if (known == key) continue;
        ++played;
        if (!started) local_.start(b, colour, c.x, c.y, together);
        started = true;
        if (!local_.holds(0, together & ~c.carrier, !c.full))
          b.fault(colour, "a connection does not hold: " + text_of(c, colour));
        known = key;
      }
    }
  }

  std::string text_of(const Claim& c, int colour) const {
    const auto end = [&](int x) {
      return x < n_ * n_ ? cell_names(Mask{1} << x, n_) : std::string(x == n_ * n_ ? "the first edge" : "the last edge");
    };
    return std::string(c.full ? "full" : "semi") + " of " + (colour == 1 ? "black" : "white") + " from " + end(c.x) +
           " to " + end(c.y) + " in " + cell_names(c.carrier, n_);
  }

  void check_solution(const Board& b, int side, const Solution& s, bool all_moves) {
    const int truth = value_[side];
    if (s.winner != static_cast<Winner>(truth - 1)) b.fault(side, "the solver's winner is wrong");
    if (!proves(b, side, truth, mask_of(s.proof)))
      b.fault(side, "the solver's proof set does not hold: " + cell_names(mask_of(s.proof), b.n));
    Mask wins = 0;
    for (Mask left = b.empty(); left; left &= left - 1) {
      Mask after[3] = {0, b.stones[1], b.stones[2]};
      after[side] |= left & -left;
      if (truth_.winner(after[1], after[2], 3 - side) == side) wins |= left & -left;
    }
    const Mask winning = mask_of(s.winning_moves), losing = mask_of(s.losing_moves), unknown = mask_of(s.unknown_moves);
    labels += s.winning_moves.size() + s.losing_moves.size();
    if ((winning & ~wins) || (losing & wins))
      b.fault(side, "wins are " + cell_names(wins, b.n) + ", labelled as wins " + cell_names(winning, b.n) +
                        ", as losses " + cell_names(losing, b.n));
    if ((winning | losing | unknown) != b.empty() || (all_moves && unknown))
      b.fault(side, "moves without a label: " + cell_names(b.empty() & ~(winning | losing), b.n));
    if (wins && !winning) b.fault(side, "no winning move is named");
    check_line(b, side, s);
  }

  // The winner's moves of the line must keep the win.
  void check_line(const Board& b, int side, const Solution& s) {
    Mask after[3] = {0, b.stones[1], b.stones[2]};
    int mover = side;
    for (const int cell : s.line) {
      if ((after[1] | after[2]) >> cell & 1) b.fault(side, "the line plays a cell twice");
      after[mover] |= Mask{1} << cell;
      mover = 3 - mover;
      if (truth_.winner(after[1], after[2], mover) != value_[side]) b.fault(side, "the line gives the win away");
    }
  }

  const int n_;
  std::vector<Board> batch_;
  Truth truth_;
  int value_[3];  // the winner by side to move
  LocalGame local_;
  std::vector<uint64_t> proved_;  // connections that were played out, 32 MB; a newer one takes the place of an older
  Parameters standard_, limits_off_;
};

void finish(Checker& c) {
  c.finish();
  const auto count = [](uint64_t n, const char* what) { std::printf("%llu %s", static_cast<unsigned long long>(n), what); };
  count(c.positions, "positions, ");
  count(c.decided, "verdicts, ");
  count(c.connections, "connections, ");
  count(c.played, "distinct, ");  // the others were seen before
  count(c.labels, "labels\n");
}

// Equally many stones, or one more black one, and nobody has won.
void every_position(int n, uint64_t from, uint64_t step) {
  uint8_t cells[25] = {};
  Checker checker(n);
  uint64_t met = 0;
  int stones[3] = {n * n, 0, 0};
  for (;;) {
    if (const int ahead = stones[1] - stones[2]; (ahead == 0 || ahead == 1) && !brute::joined(cells, n)) {
      if (met >= from && (met - from) % step == 0) checker.add(Board(n, cells));
      ++met;
    }
    int c = 0;
    while (c < n * n && cells[c] == 2) cells[c++] = 0, --stones[2], ++stones[0];
    if (c == n * n) break;
    --stones[cells[c]], ++stones[++cells[c]];
  }
  finish(checker);
}

// 10 to 19 stones, colours alternate from Black.
void random_positions(uint64_t seed, uint64_t count) {
  std::mt19937_64 rng(seed);
  Checker checker(5);
  for (uint64_t met = 0; met < count;) {
    uint8_t cells[25] = {};
    int order[25];
    for (int i = 0; i < 25; ++i) order[i] = i;
    const int stones = 10 + static_cast<int>(rng() % 10);
    for (int i = 0; i < stones; ++i) {
      std::swap(order[i], order[i + rng() % (25 - i)]);
      cells[order[i]] = i % 2 ? 2 : 1;
    }
    if (brute::joined(cells, 5)) continue;
    checker.add(Board(5, cells));
    ++met;
  }
  finish(checker);
}

// How many entries a table of this budget holds, and the most memory the program ever had.
void fill_table(size_t budget) {
  Table<1> table(budget);
  std::mt19937_64 rng(1);
  std::vector<Key> keys(budget / 32 + 100);  // an entry has more than 32 bytes
  for (Key& key : keys) {
    key = {rng(), rng()};
    table.put(key, Entry<1>{.work = 1});
  }
  uint64_t entries = 0;
  Entry<1> found;
  for (const Key& key : keys) entries += table.find(key, found);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%llu entries, %llu kilobytes, %llu of_keys\n", static_cast<unsigned long long>(entries),
              static_cast<unsigned long long>(usage.ru_maxrss), static_cast<unsigned long long>(keys.size() * sizeof(Key) / 1024));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  try {
    if (command == "positions" && argc == 5)
      every_position(static_cast<int>(number(2)), number(3), number(4));
    else if (command == "random" && argc == 4)
      random_positions(number(2), number(3));
    else if (command == "widths" && argc == 2)
      std::printf("%d sizes\n", run_every_width());
    else if (command == "play" && argc == 4)
      play_and_undo(number(2), number(3), 0);
    else if ((command == "connections" || command == "boards") && argc == 4) {
      const UndoCounts c = command == "boards" ? check_connections_of_boards(number(2), number(3))
                                               : check_connections_undo(number(2), number(3));
      const auto shown = [](uint64_t n) { return static_cast<unsigned long long>(n); };
      std::printf("%llu sequences, %llu plays, %llu undos, %llu compared, %llu proved\n", shown(c.sequences),
                  shown(c.plays), shown(c.undos), shown(c.compared), shown(c.proved));
    } else if (command == "table" && argc == 3)
      fill_table(number(2));
    else
      return std::fprintf(stderr, "the comment at the top of checks.cpp lists the commands\n"), 2;
  } catch (const Fault& fault) {
    std::printf("%s\n", fault.text.c_str());
    return 1;
  } catch (const std::logic_error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  return 0;
}
