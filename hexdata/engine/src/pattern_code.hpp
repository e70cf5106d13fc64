// The twelve cells around a cell as one number, two bits each: 0 empty, 1 black, 2 white, 3 beyond two edges at once.
// Beyond one edge lie stones of its owner. Bits 0-11 are the six neighbours in the order of a walk around the cell, bits
// 12-23 the six cells a bridge away, so that the six-cell code is the low half of the twelve-cell code.
//
//            b0
//       b5 a0  a1 b1        a0 = (-1,0)  a1 = (-1,1)  a2 = (0,1)  a3 = (1,0)  a4 = (1,-1)  a5 = (0,-1)
//        a5  .  a2          b0 = (-2,1)  b1 = (-1,2)  b2 = (1,1)  b3 = (2,-1) b4 = (1,-2)  b5 = (-1,-1)
//       b4 a4  a3 b2
//            b3
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace hexdata {

using PatternCode = std::uint32_t;

inline constexpr PatternCode kRingMask = 0xFFF;
inline constexpr PatternCode kCodeMask = 0xFFFFFF;

struct Step {
    int row;
    int column;
};

// Step i + 3 (mod 6) of the same half is the opposite of step i.
inline constexpr std::array<Step, 12> kPatternSteps{{{-1, 0},
                                                     {-1, 1},
                                                     {0, 1},
                                                     {1, 0},
                                                     {1, -1},
                                                     {0, -1},
                                                     {-2, 1},
                                                     {-1, 2},
                                                     {1, 1},
                                                     {2, -1},
                                                     {1, -2},
                                                     {-1, -1}}};

constexpr int opposite_step(int step) { return step / 6 * 6 + (step + 3) % 6; }

// The code after a half-turn of the board.
constexpr PatternCode turned(PatternCode code) {
    return ((code >> 6) & 0x03F03F) | ((code & 0x03F03F) << 6);
}

// The code after the transposition with the colours swapped: White's view as if he were Black.
constexpr PatternCode mirrored(PatternCode code) {
    PatternCode result = 0;
    for (int i = 0; i < 6; ++i) {
        result |= (code >> (2 * i) & 3) << (2 * (5 - i));
        result |= (code >> (12 + 2 * i) & 3) << (12 + 2 * ((10 - i) % 6));
    }
    return ((result & 0x555555) << 1) | ((result >> 1) & 0x555555);
}

// One code for all that the symmetries make equal, as seen by the side that would move there (0 Black, 1 White).
constexpr PatternCode canonical(PatternCode code, int mover) {
    const PatternCode seen = mover == 0 ? code : mirrored(code);
    return std::min(seen, turned(seen));
}

constexpr int mirrored_step(int step) { return step < 6 ? 5 - step : 6 + (16 - step) % 6; }

// One number, code | step << 24, for all equal replies at `step` from a last move with `code` around it.
constexpr std::uint32_t canonical_reply(PatternCode code, int step, int mover) {
    const PatternCode seen = mover == 0 ? code : mirrored(code);
    const int at = mover == 0 ? step : mirrored_step(step);
    return std::min(seen | std::uint32_t(at) << 24, turned(seen) | std::uint32_t(opposite_step(at)) << 24);
}

}  // namespace hexdata
