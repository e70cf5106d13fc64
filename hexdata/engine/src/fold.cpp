#include "fold.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace hexdata {

namespace {

std::uint64_t big_endian_word(const std::uint8_t* bytes) {
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word = word << 8 | bytes[i];
    return word;
}

std::uint16_t u16(const std::uint8_t* bytes) { return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8); }

std::uint32_t u32(const std::uint8_t* bytes) {
    return u16(bytes) | static_cast<std::uint32_t>(u16(bytes + 2)) << 16;
}

// One record, read where it lies.
class Record {
public:
    Record(const Records& records, std::size_t index)
        : packed_(packed_bytes(records.size)),
          start_(records.fixed + index * record_bytes(records.size)),
          tail_(start_ + 16 + 2 * packed_) {}

    std::uint64_t key_high() const { return big_endian_word(start_); }
    std::uint64_t key_low() const { return big_endian_word(start_ + 8); }
    const std::uint8_t* key() const { return start_; }
    const std::uint8_t* black() const { return start_ + 16; }
    const std::uint8_t* white() const { return start_ + 16 + packed_; }
    bool same_stones(const Record& other) const { return std::memcmp(black(), other.black(), 2 * packed_) == 0; }
    std::uint32_t shard() const { return u32(tail_); }
    std::uint16_t ply() const { return u16(tail_ + 4); }
    std::uint16_t plies_left() const { return u16(tail_ + 6); }
    std::uint16_t played() const { return u16(tail_ + 8); }
    std::uint16_t visits() const { return u16(tail_ + 10); }
    std::uint8_t side() const { return tail_[14]; }
    bool won() const { return tail_[15] != 0; }
    std::uint8_t white_to_move() const { return tail_[16]; }
    bool sampled() const { return tail_[17] != 0; }

private:
    int packed_;
    const std::uint8_t* start_;
    const std::uint8_t* tail_;
};

// The place in cells and counts where each record's visits start, and the end of the last.
std::vector<std::int64_t> visit_offsets(const Records& records) {
    std::vector<std::int64_t> offsets(records.count + 1);
    for (std::size_t i = 0; i < records.count; ++i) offsets[i + 1] = offsets[i] + Record(records, i).visits();
    if (offsets.back() != static_cast<std::int64_t>(records.cells.size()) ||
        records.cells.size() != records.counts.size())
        throw std::invalid_argument("the records have " + std::to_string(offsets.back()) + " visits, but there are " +
                                    std::to_string(records.cells.size()) + " cells and " +
                                    std::to_string(records.counts.size()) + " counts");
    return offsets;
}

// Sums per cell of one row. Cleared through the list of cells that were touched: a row touches few of 361. 3.6 KB.
template <typename T>
class CellSums {
public:
    void add(int cell, T count) {
        touched_[cell >> 6] |= std::uint64_t{1} << (cell & 63);
        sums_[cell] += count;
    }

    void move_to(std::vector<std::uint16_t>& cells, std::vector<T>& sums) {
        for (std::size_t word = 0; word < touched_.size(); ++word) {
            for (std::uint64_t bits = touched_[word]; bits != 0; bits &= bits - 1) {
                const int cell = static_cast<int>(64 * word) + std::countr_zero(bits);
                cells.push_back(static_cast<std::uint16_t>(cell));
                sums.push_back(sums_[cell]);
                sums_[cell] = 0;
            }
            touched_[word] = 0;
        }
    }

private:
    std::array<T, kMaxCells> sums_{};
    std::array<std::uint64_t, (kMaxCells + 63) / 64> touched_{};
};

// What the records of a partition are sorted by; the rest of the record is read only once. 24 bytes.
struct Place {
    std::uint64_t high;
    std::uint64_t low;
    std::uint32_t index;
    std::uint8_t side;

    friend bool operator<(const Place& a, const Place& b) {
        if (a.high != b.high) return a.high < b.high;
        if (a.low != b.low) return a.low < b.low;
        return a.side != b.side ? a.side < b.side : a.index < b.index;
    }
};

}  // namespace

