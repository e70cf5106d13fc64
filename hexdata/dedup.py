"""Records to one row per key, however many there are: deal them by key into partitions on disk, then fold each one.

Both steps run on the workers of a cluster, or here without one. Every sum is of integers and every partition is folded
as a whole, so the rows depend neither on the order of the games nor on the number of workers.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hexdata import engine
from hexdata.board import packed_width
from hexdata.cluster import Workers, connect, each
from hexdata.locks import only_writer
from hexdata.occurrences import Records, record_type
from hexdata.records import CELLS, COUNTS, TALLIES, examples_schema

if TYPE_CHECKING:
    from distributed import Client

RECORDS_PER_PARTITION = 2**17
"""On average and at most. Twice as many took 2.1 GB for ten million positions of 9x9 on two workers; these take 1.5."""

BUFFERED_BYTES = 2**25
"""Dealt records that wait here before they are appended to the partitions' files."""

Note = TypeVar("Note")
Context = TypeVar("Context")
Result = TypeVar("Result")

_FRAME = struct.Struct("<QQ")


def bits_for(records: int) -> int:
    """How many bits of the key number the partition. It depends on the data alone: files are cut by it."""
    return ((max(records, 1) - 1) // RECORDS_PER_PARTITION).bit_length()


def deal(records: Records, bits: int) -> list[bytes]:
    """The records of each partition as a frame: frames of a partition from anywhere can be joined in any order."""
    fixed, cells, counts, starts, visits = engine.deal(records.size, records.raw(), records.cells, records.counts, bits)
    frames = []
    for p in range(len(starts) - 1):
        a, b, v, w = starts[p], starts[p + 1], visits[p], visits[p + 1]
        frame = (fixed[a:b].tobytes(), cells[v:w].tobytes(), counts[v:w].tobytes())
        frames.append(b"".join((_FRAME.pack(b - a, w - v), *frame)) if b > a else b"")
    return frames


def join(size: int, frames: bytes) -> Records:
    """The records of some frames, one after the other."""
    kind = record_type(size)
    fixed, cells, counts = [np.zeros(0, kind)], [np.zeros(0, np.uint16)], [np.zeros(0, np.uint32)]
    place = 0
    while place < len(frames):
        records, visits = _FRAME.unpack_from(frames, place)
        place += _FRAME.size
        for parts, dtype, count in ((fixed, kind, records), (cells, "<u2", visits), (counts, "<u4", visits)):
            parts.append(np.frombuffer(frames, dtype, count, place))
            place += parts[-1].nbytes
    return Records(size, np.concatenate(fixed), np.concatenate(cells), np.concatenate(counts))


def fold(records: Records) -> pa.Table:
    """One row per key and side, in order: the columns of examples, then `side` and `first_shard`."""
    rows = engine.fold(records.size, records.raw(), records.cells, records.counts)
    count = len(rows["side"])
    width = packed_width(records.size)
    movers = pa.DictionaryArray.from_arrays(pa.array(rows["white_to_move"], pa.int8()), pa.array(["black", "white"]))
    games = pa.array(rows["games"])
    columns = {
        "key": _fixed(rows["key"], 16, count),
        "size": pa.array(np.full(count, records.size, np.uint8)),
        "black": _fixed(rows["black"], width, count),
        "white": _fixed(rows["white"], width, count),
        "to_move": movers.cast(pa.string()),
        "ply": pa.array(rows["ply"]),
        "plies_left_sum": pa.array(rows["plies_left_sum"]),
        "policy_cells": _lists(rows["policy_offsets"], rows["policy_cells"], CELLS),
        "policy_visits": _lists(rows["policy_offsets"], rows["policy_visits"], TALLIES),
        "played_cells": _lists(rows["played_offsets"], rows["played_cells"], CELLS),
        "played_counts": _lists(rows["played_offsets"], rows["played_counts"], COUNTS),
        "z_sum": pa.array(rows["z_sum"]),
        "z_count": games,
        "games": games,
        "sampled_count": pa.array(rows["sampled_count"]),
        "proved": pa.nulls(count, pa.int8()),
        "weight": pa.array(np.ones(count, np.float32)),
        "side": pa.array(rows["side"]),
        "first_shard": pa.array(rows["first_shard"]),
    }
    schema = examples_schema(records.size)
    schema = schema.append(pa.field("side", pa.uint8())).append(pa.field("first_shard", pa.uint32()))
    return pa.table([columns[field.name] for field in schema], schema=schema)


def examples_of(folded: pa.Table) -> pa.Table:
    """Folded rows without what only the split needs."""
    return folded.drop_columns(["side", "first_shard"])


def keys_of_rows(table: pa.Table, column: str = "key") -> NDArray[np.bytes_]:
    """The key column, or another of 16 bytes, as numpy bytes, which sort and compare."""
    chunks = [
        np.frombuffer(chunk.buffers()[1], "S16", len(chunk), 16 * chunk.offset)
        for chunk in table.column(column).chunks
        if len(chunk)
    ]
    return np.concatenate(chunks) if chunks else np.zeros(0, "S16")


def found_in(keys: NDArray[np.bytes_], ordered: NDArray[np.bytes_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which keys are among the ordered ones, and where."""
    places = np.searchsorted(ordered, keys)
    if not len(ordered):
        return np.zeros(len(keys), bool), places
    return ordered[np.minimum(places, len(ordered) - 1)] == keys, places


def _fixed(raw: NDArray[np.uint8], width: int, rows: int) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), rows, [None, pa.py_buffer(raw)])


def _lists(offsets: NDArray[np.int32], values: NDArray[np.generic], kind: pa.DataType) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values, kind.value_type), type=kind)


@contextmanager
def spill_folder(out: Path) -> Iterator[Path]:
    """A folder beside `out` for what does not fit into memory, gone afterwards. What a killed run left goes first.

    Nobody else may write `out` meanwhile: they would share the folder.
    """
    folder = out.parent / f".{out.name}.spill"
    with only_writer(out):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def client_for(bits: int, cluster: str | None, workers: Workers | None) -> Iterator[Client | None]:
    """The cluster that is named, else a local one; none for a single partition, or for a single worker: here is one."""
    if cluster is None and (bits == 0 or workers == 1):
        yield None
        return
    with connect(cluster, workers) as client:
        yield client


def deal_all(
    client: Client | None,
    payloads: Iterable[bytes],
    read: Callable[[bytes], tuple[Records, Note]],
    bits: int,
    folder: Path,
) -> list[Note]:
    """Have every payload read and dealt by some worker, and write the partitions to the folder, a file each."""
    for p in range(2**bits):
        _partition(folder, p).touch()
    notes = []
    waiting: list[list[bytes]] = [[] for _ in range(2**bits)]
    size = 0
    for frames, note in each(client, partial(_read_and_deal, read, bits), payloads):
        notes.append(note)
        for frame, others in zip(frames, waiting, strict=True):
            if frame:
                others.append(frame)
        size += sum(map(len, frames))
        if size > BUFFERED_BYTES:
            _append(folder, waiting)
            size = 0
    _append(folder, waiting)
    return notes


def fold_all(
    client: Client | None,
    folder: Path,
    size: int,
    bits: int,
    finish: Callable[[int, Records, Context], Result],
    context: Callable[[int], Context],
) -> Iterator[tuple[int, Result]]:
    """What `finish` makes of each partition's records on some worker, in no order. `context` is asked here, and for
    one partition at a time."""

    def tasks() -> Iterator[tuple[int, bytes, Context]]:
        for p in range(2**bits):
            path = _partition(folder, p)
            yield p, path.read_bytes(), context(p)
            path.unlink()

    yield from each(client, partial(_finish, finish, size), tasks())


def _read_and_deal(
    read: Callable[[bytes], tuple[Records, Note]], bits: int, payload: bytes
) -> tuple[list[bytes], Note]:
    records, note = read(payload)
    return deal(records, bits), note


def _finish(
    finish: Callable[[int, Records, Context], Result], size: int, task: tuple[int, bytes, Context]
) -> tuple[int, Result]:
    p, frames, context = task
    return p, finish(p, join(size, frames), context)


def _partition(folder: Path, p: int) -> Path:
    return folder / f"partition-{p:05d}"


def _append(folder: Path, waiting: list[list[bytes]]) -> None:
    for p, frames in enumerate(waiting):
        if frames:
            with _partition(folder, p).open("ab") as file:
                file.writelines(frames)
            frames.clear()
