#include "undo.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "brute.hpp"
#include "knowledge.hpp"

namespace {

using namespace hexdata::proof;

constexpr int kSteps = 8;          // stones played or taken back in a sequence
constexpr int kEmpty = 16;         // the most cells without a stone; with 18 one sequence in thousands takes minutes
constexpr int kPlayedCells = 12;   // the largest carrier that is played out

template <int W>
using Carriers = std::set<std::tuple<int, int, bool, Bits<W>>>;

template <int W>
Carriers<W> carriers_of(const Connections<W>& c) {
  Carriers<W> found;
  c.for_each_carrier([&](int x, int y, bool full, const Bits<W>& carrier) { found.emplace(x, y, full, carrier); });
  return found;
}

template <int W>
class Sequence {
 public:
  Sequence(int size, std::mt19937_64& rng, UndoCounts& counts)
      : g_(size), rng_(rng), counts_(counts), limited_(g_, {}), free_(g_, kNoLimits), fresh_(g_, kNoLimits) {}

  void run() {
    const Colour colour = rng_() % 2 ? kWhite : kBlack;
    // Without limits the lists of a sparse board grow beyond measure, so few cells are left empty.
    Position<W> start(g_);
    const int stones = g_.cells - kEmpty + static_cast<int>(rng_() % (kEmpty / 2));
    for (int i = 0; i < stones; ++i) place(start, i % 2 ? kWhite : kBlack);
    connect(start, colour, true);
    std::vector<State> states{state(start)};
    for (int step = 0; step < kSteps; ++step) {
      if (states.size() > 1 && rng_() % 3 == 0) {
        limited_.undo();
        free_.undo();
        states.pop_back();
        ++counts_.undos;
        if (limited_.fingerprint() != states.back().limited || free_.fingerprint() != states.back().free)
          throw std::logic_error("undo does not restore the connections, " + describe(colour));
        continue;
      }
      Position<W> next = states.back().position;
      const bool placed = place(next, colour), answered = rng_() % 2 && place(next, other(colour));
      if (!placed && !answered) break;
      connect(next, colour, false);
      states.push_back(state(next));
      ++counts_.plays;
      compare(next, colour);
      prove(next, colour);
      if (rng_() % 4 == 0) stop_early(next, colour);
    }
    ++counts_.sequences;
  }

  // The connections of a filled board with a tenth to six tenths of its cells taken, as a solver meets it.
  void prove_board() {
    const Colour colour = rng_() % 2 ? kWhite : kBlack;
    const int stones = g_.cells * (1 + static_cast<int>(rng_() % 6)) / 10;
    Position<W> p(g_);
    for (int i = 0; i < stones; ++i) place_in_clump(p, i % 2 ? kWhite : kBlack);
    Position<W> filled = p;
    Fill<W> fill;
    fill_in(g_, filled, g_.all, fill);
    if (g_.joins(kBlack, filled.stones[kBlack]) || g_.joins(kWhite, filled.stones[kWhite])) filled = p;
    find_captured(g_, filled, colour, captured_);
    limited_.build(colour, filled.stones[colour], filled.stones[other(colour)], captured_, Connections<W>::Stop::kNever);
    prove(filled, colour);
    ++counts_.sequences;
  }

 private:
  static constexpr ConnectionLimits kNoLimits{.limit_fulls = false, .limit_or = false, .edge_midpoints = true};
  using Captured = typename Connections<W>::CapturedBy;

  struct State {
    Position<W> position;
    std::vector<uint64_t> limited, free;
  };
  State state(const Position<W>& p) const { return {p, limited_.fingerprint(), free_.fingerprint()}; }
  std::string describe(Colour colour) const {
    return (colour == kBlack ? "black" : "white") + std::string(" on size ") + std::to_string(g_.size) + ", sequence " +
           std::to_string(counts_.sequences);
  }

  // A stone on a random empty cell that does not end the game, if one of a few tries finds it.
  bool place(Position<W>& p, Colour colour) {
    for (int tries = 0; tries < 20; ++tries) {
      const int cell = static_cast<int>(rng_() % g_.cells);
      Bits<W> after = p.stones[colour];
      after.set(cell);
      if (p.occupied().test(cell) || g_.joins(colour, after)) continue;
      p.place(g_, cell, colour);
      return true;
    }
    return false;
  }

