// The solver's knowledge of one position laid open, for tests and tools.
#pragma once

#include <vector>

#include "solver.hpp"

namespace hexdata::proof {

// Endpoints are cells; the colour's own edges are size * size and size * size + 1. A group is named by one of its stones.
struct Carrier {
  int x, y;
  bool full;
  std::vector<int> cells;
};

// All connections of one colour on the board as it stands, without fill-in.
std::vector<Carrier> list_connections(const SolvePosition& position, Colour colour, const Parameters& parameters);

// The colour whose sides a chain or a full connection joins in each position, on the board as it stands: kBlack, kWhite,
// or 2 where neither has one. `to_move` is not asked: a full connection holds whoever moves.
std::vector<uint8_t> winning_connections(const std::vector<SolvePosition>& positions, const Parameters& parameters);

struct KnowledgeReport {
  std::vector<int> black, white;  // after fill-in
  int value;                      // of the side to move: 1 won, -1 lost, 0 open
  std::vector<int> proof;         // the winner's proof set, if decided; it includes cells that fill-in gave him as captured
  std::vector<int> mustplay;      // if open: the moves that meet every threat of the opponent
  std::vector<int> moves;         // if open: the moves worth trying, best first
};

KnowledgeReport report_knowledge(const SolvePosition& position, const Parameters& parameters);

}  // namespace hexdata::proof
