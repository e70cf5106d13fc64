// Virtual connections of one colour by H-search (Anshelevich 2002): AND over stones, empty cells and edges, OR over
// semi-connections whose carriers have nothing in common.
//
// Endpoints are the empty cells and the captains of own groups, named by their cell, and the two own edges, named
// `cells` and `cells + 1`; groups that touch an edge are that edge. A full connection holds if the opponent moves first,
// a semi-connection if its owner does. An empty endpoint counts as own. No carrier holds one of its endpoints.
#pragma once

#include <vector>

#include "bits.hpp"
#include "parameters.hpp"

namespace hexdata::proof {

// One colour's connections. The pair table (E * (E - 1) / 2 headers, 100 KB on 8x8) and the carrier arena live as long as
// the object and are reused by every build.
template <int W>
class Connections {
 public:
  using Set = Bits<W>;
  static constexpr int kMaxEnds = Geometry<W>::kMaxCells + 2;

  enum class Stop { kNever, kFull, kSemi };  // which edge-to-edge connection ends the build

  Connections(const Geometry<W>& g, const ConnectionLimits& l)
      : limits(l),
        g_(g),
        first_edge_(g.cells),
        pairs_(size_t(g.cells + 2) * (g.cells + 1) / 2),
        processed_common_(size_t(g.cells + 2) * (g.cells + 2)) {
    for (int y = 0; y < g.cells + 2; ++y) row_[y] = y * (y - 1) / 2;
  }

  ConnectionLimits limits;
  // The disjoint pairs that an own stone on the empty cell x captures, each by itself; none for other endpoints.
  struct Captured {
    Set cells;
    std::array<Set, 3> pairs;
    int count = 0;
    void add(int a, int b) {
      pairs[count] = Set::of(a) | Set::of(b);
      cells |= pairs[count++];
    }
  };
  std::array<Captured, kMaxEnds> captured;

  void build(Colour colour, const Set& own, const Set& opponent, Stop stop);

  bool has_full() const { return edge_pair().fulls > 0; }
  bool has_semi() const { return edge_pair().semis > 0; }

  // What all edge-to-edge semi-connections have in common; every cell if there is none.
  Set semi_intersection() const {
    Set common = g_.all;
    const Pair& p = edge_pair();
    for (int i = 0; i < p.semis; ++i) common &= arena_[p.semi_at + i];
    return common;
  }
  Set smallest_semi() const { return smallest(edge_pair().semi_at, edge_pair().semis); }
  Set smallest_full() const { return smallest(edge_pair().full_at, edge_pair().fulls); }
  // Edge-to-edge semis, enough of them to have no more in common than all.
  Set semi_support() const {
    const Set target = semi_intersection();
    Set common = g_.all, used;
    const Pair& p = edge_pair();
    for (int i = 0; i < p.semis && common != target; ++i) {
      const Set& s = arena_[p.semi_at + i];
      if (common.subset_of(s)) continue;
      common &= s;
      used |= s;
    }
    return used;
  }

  // For each pair with a full: f(x, y, what its fulls have in common).
  template <typename F>
  void for_each_linked(F&& f) const {
    for (int y = 1; y < first_edge_ + 2; ++y)
      for (int x = 0; x < y; ++x)
        if (const Pair& p = pairs_[index(x, y)]; p.fulls) f(x, y, p.full_common);
  }
  // Every carrier, for tests: f(x, y, is_full, carrier).
  template <typename F>
  void for_each_carrier(F&& f) const {
    for (int y = 1; y < first_edge_ + 2; ++y)
      for (int x = 0; x < y; ++x) {
        const Pair& p = pairs_[index(x, y)];
        for (int i = 0; i < p.fulls; ++i) f(x, y, true, arena_[p.full_at + i]);
        for (int i = 0; i < p.semis; ++i) f(x, y, false, arena_[p.semi_at + i]);
      }
  }
  // The endpoint that an own stone belongs to, or the cell itself if it is empty.
  int endpoint(int cell) const { return own_.test(cell) ? captain_[cell] : cell; }
  bool is_empty_end(int x) const { return x < first_edge_ && empty_.test(x); }

