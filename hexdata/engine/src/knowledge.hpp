// What can be said of a position without search: who has won already, or which moves are left to try and in what order.
#pragma once

#include <algorithm>
#include <vector>

#include "connections.hpp"
#include "inferior.hpp"
#include "resistance.hpp"

namespace hexdata::proof {

// A move and the filled position it leads to. 56 bytes on 8x8.
template <int W>
struct Child {
  int move;
  std::array<Bits<W>, 2> stones;    // after fill-in
  std::array<Bits<W>, 2> captured;  // what fill-in after this move gave to each colour as captured
};

// A proof set of the winner: he still wins if every empty cell outside it goes to the loser.
template <int W>
struct Verdict {
  enum class Value { kOpen, kWin, kLoss };  // for the side to move
  Value value = Value::kOpen;
  Bits<W> proof;            // if decided
  Bits<W> mustplay;         // if open: the moves that meet every threat of the opponent
  std::vector<int> moves;   // if open: the moves worth trying, best first
  Bits<W> support;          // if open: what a proof of a loss needs besides the refutations of these moves
};

// captured[x]: the pairs that a stone of `colour` on x makes captured.
template <int W>
void find_captured(const Geometry<W>& g, const Position<W>& p, Colour colour, typename Connections<W>::CapturedBy& captured) {
  const auto& facts = local_facts();
  const Bits<W> empty = p.empty(g);
  captured.fill({});
  empty.for_each([&](int x) {
    for (int d = 0; d < kDirections; ++d) {
      const int a = g.next[x][d];
      if (a < 0 || !empty.test(a) || captured[x].cells.test(a)) continue;
      const int ring_a = p.ring[a] | 1 << (opposite(d) + 6 * colour);
      const int kill_a = facts[ring_a].kill[colour];
      for (int e = 0; e < kDirections; ++e) {
        if (!(kill_a >> e & 1)) continue;
        const int b = g.next[a][e];
        if (b == x || captured[x].cells.test(b)) continue;
        int ring_b = p.ring[b];
        for (int f = 0; f < kDirections; ++f)
          if (g.next[b][f] == x) ring_b |= 1 << (f + 6 * colour);
        if (facts[ring_b].kill[colour] >> opposite(e) & 1) {
          captured[x].add(a, b);
          break;
        }
      }
    }
  });
}

template <int W>
class Knowledge {
 public:
  using Set = Bits<W>;

  Knowledge(const Geometry<W>& g, const Parameters& parameters)
      : g_(g),
        parameters_(parameters),
        connections_{Connections<W>(g, parameters.connections), Connections<W>(g, parameters.connections)} {}

  Child<W> child(const Position<W>& p, int move, Colour mover) const {
    Position<W> next = p;
    Fill<W> fill;
    next.place(g_, move, mover);
    fill_in(g_, next, g_.ring[move], fill);
    return {move, next.stones, fill.captured};
  }

  // One colour's connections in a filled position, from the nearest earlier position that is part of it.
  const Connections<W>& connect(const Position<W>& p, Colour colour, typename Connections<W>::Stop stop) {
    return connect(p, colour, stop, parameters_.connections.most_cells);
  }

  uint64_t built = 0;  // connections of one colour in one position

  // From now on `connect` and `evaluate` ask this while they work. What they say when cut is true, but less than they could.
  void let_cut(std::function<bool()> is_cut) {
    for (Connections<W>& c : connections_) c.is_cut = is_cut;
  }

  // p must be filled in.
  void evaluate(const Position<W>& p, Colour mover, Verdict<W>& verdict);

 private:
  const Connections<W>& connect(const Position<W>& p, Colour colour, typename Connections<W>::Stop stop, int most_cells) {
    Connections<W>& c = connections_[colour];
    c.limits.most_cells = most_cells;
    ++built;
    const Set &own = p.stones[colour], &opponent = p.stones[other(colour)];
    const bool again = parameters_.incremental && c.arena_bytes() < kMostArena;
    while (again && c.depth() && !(c.complete() && c.own().subset_of(own) && c.opponent().subset_of(opponent))) c.undo();
    find_captured(g_, p, colour, captured_);
    if (again && c.depth())
      c.play(own, opponent, captured_, stop);
    else
      c.build(colour, own, opponent, captured_, stop);
    return c;
  }

