#include "patterns.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

#include "local.hpp"
#include "portable_math.hpp"

namespace hexdata {

namespace {

// The file: 8 bytes of kMagic, the playout weight of an ordinary cell, the number of entries (4 bytes each), and for each
// entry a key (4 bytes) and a strength (2 bytes), keys rising, all little-endian. Strengths are logarithms to the base 2 in
// units of 1/256. A key is a canonical code | kSixCells if only the ring counts | step << 25 of a reply | set << 29.
constexpr char kMagic[] = "HEXPAT02";
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kEntryBytes = 6;
constexpr std::uint32_t kSixCells = 1u << 24;
enum Set : std::uint32_t { kPriorFar, kPriorNear, kPriorReply, kPlayout, kPlayoutReply, kSets };

constexpr std::uint32_t kRingOnly = 1u << 31;

std::uint32_t read_u32(const std::uint8_t* at) { return at[0] | at[1] << 8 | at[2] << 16 | std::uint32_t{at[3]} << 24; }

double gamma_of(int logarithm) { return portable_exp(logarithm / 256.0 * 0.693147180559945309417232); }

WeightPair scaled(double gamma, double ordinary) {
    const double weight = std::min(gamma / ordinary, 1.0) * kOrdinaryWeight + 0.5;
    return weight < 1.0 ? 1 : static_cast<WeightPair>(weight);
}

void set_gain(Replies& replies, int step, double gamma) {
    // 12 * 64 * 4095 / 16 leaves room in the sum of 32 bits.
    const double gain = std::clamp((gamma - 1.0) * kReplyUnit + 0.5, 0.0, 4095.0);
    replies.gain[step] = static_cast<std::uint16_t>(gain);
    const std::uint32_t bit = 1u << (2 * step);
    replies.steps = replies.gain[step] > 0 ? replies.steps | bit : replies.steps & ~bit;
}

bool is_dead(PatternCode ring) {
    int black = 0;
    int white = 0;
    for (int d = 0; d < 6; ++d) {
        const unsigned stone = ring >> (2 * d) & 3;
        // Beyond two edges either colour may be assumed.
        if (stone & 1)
            black |= 1 << d;
        else if (stone == 2)
            white |= 1 << d;
    }
    return proof::local_facts()[black | white << 6].dead;
}

WeightPair with_half(WeightPair pair, int mover, WeightPair weight) {
    return mover == 0 ? (pair & 0xFFFF0000) | weight : (pair & 0xFFFF) | weight << 16;
}

// f(code, step, mover) for everything on a board that `canonical`, or `canonical_reply` for a step, makes equal.
template <typename F>
void for_each_image(PatternCode code, int step, F&& f) {
    for (int mover = 0; mover < 2; ++mover) {
        const PatternCode seen = mover == 0 ? code : mirrored(code);
        const int at = mover == 0 ? step : mirrored_step(step);
        f(seen, at, mover);
        f(turned(seen), opposite_step(at), mover);
    }
}

CodeTable float_table(const std::map<std::uint32_t, float>& strengths) {
    std::vector<CodeTable::Entry> entries;
    for (const auto& [key, strength] : strengths) entries.push_back({key, std::bit_cast<std::uint32_t>(strength)});
    return CodeTable(entries);
}

std::mutex learned_guard;
std::shared_ptr<const Patterns> learned_patterns;

}  // namespace

CodeTable::CodeTable(std::span<const Entry> entries) {
    const auto slots = std::bit_ceil(static_cast<std::uint32_t>(2 * entries.size() + 2));
    mask_ = slots - 1;
    shift_ = 32 - std::countr_zero(slots);
    entries_.assign(slots, {kNoKey, 0});
    for (const Entry& entry : entries) {
        std::uint32_t at = slot(entry.key) & mask_;
        while (entries_[at].key != kNoKey) at = (at + 1) & mask_;
        entries_[at] = entry;
    }
}

Patterns::Patterns() : reply_places_({}), prior_({}), prior_replies_({}) {
    for (PatternCode ring = 0; ring < 4096; ++ring) weight_[ring] = is_dead(ring) ? 0 : kOrdinaryWeight * 0x10001;
    for (auto& by_mover : prior_ring_)
        for (auto& by_ring : by_mover) by_ring.fill(1.0F);
}

Patterns::Patterns(std::span<const std::uint8_t> file) : Patterns() {
    if (file.size() < kHeaderBytes || std::memcmp(file.data(), kMagic, 8) != 0)
        throw std::invalid_argument("pattern weights must begin with HEXPAT02");
    const double ordinary = gamma_of(static_cast<std::int32_t>(read_u32(file.data() + 8)));
    const std::size_t count = read_u32(file.data() + 12);
    if (file.size() != kHeaderBytes + count * kEntryBytes)
        throw std::invalid_argument("pattern weights must be " + std::to_string(kHeaderBytes + count * kEntryBytes) +
                                    " bytes for " + std::to_string(count) + " entries, not " +
                                    std::to_string(file.size()));
    for (auto& by_ring : ring_replies_) by_ring.resize(4096);
    // Ordered, so that a place is the same on every machine.
    std::map<std::uint32_t, Replies> replies;
    std::map<std::uint32_t, float> prior;
    std::map<std::uint32_t, float> prior_replies;
    // Six-cell strengths first: they are what a twelve-cell code falls back on where it has none of its own.
    for (const bool six : {true, false}) {
        std::uint32_t previous = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint8_t* at = file.data() + kHeaderBytes + i * kEntryBytes;
            const std::uint32_t key = read_u32(at);
            const double gamma = gamma_of(static_cast<std::int16_t>(at[4] | at[5] << 8));
            const std::uint32_t set = key >> 29;
            const auto step = static_cast<int>(key >> 25 & 15);
            const PatternCode code = key & kCodeMask;
            const bool reply = set == kPriorReply || set == kPlayoutReply;
            if ((i > 0 && key <= previous) || set >= kSets || step >= (reply ? 12 : 1) ||
                (key & kSixCells && code > kRingMask) || (set == kPlayout && !(key & kSixCells)))
                throw std::invalid_argument("pattern weights: entry " + std::to_string(i) + " has the bad key " +
                                            std::to_string(key));
            previous = key;
            if (six != ((key & kSixCells) != 0)) continue;
            for_each_image(code, step, [&](PatternCode seen, int there, int mover) {
                const std::uint32_t place = seen | std::uint32_t(mover) << 24;
                if (set == kPlayout) {
                    if (weight_[seen] != 0) weight_[seen] = with_half(weight_[seen], mover, scaled(gamma, ordinary));
                } else if (set == kPlayoutReply && six) {
                    set_gain(ring_replies_[mover][seen], there, gamma);
                } else if (set == kPlayoutReply) {
                    const Replies& fallback = ring_replies_[mover][seen & kRingMask];
                    set_gain(replies.try_emplace(place, fallback).first->second, there, gamma);
                } else if (set == kPriorReply) {
                    prior_replies[place | std::uint32_t(there) << 25 | (six ? kRingOnly : 0)] =
                        static_cast<float>(gamma);
                } else if (six) {
                    prior_ring_[set == kPriorNear][mover][seen] = static_cast<float>(gamma);
                } else {
                    prior[place | std::uint32_t(set == kPriorNear) << 25] = static_cast<float>(gamma);
                }
            });
        }
    }
    std::vector<CodeTable::Entry> places;
    for (const auto& [key, gains] : replies) {
        places.push_back({key, static_cast<std::uint32_t>(replies_.size())});
        replies_.push_back(gains);
    }
    reply_places_ = CodeTable(places);
    prior_ = float_table(prior);
    prior_replies_ = float_table(prior_replies);
    weighs_replies_ = true;
}