 private:
  // 40 bytes on 8x8. The fulls [0, processed) have been combined with their partners, the others wait. A pair keeps its
  // room in the arena from build to build.
  struct Pair {
    Set full_common;  // of all fulls
    Set semi_common;  // of all semis, or less
    uint32_t full_at = 0, semi_at = 0;
    uint16_t fulls = 0, processed = 0, semis = 0, seen = 0;  // seen: the semis that an OR has already looked at
    uint16_t full_room = 0, semi_room = 0;
    bool waits_for_and = false, waits_for_or = false;
  };

  int index(int x, int y) const { return x < y ? row_[y] + x : row_[x] + y; }
  Pair& pair(int x, int y) { return pairs_[index(x, y)]; }
  const Pair& edge_pair() const { return pairs_[index(first_edge_, first_edge_ + 1)]; }

  // Takes from `overlap` what an endpoint captures and adds the whole pairs to `used`. Pairs of two endpoints that share
  // a cell are not captured together.
  static void excuse(const Captured& c, Set& overlap, Set& used) {
    if (!overlap.intersects(c.cells)) return;
    for (int i = 0; i < c.count; ++i)
      if (overlap.intersects(c.pairs[i]) && !used.intersects(c.pairs[i])) {
        used |= c.pairs[i];
        overlap -= c.pairs[i];
      }
  }
  // A captured pair that holds an endpoint promises nothing once the endpoint is own.
  bool holds(const Set& used, int x) const { return x < first_edge_ && used.test(x); }

  Set smallest(uint32_t at, int count) const {
    Set best = g_.all;
    for (int i = 0; i < count; ++i)
      if (arena_[at + i].count() < best.count()) best = arena_[at + i];
    return best;
  }

  void find_groups(Colour colour);
  void drop_supersets(uint32_t at, uint16_t& length, uint16_t& counted, const Set& carrier);
  void add_full(int x, int y, const Set& carrier);
  void add_semi(int x, int y, const Set& carrier);
  void and_rule(int x, int z, const Set& carrier);
  void or_rule(int x, int y);
  bool unite(int x, int y, int avoid, bool excused, Set& together);
  void all_unions(int x, int y, const Set& left, const Set& together);
  uint32_t more_room(uint32_t at, int used, uint16_t& room);

