"""A dataset as NumPy and torch views of one memory-mapped file: `hexdata.load("hex6").train.policy`.

The Parquet files are decoded once into an Arrow file in the user's cache, named by a hash of their bytes; every later
load maps it and reads only what is looked at. P rows, N cells along a side, A = N * N cells:

    key      uint8[P, 16]     orbit key
    board    int8[P, N, N]    +1 Black, -1 White, 0 empty
    to_move  uint8[P]         0 Black, 1 White
    ply      int16[P]         stones on the board
    policy   float32[P, A]    visit shares, sums to 1; of rows without visits the shares of what was played
    played   float32[P, A]    shares of what was played, sums to 1
    z        float32[P]       mean result for the side to move, -1 to +1
    proved   int8[P]          +1 or -1 for the side to move, 0 where nothing is proved
    games    int32[P]         games that came through here
    weight   float32[P]
"""

from __future__ import annotations

import hashlib
import mmap
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hexdata.arrays import examples_of, unpack
from hexdata.records import BadFile, read_table, unreadable

if TYPE_CHECKING:
    from torch import Tensor

SPLITS = ("train", "validation", "test")
LAYOUT = 1
"""Of the cached files: another number, other files."""

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Rows:
    """One split. The arrays are read-only views of the mapped file; `torch()` gives tensors of the same memory."""

    size: int
    key: Array
    board: Array
    to_move: Array
    ply: Array
    policy: Array
    played: Array
    z: Array
    proved: Array
    games: Array
    weight: Array
    table: pa.Table

    def __len__(self) -> int:
        return len(self.z)

    def torch(self) -> Tensors:
        from torch.utils.dlpack import from_dlpack

        # by DLPack: from_numpy would warn that the arrays are read-only. The mapping is private, so that writing to a
        # tensor changes this process's view and never the file.
        tensors = {
            name: from_dlpack(_flat(self.table, name)).reshape(getattr(self, name).shape)
            for name in _columns(self.size)
        }
        return Tensors(self.size, **tensors)


@dataclass(frozen=True)
class Tensors:
    """The columns of `Rows` as torch tensors."""

    size: int
    key: Tensor
    board: Tensor
    to_move: Tensor
    ply: Tensor
    policy: Tensor
    played: Tensor
    z: Tensor
    proved: Tensor
    games: Tensor
    weight: Tensor

    def planes(self, rows: slice | Tensor = slice(None)) -> Tensor:
        """f32[P, 4, N+2, N+2] of these rows, as `hexdata.features` makes them for the networks."""
        from hexdata.features import Boards, planes

        board = self.board[rows].flatten(1)
        return planes(Boards(board == 1, board == -1, self.to_move[rows]), self.size)


@dataclass(frozen=True)
class Dataset:
    size: int
    train: Rows
    validation: Rows
    test: Rows


def load_dataset(name: str | os.PathLike[str], cache: Path | None = None) -> Dataset:
    """A campaign's name, a folder with `train-*.parquet`, or a release."""
    folder = find(name)
    cache = cache_folder() if cache is None else cache
    train, validation, test = (load_split(folder, split, cache) for split in SPLITS)
    return Dataset(train.size, train, validation, test)


def find(name: str | os.PathLike[str]) -> Path:
    path = Path(name)
    for folder in (Path("data") / "dataset" / path, path, path / "data" / "examples"):
        if any(folder.glob("train-*.parquet")):
            return folder
    raise BadFile(f"{name}: no dataset: expected a campaign of data/dataset, or a folder that holds train-*.parquet")


