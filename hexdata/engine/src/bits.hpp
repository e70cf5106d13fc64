// Cell sets and board geometry, templated on the number of 64-bit words so that 8x8 pays for one word only:
// 1 word to 8x8, 2 to 11x11, 3 to 13x13, 6 to 19x19.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace hexdata::proof {

enum Colour : int { kBlack = 0, kWhite = 1 };
constexpr Colour other(Colour c) { return static_cast<Colour>(1 - c); }

constexpr int words_for_size(int n) { return n <= 8 ? 1 : n <= 11 ? 2 : n <= 13 ? 3 : 6; }

// A set of cells; bit i is cell i = row * size + column. 8 * W bytes, a value type.
template <int W>
struct Bits {
  std::array<uint64_t, W> w{};

  static constexpr Bits of(int cell) {
    Bits b;
    b.set(cell);
    return b;
  }
  static constexpr Bits first_cells(int count) {
    Bits b;
    for (int i = 0; i < W; ++i) {
      const int left = count - 64 * i;
      b.w[i] = left >= 64 ? ~uint64_t{0} : left > 0 ? (uint64_t{1} << left) - 1 : 0;
    }
    return b;
  }

  constexpr bool test(int i) const {
    if constexpr (W == 1) return (w[0] >> i) & 1;
    return (w[i >> 6] >> (i & 63)) & 1;
  }
  constexpr void set(int i) {
    if constexpr (W == 1)
      w[0] |= uint64_t{1} << i;
    else
      w[i >> 6] |= uint64_t{1} << (i & 63);
  }
  constexpr void reset(int i) {
    if constexpr (W == 1)
      w[0] &= ~(uint64_t{1} << i);
    else
      w[i >> 6] &= ~(uint64_t{1} << (i & 63));
  }
  constexpr bool any() const {
    uint64_t x = 0;
    for (int i = 0; i < W; ++i) x |= w[i];
    return x != 0;
  }
  constexpr bool none() const { return !any(); }
  constexpr int count() const {
    int n = 0;
    for (int i = 0; i < W; ++i) n += std::popcount(w[i]);
    return n;
  }
  // The lowest cell of a non-empty set.
  constexpr int first() const {
    for (int i = 0; i < W; ++i)
      if (w[i]) return 64 * i + std::countr_zero(w[i]);
    return -1;
  }
  constexpr int pop_first() {
    for (int i = 0; i < W; ++i)
      if (w[i]) {
        const int cell = 64 * i + std::countr_zero(w[i]);
        w[i] &= w[i] - 1;
        return cell;
      }
    return -1;
  }
  constexpr bool subset_of(const Bits& o) const {
    uint64_t x = 0;
    for (int i = 0; i < W; ++i) x |= w[i] & ~o.w[i];
    return x == 0;
  }
  constexpr bool intersects(const Bits& o) const {
    uint64_t x = 0;
    for (int i = 0; i < W; ++i) x |= w[i] & o.w[i];
    return x != 0;
  }
  constexpr bool operator==(const Bits&) const = default;
  constexpr auto operator<=>(const Bits&) const = default;

  constexpr Bits& operator&=(const Bits& o) {
    for (int i = 0; i < W; ++i) w[i] &= o.w[i];
    return *this;
  }
  constexpr Bits& operator|=(const Bits& o) {
    for (int i = 0; i < W; ++i) w[i] |= o.w[i];
    return *this;
  }
  constexpr Bits& operator-=(const Bits& o) {
    for (int i = 0; i < W; ++i) w[i] &= ~o.w[i];
    return *this;
  }
  friend constexpr Bits operator&(Bits a, const Bits& b) { return a &= b; }
  friend constexpr Bits operator|(Bits a, const Bits& b) { return a |= b; }
  friend constexpr Bits operator-(Bits a, const Bits& b) { return a -= b; }

