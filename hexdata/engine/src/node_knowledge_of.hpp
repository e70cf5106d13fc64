// NodeKnowledge for one number of words.
#pragma once

#include <algorithm>

#include "knowledge.hpp"
#include "node_knowledge.hpp"

namespace hexdata {

template <int W>
class NodeKnowledgeOf final : public NodeKnowledge {
public:
    explicit NodeKnowledgeOf(int size) : g_(size), knowledge_(g_, proof::for_players()) {}

    Value fill(StoneRows& stones, int mover, Rows& candidates) override;
    Value evaluate(const StoneRows& filled, int mover, std::vector<Cell>& moves) override;
    std::optional<Cell> winning_move(const StoneRows& stones, int mover) override;
    Value weigh(const StoneRows& filled, int mover, float& score) override;
    void order(const StoneRows& stones, std::vector<Cell>& cells) override;

private:
    using Set = proof::Bits<W>;
    using Position = proof::Position<W>;
    using Stop = typename proof::Connections<W>::Stop;

    Set set_of(const Rows& rows) const;
    Rows rows_of(const Set& set) const;
    Position position(const StoneRows& stones) const { return {g_, set_of(stones[0]), set_of(stones[1])}; }
    Position filled(const StoneRows& stones) const;
    // Connections are for undecided positions: if fill-in completes a chain, the bare one.
    Position undecided(const StoneRows& stones) const;
    Value evaluate(const Position& p, proof::Colour mover);