Dealt deal(const Records& records, int bits) {
    if (bits < 0 || bits > 16) throw std::invalid_argument("bits must be 0 to 16, not " + std::to_string(bits));
    const auto stride = static_cast<std::size_t>(record_bytes(records.size));
    const std::vector<std::int64_t> offsets = visit_offsets(records);
    const std::size_t partitions = std::size_t{1} << bits;
    const auto partition_of = [&](const Record& record) {
        return bits == 0 ? 0 : static_cast<std::size_t>(record.key_high() >> (64 - bits));
    };
    Dealt dealt{Column<std::uint8_t>(stride * records.count), Column<std::uint16_t>(records.cells.size()),
                Column<std::uint32_t>(records.cells.size()), std::vector<std::int64_t>(partitions + 1),
                std::vector<std::int64_t>(partitions + 1)};
    for (std::size_t i = 0; i < records.count; ++i) {
        const Record record(records, i);
        const std::size_t partition = partition_of(record);
        ++dealt.starts[partition + 1];
        dealt.visit_starts[partition + 1] += record.visits();
    }
    for (std::size_t p = 0; p < partitions; ++p) {
        dealt.starts[p + 1] += dealt.starts[p];
        dealt.visit_starts[p + 1] += dealt.visit_starts[p];
    }
    std::vector<std::int64_t> next(dealt.starts), next_visit(dealt.visit_starts);
    for (std::size_t i = 0; i < records.count; ++i) {
        const Record record(records, i);
        const std::size_t partition = partition_of(record);
        const std::size_t visits = record.visits();
        std::memcpy(dealt.fixed.data.get() + stride * next[partition]++, records.fixed + stride * i, stride);
        if (visits != 0) {
            std::memcpy(dealt.cells.data.get() + next_visit[partition], records.cells.data() + offsets[i], 2 * visits);
            std::memcpy(dealt.counts.data.get() + next_visit[partition], records.counts.data() + offsets[i],
                        4 * visits);
            next_visit[partition] += static_cast<std::int64_t>(visits);
        }
    }
    return dealt;
}

Folded fold(const Records& records) {
    if (records.count > std::numeric_limits<std::uint32_t>::max())
        throw std::invalid_argument("too many records for one partition: " + std::to_string(records.count));
    const int cells = records.size * records.size;
    const auto packed = static_cast<std::size_t>(packed_bytes(records.size));
    const std::vector<std::int64_t> offsets = visit_offsets(records);
    if (offsets.back() > std::numeric_limits<std::int32_t>::max())
        throw std::invalid_argument("too many visits for one partition: " + std::to_string(offsets.back()));
    std::vector<Place> places(records.count);
    for (std::size_t i = 0; i < records.count; ++i) {
        const Record record(records, i);
        places[i] = {record.key_high(), record.key_low(), static_cast<std::uint32_t>(i), record.side()};
    }
    std::sort(places.begin(), places.end());

    Folded rows;
    rows.policy_offsets.push_back(0);
    rows.played_offsets.push_back(0);
    CellSums<std::uint64_t> policy;
    CellSums<std::uint32_t> played;
    const auto checked = [&](int cell) {
        if (cell >= cells)
            throw std::invalid_argument("cell " + std::to_string(cell) + " is not on a board of size " +
                                        std::to_string(records.size));
        return cell;
    };
    for (std::size_t first = 0; first < places.size();) {
        const Place& place = places[first];
        const Record one(records, place.index);
        std::uint32_t shard = one.shard(), games = 0, sampled = 0;
        std::uint64_t plies_left = 0;
        std::int64_t z = 0;
        std::size_t next = first;
        for (; next < places.size() && places[next].high == place.high && places[next].low == place.low &&
               places[next].side == place.side;
             ++next) {
            const std::uint32_t index = places[next].index;
            const Record record(records, index);
            if (!record.same_stones(one)) throw std::invalid_argument("two positions share one key");
            shard = std::min(shard, record.shard());
            ++games;
            sampled += record.sampled();
            plies_left += record.plies_left();
            z += record.won() ? 1 : -1;
            played.add(checked(record.played()), 1);
            for (std::int64_t v = offsets[index]; v < offsets[index + 1]; ++v)
                policy.add(checked(records.cells[v]), records.counts[v]);
        }
        first = next;
        rows.key.insert(rows.key.end(), one.key(), one.key() + 16);
        rows.black.insert(rows.black.end(), one.black(), one.black() + packed);
        rows.white.insert(rows.white.end(), one.white(), one.white() + packed);
        rows.side.push_back(one.side());
        rows.white_to_move.push_back(one.white_to_move());
        rows.ply.push_back(one.ply());
        rows.first_shard.push_back(shard);
        rows.plies_left_sum.push_back(plies_left);
        rows.z_sum.push_back(z);
        rows.games.push_back(games);
        rows.sampled_count.push_back(sampled);
        policy.move_to(rows.policy_cells, rows.policy_visits);
        played.move_to(rows.played_cells, rows.played_counts);
        rows.policy_offsets.push_back(static_cast<std::int32_t>(rows.policy_cells.size()));
        rows.played_offsets.push_back(static_cast<std::int32_t>(rows.played_cells.size()));
    }
    return rows;
}

}  // namespace hexdata
