"""Small real artifacts that several tests read, made once a run by the library itself."""

import signal
from pathlib import Path

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
