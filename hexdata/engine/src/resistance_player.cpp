#include "resistance_player.hpp"

#include <algorithm>

namespace hexdata {

namespace {

constexpr std::uint32_t kAllMoves = 1000;
// Of Wolve at all depths.
constexpr std::uint32_t kWidth = 15;

}  // namespace

ResistancePlayer::ResistancePlayer(PlayerSpec& spec, int depth)
    : depth_(depth), width_(depth == 1 ? kAllMoves : spec.take_count("width", kWidth, 1, kAllMoves)) {}

float ResistancePlayer::search(const StoneRows& stones, int mover, int depth, float alpha, float beta, const Poll& poll,
                               Cell* best) {
    poll();
    ++positions_;
    StoneRows filled = stones;
    Rows candidates;
    const Value early = knowledge_->fill(filled, mover, candidates);
    if (early != Value::open) return early == Value::win ? 1.0F : -1.0F;
    float score = 0.0F;
    if (depth == 0) {
        knowledge_->weigh(filled, mover, score);
        return score;
    }
    std::vector<Cell> moves;
    const Value value = knowledge_->evaluate(filled, mover, moves);
    if (value != Value::open) return value == Value::win ? 1.0F : -1.0F;
    if (best != nullptr) *best = moves.front();
    float found = -1.0F;
    for (std::size_t i = 0; i < moves.size() && i < width_ && found < beta; ++i) {
        StoneRows next = filled;
        next[mover][moves[i] / size_] |= 1u << (moves[i] % size_);
        score = -search(next, 1 - mover, depth - 1, -beta, -std::max(alpha, found), poll, nullptr);
        // The moves that the width cuts off may be better than a proved loss.
        if (score == -1.0F && moves.size() > width_) score = -0.999F;
        if (score <= found) continue;
        found = score;
        if (best != nullptr) *best = moves[i];
    }
    return found;
}

void ResistancePlayer::think(const Board& board, Rng&, const Poll& poll, Thought& thought) {
    if (size_ != board.size()) knowledge_ = make_node_knowledge(board.size());
    size_ = board.size();
    thought = {};
    const StoneRows stones = stone_rows(board);
    const int mover = index_of(board.to_move());
    std::vector<Cell> order;
    positions_ = 0;
    constexpr Cell kNone = 0xFFFF;
    Cell best = kNone;
    thought.value = search(stones, mover, depth_, -1.0F, 1.0F, poll, &best);
    thought.budget = positions_;
    if (best == kNone) {
        const auto proved = thought.value > 0 ? knowledge_->winning_move(stones, mover) : std::nullopt;
        knowledge_->order(stones, order);
        best = proved ? *proved : order.front();
    }
    thought.best = best;
}

}  // namespace hexdata
