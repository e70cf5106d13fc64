// 128-bit Zobrist keys of a position and of its four images. The constants are fixed for ever: data sets refer to them.
//
// Word i of the key constants is number i of the splitmix64 stream with seed kKeySeed. A 128-bit constant is two
// neighbouring words, the high one first: constant k is words 2k and 2k+1. Constant colour * 361 + cell stands for a
// stone (cell = row * size + column), constant 722 for White to move, constant 723 + size for the board size. A key is
// the exclusive or of the constants of everything that holds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace hexdata {

inline constexpr int kMinSize = 2;
inline constexpr int kMaxSize = 19;
inline constexpr int kMaxCells = kMaxSize * kMaxSize;
inline constexpr int kMaxPacked = (kMaxCells + 7) / 8;
inline constexpr std::uint64_t kKeySeed = 0x4865784461746131;  // "HexData1"

struct Key {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    friend constexpr Key operator^(Key a, Key b) { return {a.high ^ b.high, a.low ^ b.low}; }
    friend constexpr auto operator<=>(const Key&, const Key&) = default;
};

using KeyBytes = std::array<std::uint8_t, 16>;
KeyBytes big_endian(Key key);

// The keys of the images of one position under the symmetries 0..3. 64 bytes.
using ImageKeys = std::array<Key, 4>;

// Symmetry 0 is the identity, 1 the rotation by 180 degrees, 2 the transposition with colours and side to move swapped,
// 3 is 1 after 2. Each is its own inverse.
int image_cell(int size, int symmetry, int cell);

ImageKeys empty_board_keys(int size);

// One size's constants: what a stone adds to each of the four keys. 2 * 361 * 64 bytes, built once and kept.
using StoneKeys = std::array<std::array<ImageKeys, kMaxCells>, 2>;
const StoneKeys& stone_keys(int size);

inline void toggle(ImageKeys& keys, const ImageKeys& change) {
    for (int s = 0; s < 4; ++s) keys[s] = keys[s] ^ change[s];
}

inline void toggle_stone(ImageKeys& keys, int size, int colour, int cell) {
    toggle(keys, stone_keys(size)[colour][cell]);
}

// Passing the turn changes all four keys by the same constant, because an image swaps the side to move or keeps it.
Key side_key();
inline void toggle_side(ImageKeys& keys) {
    const Key side = side_key();
    for (Key& key : keys) key = key ^ side;
}

inline Key orbit_key(const ImageKeys& keys) { return *std::min_element(keys.begin(), keys.end()); }

// The symmetry that maps a position to the image that rows store: the one with the smallest key among the images in
// which Black moved first (equally many stones and Black to move, or one more black stone and White to move), or among
// all four if there is none. Ties go to the smaller symmetry.
int stored_symmetry(const ImageKeys& keys, int black_stones, int white_stones, bool white_to_move);

}  // namespace hexdata
