// The Python face of the engine: every function here is one call that does a whole batch of work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "batch.hpp"
#include "board.hpp"
#include "pattern_candidates.hpp"
#include "patterns.hpp"
#include "selfplay.hpp"
#include "signal_poll.hpp"
#include "to_numpy.hpp"

namespace nb = nanobind;

namespace hexdata {

namespace {

using ByteRows = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Moves = nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Colour parse_colour(const std::string& text) {
    if (text == "black") return Colour::black;
    if (text == "white") return Colour::white;
    throw std::invalid_argument("a colour must be 'black' or 'white', not '" + text + "'");
}

nb::bytes to_bytes(Key key) {
    const KeyBytes bytes = big_endian(key);
    return nb::bytes(bytes.data(), bytes.size());
}

PackedPositions packed_positions(int size, const ByteRows& black, const ByteRows& white) {
    check_size(size);
    const auto width = static_cast<std::size_t>(packed_bytes(size));
    if (black.shape(1) != width || white.shape(1) != width || black.shape(0) != white.shape(0))
        throw std::invalid_argument("black and white must both have the shape [P, " + std::to_string(width) +
                                    "] for a board of size " + std::to_string(size));
    return {size, black.shape(0), black.data(), white.data()};
}

nb::object keys(int size, const ByteRows& black, const ByteRows& white, const Bytes& to_move) {
    const PackedPositions positions = packed_positions(size, black, white);
    if (to_move.shape(0) != positions.count)
        throw std::invalid_argument("to_move must have one entry per position (" + std::to_string(positions.count) +
                                    "), not " + std::to_string(to_move.shape(0)));
    PositionKeys result = [&] {
        const nb::gil_scoped_release release;
        return key_positions(positions, to_move.data());
    }();
    return nb::make_tuple(to_numpy(std::move(result.orbit_keys), positions.count, 16),
                          to_numpy(std::move(result.symmetry), positions.count, 0));
}

nb::object winners_of(int size, const ByteRows& black, const ByteRows& white) {
    const PackedPositions positions = packed_positions(size, black, white);
    Column<std::uint8_t> result = [&] {
        const nb::gil_scoped_release release;
        return winners(positions);
    }();
    return to_numpy(std::move(result), positions.count, 0);
}

nb::object transform(int size, int symmetry) {
    check_size(size);
    if (symmetry < 0 || symmetry > 3)
        throw std::invalid_argument("the symmetry must be 0 to 3, not " + std::to_string(symmetry));
    std::vector<std::uint16_t> cells;
    for (int cell = 0; cell < size * size; ++cell)
        cells.push_back(static_cast<std::uint16_t>(image_cell(size, symmetry, cell)));
    return to_numpy(std::move(cells));
}

nb::dict replay(int size, const Moves& moves, const Offsets& offsets) {
    ReplayedGames games = [&] {
        const nb::gil_scoped_release release;
        return replay_games(size, {moves.data(), moves.shape(0)}, {offsets.data(), offsets.shape(0)});
    }();
    const std::size_t positions = moves.shape(0);
    const auto width = static_cast<std::size_t>(packed_bytes(size));
    nb::dict result;
    result["orbit_keys"] = to_numpy(std::move(games.orbit_keys), positions, 16);
    result["symmetry"] = to_numpy(std::move(games.symmetry), positions, 0);
    result["black"] = to_numpy(std::move(games.black), positions, width);
    result["white"] = to_numpy(std::move(games.white), positions, width);
    result["to_move"] = to_numpy(std::move(games.to_move), positions, 0);
    result["winner"] = to_numpy(std::move(games.winner), offsets.shape(0) - 1, 0);
    return result;
}

nb::dict thought_dict(const Thought& thought) {
    std::vector<std::uint16_t> cells;
    std::vector<std::uint32_t> counts;
    for (const Visits& v : thought.visits) {
        cells.push_back(v.cell);
        counts.push_back(v.count);
    }
    nb::dict result;
    result["best"] = nb::int_(thought.best);
    result["budget"] = nb::int_(thought.budget);
    result["value"] = nb::float_(thought.value);
    result["visit_cells"] = to_numpy(std::move(cells));
    result["visit_counts"] = to_numpy(std::move(counts));
    return result;
}

nb::dict search(const Board& board, const std::string& player, std::uint64_t seed) {
    const Poll poll = SignalPoll();
    // Another thread may play on the board meanwhile.
    const Board position = board;
    const Thought thought = [&] {
        const nb::gil_scoped_release release;
        return think_once(position, player, seed, poll);
    }();
    return thought_dict(thought);
}

// A side of a live game. Python's threads may share it, but only one at a time may ask it to think.
class LivePlayer {
public:
    LivePlayer(const std::string& player, std::uint64_t seed) : side_(player, seed) {}

    void new_game(std::uint64_t seed) {
        const Turn turn(thinking_);
        side_.new_game(seed);
    }

    nb::dict choose(const Board& board, double temperature) {
        const Turn turn(thinking_);
        const Poll poll = SignalPoll();
        // Another thread may play on the board meanwhile.
        const Board position = board;
        Thought thought;
        const Side::Choice choice = [&] {
            const nb::gil_scoped_release release;
            return side_.choose(position, temperature, poll, thought);
        }();
        nb::dict result = thought_dict(thought);
        result["move"] = nb::int_(choice.move);
        result["sampled"] = nb::bool_(choice.sampled);
        return result;
    }

private:
    class Turn {
    public:
        explicit Turn(std::atomic<bool>& thinking) : thinking_(thinking) {
            if (thinking_.exchange(true)) throw std::invalid_argument("the player is already thinking");
        }
        ~Turn() { thinking_ = false; }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        std::atomic<bool>& thinking_;
    };

