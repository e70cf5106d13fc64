#include "mohex.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <ctime>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>

#include "portable_math.hpp"

namespace hexdata {

namespace {

constexpr int kLanes = 8;
constexpr std::uint32_t kMaxPlayouts = 10'000'000;
// 2^22 nodes are 180 MB; a search that fills them goes on without expanding.
constexpr std::uint32_t kMaxNodes = 1u << 22;
constexpr std::uint32_t kPollInterval = 32;
constexpr std::uint32_t kLogTable = 4096;

// Huang et al. 2013, as mohex-player.md 1.2 gives them.
constexpr float kExploration = 0.22F;
constexpr double kBias = 2.47;
// The bias is also what keeps closed children and padding from being chosen.
constexpr double kLeastBias = 0.001;
constexpr float kRaveFirst = 1.0F / 2.12F;
constexpr float kRaveLast = 1.0F / 830.0F;
constexpr std::uint32_t kRaveOffPeriod = 30;
constexpr float kFirstPlay = 0.35F;
constexpr float kSeedVisits = 8.0F;
constexpr std::uint32_t kExpandAfter = 10;
constexpr std::uint32_t kKnowledgeAfter = 256;
// c of PUCT.
constexpr float kPuct = 1.0F;
constexpr double kExtension = 1.5;

constexpr float kNever = -1.0e30F;
constexpr float kClosed = -1.0e20F;

// Of the thread, so that a match on a busy machine stays fair.
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

float log_of(float visits) {
    static const std::vector<float> table = [] {
        std::vector<float> logs{0.0F};
        for (std::uint32_t n = 1; n < kLogTable; ++n) logs.push_back(static_cast<float>(portable_log(n)));
        return logs;
    }();
    return visits < kLogTable ? table[static_cast<std::size_t>(visits)] : static_cast<float>(portable_log(visits));
}

// One word per padded row, so that a point finds its bit by a shift.
using PointMask = std::array<std::uint32_t, kMaxSize + 4>;

bool holds(const PointMask& mask, PatternBoard::Point p) { return mask[p / PatternBoard::kStride] >> p % 32 & 1; }

PointMask point_mask(const Rows& rows, int size) {
    PointMask mask{};
    for (int r = 0; r < size; ++r) mask[r + 2] = rows[r] << 2;
    return mask;
}

double uniform(Rng& rng) { return (static_cast<double>(rng.next() >> 11) + 0.5) / 9007199254740992.0; }

// A gamma variate with a shape up to 1 (Ahrens and Dieter 1974, GS), for Dirichlet noise.
double gamma_variate(double shape, Rng& rng) {
    constexpr double kE = 2.71828182845904523536;
    for (;;) {
        const double p = uniform(rng) * (1.0 + shape / kE);
        if (p <= 1.0) {
            const double logarithm = portable_log(p) / shape;
            if (logarithm < -600.0) return 0.0;
            const double x = portable_exp(logarithm);
            if (portable_log(uniform(rng)) <= -x) return x;
        } else {
            const double x = -portable_log((1.0 + shape / kE - p) / shape);
            if (portable_log(uniform(rng)) <= (shape - 1.0) * portable_log(x)) return x;
        }
    }
}

}  // namespace

std::uint32_t MohexPlayer::Tree::append(std::size_t count) {
    const std::uint32_t first = size();
    const std::size_t end = first + (count + kLanes - 1) / kLanes * kLanes;
    visits.resize(end, 0.0F);
    wins.resize(end, 0.0F);
    rave_visits.resize(end, kSeedVisits);
    rave_wins.resize(end, kSeedVisits / 2);
    prior.resize(first + count, 0.0F);
    prior.resize(end, kNever);
    move.resize(end, PatternBoard::kNoPoint);
    nodes.resize(end);
    return first;
}

void MohexPlayer::Tree::clear() {
    visits.clear();
    wins.clear();
    rave_visits.clear();
    rave_wins.clear();
    prior.clear();
    move.clear();
    nodes.clear();
    fills.clear();
}

float MohexPlayer::take_bias(PlayerSpec& spec, Selection selection) {
    if (selection == Selection::rave) return static_cast<float>(spec.take_number("bias", kBias, kLeastBias, 1000.0));
    if (spec.has("bias")) spec.refuse("'bias' is part of RAVE's formula: expected it without rave=off");
    return 0.0F;
}

MohexPlayer::MohexPlayer(PlayerSpec& spec, std::shared_ptr<const Patterns> patterns)
    : budget_(spec.take_budget(kMaxPlayouts)),
      selection_(spec.take_switch("rave", true) ? Selection::rave : Selection::puct),
      bias_(take_bias(spec, selection_)),
      expand_after_(spec.take_count("expand", kExpandAfter, 1, kMaxPlayouts)),
      knowledge_after_(spec.take_count("knowledge", kKnowledgeAfter, 0, kMaxPlayouts)),
      reuse_(spec.take_switch("reuse", true)),
      early_stop_(spec.take_switch("early", true)),
      extend_(spec.take_switch("extend", true)),
      noise_(spec.take_number("noise", 0.0, 0.0, 1.0)),
      noise_shape_(spec.take_number("noise_shape", 0.3, 0.01, 1.0)),
      patterns_(std::move(patterns)) {}

void MohexPlayer::new_game() {
    history_.clear();
    tree_.clear();
}

// --- The tree --------------------------------------------------------------------------------------------------------

// The slot for what is known of moves before any playout: strengths of points_ that add up to 1. Here, patterns.
void MohexPlayer::set_priors(std::span<float> priors, const PatternBoard& state, int mover, Point last) const {
    float sum = 0.0F;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const int step = last == PatternBoard::kNoPoint ? -1 : PatternBoard::step_between(last, points_[i]);
        priors[i] = patterns_->prior(state.code(points_[i]), step >= 0, mover);
        if (step >= 0) priors[i] *= patterns_->prior_reply(state.code(last), step, mover);
        sum += priors[i];
    }
    for (float& prior : priors) prior /= sum;
}

