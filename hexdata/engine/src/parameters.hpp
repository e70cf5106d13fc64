// Every knob of the solver, in one place. Defaults are measured: benchmarks/solver.py prints the figures.
#pragma once

namespace hexdata::proof {

struct ConnectionLimits {
  bool limit_fulls = true;      // keep a new full only if it shrinks what a pair's fulls have in common
  bool limit_or = true;         // look for one union per common cell instead of all minimal unions
  bool edge_midpoints = false;  // let the AND rule pass through an edge: on 7x7 a third of the nodes, each six times as long
};

struct Parameters {
  ConnectionLimits connections;
  // Derive a position's connections from an earlier one's instead of building them from nothing. A search jumps: the
  // nearest earlier position is four stones of each colour away, and an own stone changes half of all lists, so a node of
  // 7x7 took as long (0.40 ms against 0.38) and saw less.
  bool incremental = false;
  // The first window_base + ceil(window_factor * live) moves compete to be the winning one (gao-2020 eq. 5.1).
  int window_base = 1;
  double window_factor = 0.25;
  // A child may use (1 + epsilon) times the second best number before its parent looks again.
  double epsilon = 0.25;
  // Positions that were never visited start with numbers from the distances of both sides instead of 1 and 1. Expansions,
  // off and on: 7x7 a4, b4, g2 together 66,704 and 59,434; but 8x8 d5 14,863 and 17,410, 8x8 a1 59,632 and 175,068.
  bool leaf_distance = false;
};

}  // namespace hexdata::proof
