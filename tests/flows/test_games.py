"""The games flow with real processes: workers, kills, growth and damage all end in the same bytes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from flows.games import check, games
from flows.launch import launch
from hexdata.records import folder_hash
from tests.clusters import MISHAP_ENGINE
from tests.flows.conftest import edit, run

PARAMS = """\
active: [tiny]
campaigns:
  tiny:
    size: 5
    games:
      {shards: 4, per_shard: 30, player: "uct:playouts=40-60", openings: one-stone, dither_moves: 4, temperature: 1.0,
       seed: 1}
    examples: {}
    dataset: {validation: 0.1, test: 0.1, augment: all, rows_per_file: 1000}
    suite:
      {positions: 9, min_stones: 6, max_stones: 12, limit_nodes: 1000, opening_limit_nodes: 10, shards: 2, seed: 5}
    train:
      {blocks: 1, filters: 4, epochs: 1, batch: 64, learning_rate: 0.001, value_weight: 0.5, weight_decay: 0.0,
       threads: 1, seed: 5}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "params.yaml").write_text(PARAMS)
    return tmp_path


def play(folder: Path, server: str, *arguments: str) -> str:
    done = run(folder, "flows.games", "tiny", *arguments, PREFECT_API_URL=server)
    assert done.returncode == 0, done.stderr
    return folder_hash(folder / "data" / "games" / "tiny")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, server: str) -> str:
    """The games of an undisturbed run with one worker."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "params.yaml").write_text(PARAMS)
    return play(folder, server, "--workers", "1")


def test_another_seed_fewer_shards_growth_and_damage(folder: Path, server: str, cluster: str, expected: str) -> None:
    edit(folder, "seed: 1", "seed: 2")
    edit(folder, "shards: 4", "shards: 5")
    assert play(folder, server, "--cluster", cluster) != expected
    edit(folder, "seed: 2", "seed: 1")
    edit(folder, "shards: 5", "shards: 4")
    assert play(folder, server, "--cluster", cluster) == expected

    games = folder / "data" / "games" / "tiny"
    kept, damaged = games / "games-00000.parquet", games / "games-00001.parquet"
    before = kept.stat()
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged.write_bytes(content)
    (games / "stray.txt").write_text("from elsewhere")
    (games / "games-00003.parquet").unlink()
    assert play(folder, server, "--cluster", cluster) == expected
    assert (kept.stat().st_ino, kept.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_killed_worker_changes_nothing(folder: Path, server: str, cluster: str) -> None:
    edit(folder, "playouts=40-60", "playouts=3000-5000")
    edit(folder, "per_shard: 30", "per_shard: 10")
    command = [sys.executable, "-m", "flows.games", "tiny", "--workers", "2"]
    flow = subprocess.Popen(
        command, cwd=folder, env={**os.environ, "PREFECT_API_URL": server}, stderr=subprocess.PIPE, text=True
    )
    games = folder / "data" / "games" / "tiny"
    wait_until(lambda: any(games.glob("games-*.parquet")), flow)
    workers = [p for p in psutil.Process(flow.pid).children(recursive=True) if "spawn_main" in " ".join(p.cmdline())]
    assert workers, "no worker process was found"
    assert len(list(games.glob("games-*.parquet"))) < 4, "all was done before a worker could be killed"
    for worker in workers:
        os.kill(worker.pid, signal.SIGKILL)
    _, errors = flow.communicate(timeout=600)
    assert flow.returncode == 0, errors
    disturbed = folder_hash(games)
    for path in games.iterdir():
        path.unlink()
    assert play(folder, server, "--cluster", cluster) == disturbed


def wait_until(holds, flow: subprocess.Popen[str], seconds: float = 300) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + seconds
    while not holds():
        assert flow.poll() is None, flow.stderr.read() if flow.stderr else ""
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("per_shard", "per_shrad", "campaigns.tiny.games.per_shrad: there is no parameter of this name"),
        ("shards: 4", "shards: -4", "campaigns.tiny.games.shards: input should be greater than 0, not -4"),
        ("size: 5", "size: 20", "campaigns.tiny.size: input should be less than or equal to 19, not 20"),
        ("active: [tiny]", "active: []", "active: list should have at least 1 item"),
        ("uct:playouts", "uct:playuots", "games.player: "),
    ],
)
def test_a_bad_parameter_is_one_sentence_and_touches_nothing(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    message: str,
) -> None:
    edit(folder, old, new)
    monkeypatch.chdir(folder)
    assert launch(games, check, clustered=True, argv=["tiny"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("hexdata: ")
    assert message in told
    assert told.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["params.yaml"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mishap", "why"),
    [
        ("sys.exit(1)", "EngineFailed: the engine `"),
        ("os.kill(os.getppid(), signal.SIGKILL)", "its worker process died each time"),
    ],
    ids=["fails", "kills its worker"],
)
def test_a_poisoned_shard_is_set_aside_and_named(folder: Path, server: str, mishap: str, why: str) -> None:
    """Games that begin on b1 are both in the second shard; the rest completes, and later it is made too."""
    program = folder / "engine.py"
    program.write_text(MISHAP_ENGINE)
    (folder / "mishap").write_text(mishap)
    edit(folder, '"uct:playouts=40-60"', f"[\"uct:playouts=40-60\", \"gtp:'{sys.executable}' '{program}'\"]")
    edit(folder, "per_shard: 30", "per_shard: 2")
    done = run(folder, "flows.games", "tiny", "--workers", "1", PREFECT_API_URL=server)
    assert done.returncode == 1, done.stderr
    assert f"hexdata: 1 shard was set aside after 3 attempts: games-00001.parquet ({why}" in done.stderr
    games = folder / "data" / "games" / "tiny"
    assert sorted(path.name for path in games.iterdir()) == [f"games-{number:05}.parquet" for number in (0, 2, 3)]
    assert not (folder / "metrics").exists()
    (folder / "mishap").unlink()
    after = play(folder, server, "--workers", "1")
    for path in games.iterdir():
        path.unlink()
    assert play(folder, server, "--workers", "2") == after


def test_what_cannot_be_reached_or_read_is_named(folder: Path, server: str) -> None:
    done = run(folder, "flows.games", "tiny", PREFECT_API_URL="http://127.0.0.1:1/api")
    assert done.returncode == 2
    assert "no Prefect server answers at PREFECT_API_URL=http://127.0.0.1:1/api" in done.stderr
    soon = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
    done = run(folder, "flows.games", "tiny", "--cluster", "tcp://127.0.0.1:1", PREFECT_API_URL=server, **soon)
    assert done.returncode == 2
    assert done.stderr.startswith("hexdata: no Dask scheduler answers at tcp://127.0.0.1:1")
    assert done.stderr.count("\n") == 1
    assert not (folder / "data").exists()
    shard = folder / "data" / "games" / "tiny" / "games-00000.parquet"
    shard.parent.mkdir(parents=True)
    shard.write_bytes(b"PAR1 but no more")
    done = run(folder, "flows.examples", "tiny", PREFECT_API_URL=server)
    assert done.returncode == 2
    assert done.stderr.startswith("hexdata: data/games/tiny/games-00000.parquet: not a readable Parquet file")
    assert done.stderr.count("\n") == 1
    assert not (folder / "metrics").exists()
