"""The Arrow schemas of every artifact and the one Parquet writer, which gives the same bytes for the same rows.

A column that holds a value says in its field metadata whose value it is (`value_for`).
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hexdata.board import packed_width
from hexdata.errors import BadInput

SCHEMA_VERSION = 1
ROW_GROUP_ROWS = 8192

_SIDE_TO_MOVE = {"value_for": "side to move"}


class BadFile(BadInput):
    """A file that is not what it should be; the message names it."""


def _value(name: str, kind: pa.DataType, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata=_SIDE_TO_MOVE)


def _need(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


def _list(kind: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", kind, nullable=False))


CELLS, COUNTS, TALLIES = _list(pa.uint16()), _list(pa.uint32()), _list(pa.uint64())


def games_schema() -> pa.Schema:
    visits = pa.struct([_need("cells", CELLS), _need("counts", COUNTS)])
    return pa.schema(
        [
            _need("game_id", pa.binary(16)),
            _need("campaign", pa.string()),
            _need("shard", pa.uint32()),
            _need("size", pa.uint8()),
            _need("opening_length", pa.uint16()),
            _need("moves", CELLS),
            _need("winner", pa.string()),
            _need("ended_by", pa.string()),
            _need("swapped", pa.bool_()),
            _need("black", pa.string()),
            _need("white", pa.string()),
            _need("seed", pa.uint64()),
            _need("budget", COUNTS),
            _value("root_value", _list(pa.float32())),
            _need("visits", _list(visits)),
            _need("sampled", _list(pa.bool_())),
            _need("engine_version", pa.uint32()),
            pa.field("net_hash", pa.string()),
        ]
    )


def _position_fields(size: int) -> list[pa.Field]:
    return [
        _need("key", pa.binary(16)),
        _need("size", pa.uint8()),
        _need("black", pa.binary(packed_width(size))),
        _need("white", pa.binary(packed_width(size))),
        _need("to_move", pa.string()),
        _need("ply", pa.uint16()),
    ]


def examples_schema(size: int) -> pa.Schema:
    """One row per orbit: `z_sum` is wins minus losses of the side to move over `z_count` games."""
    return pa.schema(
        [
            *_position_fields(size),
            _need("plies_left_sum", pa.uint64()),
            _need("policy_cells", CELLS),
            _need("policy_visits", TALLIES),
            _need("played_cells", CELLS),
            _need("played_counts", COUNTS),
            _value("z_sum", pa.int64()),
            _need("z_count", pa.uint32()),
            _need("games", pa.uint32()),
            _need("sampled_count", pa.uint32()),
            _value("proved", pa.int8(), nullable=True),
            _need("weight", pa.float32()),
        ]
    )


def augmented_schema(size: int) -> pa.Schema:
    return examples_schema(size).append(_need("symmetry", pa.uint8()))


def suite_schema(size: int) -> pa.Schema:
    """`value` is +1 or -1, null when the node budget ran out; the three move lists cover every legal move."""
    return pa.schema(
        [
            *_position_fields(size),
            _value("value", pa.int8(), nullable=True),
            _need("winning_moves", CELLS),
            _need("losing_moves", CELLS),
            _need("unknown_moves", CELLS),
            _need("nodes", pa.uint64()),
            _need("difficulty", pa.string()),
            _need("source", pa.string()),
        ]
    )


def openings_schema() -> pa.Schema:
    return pa.schema(
        [
            _need("size", pa.uint8()),
            _need("cell", pa.uint16()),
            _need("winner", pa.string()),
            _need("nodes", pa.uint64()),
        ]
    )


def schema_for(kind: str, size: int) -> pa.Schema:
    return {
        "games": games_schema,
        "examples": lambda: examples_schema(size),
        "dataset": lambda: examples_schema(size),
        "augmented": lambda: augmented_schema(size),
        "suite": lambda: suite_schema(size),
        "openings": openings_schema,
    }[kind]()


def rows_hash(table: pa.Table) -> str:
    """A hash of the rows alone: it survives another Parquet writer, codec or row group size."""
    digest = hashlib.sha256()
    for name in table.column_names:
        digest.update(name.encode() + b"\0")
        _hash_array(digest, _one_chunk(table.column(name)))
    return digest.hexdigest()


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(column.chunks)


def _hash_array(digest: hashlib._Hash, array: pa.Array) -> None:
    kind = array.type
    digest.update(f"{_hashed_kind(kind)}:{len(array)}\0".encode())
    if array.null_count:
        nulls = array.is_null().to_numpy(zero_copy_only=False)
        digest.update(np.flatnonzero(nulls).astype("<u8").tobytes())
        array = array.drop_null()
    if _is_list(kind):
        lengths = array.value_lengths().to_numpy(zero_copy_only=False)
        digest.update(lengths.astype("<u4").tobytes())
        _hash_array(digest, array.flatten())
    elif pa.types.is_struct(kind):
        for index in range(kind.num_fields):
            _hash_array(digest, array.field(index) if not array.offset else array.flatten()[index])
    elif _hashed_kind(kind) == "bytes":
        # one form for all that hold bytes: writers differ in what they take for text, and in fixed widths
        wide = array.cast(pa.binary()) if pa.types.is_fixed_size_binary(kind) else array
        wide = wide.cast(pa.large_binary())
        offsets = np.frombuffer(wide.buffers()[1], np.int64, len(wide) + 1, 8 * wide.offset)
        digest.update(np.diff(offsets).astype("<u4").tobytes())
        if len(wide) and (data := wide.buffers()[2]) is not None:
            digest.update(memoryview(data)[offsets[0] : offsets[-1]])
    elif pa.types.is_boolean(kind):
        digest.update(np.packbits(array.to_numpy(zero_copy_only=False)).tobytes())
    else:
        digest.update(array.to_numpy(zero_copy_only=False).tobytes())


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _hashed_kind(kind: pa.DataType) -> str:
    """Only the shape of nested types: writers rename the elements of lists."""
    if _is_list(kind):
        return "list"
    if pa.types.is_struct(kind):
        return "struct"
    held = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    if pa.types.is_fixed_size_binary(kind) or any(holds(kind) for holds in held):
        return "bytes"
    return str(kind)


def table_bytes(table: pa.Table, kind: str, metadata: Mapping[str, object]) -> bytes:
    """The Parquet file of these rows. Metadata keys are sorted; the rows' hash and the schema version are added."""
    notes = {**metadata, "kind": kind, "schema_version": SCHEMA_VERSION, "rows_sha256": rows_hash(table)}
    encoded = {f"hexdata.{key}": json.dumps(notes[key], sort_keys=True) for key in sorted(notes)}
    sink = pa.BufferOutputStream()
    # dataset.write_dataset was measured to vary from run to run; write_table does not
    pq.write_table(
        table.replace_schema_metadata(encoded),
        sink,
        row_group_size=ROW_GROUP_ROWS,
        compression="zstd",
        compression_level=3,
        version="2.6",
        data_page_version="1.0",
        write_statistics=True,
    )
    return bytes(sink.getvalue())


