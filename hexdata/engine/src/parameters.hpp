// Every knob of the solver, in one place. Defaults are measured: benchmarks/solver.py prints the figures.
#pragma once

namespace hexdata::proof {

struct ConnectionLimits {
  bool limit_fulls = true;      // keep a new full only if it shrinks what a pair's fulls have in common
  bool limit_or = true;         // look for one union per common cell instead of all minimal unions
  // Let the AND rule pass through an edge: on 7x7 a third of the nodes, each six times as long. What helps are unions in
  // which a cell near the edge stands for it; looking for those alone, with the detours kept out of the lists of other
  // cells, left 87 % of the nodes, and with them in the lists a node again took six times as long.
  bool edge_midpoints = false;
  int most_cells = 361;  // carriers with more cells are not kept
};

struct Parameters {
  ConnectionLimits connections;
  // Derive a position's connections from an earlier one's instead of building them from nothing. A search jumps: the
  // nearest earlier position is four stones of each colour away, and an own stone changes half of all lists, so a node of
  // 7x7 took as long (0.40 ms against 0.38) and saw less.
  bool incremental = false;
  // The mover's own connections hardly ever decide (3 % of the positions that are still open then): they are for the order
  // of the moves. For that short carriers do, and with few moves the opponent's alone. With all carriers and always:
  // 41,940 expansions of 0.35 ms for five openings of 7x7, so 41,485 of 0.26.
  int own_most_cells = 6;
  int own_from_moves = 9;
  // The first window_base + ceil(window_factor * live) moves compete to be the winning one (gao-2020 eq. 5.1).
  int window_base = 1;
  double window_factor = 0.25;
  // A child may use (1 + epsilon) times the second best number before its parent looks again.
  double epsilon = 0.25;
  // Positions that were never visited start with numbers from the distances of both sides instead of 1 and 1. Expansions,
  // off and on: 7x7 a4, b4, g2 together 66,704 and 59,434; but 8x8 d5 14,863 and 17,410, 8x8 a1 59,632 and 175,068.
  bool leaf_distance = false;
};

// A player looks at one position and is not back soon: a win at once is worth its own connections in full.
inline Parameters for_players() {
  Parameters p;
  p.own_most_cells = p.connections.most_cells;
  p.own_from_moves = 2;
  return p;
}

}  // namespace hexdata::proof
