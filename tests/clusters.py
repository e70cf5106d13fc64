"""Real processes for tests of generation: the command line, a Dask scheduler, workers, and what happens to them."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hexdata import generate
from hexdata.params import read_campaign
from hexdata.records import folder_hash, write_whole

PARAMS = """\
active: [tiny]
campaigns:
  tiny:
    size: 5
    games:
      {shards: 8, per_shard: 10, player: "uct:playouts=3000-5000", openings: one-stone, dither_moves: 4,
       temperature: 1.0, seed: 1}
    examples: {}
    dataset: {validation: 0.1, test: 0.1, augment: all, rows_per_file: 1000}
    suite:
      {positions: 9, min_stones: 6, max_stones: 12, limit_nodes: 1000, opening_limit_nodes: 10, shards: 2, seed: 5}
    train:
      {blocks: 1, filters: 4, epochs: 1, batch: 64, learning_rate: 0.001, value_weight: 0.5, weight_decay: 0.0,
       threads: 1, seed: 5}
"""


def write_params(folder: Path, *changes: tuple[str, str]) -> Path:
    text = PARAMS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "params.yaml").write_text(text)
    return folder


def games(folder: Path, campaign: str = "tiny") -> Path:
    return folder / "data" / "games" / campaign


def finished(folder: Path) -> list[str]:
    return sorted(path.name for path in games(folder).glob("games-*.parquet"))


def undisturbed(folder: Path, where: Path) -> str:
    """The hash of the games of a campaign that no cluster and no process ever touched."""
    campaign = read_campaign("tiny", folder / "params.yaml")
    for shard in generate.shards("tiny", campaign.size, campaign.games):
        write_whole(where / shard.name, generate.make_shard(shard))
    return folder_hash(where)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "hexdata.cli", *arguments]


def start(folder: Path, *arguments: str, **options: object) -> "subprocess.Popen[str]":
    """`hexdata ARGUMENTS…` in a folder, a process group of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        command(*arguments), cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True, **options
    )


def run(folder: Path, *arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        command(*arguments), cwd=folder, capture_output=True, text=True, timeout=600, **options
    )


def wait_until(holds: Callable[[], object], process: "subprocess.Popen[str]", seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert process.poll() is None, process.stderr.read() if process.stderr else process.args
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)


def kill_group(process: "subprocess.Popen[str]") -> None:
    """As if the machine had lost its power."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stderr:
        process.stderr.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def scheduler(folder: Path, port: int, protocol: str = "tcp") -> Iterator["subprocess.Popen[str]"]:
    """Dask's own, on loopback."""
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--host", f"{protocol}://127.0.0.1", "--port", str(port), "--no-dashboard"]
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", *options],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        wait_until(lambda: answers(port), process)
        yield process
    finally:
        kill_group(process)


@contextmanager
def worker(folder: Path, address: str, count: int = 1) -> Iterator["subprocess.Popen[str]"]:
    """`hexdata worker`, as on another machine: in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "worker.log", "w") as log:
        process = subprocess.Popen(
            command("worker", address, "--workers", str(count)),
            cwd=folder,
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        kill_group(process)


# Plays the last empty cell; games that begin on b1 make it do what the file `mishap` says.
MISHAP_ENGINE = """
import os, pathlib, signal, sys
mishap = pathlib.Path(__file__).with_name("mishap")
stones, size = [], 0
for line in sys.stdin:
    command, *words = line.split()
    answer = ""
    if command == "boardsize":
        size = int(words[0])
    elif command == "clear_board":
        stones = []
    elif command == "play":
        stones.append(words[1])
    elif command == "genmove":
        if stones[:1] == ["b1"] and mishap.exists():
            exec(mishap.read_text())
        names = [chr(97 + column) + str(row + 1) for row in range(size) for column in range(size)]
        answer = [name for name in names if name not in stones][-1]
        stones.append(answer)
    print("=", answer, "\\n", flush=True)
"""
