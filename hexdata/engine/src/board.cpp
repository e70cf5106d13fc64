#include "board.hpp"

#include <stdexcept>

namespace hexdata {

const char* name_of(Colour colour) { return colour == Colour::black ? "black" : "white"; }

namespace {

// All stones of the line that a seed reaches along the line. The carry of an addition runs towards the high bits; the
// doubling steps run towards the low ones.
std::uint32_t spread(std::uint32_t seeds, std::uint32_t line) {
    std::uint32_t reached = line & (~(line + seeds) | seeds);
    std::uint32_t open = line;
    for (int step = 1; step < kMaxSize; step *= 2) {
        reached |= open & (reached >> step);
        open &= open >> step;
    }
    return reached;
}

}  // namespace

bool joins_ends(const Rows& rows, int size) {
    Rows reached;
    reached[0] = rows[0];
    for (int r = 1; r < size; ++r) {
        if (rows[r] == 0) return false;
        reached[r] = spread(rows[r] & (reached[r - 1] | (reached[r - 1] >> 1)), rows[r]);
    }
    // A chain may climb again: sweep up and down until nothing is added.
    while (reached[size - 1] == 0) {
        bool grew = false;
        for (int r = size - 2; r > 0; --r) {
            const std::uint32_t seeds = rows[r] & ~reached[r] & (reached[r + 1] | (reached[r + 1] << 1));
            if (seeds == 0) continue;
            reached[r] |= spread(seeds, rows[r]);
            grew = true;
        }
        if (!grew) return false;
        for (int r = 1; r < size; ++r) {
            const std::uint32_t seeds = rows[r] & ~reached[r] & (reached[r - 1] | (reached[r - 1] >> 1));
            if (seeds != 0) reached[r] |= spread(seeds, rows[r]);
        }
    }
    return true;
}

void check_size(int size) {
    if (size < kMinSize || size > kMaxSize)
        throw std::invalid_argument("the board size must be 2 to 19, not " + std::to_string(size));
}

Board::Board(int size) : size_(size) {
    check_size(size);
    keys_ = empty_board_keys(size);
}

std::optional<Colour> Board::stone(int cell) const {
    const int row = cell / size_;
    const int column = cell % size_;
    if (lines_[0][row] >> column & 1) return Colour::black;
    if (lines_[1][column] >> row & 1) return Colour::white;
    return std::nullopt;
}

std::vector<Cell> Board::legal() const {
    std::vector<Cell> result;
    if (winner_) return result;
    for (int cell = 0; cell < cells(); ++cell)
        if (!stone(cell)) result.push_back(static_cast<Cell>(cell));
    return result;
}

std::vector<Cell> Board::stones(Colour colour) const {
    std::vector<Cell> result;
    for (int cell = 0; cell < cells(); ++cell)
        if (stone(cell) == colour) result.push_back(static_cast<Cell>(cell));
    return result;
}

void Board::toggle(int cell, Colour colour) {
    const int row = cell / size_;
    const int column = cell % size_;
    if (colour == Colour::black)
        lines_[0][row] ^= 1u << column;
    else
        lines_[1][column] ^= 1u << row;
    toggle_stone(keys_, size_, index_of(colour), cell);
}

void Board::play(int cell, Colour colour) {
    if (cell < 0 || cell >= cells())
        throw std::invalid_argument("cell " + std::to_string(cell) + " is not on a board of size " +
                                    std::to_string(size_));
    if (stone(cell)) throw std::invalid_argument("cell " + std::to_string(cell) + " already has a stone");
    if (winner_)
        throw std::invalid_argument("cell " + std::to_string(cell) + " cannot be played: " + name_of(*winner_) +
                                    " has already won");
    history_.push_back({colour, to_move_});
    moves_.push_back(static_cast<Cell>(cell));
    toggle(cell, colour);
    if (to_move_ == colour) toggle_side(keys_);
    to_move_ = other(colour);
    if (joins_ends(lines_[index_of(colour)], size_)) winner_ = colour;
}

void Board::undo() {
    if (moves_.empty()) throw std::invalid_argument("there is no move to undo");
    const Played last = history_.back();
    toggle(moves_.back(), last.colour);
    if (to_move_ != last.to_move_before) toggle_side(keys_);
    to_move_ = last.to_move_before;
    winner_.reset();
    history_.pop_back();
    moves_.pop_back();
}

void Board::give_turn(Colour colour) {
    if (to_move_ != colour) toggle_side(keys_);
    to_move_ = colour;
}

}  // namespace hexdata
