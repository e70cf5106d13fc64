"""Where the work runs: on worker processes of this machine by default, or on any Dask cluster.

    local                    one-thread worker processes here
    tcp://HOST:8786          a scheduler by its address; tls://… with the certificates of Dask's configuration
    slurm, pbs               workers as jobs of a batch system, through dask-jobqueue and its configuration
    ssh:HOST,HOST…           a scheduler on the first host and workers on all of them, through Dask's own SSH

Workers return bytes and the client writes them, so no shared file system is needed. A worker whose engine is of another
version would make other bytes: it is refused by name and its work goes to the others.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import os
import pickle
import re
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from hexdata.errors import BadInput, Unfinished

if TYPE_CHECKING:
    from distributed import Client

Workers: TypeAlias = int | tuple[int, int]
"""How many worker processes, or the least and the most between which they come and go."""

QUIET: dict[str, object] = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.scheduler.work-stealing-interval": "1s",
}
"""Dask's own housekeeping, for tasks that are one long call of the engine: sampling every worker's stack each 10 ms and
ticks of 20 ms took a tenth of the games per second (0.85 of the bare engines' became 0.97)."""

LOOK_SECONDS = 2.0
"""How often the workers are counted while work waits for room."""

T = TypeVar("T")
S = TypeVar("S")


class BadCluster(BadInput):
    """The cluster cannot be reached or cannot be used; the message names it and what to do."""


class Refused(Exception):
    """The worker was not one to use and is gone; ask again."""


def parse_workers(text: str) -> Workers:
    """`4`, or `2-16` for as many as there is work for."""
    found = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", text)
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not found or high < 1 or low > high:
        raise BadInput(f"--workers is {text!r}: expected a number such as 4, or a range such as 2-16")
    return (low, high) if found[2] else low


@contextmanager
def connect(where: str | None = None, workers: Workers | None = None) -> Iterator[Client]:
    """A Dask client on `where`. `workers` is for what starts them: all but an address."""
    import dask
    from distributed import Client

    # Prefect's logging shows every INFO line of the scheduler and the nannies
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with ExitStack() as stack:
        if where is not None and "://" in where:
            warn_if_open(where)
            yield stack.enter_context(_reach(where))
            return
        # a tick is late when a shard is written: no reason to tell
        stack.enter_context(dask.config.set(QUIET | {"distributed.admin.tick.limit": "60s"}))
        cluster = stack.enter_context(_start(where or "local", workers))
        if where not in (None, "local"):
            warn_if_open(cluster.scheduler_address)
        yield stack.enter_context(Client(cluster, set_as_default=False))


def _reach(address: str) -> Client:
    from distributed import Client
    from distributed.comm.core import connect
    from distributed.security import Security

    async def try_it() -> None:
        # for as long as Dask's own setting distributed.comm.timeouts.connect says
        comm = await connect(address, **Security().get_connection_args("client"))
        await comm.close()

    try:
        # first without a client: one that fails in its constructor keeps its thread, cannot be closed, and if it is
        # collected while the next one starts, both wait for one lock
        asyncio.run(try_it())
        return Client(address, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        tls = " with Dask's TLS configured here and there" if address.startswith("tls") else ""
        told = f" ({error})" if isinstance(error, TypeError | RuntimeError) and str(error) else ""
        raise BadCluster(
            f"no Dask scheduler answers at {address}{told}: expected an address such as tcp://host:8786{tls}"
        ) from None


@contextmanager
def _start(where: str, workers: Workers | None) -> Iterator[Any]:
    kind, _, rest = where.partition(":")
    if kind == "local" and not rest:
        with _lean_workers(), _local(workers) as cluster:
            yield cluster
    elif kind in ("slurm", "pbs") and not rest:
        if workers is None:
            raise BadCluster(f"--cluster {kind} starts jobs: expected --workers, such as --workers 2-16")
        with _batch(kind) as cluster:
            _scale(cluster, workers)
            yield cluster
    elif kind == "ssh" and rest:
        if isinstance(workers, tuple):
            raise BadCluster("--cluster ssh starts as many workers on each host: expected --workers with one number")
        with _ssh(rest.split(","), workers or 1) as cluster:
            yield cluster
    else:
        raise BadCluster(f"unknown cluster {where!r}: expected local, tcp://…, tls://…, slurm, pbs or ssh:HOST,HOST")


def _local(workers: Workers | None) -> Any:
    from distributed import LocalCluster

    at_first = workers if isinstance(workers, int) else (workers[0] if workers else os.cpu_count() or 1)
    # a worker that is killed mid-shard is replaced by its nanny and the shard is played again
    cluster = LocalCluster(
        n_workers=at_first, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.ERROR
    )
    if isinstance(workers, tuple):
        _scale(cluster, workers)
    return cluster


def _scale(cluster: Any, workers: Workers) -> None:
    if isinstance(workers, int):
        cluster.scale(workers)
    else:
        cluster.adapt(minimum=workers[0], maximum=workers[1])


def _batch(kind: str) -> Any:
    try:
        import dask_jobqueue
    except ImportError:
        raise BadCluster(
            f"--cluster {kind} needs dask-jobqueue: install it with `pip install hexdata[jobqueue]`"
        ) from None
    import dask

    def configured(name: str, standard: object) -> object:
        return dask.config.get(f"jobqueue.{kind}.{name}", None) or standard

    make = getattr(dask_jobqueue, {"slurm": "SLURMCluster", "pbs": "PBSCluster"}[kind])
    # one-thread workers, as everywhere; queue, account, walltime and the rest are the site's, in Dask's configuration
    return make(cores=configured("cores", 1), memory=configured("memory", "2GB"), processes=configured("processes", 1))


def _ssh(hosts: list[str], workers: int) -> Any:
    """Hosts, users, ports and keys are as in ~/.ssh/config; Python is where it is here."""
    from asyncssh import Error
    from distributed import SSHCluster

    try:
        return SSHCluster([hosts[0], *hosts], worker_options={"nthreads": 1, "n_workers": workers})
    except (OSError, RuntimeError, Error) as error:
        raise BadCluster(f"no Dask cluster starts by ssh on {', '.join(hosts)}: {error}") from None


# ----------------------------------------------------------------------------------------------------------- workers


def serve(address: str, processes: int) -> int:
    """Run worker processes for a scheduler until it goes or they are stopped; returns the exit code."""
    if "://" not in address:
        raise BadCluster(f"{address!r} is no scheduler: expected an address such as tcp://host:8786 or tls://host:8786")
    _reach(address).close()
    warn_if_open(address)
    # a shard is one call of the engine, so one thread each; workers end when their scheduler is gone for a minute
    options = ["--nworkers", str(processes), "--nthreads", "1", "--death-timeout", "60", "--no-dashboard"]
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, *options]
    # after Dask's own environment variables, so that those who set them are heard
    quiet = {"DASK_" + name.replace(".", "__").replace("-", "_").upper(): str(value) for name, value in QUIET.items()}
    os.execve(sys.executable, command, quiet | os.environ)


def warn_if_open(address: str) -> None:
    """One line: whoever reaches an open scheduler or worker can run any program there."""
    if not address.startswith("tls://") and not is_loopback(address):
        print(
            f"hexdata: warning: {address} is not encrypted and open to its network, where anyone can run code on it: "
            "use tls:// (see README.md)",
            file=sys.stderr,
        )


def is_loopback(address: str) -> bool:
    if address.startswith("inproc://"):
        return True
    host = address.partition("://")[2].rpartition(":")[0].strip("[]")
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ipaddress.ip_address(ip.partition("%")[0]).is_loopback for ip in found)


