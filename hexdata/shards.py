"""Work in shards: which are already there, and making the others on a cluster.

A shard on disk is trusted only if it is, byte for byte, the file that would be made now: its key (what the rows
depend on), its rows' hash and its encoding must all agree.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hexdata.cluster import WrongVersion, checked, refuse, refuse_others, versions
from hexdata.errors import BadInput, Unfinished
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

ATTEMPTS = 3
"""At a shard that fails by itself; a lost worker does not count."""
WINDOW_SECONDS = 2.0


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


def complete(
    client: Client,
    make: Callable[[S], bytes | Made],
    shards: Sequence[S],
    folder: Path,
    done: Callable[[S, Made], None],
) -> dict[str, str]:
    """Have the cluster make these shards, and write what it returns. Says which were set aside, and why.

    Only some shards a worker are in flight, so that results never pile up here; whichever is ready first is written
    first, so that a slow one holds nobody up. A lost worker's shard is made again by another; one that fails
    `ATTEMPTS` times is set aside and the rest go on.
    """
    from distributed import as_completed

    refuse_others(client)
    waiting = iter(shards)
    failures: dict[str, str] = {}
    attempts: Counter[str] = Counter()
    asked: dict[Any, S] = {}
    ready = as_completed(loop=client.loop)
    window = _Window(client)
    finished = 0

    def ask(shard: S) -> None:
        future = _submit(client, make, shard)
        asked[future] = shard
        ready.add(future)

    try:
        for shard in islice(waiting, window.room(0)):
            ask(shard)
        for future in ready:
            shard = asked.pop(future)
            try:
                made = _result(client, future)
            except Refused:
                ask(shard)
                continue
            except (BadInput, Unfinished):
                raise
            except Exception as error:
                attempts[shard.name] += 1
                if attempts[shard.name] < ATTEMPTS and not _killed(error):
                    ask(shard)
                    continue
                failures[shard.name] = reason(error)
            else:
                _write(folder / shard.name, made.content)
                finished += 1
                done(shard, made)
            finally:
                future.release()
            for following in islice(waiting, window.room(len(asked))):
                ask(following)
    except Unfinished as error:
        raise Unfinished(
            f"{error}; {finished} of {len(shards)} shards were finished: run the same command again"
        ) from None
    finally:
        for future in asked:
            future.release()
    return failures


def set_aside(failures: Mapping[str, str], total: int) -> str:
    """The sentence about shards that failed for good."""
    named = "; ".join(f"{name} ({why})" for name, why in sorted(failures.items()))
    many = "1 shard was" if len(failures) == 1 else f"{len(failures)} shards were"
    return (
        f"{many} set aside after {ATTEMPTS} attempts: {named}; the other {total - len(failures)} are finished: "
        "run the same command again to try once more"
    )


def make_on(client: Client, make: Callable[[S], bytes | Made], shard: S, folder: Path) -> Made:
    """Have a worker make one shard and write what it returns. A lost worker's shard is made again by another."""
    while True:
        future = _submit(client, make, shard)
        try:
            made = _result(client, future)
        except Refused:
            continue
        finally:
            future.release()
        _write(folder / shard.name, made.content)
        return made


class Refused(Exception):
    """The worker was of another version and is gone; ask again."""


def _submit(client: Client, make: Callable[[S], bytes | Made], shard: S) -> Any:
    # Dask's page groups tasks by the function's name; the number makes a shard that is asked for again another task
    key = f"{getattr(make, '__name__', 'make')}-{shard.name}-{next(_numbers)}"
    return client.submit(checked, make, shard, versions(), key=key, pure=False)


_numbers = count()


def _result(client: Client, future: Any) -> Made:
    from distributed.comm.core import CommClosedError

    try:
        made = future.result()
    except WrongVersion as error:
        refuse(client, *error.args)
        raise Refused from None
    except (CancelledError, CommClosedError):
        where = client.scheduler.address if client.scheduler else "its address"
        raise Unfinished(f"the Dask scheduler at {where} was lost") from None
    return made if isinstance(made, Made) else Made(made)


def _write(path: Path, content: bytes) -> None:
    try:
        write_whole(path, content)
    except OSError as error:
        raise Unfinished(f"{path}: cannot be written ({(error.strerror or str(error)).lower()})") from None


class _Window:
    """How many shards may be in flight: two a worker, so that none waits for the client. Workers come and go."""

    def __init__(self, client: Client) -> None:
        self._client, self._asked_at, self._shards = client, -math.inf, 0

    def room(self, in_flight: int) -> int:
        if time.monotonic() - self._asked_at > WINDOW_SECONDS:
            try:
                self._shards = 2 + 2 * sum(self._client.nthreads().values())
            except (OSError, TimeoutError):
                raise Unfinished("the Dask scheduler was lost") from None
            self._asked_at = time.monotonic()
        return max(self._shards - in_flight, 0)


def _killed(error: Exception) -> bool:
    """Dask has given the shard to several workers already, and each died of it."""
    from distributed import KilledWorker

    return isinstance(error, KilledWorker)


def reason(error: BaseException) -> str:
    """In one line, for people."""
    if _killed(error):  # type: ignore[arg-type]
        return "its worker process died each time"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
