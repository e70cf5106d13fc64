"""Workers on other machines, as far as one machine can have them: separate processes in separate folders."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncssh
import dask
import pytest
from distributed import Client, LocalCluster

from hexdata import generate
from hexdata.cluster import (
    BadCluster,
    Workers,
    _spell,
    connect,
    each,
    is_loopback,
    parse_workers,
    versions,
    warn_if_open,
)
from hexdata.errors import BadInput, Unfinished
from hexdata.params import read_campaign
from hexdata.records import folder_hash
from hexdata.shards import complete
from tests.clusters import (
    answers,
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

ROOT = Path(__file__).parent.parent


def test_workers_by_number_and_range() -> None:
    assert parse_workers("4") == 4
    assert parse_workers("2-16") == (2, 16)
    assert parse_workers("0-3") == (0, 3)
    for text in ("0", "-1", "3-2", "many", "1-", ""):
        with pytest.raises(BadInput, match="--workers is '"):
            parse_workers(text)


def test_loopback_is_told_from_the_rest() -> None:
    assert is_loopback("tcp://127.0.0.1:8786")
    assert is_loopback("tcp://localhost:8786")
    assert is_loopback("tcp://[::1]:8786")
    assert not is_loopback("tcp://0.0.0.0:8786")
    assert not is_loopback("tcp://192.0.2.1:8786")
    assert not is_loopback("tcp://no-such-host.invalid:8786")


def test_an_open_address_is_warned_about_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for quiet in ("tcp://127.0.0.1:8786", "tls://192.0.2.1:8786"):
        warn_if_open(quiet)
    assert capsys.readouterr().err == ""
    warn_if_open("tcp://192.0.2.1:8786")
    told = capsys.readouterr().err
    assert told.startswith("hexdata: warning: tcp://192.0.2.1:8786 is not encrypted and open to its network")
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("where", "workers", "sentence"),
    [
        ("condor", None, "unknown cluster 'condor': expected local, tcp://"),
        ("slurm", None, "--cluster slurm starts jobs: expected --workers"),
        ("ssh:one,two", (1, 2), "expected --workers with one number"),
        ("tls://127.0.0.1:1", None, "no Dask scheduler answers at tls://127.0.0.1:1"),
        ("tcp://127.0.0.1:1", None, "no Dask scheduler answers at tcp://127.0.0.1:1"),
    ],
)
def test_a_cluster_that_cannot_be_had_is_named(where: str, workers: Workers | None, sentence: str) -> None:
    def loops() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "IO loop"]

    before = loops()
    in_a_second = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with in_a_second, pytest.raises(BadCluster, match=sentence), connect(where, workers):
        pass
    assert loops() == before, "a client was left half open"


OTHER_VERSION = """
import asyncio, sys
import hexdata.engine
hexdata.engine.ENGINE_VERSION = 999
from distributed import Worker
async def work():
    async with Worker(sys.argv[1], nthreads=1) as worker:
        print(worker.address, flush=True)
        await worker.finished()
asyncio.run(work())
"""


OTHER_PYARROW = OTHER_VERSION.replace(
    """import hexdata.engine
hexdata.engine.ENGINE_VERSION = 999
""",
    "import pyarrow\npyarrow.__version__ += '.other'\n",
)


WITHOUT_HEXDATA = OTHER_VERSION.replace(
    """import hexdata.engine
