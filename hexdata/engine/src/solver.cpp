#include "solver.hpp"

#include <memory>
#include <thread>

#include "position_solver.hpp"

namespace hexdata::proof {

namespace {

template <int W>
void solve_share(int size, const std::vector<SolvePosition>& positions, const SolveOptions& options, Budget budget,
                 std::atomic<size_t>& next, std::vector<Solution>& solutions) {
  PositionSolver<W> solver(size, options);
  for (size_t i; (i = next.fetch_add(1)) < positions.size();) {
    if (budget.stop->load(std::memory_order_relaxed)) return;
    solutions[i] = solver.solve(positions[i], options, budget);
  }
}

}  // namespace

std::vector<Solution> solve_all(const std::vector<SolvePosition>& positions, const SolveOptions& options,
                                std::atomic<bool>& stop, const std::function<void()>& poll) {
  std::vector<Solution> solutions(positions.size());
  if (positions.empty()) return solutions;
  const int size = positions[0].size;
  std::atomic<size_t> next{0};
  const auto work = [&](const std::function<void()>& watch) {
    const Budget budget{options.limit_nodes, options.limit_seconds, &stop, watch};
    switch (words_for_size(size)) {
      case 1: return solve_share<1>(size, positions, options, budget, next, solutions);
      case 2: return solve_share<2>(size, positions, options, budget, next, solutions);
      case 3: return solve_share<3>(size, positions, options, budget, next, solutions);
      default: return solve_share<6>(size, positions, options, budget, next, solutions);
    }
  };
  std::vector<std::jthread> helpers;
  for (int t = 1; t < options.threads && static_cast<size_t>(t) < positions.size(); ++t)
    helpers.emplace_back([&work] { work({}); });
  work(poll);
  return solutions;
}

}  // namespace hexdata::proof
