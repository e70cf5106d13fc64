// Inferior cells: fill-in that changes no value, and moves that need not be tried.
#pragma once

#include "bits.hpp"
#include "local.hpp"

namespace hexdata::proof {

// Stones and the ring index of every cell, kept up to date stone by stone. 144 bytes on 8x8; copied freely.
template <int W>
struct Position {
  std::array<Bits<W>, 2> stones;
  std::array<uint16_t, Geometry<W>::kMaxCells> ring;

  explicit Position(const Geometry<W>& g) : ring(g.border) {}
  Position(const Geometry<W>& g, const Bits<W>& black, const Bits<W>& white) : ring(g.border) {
    black.for_each([&](int cell) { place(g, cell, kBlack); });
    white.for_each([&](int cell) { place(g, cell, kWhite); });
  }

  Bits<W> occupied() const { return stones[0] | stones[1]; }
  Bits<W> empty(const Geometry<W>& g) const { return g.all - occupied(); }

  void place(const Geometry<W>& g, int cell, Colour colour) {
    stones[colour].set(cell);
    for (int d = 0; d < kDirections; ++d)
      if (const int q = g.next[cell][d]; q >= 0) ring[q] |= uint16_t(1 << (opposite(d) + 6 * colour));
  }
};

// The cells that fill-in gave away: captured by a colour, or dead (dead ones are coloured black, whoever moves, so that
// equal positions get equal keys).
template <int W>
struct Fill {
  std::array<Bits<W>, 2> captured;
  Bits<W> dead;
};

// Fills dead cells and captured pairs until nothing changes, looking only at cells whose ring may have changed.
// A pair is captured by c if each cell is killed by a stone of c on the other: the opponent takes one, c takes the other.
// More was looked for by play in every set of cells within radius two, and does not pay. Captured sets of three cells: none
// in 200 random 8x8 boards; of four: in 4 % of them, but with those filled too the 36 openings of 6x6 take 6,483 expansions
// instead of 6,483, and 500 random positions 1,888 instead of 1,887. Permanently inferior cells, held for c by two others
// whoever moves there: none in 60,000 boards whose pairs are filled.
template <int W>
void fill_in(const Geometry<W>& g, Position<W>& p, Bits<W> changed, Fill<W>& fill) {
  const auto& facts = local_facts();
  changed &= p.empty(g);
  while (changed.any()) {
    const int cell = changed.pop_first();
    const LocalFacts& f = facts[p.ring[cell]];
    if (f.dead) {
      p.place(g, cell, kBlack);
      fill.dead.set(cell);
      changed |= g.ring[cell] & p.empty(g);
      continue;
    }
    for (const Colour c : {kBlack, kWhite}) {
      int partner = -1;
      for (int d = 0; d < kDirections && partner < 0; ++d)
        if (f.kill[c] >> d & 1) {
          const int q = g.next[cell][d];
          if (facts[p.ring[q]].kill[c] >> opposite(d) & 1) partner = q;
        }
      if (partner < 0) continue;
      p.place(g, cell, c);
      p.place(g, partner, c);
      fill.captured[c].set(cell);
      fill.captured[c].set(partner);
      changed |= (g.ring[cell] | g.ring[partner]);
      changed &= p.empty(g);
      break;
    }
  }
}

// Moves of `mover` that the opponent can answer so that they are dead. All of them may be left out together: if one of
// them wins, so does some move outside the set (virtual-connections.md 2.4, induction on the empty cells).
template <int W>
Bits<W> vulnerable(const Geometry<W>& g, const Position<W>& p, Colour mover) {
  const auto& facts = local_facts();
  Bits<W> result;
  p.empty(g).for_each([&](int cell) {
    if (facts[p.ring[cell]].kill[other(mover)]) result.set(cell);
  });
  return result;
}

}  // namespace hexdata::proof
