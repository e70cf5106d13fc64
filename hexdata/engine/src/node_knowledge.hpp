// What the players ask of the proof code: fill-in, connections and resistance of one position at a time. The only file of
// the players that names the solver's types; one class per word count stands behind it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "board.hpp"

namespace hexdata {

// Both colours' stones by row: bit c of [colour][r]. 152 bytes.
using StoneRows = std::array<Rows, 2>;

StoneRows stone_rows(const Board& board);

// For the side to move.
enum class Value : std::uint8_t { open, win, loss };

class NodeKnowledge {
public:
    virtual ~NodeKnowledge() = default;

    // Gives dead and captured cells to their owners, which changes no value. `candidates` are the empty cells that are
    // left, without those that `mover` need not try because the opponent's reply kills the stone. The answer is open
    // unless a chain is complete or no candidate is left.
    virtual Value fill(StoneRows& stones, int mover, Rows& candidates) = 0;

    // Stones as fill leaves them. If open, `moves` are the only ones worth trying, best first by resistance.
    virtual Value evaluate(const StoneRows& filled, int mover, std::vector<Cell>& moves) = 0;

    // A move after which evaluate says that the opponent has lost; nothing if there is none, even if the position is
    // won.
    virtual std::optional<Cell> winning_move(const StoneRows& stones, int mover) = 0;

    // Who is ahead in resistance: -1..1 for the mover, and 1 or -1 exactly if the answer is not open. Stones as fill
    // leaves them.
    virtual Value weigh(const StoneRows& filled, int mover, float& score) = 0;

    // All empty cells, those that carry the most current of both colours first; cells that fill-in takes come last.
    virtual void order(const StoneRows& stones, std::vector<Cell>& cells) = 0;
};

// About 0.2 MB on 8x8, 5 MB on 13x13.
std::unique_ptr<NodeKnowledge> make_node_knowledge(int size);

}  // namespace hexdata