// The slot for the worth of a leaf: Black's chance to win, 0 to 1. Here, one playout, which leaves its stones in `state`
// for RAVE; a value without a playout would leave the stones of the tree alone.
float MohexPlayer::leaf_value(PatternBoard& state, int mover, Point last, Rng& rng) const {
    return state.play_out(last, mover, rng) == 0 ? 1.0F : 0.0F;
}

// Gives the node its children and the state its fill-in, or proves the node.
void MohexPlayer::expand(std::uint32_t index, PatternBoard& state, int mover, Point last, Rng& rng) {
    StoneRows filled = state.stones();
    Rows candidates;
    const Value value = knowledge_->fill(filled, mover, candidates);
    tree_.nodes[index].value = value;
    tree_.nodes[index].first_fill = static_cast<std::uint32_t>(tree_.fills.size());
    for (int colour = 0; colour < 2; ++colour)
        for (int r = 0; r < size_; ++r)
            for (std::uint32_t bits = filled[colour][r] & ~state.stones()[colour][r]; bits != 0; bits &= bits - 1)
                tree_.fills.push_back(
                    {PatternBoard::point(r, std::countr_zero(bits)), static_cast<std::uint8_t>(colour)});
    const std::size_t fills = tree_.fills.size() - tree_.nodes[index].first_fill;
    tree_.nodes[index].fills = static_cast<std::uint16_t>(fills);
    for (const FillStone& stone : std::span(tree_.fills).last(fills)) {
        state.play(stone.point, stone.colour);
        filled_[PatternBoard::row(stone.point)] |= 1u << PatternBoard::column(stone.point);
    }
    if (value != Value::open) return;

    points_.clear();
    for (int r = 0; r < size_; ++r)
        for (std::uint32_t bits = candidates[r]; bits != 0; bits &= bits - 1)
            points_.push_back(PatternBoard::point(r, std::countr_zero(bits)));
    // Of equal scores the first child is taken: without the shuffle always one corner.
    for (auto i = static_cast<std::uint32_t>(points_.size()); i > 1; --i)
        std::swap(points_[i - 1], points_[rng.below(i)]);
    const std::uint32_t first = tree_.append(points_.size());
    std::ranges::copy(points_, tree_.move.begin() + first);
    set_priors(std::span(tree_.prior).subspan(first, points_.size()), state, mover, last);
    Node& node = tree_.nodes[index];
    node.first_child = first;
    node.groups = static_cast<std::uint16_t>((points_.size() + kLanes - 1) / kLanes);
    node.open = static_cast<std::uint16_t>(points_.size());
}

void MohexPlayer::close(std::uint32_t parent, std::uint32_t child) {
    tree_.prior[child] = kClosed;
    if (--tree_.nodes[parent].open == 0) tree_.nodes[parent].value = Value::loss;
}

