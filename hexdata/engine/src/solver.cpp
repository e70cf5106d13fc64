#include "solver.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "position_solver.hpp"

namespace hexdata::proof {

namespace {

template <int W>
struct Stones {
  std::array<Bits<W>, 2> stones;
  Colour to_move;
  bool operator==(const Stones&) const = default;
  auto operator<=>(const Stones&) const = default;
};

// One batch. Positions that follow from others by a move are solved first, the rest by the number of threads at once; what
// is proved of them is known when their predecessors are asked. The order does not depend on the number of threads.
template <int W>
class Batch {
 public:
  Batch(const std::vector<SolvePosition>& positions, const SolveOptions& options, std::vector<Solution>& solutions)
      : positions_(positions), options_(options), solutions_(solutions), known_(positions.size()) {
    std::map<Stones<W>, size_t> index;
    for (size_t i = 0; i < positions.size(); ++i) {
      stones_.push_back(stones_of(positions[i]));
      index.emplace(stones_[i], i);
    }
    const int cells = positions[0].size * positions[0].size;
    std::map<int, std::vector<size_t>, std::greater<>> by_count;
    bool related = false;
    for (size_t i = 0; i < positions.size(); ++i) {
      const Stones<W>& p = stones_[i];
      const Bits<W> taken = p.stones[0] | p.stones[1];
      for (int cell = 0; cell < cells; ++cell) {
        if (taken.test(cell)) continue;
        Stones<W> after{p.stones, other(p.to_move)};
        after.stones[p.to_move].set(cell);
        if (const auto found = index.find(after); found != index.end()) {
          known_[i].emplace_back(cell, found->second);
          related = true;
        }
      }
      by_count[taken.count()].push_back(i);
    }
    if (!related) {
      waves_.emplace_back();
      for (size_t i = 0; i < positions.size(); ++i) waves_[0].push_back(i);
    } else {
      for (auto& [count, wave] : by_count) waves_.push_back(std::move(wave));
    }
  }

  void solve(std::atomic<bool>& stop, const std::function<void()>& poll) {
    for (const std::vector<size_t>& wave : waves_) {
      std::atomic<size_t> next{0};
      const int threads = static_cast<int>(std::min<size_t>(options_.threads, wave.size()));
      std::vector<std::exception_ptr> failures(threads);
      std::vector<std::jthread> helpers;
      for (int t = 1; t < threads; ++t)
        helpers.emplace_back([&, t] {
          failures[t] = caught([&] { share(wave, next, {options_.limit_nodes, options_.limit_seconds, &stop, {}}); });
          ++finished_;
        });
      failures[0] = caught([&] { share(wave, next, {options_.limit_nodes, options_.limit_seconds, &stop, poll}); });
      // The calling thread keeps looking for Ctrl-C while the others finish.
      while (poll && finished_.load() < helpers.size() && !stop) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        poll();
      }
      helpers.clear();
      finished_ = 0;
      rethrow_first(failures);
    }
  }

 private:
  static Stones<W> stones_of(const SolvePosition& p) {
    Stones<W> s{{}, p.to_move};
    for (const int c : p.black) s.stones[kBlack].set(c);
    for (const int c : p.white) s.stones[kWhite].set(c);
    return s;
  }

  void share(const std::vector<size_t>& wave, std::atomic<size_t>& next, const Budget& budget) {
    const int team = positions_.size() == 1 ? options_.threads : 1;
    PositionSolver<W> solver(positions_[0].size, options_, team);
    for (size_t at; (at = next.fetch_add(1)) < wave.size();) {
      if (budget.stop->load(std::memory_order_relaxed)) break;
      const size_t i = wave[at];
      std::vector<typename PositionSolver<W>::KnownMove> known;
      for (const auto& [move, child] : known_[i]) {
        const Solution& s = solutions_[child];
        if (s.winner == Winner::kUnknown) continue;
        Bits<W> proof;
        for (const int c : s.proof) proof.set(c);
        known.push_back({move, static_cast<Colour>(s.winner), proof});
      }
      solutions_[i] = solver.solve(positions_[i], options_, budget, known);
    }
  }

  const std::vector<SolvePosition>& positions_;
  const SolveOptions& options_;
  std::vector<Solution>& solutions_;
  std::vector<Stones<W>> stones_;
  std::vector<std::vector<std::pair<int, size_t>>> known_;  // [position]: (move, the position that it leads to)
  std::vector<std::vector<size_t>> waves_;
  std::atomic<size_t> finished_{0};
};

}  // namespace

std::vector<Solution> solve_all(const std::vector<SolvePosition>& positions, const SolveOptions& options,
                                std::atomic<bool>& stop, const std::function<void()>& poll) {
  std::vector<Solution> solutions(positions.size());
  if (positions.empty()) return solutions;
  switch (words_for_size(positions[0].size)) {
    case 1: Batch<1>(positions, options, solutions).solve(stop, poll); break;
    case 2: Batch<2>(positions, options, solutions).solve(stop, poll); break;
    case 3: Batch<3>(positions, options, solutions).solve(stop, poll); break;
    default: Batch<6>(positions, options, solutions).solve(stop, poll);
  }
  return solutions;
}

}  // namespace hexdata::proof
