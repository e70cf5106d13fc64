#include "portable_math.hpp"

#include <bit>
#include <cstdint>

namespace hexdata {

namespace {
constexpr double kLn2 = 0.693147180559945309417232;
constexpr double kSqrt2 = 1.41421356237309504880169;
}  // namespace

double portable_log(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
    double mantissa = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000);
    if (mantissa > kSqrt2) {
        mantissa *= 0.5;
        ++exponent;
    }
    // log m = 2 atanh t with |t| < 0.172: t^23 / 23 is below the last bit.
    const double t = (mantissa - 1.0) / (mantissa + 1.0);
    const double square = t * t;
    double sum = 0.0;
    for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
    return exponent * kLn2 + 2.0 * t * sum;
}

double portable_exp(double x) {
    const double scaled = x / kLn2;
    const int power = static_cast<int>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    const double rest = x - power * kLn2;
    // |rest| < 0.347: rest^15 / 15! is below the last bit.
    double sum = 1.0;
    for (int k = 14; k >= 1; --k) sum = 1.0 + sum * rest / k;
    return sum * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

}  // namespace hexdata
