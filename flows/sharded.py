"""Shards as retried Prefect tasks: each hands its shard to the Dask cluster and writes what comes back."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from prefect import task
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from hexdata.cluster import connect, parse_workers, refuse_others
from hexdata.errors import BadInput, Unfinished
from hexdata.shards import ATTEMPTS, Made, Shard, killed, make_on, reason, set_aside, unfinished

S = TypeVar("S", bound=Shard)

IN_FLIGHT = 256
"""Shards that are asked for at once, a waiting thread each, so as many workers are kept busy. Results stay with the
workers until they are written, so they do not pile up here."""

RUNNER: TaskRunner[Any] = ThreadPoolTaskRunner(max_workers=IN_FLIGHT)


def _is_worth_another_try(task: Any, run: Any, state: Any) -> bool:
    """Not if nothing about the shard would make the next one better, and not beside others if workers died of it."""
    error = state.result(raise_on_failure=False)
    return not isinstance(error, BadInput | Unfinished) and not killed(error)


@task(
    retries=ATTEMPTS - 1,
    retry_delay_seconds=1,
    retry_condition_fn=_is_worth_another_try,
    cache_policy=NO_CACHE,
    task_run_name="{name}",
)
def shard_task(name: str, make: Callable[[], None]) -> None:
    make()


def complete(
    folder: Path,
    shards: Sequence[S],
    make: Callable[[S], bytes | Made],
    done: Callable[[S, Made | None], None],
    cluster: str | None,
    workers: str | int | None,
) -> None:
    """Make the shards that the folder does not hold. `done` is told of each; of one that was there, with None.

    A shard that always fails is set aside and the rest completes; Unfinished then names it.
    """
    missing = unfinished(folder, shards)
    names = {shard.name for shard in missing}
    for shard in shards:
        if shard.name not in names:
            done(shard, None)
    if not missing:
        return

    made = len(shards) - len(missing)
    progress = create_progress_artifact(
        progress=100 * made / len(shards), description=f"{folder}: {len(shards)} shards"
    )
    stopped: list[BaseException] = []
    room = threading.Semaphore(2 * IN_FLIGHT)
    lock = threading.Lock()

    with connect(cluster, parse_workers(str(workers)) if workers is not None else None) as client:
        refuse_others(client)

        def one(shard: S) -> None:
            nonlocal made
            if stopped:
                raise stopped[0]
            try:
                result = make_on(client, make, shard, folder)
            except (BadInput, Unfinished) as error:
                stopped.append(error)
                raise
            try:
                done(shard, result)
                with lock:
                    made += 1
                    update_progress_artifact(progress, progress=100 * made / len(shards))  # type: ignore[arg-type]
            except Exception as error:  # the shard is written: making it again would not mend what is told of it
                print(f"hexdata: warning: {shard.name} is made, but not told of: {reason(error)}", file=sys.stderr)

        def job(shard: S) -> Callable[[], None]:
            return lambda: one(shard)

        def leave(future: PrefectFuture[Any]) -> None:
            room.release()

        futures: list[tuple[S, PrefectFuture[Any]]] = []
        suspects: list[S] = []
        for shard in missing:
            room.acquire()
            if stopped:
                break
            future = shard_task.submit(shard.name, job(shard))
            future.add_done_callback(leave)
            futures.append((shard, future))
        failures = {}
        for shard, future in futures:
            future.wait()
            if not future.state.is_completed() and killed(future.state.result(raise_on_failure=False)) and not stopped:
                suspects.append(shard)
            elif not future.state.is_completed():
                failures[shard.name] = reason(future.state.result(raise_on_failure=False))
        # Dask also gives up shards that only waited where another killed the worker: alone each shows which it is
        for shard in suspects:
            future = shard_task.submit(shard.name, job(shard))
            future.wait()
            if not future.state.is_completed():
                failures[shard.name] = reason(future.state.result(raise_on_failure=False))
    if stopped:
        raise stopped[0]
    if failures:
        raise Unfinished(set_aside(failures, len(shards)))
