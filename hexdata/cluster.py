"""Where the work runs: a LocalCluster of one-thread workers by default, or any Dask scheduler by its address.

Workers return bytes and the client writes them, so no shared file system is needed.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hexdata.errors import BadInput

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 15


class BadCluster(BadInput):
    """The cluster cannot be reached; the message names the address."""


@contextmanager
def connect(address: str | None = None, workers: int | None = None) -> Iterator[Client]:
    """A Dask client on `address`, or on a local cluster with `workers` processes (default: one a core)."""
    import dask
    from distributed import Client, LocalCluster

    # Prefect's logging shows every INFO line of the scheduler and the nannies
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if address is not None:
        try:
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError):
            raise BadCluster(
                f"no Dask scheduler answers at {address}: expected an address such as tcp://host:8786"
            ) from None
        with client:
            yield client
        return
    # a worker that is killed mid-shard is replaced by its nanny and the shard is played again
    with (
        _lean_workers(),
        dask.config.set({"distributed.admin.tick.limit": "60s"}),
        LocalCluster(
            n_workers=workers or os.cpu_count() or 1,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


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
