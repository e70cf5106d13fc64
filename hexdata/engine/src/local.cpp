#include "local.hpp"

namespace hexdata::proof {

int arcs(int ring_mask) {
  const int turned = ((ring_mask << 1) | (ring_mask >> 5)) & 63;
  return __builtin_popcount(ring_mask & ~turned & 63);
}

bool ring_is_dead(int black, int white) {
  const int empty = 63 & ~(black | white);
  // Every subset of the empty ring cells turned black, the rest white.
  for (int subset = empty;; subset = (subset - 1) & empty) {
    if (arcs(black | subset) >= 2) return false;
    if (subset == 0) return true;
  }
}

const std::array<LocalFacts, 4096>& local_facts() {
  static const std::array<LocalFacts, 4096> table = [] {
    std::array<LocalFacts, 4096> t{};
    for (int index = 0; index < 4096; ++index) {
      const int black = index & 63, white = index >> 6;
      if (black & white) continue;
      t[index].dead = ring_is_dead(black, white);
      if (t[index].dead) continue;
      for (int d = 0; d < 6; ++d) {
        if ((black | white) >> d & 1) continue;
        if (ring_is_dead(black | 1 << d, white)) t[index].kill[0] |= 1 << d;
        if (ring_is_dead(black, white | 1 << d)) t[index].kill[1] |= 1 << d;
      }
    }
    return t;
  }();
  return table;
}

}  // namespace hexdata::proof
