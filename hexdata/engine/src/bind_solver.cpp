// The Python face of the solver.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <stdexcept>

#include "inspect.hpp"
#include "local.hpp"
#include "signal_poll.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hexdata {

using namespace proof;

namespace {

using Stones = std::tuple<std::vector<int>, std::vector<int>, std::string>;

std::string name_of(Winner w) { return w == Winner::kBlack ? "black" : w == Winner::kWhite ? "white" : "unknown"; }

SolvePosition checked(int size, const Stones& stones) {
  const auto& [black, white, to_move] = stones;
  if (size < 2 || size > 19) throw std::invalid_argument("size must be 2 to 19, not " + std::to_string(size));
  if (to_move != "black" && to_move != "white")
    throw std::invalid_argument("to_move must be 'black' or 'white', not '" + to_move + "'");
  std::vector<bool> taken(size_t(size) * size);
  for (const auto* cells : {&black, &white})
    for (const int cell : *cells) {
      if (cell < 0 || cell >= size * size)
        throw std::invalid_argument("cell " + std::to_string(cell) + " is not on a board of size " + std::to_string(size));
      if (taken[cell]) throw std::invalid_argument("cell " + std::to_string(cell) + " holds more than one stone");
      taken[cell] = true;
    }
  return {size, black, white, to_move == "black" ? kBlack : kWhite};
}

using Settings = std::map<std::string, double>;
constexpr int kMostTableMb = 1 << 20;

Parameters parameters_of(const Settings& settings) {
  Parameters p;
  for (const auto& [name, value] : settings) {
    if (name == "limit_fulls") p.connections.limit_fulls = value != 0;
    else if (name == "limit_or") p.connections.limit_or = value != 0;
    else if (name == "edge_midpoints") p.connections.edge_midpoints = value != 0;
    else if (name == "incremental") p.incremental = value != 0;
    else if (name == "leaf_distance") p.leaf_distance = value != 0;
    else if (name == "window_base") p.window_base = std::max(1, static_cast<int>(value));
    else if (name == "window_factor") p.window_factor = value;
    else if (name == "epsilon") p.epsilon = value;
    else throw std::invalid_argument("the solver has no parameter '" + name + "'");
  }
  return p;
}

SolveOptions options_of(bool all_moves, uint64_t limit_nodes, double limit_seconds, double table_mb, int threads,
                        const Settings& settings) {
  if (threads < 1) throw std::invalid_argument("threads must be at least 1, not " + std::to_string(threads));
  if (!(table_mb > 0 && table_mb <= kMostTableMb))
    throw std::invalid_argument("table_mb must be positive and at most " + std::to_string(kMostTableMb));
  if (!(limit_seconds >= 0)) throw std::invalid_argument("limit_seconds must not be negative");
  return {all_moves, limit_nodes, limit_seconds, static_cast<size_t>(table_mb * 1048576.0), threads,
          parameters_of(settings)};
}

// Runs without the GIL; about ten times a second the main thread takes it to look for Ctrl-C.
std::vector<Solution> run(const std::vector<SolvePosition>& positions, const SolveOptions& options) {
  std::atomic<bool> stop{false};
  const bool polls = SignalPoll::on_main_thread();
  bool raised = false;
  std::vector<Solution> solutions;
  {
    nb::gil_scoped_release release;
    solutions = solve_all(positions, options, stop, [&] {
      if (!polls || raised) return;
      nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) {
        raised = true;
        stop = true;
      }
    });
  }
  if (raised) {
    // what was proved by then travels with the KeyboardInterrupt, one Solution per position
    nb::python_error interrupt;
    nb::setattr(interrupt.value(), "solutions", nb::cast(solutions));
    throw interrupt;
  }
  return solutions;
}

}  // namespace

