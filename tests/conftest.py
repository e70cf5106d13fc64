"""Small real artifacts that several tests read, made once a run by the library itself."""

import signal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings

from hexdata import generate
from hexdata.kernels import pin_kernels
from hexdata.params import GamesParams
from hexdata.records import read_folder, write_whole

pin_kernels()  # before any test imports torch

# A shell starts background jobs with SIGINT ignored, and their children inherit it: tests of Ctrl-C need it back.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("no clock", deadline=None)  # a busy machine is not a fault, nor are the sanitizers
settings.load_profile("no clock")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One process runs all tests of the flows, which share a server and a cluster; any runs the others, one by one."""
    from xdist.scheduler import LoadScopeScheduling

    class ByServer(LoadScopeScheduling):
        # xdist's own groups by mark are not kept under pytest 9
        def _split_scope(self, nodeid: str) -> str:
            return "flows" if nodeid.startswith("tests/flows/") else nodeid

    return ByServer(config, log)


SMALL_GAMES = GamesParams(
    shards=3,
    per_shard=40,
    player="uct:playouts=20-40",
    openings="one-stone",
    dither_moves=4,
    temperature=1.0,
    seed=7,
)


@pytest.fixture(scope="session")
def small_shards() -> list[generate.Shard]:
    return generate.shards("small", 5, SMALL_GAMES)


@pytest.fixture(scope="session")
def games_folder(tmp_path_factory: pytest.TempPathFactory, small_shards: list[generate.Shard]) -> Path:
    folder = tmp_path_factory.mktemp("games")
    for shard in small_shards:
        write_whole(folder / shard.name, generate.make_shard(shard))
    return folder


@pytest.fixture(scope="session")
def games(games_folder: Path) -> pa.Table:
    return read_folder(games_folder, "games")
