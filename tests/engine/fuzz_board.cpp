// After each step the board must be what a plain list of moves says: stones, turn, winner and the four keys, these
// computed from their definition in keys.hpp. Whatever is not legal must be refused and change nothing.
#include "fuzz_board.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <vector>

#include "board.hpp"
#include "brute.hpp"

namespace {

using hexdata::Board;
using hexdata::Colour;
using hexdata::Key;

struct Move {
  int cell;
  Colour colour;
};

[[noreturn]] void fault(const Board& board, const char* what) {
  std::fprintf(stderr, "%s after these moves of a %dx%d board:", what, board.size(), board.size());
  for (const auto cell : board.moves()) std::fprintf(stderr, " %d", cell);
  std::fprintf(stderr, "\n");
  std::abort();
}

uint64_t word(uint64_t index) {
  uint64_t x = hexdata::kKeySeed + (index + 1) * 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

void add(Key& key, uint64_t constant) {
  key.high ^= word(2 * constant);
  key.low ^= word(2 * constant + 1);
}

Key image_key(int size, const std::vector<Move>& moves, Colour to_move, int symmetry) {
  const bool turned = symmetry % 2, swapped = symmetry >= 2;
  Key key;
  add(key, 723 + size);
  if ((to_move == Colour::white) != swapped) add(key, 722);
  for (const Move& m : moves) {
    int row = m.cell / size, column = m.cell % size;
    if (swapped) std::swap(row, column);
    const int cell = row * size + column;
    add(key, ((m.colour == Colour::white) != swapped ? 361 : 0) + (turned ? size * size - 1 - cell : cell));
  }
  return key;
}

void compare(const Board& board, const std::vector<Move>& moves, Colour to_move) {
  const int size = board.size();
  std::vector<uint8_t> cells(size * size);
  for (const Move& m : moves) cells[m.cell] = m.colour == Colour::black ? 1 : 2;
  const int winner = brute::joined(cells.data(), size);
  if ((board.winner() ? *board.winner() == Colour::black ? 1 : 2 : 0) != winner)
    fault(board, "another winner");
  if (board.to_move() != to_move) fault(board, "another side to move");
  if (board.moves().size() != moves.size()) fault(board, "another number of moves");
  size_t legal = 0;
  for (int c = 0; c < size * size; ++c) {
    const auto stone = board.stone(c);
    if ((stone ? *stone == Colour::black ? 1 : 2 : 0) != cells[c]) fault(board, "another stone");
    legal += !winner && !stone;
  }
  for (size_t i = 0; i < moves.size(); ++i)
    if (board.moves()[i] != moves[i].cell) fault(board, "another move");
  if (board.legal().size() != legal) fault(board, "another number of legal moves");
  for (int s = 0; s < 4; ++s)
    if (board.image_keys()[s] != image_key(size, moves, to_move, s)) fault(board, "another key");
}

}  // namespace

// The first byte is the size; then two bytes a step: an undo, or a colour and a cell that may lie off the board.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t length) {
  if (length == 0) return 0;
  const int size = hexdata::kMinSize + data[0] % (hexdata::kMaxSize - hexdata::kMinSize + 1), cells = size * size;
  Board board(size);
  std::vector<Move> moves;
  std::vector<Colour> turns{Colour::black};
  for (size_t at = 1; at + 1 < length; at += 2) {
    const int kind = data[at] >> 4, low = (data[at] & 15) << 8 | data[at + 1];
    const bool undo = kind < 4;
    const int cell = kind == 15 ? low - 8 : low % cells;
    const Colour colour = kind < 12 ? turns.back() : kind == 12 ? Colour::black : Colour::white;
    bool legal = undo ? !moves.empty() : cell >= 0 && cell < cells && !board.winner();
    for (const Move& m : moves) legal = legal && (undo || m.cell != cell);
    bool refused = false;
    try {
      if (undo)
        board.undo();
      else
        board.play(cell, colour);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    if (refused == legal) fault(board, legal ? "a legal step was refused" : "an illegal step was taken");
    if (legal && undo) {
      moves.pop_back();
      turns.pop_back();
    } else if (legal) {
      moves.push_back({cell, colour});
      turns.push_back(other(colour));
    }
    compare(board, moves, turns.back());
  }
  Board again(size);
  for (const Move& m : moves) again.play(m.cell, m.colour);
  compare(again, moves, turns.back());
  return 0;
}

// Each string is new or made from an earlier one: some bytes changed, a part left out or repeated.
void play_and_undo(uint64_t seed, uint64_t count, double seconds) {
  std::mt19937_64 rng(seed);
  std::vector<std::vector<uint8_t>> pool(64);
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  unsigned long long inputs = 0, bytes = 0;
  while (inputs < count || Clock::now() < until) {
    std::vector<uint8_t> input = pool[rng() % pool.size()];
    if (input.empty() || rng() % 4 == 0) {
      input.resize(1 + rng() % 600);
      for (uint8_t& byte : input) byte = static_cast<uint8_t>(rng());
    }
    for (uint64_t changes = rng() % 8; changes > 0; --changes) input[rng() % input.size()] = static_cast<uint8_t>(rng());
    const auto from = input.begin() + static_cast<std::ptrdiff_t>(rng() % input.size());
    const auto to = from + static_cast<std::ptrdiff_t>(rng() % static_cast<uint64_t>(input.end() - from));
    const std::vector<uint8_t> part(from, to);
    if (rng() % 4 == 0) input.erase(from, to);
    if (rng() % 4 == 0) input.insert(input.end(), part.begin(), part.end());
    if (input.size() > 1000) input.resize(1000);
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++inputs;
    bytes += input.size();
    pool[rng() % pool.size()] = std::move(input);
  }
  std::printf("%llu inputs, %llu bytes\n", inputs, bytes);
}

#ifdef HEXDATA_FUZZ_MAIN
int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: board SEED SECONDS\n"), 2;
  play_and_undo(std::strtoull(argv[1], nullptr, 10), 0, std::strtod(argv[2], nullptr));
}
#endif
