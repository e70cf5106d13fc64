// Virtual connections of one colour by H-search (Anshelevich 2002): AND over stones, empty cells and edges, OR over
// semi-connections whose carriers have nothing in common.
//
// Endpoints are the empty cells and the captains of own groups, named by their cell, and the two own edges, named
// `cells` and `cells + 1`; groups that touch an edge are that edge. A full connection holds if the opponent moves first,
// a semi-connection if its owner does. An empty endpoint counts as own. No carrier holds one of its endpoints.
//
// Connections outlive stones: `play` drops the carriers that an opponent's stone breaks, takes own stones out of the
// others, joins the lists of groups that have met, and applies the rules to what is new. `undo` takes it back exactly.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "bits.hpp"
#include "parameters.hpp"

namespace hexdata::proof {

// One colour's connections. The pair table (E * (E - 1) / 2 headers, 140 KB on 8x8) and the carrier arena live as long as
// the object. Lists are never changed in place once a stone has been played on them: the first change after it copies
// the list to the end of the arena and logs the old header, so that undo restores headers and cuts the arena.
template <int W>
class Connections {
 public:
  using Set = Bits<W>;
  static constexpr int kMaxEnds = Geometry<W>::kMaxCells + 2;
  // Of a list, whose room is counted in 16 bits. The longest one seen had 1,883.
  static constexpr int kMostCarriers = 1 << 14;
  // Most builds need far less; one of 19x19, with 61 stones of one colour against 16, took 550 MB.
  static constexpr size_t kMostRoom = size_t{64} << 20;

  enum class Stop { kNever, kFull, kSemi };  // which edge-to-edge connection ends the build

  Connections(const Geometry<W>& g, const ConnectionLimits& l)
      : limits(l),
        g_(g),
        first_edge_(g.cells),
        ends_(g.cells + 2),
        pairs_(size_t(g.cells + 2) * (g.cells + 1) / 2),
        processed_common_(size_t(g.cells + 2) * (g.cells + 2)) {
    for (int y = 0; y < ends_; ++y) {
      row_[y] = y * (y - 1) / 2;
      for (int x = 0; x < y; ++x) {
        pairs_[row_[y] + x].x = static_cast<int16_t>(x);
        pairs_[row_[y] + x].y = static_cast<int16_t>(y);
      }
    }
  }

  ConnectionLimits limits;
  // Asked now and then by `build` and `play`: whether they are to end with what there is.
  std::function<bool()> is_cut;

  // The disjoint pairs that an own stone on an empty cell captures, each by itself; none for other endpoints. Four is the
  // most: own stones on opposite neighbours, and each of the other four neighbours paired with a cell further out.
  struct Captured {
    Set cells;
    std::array<Set, 4> pairs;
    int count = 0;
    void add(int a, int b) {
      if (count == int(pairs.size())) return;
      pairs[count] = Set::of(a) | Set::of(b);
      cells |= pairs[count++];
    }
    bool has(const Set& pair) const {
      for (int i = 0; i < count; ++i)
        if (pairs[i] == pair) return true;
      return false;
    }
    bool operator==(const Captured&) const = default;
  };
  using CapturedBy = std::array<Captured, kMaxEnds>;

  // The connections of a board from nothing. Nobody may have won.
  void build(Colour colour, const Set& own, const Set& opponent, const CapturedBy& captured, Stop stop);
  // The connections after more stones, which must include all there are.
  void play(const Set& own, const Set& opponent, const CapturedBy& captured, Stop stop);
  // Takes back the last `play`, or the `build`.
  void undo();