// Connections and inferior cells of an expanded node: proves it or closes the children that need not be tried.
void MohexPlayer::analyse(std::uint32_t index, const StoneRows& stones, int mover) {
    Node& node = tree_.nodes[index];
    node.known = true;
    node.value = knowledge_->evaluate(stones, mover, moves_);
    if (node.value != Value::open) return;
    PointMask kept{};
    for (const Cell cell : moves_) kept[cell / size_ + 2] |= 1u << (cell % size_ + 2);
    for (std::uint32_t child = node.first_child; child < node.first_child + node.groups * kLanes; ++child)
        if (tree_.prior[child] >= 0.0F && !holds(kept, tree_.move[child])) close(index, child);
}

// Carries a proof at the end of the path towards the root as far as it goes.
void MohexPlayer::settle() {
    for (std::size_t depth = path_.size() - 1; depth > 0; --depth) {
        const std::uint32_t child = path_[depth];
        const std::uint32_t parent = path_[depth - 1];
        if (tree_.nodes[child].value == Value::open) return;
        if (tree_.nodes[child].value == Value::loss)
            tree_.nodes[parent].value = Value::win;
        else
            close(parent, child);
    }
}

// --- Selection -------------------------------------------------------------------------------------------------------

template <typename Score>
std::uint32_t MohexPlayer::best_child(const Node& node, Score&& score) const {
    std::array<float, kLanes> best;
    std::array<std::int32_t, kLanes> best_group;
    best.fill(kNever);
    best_group.fill(0);
    for (std::int32_t g = 0; g < node.groups; ++g)
        for (int lane = 0; lane < kLanes; ++lane) {
            const float found = score(node.first_child + static_cast<std::uint32_t>(g * kLanes + lane));
            const bool better = found > best[lane];
            best[lane] = better ? found : best[lane];
            best_group[lane] = better ? g : best_group[lane];
        }
    int winner = 0;
    for (int lane = 1; lane < kLanes; ++lane)
        if (best[lane] > best[winner] || (best[lane] == best[winner] && best_group[lane] < best_group[winner]))
            winner = lane;
    return node.first_child + static_cast<std::uint32_t>(best_group[winner] * kLanes + winner);
}

std::uint32_t MohexPlayer::select(std::uint32_t index, Rng& rng) const {
    const Node& node = tree_.nodes[index];
    const float* visits = tree_.visits.data();
    const float* wins = tree_.wins.data();
    const float* rave_visits = tree_.rave_visits.data();
    const float* rave_wins = tree_.rave_wins.data();
    const float* prior = tree_.prior.data();
    const float bias = bias_;
    if (selection_ == Selection::puct) {
        const float factor = kPuct * std::sqrt(std::max(1.0F, tree_.visits[index]));
        return best_child(node, [=](std::uint32_t i) {
            const float n = visits[i];
            const float mean = n > 0.0F ? wins[i] / n : kFirstPlay;
            return mean + factor * prior[i] / (n + 1.0F);
        });
    }
    if (rng.below(kRaveOffPeriod) == 0)
        return best_child(node, [=](std::uint32_t i) {
            const float n = visits[i];
            const float mean = n > 0.0F ? wins[i] / n : kFirstPlay;
            return mean + bias * prior[i] / std::sqrt(n + 1.0F);
        });
    const float factor = kExploration * std::sqrt(log_of(tree_.visits[index]));
    return best_child(node, [=](std::uint32_t i) {
        const float n = visits[i];
        const float tried = n < 1.0F ? 1.0F : n;
        const float rn = rave_visits[i];
        const float weight = rn / (n * (kRaveFirst + rn * kRaveLast) + rn);
        const float mean = wins[i] / tried + factor / std::sqrt(tried);
        return weight * (rave_wins[i] / rn) + (1.0F - weight) * mean + bias * prior[i] / std::sqrt(n + 1.0F);
    });
}

// --- One playout -----------------------------------------------------------------------------------------------------

