#include "solver_player.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

namespace hexdata {

namespace {

constexpr std::uint32_t kMaxNodes = 1'000'000'000;

}  // namespace

proof::Solution solve_board(const Board& board, const proof::SolveOptions& options, const Poll& poll) {
    proof::SolvePosition position{board.size(), {}, {}, static_cast<proof::Colour>(index_of(board.to_move()))};
    for (const Cell cell : board.stones(Colour::black)) position.black.push_back(cell);
    for (const Cell cell : board.stones(Colour::white)) position.white.push_back(cell);
    std::atomic<bool> stop = false;
    std::exception_ptr interruption;
    const auto watch = [&] {
        try {
            poll();
        } catch (...) {
            interruption = std::current_exception();
            stop = true;
        }
    };
    proof::Solution solution = proof::solve_all({position}, options, stop, watch).front();
    if (interruption) std::rethrow_exception(interruption);
    return solution;
}

SolverPlayer::SolverPlayer(PlayerSpec& spec) {
    if (spec.has("nodes") == spec.has("seconds")) spec.refuse("give either 'nodes' or 'seconds'");
    nodes_ = spec.take_count("nodes", 0, 1, kMaxNodes);
    seconds_ = spec.take_number("seconds", 0.0, 0.001, 100'000.0);
}

void SolverPlayer::think(const Board& board, Rng&, const Poll& poll, Thought& thought) {
    if (size_ != board.size()) knowledge_ = make_node_knowledge(board.size());
    size_ = board.size();
    proof::SolveOptions options;
    options.limit_nodes = nodes_;
    options.limit_seconds = seconds_;
    const proof::Solution solution = solve_board(board, options, poll);
    const auto mover = static_cast<proof::Colour>(index_of(board.to_move()));

    thought = {};
    thought.budget = static_cast<std::uint32_t>(std::min<std::uint64_t>(solution.nodes, kMaxNodes));
    if (solution.winner == static_cast<proof::Winner>(mover) && !solution.winning_moves.empty()) {
        thought.value = 1.0F;
        thought.best = static_cast<Cell>(solution.winning_moves.front());
        return;
    }
    if (solution.winner == static_cast<proof::Winner>(proof::other(mover))) thought.value = -1.0F;
    std::vector<Cell> order;
    knowledge_->order(stone_rows(board), order);
    const auto hopeful = std::ranges::find_if(order, [&](Cell cell) {
        return std::ranges::find(solution.losing_moves, static_cast<int>(cell)) == solution.losing_moves.end();
    });
    thought.best = hopeful == order.end() ? order.front() : *hopeful;
}

}  // namespace hexdata
