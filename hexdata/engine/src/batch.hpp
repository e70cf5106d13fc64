// Many positions in one call: keys of packed positions, winners of packed positions, and games replayed into positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "keys.hpp"

namespace hexdata {

// A fixed-size column that is handed to numpy without a copy; not cleared, because every entry is written.
template <typename T>
struct Column {
    explicit Column(std::size_t count) : size(count), data(std::make_unique_for_overwrite<T[]>(count)) {}

    std::size_t size;
    std::unique_ptr<T[]> data;
};

// `count` positions of one size, each colour's stones packed into packed_bytes(size) bytes a row, cell c in bit c & 7
// of byte c >> 3. A view: the caller keeps the memory.
struct PackedPositions {
    int size;
    std::size_t count;
    const std::uint8_t* black;
    const std::uint8_t* white;
};

constexpr int packed_bytes(int size) { return (size * size + 7) / 8; }

struct PositionKeys {
    Column<std::uint8_t> orbit_keys;  // 16 bytes a position
    Column<std::uint8_t> symmetry;
};

// Throws std::invalid_argument that names the row if two stones share a cell or a bit lies off the board.
PositionKeys key_positions(const PackedPositions& positions, const std::uint8_t* to_move);

// 0 Black, 1 White, 2 nobody; the same check of rows.
Column<std::uint8_t> winners(const PackedPositions& positions);

struct ReplayedGames {
    Column<std::uint8_t> orbit_keys;  // 16 bytes a position
    Column<std::uint8_t> symmetry;
    Column<std::uint8_t> black;  // packed_bytes(size) a position, in the stored image
    Column<std::uint8_t> white;
    Column<std::uint8_t> to_move;
    Column<std::uint8_t> winner;  // one a game: 0 Black, 1 White, 2 nobody
};

// The position before every move of every game; Black moves first. Game g is moves[offsets[g]..offsets[g + 1]).
ReplayedGames replay_games(int size, std::span<const std::uint16_t> moves, std::span<const std::int64_t> offsets);

}  // namespace hexdata
