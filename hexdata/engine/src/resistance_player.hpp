// The `resistance` players: alpha-beta of a fixed depth with the resistance between the edges as the value, over the moves
// that connections and inferior cells leave (Wolve's recipe, mohex-player.md section 7).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "node_knowledge.hpp"
#include "player.hpp"

namespace hexdata {

class ResistancePlayer final : public Player {
public:
    // Takes `width` out of spec if the search is deeper than one ply.
    ResistancePlayer(PlayerSpec& spec, int depth);

    void think(const Board& board, Rng& rng, const Poll& poll, Thought& thought) override;

private:
    // For the mover, -1..1; 1 and -1 are proved. The best move goes to `best` if there is a choice.
    float search(const StoneRows& stones, int mover, int depth, float alpha, float beta, const Poll& poll, Cell* best);

    int depth_;
    std::uint32_t width_;
    int size_ = 0;
    std::uint32_t positions_ = 0;
    std::unique_ptr<NodeKnowledge> knowledge_;
};

}  // namespace hexdata