    proof::Geometry<W> g_;
    proof::Knowledge<W> knowledge_;
    proof::Verdict<W> verdict_;
};

template <int W>
typename NodeKnowledgeOf<W>::Set NodeKnowledgeOf<W>::set_of(const Rows& rows) const {
    Set set;
    for (int r = 0; r < g_.size; ++r) {
        const int at = r * g_.size;
        // A row may begin in one word and end in the next; there is always a next, the remainder only tells the
        // compiler.
        set.w[at / 64] |= std::uint64_t{rows[r]} << (at % 64);
        if (W > 1 && at % 64 + g_.size > 64) set.w[(at / 64 + 1) % W] |= std::uint64_t{rows[r]} >> (64 - at % 64);
    }
    return set;
}

template <int W>
Rows NodeKnowledgeOf<W>::rows_of(const Set& set) const {
    Rows rows{};
    const std::uint32_t line = (1u << g_.size) - 1;
    for (int r = 0; r < g_.size; ++r) {
        const int at = r * g_.size;
        std::uint64_t bits = set.w[at / 64] >> (at % 64);
        if (W > 1 && at % 64 + g_.size > 64) bits |= set.w[(at / 64 + 1) % W] << (64 - at % 64);
        rows[r] = static_cast<std::uint32_t>(bits) & line;
    }
    return rows;
}

template <int W>
typename NodeKnowledgeOf<W>::Position NodeKnowledgeOf<W>::filled(const StoneRows& stones) const {
    Position p = position(stones);
    proof::Fill<W> fill;
    proof::fill_in(g_, p, g_.all, fill);
    return p;
}

template <int W>
typename NodeKnowledgeOf<W>::Position NodeKnowledgeOf<W>::undecided(const StoneRows& stones) const {
    const Position p = filled(stones);
    const bool over = g_.joins(proof::kBlack, p.stones[0]) || g_.joins(proof::kWhite, p.stones[1]);
    return over ? position(stones) : p;
}

template <int W>
Value NodeKnowledgeOf<W>::fill(StoneRows& stones, int mover, Rows& candidates) {
    const Position p = filled(stones);
    stones = {rows_of(p.stones[0]), rows_of(p.stones[1])};
    const auto colour = static_cast<proof::Colour>(mover);
    candidates = {};
    if (g_.joins(colour, p.stones[mover])) return Value::win;
    if (g_.joins(proof::other(colour), p.stones[1 - mover])) return Value::loss;
    const Set left = p.empty(g_) - proof::vulnerable(g_, p, colour);
    candidates = rows_of(left);
    return left.none() ? Value::loss : Value::open;
}

template <int W>
Value NodeKnowledgeOf<W>::evaluate(const Position& p, proof::Colour mover) {
    knowledge_.evaluate(p, mover, verdict_);
    using Verdict = typename proof::Verdict<W>::Value;
    return verdict_.value == Verdict::kWin ? Value::win : verdict_.value == Verdict::kLoss ? Value::loss : Value::open;
}

template <int W>
Value NodeKnowledgeOf<W>::evaluate(const StoneRows& filled, int mover, std::vector<Cell>& moves) {
    const Value value = evaluate(position(filled), static_cast<proof::Colour>(mover));
    moves.assign(verdict_.moves.begin(), verdict_.moves.end());
    return value;
}

template <int W>
std::optional<Cell> NodeKnowledgeOf<W>::winning_move(const StoneRows& stones, int mover) {
    const auto colour = static_cast<proof::Colour>(mover);
    const Position raw = position(stones);
    const Position p = filled(stones);
    const Value value = evaluate(p, colour);
    std::vector<int> tries;
    if (value == Value::win) {
        // The key of a connection lies in its carrier; a chain that fill-in completes is made real stone by stone. Where
        // many moves win, the one that carries the most current ends the game soon.
        const Set empty = raw.empty(g_);
        const Set likely = (verdict_.proof.any() ? verdict_.proof : p.stones[mover]) & empty;
        std::array<float, proof::Geometry<W>::kMaxCells> currents{};
        proof::add_currents(g_, knowledge_.connect(undecided(stones), colour, Stop::kNever), currents);
        for (const Set& part : {likely, empty - likely}) {
            const auto begin = static_cast<std::ptrdiff_t>(tries.size());
            part.for_each([&](int cell) { tries.push_back(cell); });
            std::stable_sort(tries.begin() + begin, tries.end(),
                             [&](int a, int b) { return currents[a] > currents[b]; });
        }
    } else if (value == Value::open && verdict_.moves.size() == 1) {
        // Of an only move the evaluation does not ask whether it wins.
        tries = verdict_.moves;
    }
    for (const int cell : tries) {
        Position next = raw;
        proof::Fill<W> fill;
        next.place(g_, cell, colour);
        proof::fill_in(g_, next, g_.all, fill);
        if (evaluate(next, proof::other(colour)) == Value::loss) return static_cast<Cell>(cell);
    }
    return std::nullopt;
}

template <int W>
Value NodeKnowledgeOf<W>::weigh(const StoneRows& filled, int mover, float& score) {
    const Position p = position(filled);
    const auto colour = static_cast<proof::Colour>(mover);
    const auto decided = [&](Value value) {
        score = value == Value::win ? 1.0F : -1.0F;
        return value;
    };
    if (g_.joins(colour, p.stones[mover])) return decided(Value::win);
    if (g_.joins(proof::other(colour), p.stones[1 - mover])) return decided(Value::loss);
    const auto& theirs = knowledge_.connect(p, proof::other(colour), Stop::kFull);
    if (theirs.has_full()) return decided(Value::loss);
    const auto& ours = knowledge_.connect(p, colour, Stop::kSemi);
    if (ours.has_full() || ours.has_semi()) return decided(Value::win);
    std::array<float, proof::Geometry<W>::kMaxCells> currents{};
    const float own = proof::add_currents(g_, ours, currents);
    const float opposed = proof::add_currents(g_, theirs, currents);
    score = own + opposed > 0 ? (own - opposed) / (own + opposed) : 0.0F;
    return Value::open;
}

template <int W>
void NodeKnowledgeOf<W>::order(const StoneRows& stones, std::vector<Cell>& cells) {
    const Position p = undecided(stones);
    std::array<float, proof::Geometry<W>::kMaxCells> currents{};
    for (const proof::Colour colour : {proof::kBlack, proof::kWhite})
        proof::add_currents(g_, knowledge_.connect(p, colour, Stop::kNever), currents);
    const Set open = p.empty(g_);
    cells.clear();
    position(stones).empty(g_).for_each([&](int cell) {
        cells.push_back(static_cast<Cell>(cell));
        if (!open.test(cell)) currents[cell] = -1.0F;
    });
    std::ranges::stable_sort(cells, [&](Cell a, Cell b) { return currents[a] > currents[b]; });
}

extern template class NodeKnowledgeOf<1>;
extern template class NodeKnowledgeOf<2>;
extern template class NodeKnowledgeOf<3>;
extern template class NodeKnowledgeOf<6>;

}  // namespace hexdata
