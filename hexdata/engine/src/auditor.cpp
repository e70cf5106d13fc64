#include "auditor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace hexdata::audit {

namespace {

using Cells = std::uint32_t;  // a set of the root's empty cells, in the order of the board
using Number = std::uint32_t;

constexpr Number kInfinite = 1u << 30;

// Proof and disproof number for the side to move: one is 0 once the position is solved.
struct Numbers {
    Number proof, disproof;
    bool solved() const { return proof == 0 || disproof == 0; }
};

// Every position that was expanded, under its exact stones, for the length of one call: 16 bytes each, in two
// to four times the room.
class Seen {
public:
    Seen() : entries_(1 << 12, Entry{kFree, {}}) {}

    const Numbers* find(std::uint64_t key) const {
        const Entry& entry = entries_[slot(key)];
        return entry.key == key ? &entry.numbers : nullptr;
    }

    void store(std::uint64_t key, Numbers numbers) {
        Entry& entry = entries_[slot(key)];
        if (entry.key == kFree) ++count_;
        entry = {key, numbers};
        if (2 * count_ > entries_.size()) grow();
    }

private:
    static constexpr std::uint64_t kFree = ~0ull;  // a cell cannot hold both colours
    struct Entry {
        std::uint64_t key;
        Numbers numbers;
    };

    std::size_t slot(std::uint64_t key) const {
        std::uint64_t mixed = key * 0x9e3779b97f4a7c15ull;
        mixed ^= mixed >> 32;
        std::size_t at = mixed & (entries_.size() - 1);
        while (entries_[at].key != key && entries_[at].key != kFree) at = (at + 1) & (entries_.size() - 1);
        return at;
    }

    void grow() {
        std::vector<Entry> old(2 * entries_.size(), Entry{kFree, {}});
        old.swap(entries_);
        for (const Entry& entry : old)
            if (entry.key != kFree) entries_[slot(entry.key)] = entry;
    }

    std::vector<Entry> entries_;
    std::size_t count_ = 0;
};

// The root as each colour sees it: which empty cells touch each other or the same chain of its stones, and which touch
// its two sides, directly or through a chain.
struct View {
    std::array<Cells, kMostEmpty> touches{};
    Cells first_side = 0, second_side = 0;
    bool joined = false;  // by the stones alone
};

class Search {
public:
    Search(int size, const std::vector<int>& black, const std::vector<int>& white, std::uint64_t limit_nodes,
           const std::function<void()>& poll)
        : size_(size), board_(static_cast<std::size_t>(size * size), -1), limit_(limit_nodes), poll_(poll) {
        for (const int cell : black) board_[cell] = 0;
        for (const int cell : white) board_[cell] = 1;
        for (int cell = 0; cell < size * size; ++cell)
            if (board_[cell] < 0) empty_.push_back(cell);
        all_ = empty_.size() == 32 ? ~Cells{0} : (Cells{1} << empty_.size()) - 1;
        for (const int colour : {0, 1}) look(colour);
    }

    Reproof run(int mover, bool all_moves) {
        Reproof result;
        for (const int colour : {0, 1})
            if (views_[colour].joined) {
                result.winner = colour;
                return result;
            }
        const Stones none{};
        const Numbers root = solve(none, mover);
        if (root.solved()) result.winner = root.proof == 0 ? mover : 1 - mover;
        for (std::size_t i = 0; i < empty_.size(); ++i) {
            const Numbers answer = all_moves ? solve(play(none, mover, i), 1 - mover) : Numbers{1, 1};
            (answer.disproof == 0 ? result.winning_moves : answer.proof == 0 ? result.losing_moves : result.unknown_moves)
                .push_back(empty_[i]);
        }
        result.nodes = nodes_;
        return result;
    }

private:
    using Stones = std::array<Cells, 2>;  // played since the root, per colour

    static Stones play(Stones stones, int colour, std::size_t move) {
        stones[colour] |= Cells{1} << move;
        return stones;
    }

    std::vector<int> neighbours(int cell) const {
        const int row = cell / size_, column = cell % size_;
        std::vector<int> found;
        for (const auto& [dr, dc] : {std::pair{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}})
            if (row + dr >= 0 && row + dr < size_ && column + dc >= 0 && column + dc < size_)
                found.push_back((row + dr) * size_ + column + dc);
        return found;
    }

    // The cell and every stone of the colour that a chain from it reaches.
    std::vector<int> chain_from(int cell, int colour) const {
        std::vector<int> chain{cell};
        for (std::size_t i = 0; i < chain.size(); ++i)
            for (const int next : neighbours(chain[i]))
                if (board_[next] == colour && std::find(chain.begin(), chain.end(), next) == chain.end())
                    chain.push_back(next);
        return chain;
    }

    void look(int colour) {
        View& view = views_[colour];
        const auto across = [&](int cell) { return colour == 0 ? cell / size_ : cell % size_; };
        const auto reaches = [&](const std::vector<int>& chain, int line) {
            return std::any_of(chain.begin(), chain.end(), [&](int cell) { return across(cell) == line; });
        };
        for (int cell = 0; cell < size_ * size_; ++cell)
            if (board_[cell] == colour && across(cell) == 0 && reaches(chain_from(cell, colour), size_ - 1))
                view.joined = true;
        for (std::size_t i = 0; i < empty_.size(); ++i) {
            const std::vector<int> chain = chain_from(empty_[i], colour);
            if (reaches(chain, 0)) view.first_side |= Cells{1} << i;
            if (reaches(chain, size_ - 1)) view.second_side |= Cells{1} << i;
            for (const int cell : chain)
                for (const int next : neighbours(cell)) {
                    const auto at = std::lower_bound(empty_.begin(), empty_.end(), next);
                    if (at != empty_.end() && *at == next) view.touches[i] |= Cells{1} << (at - empty_.begin());
                }
        }
    }

