#include "rng.hpp"

namespace hexdata {

Rng::Rng(std::uint64_t seed, std::uint64_t stream) {
    const std::uint64_t start = mix64(seed) ^ mix64(stream + kGoldenGamma);
    for (std::uint64_t i = 0; i < state_.size(); ++i) state_[i] = splitmix64(start, i);
}

std::uint64_t Rng::below64(std::uint64_t bound) {
    // 2^64 mod bound numbers at the bottom would make the small results too likely.
    const std::uint64_t reject_below = (0 - bound) % bound;
    std::uint64_t x = next();
    while (x < reject_below) x = next();
    return x % bound;
}

}  // namespace hexdata
