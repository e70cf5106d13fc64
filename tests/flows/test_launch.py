"""How commands end: the exit code, one sentence, and no server left behind."""

import errno
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import psutil
import pytest
from prefect import flow
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.launch import check_prefect_api, launch_alone, told
from flows.sharded import complete
from hexdata.errors import BadInput

SERVER = """
import time
from flows.repro import prefect_server
with prefect_server():
    print("up", flush=True)
    time.sleep(1000)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_server(tmp_path: Path, number: signal.Signals) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    environment["PREFECT_HOME"] = str(tmp_path / "home")
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline().startswith("Prefect server: http://127.0.0.1:")
    # whether it has come up or not
    children = psutil.Process(process.pid).children(recursive=True)
    assert children
    process.send_signal(number)
    process.communicate(timeout=120)
    assert process.returncode == 128 + number
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []


STAGES = """
import subprocess, sys
from flows.repro import prefect_server, run_dvc
subprocess.run([sys.executable, "-m", "dvc", "init", "--quiet", "--no-scm"], check=True)
with prefect_server():
    run_dvc("repro")
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_no_stage(tmp_path: Path, number: signal.Signals) -> None:
    sleeps = "import time; print('up', flush=True); time.sleep(1000)"
    (tmp_path / "dvc.yaml").write_text(f'stages: {{one: {{cmd: "{sys.executable} -c \\"{sleeps}\\""}}}}\n')
    process = subprocess.Popen(
        [sys.executable, "-c", STAGES],
        cwd=tmp_path,
        env={**os.environ, "PREFECT_API_URL": "http://of.another/api"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    assert "up\n" in iter(process.stdout.readline, "")
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == (-number if number == signal.SIGINT else 128 + number)
    _, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []


def test_what_the_system_refuses_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "logs/games.log")

    def stopped() -> None:
        raise KeyboardInterrupt

    assert told(full) == 1
    assert capsys.readouterr().err == "hexdata: logs/games.log: no space left on device\n"
    assert told(stopped) == 130
    assert capsys.readouterr().err == "hexdata: stopped\n"


def test_workers_are_not_for_a_scheduler_that_has_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--cluster", "tcp://127.0.0.1:1", "--workers", "2"]
    assert launch_alone(lambda *placed: None, lambda: None, arguments) == 2
    told = capsys.readouterr().err
    assert told == "hexdata: tcp://127.0.0.1:1 has workers of its own: expected no --workers with an address\n"


class Babble(BaseHTTPRequestHandler):
    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(b"no HTTP\n")


def test_an_address_that_is_no_prefect_server_is_told_without_its_password() -> None:
    with pytest.raises(BadInput, match=r"PREFECT_API_URL=http://127\.0\.0\.1:port/api \(nonnumeric port: 'port'\)"):
        check_prefect_api("http://127.0.0.1:port/api")
    with pytest.raises(BadInput) as caught:
        check_prefect_api("http://me:secret@127.0.0.1:1/api")
    assert "PREFECT_API_URL=http://127.0.0.1:1/api (" in str(caught.value)
    assert "secret" not in str(caught.value)
    with HTTPServer(("127.0.0.1", 0), Babble) as other:
        Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(BadInput, match="no HTTP"):
            check_prefect_api(f"http://127.0.0.1:{other.server_port}/api")
        other.shutdown()


@dataclass(frozen=True)
class Piece:
    name: str

    def key(self) -> str:
        return self.name


def test_what_is_told_of_a_finished_shard_cannot_undo_it(
    tmp_path: Path, server: str, cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def done(piece: Piece, made: object) -> None:
        asked.append(piece.name)
        if piece.name == "b":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @flow
    def all_of_them() -> None:
        complete(tmp_path, [Piece(name) for name in "abc"], write, done, cluster, None)

    with temporary_settings({PREFECT_API_URL: server}):
        all_of_them()
    assert sorted(asked) == ["a", "b", "c"], "none is made twice"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]
    assert "hexdata: warning: b is made, but not told of: OSError: [Errno 28] No space left" in capsys.readouterr().err


def write(piece: Piece) -> bytes:
    return piece.name.encode()
