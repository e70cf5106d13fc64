// Focused depth-first proof-number search (Arneson et al. 2010; gao-2020 9.2, 9.3) over filled positions.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "knowledge.hpp"
#include "table.hpp"

namespace hexdata::proof {

// When to stop: a search that hits a limit leaves its position unknown.
struct Budget {
  uint64_t nodes = 0;      // 0 = no limit
  double seconds = 0;      // 0 = no limit
  const std::atomic<bool>* stop = nullptr;
  std::function<void()> poll;  // called about ten times a second; may set *stop
};

// What the threads share that prove one position together: the table, which subtrees somebody is in, and the visits.
template <int W>
struct Shared {
  explicit Shared(size_t table_bytes) : table(table_bytes) {}

  Table<W> table;
  std::array<std::atomic<uint16_t>, 4096> inside{};  // [key]: threads below it; two keys may share a place
  std::atomic<uint64_t> nodes{0};
  std::atomic<bool> done{false};  // one of them has the answer
  bool alone = true;              // no other thread: nothing to look out for

  std::atomic<uint16_t>& place(const Key& key) { return inside[key.check & (inside.size() - 1)]; }
};

// The proof and disproof number of a position that was never visited, for the side to move in it. Distances are the stones
// that each side lacks to join its edges.
struct LeafNumbers {
  uint32_t phi, delta;
};
using LeafInitialiser = LeafNumbers (*)(int own_distance, int opponent_distance);

inline LeafNumbers unit_leaf(int, int) { return {1, 1}; }
inline LeafNumbers distance_leaf(int own, int opponent) {
  return {static_cast<uint32_t>(1 + own * own / 4), static_cast<uint32_t>(1 + opponent * opponent / 4)};
}

template <int W>
class Search {
 public:
  using Set = Bits<W>;
  static constexpr uint32_t kInfinity = 1000000000;

  enum class Outcome { kUnknown, kWin, kLoss };  // for the side to move
  struct Result {
    Outcome outcome = Outcome::kUnknown;
    Set proof;      // the winner's proof set, in the filled position
    int best = -1;  // a winning move, if search rather than a connection found the win
  };

  Search(const Geometry<W>& g, const Parameters& parameters, Shared<W>& shared)
      : g_(g),
        parameters_(parameters),
        leaf_(parameters.leaf_distance ? distance_leaf : unit_leaf),
        knowledge_(g, parameters),
        shared_(shared),
        table_(shared.table) {
    uint64_t state = 0x9e3779b97f4a7c15u;
    const auto draw = [&state] {  // splitmix64
      uint64_t z = (state += 0x9e3779b97f4a7c15u);
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      return z ^ (z >> 31);
    };
    for (auto& colour : stone_key_)
      for (Key& k : colour) k = {draw(), draw()};
    white_to_move_ = {draw(), draw()};
  }

  uint64_t expansions = 0;  // positions whose connections were built

  void start(const Budget& budget) {
    budget_ = budget;
    expansions = knowledge_.built = 0;
    stopped_ = false;
    // seconds are the search's; Ctrl-C ends also what follows it
    knowledge_.let_cut([this] { return searching_ ? out_of_time() : interrupted(); });
    began_ = last_poll_ = std::chrono::steady_clock::now();
  }
  // The moves of the proof from here as far as the table remembers them; it ends where a connection decides.
  std::vector<int> line(Position<W> p, Colour mover) const {
    std::vector<int> moves;
    for (;;) {
      bool turned;
      Entry<W> e;
      if (!table_.find(table_key(rotated_keys(p.stones), mover, turned), e) || e.best == 0xffff) return moves;
      moves.push_back(turned ? g_.cells - 1 - e.best : e.best);
      const Child<W> c = knowledge_.child(p, moves.back(), mover);
      p = Position<W>(g_, c.stones[kBlack], c.stones[kWhite]);
      mover = other(mover);
    }
  }
  // Whether somebody asked for an end, for work beside the search that no budget counts.
  bool interrupted() {
    poll(std::chrono::steady_clock::now());
    return budget_.stop && budget_.stop->load(std::memory_order_relaxed);
  }
  Knowledge<W>& knowledge() { return knowledge_; }

