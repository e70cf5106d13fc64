#include "patterns.hpp"

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

// The file: 8 bytes of kMagic, the cap of far playout weights, the number of entries (4 bytes each), and for each entry a
// key (4 bytes) and a weight (2 bytes), keys rising, all little-endian. Weights and the cap are logarithms to the base 2
// in units of 1/256. A key is a canonical code | kSixCells if only the ring counts | set << 28.
constexpr char kMagic[] = "HEXPAT01";
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kEntryBytes = 6;
constexpr std::uint32_t kSixCells = 1u << 24;
enum Set : std::uint32_t { kPriorFar, kPriorNear, kPlayoutFar, kPlayoutNear, kSets };

std::uint32_t read_u32(const std::uint8_t* at) { return at[0] | at[1] << 8 | at[2] << 16 | std::uint32_t{at[3]} << 24; }

double gamma_of(int logarithm) { return portable_exp(logarithm / 256.0 * 0.693147180559945309417232); }

WeightPair scaled(double gamma, double cap) {
    const double weight = gamma / cap * kOrdinaryWeight + 0.5;
    return weight < 1.0 ? 1 : weight > 65535.0 ? 65535 : static_cast<WeightPair>(weight);
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

// f(code, mover) for everything on a board that `canonical` makes equal to `code`.
template <typename F>
void for_each_image(PatternCode code, F&& f) {
    for (int mover = 0; mover < 2; ++mover) {
        const PatternCode seen = mover == 0 ? code : mirrored(code);
        f(seen, mover);
        if (turned(seen) != seen) f(turned(seen), mover);
    }
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

Patterns::Patterns() : near_({}), prior_({}) {
    for (PatternCode ring = 0; ring < 4096; ++ring) far_[ring] = is_dead(ring) ? 0 : kOrdinaryWeight * 0x10001;
    for (auto& by_mover : prior_ring_)
        for (auto& by_ring : by_mover) by_ring.fill(1.0F);
}

Patterns::Patterns(std::span<const std::uint8_t> file) : Patterns() {
    if (file.size() < kHeaderBytes || std::memcmp(file.data(), kMagic, 8) != 0)
        throw std::invalid_argument("pattern weights must begin with HEXPAT01");
    const double cap = gamma_of(static_cast<std::int32_t>(read_u32(file.data() + 8)));
    const std::size_t count = read_u32(file.data() + 12);
    if (file.size() != kHeaderBytes + count * kEntryBytes)
        throw std::invalid_argument("pattern weights must be " + std::to_string(kHeaderBytes + count * kEntryBytes) +
                                    " bytes for " + std::to_string(count) + " entries, not " +
                                    std::to_string(file.size()));
    std::map<PatternCode, WeightPair> near;
    std::vector<CodeTable::Entry> prior;
    // Six-cell weights first: they are what a twelve-cell code falls back on for the colour that has no weight of its
    // own.
    for (const bool six : {true, false}) {
        std::uint32_t previous = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint8_t* at = file.data() + kHeaderBytes + i * kEntryBytes;
            const std::uint32_t key = read_u32(at);
            const double gamma = gamma_of(static_cast<std::int16_t>(at[4] | at[5] << 8));
            const std::uint32_t set = key >> 28;
            const PatternCode code = key & kCodeMask;
            if ((i > 0 && key <= previous) || set >= kSets || (key >> 25 & 7) != 0 ||
                (key & kSixCells && code > kRingMask) || (set == kPlayoutFar && !(key & kSixCells)))
                throw std::invalid_argument("pattern weights: entry " + std::to_string(i) + " has the bad key " +
                                            std::to_string(key));
            previous = key;
            if (six != ((key & kSixCells) != 0)) continue;
            for_each_image(code, [&](PatternCode seen, int mover) {
                if (set == kPlayoutFar) {
                    if (far_[seen] != 0) far_[seen] = with_half(far_[seen], mover, scaled(std::min(gamma, cap), cap));
                } else if (set == kPlayoutNear && six) {
                    near_ring_[seen] = with_half(near_ring_[seen], mover, scaled(gamma, cap));
                } else if (set == kPlayoutNear) {
                    WeightPair& pair = near.try_emplace(seen, near_ring_[seen & kRingMask]).first->second;
                    pair = with_half(pair, mover, scaled(gamma, cap));
                } else if (six) {
                    prior_ring_[set == kPriorNear][mover][seen] = static_cast<float>(gamma);
                } else {
                    prior.push_back({seen | std::uint32_t(mover) << 24 | std::uint32_t(set == kPriorNear) << 25,
                                     std::bit_cast<std::uint32_t>(static_cast<float>(gamma))});
                }
            });
        }
    }
    std::vector<CodeTable::Entry> entries;
    for (const auto& [code, pair] : near) entries.push_back({code, pair});
    near_ = CodeTable(entries);
    prior_ = CodeTable(prior);
    weighs_near_ = true;
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

}  // namespace hexdata
