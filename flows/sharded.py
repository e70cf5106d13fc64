"""Shards as retried Prefect tasks: each hands its shard to the Dask cluster and writes what comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from hexdata.cluster import connect
from hexdata.shards import Shard, make_on, unfinished

S = TypeVar("S", bound=Shard)

IN_FLIGHT = 32
"""Shards that are asked for at once: enough to keep workers busy, few enough that results do not pile up here."""

RUNNER: TaskRunner[Any] = ThreadPoolTaskRunner(max_workers=IN_FLIGHT)


@task(retries=2, retry_delay_seconds=1, cache_policy=NO_CACHE, task_run_name="{name}")
def shard_task(name: str, make: Callable[[], None]) -> None:
    make()


def complete(
    folder: Path,
    shards: Sequence[S],
    make: Callable[[S], bytes],
    done: Callable[[S, bool], None],
    cluster: str | None,
    workers: int | None,
) -> None:
    """Make the shards that the folder does not hold. `done` is told of each, and whether it was made just now."""
    missing = unfinished(folder, shards)
    for shard in shards:
        if shard not in missing:
            done(shard, False)
    if not missing:
        return

    with connect(cluster, workers) as client:

        def one(shard: S) -> None:
            make_on(client, make, shard, folder)
            done(shard, True)

        def job(shard: S) -> Callable[[], None]:
            return lambda: one(shard)

        futures = [shard_task.submit(shard.name, job(shard)) for shard in missing]
        for future in futures:
            future.result()