  int depth() const { return static_cast<int>(frames_.size()); }
  // Whether the rules ran to their end, rather than stopping at an edge-to-edge connection.
  bool complete() const { return complete_; }
  const Set& own() const { return own_; }
  const Set& opponent() const { return opponent_; }
  size_t arena_bytes() const { return arena_.size() * sizeof(Set); }

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
    for (int y = 1; y < ends_; ++y)
      for (int x = 0; x < y; ++x)
        if (const Pair& p = pairs_[index(x, y)]; p.fulls) f(x, y, p.full_common);
  }
  // Every carrier, for tests: f(x, y, is_full, carrier).
  template <typename F>
  void for_each_carrier(F&& f) const {
    for (int y = 1; y < ends_; ++y)
      for (int x = 0; x < y; ++x) {
        const Pair& p = pairs_[index(x, y)];
        for (int i = 0; i < p.fulls; ++i) f(x, y, true, arena_[p.full_at + i]);
        for (int i = 0; i < p.semis; ++i) f(x, y, false, arena_[p.semi_at + i]);
      }
  }
  // The endpoint that an own stone belongs to, or the cell itself if it is empty.
  int endpoint(int cell) const { return own_.test(cell) ? captain_[cell] : cell; }
  bool is_empty_end(int x) const { return x < first_edge_ && empty_.test(x); }

  // Everything that decides what happens next, for tests of undo.
  std::vector<uint64_t> fingerprint() const;

 private:
  // 64 bytes on 8x8. The fulls [0, processed) have been combined with their partners, the others wait.
  struct Pair {
    Set full_common;       // of all fulls
    Set processed_common;  // of the processed fulls
    Set semi_common;       // of all semis, or less
    uint32_t full_at = 0, semi_at = 0;
    uint16_t fulls = 0, processed = 0, semis = 0, seen = 0;  // seen: the semis that an OR has already looked at
    uint16_t full_room = 0, semi_room = 0;                   // 0: the list belongs to an earlier frame
    int16_t x = 0, y = 0;
    uint16_t frame = 0;  // the frame that last logged this pair
    bool listed = false, waits_for_and = false, waits_for_or = false;
  };
  // What `undo` needs besides the log. 4 KB on 8x8.
  struct Small {
    Set own, opponent, empty;
    CapturedBy captured;
    std::array<int16_t, kMaxEnds> captain;
    std::array<Set, kMaxEnds> linked_cells, adjacent;
    std::array<uint8_t, kMaxEnds> linked_edges;
    bool complete;
  };
  struct Frame {
    Small small;
    size_t log, arena, touched;
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

  void find_captains();
  void close(Stop stop);
  Pair& change(int at);
  void mark_processed(Pair& p);
  void forget_processed(Pair& p);
  void await_and(Pair& p);
  void await_or(Pair& p);
  void list(Pair& p, int at) {
    if (p.listed) return;
    p.listed = true;
    touched_.push_back(at);
  }
  bool meets(uint32_t list, int count, const Set& cells) const;
  void sift_fulls(Pair& p, const Set& cells);
  void sift_semis(Pair& p, const Set& cells);
  void remove_opponent(const Set& gone);
  void absorb_own(const Set& added, const Set& fresh, std::span<const int16_t> now);
  void drop_supersets(uint32_t at, uint16_t& length, uint16_t& counted, const Set& carrier);
  void add_full(int x, int y, const Set& carrier);
  void add_semi(int x, int y, const Set& carrier);
  void and_rule(int x, int z, const Set& carrier);
  void or_rule(int x, int y);
  bool unite(int x, int y, int avoid, bool excused, Set& together);
  void all_unions(int x, int y, const Set& left, const Set& together);
  uint32_t more_room(uint32_t at, int used, uint16_t& room);