void MohexPlayer::iterate(Rng& rng) {
    PatternBoard state = *root_state_;
    int mover = root_mover_;
    Point last = root_last_;
    filled_ = {};
    path_.assign(1, 0);
    float black = 0.0F;
    for (;;) {
        const std::uint32_t index = path_.back();
        if (tree_.nodes[index].value != Value::open) {
            black = (tree_.nodes[index].value == Value::win) == (mover == 0) ? 1.0F : 0.0F;
            break;
        }
        if (tree_.nodes[index].groups == 0) {
            if (tree_.visits[index] < static_cast<float>(expand_after_) || tree_.size() > kMaxNodes) {
                black = leaf_value(state, mover, last, rng);
                break;
            }
            expand(index, state, mover, last, rng);
        } else {
            if (index != 0)
                for (const FillStone& stone :
                     std::span(tree_.fills).subspan(tree_.nodes[index].first_fill, tree_.nodes[index].fills)) {
                    state.play(stone.point, stone.colour);
                    filled_[PatternBoard::row(stone.point)] |= 1u << PatternBoard::column(stone.point);
                }
            if (knowledge_after_ > 0 && !tree_.nodes[index].known &&
                tree_.visits[index] >= static_cast<float>(knowledge_after_))
                analyse(index, state.stones(), mover);
        }
        if (tree_.nodes[index].value != Value::open) {
            settle();
            continue;
        }
        const std::uint32_t child = select(index, rng);
        path_.push_back(child);
        last = tree_.move[child];
        state.play(last, mover);
        mover = 1 - mover;
    }
    back_up(state, black);
}

// RAVE: with a full board, a later move of the mover is the same as a final owner. Filled-in cells were never played.
void MohexPlayer::back_up(const PatternBoard& state, float black) {
    std::array<PointMask, 2> owned;
    for (int colour = 0; colour < 2; ++colour) {
        Rows played = state.stones()[colour];
        for (int r = 0; r < size_; ++r) played[r] &= ~filled_[r];
        owned[colour] = point_mask(played, size_);
    }
    int mover = root_mover_;
    for (const std::uint32_t index : path_) {
        tree_.visits[index] += 1.0F;
        const float won = mover == 0 ? black : 1.0F - black;
        tree_.wins[index] += 1.0F - won;
        const Node& node = tree_.nodes[index];
        // No branch: which children are hit, a processor cannot foresee.
        const std::uint32_t* mask = owned[mover].data();
        const Point* move = tree_.move.data() + node.first_child;
        float* rave_visits = tree_.rave_visits.data() + node.first_child;
        float* rave_wins = tree_.rave_wins.data() + node.first_child;
#pragma GCC ivdep
        for (int i = 0; i < node.groups * kLanes; ++i) {
            const std::uint32_t bit = mask[move[i] / PatternBoard::kStride] >> move[i] % 32 & 1;
            const auto hit = static_cast<float>(static_cast<std::int32_t>(bit));
            rave_visits[i] += hit;
            rave_wins[i] += hit * won;
        }
        mover = 1 - mover;
    }
}

// --- The root --------------------------------------------------------------------------------------------------------

// Keeps what lies below the position on the board, if it was searched after the last thought; the tree is compacted.
bool MohexPlayer::reuse_subtree(const Board& board, const StoneRows& stones) {
    if (!reuse_ || tree_.nodes.empty() || size_ != board.size() || board.moves().size() <= history_.size() ||
        !std::equal(history_.begin(), history_.end(), board.moves().begin()))
        return false;
    StoneRows walked = stones_;
    std::vector<FillStone> fills = root_fills_;
    std::uint32_t index = 0;
    int mover = root_mover_;
    for (std::size_t ply = history_.size(); ply < board.moves().size(); ++ply) {
        const Node& node = tree_.nodes[index];
        const Point played = PatternBoard::point(board.moves()[ply] / size_, board.moves()[ply] % size_);
        const auto children = std::span(tree_.move).subspan(node.first_child, node.groups * kLanes);
        const auto found = std::ranges::find(children, played);
        if (found == children.end()) return false;
        index = node.first_child + static_cast<std::uint32_t>(found - children.begin());
        if (tree_.nodes[index].groups == 0) return false;
        walked[mover][PatternBoard::row(played)] |= 1u << PatternBoard::column(played);
        mover = 1 - mover;
        const auto added = std::span(tree_.fills).subspan(tree_.nodes[index].first_fill, tree_.nodes[index].fills);
        fills.insert(fills.end(), added.begin(), added.end());
    }
    if (walked != stones || mover != index_of(board.to_move())) return false;

    Tree kept;
    const auto copy = [&](std::uint32_t from, std::size_t count) {
        const std::uint32_t to = kept.append(count);
        std::copy_n(tree_.visits.begin() + from, count, kept.visits.begin() + to);
        std::copy_n(tree_.wins.begin() + from, count, kept.wins.begin() + to);
        std::copy_n(tree_.rave_visits.begin() + from, count, kept.rave_visits.begin() + to);
        std::copy_n(tree_.rave_wins.begin() + from, count, kept.rave_wins.begin() + to);
        std::copy_n(tree_.prior.begin() + from, count, kept.prior.begin() + to);
        std::copy_n(tree_.move.begin() + from, count, kept.move.begin() + to);
        std::copy_n(tree_.nodes.begin() + from, count, kept.nodes.begin() + to);
        return to;
    };
    copy(index, 1);
    for (std::uint32_t i = 0; i < kept.size(); ++i) {
        const Node old = kept.nodes[i];
        // Nobody descends below a node that has no children.
        if (old.groups == 0) continue;
        const auto added = std::span(tree_.fills).subspan(old.first_fill, old.fills);
        kept.nodes[i].first_fill = static_cast<std::uint32_t>(kept.fills.size());
        kept.fills.insert(kept.fills.end(), added.begin(), added.end());
        const std::uint32_t first = copy(old.first_child, old.groups * kLanes);
        kept.nodes[i].first_child = first;
    }
    tree_ = std::move(kept);
    root_fills_ = std::move(fills);
    return true;
}

