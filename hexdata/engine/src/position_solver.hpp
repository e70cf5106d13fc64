// Answers about one position after another, each from an empty table, by one thread or by several together.
#pragma once

#include <ctime>
#include <exception>
#include <memory>
#include <thread>

#include "dfpn.hpp"
#include "solver.hpp"

namespace hexdata::proof {

template <int W>
class PositionSolver {
 public:
  using Set = Bits<W>;
  using Outcome = typename Search<W>::Outcome;

  PositionSolver(int size, const SolveOptions& options, int team = 1) : g_(size), shared_(options.table_bytes) {
    shared_.alone = team == 1;
    for (int i = 0; i < team; ++i) team_.push_back(std::make_unique<Search<W>>(g_, options.parameters, shared_));
  }

  // Who wins after a move, where that is already proved: {move, winner, the winner's proof set}.
  struct KnownMove {
    int move;
    Colour winner;
    Set proof;
  };
  Solution solve(const SolvePosition& position, const SolveOptions& options, const Budget& budget,
                 const std::vector<KnownMove>& known = {});

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
  typename Search<W>::Result search(const Position<W>& p, Colour mover);
  typename Search<W>::Result solve_child(const Labelled& m, Colour mover) {
    return search(Position<W>(g_, m.child.stones[kBlack], m.child.stones[kWhite]), other(mover));
  }
  Knowledge<W>& knowledge() { return team_[0]->knowledge(); }

  Geometry<W> g_;
  Shared<W> shared_;
  std::vector<std::unique_ptr<Search<W>>> team_;
  double others_cpu_ = 0;  // seconds of the threads beside the calling one
};

// What a thread's work threw, such as a lack of memory: it must reach the caller, not end the program.
template <typename Work>
std::exception_ptr caught(Work&& work) {
  try {
    work();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}
inline void rethrow_first(const std::vector<std::exception_ptr>& failures) {
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

inline double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The first of the team to finish has the answer; they share all that they find on the way.
template <int W>
typename Search<W>::Result PositionSolver<W>::search(const Position<W>& p, Colour mover) {
  using Result = typename Search<W>::Result;
  if (team_.size() == 1) return team_[0]->solve(p, mover);
  std::vector<Result> results(team_.size());
  std::vector<double> cpu(team_.size());
  shared_.done = false;
  std::vector<std::exception_ptr> failures(team_.size());
  const auto work = [&](size_t i) {
    failures[i] = caught([&] { results[i] = team_[i]->solve(p, mover); });
    if (failures[i] || results[i].outcome != Outcome::kUnknown) shared_.done = true;
  };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < team_.size(); ++i)
      others.emplace_back([&work, &cpu, i] {
        work(i);
        cpu[i] = thread_cpu_seconds();
      });
    work(0);
  }
  shared_.done = false;
  rethrow_first(failures);
  for (const double seconds : cpu) others_cpu_ += seconds;
  for (const Result& r : results)
    if (r.outcome != Outcome::kUnknown) return r;
  return results[0];
}

template <int W>
Solution PositionSolver<W>::solve(const SolvePosition& position, const SolveOptions& options, const Budget& budget,
                                  const std::vector<KnownMove>& known) {
  const double began = thread_cpu_seconds();
  others_cpu_ = 0;
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

  shared_.table.clear();
  shared_.nodes = 0;
  for (size_t i = 0; i < team_.size(); ++i) {
    Budget share = budget;
    if (i > 0) share.poll = {};
    team_[i]->start(share);
  }
  std::vector<Labelled> moves;
  raw.empty(g_).for_each([&](int cell) {
    Position<W> next = raw;
    Fill<W> gained;
    next.place(g_, cell, mover);
    fill_in(g_, next, g_.all, gained);
    moves.push_back({cell, {cell, next.stones, gained.captured}});
  });
  const KnownMove* winning = nullptr;
  for (const KnownMove& k : known)
    for (Labelled& m : moves)
      if (m.move == k.move) {
        m.value = k.winner == mover ? Outcome::kWin : Outcome::kLoss;
        if (k.winner == mover) winning = &k;
      }

  typename Search<W>::Result root;
  if (winning) {
    root.outcome = Outcome::kWin;
    root.best = winning->move;
    solution.line = {winning->move};
    (winning->proof | Set::of(winning->move)).for_each([&](int cell) { solution.proof.push_back(cell); });
  } else {
    root = search(filled, mover);
    if (root.outcome != Outcome::kUnknown) {
      const Colour winner = root.outcome == Outcome::kWin ? mover : other(mover);
      (root.proof | fill.captured[winner]).for_each([&](int cell) { solution.proof.push_back(cell); });
    }
  }
  if (root.outcome == Outcome::kLoss) {
    solution.winner = static_cast<Winner>(other(mover));
    for (Labelled& m : moves) m.value = Outcome::kLoss;
    solution.line = team_[0]->line(filled, mover);
  } else {
    if (root.outcome == Outcome::kWin) {
      solution.winner = static_cast<Winner>(mover);
      find_winning_move(raw, filled, mover, root, moves);
    }
    // The root's refuted moves come for nothing; the others only if asked.
    if (options.all_moves) label_all(filled, mover, moves);
    if (root.outcome == Outcome::kWin && solution.line.empty()) {
      solution.line = team_[0]->line(filled, mover);
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
  solution.nodes = shared_.nodes;
  for (const auto& one : team_) {
    solution.expansions += one->expansions;
    solution.knowledge += one->knowledge().built;
  }
  solution.cpu_seconds = thread_cpu_seconds() - began + others_cpu_;
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
      if (team_[0]->interrupted()) return;
      Verdict<W> verdict;
      bool wins;
      if (search) {
        wins = solve_child(moves[i], mover).outcome == Outcome::kLoss;
      } else {
        knowledge().evaluate(Position<W>(g_, moves[i].child.stones[kBlack], moves[i].child.stones[kWhite]),
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
  knowledge().evaluate(filled, opponent, verdict);
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
