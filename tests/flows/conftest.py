"""A copy of the project to run real commands in, and one Prefect server and one Dask cluster for all of them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.repro import prefect_server
from hexdata.cluster import connect

ROOT = Path(__file__).parent.parent.parent


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A module of this environment as a user would start it, with `python` on the path."""
    environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=900,
    )


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def copy_project(target: Path, active: str) -> Path:
    """What a commit of the work tree would hold, as a repository of its own with other active campaigns."""
    target.mkdir()
    names = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in names:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    (target / "dvc.lock").unlink(missing_ok=True)
    shutil.rmtree(target / "metrics", ignore_errors=True)
    edit(target, "active: [hex6]", f"active: {active}")
    git(target, "init", "--quiet")
    git(target, "add", "--all")
    git(target, "commit", "--quiet", "--message", "start")
    return target


def edit(folder: Path, old: str, new: str) -> None:
    params = folder / "params.yaml"
    text = params.read_text()
    assert old in text
    params.write_text(text.replace(old, new, 1))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prefect server that all flows of the session share."""
    home = tmp_path_factory.mktemp("prefect")
    before = os.getcwd()
    os.environ["PREFECT_HOME"] = str(home)
    os.chdir(home)
    try:
        with prefect_server():
            yield os.environ["PREFECT_API_URL"]
    finally:
        os.chdir(before)


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The address of a Dask cluster with two workers."""
    with connect(workers=2) as client:
        yield client.scheduler.address
