// Every knob of the solver, in one place. Defaults are measured: benchmarks/solver.py prints the figures.
#pragma once

namespace hexdata::proof {

struct ConnectionLimits {
  bool limit_fulls = true;      // keep a new full only if it shrinks what a pair's fulls have in common
  bool limit_or = true;         // look for one union per common cell instead of all minimal unions
  bool edge_midpoints = false;  // let the AND rule pass through an edge
};

struct Parameters {
  ConnectionLimits connections;
  // Derive a position's connections from an earlier one's instead of building them from nothing.
  bool incremental = false;
  // The first window_base + ceil(window_factor * live) moves compete to be the winning one (gao-2020 eq. 5.1).
  int window_base = 1;
  double window_factor = 0.25;
  // A child may use (1 + epsilon) times the second best number before its parent looks again.
  double epsilon = 0.25;
  // Positions that were never visited start with numbers from the distances of both sides, else with 1 and 1.
  bool leaf_distance = true;
};

}  // namespace hexdata::proof
