// Weights of patterns: how much more likely a move is than another, by the cells around it (Coulom 2007). One set for the
// prior of a tree node and one for playouts, each with weights for cells near the last move (its twelve cells) and far.
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

private:
    static constexpr std::uint32_t kNoKey = 0xFFFFFFFF;
    std::uint32_t slot(std::uint32_t key) const { return key * 0x9E3779B1u >> shift_; }

    std::uint32_t mask_;
    int shift_;
    std::vector<Entry> entries_;
};

// Two playout weights in one word, Black's in the low half.
using WeightPair = std::uint32_t;

// What a far cell of ordinary strength weighs in a playout; no far cell weighs more.
inline constexpr std::uint32_t kOrdinaryWeight = 64;

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
    WeightPair far(PatternCode code) const { return far_[code & kRingMask]; }
    bool weighs_near() const { return weighs_near_; }
    WeightPair near(PatternCode code) const {
        const std::uint32_t* found = near_.find(code & kCodeMask);
        return found != nullptr ? *found : near_ring_[code & kRingMask];
    }

    // The strength of a move in the tree; positive.
    float prior(PatternCode code, bool near, int mover) const;

private:
    Patterns();

    bool weighs_near_ = false;
    std::array<WeightPair, 4096> far_{};                          // by six-cell code; 16 kB
    std::array<WeightPair, 4096> near_ring_{};                    // if the twelve-cell code is unknown
    std::array<std::array<std::array<float, 4096>, 2>, 2> prior_ring_{};  // [near][mover], likewise
    CodeTable near_;
    CodeTable prior_;  // keys code | mover << 24 | near << 25, values the bits of a float
};

}  // namespace hexdata
