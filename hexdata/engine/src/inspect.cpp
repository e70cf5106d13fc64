#include "inspect.hpp"

#include "knowledge.hpp"

namespace hexdata::proof {

namespace {

template <int W>
std::vector<int> cells_of(const Bits<W>& set) {
  std::vector<int> cells;
  set.for_each([&](int c) { cells.push_back(c); });
  return cells;
}

template <int W>
Position<W> position_of(const Geometry<W>& g, const SolvePosition& p) {
  Bits<W> black, white;
  for (const int c : p.black) black.set(c);
  for (const int c : p.white) white.set(c);
  return Position<W>(g, black, white);
}

template <int W>
std::vector<Carrier> connections(const SolvePosition& position, Colour colour, const Parameters& parameters) {
  const Geometry<W> g(position.size);
  Knowledge<W> knowledge(g, parameters);
  std::vector<Carrier> found;
  knowledge.connect(position_of(g, position), colour, Connections<W>::Stop::kNever)
      .for_each_carrier([&](int x, int y, bool full, const Bits<W>& c) { found.push_back({x, y, full, cells_of(c)}); });
  return found;
}

template <int W>
std::vector<uint8_t> winners_by_connection(const std::vector<SolvePosition>& positions, const Parameters& parameters) {
  const Geometry<W> g(positions[0].size);
  Knowledge<W> knowledge(g, parameters);
  std::vector<uint8_t> result;
  for (const SolvePosition& position : positions) {
    const Position<W> p = position_of(g, position);
    uint8_t winner = 2;
    for (const Colour colour : {kBlack, kWhite})
      if (g.joins(colour, p.stones[colour])) winner = colour;
    for (const Colour colour : {kBlack, kWhite})
      if (winner == 2 && knowledge.connect(p, colour, Connections<W>::Stop::kFull).has_full()) winner = colour;
    result.push_back(winner);
  }
  return result;
}

template <int W>
KnowledgeReport knowledge(const SolvePosition& position, const Parameters& parameters) {
  const Geometry<W> g(position.size);
  Knowledge<W> knowledge(g, parameters);
  Position<W> p = position_of(g, position);
  Fill<W> fill;
  fill_in(g, p, g.all, fill);
  Verdict<W> v;
  knowledge.evaluate(p, position.to_move, v);
  const bool win = v.value == Verdict<W>::Value::kWin, open = v.value == Verdict<W>::Value::kOpen;
  const Colour winner = win ? position.to_move : other(position.to_move);
  return {cells_of(p.stones[kBlack]),
          cells_of(p.stones[kWhite]),
          open ? 0 : win ? 1 : -1,
          open ? std::vector<int>{} : cells_of(v.proof | fill.captured[winner]),
          cells_of(v.mustplay),
          v.moves};
}

}  // namespace

std::vector<Carrier> list_connections(const SolvePosition& position, Colour colour, const Parameters& parameters) {
  switch (words_for_size(position.size)) {
    case 1: return connections<1>(position, colour, parameters);
    case 2: return connections<2>(position, colour, parameters);
    case 3: return connections<3>(position, colour, parameters);
    default: return connections<6>(position, colour, parameters);
  }
}

std::vector<uint8_t> winning_connections(const std::vector<SolvePosition>& positions, const Parameters& parameters) {
  if (positions.empty()) return {};
  switch (words_for_size(positions[0].size)) {
    case 1: return winners_by_connection<1>(positions, parameters);
    case 2: return winners_by_connection<2>(positions, parameters);
    case 3: return winners_by_connection<3>(positions, parameters);
    default: return winners_by_connection<6>(positions, parameters);
  }
}

KnowledgeReport report_knowledge(const SolvePosition& position, const Parameters& parameters) {
  switch (words_for_size(position.size)) {
    case 1: return knowledge<1>(position, parameters);
    case 2: return knowledge<2>(position, parameters);
    case 3: return knowledge<3>(position, parameters);
    default: return knowledge<6>(position, parameters);
  }
}

}  // namespace hexdata::proof
