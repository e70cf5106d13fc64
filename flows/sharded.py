"""Shards as retried Prefect tasks: each hands its shard to the Dask cluster and writes what comes back."""

from __future__ import annotations

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
from hexdata.shards import ATTEMPTS, Made, Shard, make_on, reason, set_aside, unfinished

S = TypeVar("S", bound=Shard)

IN_FLIGHT = 32
"""Shards that are asked for at once: enough to keep workers busy, few enough that results do not pile up here."""

RUNNER: TaskRunner[Any] = ThreadPoolTaskRunner(max_workers=IN_FLIGHT)


def _is_worth_another_try(task: Any, run: Any, state: Any) -> bool:
    """Not if nothing about the shard would make the next one better."""
    return not isinstance(state.result(raise_on_failure=False), BadInput | Unfinished)


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
            done(shard, result)
            with lock:
                made += 1
                update_progress_artifact(progress, progress=100 * made / len(shards))  # type: ignore[arg-type]

        def job(shard: S) -> Callable[[], None]:
            return lambda: one(shard)

        def leave(future: PrefectFuture[Any]) -> None:
            room.release()

        futures = []
        for shard in missing:
            room.acquire()
            if stopped:
                break
            future = shard_task.submit(shard.name, job(shard))
            future.add_done_callback(leave)
            futures.append((shard.name, future))
        failures = {}
        for name, future in futures:
            future.wait()
            if not future.state.is_completed():
                failures[name] = reason(future.state.result(raise_on_failure=False))
    if stopped:
        raise stopped[0]
    if failures:
        raise Unfinished(set_aside(failures, len(shards)))