std::shared_ptr<const Patterns> Patterns::none() {
    static const std::shared_ptr<const Patterns> patterns(new Patterns());
    return patterns;
}

std::shared_ptr<const Patterns> Patterns::learned() {
    const std::scoped_lock lock(learned_guard);
    if (!learned_patterns) throw std::invalid_argument("no pattern weights are loaded");
    return learned_patterns;
}

void Patterns::load(std::span<const std::uint8_t> file) {
    auto patterns = std::make_shared<const Patterns>(file);
    const std::scoped_lock lock(learned_guard);
    learned_patterns = std::move(patterns);
}

float Patterns::prior(PatternCode code, bool near, int mover) const {
    const std::uint32_t* found =
        prior_.find((code & kCodeMask) | std::uint32_t(mover) << 24 | std::uint32_t(near) << 25);
    return found != nullptr ? std::bit_cast<float>(*found) : prior_ring_[near][mover][code & kRingMask];
}

float Patterns::prior_reply(PatternCode code, int step, int mover) const {
    const std::uint32_t place = std::uint32_t(mover) << 24 | std::uint32_t(step) << 25;
    const std::uint32_t* found = prior_replies_.find((code & kCodeMask) | place);
    if (found == nullptr) found = prior_replies_.find((code & kRingMask) | place | kRingOnly);
    return found != nullptr ? std::bit_cast<float>(*found) : 1.0F;
}

}  // namespace hexdata
