// The Python face of the auditor.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "auditor.hpp"
#include "signal_poll.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hexdata {

namespace {

audit::Reproof checked_reprove(int size, const std::vector<int>& black, const std::vector<int>& white,
                               const std::string& to_move, bool all_moves, std::uint64_t limit_nodes) {
    if (size < 2 || size > 19) throw std::invalid_argument("size must be 2 to 19, not " + std::to_string(size));
    if (to_move != "black" && to_move != "white")
        throw std::invalid_argument("to_move must be 'black' or 'white', not '" + to_move + "'");
    std::vector<bool> taken(static_cast<std::size_t>(size * size));
    for (const auto* cells : {&black, &white})
        for (const int cell : *cells) {
            if (cell < 0 || cell >= size * size)
                throw std::invalid_argument("cell " + std::to_string(cell) + " is not on a board of size " +
                                            std::to_string(size));
            if (taken[cell]) throw std::invalid_argument("cell " + std::to_string(cell) + " holds more than one stone");
            taken[cell] = true;
        }
    const int empty = size * size - static_cast<int>(black.size() + white.size());
    if (empty > audit::kMostEmpty)
        throw std::invalid_argument(std::to_string(empty) + " cells are empty, expected at most " +
                                    std::to_string(audit::kMostEmpty));
    SignalPoll poll;
    const nb::gil_scoped_release release;
    return audit::reprove(size, black, white, to_move == "white", all_moves, limit_nodes, poll);
}

}  // namespace

void bind_auditor(nb::module_& m) {
    nb::class_<audit::Reproof>(m, "Reproof")
        .def_prop_ro("winner",
                     [](const audit::Reproof& r) {
                         return std::string(r.winner == 0 ? "black" : r.winner == 1 ? "white" : "unknown");
                     })
        .def_ro("winning_moves", &audit::Reproof::winning_moves)
        .def_ro("losing_moves", &audit::Reproof::losing_moves)
        .def_ro("unknown_moves", &audit::Reproof::unknown_moves)
        .def_ro("nodes", &audit::Reproof::nodes);

    m.def("reprove", &checked_reprove, "size"_a, "black"_a, "white"_a, "to_move"_a, nb::kw_only(),
          "all_moves"_a = false, "limit_nodes"_a);
    m.attr("REPROVE_MOST_EMPTY") = audit::kMostEmpty;
}

}  // namespace hexdata
