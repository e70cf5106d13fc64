// Games to the full board by pattern weights: a side whose bridge is intruded upon saves it, else it draws among the replies
// to the last move and the whole board by weight. Dead cells stay empty.
#pragma once

#include <array>
#include <cstdint>

#include "node_knowledge.hpp"
#include "patterns.hpp"
#include "rng.hpp"

namespace hexdata {

// A board with a border of two cells and the pattern code of every cell, kept up to date stone by stone. The stride is
// fixed: the twelve steps are constants and a cell's row is a shift. About 3.4 kB, of which copies touch what the size
// needs: 1.9 kB on 9x9. Copied once a playout.
class PatternBoard {
public:
    static constexpr int kStride = 32;
    using Point = std::uint16_t;
    static constexpr Point kNoPoint = 0;

    PatternBoard(int size, const Patterns& patterns);
    PatternBoard(const PatternBoard& from) { *this = from; }
    PatternBoard& operator=(const PatternBoard& from);

    static Point point(int row, int column) { return static_cast<Point>((row + 2) * kStride + column + 2); }
    static int row(Point point) { return point / kStride - 2; }
    static int column(Point point) { return point % kStride - 2; }
    // Which of the twelve cells around `from` the other point is; -1 if none.
    static int step_between(Point from, Point to) {
        for (int i = 0; i < 12; ++i)
            if (to - from == kPatternSteps[i].row * kStride + kPatternSteps[i].column) return i;
        return -1;
    }
    Point point_of(int cell) const { return point(cell / size_, cell % size_); }
    int cell_of(Point p) const { return row(p) * size_ + column(p); }

    bool empty(Point point) const { return (codes_[point] & kOccupied) == 0; }
    PatternCode code(Point point) const { return codes_[point] & kCodeMask; }
    const StoneRows& stones() const { return stones_; }
    Rows empties() const;
    // Did the stone at `point` cut a bridge of `colour` that can still be saved?
    bool cuts_bridge(Point point, int colour) const;

    void play(Point point, int colour);

    // Plays to the end from the position after `last` (kNoPoint if none) and returns the winner.
    int play_out(Point last, int mover, Rng& rng);

private:
    static constexpr PatternCode kOccupied = 1u << 24;

    // Both colours' sums in one word, Black's in the low half.
    using SumPair = std::uint64_t;
    static constexpr SumPair widened(WeightPair pair) { return (pair & 0xFFFF) | SumPair{pair >> 16} << 32; }

    Point draw(Point last, int mover, Rng& rng) const;

    int size_;
    const Patterns* patterns_;
    SumPair total_ = 0;
    // By row of the board plus one: the stones of the border change nothing, but they are asked like all others.
    std::array<SumPair, kMaxSize + 2> row_sums_{};
    StoneRows stones_{};
    std::array<PatternCode, (kMaxSize + 4) * kStride> codes_;
};

}  // namespace hexdata
