// What the six neighbours of a cell alone prove about it. The table is not typed in: it is derived here from the
// definition of a dead cell, by trying every completion of the ring.
//
// A ring index has 12 bits: bit d = the neighbour in direction d is black, bit 6 + d = it is white. Beyond the board
// lie stones of the edge's colour.
#pragma once

#include <array>
#include <cstdint>

namespace hexdata::proof {

struct LocalFacts {
  bool dead;         // no completion of the ring makes the cell matter
  uint8_t kill[2];   // kill[c]: the empty directions where a stone of colour c makes the cell dead
};

// 4,096 entries of 3 bytes, immutable after start-up. Entries with a neighbour of both colours are never asked for.
const std::array<LocalFacts, 4096>& local_facts();

// The number of maximal arcs of set bits around a six-cell ring.
int arcs(int ring_mask);

// A cell matters in a full ring iff it can join two separate black arcs (then also two white arcs).
bool ring_is_dead(int black, int white);

}  // namespace hexdata::proof
