#include "keys.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include "rng.hpp"

namespace hexdata {

namespace {

constexpr int kSideConstant = 2 * kMaxCells;
constexpr int kSizeConstant = kSideConstant + 1;

constexpr Key constant(int k) {
    const auto word = static_cast<std::uint64_t>(2 * k);
    return {splitmix64(kKeySeed, word), splitmix64(kKeySeed, word + 1)};
}

constexpr Key kSideKey = constant(kSideConstant);

}  // namespace

KeyBytes big_endian(Key key) {
    KeyBytes bytes;
    for (int i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::uint8_t>(key.high >> (56 - 8 * i));
        bytes[8 + i] = static_cast<std::uint8_t>(key.low >> (56 - 8 * i));
    }
    return bytes;
}

int image_cell(int size, int symmetry, int cell) {
    const int transposed = symmetry >= 2 ? cell % size * size + cell / size : cell;
    return symmetry % 2 == 1 ? size * size - 1 - transposed : transposed;
}

Key side_key() { return kSideKey; }

ImageKeys empty_board_keys(int size) {
    const Key key = constant(kSizeConstant + size);
    return {key, key, key ^ kSideKey, key ^ kSideKey};
}

const StoneKeys& stone_keys(int size) {
    static std::array<std::once_flag, kMaxSize + 1> built;
    static std::array<std::unique_ptr<StoneKeys>, kMaxSize + 1> tables;
    std::call_once(built[size], [size] {
        auto table = std::make_unique<StoneKeys>();
        for (int colour = 0; colour < 2; ++colour)
            for (int cell = 0; cell < size * size; ++cell)
                for (int s = 0; s < 4; ++s) {
                    const int image_colour = s >= 2 ? 1 - colour : colour;
                    (*table)[colour][cell][s] = constant(image_colour * kMaxCells + image_cell(size, s, cell));
                }
        tables[size] = std::move(table);
    });
    return *tables[size];
}

int stored_symmetry(const ImageKeys& keys, int black_stones, int white_stones, bool white_to_move) {
    const int ahead = black_stones - white_stones;
    const bool black_first = ahead == (white_to_move ? 1 : 0);
    const bool swapped_is_black_first = -ahead == (white_to_move ? 0 : 1);
    const int first = swapped_is_black_first ? 2 : 0;
    const int last = black_first ? 1 : 3;
    int best = first;
    for (int s = first + 1; s <= last; ++s)
        if (keys[s] < keys[best]) best = s;
    return best;
}

}  // namespace hexdata
