#pragma once

#include <cstdint>

// Plays and takes back stones on boards from 6x6 to 11x11 and compares the connections with what they were, with a build
// from nothing, and with exhaustive play. Throws std::logic_error at the first difference.
struct UndoCounts {
  uint64_t sequences = 0, plays = 0, undos = 0, compared = 0, proved = 0;
};
UndoCounts check_connections_undo(uint64_t seed, uint64_t sequences);
// The connections of random boards from 6x6 to 13x13, those of up to twelve cells, against exhaustive play.
UndoCounts check_connections_of_boards(uint64_t seed, uint64_t boards);
