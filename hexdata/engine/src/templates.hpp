// Edge templates: connections from one stone to its edge that the AND and OR rules do not find by themselves. They are
// derived by tools/derive_templates.py, which writes templates.inc, and proved again by the tests.
#pragma once

#include <cstdint>
#include <vector>

#include "bits.hpp"

namespace hexdata {

// A known connection from a cell to an own edge: valid where the opponent has no stone in the carrier.
template <int W>
struct EdgeTemplate {
  int cell;
  int side;
  Bits<W> carrier;
};

// One template as derived: the stone stands `row` rows above Black's bottom edge (1 = on it); each carrier cell is an
// offset from the stone.
struct TemplateShape {
  struct Offset {
    int8_t row, column;
  };
  int row;
  std::vector<Offset> carrier;
};

const std::vector<TemplateShape>& template_shapes();

// Every placement on the board for one colour: both sides, and the mirror image of each shape.
template <int W>
std::vector<EdgeTemplate<W>> edge_templates(const Geometry<W>& g, Colour colour) {
  std::vector<EdgeTemplate<W>> placed;
  const int n = g.size;
  for (const TemplateShape& shape : template_shapes())
    for (const bool mirrored : {false, true})
      for (int column = 0; column < n; ++column) {
        if (shape.row > n) continue;
        const int row = n - shape.row;
        const auto place = [&](int side) {
          // Black's bottom edge as derived, its half turn, and for White the transpose of both.
          EdgeTemplate<W> t{-1, side, {}};
          const auto cell = [&](int r, int c) {
            if (side == 0) r = n - 1 - r, c = n - 1 - c;
            return colour == kBlack ? r * n + c : c * n + r;
          };
          t.cell = cell(row, column);
          for (const auto& o : shape.carrier) {
            const int r = row + o.row, c = column + (mirrored ? -o.column - o.row : o.column);
            if (r < 0 || r >= n || c < 0 || c >= n) return;
            t.carrier.set(cell(r, c));
          }
          for (const EdgeTemplate<W>& known : placed)
            if (known.cell == t.cell && known.side == t.side && known.carrier == t.carrier) return;
          placed.push_back(t);
        };
        place(0);
        place(1);
      }
  return placed;
}

}  // namespace hexdata
