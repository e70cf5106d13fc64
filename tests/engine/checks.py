"""The check program of `checks.cpp`, built by the engine's CMake once a session."""

import fcntl
import functools
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Linux counts what a process had before exec, that is pytest's memory, into its peak: a shell in between is small.
SMALL_PARENT = ("sh", "-c", '"$@"; exit $?', "sh")


@functools.cache
def program() -> Path:
    """Where the engine was set up its objects are already compiled; elsewhere all of it is, in a folder beside.

    Test processes that run at the same time build it one after the other: all but the first find it built.
    """
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build" / "checks.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build()


def _build() -> Path:
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    folder = ROOT / "build" / f"{tag}-{tag}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    if not (folder / "CMakeCache.txt").exists():
        folder = ROOT / "build" / "checks"
        source = ROOT / "hexdata" / "engine"
        _quietly(["cmake", "-S", str(source), "-B", str(folder), f"-DPython_EXECUTABLE={sys.executable}"])
    _quietly(["cmake", "--build", str(folder), "--target", "hexdata_checks", "--parallel", str(os.cpu_count() or 1)])
    return folder / "hexdata_checks"


def run(*arguments: object) -> dict[str, int]:
    """The counts that the program prints: `20472 positions, 146993 labels`. A fault fails with the drawn position."""
    done = subprocess.run([*SMALL_PARENT, str(program()), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return {name: int(count) for count, name in (part.split() for part in done.stdout.split(","))}


def _quietly(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