hexdata.engine.ENGINE_VERSION = 999
""",
    'sys.modules["hexdata"] = None\n',
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "has"),
    [
        (OTHER_VERSION, "engine version 999, "),
        (OTHER_PYARROW, f"{_spell(versions())}.other, expected"),
        (WITHOUT_HEXDATA, "no hexdata that answers ("),
    ],
    ids=["engine", "pyarrow", "without"],
)
def test_a_worker_of_another_version_is_refused_by_name(tmp_path: Path, code: str, has: str) -> None:
    """Alone it is bad input; one that joins later is sent away, and the work waits for better ones."""
    folder = write_params(
        tmp_path / "here",
        ("playouts=3000-5000", "playouts=20-40"),
        ("shards: 8", "shards: 4"),
        ("per_shard: 10", "per_shard: 2"),
    )
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    with scheduler(tmp_path / "scheduler", port):
        program = [sys.executable, "-c", code, address]
        with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as other:
            assert other.stdout
            name = other.stdout.readline().strip()
            done = run(folder, "generate", "tiny", "--cluster", address)
            assert done.returncode == 2, done.stderr
            assert f"hexdata: refused worker {name}: it has {has}" in done.stderr
            assert done.stderr.splitlines()[-1].startswith("hexdata: every worker was refused: install hexdata with")
            assert not games(folder).exists()
            other.wait(timeout=60)
        client = start(folder, "generate", "tiny", "--cluster", address)
        assert client.stderr
        waits = f"hexdata: {address} has no workers yet: start some with `hexdata worker {address}`\n"
        assert client.stderr.readline() == waits
        with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as other:
            assert other.stdout
            name = other.stdout.readline().strip()
            other.wait(timeout=60)
        with worker(tmp_path / "good", address):
            _, errors = client.communicate(timeout=300)
    assert client.returncode == 0, errors
    assert f"hexdata: refused worker {name}: it has {has}" in errors
    assert folder_hash(games(folder)) == undisturbed(folder, tmp_path / "undisturbed")


@pytest.fixture
def empty_cluster() -> Iterator[LocalCluster]:
    """Its workers are threads of this process, and there are none yet."""
    with LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@dataclass(frozen=True)
class Numbered:
    name: str

    def key(self) -> str:
        return self.name


def test_workers_that_join_late_are_all_used(empty_cluster: LocalCluster, tmp_path: Path) -> None:
    """Three play at once or the barrier breaks, though the shards and items were asked for when there was none."""
    numbers = [Numbered(str(number)) for number in range(6)]
    with Client(empty_cluster, set_as_default=False) as client, ThreadPoolExecutor() as threads:
        made = threads.submit(complete, client, _meet, numbers, tmp_path, lambda shard, made: None)
        wait_for(lambda: client.run_on_scheduler(_tasks) > 0)
        empty_cluster.scale(3)
        assert made.result() == {}
        assert {path.read_bytes() for path in tmp_path.iterdir()} == {number.name.encode() for number in numbers}
        empty_cluster.scale(0)
        wait_for(lambda: not client.nthreads())
        items = threads.submit(lambda: sorted(each(client, _meet, numbers)))
        wait_for(lambda: client.run_on_scheduler(_tasks) > 0)
        empty_cluster.scale(3)
        assert items.result() == sorted(number.name.encode() for number in numbers)


MEETING = threading.Barrier(3)


def _meet(number: Numbered) -> bytes:
    MEETING.wait(60)
    return number.name.encode()


def _tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)


def wait_for(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)


def test_a_worker_without_hexdata_that_joins_late_is_sent_away(capsys: pytest.CaptureFixture[str]) -> None:
    """It cannot even load what an item is made with; the items wait for better workers."""
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as client,
        ThreadPoolExecutor() as threads,
    ):
        results = threads.submit(lambda: sorted(each(client, parse_workers, ["1", "2", "3"])))
        wait_for(lambda: client.run_on_scheduler(_tasks) > 0)
        program = [sys.executable, "-c", WITHOUT_HEXDATA, cluster.scheduler_address]
        with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as other:
            assert other.stdout
            name = other.stdout.readline().strip()
            other.wait(timeout=60)
        cluster.scale(1)
        assert results.result() == [1, 2, 3]
    assert capsys.readouterr().err.startswith(f"hexdata: refused worker {name}: it has no hexdata that answers (")


def _die(item: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_items_that_kill_their_workers_are_one_sentence() -> None:
    at_once = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with at_once, connect(workers=1) as client, pytest.raises(Unfinished, match="the workers died of their work"):
        list(each(client, _die, [1]))


# ----------------------------------------------------------------------------------------------------------- hex6


@pytest.fixture(scope="module")
def hex6(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The games of hex6 by a LocalCluster."""
    folder = tmp_path_factory.mktemp("local")
    (folder / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    done = run(folder, "generate", "hex6", "--workers", "2")
    assert done.returncode == 0, done.stderr
    return folder_hash(games(folder, "hex6"))


@pytest.fixture
def certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate authority and one certificate for all parts, named to Dask as a user would, by its environment."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=tmp_path, check=True, capture_output=True)

    def request(name: str) -> tuple[str, ...]:
        return ("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-subj", f"/CN={name}")

    openssl(*request("ca"), "-x509", "-days", "2", "-out", "ca.pem")
    openssl(*request("part"), "-out", "part.csr")
    openssl("x509", "-req", "-in", "part.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-out", "part.pem")  # fmt: skip
    settings = {"REQUIRE_ENCRYPTION": "true", "TLS__CA_FILE": str(tmp_path / "ca.pem")}
    for part in ("SCHEDULER", "WORKER", "CLIENT"):
        settings |= {f"TLS__{part}__CERT": str(tmp_path / "part.pem"), f"TLS__{part}__KEY": str(tmp_path / "part.key")}
    for name, value in settings.items():
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__{name}", value)


def across_processes(tmp_path: Path, protocol: str) -> str:
    """hex6 by a scheduler and two workers in folders of their own; one is killed and a third joins on the way."""
    folder, port = tmp_path / "client", free_port()
    folder.mkdir()
    (folder / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    address = f"{protocol}://127.0.0.1:{port}"
    with ExitStack() as stack:
        stack.enter_context(scheduler(tmp_path / "scheduler", port, protocol))
        first = stack.enter_context(worker(tmp_path / "first", address))
        stack.enter_context(worker(tmp_path / "second", address))
        client = start(folder, "generate", "hex6", "--cluster", address)
        wait_until(lambda: len(list(games(folder, "hex6").glob("games-*.parquet"))) > 1, client, 900)
        kill_group(first)
        stack.enter_context(worker(tmp_path / "third", address))
        _, errors = client.communicate(timeout=1800)
        assert client.returncode == 0, errors
        assert "warning" not in errors
    for name in ("first", "second", "third"):
        assert [path.name for path in (tmp_path / name).iterdir()] == ["worker.log"], "a worker left files"
    return folder_hash(games(folder, "hex6"))


@pytest.mark.slow
def test_separate_processes_in_separate_folders_make_the_same_bytes(tmp_path: Path, hex6: str) -> None:
    assert across_processes(tmp_path, "tcp") == hex6


@pytest.mark.slow
@pytest.mark.usefixtures("certificates")
def test_the_same_over_tls(tmp_path: Path, hex6: str) -> None:
    assert across_processes(tmp_path, "tls") == hex6


@pytest.mark.slow
def test_workers_come_and_go(tmp_path: Path) -> None:
    """Adaptive: none at first, as many as there is work for, none left in the end."""
    folder = write_params(tmp_path / "here", ("playouts=3000-5000", "playouts=200-400"))
    campaign = read_campaign("tiny", folder / "params.yaml")
    shards = generate.shards("tiny", campaign.size, campaign.games)
    seen: list[int] = []
    with connect(workers=parse_workers("0-2")) as client:
        assert not client.nthreads()
        failures = complete(
            client, generate.play_shard, shards, games(folder), lambda shard, made: seen.append(len(client.nthreads()))
        )
        assert failures == {}
        assert 1 <= max(seen) <= 2
        wait_for(lambda: not client.nthreads())
    assert folder_hash(games(folder)) == undisturbed(folder, tmp_path / "undisturbed")


# Stands in for the batch system: a job is a process of its own session, its number that of the process.
BATCH = """#!{python}
import subprocess, sys
program = sys.stdin.read() if len(sys.argv) < 2 else open(sys.argv[-1]).read()
job = subprocess.Popen(["bash", "-c", program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, start_new_session=True)
print(f"Submitted batch job {{job.pid}}" if "sbatch" in sys.argv[0] else f"{{job.pid}}.here")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "submit", "cancel"), [("slurm", "sbatch", "scancel"), ("pbs", "qsub", "qdel")])
def test_workers_as_batch_jobs(
    tmp_path: Path, kind: str, submit: str, cancel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """dask-jobqueue for real; only the batch system's two commands are ours."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / submit).write_text(BATCH.format(python=sys.executable))
    (programs / cancel).write_text('#!/bin/bash\nfor job in "$@"; do kill -- -"${job%%.*}"; done\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    folder = write_params(tmp_path / "here", ("playouts=3000-5000", "playouts=200-400"))
    done = run(folder, "generate", "tiny", "--cluster", kind, "--workers", "1-2")
    assert done.returncode == 0, done.stderr
    assert folder_hash(games(folder)) == undisturbed(folder, tmp_path / "undisturbed")
    assert finished(folder) == [f"games-{number:05}.parquet" for number in range(8)]


SSH_SERVER = """
import asyncio, asyncssh, sys
from asyncio.subprocess import DEVNULL, PIPE

class Open(asyncssh.SSHServer):
    def begin_auth(self, user):
        return False

async def pass_on(reader, writer):
    while data := await reader.read(4096):
        writer.write(data.decode())

async def run(process):
    child = await asyncio.create_subprocess_shell(process.command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    # all of it before the exit, which closes the channel
    await asyncio.gather(pass_on(child.stdout, process.stdout), pass_on(child.stderr, process.stderr))
    process.exit(await child.wait())

async def serve():
    server = await asyncssh.listen(
        "127.0.0.1", 0, server_factory=Open, server_host_keys=[sys.argv[1]], process_factory=run
    )
    print(server.get_port(), flush=True)
    await server.wait_closed()

asyncio.run(serve())
"""


@pytest.mark.slow
def test_workers_by_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask's SSHCluster for real, against an SSH server of our own that two names stand for."""
    home = tmp_path / "home" / ".ssh"
    home.mkdir(parents=True)
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(home / "host_key")
    (home / "known_hosts").write_text(f"* {key.export_public_key().decode()}")
    server = subprocess.Popen(
        [sys.executable, "-c", SSH_SERVER, str(home / "host_key")],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert server.stdout
        port = server.stdout.readline().strip()
        (home / "config").write_text(f"Host one two\n  HostName 127.0.0.1\n  Port {port}\n  User tester\n")
        monkeypatch.setenv("HOME", str(home.parent))
        folder = write_params(tmp_path / "here", ("playouts=3000-5000", "playouts=200-400"))
        done = run(folder, "generate", "tiny", "--cluster", "ssh:one,two", "--workers", "1")
    finally:
        kill_group(server)
        server.stdout.close()
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("not encrypted and open to its network") <= 1
    assert folder_hash(games(folder)) == undisturbed(folder, tmp_path / "undisturbed")


def test_a_worker_needs_a_scheduler(tmp_path: Path) -> None:
    done = run(tmp_path, "worker", "somewhere")
    assert done.returncode == 2
    assert done.stderr == (
        "hexdata: 'somewhere' is no scheduler: expected an address such as tcp://host:8786 or tls://host:8786\n"
    )
    assert not answers(1)