def write_whole(path: Path, content: bytes) -> None:
    """The file appears by rename, whole or not at all. A file that already holds these bytes is left alone."""
    if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def json_bytes(value: object) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True) + "\n").encode()


def write_json(path: Path, value: object) -> None:
    write_whole(path, json_bytes(value))


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")  # quotes the commas in names of players
    writer.writerow(header)
    writer.writerows([str(value) for value in row] for row in rows)
    write_whole(path, text.getvalue().encode())


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make the folder hold exactly these files: new ones first, then whatever else lay there goes."""
    for name, content in files.items():
        write_whole(folder / name, content)
    remove_others(folder, files)


def remove_others(folder: Path, names: Iterable[str]) -> None:
    """Remove every file of the folder that is not named, and folders left empty."""
    keep = {folder / name for name in names}
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in keep:
            path.unlink()


def unreadable(path: Path) -> BadFile:
    return BadFile(f"{path}: not a readable Parquet file: truncated, damaged or something else")


def read_table(path: Path, kind: str | None = None, columns: Sequence[str] | None = None) -> pa.Table:
    """Read one of our Parquet files, or some of its columns, checking that it is whole and of the expected kind."""
    try:
        table = pq.read_table(path, columns=list(columns) if columns else None, partitioning=None)
    except FileNotFoundError:
        raise BadFile(f"{path}: no such file") from None
    except (OSError, pa.ArrowException):
        raise unreadable(path) from None
    try:
        found = metadata_of(table).get("kind")
    except ValueError:
        raise BadFile(f"{path}: its metadata is damaged") from None
    if kind is not None and found != kind:
        raise BadFile(f"{path}: expected a table of {kind}, found {found or 'one that hexdata did not write'}")
    return table


def metadata_of(table: pa.Table) -> dict[str, object]:
    return metadata_of_schema(table.schema)


def metadata_of_schema(schema: pa.Schema) -> dict[str, object]:
    raw = schema.metadata or {}
    prefix = b"hexdata."
    return {k[len(prefix) :].decode(): json.loads(v) for k, v in raw.items() if k.startswith(prefix)}


def read_folder(folder: Path, kind: str, pattern: str = "*.parquet") -> pa.Table:
    """All tables of a folder, in the order of their names, as one."""
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise BadFile(f"{folder}: no {pattern} files here; run `make repro` to build them")
    return pa.concat_tables([read_table(path, kind).replace_schema_metadata(None) for path in paths])


def params_hash(params: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(params, sort_keys=True).encode()).hexdigest()


def folder_hash(folder: Path) -> str:
    """A hash of all files below a folder, names and bytes."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