    static Cells touching(const View& view, Cells cells) {
        Cells found = 0;
        for (; cells != 0; cells &= cells - 1) found |= view.touches[std::countr_zero(cells)];
        return found;
    }

    // Everything that chains of `mine` reach from `from`, which is in `mine`.
    static Cells spread(const View& view, Cells from, Cells mine) {
        Cells reached = from;
        for (Cells fresh = from; fresh != 0; reached |= fresh) fresh = touching(view, fresh) & mine & ~reached;
        return reached;
    }

    // How many more stones the colour needs if the opponent passes; 0 when it has joined its sides.
    Number stones_needed(const Stones& stones, int colour) const {
        const View& view = views_[colour];
        const Cells mine = stones[colour], empty = all_ & ~(stones[0] | stones[1]);
        Cells paid_for = 0, border = view.first_side;
        for (Number needed = 0;; ++needed) {
            const Cells chain = spread(view, border & mine, mine);
            if (chain & view.second_side) return needed;
            const Cells paid = (border | touching(view, chain)) & empty & ~paid_for;
            if (paid & view.second_side) return needed + 1;
            if (paid == 0) return kMostEmpty;
            paid_for |= paid;
            border = touching(view, paid);
        }
    }

    // What the rules say: a chain that joins the sides has won, a move that completes one wins. Otherwise a first guess,
    // four times harder for each stone that is missing (half the nodes of the plain count on 6x6 with 18 stones).
    Numbers first_numbers(const Stones& stones, int mover) const {
        const Number theirs = stones_needed(stones, 1 - mover);
        if (theirs == 0) return {kInfinite, 0};
        const Number mine = stones_needed(stones, mover);
        if (mine <= 1) return {0, kInfinite};
        return {Number{1} << std::min(2 * mine, 20u), Number{1} << std::min(2 * theirs, 20u)};
    }

    static std::uint64_t key_of(const Stones& stones) { return std::uint64_t{stones[0]} << 32 | stones[1]; }

    // Whose turn it is follows from the number of stones since the root, so the stones alone are the key.
    Numbers known(const Stones& stones, int mover) const {
        const Numbers* found = seen_.find(key_of(stones));
        return found ? *found : first_numbers(stones, mover);
    }

    Numbers solve(const Stones& stones, int mover) {
        const Numbers numbers = known(stones, mover);
        return numbers.solved() ? numbers : expand(stones, mover, kInfinite, kInfinite);
    }

    // Depth-first proof-number search: works on this position until a number reaches its threshold.
    Numbers expand(const Stones& stones, int mover, Number proof_limit, Number disproof_limit) {
        if (++nodes_ % 4096 == 0) poll_();
        std::array<Numbers, kMostEmpty> answers;  // of the opponent, after each move
        std::array<Stones, kMostEmpty> moves;
        int count = 0;
        for (Cells rest = all_ & ~(stones[0] | stones[1]); rest != 0; rest &= rest - 1, ++count) {
            moves[count] = play(stones, mover, std::countr_zero(rest));
            answers[count] = known(moves[count], 1 - mover);
        }
        while (true) {
            std::uint64_t sum = 0;
            int best = 0;
            Number least = kInfinite, second = kInfinite;
            for (int i = 0; i < count; ++i) {
                sum += answers[i].proof;
                if (answers[i].disproof < least) {
                    second = least;
                    least = answers[i].disproof;
                    best = i;
                } else {
                    second = std::min(second, answers[i].disproof);
                }
            }
            // an open position stays below infinity, so that the root is never given up for its numbers
            const std::uint64_t open = std::min<std::uint64_t>(sum, kInfinite - 1);
            const Numbers now{least, least == 0 ? kInfinite : static_cast<Number>(open)};
            if (now.solved() || now.proof >= proof_limit || now.disproof >= disproof_limit || nodes_ >= limit_) {
                seen_.store(key_of(stones), now);
                return now;
            }
            const Number rest = now.disproof - answers[best].proof;
            const Number child_disproof = std::min<std::uint64_t>(proof_limit, std::uint64_t{second} + second / 4 + 1);
            answers[best] = expand(moves[best], 1 - mover, disproof_limit - rest, child_disproof);
        }
    }

    int size_;
    std::vector<int> board_;  // -1 empty, 0 Black, 1 White
    std::vector<int> empty_;
    Cells all_ = 0;
    std::array<View, 2> views_;
    Seen seen_;
    std::uint64_t nodes_ = 0, limit_;
    const std::function<void()>& poll_;
};

}  // namespace

Reproof reprove(int size, const std::vector<int>& black, const std::vector<int>& white, int mover, bool all_moves,
                std::uint64_t limit_nodes, const std::function<void()>& poll) {
    return Search(size, black, white, limit_nodes, poll).run(mover, all_moves);
}

}  // namespace hexdata::audit
