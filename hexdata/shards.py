"""Work in shards: which are already there, and making the others on a cluster.

A shard on disk is trusted only if it is, byte for byte, the file that would be made now: its key (what the rows
depend on), its rows' hash and its encoding must all agree.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hexdata.cluster import Refused, Requests, outcome, refuse_others, request
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
IN_FLIGHT = 64
"""Shards that are asked for even before there are workers for them, as those of a batch system come by and by. The
workers keep what they made until it is written here, so more would do no harm to the client."""


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
    `ATTEMPTS` times is set aside and the rest go on. Dask gives up a shard on which several workers died, but also
    those that only waited there: they are tried one at a time in the end, and set aside if they kill a worker alone.
    """
    refuse_others(client)
    waiting = iter(shards)
    suspects: deque[S] = deque()
    failures: dict[str, str] = {}
    attempts: Counter[str] = Counter()
    requests: Requests[S] = Requests(client, IN_FLIGHT)
    finished = 0
    alone = False

    def ask(shard: S) -> None:
        requests.add(_submit(client, make, shard), shard)

    try:
        while True:
            for shard in islice(waiting, max(requests.room(), 0)):
                ask(shard)
            if not requests:
                if not suspects:
                    break
                alone = True
                ask(suspects.popleft())
            if (answer := requests.answer()) is None:
                continue
            future, shard = answer
            try:
                made = _result(client, future)
            except Refused:
                ask(shard)
            except (BadInput, Unfinished):
                raise
            except Exception as error:
                if killed(error) and not alone:
                    suspects.append(shard)
                    continue
                attempts[shard.name] += 1
                if attempts[shard.name] < ATTEMPTS and not killed(error):
                    ask(shard)
                else:
                    failures[shard.name] = reason(error)
            else:
                _write(folder / shard.name, made.content)
                finished += 1
                done(shard, made)
            finally:
                future.release()
    except Unfinished as error:
        raise Unfinished(
            f"{error}; {finished} of {len(shards)} shards were finished: run the same command again"
        ) from None
    finally:
        requests.release()
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


def _submit(client: Client, make: Callable[[S], bytes | Made], shard: S) -> Any:
    # Dask's page groups tasks by the function's name; the number makes a shard that is asked for again another task
    key = f"{getattr(make, '__name__', 'make')}-{shard.name}-{next(_numbers)}"
    return client.submit(request(make, shard), key=key, pure=False)


_numbers = count()


def _result(client: Client, future: Any) -> Made:
    made = outcome(client, future)
    return made if isinstance(made, Made) else Made(made)


def _write(path: Path, content: bytes) -> None:
    try:
        write_whole(path, content)
    except OSError as error:
        raise Unfinished(f"{path}: cannot be written ({(error.strerror or str(error)).lower()})") from None


def killed(error: BaseException) -> bool:
    """Dask has given the shard to several workers already, and each died of it."""
    from distributed import KilledWorker

    return isinstance(error, KilledWorker)


def reason(error: BaseException) -> str:
    """In one line, for people."""
    if killed(error):
        return "its worker process died each time"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
