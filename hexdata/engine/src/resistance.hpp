// Move order from an electric circuit over the connections: endpoints that have a full connection are joined by a
// conductance, and a unit voltage is put between the two edges. Cells that carry much current matter.
#pragma once

#include <array>
#include <vector>

#include "connections.hpp"

namespace hexdata::proof {

// Adds each empty cell's share of the current to score[cell] and returns the conductance between the edges. Plain IEEE
// float arithmetic in a fixed order.
template <int W>
float add_currents(const Geometry<W>& g, const Connections<W>& connections, std::array<float, Geometry<W>::kMaxCells>& score) {
  constexpr int kMaxEnds = Connections<W>::kMaxEnds;
  const int source = g.cells, sink = g.cells + 1;
  struct Link {
    int x, y;
    float g;
  };
  thread_local std::vector<Link> links;
  thread_local std::vector<float> matrix;
  links.clear();
  std::array<int16_t, kMaxEnds> row;
  row.fill(-1);
  int n = 0;
  std::array<int16_t, kMaxEnds> end_of_row;
  connections.for_each_linked([&](int x, int y, const Bits<W>& common) {
    // Stones conduct well. Expansions with factors of 3, 6 and 10: 163,000, 151,000 and 149,000 for half of the 7x7 openings;
    // 8x8 a1 varies between 57,000 and 160,000 without a trend (2, 6 and 10).
    float conductance = 1.0f / static_cast<float>(1 + common.count());
    if (!connections.is_empty_end(x)) conductance *= 4;
    if (!connections.is_empty_end(y)) conductance *= 4;
    links.push_back({x, y, conductance});
    for (const int e : {x, y})
      if (e != source && e != sink && row[e] < 0) {
        row[e] = static_cast<int16_t>(n);
        end_of_row[n++] = static_cast<int16_t>(e);
      }
  });
  if (n == 0) return 0;
  // Kirchhoff's law at every endpoint other than the edges; the source at voltage 1, the sink at 0.
  matrix.assign(size_t(n) * n, 0.0f);
  std::vector<float> v(n, 0.0f);
  for (const Link& l : links) {
    const int i = l.x < source ? row[l.x] : -1, j = l.y < source ? row[l.y] : -1;
    if (i >= 0) matrix[size_t(i) * n + i] += l.g;
    if (j >= 0) matrix[size_t(j) * n + j] += l.g;
    if (i >= 0 && j >= 0) {
      matrix[size_t(i) * n + j] -= l.g;
      matrix[size_t(j) * n + i] -= l.g;
    } else if (i >= 0 && l.y == source) {
      v[i] += l.g;
    } else if (j >= 0 && l.x == source) {
      v[j] += l.g;
    }
  }
  // Cholesky without square roots, row by row; a tiny leak keeps cells that hang on nothing solvable.
  for (int i = 0; i < n; ++i) matrix[size_t(i) * n + i] += 1e-4f;
  for (int k = 0; k < n; ++k) {
    const float* pivot = &matrix[size_t(k) * n];
    for (int i = k + 1; i < n; ++i) {
      float* target = &matrix[size_t(i) * n];
      if (target[k] == 0.0f) continue;
      const float factor = target[k] / pivot[k];
      for (int j = k; j < n; ++j) target[j] -= factor * pivot[j];
      v[i] -= factor * v[k];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    float sum = v[i];
    for (int j = i + 1; j < n; ++j) sum -= matrix[size_t(i) * n + j] * v[j];
    v[i] = sum / matrix[size_t(i) * n + i];
  }
  const auto voltage = [&](int e) { return e == source ? 1.0f : e == sink ? 0.0f : v[row[e]]; };
  float total = 0;
  for (const Link& l : links)
    if (l.x == source || l.y == source) total += l.g * (1.0f - voltage(l.x == source ? l.y : l.x));
  if (total <= 0) return 0;
  const float scale = 0.5f / total;
  for (const Link& l : links) {
    float current = l.g * (voltage(l.x) - voltage(l.y)) * scale;
    if (current < 0) current = -current;
    if (l.x < source && connections.is_empty_end(l.x)) score[l.x] += current;
    if (l.y < source && connections.is_empty_end(l.y)) score[l.y] += current;
  }
  return total;
}

}  // namespace hexdata::proof
