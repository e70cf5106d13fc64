"""Games to unique examples: every position before a searched move, folded by its orbit under the four symmetries.

All sums are integers, so the rows do not depend on the order of the games or on who added them up.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hexdata import engine
from hexdata.board import SYMMETRIES, packed_width
from hexdata.records import (
    CELLS,
    COUNTS,
    TALLIES,
    examples_schema,
    read_folder,
    rows_hash,
    table_bytes,
    write_folder,
)


@dataclass(frozen=True)
class Visits:
    """Some numbers on cells per occurrence, flat: cell `cells[i]` of occurrence `rows[i]` has `counts[i]`."""

    rows: NDArray[np.int64]
    cells: NDArray[np.uint16]
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class Occurrences:
    """One entry per position before a searched move, in the image that its row stores. M entries."""

    size: int
    game: NDArray[np.int64]
    """Row of the game in its table."""
    key: NDArray[np.void]
    """16 bytes each; big-endian, so they sort as numbers."""
    black: NDArray[np.uint8]
    white: NDArray[np.uint8]
    to_move: NDArray[np.uint8]
    ply: NDArray[np.int64]
    plies_left: NDArray[np.int64]
    z: NDArray[np.int64]
    """+1 if the side to move won the game, else -1."""
    played: NDArray[np.uint16]
    sampled: NDArray[np.bool_]
    visits: Visits
    forced: int
    """Positions left out because their move was a prescribed opening stone: nobody chose it."""

    def __len__(self) -> int:
        return len(self.game)


def occurrences(games: pa.Table) -> Occurrences:
    """Replay the games of one board size."""
    size = int(games.column("size")[0].as_py())
    moves = games.column("moves").combine_chunks()
    lengths = moves.value_lengths().to_numpy().astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    flat = moves.flatten().to_numpy()
    replayed = engine.replay(size, flat, offsets)

    game = np.repeat(np.arange(len(lengths)), lengths)
    ply = np.arange(len(flat)) - offsets[game]
    searched = ply >= games.column("opening_length").to_numpy()[game]
    black_won = np.array([w == "black" for w in games.column("winner").to_pylist()])
    z = np.where(black_won[game] == (ply % 2 == 0), 1, -1)

    maps = np.stack([engine.transform(size, symmetry) for symmetry in SYMMETRIES])
    symmetry = replayed["symmetry"]
    visits = games.column("visits").combine_chunks().flatten()
    visit_cells = visits.field("cells")
    visit_rows = np.repeat(np.arange(len(flat)), visit_cells.value_lengths().to_numpy())
    visit_searched = searched[visit_rows]
    visit_rows = visit_rows[visit_searched]
    cells = visit_cells.flatten().to_numpy()[visit_searched]
    row_number = np.cumsum(searched) - 1
    return Occurrences(
        size=size,
        game=game[searched],
        key=np.ascontiguousarray(replayed["orbit_keys"][searched]).view("V16").ravel(),
        black=replayed["black"][searched],
        white=replayed["white"][searched],
        to_move=replayed["to_move"][searched],
        ply=ply[searched],
        plies_left=(lengths[game] - ply)[searched],
        z=z[searched],
        played=maps[symmetry, flat][searched],
        sampled=games.column("sampled").combine_chunks().flatten().to_numpy(zero_copy_only=False)[searched],
        visits=Visits(
            rows=row_number[visit_rows],
            cells=maps[symmetry[visit_rows], cells],
            counts=visits.field("counts").flatten().to_numpy()[visit_searched].astype(np.int64),
        ),
        forced=int((~searched).sum()),
    )


def select(all_of_them: Occurrences, mask: NDArray[np.bool_]) -> Occurrences:
    """The occurrences where `mask` holds."""
    number = np.cumsum(mask) - 1
    visits = all_of_them.visits
    kept = mask[visits.rows]
    return Occurrences(
        size=all_of_them.size,
        game=all_of_them.game[mask],
        key=all_of_them.key[mask],
        black=all_of_them.black[mask],
        white=all_of_them.white[mask],
        to_move=all_of_them.to_move[mask],
        ply=all_of_them.ply[mask],
        plies_left=all_of_them.plies_left[mask],
        z=all_of_them.z[mask],
        played=all_of_them.played[mask],
        sampled=all_of_them.sampled[mask],
        visits=Visits(number[visits.rows[kept]], visits.cells[kept], visits.counts[kept]),
        forced=0,
    )


def reduce(found: Occurrences) -> pa.Table:
    """One row per orbit, sorted by key."""
    cells = found.size**2
    halves = found.key.view(">u8").reshape(-1, 2)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    ordered = halves[order]
    first = np.ones(len(found), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    orbits = len(starts)
    orbit = np.empty(len(found), dtype=np.int64)
    orbit[order] = np.cumsum(first) - 1
    one = order[starts]

    def total(values: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.add.reduceat(values[order], starts) if orbits else np.zeros(0, np.int64)

    games = total(np.ones(len(found), np.int64))
    policy = _sum_cells(orbit[found.visits.rows], found.visits.cells, found.visits.counts, orbits, cells)
    played = _sum_cells(orbit, found.played, np.ones(len(found), np.int64), orbits, cells)
    width = packed_width(found.size)
    columns = {
        "key": _fixed(found.key[one].tobytes(), 16, orbits),
        "size": pa.array(np.full(orbits, found.size), pa.uint8()),
        "black": _fixed(np.ascontiguousarray(found.black[one]).tobytes(), width, orbits),
        "white": _fixed(np.ascontiguousarray(found.white[one]).tobytes(), width, orbits),
        "to_move": pa.array(np.array(["black", "white"], dtype=object)[found.to_move[one]], pa.string()),
        "ply": pa.array(found.ply[one], pa.uint16()),
        "plies_left_sum": pa.array(total(found.plies_left), pa.uint64()),
        "policy_cells": _lists(policy[0], policy[1], CELLS),
        "policy_visits": _lists(policy[0], policy[2], TALLIES),
        "played_cells": _lists(played[0], played[1], CELLS),
        "played_counts": _lists(played[0], played[2], COUNTS),
        "z_sum": pa.array(total(found.z), pa.int64()),
        "z_count": pa.array(games, pa.uint32()),
        "games": pa.array(games, pa.uint32()),
        "sampled_count": pa.array(total(found.sampled.astype(np.int64)), pa.uint32()),
        "proved": pa.nulls(orbits, pa.int8()),
        "weight": pa.array(np.ones(orbits), pa.float32()),
    }
    schema = examples_schema(found.size)
    return pa.table([columns[field.name] for field in schema], schema=schema)


def _sum_cells(
    orbit: NDArray[np.int64], cell: NDArray[np.uint16], count: NDArray[np.int64], orbits: int, cells: int
) -> tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.int64]]:
    """Sum the counts of each (orbit, cell); offsets of the orbits, then cells in order, then sums."""
    place = orbit * cells + cell
    order = np.argsort(place, kind="stable")
    ordered = place[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    sums = np.add.reduceat(count[order], starts) if len(starts) else np.zeros(0, np.int64)
    distinct = ordered[starts]
    offsets = np.searchsorted(distinct, np.arange(orbits + 1) * cells)
    return offsets.astype(np.int32), (distinct % cells).astype(np.uint16), sums


def _fixed(raw: bytes, width: int, rows: int) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), rows, [None, pa.py_buffer(raw)])


def _lists(offsets: NDArray[np.int32], values: NDArray[np.generic], kind: pa.DataType) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values, kind.value_type), type=kind)


@dataclass(frozen=True)
class Built:
    raw: int
    forced: int
    unique: int
    plies: list[tuple[int, int, int]]
    """(ply, raw positions, unique positions) for every ply that occurs."""


def build(games: Path, out: Path) -> Built:
    """All shards of a campaign into out/examples.parquet."""
    table = read_folder(games, "games")
    found = occurrences(table)
    examples = reduce(found)
    lineage = {"games_rows_sha256": rows_hash(table), "engine_version": engine.ENGINE_VERSION}
    write_folder(out, {"examples.parquet": table_bytes(examples, "examples", lineage)})
    raw = np.bincount(found.ply)
    unique = np.bincount(examples.column("ply").to_numpy(), minlength=len(raw))
    plies = [(ply, int(raw[ply]), int(unique[ply])) for ply in np.flatnonzero(raw).tolist()]
    return Built(len(found), found.forced, examples.num_rows, plies)