def versions() -> dict[str, object]:
    """What must be the same here and on every worker, which writes Parquet too: pyarrow puts its version there."""
    import pyarrow

    from hexdata.engine import ENGINE_VERSION
    from hexdata.records import SCHEMA_VERSION

    return {"engine": ENGINE_VERSION, "schema": SCHEMA_VERSION, "pyarrow": pyarrow.__version__}


UNFIT = "not a worker for this"


def request(make: Callable[[S], T], item: S) -> Callable[[], T]:
    """What a worker is asked for. One that is not to be used answers with ImportError: UNFIT, its address, what it has.

    The function travels by value, so that a worker without hexdata can load it and say so. One that cannot load its
    task ends, as if the task had killed it, and comes again with its nanny for the next.
    """
    expected, content, unfit = versions(), pickle.dumps((make, item)), UNFIT

    def run() -> T:
        import pickle

        from distributed import get_worker

        found: object
        try:
            from hexdata import cluster

            work, of = pickle.loads(content)
            found = cluster.versions()
        except (ImportError, AttributeError) as error:
            found = repr(error)
        if found != expected:
            # an answer instead of an error would be data, without which the worker cannot be closed
            raise ImportError(unfit, get_worker().address, found)
        result: T = work(of)
        return result

    return run


def outcome(client: Client, future: Any) -> Any:
    """What the worker returned or raised; Refused if it was none to use; Unfinished if the scheduler is lost."""
    from distributed.comm.core import CommClosedError

    try:
        return future.result()
    except (CancelledError, CommClosedError):
        raise lost(client) from None
    except ImportError as error:
        if error.args[:1] != (UNFIT,):
            raise
        refuse(client, *error.args[1:])
        raise Refused from None


