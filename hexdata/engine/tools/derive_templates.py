"""Derive the edge templates that the AND and OR rules miss, and write `src/templates.inc`.

A stone stands on row 2, 3 or 4 of an otherwise empty strip; White owns everything else. Starting from the whole strip,
cells are given to White in random order as long as the stone still reaches the edge with White to move (proved by the
solver, with templates off); what is left is a minimal carrier. Carriers whose connection the rules find by themselves
are dropped.

    python hexdata/engine/tools/derive_templates.py --orders 400 --seed 1
"""

import argparse
import random
from pathlib import Path

from hexdata.engine import _core

SIZE = 8
OFF = {"templates": 0.0}

Shape = frozenset[tuple[int, int]]


def stones(row: int, column: int, carrier: Shape) -> tuple[list[int], list[int]]:
    """Black's stone joined to the top by a column of stones, White on every cell that is not in the carrier."""
    top = SIZE - row
    black = [r * SIZE + column for r in range(top + 1)]
    free = {(top + r) * SIZE + column + c for r, c in carrier}
    return black, [cell for cell in range(SIZE * SIZE) if cell not in free and cell not in black]


def connects(row: int, column: int, carrier: Shape) -> bool:
    black, white = stones(row, column, carrier)
    return _core.solve(SIZE, black, white, "white", parameters=OFF).winner == "black"


def found_by_rules(row: int, column: int, carrier: Shape) -> bool:
    # the stone alone, without its column: the group must not be joined to the top edge
    _, white = stones(row, column, carrier)
    stone = (SIZE - row) * SIZE + column
    bottom = SIZE * SIZE + 1
    links = _core.connections(SIZE, [stone], [c for c in white if c != stone], "black", parameters=OFF)
    return any(full and {x, y} == {stone, bottom} for x, y, full, _ in links)


def mirror(shape: Shape) -> Shape:
    return frozenset((r, -c - r) for r, c in shape)


def shrink(row: int, column: int, order: list[tuple[int, int]]) -> Shape | None:
    carrier: Shape = frozenset(order)
    if not connects(row, column, carrier):
        return None
    for cell in order:
        if connects(row, column, carrier - {cell}):
            carrier = carrier - {cell}
    return carrier


def derive(orders: int, seed: int) -> list[tuple[int, Shape]]:
    rng = random.Random(seed)
    found: set[tuple[int, Shape]] = set()
    for row in (2, 3, 4):
        for column in range(SIZE):
            strip = [(r, c - column) for r in range(row) for c in range(SIZE) if (r, c) != (0, column)]
            for _ in range(orders if row == 4 else orders // 8):
                rng.shuffle(strip)
                # give away far cells first more often than not: small carriers are of more use
                order = sorted(strip, key=lambda o: rng.random() * (1 + abs(o[1] + o[0] / 2)), reverse=True)
                carrier = shrink(row, column, order)
                if carrier is None:
                    break
                if not found_by_rules(row, column, carrier):
                    found.add((row, min(carrier, mirror(carrier), key=sorted)))
            print(f"row {row} column {column}: {len(found)} so far", flush=True)
    return sorted(found, key=lambda t: (t[0], len(t[1]), sorted(t[1])))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orders", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    shapes = derive(arguments.orders, arguments.seed)
    lines = ["{%d, {%s}}," % (row, ", ".join("{%d, %d}" % o for o in sorted(shape))) for row, shape in shapes]  # noqa: UP031
    target = Path(__file__).parents[1] / "src" / "templates.inc"
    target.write_text("\n".join(lines) + "\n")
    print(f"{len(shapes)} templates in {target}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
