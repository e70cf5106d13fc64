#include "pattern_board.hpp"

#include <algorithm>
#include <bit>

namespace hexdata {

namespace {

constexpr int kStride = PatternBoard::kStride;

constexpr std::array<int, 12> make_offsets() {
    std::array<int, 12> offsets{};
    for (int i = 0; i < 12; ++i) offsets[i] = kPatternSteps[i].row * kStride + kPatternSteps[i].column;
    return offsets;
}

constexpr auto kOffsets = make_offsets();

// For each colour and ring, the directions whose empty cell lies between two stones of that colour: the other half of
// the bridge that a stone in the middle has just cut.
constexpr std::array<std::array<std::uint8_t, 4096>, 2> make_saving_directions() {
    std::array<std::array<std::uint8_t, 4096>, 2> table{};
    for (unsigned colour = 0; colour < 2; ++colour)
        for (unsigned ring = 0; ring < 4096; ++ring) {
            const auto at = [ring](int direction) { return ring >> (2 * (direction % 6)) & 3; };
            for (int d = 0; d < 6; ++d)
                if (at(d) == 0 && at(d + 1) == 1 + colour && at(d + 5) == 1 + colour)
                    table[colour][ring] |= static_cast<std::uint8_t>(1 << d);
        }
    return table;
}

constexpr auto kSavingDirections = make_saving_directions();

}  // namespace

PatternBoard::PatternBoard(int size, const Patterns& patterns) : size_(size), patterns_(&patterns) {
    codes_.fill(kOccupied);
    const auto off = [size](int i) { return i < 0 || i >= size; };
    for (int r = 0; r < size; ++r)
        for (int c = 0; c < size; ++c) {
            PatternCode code = 0;
            for (int i = 0; i < 12; ++i) {
                const bool off_rows = off(r + kPatternSteps[i].row);
                const bool off_columns = off(c + kPatternSteps[i].column);
                code |= (off_rows ? 1u : 0u) << (2 * i) | (off_columns ? 2u : 0u) << (2 * i);
            }
            codes_[point(r, c)] = code;
            row_sums_[r + 1] += widened(patterns.weight(code));
        }
    for (int r = 0; r < size; ++r) total_ += row_sums_[r + 1];
}

PatternBoard& PatternBoard::operator=(const PatternBoard& from) {
    size_ = from.size_;
    patterns_ = from.patterns_;
    total_ = from.total_;
    row_sums_ = from.row_sums_;
    stones_ = from.stones_;
    std::copy_n(from.codes_.begin(), (size_ + 4) * kStride, codes_.begin());
    return *this;
}

Rows PatternBoard::empties() const {
    Rows rows{};
    for (int r = 0; r < size_; ++r) rows[r] = ((1u << size_) - 1) & ~(stones_[0][r] | stones_[1][r]);
    return rows;
}

bool PatternBoard::cuts_bridge(Point point, int colour) const {
    return kSavingDirections[colour][codes_[point] & kRingMask] != 0;
}

void PatternBoard::play(Point point, int colour) {
    const int r = row(point);
    stones_[colour][r] |= 1u << column(point);
    PatternCode* at = codes_.data() + point;
    SumPair change = 0 - widened(patterns_->weight(*at));
    row_sums_[r + 1] += change;
    *at |= kOccupied;
    const PatternCode stone = 1u + static_cast<PatternCode>(colour);
    for (int i = 0; i < 6; ++i) {
        PatternCode& code = at[kOffsets[i]];
        const PatternCode old = code;
        code = old | stone << (2 * opposite_step(i));
        // Half of the neighbours are occupied, in no order that a processor could foresee: no branch.
        const SumPair open = SumPair{(old & kOccupied) / kOccupied} - 1;
        const SumPair delta = (widened(patterns_->weight(code)) - widened(patterns_->weight(old))) & open;
        row_sums_[r + 1 + kPatternSteps[i].row] += delta;
        change += delta;
    }
    for (int i = 6; i < 12; ++i) at[kOffsets[i]] |= stone << (2 * opposite_step(i));
    total_ += change;
}

PatternBoard::Point PatternBoard::draw(Point last, int mover, Rng& rng) const {
    const int shift = 32 * mover;
    const int half = 16 * mover;
    std::array<std::uint32_t, 12> gain;
    std::array<Point, 12> reply;
    int count = 0;
    std::uint32_t extra = 0;
    if (last != kNoPoint) {
        const PatternCode* at = codes_.data() + last;
        unsigned directions = kSavingDirections[mover][*at & kRingMask];
        if (directions != 0) {
            if ((directions & (directions - 1)) != 0)
                for (std::uint32_t skip = rng.below(std::popcount(directions)); skip > 0; --skip)
                    directions &= directions - 1;
            return static_cast<Point>(last + kOffsets[std::countr_zero(directions)]);
        }
        if (patterns_->weighs_replies()) {
            const Replies& replies = patterns_->replies(*at, mover);
            for (std::uint32_t steps = replies.steps & ~(*at | *at >> 1); steps != 0; steps &= steps - 1) {
                const int step = std::countr_zero(steps) / 2;
                const std::uint32_t weight = patterns_->weight(at[kOffsets[step]]) >> half & 0xFFFF;
                reply[count] = static_cast<Point>(last + kOffsets[step]);
                extra += gain[count++] = weight * replies.gain[step] / kReplyUnit;
            }
        }
    }
    const auto total = static_cast<std::uint32_t>(total_ >> shift);
    if (total == 0) return kNoPoint;
    std::uint32_t ticket = rng.below(total + extra);
    if (ticket < extra) {
        int i = 0;
        for (; ticket >= gain[i]; ++i) ticket -= gain[i];
        return reply[i];
    }
    ticket -= extra;
    int r = 0;
    for (;; ++r) {
        const auto sum = static_cast<std::uint32_t>(row_sums_[r + 1] >> shift);
        if (ticket < sum) break;
        ticket -= sum;
    }
    std::uint32_t line = ((1u << size_) - 1) & ~(stones_[0][r] | stones_[1][r]);
    for (;; line &= line - 1) {
        const Point p = point(r, std::countr_zero(line));
        const std::uint32_t weight = patterns_->weight(codes_[p]) >> half & 0xFFFF;
        if (ticket < weight) return p;
        ticket -= weight;
    }
}

int PatternBoard::play_out(Point last, int mover, Rng& rng) {
    for (;;) {
        const Point p = draw(last, mover, rng);
        if (p == kNoPoint) break;
        // The cells around the move are the same before and after it.
        patterns_->prefetch_replies(codes_[p], 1 - mover);
        play(p, mover);
        last = p;
        mover = 1 - mover;
    }
    // What is left is dead: its colour does not matter.
    return joins_ends(stones_[0], size_) ? 0 : 1;
}

}  // namespace hexdata
