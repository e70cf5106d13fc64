// The transposition table of the proof search, with a fixed memory budget.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <vector>

#include "bits.hpp"

namespace hexdata::proof {

struct Key {
  uint64_t slot, check;
  bool operator==(const Key&) const = default;
  bool operator<(const Key& o) const { return slot != o.slot ? slot < o.slot : check < o.check; }
  Key& operator^=(const Key& o) {
    slot ^= o.slot;
    check ^= o.check;
    return *this;
  }
};

// What is known of one filled position. 64 bytes on 8x8. If solved, `set` is the winner's proof set; if open, the moves
// that are still to be refuted, and `support` what a proof of a loss needs besides their refutations.
template <int W>
struct Entry {
  using Cell = std::conditional_t<(W < 6), uint8_t, uint16_t>;
  static constexpr int kOrdered = 21;

  uint64_t check;
  Bits<W> set;
  Bits<W> support;
  uint32_t phi, delta;
  uint32_t work;   // evaluations below, 0 = free slot
  uint32_t slot;   // the key's low half, to find its bucket again when the table grows
  uint16_t best;   // the winning move, or the last move tried
  uint8_t ordered;
  std::array<Cell, kOrdered> order;  // the best moves first; the others follow by cell

  bool is(const Key& key) const { return work && check == key.check && slot == uint32_t(key.slot); }
  bool solved() const { return phi == 0 || delta == 0; }
};

// Buckets of four entries. Threads that prove one position together share a table: one lock, held for the copy of an entry,
// costs less than a thousandth of the evaluations between two of them. Starts small, so that easy positions stay in the cache, and doubles within the budget; then
// the entry with the least work makes room, open ones before solved ones.
template <int W>
class Table {
 public:
  static constexpr int kBucket = 4;

  explicit Table(size_t bytes) : most_(std::max<size_t>(1, bytes / 3 * 2 / (sizeof(Entry<W>) * kBucket))) { clear(); }

  void clear() {
    buckets_ = 1;
    while (buckets_ * 2 <= most_ && buckets_ < 256) buckets_ *= 2;
    used_ = 0;
    entries_.assign(buckets_ * kBucket, Entry<W>{});
    entries_.shrink_to_fit();
  }

  // Copies what is known of the key; false if nothing is.
  bool find(const Key& key, Entry<W>& found) const {
    const std::scoped_lock lock(mutex_);
    const Entry<W>* bucket = &entries_[(key.slot & (buckets_ - 1)) * kBucket];
    for (int i = 0; i < kBucket; ++i)
      if (bucket[i].is(key)) {
        found = bucket[i];
        return true;
      }
    return false;
  }
  // Stores an entry under its key. What is solved stays as it is.
  void put(const Key& key, const Entry<W>& entry) {
    const std::scoped_lock lock(mutex_);
    Entry<W>& e = claim(key);
    if (e.work && e.solved()) return;
    e = entry;
    e.check = key.check;
    e.slot = uint32_t(key.slot);
  }

 private:

  // While it grows, old and new table together stay within the budget: hence two thirds.
  // The slot for this key: its own, a free one, or the least valuable of its bucket.
  Entry<W>& claim(const Key& key) {
    if (used_ * 2 > entries_.size() && buckets_ * 2 <= most_) grow();
    Entry<W>* bucket = &entries_[(key.slot & (buckets_ - 1)) * kBucket];
    Entry<W>* worst = bucket;
    for (int i = 0; i < kBucket; ++i) {
      if (bucket[i].is(key)) return bucket[i];
      if (value(bucket[i]) < value(*worst)) worst = &bucket[i];
    }
    if (!worst->work) ++used_;
    *worst = Entry<W>{};
    worst->check = key.check;
    worst->slot = uint32_t(key.slot);
    return *worst;
  }

  static uint64_t value(const Entry<W>& e) { return e.work ? (uint64_t{e.solved()} << 32) + e.work : 0; }

  void grow() {
    std::vector<Entry<W>> old(buckets_ * 2 * kBucket);
    old.swap(entries_);
    buckets_ *= 2;
    for (const Entry<W>& e : old) {
      if (!e.work) continue;
      // A bucket's entries split over two, so there is always room.
      Entry<W>* slot = &entries_[(e.slot & (buckets_ - 1)) * kBucket];
      while (slot->work) ++slot;
      *slot = e;
    }
  }

  mutable std::mutex mutex_;
  size_t most_, buckets_, used_;
  std::vector<Entry<W>> entries_;
};

}  // namespace hexdata::proof