  // p must be filled in.
  Result solve(const Position<W>& p, Colour mover) {
    uint32_t phi, delta;
    Result result;
    searching_ = true;
    visit(p, mover, rotated_keys(p.stones), kInfinity, kInfinity, 0, phi, delta, result.proof, result.best);
    searching_ = false;
    if (phi == 0) result.outcome = Outcome::kWin;
    if (delta == 0) result.outcome = Outcome::kLoss;
    return result;
  }

 private:
  // The stones' key as it is and turned by half a turn; the smaller one names the position.
  struct Keys {
    Key plain, turned;
  };
  struct Option {
    Child<W> child;
    Keys keys;
    uint32_t phi = 1, delta = 1;
    bool busy = false;  // another thread is below it
    Set proof;
  };

  // Marks a subtree as visited for as long as it lives.
  struct Visitor {
    std::atomic<uint16_t>& place;
    explicit Visitor(std::atomic<uint16_t>& p) : place(p) { place.fetch_add(1, std::memory_order_relaxed); }
    ~Visitor() { place.fetch_sub(1, std::memory_order_relaxed); }
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;
  };

  Keys rotated_keys(const std::array<Set, 2>& stones) const {
    Keys k{};
    add_stones(k, stones[kBlack], kBlack);
    add_stones(k, stones[kWhite], kWhite);
    return k;
  }
  void add_stones(Keys& k, const Set& stones, Colour c) const {
    stones.for_each([&](int cell) {
      k.plain ^= stone_key_[c][cell];
      k.turned ^= stone_key_[c][g_.cells - 1 - cell];
    });
  }
  Key table_key(const Keys& k, Colour mover, bool& turned) const {
    turned = k.turned < k.plain;
    Key key = turned ? k.turned : k.plain;
    if (mover == kWhite) key ^= white_to_move_;
    return key;
  }
  Set turn(const Set& s, bool turned) const {
    if (!turned) return s;
    Set r;
    s.for_each([&](int cell) { r.set(g_.cells - 1 - cell); });
    return r;
  }

  bool out_of_budget() {
    if (stopped_) return true;
    if (shared_.done.load(std::memory_order_relaxed)) return true;
    if (budget_.nodes && shared_.nodes.load(std::memory_order_relaxed) >= budget_.nodes) return stopped_ = true;
    return out_of_time();
  }
  bool out_of_time() {
    if (budget_.stop && budget_.stop->load(std::memory_order_relaxed)) return stopped_ = true;
    const auto now = std::chrono::steady_clock::now();
    if (budget_.seconds > 0 && std::chrono::duration<double>(now - began_).count() > budget_.seconds) stopped_ = true;
    poll(now);
    return stopped_;
  }
  void poll(std::chrono::steady_clock::time_point now) {
    if (now - last_poll_ <= std::chrono::milliseconds(100)) return;
    last_poll_ = now;
    if (budget_.poll) budget_.poll();
  }

  void store(const Keys& keys, Colour mover, uint32_t phi, uint32_t delta, const Set& set, const Set& support, uint32_t work,
             int best, const std::vector<int>* order);
  int distance(Colour colour, const std::array<Set, 2>& stones) const;
  void read_option(Option& o, Colour next) const;
  void visit(const Position<W>& p, Colour mover, const Keys& keys, uint32_t max_phi, uint32_t max_delta, int depth,
             uint32_t& phi, uint32_t& delta, Set& proof, int& best);

