// One thread's solver: answers about one position after another, each from an empty table.
#pragma once

#include <ctime>

#include "dfpn.hpp"
#include "solver.hpp"

namespace hexdata::proof {

template <int W>
class PositionSolver {
 public:
  using Set = Bits<W>;
  using Outcome = typename Search<W>::Outcome;

  PositionSolver(int size, const SolveOptions& options)
      : g_(size), search_(g_, options.parameters, options.table_bytes) {}

  Solution solve(const SolvePosition& position, const SolveOptions& options, const Budget& budget);

 private:
  struct Labelled {
    int move;
    Child<W> child;
    Outcome value = Outcome::kUnknown;  // of the move, for the side that makes it
  };

  void find_winning_move(const Position<W>& raw, const Position<W>& filled, Colour mover,
                         const typename Search<W>::Result& root, std::vector<Labelled>& moves);
  void label_all(const Position<W>& filled, Colour mover, std::vector<Labelled>& moves);
  void settle(std::vector<Labelled>& moves, size_t index, Outcome value, const Set& proof, Colour mover);
  typename Search<W>::Result solve_child(const Labelled& m, Colour mover) {
    return search_.solve(Position<W>(g_, m.child.stones[kBlack], m.child.stones[kWhite]), other(mover));
  }

  Geometry<W> g_;
  Search<W> search_;
};

inline double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <int W>
Solution PositionSolver<W>::solve(const SolvePosition& position, const SolveOptions& options, const Budget& budget) {
  const double began = thread_cpu_seconds();
  Solution solution;
  Set black, white;
  for (const int c : position.black) black.set(c);
  for (const int c : position.white) white.set(c);
  for (const Colour c : {kBlack, kWhite})
    if (g_.joins(c, c == kBlack ? black : white)) {
      solution.winner = static_cast<Winner>(c);
      solution.cpu_seconds = thread_cpu_seconds() - began;
      return solution;
    }
  const Colour mover = position.to_move;
  const Position<W> raw(g_, black, white);
  Position<W> filled = raw;
  Fill<W> fill;
  fill_in(g_, filled, g_.all, fill);

  search_.clear_table();
  search_.start(budget);
  const auto root = search_.solve(filled, mover);
  if (root.outcome != Outcome::kUnknown) {
    const Colour winner = root.outcome == Outcome::kWin ? mover : other(mover);
    (root.proof | fill.captured[winner]).for_each([&](int cell) { solution.proof.push_back(cell); });
  }
  std::vector<Labelled> moves;
  raw.empty(g_).for_each([&](int cell) {
    Position<W> next = raw;
    Fill<W> gained;
    next.place(g_, cell, mover);
    fill_in(g_, next, g_.all, gained);
    moves.push_back({cell, {cell, next.stones, gained.captured}});
  });
  if (root.outcome == Outcome::kLoss) {
    solution.winner = static_cast<Winner>(other(mover));
    for (Labelled& m : moves) m.value = Outcome::kLoss;
    solution.line = search_.line(filled, mover);
  } else {
    if (root.outcome == Outcome::kWin) {
      solution.winner = static_cast<Winner>(mover);
      find_winning_move(raw, filled, mover, root, moves);
    }
    // The root's refuted moves come for nothing; the others only if asked.
    if (options.all_moves) label_all(filled, mover, moves);
    if (root.outcome == Outcome::kWin) {
      solution.line = search_.line(filled, mover);
      if (solution.line.empty())
        for (const Labelled& m : moves)
          if (m.value == Outcome::kWin && solution.line.empty()) solution.line = {m.move};
    }
  }
  for (const Labelled& m : moves)
    (m.value == Outcome::kWin    ? solution.winning_moves
     : m.value == Outcome::kLoss ? solution.losing_moves
                                 : solution.unknown_moves)
        .push_back(m.move);
  solution.nodes = search_.nodes;
  solution.expansions = search_.expansions;
  solution.cpu_seconds = thread_cpu_seconds() - began;
  return solution;
}

// Records a label and what follows from it: a refutation holds against every move outside its proof set, and a move
// is at least as good as one whose filled position has less for the mover.
template <int W>
void PositionSolver<W>::settle(std::vector<Labelled>& moves, size_t index, Outcome value, const Set& proof, Colour mover) {
  const Colour opponent = other(mover);
  const Labelled known = moves[index];
  moves[index].value = value;
  if (value == Outcome::kUnknown) return;
  const Set reach = proof | known.child.captured[opponent];
  for (Labelled& m : moves) {
    if (m.value != Outcome::kUnknown) continue;
    const auto& low = value == Outcome::kWin ? known.child.stones : m.child.stones;
    const auto& high = value == Outcome::kWin ? m.child.stones : known.child.stones;
    if (low[mover].subset_of(high[mover]) && high[opponent].subset_of(low[opponent])) m.value = value;
    if (value == Outcome::kLoss && !reach.test(m.move)) m.value = value;
  }
}

template <int W>
void PositionSolver<W>::find_winning_move(const Position<W>& raw, const Position<W>& filled, Colour mover,
                                          const typename Search<W>::Result& root, std::vector<Labelled>& moves) {
  for (size_t i = 0; i < moves.size(); ++i)
    if (moves[i].move == root.best) {
      settle(moves, i, Outcome::kWin, Set{}, mover);
      return;
    }
  // A connection won without a named move: its key is in the proof set. If even that is empty, any move wins.
  Set tries = root.proof & filled.empty(g_);
  if (tries.none()) tries = raw.empty(g_);
  for (const bool search : {false, true})
    for (size_t i = 0; i < moves.size(); ++i) {
      if (!tries.test(moves[i].move)) continue;
      Verdict<W> verdict;
      bool wins;
      if (search) {
        wins = solve_child(moves[i], mover).outcome == Outcome::kLoss;
      } else {
        search_.knowledge().evaluate(Position<W>(g_, moves[i].child.stones[kBlack], moves[i].child.stones[kWhite]),
                                     other(mover), verdict);
        wins = verdict.value == Verdict<W>::Value::kLoss;
      }
      if (wins) {
        settle(moves, i, Outcome::kWin, Set{}, mover);
        return;
      }
    }
}

template <int W>
void PositionSolver<W>::label_all(const Position<W>& filled, Colour mover, std::vector<Labelled>& moves) {
  const Colour opponent = other(mover);
  Verdict<W> verdict;
  // If the mover wins even when the opponent starts, no move can lose.
  search_.knowledge().evaluate(filled, opponent, verdict);
  if (verdict.value == Verdict<W>::Value::kLoss) {
    for (Labelled& m : moves) m.value = Outcome::kWin;
    return;
  }
  for (size_t i = 0; i < moves.size(); ++i) {
    if (moves[i].value != Outcome::kUnknown) continue;
    const auto result = solve_child(moves[i], mover);
    if (result.outcome != Outcome::kUnknown)
      settle(moves, i, result.outcome == Outcome::kLoss ? Outcome::kWin : Outcome::kLoss, result.proof, mover);
  }
}

extern template class PositionSolver<1>;
extern template class PositionSolver<2>;
extern template class PositionSolver<3>;
extern template class PositionSolver<6>;

}  // namespace hexdata::proof