  // Shifts by 0 < s < 64: towards higher cells and towards lower cells.
  constexpr Bits up(int s) const {
    Bits r;
    for (int i = W - 1; i >= 0; --i) r.w[i] = (w[i] << s) | (i > 0 ? w[i - 1] >> (64 - s) : 0);
    return r;
  }
  constexpr Bits down(int s) const {
    Bits r;
    for (int i = 0; i < W; ++i) r.w[i] = (w[i] >> s) | (i + 1 < W ? w[i + 1] << (64 - s) : 0);
    return r;
  }

  template <typename F>
  constexpr void for_each(F&& f) const {
    for (int i = 0; i < W; ++i)
      for (uint64_t x = w[i]; x; x &= x - 1) f(64 * i + std::countr_zero(x));
  }
};

// The six directions in cyclic order: consecutive ones are adjacent to each other.
//
//      0   1
//    5   .   2        0 = (r-1,c)  1 = (r-1,c+1)  2 = (r,c+1)
//      4   3          3 = (r+1,c)  4 = (r+1,c-1)  5 = (r,c-1)
constexpr int kDirections = 6;
constexpr std::array<int, 6> kRowStep{-1, -1, 0, 1, 1, 0};
constexpr std::array<int, 6> kColumnStep{0, 1, 1, 0, -1, -1};
constexpr int opposite(int direction) { return direction < 3 ? direction + 3 : direction - 3; }

// Everything about an empty board of one size. A few KB, built once per solver.
template <int W>
struct Geometry {
  static constexpr int kMaxCells = W == 1 ? 64 : W == 2 ? 121 : W == 3 ? 169 : 361;

  int size;
  int cells;
  Bits<W> all;
  std::array<std::array<Bits<W>, 2>, 2> edge_row;                 // [colour][side]: the cells that touch that edge
  std::array<std::array<int16_t, kDirections>, kMaxCells> next;   // neighbour cells, -1 off the board
  std::array<Bits<W>, kMaxCells> ring;                            // neighbour cells as a set
  std::array<uint16_t, kMaxCells> border;                         // 12-bit ring index of the empty board (local.hpp)

  explicit Geometry(int n) : size(n), cells(n * n), all(Bits<W>::first_cells(n * n)) {
    for (int i = 0; i < n; ++i) {
      edge_row[kBlack][0].set(i);
      edge_row[kBlack][1].set((n - 1) * n + i);
      edge_row[kWhite][0].set(i * n);
      edge_row[kWhite][1].set(i * n + n - 1);
    }
    not_first_column_ = all - edge_row[kWhite][0];
    not_last_column_ = all - edge_row[kWhite][1];
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        const int cell = r * n + c;
        border[cell] = 0;
        for (int d = 0; d < kDirections; ++d) {
          const int rr = r + kRowStep[d], cc = c + kColumnStep[d];
          const bool off_rows = rr < 0 || rr >= n, off_columns = cc < 0 || cc >= n;
          next[cell][d] = off_rows || off_columns ? -1 : static_cast<int16_t>(rr * n + cc);
          // Beyond the top and bottom lies Black, beyond the left and right White; beyond both, either may be assumed.
          if (off_rows)
            border[cell] |= 1 << d;
          else if (off_columns)
            border[cell] |= 64 << d;
          else
            ring[cell].set(rr * n + cc);
        }
      }
  }

  // The set and all its neighbours.
  Bits<W> grow(const Bits<W>& b) const {
    const Bits<W> right = b & not_last_column_, left = b & not_first_column_;
    return (b | right.up(1) | left.down(1) | b.up(size) | b.down(size) |
            (size > 1 ? right.down(size - 1) | left.up(size - 1) : Bits<W>{})) &
           all;
  }

  // The cells of `within` that are joined to `seed` through cells of `within`; seed must be inside.
  Bits<W> flood(Bits<W> seed, const Bits<W>& within) const {
    for (;;) {
      const Bits<W> grown = grow(seed) & within;
      if (grown == seed) return seed;
      seed = grown;
    }
  }

  bool joins(Colour colour, const Bits<W>& stones) const {
    const Bits<W> from = edge_row[colour][0] & stones;
    return from.any() && flood(from, stones).intersects(edge_row[colour][1]);
  }

 private:
  Bits<W> not_first_column_, not_last_column_;
};

}  // namespace hexdata::proof
