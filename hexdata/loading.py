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

from hexdata.arrays import read_examples, unpack
from hexdata.records import BadFile, read_folder

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
        tensors = {name: from_dlpack(_flat(self.table, name)).reshape(getattr(self, name).shape) for name in _COLUMNS}
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


_COLUMNS = ("key", "board", "to_move", "ply", "policy", "played", "z", "proved", "games", "weight")


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
        _write(cached, decode(folder, split))
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


def decode(folder: Path, split: str) -> pa.Table:
    """The dense columns of a split, checked as training checks them."""
    raw = read_folder(folder, "dataset", f"{split}-*.parquet")
    size = _size_of(raw, folder)
    examples = read_examples(folder, split, size)
    black, white = (unpack(stones, size) for stones in (examples.positions.black, examples.positions.white))
    columns: dict[str, Array] = {
        "key": np.frombuffer(b"".join(raw["key"].to_pylist()), np.uint8).reshape(-1, 16),
        "board": black.astype(np.int8) - white.astype(np.int8),
        "to_move": examples.positions.to_move,
        "ply": raw["ply"].to_numpy().astype(np.int16),
        "policy": examples.policy,
        "played": examples.played,
        "z": examples.z,
        "proved": examples.proved.astype(np.int8),
        "games": raw["games"].to_numpy().astype(np.int32),
        "weight": examples.weight,
    }
    arrays = [_column(columns[name]) for name in _COLUMNS]
    return pa.table(arrays, names=list(_COLUMNS)).replace_schema_metadata({"size": str(size)})


def _size_of(table: pa.Table, folder: Path) -> int:
    if not table.num_rows:
        # a split without rows still has the width of its board's stones, which only its neighbours can tell apart
        for path in sorted(folder.glob("*.parquet")):
            if rows := read_folder(folder, "dataset", path.name)["size"]:
                return int(rows[0].as_py())
        raise BadFile(f"{folder}: no rows in any of its files")
    return int(table["size"][0].as_py())


def _column(values: Array) -> pa.Array:
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def _write(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        # one batch, so that every column is one piece of memory
        with pa.OSFile(temporary, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_batch(table.combine_chunks().to_batches()[0] if len(table) else _no_rows(table.schema))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _map(path: Path) -> pa.Table | None:
    """The cached table, or None if there is none, or none that can be read."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        table = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapped))).read_all()
    except (FileNotFoundError, ValueError):  # ArrowInvalid is a ValueError, as is the mapping of nothing
        return None
    return table if tuple(table.column_names) == _COLUMNS else None


def _flat(table: pa.Table, name: str) -> pa.Array:
    chunk = table[name].chunk(0)
    return chunk.values if pa.types.is_fixed_size_list(chunk.type) else chunk


def _rows(table: pa.Table) -> Rows:
    size = int(table.schema.metadata[b"size"])
    views = {name: _flat(table, name).to_numpy(zero_copy_only=True) for name in _COLUMNS}
    shapes = {"key": (-1, 16), "board": (-1, size, size), "policy": (-1, size * size), "played": (-1, size * size)}
    return Rows(size, **{name: view.reshape(shapes.get(name, -1)) for name, view in views.items()}, table=table)
