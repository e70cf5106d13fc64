#include "batch.hpp"

#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

#include "board.hpp"

namespace hexdata {

namespace {

using Packed = std::array<std::uint8_t, kMaxPacked>;

template <typename Visit>
void for_each_stone(const std::uint8_t* packed, int bytes, Visit visit) {
    for (int byte = 0; byte < bytes; ++byte)
        for (unsigned bits = packed[byte]; bits != 0; bits &= bits - 1) visit(8 * byte + std::countr_zero(bits));
}

void check_row(const PackedPositions& positions, std::size_t row) {
    const int bytes = packed_bytes(positions.size);
    const int used_in_last = positions.size * positions.size - 8 * (bytes - 1);
    const std::uint8_t* black = positions.black + row * bytes;
    const std::uint8_t* white = positions.white + row * bytes;
    for (int byte = 0; byte < bytes; ++byte)
        if ((black[byte] & white[byte]) != 0)
            throw std::invalid_argument(
                "row " + std::to_string(row) + ": cell " +
                std::to_string(8 * byte + std::countr_zero<unsigned>(black[byte] & white[byte])) +
                " has a stone of both colours");
    if ((black[bytes - 1] | white[bytes - 1]) >> used_in_last != 0)
        throw std::invalid_argument("row " + std::to_string(row) + ": a packed bit lies off the board of size " +
                                    std::to_string(positions.size));
}

void write_key(Key key, std::uint8_t* to) {
    const KeyBytes bytes = big_endian(key);
    std::memcpy(to, bytes.data(), bytes.size());
}

}  // namespace

PositionKeys key_positions(const PackedPositions& positions, const std::uint8_t* to_move) {
    const int size = positions.size;
    check_size(size);
    const int bytes = packed_bytes(size);
    const StoneKeys& table = stone_keys(size);
    const ImageKeys empty = empty_board_keys(size);
    PositionKeys result{Column<std::uint8_t>(16 * positions.count), Column<std::uint8_t>(positions.count)};
    for (std::size_t row = 0; row < positions.count; ++row) {
        check_row(positions, row);
        if (to_move[row] > 1)
            throw std::invalid_argument("row " + std::to_string(row) +
                                        ": to_move must be 0 (black) or 1 (white), not " +
                                        std::to_string(to_move[row]));
        ImageKeys keys = empty;
        std::array<int, 2> stones{};
        const std::array<const std::uint8_t*, 2> packed{positions.black + row * bytes, positions.white + row * bytes};
        for (int colour = 0; colour < 2; ++colour)
            for_each_stone(packed[colour], bytes, [&](int cell) {
                toggle(keys, table[colour][cell]);
                ++stones[colour];
            });
        if (to_move[row] == 1) toggle_side(keys);
        write_key(orbit_key(keys), result.orbit_keys.data.get() + 16 * row);
        result.symmetry.data[row] =
            static_cast<std::uint8_t>(stored_symmetry(keys, stones[0], stones[1], to_move[row] == 1));
    }
    return result;
}

Column<std::uint8_t> winners(const PackedPositions& positions) {
    const int size = positions.size;
    check_size(size);
    const int bytes = packed_bytes(size);
    Column<std::uint8_t> result(positions.count);
    for (std::size_t row = 0; row < positions.count; ++row) {
        check_row(positions, row);
        Rows black{};
        Rows white{};
        for_each_stone(positions.black + row * bytes, bytes, [&](int c) { black[c / size] |= 1u << c % size; });
        for_each_stone(positions.white + row * bytes, bytes, [&](int c) { white[c % size] |= 1u << c / size; });
        result.data[row] = joins_ends(black, size) ? 0 : joins_ends(white, size) ? 1 : 2;
    }
    return result;
}

ReplayedGames replay_games(int size, std::span<const std::uint16_t> moves, std::span<const std::int64_t> offsets) {
    check_size(size);
    if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(moves.size()))
        throw std::invalid_argument("offsets must start with 0 and end with the number of moves, " +
                                    std::to_string(moves.size()));
    for (std::size_t g = 1; g < offsets.size(); ++g)
        if (offsets[g] < offsets[g - 1])
            throw std::invalid_argument("offsets must not fall, but do at entry " + std::to_string(g));

