#include "uct.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cpu_clock.hpp"
#include "portable_math.hpp"

namespace hexdata {

namespace {

constexpr int kLanes = 8;
constexpr std::uint32_t kMaxPlayouts = 100'000'000;
// 2^23 children are 200 MB; a search that fills them goes on without expanding.
constexpr std::size_t kMaxChildren = std::size_t{1} << 23;
// Against 2 on 9x9 with 400 playouts, 1 scored 46 % and 4 52 % (324 games, +-5 %).
constexpr std::uint32_t kExpansionVisits = 2;
// Between what is best at small and at larger budgets. Scores against 0.2 on 9x9: with 400 playouts 0.1 46 %, 0.15
// 49 %, 0.25 47 % (486 games, +-4 %); with 3000 playouts 0.1 33 %, 0.35 62 % (162 games, +-7 %).
constexpr double kExploration = 0.25;
// The value of a move that was never tried: as good as a win. Against it, on 9x9 with 400 playouts, 0.7 scored 10 %
// (exploration 0.5) and 10, which tries every move once before any twice, 44 % (exploration 0.2; 324 games, +-5 %).
constexpr float kFirstPlay = 1.0F;
constexpr float kNever = -1.0e9F;
constexpr std::uint32_t kLogTable = 4096;
// One playout takes 3 to 10 microseconds.
constexpr std::uint32_t kPollInterval = 128;
constexpr std::uint32_t kClockInterval = 16;

float log_term(double exploration, std::uint32_t visits) {
    return static_cast<float>(exploration * std::sqrt(portable_log(visits < 1 ? 1.0 : visits)));
}

}  // namespace

UctPlayer::UctPlayer(PlayerSpec& spec)
    : budget_(spec.take_budget(kMaxPlayouts)),
      exploration_(spec.take_number("exploration", kExploration, 0.0, 100.0)) {
    for (std::uint32_t visits = 0; visits < kLogTable; ++visits) log_term_.push_back(log_term(exploration_, visits));
}

void UctPlayer::Tree::clear() {
    mean.clear();
    spread.clear();
    visits.clear();
    wins.clear();
    first_child.clear();
    move.clear();
    groups.clear();
}

std::uint32_t UctPlayer::expand(const PlayoutBoard& board, Point last, int mover, Rng& rng, std::uint16_t& groups) {
    order_.clear();
    for (const Point point : points_)
        if (board.empty(point)) order_.push_back(point);
    for (auto i = static_cast<std::uint32_t>(order_.size()); i > 1; --i) std::swap(order_[i - 1], order_[rng.below(i)]);
    if (last != PlayoutBoard::kNoPoint) {
        const Point reply = board.saving_reply(last, mover, rng);
        if (reply != PlayoutBoard::kNoPoint) std::swap(order_.front(), *std::ranges::find(order_, reply));
    }
    const auto first = static_cast<std::uint32_t>(tree_.size());
    const std::size_t padded = (order_.size() + kLanes - 1) / kLanes * kLanes;
    groups = static_cast<std::uint16_t>(padded / kLanes);
    const std::size_t end = first + padded;
    tree_.mean.resize(first + order_.size(), kFirstPlay);
    tree_.mean.resize(end, kNever);
    tree_.spread.resize(end, 0.0F);
    tree_.visits.resize(end, 0);
    tree_.wins.resize(end, 0);
    tree_.first_child.resize(end, 0);
    tree_.groups.resize(end, 0);
    tree_.move.insert(tree_.move.end(), order_.begin(), order_.end());
    tree_.move.resize(end, PlayoutBoard::kNoPoint);
    return first;
}

std::uint32_t UctPlayer::select(std::uint32_t first, std::uint16_t groups, std::uint32_t parent_visits) const {
    const float factor = parent_visits < kLogTable ? log_term_[parent_visits] : log_term(exploration_, parent_visits);
    const float* mean = tree_.mean.data() + first;
    const float* spread = tree_.spread.data() + first;
    std::array<float, kLanes> best;
    std::array<std::int32_t, kLanes> best_group;
    best.fill(kNever);
    best_group.fill(0);
    for (std::int32_t g = 0; g < groups; ++g)
        for (int lane = 0; lane < kLanes; ++lane) {
            const float score = mean[g * kLanes + lane] + factor * spread[g * kLanes + lane];
            const bool better = score > best[lane];
            best[lane] = better ? score : best[lane];
            best_group[lane] = better ? g : best_group[lane];
        }
    // Of equal scores the child that comes first, so that a bridge's reply is tried before the others.
    int winner = 0;
    for (int lane = 1; lane < kLanes; ++lane)
        if (best[lane] > best[winner] || (best[lane] == best[winner] && best_group[lane] < best_group[winner]))
            winner = lane;
    return first + static_cast<std::uint32_t>(best_group[winner] * kLanes + winner);
}

void UctPlayer::record(std::uint32_t child, bool won) {
    const std::uint32_t visits = ++tree_.visits[child];
    tree_.wins[child] += won ? 1 : 0;
    tree_.mean[child] = static_cast<float>(tree_.wins[child]) / static_cast<float>(visits);
    tree_.spread[child] = 1.0F / std::sqrt(static_cast<float>(visits));
}

void UctPlayer::think(const Board& board, Rng& rng, const Poll& poll, Thought& thought) {
    const int size = board.size();
    PlayoutBoard root(size);
    points_.clear();
    for (int cell = 0; cell < board.cells(); ++cell) {
        const Point point = PlayoutBoard::point(size, cell);
        if (const auto colour = board.stone(cell))
            root.play(point, index_of(*colour));
        else
            points_.push_back(point);
    }
    const int root_mover = index_of(board.to_move());
    const Point root_last =
        board.moves().empty() ? PlayoutBoard::kNoPoint : PlayoutBoard::point(size, board.moves().back());
    const std::uint32_t budget = budget_.playouts.low + rng.below(budget_.playouts.high - budget_.playouts.low + 1);

    const bool timed = budget_.seconds > 0.0;
    const double began = timed ? thread_cpu_seconds() : 0.0;

    tree_.clear();
    std::uint16_t root_groups = 0;
    const std::uint32_t root_first = expand(root, root_last, root_mover, rng, root_groups);
    std::uint32_t root_wins = 0;

    std::uint32_t playout = 0;
    for (; playout < budget; ++playout) {
        if (playout % kPollInterval == 0) poll();
        if (timed && playout % kClockInterval == 0 && playout > 0 && thread_cpu_seconds() - began >= budget_.seconds)
            break;
        PlayoutBoard state = root;
        int mover = root_mover;
        Point last = root_last;
        std::uint32_t first = root_first;
        std::uint16_t groups = root_groups;
        std::uint32_t visits = playout;
        path_.clear();
        for (;;) {
            const std::uint32_t child = select(first, groups, visits);
            path_.push_back(child);
            last = tree_.move[child];
            state.play(last, mover);
            mover = 1 - mover;
            visits = tree_.visits[child];
            // A full board has no children; the playout then only reads off the winner.
            const bool full = path_.size() == points_.size();
            if (tree_.groups[child] == 0 && visits >= kExpansionVisits && !full && tree_.size() < kMaxChildren) {
                std::uint16_t child_groups = 0;
                tree_.first_child[child] = expand(state, last, mover, rng, child_groups);
                tree_.groups[child] = child_groups;
            }
            if (tree_.groups[child] == 0) break;
            first = tree_.first_child[child];
            groups = tree_.groups[child];
        }
        const int winner = state.black_wins(points_, last, mover, rng) ? 0 : 1;
        if (winner == root_mover) ++root_wins;
        for (std::size_t depth = 0; depth < path_.size(); ++depth)
            record(path_[depth], (winner == root_mover) == (depth % 2 == 0));
    }

    thought.budget = playout;
    thought.value = static_cast<float>(2.0 * root_wins / playout - 1.0);
    thought.visits.clear();
    std::uint32_t best = root_first;
    for (std::uint32_t child = root_first; child < root_first + root_groups * kLanes; ++child) {
        const std::uint32_t count = tree_.visits[child];
        if (count == 0) continue;
        thought.visits.push_back({static_cast<Cell>(PlayoutBoard::cell(size, tree_.move[child])), count});
        if (std::pair(count, tree_.wins[child]) > std::pair(tree_.visits[best], tree_.wins[best])) best = child;
    }
    thought.best = static_cast<Cell>(PlayoutBoard::cell(size, tree_.move[best]));
    std::ranges::sort(thought.visits, {}, &Visits::cell);
}

}  // namespace hexdata
