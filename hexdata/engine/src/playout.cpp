#include "playout.hpp"

#include <bit>
#include <utility>

namespace hexdata {

namespace {

constexpr std::uint8_t kNobody = 3;
constexpr int kStride = PlayoutBoard::kStride;

// The six neighbours in the order of a walk around the cell.
constexpr std::array<int, 6> kRing{-kStride, -kStride + 1, 1, kStride, kStride - 1, -1};

// For each colour and each contents of the ring (two bits a neighbour), the directions whose empty cell lies between
// two stones of that colour: the other half of the bridge that a stone in the middle has just cut.
constexpr std::array<std::array<std::uint8_t, 4096>, 2> make_saving_directions() {
    std::array<std::array<std::uint8_t, 4096>, 2> table{};
    for (int colour = 0; colour < 2; ++colour)
        for (int code = 0; code < 4096; ++code) {
            const auto at = [code](int direction) { return code >> (2 * (direction % 6)) & 3; };
            for (int d = 0; d < 6; ++d)
                if (at(d) == 0 && at(d + 1) == 1 + colour && at(d + 5) == 1 + colour)
                    table[colour][code] |= static_cast<std::uint8_t>(1 << d);
        }
    return table;
}

constexpr auto kSavingDirections = make_saving_directions();

}  // namespace

PlayoutBoard::PlayoutBoard(int size) : size_(size) {
    stones_.fill(kNobody);
    for (int i = 0; i < size; ++i) {
        stones_[i + 1] = stones_[(size + 1) * kStride + i + 1] = 1;
        stones_[(i + 1) * kStride] = stones_[(i + 1) * kStride + size + 1] = 2;
    }
    for (int cell = 0; cell < size * size; ++cell) stones_[point(size, cell)] = kEmpty;
}

PlayoutBoard::Point PlayoutBoard::saving_reply(Point intruder, int colour, Rng& rng) const {
    const std::uint8_t* at = stones_.data() + intruder;
    int code = 0;
    for (int d = 0; d < 6; ++d) code |= at[kRing[d]] << (2 * d);
    unsigned directions = kSavingDirections[colour][code];
    if (directions == 0) return kNoPoint;
    if ((directions & (directions - 1)) != 0)
        for (std::uint32_t skip = rng.below(std::popcount(directions)); skip > 0; --skip) directions &= directions - 1;
    return static_cast<Point>(intruder + kRing[std::countr_zero(directions)]);
}

bool PlayoutBoard::black_wins(std::vector<Point>& points, Point last, int mover, Rng& rng) {
    for (auto i = static_cast<std::uint32_t>(points.size()); i > 1; --i) std::swap(points[i - 1], points[rng.below(i)]);
    std::size_t next = 0;
    for (;;) {
        Point reply = last == kNoPoint ? kNoPoint : saving_reply(last, mover, rng);
        if (reply == kNoPoint) {
            while (next < points.size() && !empty(points[next])) ++next;
            if (next == points.size()) break;
            reply = points[next++];
        }
        play(reply, mover);
        last = reply;
        mover = 1 - mover;
    }
    return joins_ends(rows_[0], size_);
}

}  // namespace hexdata