  // Past this much memory a colour's connections are built anew, so that deep lines on large boards stay small.
  static constexpr size_t kMostArena = size_t{16} << 20;

  const Geometry<W>& g_;
  const Parameters parameters_;
  std::array<Connections<W>, 2> connections_;
  typename Connections<W>::CapturedBy captured_;
  std::vector<Child<W>> children_;
};

template <int W>
void Knowledge<W>::evaluate(const Position<W>& p, Colour mover, Verdict<W>& verdict) {
  using Value = typename Verdict<W>::Value;
  using Stop = typename Connections<W>::Stop;
  const Colour opponent = other(mover);
  verdict.value = Value::kOpen;
  verdict.moves.clear();
  verdict.support = verdict.proof = verdict.mustplay = Set{};
  if (g_.joins(mover, p.stones[mover])) {
    verdict.value = Value::kWin;
    return;
  }
  if (g_.joins(opponent, p.stones[opponent])) {
    verdict.value = Value::kLoss;
    return;
  }

  const Connections<W>& theirs = connect(p, opponent, Stop::kFull);
  if (theirs.has_full()) {
    verdict.value = Value::kLoss;
    verdict.proof = theirs.smallest_full();
    return;
  }
  const Set mustplay = theirs.semi_intersection() & p.empty(g_);
  verdict.mustplay = mustplay;
  verdict.support = theirs.semi_support();
  if (mustplay.none()) {
    verdict.value = Value::kLoss;
    verdict.proof = verdict.support;
    return;
  }

  // Vulnerable moves go first: they must not stay as dominators of others.
  const auto& facts = local_facts();
  Set open = mustplay;
  mustplay.for_each([&](int cell) {
    if (const int killers = facts[p.ring[cell]].kill[opponent]) {
      open.reset(cell);
      verdict.support.set(g_.next[cell][std::countr_zero(unsigned(killers))]);
    }
  });
  if (open.none()) {
    verdict.value = Value::kLoss;
    verdict.proof = verdict.support;
    return;
  }

  // A move whose filled position gives the mover no more and the opponent no less than another's is dominated by it.
  children_.clear();
  open.for_each([&](int cell) { children_.push_back(child(p, cell, mover)); });
  for (size_t i = 0; i < children_.size(); ++i) {
    const Child<W>& a = children_[i];
    bool dominated = false;
    for (size_t j = 0; j < children_.size() && !dominated; ++j) {
      const Child<W>& b = children_[j];
      if (j == i || !a.stones[mover].subset_of(b.stones[mover]) || !b.stones[opponent].subset_of(a.stones[opponent]))
        continue;
      dominated = j < i || a.stones != b.stones;
    }
    if (dominated)
      verdict.support |= a.captured[opponent];
    else
      verdict.moves.push_back(a.move);
  }
  // With one move left the rest can wait: the next position needs it anyway.
  if (verdict.moves.size() <= 1) return;

  std::array<float, Geometry<W>::kMaxCells> score{};
  const auto sort = [&] {
    add_currents(g_, theirs, score);
    std::stable_sort(verdict.moves.begin(), verdict.moves.end(), [&](int a, int b) { return score[a] > score[b]; });
  };
  if (static_cast<int>(verdict.moves.size()) < parameters_.own_from_moves) {
    sort();
    return;
  }
  // Connections that follow the stones are kept for other positions too, and so at full length.
  const int most = parameters_.incremental ? parameters_.connections.most_cells : parameters_.own_most_cells;
  const Connections<W>& ours = connect(p, mover, Stop::kSemi, most);
  if (ours.has_full() || ours.has_semi()) {
    verdict.value = Value::kWin;
    verdict.moves.clear();
    verdict.proof = ours.has_full() ? ours.smallest_full() : ours.smallest_semi();
    return;
  }

  add_currents(g_, ours, score);
  sort();
}

}  // namespace hexdata::proof
