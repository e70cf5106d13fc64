// The `mohex` player: tree search with RAVE and pattern priors, playouts by patterns, and the solver's knowledge at nodes
// that are visited often (Huang, Arneson, Hayward, Müller and Pawlewicz 2013). `mohex-2011` is the same search without
// pattern weights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "node_knowledge.hpp"
#include "pattern_board.hpp"
#include "player.hpp"

namespace hexdata {

// How a child is chosen: the RAVE formula with progressive bias, or PUCT.
enum class Selection : std::uint8_t { rave, puct };

class MohexPlayer final : public Player {
public:
    // Takes its parameters out of spec. `patterns` are both the prior and the playout policy.
    MohexPlayer(PlayerSpec& spec, std::shared_ptr<const Patterns> patterns);

    void new_game() override;
    void think(const Board& board, Rng& rng, const Poll& poll, Thought& thought) override;

private:
    using Point = PatternBoard::Point;

    struct FillStone {
        Point point;
        std::uint8_t colour;
    };

    // The rarely read part of a node: 20 bytes.
    struct Node {
        std::uint32_t first_child = 0;
        std::uint32_t first_fill = 0;
        std::uint16_t groups = 0;     // of children; 0 if not expanded
        std::uint16_t open = 0;       // children that may still win
        std::uint16_t fills = 0;      // stones that fill-in adds to those above it
        Value value = Value::open;    // for the side to move
        bool known = false;           // has its knowledge
    };

    // A node is named by its place; the children of one node lie side by side, padded to whole groups of kLanes so that
    // selection runs over full vectors. Counts are whole numbers in floats, exact to 2^24. 42 bytes a node, at most
    // about kMaxNodes of them; lives from move to move if the subtree is reused.
    struct Tree {
        std::vector<float> visits;
        std::vector<float> wins;  // of the side that makes the move
        std::vector<float> rave_visits;
        std::vector<float> rave_wins;
        std::vector<float> prior;  // kClosed if the move is known to lose or need not be tried
        std::vector<Point> move;   // kNoPoint in the padding
        std::vector<Node> nodes;
        std::vector<FillStone> fills;

        std::uint32_t append(std::size_t count);
        void clear();
        std::uint32_t size() const { return static_cast<std::uint32_t>(nodes.size()); }
    };

    static float take_bias(PlayerSpec& spec, Selection selection);

    void prepare_root(const Board& board, Rng& rng);
    bool reuse_subtree(const Board& board, const StoneRows& stones);
    void iterate(Rng& rng);
    void expand(std::uint32_t index, PatternBoard& state, int mover, Point last, Rng& rng);
    void set_priors(std::span<float> priors, const PatternBoard& state, int mover, Point last) const;
    float leaf_value(PatternBoard& state, int mover, Point last, Rng& rng) const;
    void analyse(std::uint32_t index, const StoneRows& stones, int mover);
    void settle();
    void close(std::uint32_t parent, std::uint32_t child);
    std::uint32_t select(std::uint32_t index, Rng& rng) const;
    template <typename Score>
    std::uint32_t best_child(const Node& node, Score&& score) const;
    void back_up(const PatternBoard& state, float black);
    void add_noise(Rng& rng);
    bool play_without_search(const Board& board, Thought& thought);
    void search(Rng& rng, const Poll& poll, std::uint32_t budget, Thought& thought);
    bool leader_is_safe(double remaining) const;
    bool is_unstable() const;
    void report(Thought& thought) const;

    PlayerSpec::Budget budget_;
    Selection selection_;
    float bias_;  // of RAVE's formula
    std::uint32_t expand_after_;
    std::uint32_t knowledge_after_;  // 0 = never
    bool reuse_;
    bool early_stop_;
    bool extend_;
    double noise_;
    double noise_shape_;
    std::shared_ptr<const Patterns> patterns_;

    // The position of the last thought, which the tree's root is.
    int size_ = 0;
    std::vector<Cell> history_;
    StoneRows stones_{};
    int root_mover_ = 0;
    Point root_last_ = PatternBoard::kNoPoint;
    std::vector<FillStone> root_fills_;

    std::unique_ptr<NodeKnowledge> knowledge_;
    std::unique_ptr<PatternBoard> root_state_;
    Tree tree_;
    Rows filled_{};  // by fill-in below the root, in the current descent
    std::vector<std::uint32_t> path_;
    std::vector<Cell> moves_;
    std::vector<Point> points_;
};

}  // namespace hexdata
