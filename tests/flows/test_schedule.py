"""The schedule for real: a Prefect server, runs by cron and never by hand, a DVC remote, a kill, a failure."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest
import yaml
from prefect import get_client
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Running

from flows import schedule
from hexdata.params import read_params
from tests.flows.conftest import ROOT, copy_project, edit, git, run


def test_prefect_yaml_says_what_params_yaml_says() -> None:
    params = read_params(ROOT / "params.yaml").schedule
    (deployment,) = yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]
    file, name = deployment["entrypoint"].split(":")
    assert (ROOT / file).samefile(schedule.__file__)
    assert getattr(schedule, name) is schedule.extend
    assert deployment["schedules"] == [{"cron": params.cron, "timezone": params.timezone}]
    assert deployment["concurrency_limit"] == {"limit": 1, "collision_strategy": schedule.OVERLAP[params.overlap].value}


def test_a_bad_calendar_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "params.yaml").read_text()
    (tmp_path / "params.yaml").write_text(text.replace('cron: "0 2 * * *"', 'cron: "0 2 * *"'))
    monkeypatch.chdir(tmp_path)
    assert schedule.main([]) == 2
    told = capsys.readouterr().err
    assert told == "hexdata: params.yaml: schedule.cron: expected five fields such as \"0 2 * * *\", not '0 2 * *'\n"
    assert [path.name for path in tmp_path.iterdir()] == ["params.yaml"]


def test_only_the_killed_runs_of_this_repository_are_tidied_and_told_of(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "params.yaml").read_text()
    (tmp_path / "params.yaml").write_text(text.replace("blocks: []", "blocks: [custom-webhook/ear]"))
    monkeypatch.chdir(tmp_path)
    lock, told = tmp_path / "mine" / "lock", []
    lock.parent.mkdir()

    class Ear:
        def notify(self, body: str, subject: str) -> None:
            told.append(body)

    monkeypatch.setattr(schedule.Block, "load", lambda name: Ear())
    with temporary_settings({PREFECT_API_URL: server}), get_client(sync_client=True) as client:
        mine, other = (
            client.create_flow_run(schedule.extend, state=Running(), tags=[schedule.tag(path)])
            for path in (lock, tmp_path / "other" / "lock")
        )
        schedule.tidy(lock)
        assert client.read_flow_run(mine.id).state_name == "Crashed"
        assert client.read_flow_run(other.id).state_name == "Running"
        # others of this server count its runs
        for made in (mine, other):
            client.delete_flow_run(made.id)
    assert told == [f"{mine.name}: its process was killed"]


class Served:
    """A repository whose schedule is served, and what the server knows of its runs."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.tree = folder.parent / "hexdata-nightly"
        self.most_at_once = 0

    @contextmanager
    def serving(self) -> Iterator[subprocess.Popen[bytes]]:
        environment = {**os.environ, "PREFECT_API_URL": self.url}
        with open(self.folder.parent / "served.log", "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "flows.schedule"], cwd=self.folder, env=environment, stdout=log, stderr=log
            )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)

    def post(self, path: str, query: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            f"{self.url}/{path}", json.dumps(query).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def ask_for_one_more(self) -> str:
        """A run by hand, whatever the cron says; its id."""
        (deployment,) = self.post("deployments/filter", {"deployments": {"name": {"any_": ["nightly"]}}})
        made = self.post(f"deployments/{deployment['id']}/create_flow_run", {"state": {"type": "SCHEDULED"}})
        return str(made["id"])

    def runs(self, *states: str) -> list[dict[str, Any]]:
        query = {"flows": {"name": {"any_": ["extend"]}}, "sort": "EXPECTED_START_TIME_ASC", "limit": 200}
        found = self.post("flow_runs/filter", query)
        self.most_at_once = max(self.most_at_once, sum(run["state"]["name"] == "Running" for run in found))
        return [run for run in found if run["state"]["name"] in states]

    def nights(self) -> int:
        """Runs that the cron started, not a hand, and that ended well."""
        return sum(run["auto_scheduled"] for run in self.runs("Completed"))

    def messages(self, state: str) -> list[str]:
        return [str(run["state"]["message"]) for run in self.runs(state)]

    def commits(self) -> list[str]:
        done = subprocess.run(
            ["git", "rev-list", "main..nightly"], cwd=self.folder, capture_output=True, text=True, check=False
        )
        return done.stdout.split()

    def wait(self, what: str, holds: Callable[[], bool], seconds: float = 900) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, f"{what}: {(self.folder.parent / 'served.log').read_text()[-3000:]}"
            time.sleep(1)


@pytest.fixture
def news() -> Iterator[tuple[str, list[str]]]:
    """An address that collects what is posted to it."""
    heard: list[str] = []

    class Ear(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(200)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Ear) as ear:
        Thread(target=ear.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{ear.server_port}/", heard
        ear.shutdown()


@pytest.mark.slow
def test_nights(tmp_path: Path, server: str, news: tuple[str, list[str]]) -> None:
    address, heard = news
    webhook = (
        "from prefect.blocks.notifications import CustomWebhookNotificationBlock as Webhook; "
        f"Webhook(name='ear', url={address!r}, json_data={{'text': '{{{{body}}}}'}}, allow_private_urls=True)"
        ".save('ear')"
    )
    made = subprocess.run([sys.executable, "-c", webhook], env={**os.environ, "PREFECT_API_URL": server}, check=False)
    assert made.returncode == 0
    folder = copy_project(tmp_path / "project", "[hex5]")
    git(folder, "branch", "--move", "main")
    edit(folder, 'cron: "0 2 * * *"', 'cron: "* * * * *"')
    edit(folder, "blocks: []", "blocks: [custom-webhook/ear]")
    assert run(folder, "dvc", "remote", "add", "--default", "store", str(tmp_path / "store")).returncode == 0
    git(folder, "config", "user.name", "tester")
    git(folder, "config", "user.email", "tester@example.org")
    git(folder, "commit", "--quiet", "--all", "--message", "every minute")
    start = git(folder, "rev-parse", "HEAD")
    served = Served(folder, server)
    log = served.tree / "logs" / "extend.log"
    games = served.tree / "data" / "games" / "hex5"

    with served.serving():
        served.wait("a run at work", lambda: len(served.runs("Running")) > 0)
        # a run may take less than the minute of the cron
        by_hand = served.ask_for_one_more()
        served.wait("a run waits for its turn", lambda: len(served.runs("AwaitingConcurrencySlot")) > 0)
        served.wait("the first night", lambda: served.nights() >= 1)
    first_log = log.read_text()
    for stage in ("games", "suite", "examples", "dataset", "train", "evaluate", "report", "release"):
        assert f"Running stage '{stage}@hex5'" in first_log
    assert len(served.commits()) == 1
    before = {path.name: path.stat().st_ino for path in sorted(games.iterdir())[:3]}

    # everything is killed in the middle of the next run
    size = log.stat().st_size
    with served.serving() as process:
        served.wait("a run at work", lambda: log.stat().st_size > size)
        for one in [process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))]:
            os.kill(one, signal.SIGKILL)
    assert len(served.commits()) == 1

    # started again, it goes on; the suite, which depends on no games, is not proved again
    with served.serving():
        served.wait("word of the dead", lambda: "its process was killed" in served.messages("Crashed"))
        served.wait("its news", lambda: any("its process was killed" in text for text in heard))
        served.wait("the second night", lambda: served.nights() >= 2)
    second_log = log.read_text().removeprefix(first_log)
    assert "Stage 'suite@hex5' didn't change, skipping" in second_log
    for stage in ("examples", "dataset", "train", "evaluate", "report", "release"):
        assert f"Running stage '{stage}@hex5'" in second_log
    for number, commit in enumerate(reversed(served.commits()[-2:]), start=3):
        changed = git(folder, "show", "--format=", "--name-only", commit).split()
        assert {name.split("/")[0] for name in changed} == {"params.yaml", "dvc.lock", "metrics"}
        assert (
            git(folder, "show", "--format=%s", "--no-patch", commit).strip() == f"More games: hex5 at {number} shards"
        )
        figures = json.loads(git(folder, "show", f"{commit}:metrics/hex5/games.json"))
        assert figures["games"] == number * 60
    after = {path.name: path.stat().st_ino for path in games.iterdir()}
    assert before.items() <= after.items()
    assert git(folder, "rev-parse", "HEAD") == start
    assert git(folder, "status", "--porcelain") == ""
    # from the branch and the remote alone, somebody else has everything
    git(tmp_path, "clone", "--quiet", "--branch", "nightly", str(folder), "elsewhere")
    assert run(tmp_path / "elsewhere", "dvc", "pull", "dvc.yaml").returncode == 0
    assert run(tmp_path / "elsewhere", "dvc", "status", "--quiet", "dvc.yaml").returncode == 0

    # what nobody committed stops the next run before it begins, and somebody hears of it
    known = len(served.commits())
    (folder / "stray.py").touch()
    with served.serving():
        served.wait("a refusal", lambda: len(served.runs("Failed")) >= 1)
        served.wait("its news", lambda: any("stray.py is not committed" in text for text in heard))
    assert "stray.py is not committed: commit or stash it" in served.messages("Failed")[-1]
    assert len(served.commits()) == known
    assert git(served.tree, "status", "--porcelain") == ""
    done = served.runs("Completed", "Failed", "Crashed", "Cancelled", "Cancelling")
    assert all(run["auto_scheduled"] for run in done if run["id"] != by_hand), "by cron, not by hand"
    assert served.most_at_once == 1