    std::atomic<bool> thinking_ = false;
    Side side_;
};

std::vector<nb::tuple> settings_of(const std::string& player) {
    std::vector<nb::tuple> result;
    for (const Setting& setting : player_settings(player))
        result.push_back(nb::make_tuple(setting.key, setting.value, setting.is_switch));
    return result;
}

nb::dict play_games_of(int size, const std::string& black, const std::string& white,
                       const std::vector<std::vector<int>>& openings, const std::vector<std::uint64_t>& seeds,
                       int dither_moves, double temperature, std::uint64_t end_nodes) {
    const Poll poll = SignalPoll();
    GameRecords games = [&] {
        const nb::gil_scoped_release release;
        return play_games(size, black, white, openings, seeds, {dither_moves, temperature}, end_nodes, poll);
    }();
    nb::dict result;
    result["moves"] = to_numpy(std::move(games.moves));
    result["offsets"] = to_numpy(std::move(games.offsets));
    result["winner"] = to_numpy(std::move(games.winner));
    result["ended_by"] = to_numpy(std::move(games.ended_by));
    result["budget"] = to_numpy(std::move(games.budget));
    result["root_value"] = to_numpy(std::move(games.root_value));
    result["sampled"] = to_numpy(std::move(games.sampled));
    result["visit_offsets"] = to_numpy(std::move(games.visit_offsets));
    result["visit_cells"] = to_numpy(std::move(games.visit_cells));
    result["visit_counts"] = to_numpy(std::move(games.visit_counts));
    return result;
}

nb::dict pattern_candidates_of(int size, const Moves& moves, const Offsets& offsets, bool filled) {
    PatternCandidates found = [&] {
        const nb::gil_scoped_release release;
        return pattern_candidates(size, {moves.data(), moves.shape(0)}, {offsets.data(), offsets.shape(0)}, filled);
    }();
    nb::dict result;
    result["offsets"] = to_numpy(std::move(found.offsets));
    result["cells"] = to_numpy(std::move(found.cells));
    result["codes"] = to_numpy(std::move(found.codes));
    result["replies"] = to_numpy(std::move(found.replies));
    result["bridge"] = to_numpy(std::move(found.bridge));
    return result;
}

void load_patterns(const nb::bytes& file) {
    Patterns::load({static_cast<const std::uint8_t*>(file.data()), file.size()});
}

}  // namespace

void bind_auditor(nb::module_& m);
void bind_fold(nb::module_& m);
void bind_solver(nb::module_& m);

}  // namespace hexdata

NB_MODULE(_core, m) {
    using namespace hexdata;
    m.doc() = "hexdata's C++ core";
    m.attr("BUILT_VERSION") = HEXDATA_ENGINE_VERSION;

    nb::class_<Board>(m, "Board")
        .def(nb::init<int>(), nb::arg("size"))
        .def_prop_ro("size", &Board::size)
        .def_prop_ro("to_move", [](const Board& board) { return name_of(board.to_move()); })
        .def_prop_ro("moves", [](const Board& board) { return board.moves(); })
        .def(
            "play",
            [](Board& board, int cell, const std::optional<std::string>& colour) {
                board.play(cell, colour ? parse_colour(*colour) : board.to_move());
            },
            nb::arg("cell"), nb::arg("colour") = nb::none())
        .def("undo", &Board::undo)
        .def(
            "give_turn", [](Board& board, const std::string& colour) { board.give_turn(parse_colour(colour)); },
            nb::arg("colour"))
        .def("winner",
             [](const Board& board) -> std::optional<std::string> {
                 if (!board.winner()) return std::nullopt;
                 return name_of(*board.winner());
             })
        .def("legal", &Board::legal)
        .def("black", [](const Board& board) { return board.stones(Colour::black); })
        .def("white", [](const Board& board) { return board.stones(Colour::white); })
        .def("key", [](const Board& board) { return to_bytes(board.image_keys()[0]); })
        .def("orbit_key", [](const Board& board) { return to_bytes(orbit_key(board.image_keys())); });

    nb::class_<LivePlayer>(m, "Player")
        .def(nb::init<const std::string&, std::uint64_t>(), nb::arg("player"), nb::arg("seed"))
        .def("new_game", &LivePlayer::new_game, nb::arg("seed"))
        .def("choose", &LivePlayer::choose, nb::arg("board"), nb::kw_only(), nb::arg("temperature") = 0.0);

    m.def("player_settings", &settings_of, nb::arg("player"));
    m.def("keys", &keys, nb::arg("size"), nb::arg("black"), nb::arg("white"), nb::arg("to_move"));
    m.def("winners", &winners_of, nb::arg("size"), nb::arg("black"), nb::arg("white"));
    m.def("transform", &transform, nb::arg("size"), nb::arg("symmetry"));
    m.def("replay", &replay, nb::arg("size"), nb::arg("moves"), nb::arg("offsets"));
    m.def("search", &search, nb::arg("board"), nb::arg("player"), nb::arg("seed"));
    m.def("play_games", &play_games_of, nb::arg("size"), nb::arg("black"), nb::arg("white"), nb::arg("openings"),
          nb::arg("seeds"), nb::kw_only(), nb::arg("dither_moves"), nb::arg("temperature"),
          nb::arg("end_nodes") = 0);
    m.def("pattern_candidates", &pattern_candidates_of, nb::arg("size"), nb::arg("moves"), nb::arg("offsets"),
          nb::arg("filled"));
    m.def("load_patterns", &load_patterns, nb::arg("file"));
    bind_auditor(m);
    bind_fold(m);
    bind_solver(m);
}