void MohexPlayer::prepare_root(const Board& board, Rng& rng) {
    const StoneRows stones = stone_rows(board);
    if (size_ != board.size()) knowledge_ = make_node_knowledge(board.size());
    const bool reused = reuse_subtree(board, stones);
    size_ = board.size();
    history_ = board.moves();
    stones_ = stones;
    root_mover_ = index_of(board.to_move());
    root_state_ = std::make_unique<PatternBoard>(size_, *patterns_);
    root_last_ = history_.empty() ? PatternBoard::kNoPoint : root_state_->point_of(history_.back());
    for (int cell = 0; cell < board.cells(); ++cell)
        if (const auto colour = board.stone(cell)) root_state_->play(root_state_->point_of(cell), index_of(*colour));
    if (reused) {
        for (const FillStone& stone : root_fills_) root_state_->play(stone.point, stone.colour);
        return;
    }
    tree_.clear();
    tree_.append(1);
    expand(0, *root_state_, root_mover_, root_last_, rng);
    root_fills_ = tree_.fills;
}

// Dirichlet noise on the priors of the root (AlphaGo Zero), for self-play.
void MohexPlayer::add_noise(Rng& rng) {
    const Node& root = tree_.nodes[0];
    std::vector<double> noise(root.groups * kLanes);
    double sum = 0.0;
    for (std::size_t i = 0; i < noise.size(); ++i)
        if (tree_.prior[root.first_child + i] >= 0.0F) sum += noise[i] = gamma_variate(noise_shape_, rng);
    if (sum <= 0.0) return;
    for (std::size_t i = 0; i < noise.size(); ++i)
        if (float& prior = tree_.prior[root.first_child + i]; prior >= 0.0F)
            prior = static_cast<float>((1.0 - noise_) * prior + noise_ * noise[i] / sum);
}

// Plays a proved win, resists in a proved loss, and plays the only move there is.
bool MohexPlayer::play_without_search(const Board& board, Thought& thought) {
    Node& root = tree_.nodes[0];
    const auto children = std::views::iota(root.first_child, root.first_child + root.groups * kLanes);
    const auto play = [&](std::uint32_t child) {
        thought.best = static_cast<Cell>(root_state_->cell_of(tree_.move[child]));
    };
    if (root.value == Value::win) {
        thought.value = 1.0F;
        for (const std::uint32_t child : children)
            if (tree_.nodes[child].value == Value::loss) {
                play(child);
                return true;
            }
        if (const auto move = knowledge_->winning_move(stones_, root_mover_)) {
            thought.best = *move;
            return true;
        }
        // No single move is proved by itself: the search has to find it.
        root.value = Value::open;
        if (root.groups > 0) return false;
        thought.best = board.legal().front();
        return true;
    }
    if (root.value == Value::loss) {
        thought.value = -1.0F;
        knowledge_->order(stones_, moves_);
        thought.best = moves_.front();
        return true;
    }
    if (root.open > 1) return false;
    if (knowledge_after_ > 0 && knowledge_->winning_move(stones_, root_mover_)) thought.value = 1.0F;
    for (const std::uint32_t child : children)
        if (tree_.prior[child] >= 0.0F) play(child);
    return true;
}

