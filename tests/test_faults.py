"""Whatever happens to a campaign, running the same command again ends in the bytes of an undisturbed run.

Real processes and real signals throughout; the undisturbed games come from the library alone.
"""

import os
import resource
import signal
import sys
from pathlib import Path

import psutil
import pytest

from hexdata.records import folder_hash
from tests.clusters import (
    MISHAP_ENGINE,
    finished,
    free_port,
    games,
    kill_group,
    run,
    scheduler,
    start,
    undisturbed,
    wait_until,
    worker,
    write_params,
)

QUICK = ("playouts=3000-5000", "playouts=20-40")
FEW = ("shards: 8", "shards: 3")


def generate_again(folder: Path, *arguments: str) -> str:
    done = run(folder, "generate", "tiny", *arguments)
    assert done.returncode == 0, done.stderr
    return folder_hash(games(folder))


def workers_of(pid: int) -> list[psutil.Process]:
    return [p for p in psutil.Process(pid).children(recursive=True) if "spawn_main" in " ".join(p.cmdline())]


def test_a_full_disk_and_a_damaged_shard(tmp_path: Path) -> None:
    folder = write_params(tmp_path / "here", QUICK, FEW)
    expected = undisturbed(folder, tmp_path / "undisturbed")
    largest = max(path.stat().st_size for path in (tmp_path / "undisturbed").iterdir())

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest // 2, resource.RLIM_INFINITY))

    done = run(folder, "generate", "tiny", "--workers", "1", preexec_fn=full)
    assert done.returncode == 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("hexdata: data/games/tiny/games-")
    assert "cannot be written (file too large); 0 of 3 shards were finished: run the same command again" in last
    assert not games(folder).exists(), "no part of a file is left"

    whole = [(tmp_path / "undisturbed" / f"games-0000{number}.parquet").read_bytes() for number in (0, 1)]
    games(folder).mkdir(parents=True)
    (games(folder) / "games-00000.parquet").write_bytes(whole[0])
    middle = len(whole[1]) // 2
    damaged = whole[1][:middle] + bytes([whole[1][middle] ^ 0xFF]) + whole[1][middle + 1 :]
    (games(folder) / "games-00001.parquet").write_bytes(damaged)
    (games(folder) / ".games-00002.parquet.left").write_text("by a client that was killed")
    kept = (games(folder) / "games-00000.parquet").stat().st_mtime_ns
    assert generate_again(folder, "--workers", "1") == expected
    assert (games(folder) / "games-00000.parquet").stat().st_mtime_ns == kept


def test_a_log_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """Not the input's fault, and not a traceback."""
    folder = write_params(tmp_path / "here", QUICK, ("shards: 8", "shards: 1"), ("per_shard: 10", "per_shard: 1"))
    (folder / "logs").write_text("in the way")
    done = run(folder, "generate", "tiny", "--workers", "1")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last == "hexdata: logs: file exists; finished shards stay: run the same command again to go on"
    assert finished(folder) == ["games-00000.parquet"]


@pytest.mark.slow
def test_killed_workers(tmp_path: Path) -> None:
    folder = write_params(tmp_path / "here")
    client = start(folder, "generate", "tiny", "--workers", "2")
    wait_until(lambda: finished(folder), client)
    assert len(finished(folder)) < 8, "all was done before a worker could be killed"
    victims = workers_of(client.pid)
    assert len(victims) == 2
    for victim in victims:
        os.kill(victim.pid, signal.SIGKILL)
    _, errors = client.communicate(timeout=600)
    assert client.returncode == 0, errors
    assert folder_hash(games(folder)) == undisturbed(folder, tmp_path / "undisturbed")


@pytest.mark.slow
def test_a_killed_client(tmp_path: Path) -> None:
    folder = write_params(tmp_path / "here")
    client = start(folder, "generate", "tiny", "--workers", "2")
    wait_until(lambda: finished(folder), client)
    workers = workers_of(client.pid)
    os.kill(client.pid, signal.SIGKILL)
    client.communicate()
    assert 0 < len(finished(folder)) < 8
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert alive == [], "workers outlive their client"
    assert generate_again(folder, "--workers", "1") == undisturbed(folder, tmp_path / "undisturbed")


@pytest.mark.slow
def test_a_killed_scheduler(tmp_path: Path) -> None:
    folder, port = write_params(tmp_path / "here"), free_port()
    address = f"tcp://127.0.0.1:{port}"
    with scheduler(tmp_path / "scheduler", port) as victim, worker(tmp_path / "worker", address, 2):
        client = start(folder, "generate", "tiny", "--cluster", address)
        wait_until(lambda: finished(folder), client)
        kill_group(victim)
        _, errors = client.communicate(timeout=120)
    assert client.returncode == 1
    last = errors.splitlines()[-1]
    assert last.startswith(f"hexdata: the Dask scheduler at {address} was lost; ")
    assert last.endswith("of 8 shards were finished: run the same command again")
    assert 0 < len(finished(folder)) < 8
    with scheduler(tmp_path / "scheduler", port), worker(tmp_path / "worker", address, 2):
        assert generate_again(folder, "--cluster", address) == undisturbed(folder, tmp_path / "undisturbed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mishap", "why", "workers"),
    [
        ("sys.exit(1)", "EngineFailed: the engine `", "2"),
        ("os.kill(os.getppid(), signal.SIGKILL)", "its worker process died each time", "2"),
        ("os.kill(os.getppid(), signal.SIGKILL)", "its worker process died each time", "1"),
    ],
    ids=["fails", "kills its worker", "kills the only worker"],
)
def test_a_poisoned_shard_is_set_aside_and_named(tmp_path: Path, mishap: str, why: str, workers: str) -> None:
    """And it alone: not those that waited for the worker that it killed."""
    program = tmp_path / "engine.py"
    program.write_text(MISHAP_ENGINE)
    player = f"[\"uct:playouts=20-40\", \"gtp:'{sys.executable}' '{program}'\"]"
    folder = write_params(
        tmp_path / "here",
        ('"uct:playouts=3000-5000"', player),
        ("per_shard: 10", "per_shard: 2"),
        ("shards: 8", "shards: 4"),
    )
    expected = undisturbed(folder, tmp_path / "undisturbed")
    (tmp_path / "mishap").write_text(mishap)
    done = run(folder, "generate", "tiny", "--workers", workers)
    assert done.returncode == 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"hexdata: 1 shard was set aside after 3 attempts: games-00001.parquet ({why}")
    assert last.endswith("the other 3 are finished: run the same command again to try once more")
    assert finished(folder) == [f"games-{number:05}.parquet" for number in (0, 2, 3)]
    (tmp_path / "mishap").unlink()
    assert generate_again(folder, "--workers", "2") == expected