void bind_solver(nb::module_& m) {
  nb::class_<Solution>(m, "Solution", "What was proved of one position.")
      .def_prop_ro("winner", [](const Solution& s) { return name_of(s.winner); })
      .def_ro("winning_moves", &Solution::winning_moves)
      .def_ro("losing_moves", &Solution::losing_moves)
      .def_ro("unknown_moves", &Solution::unknown_moves)
      .def_ro("line", &Solution::line)
      .def_ro("proof", &Solution::proof)
      .def_ro("nodes", &Solution::nodes)
      .def_ro("expansions", &Solution::expansions)
      .def_ro("knowledge", &Solution::knowledge)
      .def_ro("cpu_seconds", &Solution::cpu_seconds)
      .def("__repr__", [](const Solution& s) { return "<Solution winner=" + name_of(s.winner) + ">"; });

  m.def(
      "solve",
      [](int size, std::vector<int> black, std::vector<int> white, std::string to_move, bool all_moves,
         uint64_t limit_nodes, double limit_seconds, double table_mb, int threads, const Settings& parameters) {
        return run({checked(size, {std::move(black), std::move(white), std::move(to_move)})},
                   options_of(all_moves, limit_nodes, limit_seconds, table_mb, threads, parameters))[0];
      },
      "size"_a, "black"_a, "white"_a, "to_move"_a, nb::kw_only(), "all_moves"_a = false, "limit_nodes"_a = 0,
      "limit_seconds"_a = 0.0, "table_mb"_a = 64.0, "threads"_a = 1,
      "parameters"_a = Settings{},
      "Prove who wins a position, and by which moves.");

  m.def(
      "solve_batch",
      [](int size, const std::vector<Stones>& positions, bool all_moves, uint64_t limit_nodes, double limit_seconds,
         double table_mb, int threads, const Settings& parameters) {
        std::vector<SolvePosition> list;
        for (const Stones& p : positions) list.push_back(checked(size, p));
        return run(list, options_of(all_moves, limit_nodes, limit_seconds, table_mb, threads, parameters));
      },
      "size"_a, "positions"_a, nb::kw_only(), "all_moves"_a = false, "limit_nodes"_a = 0, "limit_seconds"_a = 0.0,
      "table_mb"_a = 64.0, "threads"_a = 1,
      "parameters"_a = Settings{},
      "Solve many positions of one size, each from an empty table. Threads take different positions, each with a table of\n"
      "table_mb. What is proved of a position is used for those in the batch that lead to it by one move.");

  nb::class_<KnowledgeReport>(m, "Knowledge", "What is known of one position without search.")
      .def_ro("black", &KnowledgeReport::black)
      .def_ro("white", &KnowledgeReport::white)
      .def_ro("value", &KnowledgeReport::value)
      .def_ro("proof", &KnowledgeReport::proof)
      .def_ro("mustplay", &KnowledgeReport::mustplay)
      .def_ro("moves", &KnowledgeReport::moves);

  m.def(
      "ring_facts",
      [] {
        std::vector<std::tuple<bool, int, int>> facts;
        for (const LocalFacts& f : local_facts()) facts.emplace_back(f.dead, f.kill[kBlack], f.kill[kWhite]);
        return facts;
      },
      "For each of the 4,096 ring indices (bit d black, bit 6 + d white): dead, killers for Black, killers for White.");

  m.def(
      "knowledge",
      [](int size, std::vector<int> black, std::vector<int> white, std::string to_move, const Settings& parameters) {
        return report_knowledge(checked(size, {std::move(black), std::move(white), std::move(to_move)}),
                                parameters_of(parameters));
      },
      "size"_a, "black"_a, "white"_a, "to_move"_a, nb::kw_only(), "parameters"_a = Settings{},
      "Fill-in, connections and pruning at one position.");

  m.def(
      "connections",
      [](int size, std::vector<int> black, std::vector<int> white, std::string colour, const Settings& parameters) {
        const SolvePosition p = checked(size, {std::move(black), std::move(white), std::move(colour)});
        std::vector<std::tuple<int, int, bool, std::vector<int>>> found;
        for (Carrier& c : list_connections(p, p.to_move, parameters_of(parameters)))
          found.emplace_back(c.x, c.y, c.full, std::move(c.cells));
        return found;
      },
      "size"_a, "black"_a, "white"_a, "colour"_a, nb::kw_only(), "parameters"_a = Settings{},
      "Every (x, y, is full, carrier) of a colour; its edges are size*size and size*size + 1.");
}

}  // namespace hexdata