// Can no other child catch up with the most visited one?
bool MohexPlayer::leader_is_safe(double remaining) const {
    const Node& root = tree_.nodes[0];
    float first = 0.0F;
    float second = 0.0F;
    for (std::uint32_t child = root.first_child; child < root.first_child + root.groups * kLanes; ++child) {
        if (tree_.prior[child] < 0.0F) continue;
        const float n = tree_.visits[child];
        second = std::max(second, std::min(first, n));
        first = std::max(first, n);
    }
    return first - second >= remaining;
}

// Is the child with the best mean, among those that have been looked at, another than the most visited?
bool MohexPlayer::is_unstable() const {
    const Node& root = tree_.nodes[0];
    std::uint32_t most = 0;
    std::uint32_t best = 0;
    const auto mean = [&](std::uint32_t i) { return tree_.wins[i] / tree_.visits[i]; };
    for (std::uint32_t child = root.first_child; child < root.first_child + root.groups * kLanes; ++child) {
        if (tree_.prior[child] < 0.0F || tree_.visits[child] < static_cast<float>(expand_after_)) continue;
        if (most == 0 || tree_.visits[child] > tree_.visits[most]) most = child;
        if (best == 0 || mean(child) > mean(best)) best = child;
    }
    return most != best;
}

void MohexPlayer::search(Rng& rng, const Poll& poll, std::uint32_t budget, Thought& thought) {
    const bool timed = budget_.seconds > 0.0;
    const double began = timed ? cpu_seconds() : 0.0;
    double limit = timed ? budget_.seconds : budget;
    bool extended = !extend_;
    for (std::uint32_t playouts = 0;; ++playouts) {
        thought.budget = playouts;
        if (tree_.nodes[0].value != Value::open) return;
        if (playouts % kPollInterval == 0) poll();
        const bool look = playouts % 16 == 0;
        const double spent = timed ? (look ? cpu_seconds() - began : 0.0) : tree_.visits[0];
        if (spent >= limit) {
            if (extended || !is_unstable()) return;
            extended = true;
            limit *= kExtension;
        }
        // At the pace so far, once there is a pace.
        if (early_stop_ && look && playouts > 0) {
            const double remaining = timed ? (limit - spent) * playouts / spent : limit - spent;
            if ((!timed || spent > 0.1 * limit) && leader_is_safe(remaining)) return;
        }
        if (playouts == kMaxPlayouts) return;
        iterate(rng);
    }
}

void MohexPlayer::report(Thought& thought) const {
    const Node& root = tree_.nodes[0];
    std::uint32_t best = root.first_child;
    float visits = 0.0F;
    float wins = 0.0F;
    const auto rank = [&](std::uint32_t i) {
        return std::tuple(tree_.nodes[i].value == Value::loss, root.value == Value::loss || tree_.prior[i] >= 0.0F,
                          tree_.visits[i], tree_.wins[i]);
    };
    for (std::uint32_t child = root.first_child; child < root.first_child + root.groups * kLanes; ++child) {
        if (tree_.move[child] == PatternBoard::kNoPoint) continue;
        if (rank(child) > rank(best)) best = child;
        if (tree_.visits[child] == 0.0F) continue;
        visits += tree_.visits[child];
        wins += tree_.wins[child];
        thought.visits.push_back({static_cast<Cell>(root_state_->cell_of(tree_.move[child])),
                                  static_cast<std::uint32_t>(tree_.visits[child])});
    }
    thought.best = static_cast<Cell>(root_state_->cell_of(tree_.move[best]));
    thought.value = root.value == Value::win    ? 1.0F
                    : root.value == Value::loss ? -1.0F
                    : visits > 0.0F             ? 2.0F * (wins / visits) - 1.0F
                                                : 0.0F;
    std::ranges::sort(thought.visits, {}, &Visits::cell);
}

void MohexPlayer::think(const Board& board, Rng& rng, const Poll& poll, Thought& thought) {
    thought = {};
    const std::uint32_t range = budget_.playouts.high - budget_.playouts.low + 1;
    const std::uint32_t budget = budget_.playouts.low + rng.below(range);
    prepare_root(board, rng);
    if (knowledge_after_ > 0 && tree_.nodes[0].value == Value::open && !tree_.nodes[0].known)
        analyse(0, root_state_->stones(), root_mover_);
    if (play_without_search(board, thought)) return;
    if (noise_ > 0.0) add_noise(rng);
    search(rng, poll, budget, thought);
    report(thought);
}

}  // namespace hexdata
