"""The command line that all flows share: `python -m flows.games hex6 --cluster tcp://host:8786`.

Bad input is told in one sentence with exit code 2 before the flow, Prefect or the cluster is started.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any

from hexdata.doctor import shown
from hexdata.errors import BadInput, Unfinished, failed
from hexdata.params import Campaign, check_place, read_campaign

INTERRUPTED = 130
"""The exit code after Ctrl-C, as a shell's."""

DATA, METRICS, LOGS = Path("data"), Path("metrics"), Path("logs")


def launch(
    flow: Callable[..., None],
    check: Callable[[Campaign], None] = lambda campaign: None,
    clustered: bool = False,
    argv: Sequence[str] | None = None,
) -> int:
    """Run a flow for one campaign from the command line and return the exit code."""
    parser = _parser(flow, "hex6", clustered)
    parser.add_argument("campaign", help="a campaign of params.yaml")
    arguments = parser.parse_args(argv)

    def run() -> None:
        check(read_campaign(arguments.campaign))
        _timed(flow, arguments.campaign, *(_placed(arguments) if clustered else ()))

    return told(run)


def launch_alone(flow: Callable[..., None], check: Callable[[], None], argv: Sequence[str] | None = None) -> int:
    """Run a clustered flow that is about no campaign."""
    arguments = _parser(flow, "--workers 2", clustered=True).parse_args(argv)

    def run() -> None:
        check()
        _timed(flow, *_placed(arguments))

    return told(run)


def told(run: Callable[[], None]) -> int:
    """The exit code of a run; what the user can put right is told in one sentence."""
    try:
        run()
    except (BadInput, Unfinished) as error:
        print(f"hexdata: {error}", file=sys.stderr)
        return 2 if isinstance(error, BadInput) else 1
    except OSError as error:
        print(f"hexdata: {failed(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("hexdata: stopped", file=sys.stderr)
        return INTERRUPTED
    return 0


def _parser(flow: Callable[..., None], example: str, clustered: bool) -> argparse.ArgumentParser:
    example = f"example: python -m flows.{_name(flow)} {example}"
    parser = argparse.ArgumentParser(description=flow.__doc__, epilog=example)
    if clustered:
        places = "local (the default), tcp://HOST:PORT, tls://HOST:PORT, slurm, pbs or ssh:HOST,HOST"
        parser.add_argument("--cluster", metavar="WHERE", help=places)
        parser.add_argument("--workers", help="worker processes, as 4 or 2-16 (default: one a core)")
    return parser


def _placed(arguments: argparse.Namespace) -> tuple[str | None, str | None]:
    check_place(arguments.cluster, arguments.workers)
    return arguments.cluster, arguments.workers


def _timed(flow: Callable[..., None], *arguments: Any) -> None:
    check_prefect_api(os.environ.get("PREFECT_API_URL"))
    quiet_bad_input()
    started = time.monotonic()
    flow(*arguments)
    log_timing(_name(flow), str(arguments[0] or ""), time.monotonic() - started)


def log_timing(stage: str, campaign: str, seconds: float) -> None:
    """Durations belong to the logs: no artifact and no metric may depend on them."""
    LOGS.mkdir(exist_ok=True)
    with open(LOGS / "timings.csv", "a") as log:
        log.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ},{stage},{campaign},{seconds:.1f}\n")


def check_prefect_api(url: str | None) -> None:
    if not url:
        return
    try:
        urllib.request.urlopen(f"{shown(url).rstrip('/')}/health", timeout=10).close()
    except (OSError, HTTPException, ValueError) as error:
        told = shown(url)
        raise BadInput(
            f"no Prefect server answers at PREFECT_API_URL={told} ({error}): start one with `prefect server start`, "
            "or unset it and one is started for you"
        ) from None


def quiet_bad_input() -> None:
    """Prefect logs a traceback for every exception; a sentence is enough for what the user can put right."""

    def wanted(record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], BadInput | Unfinished))

    logging.getLogger("prefect.flow_runs").addFilter(wanted)
    # on a busy machine it warns that it is still at work, below the sentence
    logging.getLogger("EventsWorker").setLevel(logging.ERROR)


def _name(flow: Any) -> str:
    return str(getattr(flow, "name", flow))
