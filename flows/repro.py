"""`make repro`: bring every active campaign up to date with DVC, under one Prefect server on loopback for all stages.

A server that each stage would start for itself costs 11 s a stage; none is started when nothing is to do or when
PREFECT_API_URL names one.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException

import flows  # noqa: F401  (Prefect's settings, inherited by everything that starts here)
from flows.launch import DATA, INTERRUPTED, LOGS, METRICS, check_prefect_api
from hexdata.errors import BadInput
from hexdata.extend import stop
from hexdata.params import read_params

SERVER_SECONDS = 180


def main(arguments: list[str]) -> int:
    try:
        active = read_params().active
        check_prefect_api(os.environ.get("PREFECT_API_URL"))
    except BadInput as error:
        print(f"hexdata: {error}", file=sys.stderr)
        return 2
    # stages say `python`; that must be this one, also where the environment is not activated
    os.environ["PATH"] = os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", "")))
    started = time.monotonic()
    if not arguments and is_up_to_date():
        print("Nothing to do: every artifact is as params.yaml and the code say.")
    else:
        try:
            with prefect_server():
                code = run_dvc("repro", *arguments)
        except KeyboardInterrupt:
            print("hexdata: stopped; what is finished stays: run the same command again to go on", file=sys.stderr)
            return INTERRUPTED
        if code:
            return code
        print(f"\nBuilt in {time.monotonic() - started:.0f} s.")
    for campaign in () if arguments else active:
        print(where(campaign))
    return 0


def is_up_to_date() -> bool:
    """Ask DVC about the campaigns; quietly, its exit code says whether anything changed."""
    return subprocess.run([sys.executable, "-m", "dvc", "status", "--quiet", "dvc.yaml"]).returncode == 0


def run_dvc(*arguments: str) -> int:
    """In a session of its own, so that however a signal ends this process, no stage stays behind and works on."""
    child = subprocess.Popen([sys.executable, "-m", "dvc", *arguments], start_new_session=True)
    try:
        return child.wait()
    except BaseException as error:
        stop(child, signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGTERM)
        raise


@contextmanager
def prefect_server() -> Iterator[None]:
    """One server for the whole run, on a free loopback port, stopped on the way out, whatever the way."""
    with ended_on_signals():
        if os.environ.get("PREFECT_API_URL"):
            yield
            return
        with own_server() as url:
            os.environ["PREFECT_API_URL"] = url
            try:
                yield
            finally:
                del os.environ["PREFECT_API_URL"]


@contextmanager
def own_server() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    LOGS.mkdir(exist_ok=True)
    with open(LOGS / "prefect-server.log", "wb") as log:
        command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
        # a session of its own: Ctrl-C ends DVC first, and the server goes after it
        server = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    url = f"http://127.0.0.1:{port}/api"
    try:
        print(f"Prefect server: http://127.0.0.1:{port} while this runs", flush=True)
        wait_for(url, server)
        yield url
    finally:
        stop(server)


@contextmanager
def ended_on_signals() -> Iterator[None]:
    """SIGTERM and a closed terminal end this process by way of `finally`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: object) -> None:
        sys.exit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SERVER_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/health", timeout=5).close()
            return
        except (OSError, HTTPException):
            time.sleep(0.2)
    raise SystemExit(f"hexdata: the Prefect server did not come up; see {LOGS / 'prefect-server.log'}")


def where(campaign: str) -> str:
    model = DATA / "models" / campaign / "net.safetensors"
    card = json.loads((METRICS / campaign / "evaluate.json").read_text())
    top1, sign = card["policy"]["top1"]["rate"], card["value"]["suite"]["sign_right"]["rate"]
    return "\n".join(
        (
            f"\n{campaign}: top-1 {top1:.1%}, sign of v right on {sign:.1%} of the suite",
            f"  report   {DATA / 'reports' / campaign / 'index.html'}",
            f"  dataset  {DATA / 'dataset' / campaign}/",
            f"  model    {model}",
            f"  suite    {DATA / 'suites' / campaign / 'suite.parquet'}",
            f"  release  {DATA / 'release' / campaign}/",
        )
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