  const Geometry<W>& g_;
  const int first_edge_, ends_;
  Colour colour_ = kBlack;
  Set own_, opponent_, empty_;
  CapturedBy captured_{};
  std::vector<Pair> pairs_;
  std::vector<Set> arena_, scratch_, unions_;
  std::vector<int> touched_;                    // the pairs that hold anything, or did
  std::vector<Set> processed_common_;           // [x * ends + y]: the pairs' processed_common, side by side for the AND
  std::array<int, kMaxEnds> row_;               // y * (y - 1) / 2
  std::array<int16_t, kMaxEnds> captain_{};
  std::array<Set, kMaxEnds> linked_cells_{};    // [x]: the cells that have a processed full with x
  std::array<uint8_t, kMaxEnds> linked_edges_{};  // [x]: the same for the two edges
  std::array<Set, kMaxEnds> adjacent_{};        // [x]: the cells that have a full with x and no carrier
  std::vector<std::pair<int16_t, int16_t>> and_queue_, or_queue_;
  std::vector<Frame> frames_;
  std::vector<std::pair<int, Pair>> log_;
  std::vector<int> renamed_;                    // the pairs that change their name in absorb_own
  std::vector<Set> sifted_;
  bool complete_ = true;
};

// The name of every own group: the edge that it touches, else its lowest cell.
template <int W>
void Connections<W>::find_captains() {
  Set left = own_;
  const auto name = [&](const Set& group, int end) {
    group.for_each([&](int cell) { captain_[cell] = static_cast<int16_t>(end); });
    left -= group;
  };
  for (int side = 0; side < 2; ++side) name(g_.flood(g_.edge_row[colour_][side] & own_, own_), first_edge_ + side);
  while (left.any()) name(g_.flood(Set::of(left.first()), own_), left.first());
}

template <int W>
void Connections<W>::build(Colour colour, const Set& own, const Set& opponent, const CapturedBy& captured, Stop stop) {
  colour_ = colour;
  own_ = own;
  opponent_ = opponent;
  empty_ = g_.all - own - opponent;
  captured_ = captured;
  // Over the same first frame the lists keep their room from build to build, unless it is a rare position's.
  const bool keep_room = frames_.size() == 1 && arena_bytes() < kMostRoom;
  for (const int at : touched_) {
    Pair& p = pairs_[at];
    p.fulls = p.processed = p.semis = p.seen = 0;
    p.listed = p.waits_for_and = p.waits_for_or = false;
    p.frame = 1;
  }
  if (!keep_room) {
    // of all pairs: one may have its room from a build before the last
    for (Pair& p : pairs_) p.full_room = p.semi_room = 0;
    if (arena_bytes() >= kMostRoom) arena_ = {};
    arena_.clear();
  }
  touched_.clear();
  log_.clear();
  and_queue_.clear();
  or_queue_.clear();
  linked_cells_.fill(Set{});
  linked_edges_.fill(0);
  adjacent_.fill(Set{});
  frames_.resize(1);

  find_captains();
  std::array<Set, kMaxEnds> heads;  // [end]: the cells around it
  // Cells first, then edges, then groups: with limits the order decides which fulls a pair keeps. One cell after the other
  // with all its links took 22,688 expansions for 8x8 d5 instead of 14,863.
  empty_.for_each([&](int x) {
    for (int d = 0; d < 3; ++d)  // the other three directions name the same pairs
      if (const int y = g_.next[x][d]; y >= 0 && empty_.test(y)) add_full(x, y, Set{});
  });
  heads.fill(Set{});
  own.for_each([&](int stone) { heads[captain_[stone]] |= g_.ring[stone]; });
  for (int side = 0; side < 2; ++side) heads[first_edge_ + side] |= g_.edge_row[colour][side];
  const auto link = [&](int end) { (heads[end] & empty_).for_each([&](int cell) { add_full(cell, end, Set{}); }); };
  link(first_edge_);
  link(first_edge_ + 1);
  own.for_each([&](int stone) {
    if (captain_[stone] == stone) link(stone);
  });
  close(stop);
}

template <int W>
void Connections<W>::play(const Set& own, const Set& opponent, const CapturedBy& captured, Stop stop) {
  frames_.push_back({{own_, opponent_, empty_, captured_, captain_, linked_cells_, adjacent_, linked_edges_, complete_},
                     log_.size(),
                     arena_.size(),
                     touched_.size()});
  const Set added = own - own_, gone = opponent - opponent_;
  std::array<int16_t, kMaxEnds> now;  // [endpoint]: what it is called from now on
  for (int e = 0; e < ends_; ++e) now[e] = static_cast<int16_t>(e);
  own_ = own;
  opponent_ = opponent;
  empty_ = g_.all - own - opponent;
  and_queue_.clear();
  or_queue_.clear();
  if (gone.any()) remove_opponent(gone);
  // The rules look again at ends that became stones, because a stone joins fully what a cell joins by half, and at ends
  // that capture a new pair.
  Set fresh = added;
  empty_.for_each([&](int e) {
    for (int i = 0; i < captured[e].count; ++i)
      if (!captured_[e].has(captured[e].pairs[i])) fresh.set(e);
  });
  captured_ = captured;
  if (added.any()) {
    find_captains();
    own_.for_each([&](int cell) { now[cell] = captain_[cell]; });
  }
  if (fresh.any()) absorb_own(added, fresh, now);
  close(stop);
}

template <int W>
void Connections<W>::undo() {
  const Frame& f = frames_.back();
  while (log_.size() > f.log) {
    const auto& [at, old] = log_.back();
    pairs_[at] = old;
    processed_common_[size_t(old.x) * ends_ + old.y] = processed_common_[size_t(old.y) * ends_ + old.x] = old.processed_common;
    log_.pop_back();
  }
  if (frames_.size() > 1) {
    arena_.resize(f.arena);
    touched_.resize(f.touched);
    own_ = f.small.own;
    opponent_ = f.small.opponent;
    empty_ = f.small.empty;
    captured_ = f.small.captured;
    captain_ = f.small.captain;
    linked_cells_ = f.small.linked_cells;
    adjacent_ = f.small.adjacent;
    linked_edges_ = f.small.linked_edges;
    complete_ = f.small.complete;
  }
  frames_.pop_back();
}

// Runs both rules until nothing new is found or the edges are joined.
template <int W>
void Connections<W>::close(Stop stop) {
  size_t and_head = 0, or_head = 0;
  const Pair& goal = edge_pair();
  const auto decided = [&] { return (goal.fulls && stop != Stop::kNever) || (goal.semis && stop == Stop::kSemi); };
  unsigned rounds = 0;
  const auto cut = [&] { return is_cut && ++rounds % 64 == 0 && is_cut(); };
  complete_ = false;
  for (;;) {
    while (and_head < and_queue_.size()) {
      if (decided() || cut()) return;
      const auto [x, y] = and_queue_[and_head++];
      Pair& p = pair(x, y);
      p.waits_for_and = false;
      while (p.processed < p.fulls) {
        const Set carrier = arena_[p.full_at + p.processed];
        mark_processed(p);
        and_rule(x, y, carrier);
        and_rule(y, x, carrier);
      }
    }
    if (decided() || cut()) return;
    if (or_head == or_queue_.size()) break;
    const auto [x, y] = or_queue_[or_head++];
    pair(x, y).waits_for_or = false;
    or_rule(x, y);
  }
  complete_ = true;
}

// The pair's header, logged if this is its first change since the last stone.
template <int W>
typename Connections<W>::Pair& Connections<W>::change(int at) {
  Pair& p = pairs_[at];
  const auto frame = static_cast<uint16_t>(frames_.size());
  if (p.frame != frame) {
    if (frame > 1) log_.emplace_back(at, p);
    p.frame = frame;
    p.full_room = p.semi_room = 0;
  }
  return p;
}

// The next full of the pair may serve as a partner.
template <int W>
void Connections<W>::mark_processed(Pair& p) {
  const Set& carrier = arena_[p.full_at + p.processed];
  p.processed_common = p.processed == 0 ? carrier : p.processed_common & carrier;
  processed_common_[size_t(p.x) * ends_ + p.y] = processed_common_[size_t(p.y) * ends_ + p.x] = p.processed_common;
  if (p.processed++) return;
  for (const auto& [a, b] : {std::pair{p.x, p.y}, std::pair{p.y, p.x}}) {
    if (b < first_edge_)
      linked_cells_[a].set(b);
    else
      linked_edges_[a] |= uint8_t(1 << (b - first_edge_));
  }
}

template <int W>
void Connections<W>::forget_processed(Pair& p) {
  p.processed = 0;
  for (const auto& [a, b] : {std::pair{p.x, p.y}, std::pair{p.y, p.x}}) {
    if (b < first_edge_)
      linked_cells_[a].reset(b);
    else
      linked_edges_[a] &= uint8_t(~(1 << (b - first_edge_)));
  }
}

template <int W>
void Connections<W>::await_and(Pair& p) {
  if (p.waits_for_and || p.processed == p.fulls) return;
  p.waits_for_and = true;
  and_queue_.emplace_back(p.x, p.y);
}

template <int W>
void Connections<W>::await_or(Pair& p) {
  if (p.waits_for_or || p.seen == p.semis || !p.semi_common.subset_of(captured_[p.x].cells | captured_[p.y].cells)) return;
  p.waits_for_or = true;
  or_queue_.emplace_back(p.x, p.y);
}

template <int W>
bool Connections<W>::meets(uint32_t list, int count, const Set& cells) const {
  Set together;
  for (int i = 0; i < count; ++i) together |= arena_[list + i];
  return together.intersects(cells);
}

// Takes the fulls that meet `cells` out of the list, into sifted_; the others keep their order.
template <int W>
void Connections<W>::sift_fulls(Pair& p, const Set& cells) {
  if (p.full_room == 0) p.full_at = more_room(p.full_at, p.fulls, p.full_room);
  sifted_.clear();
  int kept = 0, processed = 0;
  p.full_common = g_.all;
  for (int i = 0; i < p.fulls; ++i) {
    const Set s = arena_[p.full_at + i];
    if (s.intersects(cells)) {
      sifted_.push_back(s);
      continue;
    }
    arena_[p.full_at + kept++] = s;
    processed += i < p.processed;
    p.full_common &= s;
  }
  p.fulls = static_cast<uint16_t>(kept);
  forget_processed(p);
  while (p.processed < processed) mark_processed(p);
}

template <int W>
void Connections<W>::sift_semis(Pair& p, const Set& cells) {
  if (p.semi_room == 0) p.semi_at = more_room(p.semi_at, p.semis, p.semi_room);
  sifted_.clear();
  int kept = 0, seen = 0;
  p.semi_common = g_.all;
  for (int i = 0; i < p.semis; ++i) {
    const Set s = arena_[p.semi_at + i];
    if (s.intersects(cells)) {
      sifted_.push_back(s);
      continue;
    }
    arena_[p.semi_at + kept++] = s;
    seen += i < p.seen;
    p.semi_common &= s;
  }
  p.semis = static_cast<uint16_t>(kept);
  p.seen = static_cast<uint16_t>(seen);
}

// Drops the ends that the opponent took and every carrier that he broke.
template <int W>
void Connections<W>::remove_opponent(const Set& gone) {
  for (const int at : touched_) {
    const Pair& before = pairs_[at];
    if (before.fulls + before.semis == 0) continue;
    const bool ended = holds(gone, before.x) || holds(gone, before.y);
    const bool fulls = !ended && meets(before.full_at, before.fulls, gone);
    const bool semis = !ended && meets(before.semi_at, before.semis, gone);
    if (!ended && !fulls && !semis) continue;
    Pair& p = change(at);
    if (ended) {
      forget_processed(p);
      p.fulls = p.semis = p.seen = 0;
    }
    if (semis) sift_semis(p, gone);
    if (fulls) {
      sift_fulls(p, gone);
      // The limited OR passed over unions that are wanted now.
      p.seen = 0;
      await_or(p);
    }
  }
  for (Set& row : adjacent_) row -= gone;
  gone.for_each([&](int e) { adjacent_[e] = Set{}; });
}

// Takes own stones out of the carriers, moves the lists of ends that joined another, and queues what is new: the lists of
// fresh ends, lists that moved, carriers that shrank.
template <int W>
void Connections<W>::absorb_own(const Set& added, const Set& fresh, std::span<const int16_t> now) {
  renamed_.clear();
  const size_t count = touched_.size();
  for (size_t i = 0; i < count; ++i) {
    const int at = touched_[i];
    const Pair& before = pairs_[at];
    if (before.fulls + before.semis == 0) continue;
    if (now[before.x] != before.x || now[before.y] != before.y) {
      renamed_.push_back(at);
      continue;
    }
    const bool again = holds(fresh, before.x) || holds(fresh, before.y);
    const bool fulls = meets(before.full_at, before.fulls, added);
    const bool semis = meets(before.semi_at, before.semis, added);
    if (!again && !fulls && !semis) continue;
    Pair& p = change(at);
    if (fulls) {
      sift_fulls(p, added);
      for (size_t k = 0; k < sifted_.size(); ++k) add_full(p.x, p.y, sifted_[k] - added);
    }
    if (semis) {
      sift_semis(p, added);
      for (size_t k = 0; k < sifted_.size(); ++k) add_semi(p.x, p.y, sifted_[k] - added);
    }
    if (again) {
      forget_processed(p);
      p.seen = 0;
      await_or(p);
      await_and(p);
    }
  }
  // Only names that nobody bears any more move, so no list moves into one that moves itself.
  for (const int at : renamed_) {
    Pair& p = change(at);
    const int x = now[p.x], y = now[p.y], fulls = p.fulls, semis = p.semis;
    forget_processed(p);
    p.fulls = p.semis = p.seen = 0;
    if (x == y) continue;
    for (int i = 0; i < fulls; ++i) add_full(x, y, Set(arena_[p.full_at + i]) - added);
    for (int i = 0; i < semis; ++i) add_semi(x, y, Set(arena_[p.semi_at + i]) - added);
  }
  Set nameless;
  own_.for_each([&](int cell) {
    if (now[cell] != cell) nameless.set(cell);
  });
  for (Set& row : adjacent_) row -= nameless;
  nameless.for_each([&](int e) { adjacent_[e] = Set{}; });
}

template <int W>
std::vector<uint64_t> Connections<W>::fingerprint() const {
  std::vector<uint64_t> all;
  const auto put = [&](const Set& s) { all.insert(all.end(), s.w.begin(), s.w.end()); };
  for (const Pair& p : pairs_) {
    const bool any = p.fulls + p.semis > 0;
    all.insert(all.end(), {p.fulls, p.processed, p.semis, p.seen, any && p.listed, p.waits_for_and, p.waits_for_or});
    if (p.fulls) put(p.full_common);
    if (p.semis) put(p.semi_common);
    if (p.processed) {
      put(p.processed_common);
      put(processed_common_[size_t(p.x) * ends_ + p.y]);
      put(processed_common_[size_t(p.y) * ends_ + p.x]);
    }
    for (int i = 0; i < p.fulls; ++i) put(arena_[p.full_at + i]);
    for (int i = 0; i < p.semis; ++i) put(arena_[p.semi_at + i]);
  }
  for (const Set* s : {&own_, &opponent_, &empty_}) put(*s);
  for (int e = 0; e < ends_; ++e) {
    put(linked_cells_[e]);
    put(adjacent_[e]);
    all.push_back(linked_edges_[e]);
    for (int i = 0; i < captured_[e].count; ++i) put(captured_[e].pairs[i]);
  }
  own_.for_each([&](int cell) { all.push_back(uint64_t(captain_[cell])); });
  all.insert(all.end(), {arena_.size(), touched_.size(), log_.size(), complete_});
  return all;
}

// A list that is full doubles; one of an earlier frame is copied with a little room. The old room is left behind.
template <int W>
uint32_t Connections<W>::more_room(uint32_t at, int used, uint16_t& room) {
  const auto bigger = static_cast<uint16_t>(room ? room * 2 : used + 4);
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
  if (carrier.count() > limits.most_cells) return;
  const int at = index(x, y);
  if (pairs_[at].fulls >= kMostCarriers) return;
  bool replaces = false;
  {
    const Pair& p = pairs_[at];
    const Set* fulls = arena_.data() + p.full_at;
    for (int i = 0; i < p.fulls; ++i) {
      if (fulls[i].subset_of(carrier)) return;
      replaces |= carrier.subset_of(fulls[i]);
    }
    if (p.fulls && !replaces && limits.limit_fulls && p.full_common.subset_of(carrier)) return;
  }
  Pair& p = change(at);
  list(p, at);
  if (p.full_room == 0) p.full_at = more_room(p.full_at, p.fulls, p.full_room);
  if (p.fulls == 0) p.full_common = g_.all;
  if (replaces) {
    const int processed = p.processed;
    drop_supersets(p.full_at, p.fulls, p.processed, carrier);
    if (p.processed == 0 && processed > 0) forget_processed(p);
  }
  p.full_common &= carrier;
  if (p.semis) {
    if (p.semi_room == 0) p.semi_at = more_room(p.semi_at, p.semis, p.semi_room);
    drop_supersets(p.semi_at, p.semis, p.seen, limits.limit_or ? p.full_common : carrier);
  }
  if (p.fulls == p.full_room) p.full_at = more_room(p.full_at, p.fulls, p.full_room);
  arena_[p.full_at + p.fulls++] = carrier;
  if (carrier.none()) {
    if (y < first_edge_) adjacent_[x].set(y);
    if (x < first_edge_) adjacent_[y].set(x);
  }
  await_and(p);
}

template <int W>
void Connections<W>::add_semi(int x, int y, const Set& carrier) {
  const int at = index(x, y);
  bool replaces = false;
  {
    const Pair& p = pairs_[at];
    if (carrier.count() > limits.most_cells || p.semis >= kMostCarriers) return;
    // The limited OR only looks for unions that avoid a cell which all fulls share: other semis are of no use to it.
    if (p.fulls && limits.limit_or && p.full_common.subset_of(carrier)) return;
    const Set* fulls = arena_.data() + p.full_at;
    for (int i = 0; !limits.limit_or && i < p.fulls; ++i)
      if (fulls[i].subset_of(carrier)) return;
    const Set* semis = arena_.data() + p.semi_at;
    for (int i = 0; i < p.semis; ++i) {
      if (semis[i].subset_of(carrier)) return;
      replaces |= carrier.subset_of(semis[i]);
    }
  }
  Pair& p = change(at);
  list(p, at);
  if (p.semi_room == 0) p.semi_at = more_room(p.semi_at, p.semis, p.semi_room);
  if (p.semis == 0) p.semi_common = g_.all;
  if (replaces) drop_supersets(p.semi_at, p.semis, p.seen, carrier);
  if (p.semis == p.semi_room) p.semi_at = more_room(p.semi_at, p.semis, p.semi_room);
  arena_[p.semi_at + p.semis++] = carrier;
  p.semi_common &= carrier;
  await_or(p);
}

// Combines the full (x, z, carrier) with every processed full (z, y).
template <int W>
void Connections<W>::and_rule(int x, int z, const Set& carrier) {
  if (z >= first_edge_ && !limits.edge_midpoints) return;
  const bool full = !is_empty_end(z);
  Set through = carrier;
  if (!full) through.set(z);
  const Captured &cap_x = captured_[x], &cap_z = captured_[z];
  const Set cap_xz = cap_x.cells | cap_z.cells;
  const Set* common = &processed_common_[size_t(z) * ends_];
  Set targets = linked_cells_[z] - through - adjacent_[x];
  if (x < first_edge_) targets.reset(x);

  const auto join = [&](int y) {
    const Captured& cap_y = captured_[y];
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
  if (!common.subset_of(captured_[x].cells | captured_[y].cells)) return;
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
    shared &= captured_[x].count + captured_[y].count ? once : twice;
    std::erase_if(scratch_, [&](const Set& semi) { return shared.subset_of(semi); });
    const bool may_excuse = captured_[x].count + captured_[y].count > 0;
    while (shared.any()) {
      const int avoid = shared.first();
      shared.reset(avoid);
      Set left = g_.all;
      for (const Set& semi : scratch_)
        if (!semi.test(avoid)) left &= semi;
      if (left.any() && !(may_excuse && left.subset_of(captured_[x].cells | captured_[y].cells))) continue;
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
  const Captured &cap_x = captured_[x], &cap_y = captured_[y];
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
    excuse(captured_[x], overlap, used);
    excuse(captured_[y], overlap, used);
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
