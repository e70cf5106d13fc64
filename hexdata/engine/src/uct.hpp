// The `uct` player: UCB1 over a tree of win counts, one bridge-saving playout per descent. No knowledge, no RAVE: the
// plain yardstick that the other players are measured against, and the generator of first data.
#pragma once

#include <cstdint>
#include <vector>

#include "player.hpp"
#include "playout.hpp"

namespace hexdata {

class UctPlayer final : public Player {
public:
    // Takes `playouts` or `seconds`, and `exploration` out of spec.
    explicit UctPlayer(PlayerSpec& spec);

    void think(const Board& board, Rng& rng, const Poll& poll, Thought& thought) override;

private:
    using Point = PlayoutBoard::Point;

    // The children of one node lie side by side, padded to whole groups of kLanes so that selection runs over full
    // vectors. The tree of one move lives in these arrays and is forgotten before the next: an inherited tree would
    // make the visits depend on the moves before. 24 bytes a child, at most about kMaxChildren of them.
    struct Tree {
        // What selection reads: the win rate and 1/sqrt(visits), kept up to date at each visit.
        std::vector<float> mean;
        std::vector<float> spread;
        std::vector<std::uint32_t> visits;
        std::vector<std::uint32_t> wins;  // of the side that makes the move
        std::vector<std::uint32_t> first_child;
        std::vector<Point> move;  // kNoPoint in the padding
        std::vector<std::uint16_t> groups;

        void clear();
        std::size_t size() const { return move.size(); }
    };

    // Appends the children of a node; the reply that saves a bridge comes first, the rest in random order.
    std::uint32_t expand(const PlayoutBoard& board, Point last, int mover, Rng& rng, std::uint16_t& groups);
    std::uint32_t select(std::uint32_t first, std::uint16_t groups, std::uint32_t parent_visits) const;
    void record(std::uint32_t child, bool won);

    PlayerSpec::Budget budget_;
    double exploration_;
    std::vector<float> log_term_;  // exploration * sqrt(ln visits), for visits below its size
    Tree tree_;
    std::vector<Point> points_;
    std::vector<Point> order_;
    std::vector<std::uint32_t> path_;
};

}  // namespace hexdata
