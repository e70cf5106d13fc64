// Random games to the full board in which a side whose bridge is intruded upon saves it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "board.hpp"
#include "rng.hpp"

namespace hexdata {

// A board with a border of stones, so that an edge is one more stone of its owner's bridges. The stride is fixed: the
// neighbours are then constants and a cell's row is a shift. 672 bytes and two Rows, copied once a playout.
class PlayoutBoard {
public:
    static constexpr int kStride = 32;
    using Point = std::uint16_t;
    static constexpr Point kNoPoint = 0;

    explicit PlayoutBoard(int size);

    static Point point(int size, int cell) { return static_cast<Point>((cell / size + 1) * kStride + cell % size + 1); }
    static int cell(int size, Point point) { return (point / kStride - 1) * size + point % kStride - 1; }

    bool empty(Point point) const { return stones_[point] == kEmpty; }

    void play(Point point, int colour) {
        stones_[point] = static_cast<std::uint8_t>(1 + colour);
        rows_[colour][point / kStride - 1] |= 1u << (point % kStride - 1);
    }

    // The cell that saves a bridge of `colour` after the other side's move at `intruder`; kNoPoint if no bridge is
    // hurt. If several are, one of them at random.
    Point saving_reply(Point intruder, int colour, Rng& rng) const;

    // Fills the board from the position after `last` with `mover` to move and says whether Black joins the edges.
    // `points` holds every empty point (more do not matter) and is left shuffled.
    bool black_wins(std::vector<Point>& points, Point last, int mover, Rng& rng);

private:
    static constexpr std::uint8_t kEmpty = 0;

    int size_;
    std::array<std::uint8_t, (kMaxSize + 2) * kStride> stones_;
    std::array<Rows, 2> rows_{};
};

}  // namespace hexdata
