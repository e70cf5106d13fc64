"""Symmetry copies of example rows, as rows of their own with a `symmetry` column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hexdata import engine
from hexdata.board import packed_width, swaps_colours
from hexdata.records import CELLS, augmented_schema


def augment(examples: pa.Table, size: int, symmetries: tuple[int, ...]) -> pa.Table:
    """Each row once per symmetry, ordered by (key, symmetry); symmetry 0 is the row itself.

    The key stays the orbit's. Copies under 2 and 3 swap the colours and the side to move; z keeps its sign because
    it is the side to move's.
    """
    schema = augmented_schema(size)
    copies = [_image(examples, size, symmetry).cast(schema) for symmetry in symmetries]
    rows = examples.num_rows
    order = np.arange(rows * len(symmetries)).reshape(len(symmetries), rows).T.ravel()
    return pa.concat_tables(copies).take(pa.array(order)).combine_chunks()


def _image(examples: pa.Table, size: int, symmetry: int) -> pa.Table:
    to = engine.transform(size, symmetry)
    columns = {name: examples.column(name).combine_chunks() for name in examples.column_names}
    for name in ("policy", "played"):
        cells_name, counts_name = f"{name}_cells", "policy_visits" if name == "policy" else "played_counts"
        columns[cells_name], columns[counts_name] = _move_lists(columns[cells_name], columns[counts_name], to)
    black, white = (_move_stones(columns[colour], size, to) for colour in ("black", "white"))
    if swaps_colours(symmetry):
        black, white = white, black
        names = np.array(columns["to_move"].to_pylist(), dtype=object)
        columns["to_move"] = pa.array(np.where(names == "black", "white", "black"), pa.string())
    columns["black"], columns["white"] = black, white
    columns["symmetry"] = pa.array(np.full(examples.num_rows, symmetry), pa.uint8())
    return pa.table(columns)


def _move_stones(packed: pa.Array, size: int, to: np.ndarray) -> pa.Array:
    width = packed_width(size)
    raw = np.frombuffer(b"".join(packed.to_pylist()), np.uint8).reshape(-1, width)
    stones = np.unpackbits(raw, axis=1, bitorder="little", count=size * size)
    moved = np.zeros_like(stones)
    moved[:, to] = stones
    repacked = np.packbits(moved, axis=1, bitorder="little")
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(packed), [None, pa.py_buffer(repacked.tobytes())])


def _move_lists(cells: pa.Array, counts: pa.Array, to: np.ndarray) -> tuple[pa.Array, pa.Array]:
    """Map the cells and keep each list sorted by cell."""
    lengths = cells.value_lengths().to_numpy()
    row = np.repeat(np.arange(len(cells)), lengths)
    moved = to[cells.flatten().to_numpy()]
    order = np.lexsort((moved, row))
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    values = counts.flatten().to_numpy()[order]
    return (
        pa.ListArray.from_arrays(offsets, pa.array(moved[order], pa.uint16()), type=CELLS),
        pa.ListArray.from_arrays(offsets, pa.array(values, counts.type.value_type), type=counts.type),
    )
