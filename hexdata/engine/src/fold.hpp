// Occurrences of positions in games, as records that can be dealt into partitions by key and summed by key.
//
// A record is `key` (16 bytes, big-endian), the black and the white stones of the stored image (packed_bytes each), then
// little-endian: shard u32, ply u16, plies left u16, played cell u16, number of visited cells u16, player u16, side u8,
// won u8, white to move u8, sampled u8. The visited cells and their counts of all records lie in two flat arrays, in the
// order of the records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "batch.hpp"

namespace hexdata {

constexpr int record_bytes(int size) { return 16 + 2 * packed_bytes(size) + 18; }

// A view of `count` records; the caller keeps the memory.
struct Records {
    int size;
    std::size_t count;
    const std::uint8_t* fixed;
    std::span<const std::uint16_t> cells;
    std::span<const std::uint32_t> counts;
};

// The same records, those of partition p (the first `bits` bits of the key) before those of p + 1, else in their order.
struct Dealt {
    Column<std::uint8_t> fixed;
    Column<std::uint16_t> cells;
    Column<std::uint32_t> counts;
    std::vector<std::int64_t> starts;        // partitions + 1 record numbers
    std::vector<std::int64_t> visit_starts;  // partitions + 1 places in cells and counts
};

// Throws std::invalid_argument if the records name more or fewer visits than there are.
Dealt deal(const Records& records, int bits);

// One row per key and side, ascending. A cell is in a row's policy if any of its records visited it.
struct Folded {
    std::vector<std::uint8_t> key, black, white;  // 16 and packed_bytes a row
    std::vector<std::uint8_t> side, white_to_move;
    std::vector<std::uint16_t> ply;
    std::vector<std::uint32_t> first_shard;
    std::vector<std::uint64_t> plies_left_sum;
    std::vector<std::int64_t> z_sum;
    std::vector<std::uint32_t> games, sampled_count;
    std::vector<std::int32_t> policy_offsets, played_offsets;
    std::vector<std::uint16_t> policy_cells, played_cells;
    std::vector<std::uint64_t> policy_visits;
    std::vector<std::uint32_t> played_counts;
};

// Sums of integers only, so neither the order of the records nor who summed a part of them shows in the rows. Throws
// std::invalid_argument for a cell off the board, and for two positions under one key.
Folded fold(const Records& records);

}  // namespace hexdata