    const std::size_t games = offsets.size() - 1;
    const int cells = size * size;
    const auto bytes = static_cast<std::size_t>(packed_bytes(size));
    const StoneKeys& table = stone_keys(size);
    const ImageKeys empty = empty_board_keys(size);
    const Key side = side_key();
    // Division by a variable costs more than the rest of a ply.
    std::array<std::uint8_t, kMaxCells> row_of;
    std::array<std::uint8_t, kMaxCells> column_of;
    for (int cell = 0; cell < cells; ++cell) {
        row_of[cell] = static_cast<std::uint8_t>(cell / size);
        column_of[cell] = static_cast<std::uint8_t>(cell % size);
    }
    ReplayedGames result{Column<std::uint8_t>(16 * moves.size()),    Column<std::uint8_t>(moves.size()),
                         Column<std::uint8_t>(bytes * moves.size()), Column<std::uint8_t>(bytes * moves.size()),
                         Column<std::uint8_t>(moves.size()),         Column<std::uint8_t>(games)};

    for (std::size_t g = 0; g < games; ++g) {
        ImageKeys keys = empty;
        std::array<Rows, 2> lines{};
        // Black moves first, so the stored image is the identity or the rotation: packed[rotated][colour].
        std::array<std::array<Packed, 2>, 2> packed{};
        std::uint8_t winner = 2;
        for (auto m = static_cast<std::size_t>(offsets[g]); m < static_cast<std::size_t>(offsets[g + 1]); ++m) {
            const std::size_t ply = m - static_cast<std::size_t>(offsets[g]);
            const int colour = static_cast<int>(ply % 2);
            const int cell = moves[m];
            const auto refuse = [&](const std::string& why) {
                throw std::invalid_argument("game " + std::to_string(g) + ", ply " + std::to_string(ply) + ": cell " +
                                            std::to_string(cell) + " " + why);
            };
            if (cell >= cells) refuse("is not on a board of size " + std::to_string(size));
            const auto bit = static_cast<std::uint8_t>(1u << (cell & 7));
            if (((packed[0][0][cell >> 3] | packed[0][1][cell >> 3]) & bit) != 0) refuse("already has a stone");
            if (winner != 2) refuse(std::string("is played after ") + (winner == 0 ? "black" : "white") + " has won");

            const int rotated = keys[1] < keys[0] ? 1 : 0;
            write_key(orbit_key(keys), result.orbit_keys.data.get() + 16 * m);
            result.symmetry.data[m] = static_cast<std::uint8_t>(rotated);
            std::memcpy(result.black.data.get() + bytes * m, packed[rotated][0].data(), bytes);
            std::memcpy(result.white.data.get() + bytes * m, packed[rotated][1].data(), bytes);
            result.to_move.data[m] = static_cast<std::uint8_t>(colour);

            const ImageKeys& stone = table[colour][cell];
            for (int s = 0; s < 4; ++s) keys[s] = keys[s] ^ stone[s] ^ side;
            const int opposite = cells - 1 - cell;
            packed[0][colour][cell >> 3] |= bit;
            packed[1][colour][opposite >> 3] |= static_cast<std::uint8_t>(1u << (opposite & 7));
            if (colour == 0)
                lines[0][row_of[cell]] |= 1u << column_of[cell];
            else
                lines[1][column_of[cell]] |= 1u << row_of[cell];
            if (joins_ends(lines[colour], size)) winner = static_cast<std::uint8_t>(colour);
        }
        result.winner.data[g] = winner;
    }
    return result;
}

}  // namespace hexdata
