// The Python face of what makes a dataset of games: dealing, folding, and the filter of decided positions.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <string>

#include "board.hpp"
#include "fold.hpp"
#include "inspect.hpp"
#include "to_numpy.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hexdata {

namespace {

using Fixed = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Cells = nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Records checked(int size, const Fixed& fixed, const Cells& cells, const Counts& counts) {
    check_size(size);
    const auto width = static_cast<std::size_t>(record_bytes(size));
    if (fixed.shape(1) != width)
        throw std::invalid_argument("records of a board of size " + std::to_string(size) + " have " +
                                    std::to_string(width) + " bytes, not " + std::to_string(fixed.shape(1)));
    return {size, fixed.shape(0), fixed.data(), {cells.data(), cells.shape(0)}, {counts.data(), counts.shape(0)}};
}

nb::tuple deal_records(int size, const Fixed& fixed, const Cells& cells, const Counts& counts, int bits) {
    const Records records = checked(size, fixed, cells, counts);
    Dealt dealt = [&] {
        const nb::gil_scoped_release release;
        return deal(records, bits);
    }();
    return nb::make_tuple(to_numpy(std::move(dealt.fixed), records.count, record_bytes(size)),
                          to_numpy(std::move(dealt.cells), records.cells.size(), 0),
                          to_numpy(std::move(dealt.counts), records.cells.size(), 0), to_numpy(std::move(dealt.starts)),
                          to_numpy(std::move(dealt.visit_starts)));
}

nb::dict fold_records(int size, const Fixed& fixed, const Cells& cells, const Counts& counts) {
    const Records records = checked(size, fixed, cells, counts);
    Folded rows = [&] {
        const nb::gil_scoped_release release;
        return fold(records);
    }();
    nb::dict result;
    result["key"] = to_numpy(std::move(rows.key));
    result["black"] = to_numpy(std::move(rows.black));
    result["white"] = to_numpy(std::move(rows.white));
    result["side"] = to_numpy(std::move(rows.side));
    result["white_to_move"] = to_numpy(std::move(rows.white_to_move));
    result["ply"] = to_numpy(std::move(rows.ply));
    result["first_shard"] = to_numpy(std::move(rows.first_shard));
    result["plies_left_sum"] = to_numpy(std::move(rows.plies_left_sum));
    result["z_sum"] = to_numpy(std::move(rows.z_sum));
    result["games"] = to_numpy(std::move(rows.games));
    result["sampled_count"] = to_numpy(std::move(rows.sampled_count));
    result["policy_offsets"] = to_numpy(std::move(rows.policy_offsets));
    result["policy_cells"] = to_numpy(std::move(rows.policy_cells));
    result["policy_visits"] = to_numpy(std::move(rows.policy_visits));
    result["played_offsets"] = to_numpy(std::move(rows.played_offsets));
    result["played_cells"] = to_numpy(std::move(rows.played_cells));
    result["played_counts"] = to_numpy(std::move(rows.played_counts));
    return result;
}

std::vector<int> cells_of(const std::uint8_t* packed, int cells) {
    std::vector<int> found;
    for (int cell = 0; cell < cells; ++cell)
        if (packed[cell >> 3] >> (cell & 7) & 1) found.push_back(cell);
    return found;
}

nb::object winning_connections_of(int size, const Fixed& black, const Fixed& white) {
    check_size(size);
    const auto width = static_cast<std::size_t>(packed_bytes(size));
    if (black.shape(1) != width || white.shape(1) != width || black.shape(0) != white.shape(0))
        throw std::invalid_argument("black and white must both have the shape [P, " + std::to_string(width) +
                                    "] for a board of size " + std::to_string(size));
    std::vector<std::uint8_t> found = [&] {
        const nb::gil_scoped_release release;
        winners({size, black.shape(0), black.data(), white.data()});  // refuses stones that cannot be on a board
        std::vector<proof::SolvePosition> positions;
        for (std::size_t row = 0; row < black.shape(0); ++row)
            positions.push_back({size, cells_of(black.data() + row * width, size * size),
                                 cells_of(white.data() + row * width, size * size), proof::kBlack});
        return proof::winning_connections(positions, {});
    }();
    return to_numpy(std::move(found));
}

}  // namespace

void bind_fold(nb::module_& m) {
    m.def("deal", &deal_records, "size"_a, "records"_a, "cells"_a, "counts"_a, "bits"_a);
    m.def("fold", &fold_records, "size"_a, "records"_a, "cells"_a, "counts"_a);
    m.def("winning_connections", &winning_connections_of, "size"_a, "black"_a, "white"_a);
}

}  // namespace hexdata
