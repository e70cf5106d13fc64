"""Is this machine ready? One check per thing that hexdata needs, each with what to do when it is not so."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from importlib.metadata import version
from pathlib import Path
from typing import Literal

Status = Literal["ok", "warn", "fail"]

_GIGABYTE = 10**9
_INSTALL_COMPILER = (
    "install one: `sudo apt install g++` (Debian, Ubuntu), `sudo dnf install gcc-c++` (Fedora), "
    "`xcode-select --install` (macOS)"
)


@dataclass(frozen=True)
class Check:
    name: str
    status: Status
    found: str
    advice: str = ""
    """What to do next; empty when all is well."""


def examine() -> Iterator[Check]:
    """The checks one by one, so that they can be shown as they come: the whole takes some seconds."""
    checks: tuple[tuple[str, Callable[[], Check]], ...] = (
        ("python", python),
        ("compiler", compiler),
        ("engine", engine),
        ("processor", processor),
        ("torch", torch_device),
        ("dask", dask_cluster),
        ("prefect", prefect_server),
        ("dvc", dvc_remote),
        ("disk", disk),
    )
    for name, check in checks:
        try:
            yield check()
        except Exception as error:  # a broken package may raise anything, and the other checks still have to run
            reason = " ".join(str(error).split()) or type(error).__name__
            yield Check(name, "fail", f"the check itself broke: {reason}", "run `make setup` again")


def python() -> Check:
    return Check("python", "ok", f"Python {platform.python_version()} at {sys.executable}")


def compiler() -> Check:
    names = [os.environ["CXX"]] if os.environ.get("CXX") else ["g++", "clang++", "c++"]
    for name in names:
        if path := shutil.which(name):
            answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
            if answer.returncode == 0 and answer.stdout:
                return Check("compiler", "ok", f"{answer.stdout.splitlines()[0]} at {path}")
            return Check("compiler", "warn", f"{path} does not run", _INSTALL_COMPILER)
    if _engine_error() is None:
        advice = f"not needed until the engine is built again; then {_INSTALL_COMPILER}"
        return Check("compiler", "warn", f"no {' or '.join(names)} on the PATH", advice)
    return Check("compiler", "fail", f"no {' or '.join(names)} on the PATH", f"{_INSTALL_COMPILER}, then `make setup`")


def engine() -> Check:
    if (reason := _engine_error()) is not None:
        return Check("engine", "fail", f"not built ({reason})", "run `make setup`")
    from hexdata.engine import ENGINE_VERSION

    return Check("engine", "ok", f"version {ENGINE_VERSION}")


def _engine_error() -> str | None:
    try:
        import hexdata.engine._core  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


def processor() -> Check:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = f"{platform.machine()}, {cores} cores"
    has_avx2 = _has_avx2()
    if has_avx2 is None:
        return Check("processor", "ok", found)
    if not has_avx2:
        advice = "everything works, but trained models differ in their last bits from those of machines that have it"
        return Check("processor", "warn", f"{found}, no AVX2", advice)
    return Check("processor", "ok", f"{found}, AVX2")


def _has_avx2() -> bool | None:
    """None where there is no telling, or no such thing."""
    flags = Path("/proc/cpuinfo")
    if not flags.is_file() or platform.machine() not in ("x86_64", "AMD64"):
        return None
    return re.search(r"^flags\s*:.*\bavx2\b", flags.read_text(), re.MULTILINE) is not None


def torch_device() -> Check:
    try:
        import torch
    except ImportError as error:
        return Check("torch", "fail", f"does not import ({error})", "run `make setup`")
    if torch.cuda.is_available():
        return Check("torch", "ok", f"{torch.__version__} on {torch.cuda.get_device_name()}")
    if torch.backends.mps.is_available():
        return Check("torch", "ok", f"{torch.__version__} on Apple Metal")
    return Check("torch", "ok", f"{torch.__version__} on the processor, {torch.get_num_threads()} threads")


def dask_cluster() -> Check:
    """Start one worker process, ask it for a sum, and stop it."""
    from dask import config
    from distributed import Client, LocalCluster

    found = f"Dask {version('dask')}"
    settings = {"distributed.comm.timeouts.connect": "20s", "logging.distributed": "error"}
    try:
        with (
            config.set(settings),
            LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,  # type: ignore[no-untyped-call]
            Client(cluster, timeout="20s") as client,  # type: ignore[no-untyped-call]
        ):
            total = client.submit(sum, [1, 2]).result(timeout=20)
    except (OSError, TimeoutError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        advice = "see that this user may open sockets on 127.0.0.1 and start processes, or give `--cluster tcp://…`"
        return Check("dask", "fail", f"{found}, but a local cluster does not start ({reason})", advice)
    return Check("dask", "ok", f"{found}, a local worker started and answered {total}")


def prefect_server() -> Check:
    found = f"Prefect {version('prefect')}"
    from prefect.settings import PREFECT_API_URL

    url = PREFECT_API_URL.value()
    if not url:
        return Check("prefect", "ok", f"{found}; PREFECT_API_URL is not set: `make repro` starts a server of its own")
    try:
        with urllib.request.urlopen(f"{shown(url).rstrip('/')}/health", timeout=5):
            return Check("prefect", "ok", f"{found}, the server at {shown(url)} answers")
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        advice = "start it with `prefect server start`, or unset PREFECT_API_URL to use a server of our own"
        return Check("prefect", "fail", f"{found}, but no answer from {shown(url)} ({reason})", advice)


def shown(url: str) -> str:
    """Without user and password."""
    return re.sub(r"(?<=//)[^/]*@", "", url)


def dvc_remote() -> Check:
    found = f"DVC {version('dvc')}"
    if not shutil.which("git"):
        return Check("dvc", "fail", f"{found}, but no git on the PATH", "install git: DVC keeps its lock file in it")
    from dvc.repo import Repo

    root = next((folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / ".dvc").is_dir()), None)
    if root is None:
        return Check("dvc", "warn", f"{found}, not inside a DVC repository", "run this in the clone of hexdata")
    with Repo(str(root)) as repo:
        remotes = dict(repo.config.get("remote", {}))
        default = repo.config["core"].get("remote")
    if default in remotes:
        return Check("dvc", "ok", f"{found}, remote {default} at {shown(remotes[default]['url'])}")
    if remotes:
        return Check("dvc", "warn", f"{found}, no default remote", f"run `dvc remote default {min(remotes)}`")
    advice = "to share or fetch data: `dvc remote add -d NAME URL`, then `dvc push` or `make pull`"
    return Check("dvc", "warn", f"{found}, no remote: data stays on this machine", advice)


def disk() -> Check:
    free = shutil.disk_usage(Path.cwd()).free
    found = f"{free / _GIGABYTE:.1f} GB free in {Path.cwd()}"
    if free < _GIGABYTE:
        return Check("disk", "fail", found, "free some: the default campaign needs about 1 GB with DVC's cache")
    if free < 5 * _GIGABYTE:
        return Check("disk", "warn", found, "larger campaigns need more: think of `dvc gc --workspace`")
    return Check("disk", "ok", found)