def refuse_others(client: Client) -> None:
    """Look at every worker before work starts; BadCluster if there are some but none that can be used."""
    found = client.run(versions, on_error="return")
    if not found and client.cluster is None and client.scheduler:
        where = client.scheduler.address
        print(
            f"hexdata: {where} has no workers yet: start some with `hexdata worker {where}`",
            file=sys.stderr,
            flush=True,
        )
    for worker, told in found.items():
        if told != versions():
            refuse(client, worker, told)
    if found and all(told != versions() for told in found.values()):
        raise BadCluster(f"every worker was refused: install hexdata with {_spell(versions())} on them (`make wheel`)")


_refused: WeakKeyDictionary[Client, set[str]] = WeakKeyDictionary()


def refuse(client: Client, worker: str, found: object) -> None:
    """Close a worker and say why, in one line, though it may have answered several times before it is gone."""
    known = _refused.setdefault(client, set())
    if worker not in known:
        known.add(worker)
        has = _spell(found) if isinstance(found, dict) else f"no hexdata that answers ({found})"
        expected = _spell(versions())
        print(f"hexdata: refused worker {worker}: it has {has}, expected {expected}", file=sys.stderr, flush=True)
    client.retire_workers([worker], close_workers=True)


def _spell(found: dict[str, object]) -> str:
    return ", ".join(f"{name} version {number}" for name, number in found.items())


@contextmanager
def _lean_workers() -> Iterator[None]:
    """Keep worker processes from importing the program that starts them.

    A spawned process imports its parent's main module: for a flow that is Prefect, 2 s a worker and its logging.
    """
    names = vars(sys.modules["__main__"])
    hidden = {name: value for name, value in names.items() if name in ("__spec__", "__file__")}
    names.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        names.update(hidden)


class Requests(Generic[S]):
    """What the workers were asked for and have not answered yet. They come and go, and so does the room for more."""

    def __init__(self, client: Client, least: int) -> None:
        self._client, self._least = client, least
        self._items: dict[Any, S] = {}
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._looked_at, self._threads = -math.inf, 0

    def __len__(self) -> int:
        return len(self._items)

    def add(self, future: Any, item: S) -> None:
        self._items[future] = item
        future.add_done_callback(self._answers.put)

    def room(self) -> int:
        """How many more to ask for: two a thread of the workers, so that none waits for the client, or `least`."""
        if time.monotonic() - self._looked_at > LOOK_SECONDS:
            try:
                self._threads = sum(self._client.nthreads().values())
            except (OSError, TimeoutError):
                raise lost(self._client) from None
            self._looked_at = time.monotonic()
        return max(self._least, 2 * self._threads) - len(self._items)

    def answer(self) -> tuple[Any, S] | None:
        """The next one; None if none comes for a while, in which workers may have joined."""
        try:
            future = self._answers.get(timeout=LOOK_SECONDS)
        except Empty:
            return None
        return future, self._items.pop(future)

    def release(self) -> None:
        for future in self._items:
            future.release()


def lost(client: Client) -> Unfinished:
    where = client.scheduler.address if client.scheduler else "its address"
    return Unfinished(f"the Dask scheduler at {where} was lost")


def each(client: Client | None, work: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """What `work` returns for each item, in no order: on the client's workers, or here without one.

    Items are asked for as workers get free, two in advance for each, so neither they nor the results pile up. They
    travel with their task, so that a lost worker's task is done again by another.
    """
    if client is None:
        yield from map(work, items)
        return
    import dask
    from distributed import KilledWorker

    refuse_others(client)
    running: Requests[S] = Requests(client, least=2)

    def submit(item: S) -> None:
        running.add(client.submit(request(work, item), pure=False), item)

    def finish() -> Iterator[T]:
        if (answer := running.answer()) is None:
            return
        future, item = answer
        try:
            result = outcome(client, future)
        except Refused:
            submit(item)
        except KilledWorker:
            raise Unfinished(
                "the workers died of their work, for want of memory perhaps: run this again with fewer of them"
            ) from None
        else:
            yield result

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        for item in items:
            while running.room() < 1:
                yield from finish()
            submit(item)
        while running:
            yield from finish()