  const Geometry<W>& g_;
  const int first_edge_;
  Set own_, empty_;
  std::vector<Pair> pairs_;
  std::vector<Set> arena_, scratch_, unions_;
  std::vector<int> touched_;                    // the pairs that hold anything
  std::vector<Set> processed_common_;           // [x * ends + y]: what the processed fulls have in common, or less
  std::array<int, kMaxEnds> row_;               // y * (y - 1) / 2
  std::array<int16_t, kMaxEnds> captain_;
  std::array<Set, kMaxEnds> linked_cells_;      // [x]: the cells that have a processed full with x
  std::array<uint8_t, kMaxEnds> linked_edges_;  // [x]: the same for the two edges
  std::array<Set, kMaxEnds> adjacent_;          // [x]: the cells that have a full with x and no carrier
  std::vector<std::pair<int16_t, int16_t>> and_queue_, or_queue_;
};

template <int W>
void Connections<W>::find_groups(Colour colour) {
  Set left = own_;
  const auto link = [&](const Set& around, int end) {
    (around & empty_).for_each([&](int cell) { add_full(cell, end, Set{}); });
  };
  for (int side = 0; side < 2; ++side) {
    const Set row = g_.edge_row[colour][side];
    const Set group = g_.flood(row & own_, own_);
    group.for_each([&](int cell) { captain_[cell] = static_cast<int16_t>(first_edge_ + side); });
    left -= group;
    link(g_.grow(group) | row, first_edge_ + side);
  }
  while (left.any()) {
    const int head = left.first();
    const Set group = g_.flood(Set::of(head), own_);
    group.for_each([&](int cell) { captain_[cell] = static_cast<int16_t>(head); });
    left -= group;
    link(g_.grow(group), head);
  }
}

template <int W>
void Connections<W>::build(Colour colour, const Set& own, const Set& opponent, Stop stop) {
  own_ = own;
  empty_ = g_.all - own - opponent;
  for (const int at : touched_) {
    Pair& p = pairs_[at];
    p.fulls = p.processed = p.semis = p.seen = 0;
    p.waits_for_and = p.waits_for_or = false;
  }
  touched_.clear();
  and_queue_.clear();
  or_queue_.clear();
  linked_cells_.fill(Set{});
  linked_edges_.fill(0);
  adjacent_.fill(Set{});

  empty_.for_each([&](int x) {
    for (int d = 0; d < 3; ++d)  // the other three directions name the same pairs
      if (const int y = g_.next[x][d]; y >= 0 && empty_.test(y)) add_full(x, y, Set{});
  });
  find_groups(colour);
  size_t and_head = 0, or_head = 0;
  const Pair& goal = edge_pair();
  for (;;) {
    while (and_head < and_queue_.size()) {
      const auto [x, y] = and_queue_[and_head++];
      Pair& p = pair(x, y);
      p.waits_for_and = false;
      while (p.processed < p.fulls) {
        const Set carrier = arena_[p.full_at + p.processed++];
        const size_t ends = size_t(first_edge_) + 2;
        Set& common = processed_common_[x * ends + y];
        common = p.processed == 1 ? carrier : common & carrier;
        processed_common_[y * ends + x] = common;
        if (x < first_edge_) linked_cells_[y].set(x);
        else linked_edges_[y] |= uint8_t(1 << (x - first_edge_));
        if (y < first_edge_) linked_cells_[x].set(y);
        else linked_edges_[x] |= uint8_t(1 << (y - first_edge_));
        and_rule(x, y, carrier);
        and_rule(y, x, carrier);
      }
      if (goal.fulls && stop != Stop::kNever) return;
      if (goal.semis && stop == Stop::kSemi) return;
    }
    if (or_head == or_queue_.size()) return;
    const auto [x, y] = or_queue_[or_head++];
    pair(x, y).waits_for_or = false;
    or_rule(x, y);
    if (goal.fulls && stop != Stop::kNever) return;
  }
}

// Lists double in the arena and leave their old room behind.
template <int W>
uint32_t Connections<W>::more_room(uint32_t at, int used, uint16_t& room) {
  const uint16_t bigger = room == 0 ? 4 : static_cast<uint16_t>(room * 2);
  const auto start = static_cast<uint32_t>(arena_.size());
  arena_.resize(start + bigger);
  for (int i = 0; i < used; ++i) arena_[start + i] = arena_[at + i];
  room = bigger;
  return start;
}

// Removes the supersets of `carrier` from a list, keeping its order; `counted` is the length of a marked prefix.
template <int W>
void Connections<W>::drop_supersets(uint32_t at, uint16_t& length, uint16_t& counted, const Set& carrier) {
  Set* list = arena_.data() + at;
  int kept = 0, kept_counted = 0;
  for (int i = 0; i < length; ++i) {
    const Set s = list[i];
    list[kept] = s;
    const int keep = !carrier.subset_of(s);
    kept += keep;
    kept_counted += keep & (i < counted);
  }
  length = static_cast<uint16_t>(kept);
  counted = static_cast<uint16_t>(kept_counted);
}

template <int W>
void Connections<W>::add_full(int x, int y, const Set& carrier) {
  const int at = index(x, y);
  Pair& p = pairs_[at];
  bool replaces = false;
  const Set* fulls = arena_.data() + p.full_at;
  for (int i = 0; i < p.fulls; ++i) {
    if (fulls[i].subset_of(carrier)) return;
    replaces |= carrier.subset_of(fulls[i]);
  }
  if (p.fulls == 0) {
    if (p.semis == 0) touched_.push_back(at);
    p.full_common = g_.all;
  } else if (replaces) {
    drop_supersets(p.full_at, p.fulls, p.processed, carrier);
  } else if (limits.limit_fulls && p.full_common.subset_of(carrier)) {
    return;
  }
  p.full_common &= carrier;
  if (p.semis) drop_supersets(p.semi_at, p.semis, p.seen, limits.limit_or ? p.full_common : carrier);
  if (p.fulls == p.full_room) p.full_at = more_room(p.full_at, p.fulls, p.full_room);
  arena_[p.full_at + p.fulls++] = carrier;
  if (carrier.none()) {
    if (y < first_edge_) adjacent_[x].set(y);
    if (x < first_edge_) adjacent_[y].set(x);
  }
  if (!p.waits_for_and) {
    p.waits_for_and = true;
    and_queue_.emplace_back(x, y);
  }
}

template <int W>
void Connections<W>::add_semi(int x, int y, const Set& carrier) {
  const int at = index(x, y);
  Pair& p = pairs_[at];
  if (p.fulls) {
    // The limited OR only looks for unions that avoid a cell which all fulls share: other semis are of no use to it.
    if (limits.limit_or && p.full_common.subset_of(carrier)) return;
    const Set* fulls = arena_.data() + p.full_at;
    for (int i = 0; !limits.limit_or && i < p.fulls; ++i)
      if (fulls[i].subset_of(carrier)) return;
  }
  const Set* semis = arena_.data() + p.semi_at;
  bool replaces = false;
  for (int i = 0; i < p.semis; ++i) {
    if (semis[i].subset_of(carrier)) return;
    replaces |= carrier.subset_of(semis[i]);
  }
  if (p.semis == 0) {
    if (p.fulls == 0) touched_.push_back(at);
    p.semi_common = g_.all;
  } else if (replaces) {
    drop_supersets(p.semi_at, p.semis, p.seen, carrier);
  }
  if (p.semis == p.semi_room) p.semi_at = more_room(p.semi_at, p.semis, p.semi_room);
  arena_[p.semi_at + p.semis++] = carrier;
  p.semi_common &= carrier;
  if (!p.waits_for_or && p.semi_common.subset_of(captured[x].cells | captured[y].cells)) {
    p.waits_for_or = true;
    or_queue_.emplace_back(x, y);
  }
}

// Combines the full (x, z, carrier) with every processed full (z, y).
template <int W>
void Connections<W>::and_rule(int x, int z, const Set& carrier) {
  if (z >= first_edge_ && !limits.edge_midpoints) return;
  const bool full = !is_empty_end(z);
  Set through = carrier;
  if (!full) through.set(z);
  const Captured &cap_x = captured[x], &cap_z = captured[z];
  const Set cap_xz = cap_x.cells | cap_z.cells;
  const Set* common = &processed_common_[size_t(z) * (first_edge_ + 2)];
  Set targets = linked_cells_[z] - through - adjacent_[x];
  if (x < first_edge_) targets.reset(x);

  const auto join = [&](int y) {
    const Captured& cap_y = captured[y];
    if (!(common[y] & through).subset_of(cap_xz | cap_y.cells)) return;
    // What add_semi would turn down whatever the partner.
    if (const Pair& goal = pairs_[index(x, y)]; !full && goal.fulls && limits.limit_or && goal.full_common.subset_of(through))
      return;
    const Pair& p = pairs_[index(z, y)];
    for (int i = 0; i < p.processed; ++i) {
      const Set other = arena_[p.full_at + i];
      if (holds(other, x)) continue;
      Set overlap = through & other, result = through | other;
      if (overlap.any()) {
        // Cells that an endpoint captures may serve both carriers, if the result keeps the whole captured pair.
        Set used;
        excuse(cap_z, overlap, used);
        excuse(cap_x, overlap, used);
        excuse(cap_y, overlap, used);
        if (overlap.any() || holds(used, x) || holds(used, y) || holds(used, z)) continue;
        result |= used;
      }
      if (full)
        add_full(x, y, result);
      else
        add_semi(x, y, result);
    }
  };
  targets.for_each(join);
  for (int side = 0; side < 2; ++side)
    if (linked_edges_[z] >> side & 1 && x != first_edge_ + side) join(first_edge_ + side);
}

template <int W>
void Connections<W>::or_rule(int x, int y) {
  Pair& p = pair(x, y);
  if (p.seen == p.semis) return;
  Set common = g_.all, new_common = g_.all, once, twice;
  for (int i = 0; i < p.semis; ++i) {
    const Set& s = arena_[p.semi_at + i];
    common &= s;
    if (i >= p.seen) new_common &= s;
    const Set outside = g_.all - s;
    twice |= once & outside;
    once |= outside;
  }
  p.semi_common = common;
  if (!common.subset_of(captured[x].cells | captured[y].cells)) return;
  // add_full may drop semis of this very pair, so the rule works on copies.
  scratch_.assign(arena_.begin() + p.semi_at, arena_.begin() + p.semi_at + p.semis);
  unions_.clear();
  p.seen = p.semis;
  if (!limits.limit_or) {
    for (int i = 0; i < p.fulls; ++i) unions_.push_back(arena_[p.full_at + i]);
    all_unions(x, y, g_.all, Set{});
  } else {
    // Each round finds one union that avoids a cell which all fulls so far share, so a pair ends with few fulls whose
    // common part is as small as the semis allow (Pawlewicz et al. 2015).
    Set shared = p.full_common - new_common;
    if (p.fulls == 0) {
      shared = g_.all;
      for (const bool excused : {false, true})
        if (Set together; unite(x, y, -1, excused, together)) shared &= together;
      shared -= new_common;
      if (unions_.empty()) return;
    }
    // One semi without the cell can do it only if endpoints excuse what is left of it.
    shared &= captured[x].count + captured[y].count ? once : twice;
    std::erase_if(scratch_, [&](const Set& semi) { return shared.subset_of(semi); });
    const bool may_excuse = captured[x].count + captured[y].count > 0;
    while (shared.any()) {
      const int avoid = shared.first();
      shared.reset(avoid);
      Set left = g_.all;
      for (const Set& semi : scratch_)
        if (!semi.test(avoid)) left &= semi;
      if (left.any() && !(may_excuse && left.subset_of(captured[x].cells | captured[y].cells))) continue;
      if (Set together; (left.none() && unite(x, y, avoid, false, together)) || unite(x, y, avoid, true, together))
        shared &= together;
    }
  }
  for (const Set& u : unions_) add_full(x, y, u);
}

// A union of semis without the cell `avoid` that have nothing in common, or, if `excused`, nothing but cells that an
// endpoint captures.
template <int W>
bool Connections<W>::unite(int x, int y, int avoid, bool excused, Set& together) {
  const Captured &cap_x = captured[x], &cap_y = captured[y];
  if (excused && cap_x.count + cap_y.count == 0) return false;
  Set left = g_.all;
  together = Set{};
  for (const Set& s : scratch_) {
    if ((avoid >= 0 && s.test(avoid)) || left.subset_of(s)) continue;
    left &= s;
    together |= s;
    Set used;
    if (excused) {
      Set overlap = left;
      excuse(cap_x, overlap, used);
      excuse(cap_y, overlap, used);
      if (overlap.any() || holds(used, x) || holds(used, y)) continue;
    } else if (left.any()) {
      continue;
    }
    together |= used;
    if (avoid >= 0 && together.test(avoid)) return false;
    unions_.push_back(together);
    return true;
  }
  return false;
}

// Every union of semis that has nothing in common beyond captured cells, minimal ones surely among them: some semi must
// avoid each cell that is still common.
template <int W>
void Connections<W>::all_unions(int x, int y, const Set& left, const Set& together) {
  for (const Set& known : unions_)
    if (known.subset_of(together)) return;
  Set overlap = left, used;
  if (left.any()) {
    excuse(captured[x], overlap, used);
    excuse(captured[y], overlap, used);
    if (holds(used, x) || holds(used, y)) overlap = left;
  }
  if (overlap.none()) unions_.push_back(together | used);
  if (left.none()) return;
  const int avoid = left.first();
  for (size_t i = 0; i < scratch_.size(); ++i) {
    const Set s = scratch_[i];
    if (!s.test(avoid)) all_unions(x, y, left & s, together | s);
  }
}

}  // namespace hexdata::proof
