// The `solver` player: plays a proved win if it finds one within its budget, else the move with the most current.
#pragma once

#include <cstdint>
#include <memory>

#include "node_knowledge.hpp"
#include "player.hpp"
#include "solver.hpp"

namespace hexdata {

// The solver asked about a game in progress. Whatever poll throws passes through.
proof::Solution solve_board(const Board& board, const proof::SolveOptions& options, const Poll& poll);

class SolverPlayer final : public Player {
public:
    // Takes `nodes` or `seconds` out of spec; one of them must be there.
    explicit SolverPlayer(PlayerSpec& spec);

    void think(const Board& board, Rng& rng, const Poll& poll, Thought& thought) override;

private:
    std::uint32_t nodes_ = 0;
    double seconds_ = 0.0;
    int size_ = 0;
    std::unique_ptr<NodeKnowledge> knowledge_;
};

}  // namespace hexdata