  const Geometry<W>& g_;
  const Parameters parameters_;
  const LeafInitialiser leaf_;
  Knowledge<W> knowledge_;
  Shared<W>& shared_;
  Table<W>& table_;
  std::array<std::array<Key, Geometry<W>::kMaxCells>, 2> stone_key_;
  Key white_to_move_;
  Budget budget_;
  bool stopped_ = false, searching_ = false;
  std::chrono::steady_clock::time_point began_, last_poll_;
  std::vector<std::unique_ptr<std::vector<Option>>> frames_;  // one per depth, kept from visit to visit
  Verdict<W> verdict_;
};

template <int W>
void Search<W>::store(const Keys& keys, Colour mover, uint32_t phi, uint32_t delta, const Set& set, const Set& support,
                      uint32_t work, int best, const std::vector<int>* order) {
  bool turned;
  const Key key = table_key(keys, mover, turned);
  const auto cell = [&](int c) { return turned ? g_.cells - 1 - c : c; };
  Entry<W> e{};
  e.phi = phi;
  e.delta = delta;
  e.set = turn(set, turned);
  e.support = turn(support, turned);
  e.work = std::max<uint32_t>(1, work);
  e.best = static_cast<uint16_t>(best < 0 ? 0xffff : cell(best));
  if (order) {
    e.ordered = static_cast<uint8_t>(std::min<size_t>(order->size(), Entry<W>::kOrdered));
    for (int i = 0; i < e.ordered; ++i) e.order[i] = static_cast<typename Entry<W>::Cell>(cell((*order)[i]));
  }
  table_.put(key, e);
}

// How many stones a colour lacks to join its edges; more than a side's length if it cannot.
template <int W>
int Search<W>::distance(Colour colour, const std::array<Set, 2>& stones) const {
  const Set &own = stones[colour], free = g_.all - stones[other(colour)];
  Set reached = g_.flood(g_.edge_row[colour][0] & own, own);
  Set next = (g_.edge_row[colour][0] | g_.grow(reached)) & free;
  for (int d = 0;; ++d) {
    if (reached.intersects(g_.edge_row[colour][1])) return d;
    const Set added = next - reached;
    if (added.none()) return g_.size + 1;
    reached |= added | g_.flood(g_.grow(added) & own, own);
    next = g_.grow(reached) & free;
  }
}

template <int W>
void Search<W>::read_option(Option& o, Colour next) const {
  bool turned;
  const Key key = table_key(o.keys, next, turned);
  o.busy = !shared_.alone && shared_.place(key).load(std::memory_order_relaxed) > 0;
  Entry<W> e;
  if (!table_.find(key, e)) return;  // never seen, or pushed out of the table since: keep the numbers of the last visit
  o.phi = e.phi;
  o.delta = e.delta;
  if (e.solved()) o.proof = turn(e.set, turned);
}

template <int W>
void Search<W>::visit(const Position<W>& p, Colour mover, const Keys& keys, uint32_t max_phi, uint32_t max_delta, int depth,
                      uint32_t& phi, uint32_t& delta, Set& proof, int& best) {
  best = -1;
  const Colour opponent = other(mover);
  if (static_cast<size_t>(depth) >= frames_.size()) frames_.push_back(std::make_unique<std::vector<Option>>());
  std::vector<Option>& options = *frames_[depth];
  std::vector<int> moves;
  Set live, support;
  uint32_t work = 0;
  const uint64_t before = expansions;

  bool turned;
  const Key key = table_key(keys, mover, turned);
  if (Entry<W> e; table_.find(key, e)) {
    phi = e.phi;
    delta = e.delta;
    const auto cell = [&](int c) { return turned ? g_.cells - 1 - c : c; };
    if (e.solved()) {
      proof = turn(e.set, turned);
      if (e.best != 0xffff) best = cell(e.best);
      return;
    }
    live = turn(e.set, turned);
    support = turn(e.support, turned);
    work = e.work;
    Set rest = live;
    for (int i = 0; i < e.ordered; ++i) {
      const int c = cell(e.order[i]);
      if (rest.test(c)) moves.push_back(c);
      rest.reset(c);
    }
    rest.for_each([&](int c) { moves.push_back(c); });
  } else {
    phi = delta = 1;
  }
  if (out_of_budget()) return;
  shared_.nodes.fetch_add(1, std::memory_order_relaxed);
  const Visitor visitor(shared_.place(key));
  if (moves.empty()) {
    ++expansions;
    using Value = typename Verdict<W>::Value;
    knowledge_.evaluate(p, mover, verdict_);
    if (verdict_.value != Value::kOpen) {
      const bool win = verdict_.value == Value::kWin;
      phi = win ? 0 : kInfinity;
      delta = win ? kInfinity : 0;
      proof = verdict_.proof;
      store(keys, mover, phi, delta, proof, Set{}, 1, -1, nullptr);
      return;
    }
    moves = verdict_.moves;
    for (const int m : moves) live.set(m);
    support = verdict_.support;
  }
  const std::vector<int> order = moves;

  options.clear();
  for (const int m : moves) {
    Option o;
    o.child = knowledge_.child(p, m, mover);
    const LeafNumbers leaf = leaf_(distance(opponent, o.child.stones), distance(mover, o.child.stones));
    o.phi = leaf.phi;
    o.delta = leaf.delta;
    o.keys = keys;
    for (const Colour c : {kBlack, kWhite}) add_stones(o.keys, o.child.stones[c] - p.stones[c], c);
    options.push_back(o);
  }

  for (;;) {
    for (size_t i = 0; i < options.size();) {
      Option& o = options[i];
      read_option(o, opponent);
      if (o.delta == 0) {
        phi = 0;
        delta = kInfinity;
        proof = o.proof | o.child.captured[mover] | Set::of(o.child.move);
        best = o.child.move;
        store(keys, mover, phi, delta, proof, Set{}, work + uint32_t(expansions - before), best, nullptr);
        return;
      }
      if (o.phi == 0) {
        // The refutation also refutes every move outside its proof set.
        const Set refuted = o.proof | o.child.captured[opponent];
        support |= refuted;
        live &= refuted;
        live.reset(o.child.move);
        std::erase_if(options, [&](const Option& other) { return !live.test(other.child.move); });
        i = 0;
        continue;
      }
      ++i;
    }
    if (options.empty()) {
      phi = kInfinity;
      delta = 0;
      proof = support;
      store(keys, mover, phi, delta, proof, Set{}, work + uint32_t(expansions - before), best, nullptr);
      return;
    }

    const size_t window =
        std::min(options.size(), size_t(parameters_.window_base) +
                                     size_t(std::ceil(parameters_.window_factor * static_cast<double>(options.size()))));
    uint32_t second = kInfinity, best_number = UINT32_MAX;
    size_t chosen = 0;
    uint64_t sum = 0;
    phi = kInfinity;
    for (size_t i = 0; i < options.size(); ++i) {
      const Option& o = options[i];
      sum += o.phi;
      if (i >= window) continue;
      if (o.delta < phi) {
        second = phi;
        phi = o.delta;
      } else if (o.delta < second) {
        second = o.delta;
      }
      // Where another thread is at work a move looks worse, so that threads part.
      const uint32_t number = o.busy ? o.delta + o.delta / 2 + 1 : o.delta;
      if (number < best_number) {
        best_number = number;
        chosen = i;
      }
    }
    delta = static_cast<uint32_t>(std::min<uint64_t>(sum, kInfinity - 1));
    if (phi >= max_phi || delta >= max_delta || stopped_ || shared_.done.load(std::memory_order_relaxed)) {
      store(keys, mover, phi, delta, live, support, work + uint32_t(expansions - before), best, &order);
      return;
    }

    Option& o = options[chosen];
    const uint64_t wider = std::max<uint64_t>(uint64_t(second) + 1, uint64_t(double(second) * (1 + parameters_.epsilon)));
    // A second choice, taken because another thread has the first, may go a step beyond.
    const uint32_t child_delta = std::max(static_cast<uint32_t>(std::min<uint64_t>(max_phi, wider)), o.delta + 1);
    const uint32_t child_phi = max_delta >= kInfinity ? kInfinity : max_delta - (delta - o.phi);
    best = o.child.move;
    const Position<W> next(g_, o.child.stones[kBlack], o.child.stones[kWhite]);
    int reply;
    visit(next, opponent, o.keys, child_phi, child_delta, depth + 1, o.phi, o.delta, o.proof, reply);
  }
}

}  // namespace hexdata::proof
