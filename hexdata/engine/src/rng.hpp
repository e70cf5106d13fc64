// Integer random numbers, the same on every machine: splitmix64 for constants and seeds, xoshiro256** for streams.
#pragma once

#include <array>
#include <cstdint>

namespace hexdata {

inline constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15;

// The output function of splitmix64 (Steele, Lea and Flood 2014, variant of Vigna).
constexpr std::uint64_t mix64(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

// The index-th number (from 0) of the splitmix64 stream that starts at seed.
constexpr std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t index) {
    return mix64(seed + (index + 1) * kGoldenGamma);
}

// xoshiro256** (Blackman and Vigna 2018): 32 bytes of state, lives on the stack of one move's search.
class Rng {
public:
    // Streams of different (seed, stream) pairs are unrelated: a move's numbers do not depend on the moves before it.
    Rng(std::uint64_t seed, std::uint64_t stream);

    std::uint64_t next() {
        const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotate(state_[3], 45);
        return result;
    }

    // Uniform in 0..bound-1. Multiply-shift: the bias is below bound / 2^32.
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
    }

    // Uniform in 0..bound-1 for bounds that need more than 32 bits; without bias, by rejection.
    std::uint64_t below64(std::uint64_t bound);

private:
    static constexpr std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

    std::array<std::uint64_t, 4> state_;
};

}  // namespace hexdata
