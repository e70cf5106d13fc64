"""Example rows as dense numpy arrays: what training and evaluation both read from a dataset.

Decoding is vectorised over all rows and refuses rows that no network could learn from.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hexdata.board import packed_width
from hexdata.records import BadFile, read_folder

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Positions:
    """Packed stones, one row per position; `to_move` is 0 for Black and 1 for White."""

    size: int
    black: Bytes
    white: Bytes
    to_move: Bytes

    def __len__(self) -> int:
        return len(self.to_move)

    def legal(self) -> Bools:
        """bool[P, cells]: the empty cells."""
        return ~(unpack(self.black, self.size) | unpack(self.white, self.size))


@dataclass(frozen=True)
class Examples:
    """Positions with what was played there and how it ended, for the side to move."""

    positions: Positions
    policy: Floats
    """f32[P, cells], sums to 1: the visit distribution, or the played counts of rows without visits."""
    played: Floats
    """f32[P, cells], sums to 1 (0 where no move was recorded)."""
    z: Floats
    """Mean result over the row's games."""
    proved: Floats
    """+1, -1, or 0 where nothing is proved."""
    undithered: Bools
    """No move of this row was drawn at random."""
    weight: Floats

    def __len__(self) -> int:
        return len(self.positions)

    def value(self) -> Floats:
        """The best knowledge of the state's value: proved, else the mean result."""
        return np.where(self.proved != 0, self.proved, self.z)

    def best_move(self) -> npt.NDArray[np.int64]:
        """The most visited (else most played) cell, the smallest one on a tie."""
        moves: npt.NDArray[np.int64] = self.policy.argmax(axis=1)
        return moves


def unpack(packed: Bytes, size: int) -> Bools:
    """bool[P, cells] of packed stones."""
    return np.unpackbits(packed, axis=1, count=size * size, bitorder="little").astype(np.bool_)


def positions_of(table: pa.Table, size: int, name: str) -> Positions:
    """The position columns of a table of examples or suite positions; `name` is what an error calls it."""
    sizes = pc.unique(table["size"]).to_pylist()
    if sizes not in ([], [size]):
        other = next(s for s in sizes if s != size)
        raise BadFile(f"{name}: holds {other}x{other} positions, expected {size}x{size}")
    sides = pc.index_in(table["to_move"], value_set=pa.array(["black", "white"]))
    if sides.null_count:
        row = int(np.flatnonzero(pc.is_null(sides).to_numpy())[0])
        raise BadFile(f"{name}: row {row}: to_move is {table['to_move'][row].as_py()!r}, expected black or white")
    width = packed_width(size)
    return Positions(
        size,
        _fixed_binary(table["black"], width),
        _fixed_binary(table["white"], width),
        sides.to_numpy().astype(np.uint8),
    )


def read_examples(folder: Path, split: str, size: int, kind: str = "dataset") -> Examples:
    """One split of a folder of a dataset or of augmented rows."""
    return examples_of(read_folder(folder, kind, f"{split}-*.parquet"), size, f"{folder}: {split}")


def examples_of(table: pa.Table, size: int, name: str) -> Examples:
    """The rows of a table of examples; `name` is what an error calls it."""
    positions = positions_of(table, size, name)
    taken = ~positions.legal()

    visits = dense_counts(table["policy_cells"], table["policy_visits"], size, name)
    played = dense_counts(table["played_cells"], table["played_counts"], size, name)
    policy = np.where(visits.any(axis=1, keepdims=True), visits, played)
    weight = table["weight"].to_numpy().astype(np.float32)
    z_count = table["z_count"].to_numpy()
    _refuse(name, ((visits > 0) | (played > 0)) & taken, "a move to a taken cell")
    _refuse(name, policy.sum(axis=1) == 0, "neither visits nor played moves")
    _refuse(name, z_count == 0, "z_count 0, expected at least one game")
    _refuse(name, ~(np.isfinite(weight) & (weight > 0)), "a weight that is not above 0")

    return Examples(
        positions,
        policy=_shares(policy),
        played=_shares(played),
        z=(table["z_sum"].to_numpy() / z_count).astype(np.float32),
        proved=pc.fill_null(table["proved"], 0).to_numpy().astype(np.float32),
        undithered=table["sampled_count"].to_numpy() == 0,
        weight=weight,
    )


def dense_counts(cells: pa.ChunkedArray, counts: pa.ChunkedArray, size: int, name: str) -> npt.NDArray[np.float64]:
    """f64[P, cells] of two list columns that name cells and count something at each of them."""
    rows, flat_cells = _ragged(cells)
    count_rows, flat_counts = _ragged(counts)
    if not np.array_equal(rows, count_rows):
        raise BadFile(f"{name}: a list of cells and its counts differ in length")
    if flat_cells.size and int(flat_cells.max()) >= size * size:
        raise BadFile(f"{name}: cell {int(flat_cells.max())} is not on a {size}x{size} board")
    dense = np.zeros((len(cells), size * size))
    dense[rows, flat_cells] = flat_counts
    return dense


def cell_sets(cells: pa.ChunkedArray, size: int) -> Bools:
    """bool[P, cells] of a list column of cells."""
    dense = np.zeros((len(cells), size * size), dtype=np.bool_)
    dense[_ragged(cells)] = True
    return dense


def _shares(counts: npt.NDArray[np.float64]) -> Floats:
    shares: Floats = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).astype(np.float32)
    return shares


def _ragged(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The row of every element of a list column, and the elements."""
    lengths = pc.list_value_length(column).to_numpy()
    return np.repeat(np.arange(len(column)), lengths), pc.list_flatten(column).to_numpy().astype(np.int64)


def _fixed_binary(column: pa.ChunkedArray, width: int) -> Bytes:
    raw = b"".join(
        memoryview(chunk.buffers()[1])[chunk.offset * width : (chunk.offset + len(chunk)) * width]
        for chunk in column.chunks
        if len(chunk)
    )
    return np.frombuffer(raw, dtype=np.uint8).reshape(-1, width)


def _refuse(name: str, bad: Bools, what: str) -> None:
    rows = np.flatnonzero(bad if bad.ndim == 1 else bad.any(axis=1))
    if rows.size:
        raise BadFile(f"{name}: row {rows[0]} has {what}")
