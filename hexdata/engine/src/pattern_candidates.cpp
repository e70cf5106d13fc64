#include "pattern_candidates.hpp"

#include <bit>
#include <stdexcept>
#include <string>

#include "node_knowledge.hpp"
#include "pattern_board.hpp"

namespace hexdata {

namespace {

using Point = PatternBoard::Point;

constexpr std::uint32_t kNear = 1u << 24;
constexpr std::uint32_t kFirstStep = 1u << 24;

void add_position(const Board& board, NodeKnowledge& knowledge, bool filled, PatternCandidates& result) {
    const int size = board.size();
    const int mover = index_of(board.to_move());
    PatternBoard patterns(size, *Patterns::none());
    StoneRows stones = stone_rows(board);
    const Point last = board.moves().empty() ? PatternBoard::kNoPoint : patterns.point_of(board.moves().back());
    Rows candidates;
    if (filled) knowledge.fill(stones, mover, candidates);
    for (int colour = 0; colour < 2; ++colour)
        for (int r = 0; r < size; ++r)
            for (std::uint32_t bits = stones[colour][r]; bits != 0; bits &= bits - 1)
                patterns.play(PatternBoard::point(r, std::countr_zero(bits)), colour);
    if (!filled) candidates = patterns.empties();
    result.bridge.push_back(last != PatternBoard::kNoPoint && patterns.cuts_bridge(last, mover) ? 1 : 0);
    for (int r = 0; r < size; ++r)
        for (std::uint32_t bits = candidates[r]; bits != 0; bits &= bits - 1) {
            const Point point = PatternBoard::point(r, std::countr_zero(bits));
            const PatternCode code = patterns.code(point);
            if (!filled && Patterns::none()->weight(code) == 0) continue;
            const int step = last == PatternBoard::kNoPoint ? -1 : PatternBoard::step_between(last, point);
            result.replies.push_back(step < 0 ? 0 : canonical_reply(patterns.code(last), step, mover) + kFirstStep);
            result.cells.push_back(static_cast<std::uint16_t>(patterns.cell_of(point)));
            result.codes.push_back(canonical(code, mover) | (step >= 0 ? kNear : 0));
        }
    result.offsets.push_back(static_cast<std::int64_t>(result.cells.size()));
}

}  // namespace

PatternCandidates pattern_candidates(int size, std::span<const std::uint16_t> moves,
                                     std::span<const std::int64_t> offsets, bool filled) {
    check_size(size);
    if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(moves.size()))
        throw std::invalid_argument("offsets must begin with 0 and end with the number of moves (" +
                                    std::to_string(moves.size()) + ")");
    const std::unique_ptr<NodeKnowledge> knowledge = make_node_knowledge(size);
    PatternCandidates result;
    for (std::size_t game = 0; game + 1 < offsets.size(); ++game) {
        if (offsets[game] > offsets[game + 1]) throw std::invalid_argument("offsets must not fall");
        Board board(size);
        for (std::int64_t at = offsets[game]; at < offsets[game + 1]; ++at) {
            add_position(board, *knowledge, filled, result);
            try {
                board.play(moves[static_cast<std::size_t>(at)]);
            } catch (const std::invalid_argument& error) {
                throw std::invalid_argument("game " + std::to_string(game) + ", ply " +
                                            std::to_string(at - offsets[game]) + ": " + error.what());
            }
        }
    }
    return result;
}

}  // namespace hexdata
