#include "widths.hpp"

#include <set>
#include <stdexcept>
#include <string>

#include "batch.hpp"
#include "inspect.hpp"
#include "rng.hpp"
#include "selfplay.hpp"
#include "solver.hpp"

namespace {

using namespace hexdata;

void expect(bool holds, int size, const char* what) {
  if (!holds) throw std::logic_error(std::to_string(size) + "x" + std::to_string(size) + ": " + what);
}

// Two games of each pair of players, replayed into positions and keys.
void play(int size) {
  const std::vector<std::vector<int>> openings{{}, {size}};
  const std::vector<std::uint64_t> seeds{1, 2};
  for (const char* black : {"random", "uct:playouts=5-40"}) {
    const GameRecords games = play_games(size, black, "uct:playouts=20", openings, seeds, {4, 0.7}, 0, [] {});
    const ReplayedGames replayed = replay_games(size, games.moves, games.offsets);
    const PackedPositions positions{size, games.moves.size(), replayed.black.data.get(), replayed.white.data.get()};
    const PositionKeys keys = key_positions(positions, replayed.to_move.data.get());
    const Column<std::uint8_t> before_moves = winners(positions);
    for (std::size_t g = 0; g < openings.size(); ++g)
      expect(replayed.winner.data[g] == games.winner[g], size, "replay finds another winner than the game");
    for (std::size_t i = 0; i < games.moves.size(); ++i) {
      expect(before_moves.data[i] == 2, size, "a move is played in a decided position");
      for (int byte = 0; byte < 16; ++byte)
        expect(keys.orbit_keys.data[16 * i + byte] == replayed.orbit_keys.data[16 * i + byte], size, "two keys differ");
    }
  }
}

// Positions with few and with many stones, solved by two threads that must not differ from one.
void prove(int size) {
  Rng rng(size, 0);
  std::vector<proof::SolvePosition> positions;
  for (const int percent : {0, 30, 45, 60, 75}) {
    proof::SolvePosition p{size, {}, {}, proof::kBlack};
    std::set<int> taken;
    while (static_cast<int>(taken.size()) < size * size * percent / 100)
      if (const int cell = static_cast<int>(rng.below(static_cast<std::uint32_t>(size * size))); taken.insert(cell).second)
        (taken.size() % 2 ? p.black : p.white).push_back(cell);
    positions.push_back(p);
    p.to_move = proof::kWhite;
    positions.push_back(p);
    if (percent < 45 && size > 8) continue;  // seconds each under the sanitizers
    proof::Parameters limits_off;
    limits_off.connections.limit_fulls = limits_off.connections.limit_or = size > 5;
    proof::report_knowledge(p, {});
    for (const proof::Colour colour : {proof::kBlack, proof::kWhite}) proof::list_connections(p, colour, limits_off);
  }
  if (size > 8) positions.erase(positions.begin(), positions.begin() + 4);
  std::atomic<bool> stop{false};
  proof::SolveOptions options{.all_moves = true, .limit_nodes = 20, .table_bytes = 4096};
  const auto alone = proof::solve_all(positions, options, stop, [] {});
  options.threads = 3;
  const auto shared = proof::solve_all(positions, options, stop, [] {});
  for (std::size_t i = 0; i < positions.size(); ++i)
    expect(alone[i].winner == shared[i].winner && alone[i].winning_moves == shared[i].winning_moves, size,
           "threads change an answer");
}

}  // namespace

int run_every_width() {
  for (int size = kMinSize; size <= kMaxSize; ++size) {
    play(size);
    prove(size);
  }
  return kMaxSize - kMinSize + 1;
}
