// Weights of patterns: how much more likely a move is than another (Coulom 2007). A move's strength is that of the cells
// around it, times that of its place near the last move, if it is one of the twelve cells around that: a reply. One set for
// the prior of a tree node and one for playouts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pattern_code.hpp"

namespace hexdata {

// Open addressing over 8-byte entries, at most half full; immutable after its construction.
class CodeTable {
public:
    struct Entry {
        std::uint32_t key;
        std::uint32_t value;
    };

    explicit CodeTable(std::span<const Entry> entries);

    const std::uint32_t* find(std::uint32_t key) const {
        for (std::uint32_t at = slot(key);; ++at) {
            const Entry& entry = entries_[at & mask_];
            if (entry.key == key) return &entry.value;
            if (entry.key == kNoKey) return nullptr;
        }
    }

    // Brings what find(key) reads first nearer.
    void prefetch(std::uint32_t key) const { __builtin_prefetch(&entries_[slot(key) & mask_]); }

private:
    static constexpr std::uint32_t kNoKey = 0xFFFFFFFF;
    std::uint32_t slot(std::uint32_t key) const { return key * 0x9E3779B1u >> shift_; }

    std::uint32_t mask_;
    int shift_;
    std::vector<Entry> entries_;
};

// Two playout weights in one word, Black's in the low half.
using WeightPair = std::uint32_t;

// What a cell of ordinary strength weighs in a playout if it is no reply; no cell weighs more.
inline constexpr std::uint32_t kOrdinaryWeight = 64;

// What the twelve cells around the last move weigh in a playout beyond their weight as any other cells: the factors, less
// one, in units of 1 / kReplyUnit. Those that are no stronger as replies have no bit in `steps`. 28 bytes.
struct Replies {
    std::uint32_t steps = 0;  // bit 2i for step i, so that a code masks it
    std::array<std::uint16_t, 12> gain{};
};
inline constexpr std::uint32_t kReplyUnit = 16;

class Patterns {
public:
    // Throws std::invalid_argument if the file is not what hexdata/patterns.py writes.
    explicit Patterns(std::span<const std::uint8_t> file);

    // No weights: every move is as good as another. Playouts still save bridges and leave dead cells alone.
    static std::shared_ptr<const Patterns> none();

    // The weights that players take: those of the last load(). Throws std::invalid_argument before the first.
    static std::shared_ptr<const Patterns> learned();
    static void load(std::span<const std::uint8_t> file);

    // Playouts. 0 for both colours at a dead cell, else at least 1.
    WeightPair weight(PatternCode code) const { return weight_[code & kRingMask]; }
    bool weighs_replies() const { return weighs_replies_; }
    // To a move with this code around it, by `mover`.
    const Replies& replies(PatternCode code, int mover) const {
        const std::uint32_t* found = reply_places_.find((code & kCodeMask) | std::uint32_t(mover) << 24);
        return found != nullptr ? replies_[*found] : ring_replies_[mover][code & kRingMask];
    }

    // Of which replies(code, mover) will be asked soon.
    void prefetch_replies(PatternCode code, int mover) const {
        if (!weighs_replies_) return;
        reply_places_.prefetch((code & kCodeMask) | std::uint32_t(mover) << 24);
        __builtin_prefetch(&ring_replies_[mover][code & kRingMask]);
    }

    // The strength of a move in the tree; positive.
    float prior(PatternCode code, bool near, int mover) const;
    // By how much more it is worth at `step` from a last move with this code around it; positive.
    float prior_reply(PatternCode code, int step, int mover) const;

private:
    Patterns();

    std::array<WeightPair, 4096> weight_{};  // by six-cell code; 16 kB
    bool weighs_replies_ = false;
    std::vector<Replies> replies_;           // by place, for the twelve-cell codes that have one
    CodeTable reply_places_;                 // keys code | mover << 24
    std::array<std::vector<Replies>, 2> ring_replies_;                    // [mover], by six-cell code if unknown
    std::array<std::array<std::array<float, 4096>, 2>, 2> prior_ring_{};  // [near][mover], likewise
    CodeTable prior_;          // keys code | mover << 24 | near << 25, values the bits of a float
    CodeTable prior_replies_;  // keys code | mover << 24 | step << 25 | kRingOnly, likewise
};

}  // namespace hexdata