def cache_folder() -> Path:
    """$HEXDATA_CACHE, else hexdata in the user's cache."""
    if chosen := os.environ.get("HEXDATA_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hexdata"


def load_split(folder: Path, split: str, cache: Path) -> Rows:
    paths = sorted(folder.glob(f"{split}-*.parquet"))
    if not paths:
        raise BadFile(f"{folder}: no {split}-*.parquet files here")
    cached = cache / f"{content_hash(paths)}.arrow"
    table = _map(cached)
    if table is None:
        decode(paths, cached)
        table = _map(cached)
        assert table is not None
    return _rows(table)


def content_hash(paths: Sequence[Path]) -> str:
    """Of the bytes: a note inside the file would outlive a change of its rows by another program."""
    digest = hashlib.sha256(f"layout {LAYOUT}\0".encode())
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def decode(paths: Sequence[Path], out: Path) -> None:
    """The dense columns of a split's files, checked as training checks them, as one Arrow file of one batch.

    The columns are filled file by file in scratch files and written from there: memory holds one Parquet file.
    """
    counts = [_opened(path).metadata.num_rows for path in paths]
    size = _size_of(paths[0])
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".decoding.") as scratch:
        columns = {
            name: _scratch(Path(scratch) / name, (sum(counts), *shape), kind)
            for name, (kind, shape) in _columns(size).items()
        }
        start = 0
        for path, count in zip(paths, counts, strict=True):
            for name, values in _decoded(path, size).items():
                columns[name][start : start + count] = values.reshape(count, *columns[name].shape[1:])
            start += count
        arrays = [_column(values) for values in columns.values()]
        fields = [pa.field(name, array.type) for name, array in zip(columns, arrays, strict=True)]
        schema = pa.schema(fields, metadata={"size": str(size)})
        whole = Path(scratch) / "whole.arrow"
        # one batch, so that every column is one piece of memory
        with pa.OSFile(str(whole), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
        os.replace(whole, out)


def _columns(size: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The type of each column and the shape of its rows."""
    return {
        "key": ("uint8", (16,)),
        "board": ("int8", (size, size)),
        "to_move": ("uint8", ()),
        "ply": ("int16", ()),
        "policy": ("float32", (size * size,)),
        "played": ("float32", (size * size,)),
        "z": ("float32", ()),
        "proved": ("int8", ()),
        "games": ("int32", ()),
        "weight": ("float32", ()),
    }


def _decoded(path: Path, size: int) -> dict[str, Array]:
    table = read_table(path, "dataset")
    examples = examples_of(table, size, str(path))
    black, white = (unpack(stones, size) for stones in (examples.positions.black, examples.positions.white))
    return {
        "key": np.frombuffer(b"".join(table["key"].to_pylist()), np.uint8),
        "board": black.astype(np.int8) - white.astype(np.int8),
        "to_move": examples.positions.to_move,
        "ply": table["ply"].to_numpy(),
        "policy": examples.policy,
        "played": examples.played,
        "z": examples.z,
        "proved": examples.proved,
        "games": table["games"].to_numpy(),
        "weight": examples.weight,
    }


def _size_of(path: Path) -> int:
    """Of the first row there is: a split without rows leaves that to its neighbours."""
    for file in (path, *sorted(path.parent.glob("*.parquet"))):
        for batch in _opened(file).iter_batches(batch_size=1, columns=["size"]):
            return int(batch["size"][0].as_py())
    raise BadFile(f"{path.parent}: no rows in any of its files")


def _opened(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException):
        raise unreadable(path) from None


def _scratch(path: Path, shape: tuple[int, ...], kind: str) -> Array:
    return np.memmap(path, kind, "w+", shape=shape) if shape[0] else np.empty(shape, kind)


def _column(values: Array) -> pa.Array:
    flat = pa.array(values.reshape(-1))
    return flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, int(np.prod(values.shape[1:])))


def _map(path: Path) -> pa.Table | None:
    """The cached table, or None if there is none, or none that can be read."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        table = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapped))).read_all()
    except (FileNotFoundError, ValueError):  # ArrowInvalid is a ValueError, as is the mapping of nothing
        return None
    return table


def _flat(table: pa.Table, name: str) -> pa.Array:
    chunk = table[name].chunk(0)
    return chunk.values if pa.types.is_fixed_size_list(chunk.type) else chunk


def _rows(table: pa.Table) -> Rows:
    size = int(table.schema.metadata[b"size"])
    views = {
        name: _flat(table, name).to_numpy(zero_copy_only=True).reshape(len(table), *shape)
        for name, (_, shape) in _columns(size).items()
    }
    return Rows(size, **views, table=table)
