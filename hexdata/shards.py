"""Work in shards: which are already there, and making the others on a cluster.

A shard on disk is trusted only if it is, byte for byte, the file that would be made now: its key (what the rows
depend on), its rows' hash and its encoding must all agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from hexdata.records import SCHEMA_VERSION, BadFile, metadata_of, read_table, rows_hash, table_bytes, write_whole

if TYPE_CHECKING:
    from distributed import Client


class Shard(Protocol):
    @property
    def name(self) -> str:
        """Of its file."""

    def key(self) -> str:
        """A hash of everything that its rows depend on."""


@dataclass(frozen=True)
class Made:
    """What a worker returns: the shard's file, and figures for whoever watches. They are not part of any artifact."""

    content: bytes
    notes: Mapping[str, int] = field(default_factory=dict)


S = TypeVar("S", bound=Shard)


def is_finished(path: Path, key: str) -> bool:
    if not path.is_file():
        return False
    try:
        table = read_table(path)
    except BadFile:
        return False
    notes = metadata_of(table)
    kind, version, rows = (notes.pop(name, None) for name in ("kind", "schema_version", "rows_sha256"))
    if notes.get("key") != key or version != SCHEMA_VERSION or rows != rows_hash(table):
        return False
    # a flipped byte that no reader notices would still change the folder's hash
    return table_bytes(table, str(kind), notes) == path.read_bytes()


def unfinished(folder: Path, shards: Sequence[S]) -> list[S]:
    return [shard for shard in shards if not is_finished(folder / shard.name, shard.key())]


def make_on(client: Client, make: Callable[[S], bytes], shard: S, folder: Path) -> None:
    """Have a worker make the shard and write what it returns. A lost worker's shard is made again by another."""
    future = client.submit(make, shard, pure=False)
    try:
        write_whole(folder / shard.name, future.result())
    finally:
        future.cancel()
