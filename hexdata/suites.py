"""Evaluation suites: distinct random positions with the proved value of every move, and the winner of every opening.

A suite is labelled in pieces that any worker can make; finished pieces wait in a work folder until all are there.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from hexdata import engine
from hexdata.board import Cell, Position, bits, cell_name, cells, unpack
from hexdata.label import keys_of, label, openings_table, suite_table
from hexdata.params import BadParams, SuiteParams
from hexdata.records import SCHEMA_VERSION, json_bytes, params_hash, read_table, table_bytes, write_folder

RANDOM_SOURCE = "random"
DRAWS_PER_POSITION = 200


@dataclass(frozen=True)
class Piece:
    """A part of a suite: positions to label with all their moves, or first moves to label by their winner."""

    size: int
    number: int
    kind: str
    """`suite` or `openings`."""
    items: tuple[tuple[tuple[Cell, ...], tuple[Cell, ...]], ...]
    """Black and white stones."""
    limit_nodes: int

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.number:05d}.parquet"

    def key(self) -> str:
        return params_hash({**asdict(self), "engine": engine.ENGINE_VERSION, "schema": SCHEMA_VERSION})

    def positions(self) -> list[Position]:
        result = []
        for black, white in self.items:
            to_move = "black" if len(black) == len(white) else "white"
            result.append(Position(self.size, bits(black), bits(white), "black" if to_move == "black" else "white"))
        return result


def draw_positions(size: int, params: SuiteParams) -> list[Position]:
    """Random positions, undecided and distinct up to symmetry, in the order of their keys.

    The stone count is uniform, cells are drawn without replacement and colours alternate from Black (gao-2020
    section 11), without its defects: no duplicates, nothing already won.
    """
    source = random.Random(f"suite {size} {params.seed}")
    found: dict[bytes, Position] = {}
    for _ in range(DRAWS_PER_POSITION * params.positions):
        count = source.randint(params.min_stones, params.max_stones)
        drawn = source.sample(range(size * size), count)
        to_move = "black" if count % 2 == 0 else "white"
        position = Position(size, bits(drawn[::2]), bits(drawn[1::2]), "black" if to_move == "black" else "white")
        if position.winner() is not None:
            continue
        keys, symmetry = keys_of([position])
        found.setdefault(keys[0], position.transform(int(symmetry[0])))
        if len(found) == params.positions:
            return [found[key] for key in sorted(found)]
    raise BadParams(
        f"suite.positions: only {len(found)} distinct undecided {size}x{size} positions were found with "
        f"{params.min_stones} to {params.max_stones} stones, expected {params.positions}"
    )


def pieces(size: int, params: SuiteParams) -> list[Piece]:
    """Positions dealt to pieces in turn, so that hard ones do not gather in one."""
    stones = [(tuple(cells(p.black)), tuple(cells(p.white))) for p in draw_positions(size, params)]
    firsts = [((cell,), ()) for cell in range(size * size)]
    result = []
    for kind, items, limit in (
        ("suite", stones, params.limit_nodes),
        ("openings", firsts, params.opening_limit_nodes),
    ):
        for number in range(params.shards):
            dealt = tuple(items[number :: params.shards])
            if dealt:
                result.append(Piece(size, number, kind, dealt, limit))
    return result


def make_piece(piece: Piece) -> bytes:
    positions = piece.positions()
    if piece.kind == "openings":
        labels = label(positions, piece.limit_nodes, all_moves=False)
        table = openings_table(piece.size, [next(cells(p.black)) for p in positions], labels)
    else:
        labels = label(positions, piece.limit_nodes, all_moves=True)
        table = suite_table(positions, keys_of(positions)[0], labels, RANDOM_SOURCE)
    return table_bytes(table, piece.kind, {"key": piece.key()})


def assemble(work: Path, pieces: Sequence[Piece], out: Path) -> dict[str, object]:
    """All pieces, finished in the work folder, into the suite's files, and its figures."""

    def whole(kind: str) -> pa.Table:
        return pa.concat_tables(read_table(work / piece.name, kind) for piece in pieces if piece.kind == kind)

    suite, openings = whole("suite").sort_by("key"), whole("openings").sort_by("cell")
    lineage = {"engine_version": engine.ENGINE_VERSION}
    write_folder(
        out,
        {
            "suite.parquet": table_bytes(suite, "suite", lineage),
            "suite.json": json_bytes(suite_json(suite)),
            "openings.parquet": table_bytes(openings, "openings", lineage),
            "openings.json": json_bytes(openings_json(openings)),
        },
    )
    return suite_metrics(suite, openings)


def suite_json(table: pa.Table) -> list[dict[str, object]]:
    """The suite as programs without Parquet read it; cells by name."""
    rows = []
    for row in table.to_pylist():
        size = row["size"]

        def names(found: list[int], size: int = size) -> list[str]:
            return [cell_name(cell, size) for cell in found]

        rows.append(
            {
                "size": size,
                "black": names(list(cells(unpack(row["black"])))),
                "white": names(list(cells(unpack(row["white"])))),
                "to_move": row["to_move"],
                "value": row["value"],
                "winning_moves": names(row["winning_moves"]),
                "losing_moves": names(row["losing_moves"]),
                "unknown_moves": names(row["unknown_moves"]),
                "nodes": row["nodes"],
                "difficulty": row["difficulty"],
                "source": row["source"],
            }
        )
    return rows


def openings_json(table: pa.Table) -> dict[str, object]:
    rows = table.to_pylist()
    return {
        "size": rows[0]["size"],
        "winners": {cell_name(row["cell"], row["size"]): row["winner"] for row in rows},
        "nodes": sum(row["nodes"] for row in rows),
    }


def suite_metrics(suite: pa.Table, openings: pa.Table) -> dict[str, object]:
    values = suite.column("value").to_pylist()
    winners = Counter(openings.column("winner").to_pylist())
    return {
        "positions": len(values),
        "proved": len(values) - values.count(None),
        "unknown": values.count(None),
        "wins": values.count(1),
        "losses": values.count(-1),
        "nodes": sum(suite.column("nodes").to_pylist()),
        "openings": {
            **{name: winners[name] for name in ("black", "white", "unknown")},
            "nodes": sum(openings.column("nodes").to_pylist()),
        },
    }