  void connect(const Position<W>& p, Colour colour, bool from_nothing) {
    const Bits<W>&own = p.stones[colour], &opponent = p.stones[other(colour)];
    find_captured(g_, p, colour, captured_);
    using Stop = typename Connections<W>::Stop;
    if (from_nothing) {
      limited_.build(colour, own, opponent, captured_, Stop::kNever);
      free_.build(colour, own, opponent, none_, Stop::kNever);
    } else {
      limited_.play(own, opponent, captured_, Stop::kNever);
      free_.play(own, opponent, none_, Stop::kNever);
    }
  }

  void compare(const Position<W>& p, Colour colour) {
    fresh_.build(colour, p.stones[colour], p.stones[other(colour)], none_, Connections<W>::Stop::kNever);
    if (carriers_of(free_) != carriers_of(fresh_))
      throw std::logic_error("carriers differ from a build from nothing, " + describe(colour));
    ++counts_.compared;
  }

  // A search stops as soon as the edges are joined, and takes back what is not complete.
  void stop_early(Position<W> next, Colour colour) {
    if (!place(next, colour)) return;
    const std::vector<uint64_t> before = limited_.fingerprint();
    find_captured(g_, next, colour, captured_);
    limited_.play(next.stones[colour], next.stones[other(colour)], captured_, Connections<W>::Stop::kSemi);
    limited_.undo();
    if (limited_.fingerprint() != before)
      throw std::logic_error("undo does not restore connections that stopped early, " + describe(colour));
    ++counts_.undos;
  }

  // One carrier in ten, of those that exhaustive play can reach.
  void prove(const Position<W>& p, Colour colour) {
    std::vector<uint8_t> cells(g_.cells);
    for (int c = 0; c < g_.cells; ++c) cells[c] = p.stones[kBlack].test(c) ? 1 : p.stones[kWhite].test(c) ? 2 : 0;
    limited_.for_each_carrier([&](int x, int y, bool full, const Bits<W>& carrier) {
      if (carrier.count() > kPlayedCells || rng_() % 10) return;
      std::vector<int> free_cells;
      carrier.for_each([&](int c) { free_cells.push_back(c); });
      game_.start(cells.data(), g_.size, colour + 1, x, y, free_cells);
      if (!game_.holds(0, 0, !full)) throw std::logic_error("a carrier does not hold, " + describe(colour));
      ++counts_.proved;
    });
  }

  // A stone near others, mostly: in clumps stones capture most.
  void place_in_clump(Position<W>& p, Colour colour) {
    for (int tries = 0; tries < 10; ++tries) {
      Position<W> next = p;
      if (!place(next, colour)) return;
      const Bits<W> added = next.stones[colour] - p.stones[colour];
      if (tries == 9 || g_.grow(g_.grow(added)).intersects(p.occupied())) {
        p = next;
        return;
      }
    }
  }

  const Geometry<W> g_;
  std::mt19937_64& rng_;
  UndoCounts& counts_;
  Connections<W> limited_, free_, fresh_;
  Captured captured_{}, none_{};
  brute::Game game_;
};

// Calls f<W>() with the number of words that a board needs.
template <typename F>
void with_words(int size, F&& f) {
  switch (words_for_size(size)) {
    case 1: return f.template operator()<1>();
    case 2: return f.template operator()<2>();
    default: return f.template operator()<3>();
  }
}

}  // namespace

UndoCounts check_connections_undo(uint64_t seed, uint64_t sequences) {
  std::mt19937_64 rng(seed);
  UndoCounts counts;
  while (counts.sequences < sequences) {
    const int size = 6 + static_cast<int>(counts.sequences % 6);
    with_words(size, [&]<int W>() { Sequence<W>(size, rng, counts).run(); });
  }
  return counts;
}

UndoCounts check_connections_of_boards(uint64_t seed, uint64_t boards) {
  std::mt19937_64 rng(seed);
  UndoCounts counts;
  while (counts.sequences < boards) {
    const int size = 6 + static_cast<int>(counts.sequences % 8);
    with_words(size, [&]<int W>() { Sequence<W>(size, rng, counts).prove_board(); });
  }
  return counts;
}
