// The rules: stones, turns, undo and the winner. Black joins the top row to the bottom, White the left to the right.
//
//      a  b  c          (r,c) touches (r-1,c) (r-1,c+1)
//     1 .  .  .                   (r,c-1)     (r,c+1)
//      2 .  .  .               (r+1,c-1) (r+1,c)
//       3 .  .  .
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keys.hpp"

namespace hexdata {

using Cell = std::uint16_t;

enum class Colour : std::uint8_t { black = 0, white = 1 };

constexpr Colour other(Colour colour) { return static_cast<Colour>(1 - static_cast<int>(colour)); }
constexpr int index_of(Colour colour) { return static_cast<int>(colour); }
const char* name_of(Colour colour);

// One word of stones per line: bit c of rows[r]. 76 bytes, copied freely.
using Rows = std::array<std::uint32_t, kMaxSize>;

// Do the stones join line 0 to line size-1? White's stones are given transposed, which maps Hex onto itself.
bool joins_ends(const Rows& rows, int size);

// Throws std::invalid_argument unless 2 <= size <= 19.
void check_size(int size);

// A game in progress with its full history. About 1 kB and two vectors of at most 361 entries.
class Board {
public:
    explicit Board(int size);

    int size() const { return size_; }
    int cells() const { return size_ * size_; }
    Colour to_move() const { return to_move_; }
    const std::vector<Cell>& moves() const { return moves_; }
    std::optional<Colour> winner() const { return winner_; }
    std::optional<Colour> stone(int cell) const;
    std::vector<Cell> legal() const;
    std::vector<Cell> stones(Colour colour) const;

    // Throws std::invalid_argument off the board, on a stone, or when the game is decided. The turn passes to the other
    // side of the stone's colour.
    void play(int cell, Colour colour);
    void play(int cell) { play(cell, to_move_); }
    void undo();
    // Whose turn it is when sides do not alternate: handicap stones, or White first.
    void give_turn(Colour colour);

    const ImageKeys& image_keys() const { return keys_; }

private:
    struct Played {
        Colour colour;
        Colour to_move_before;
    };

    void toggle(int cell, Colour colour);

    int size_;
    Colour to_move_ = Colour::black;
    std::optional<Colour> winner_;
    // lines_[0] are Black's stones by row, lines_[1] White's by column.
    std::array<Rows, 2> lines_{};
    ImageKeys keys_;
    std::vector<Cell> moves_;
    std::vector<Played> history_;
};

}  // namespace hexdata
