"""`python -m flows.schedule`: extend the active campaigns by the clock, in one process that may be stopped and started.

It serves the deployment `extend/nightly` and, unless PREFECT_API_URL names one, has a Prefect server with it.
"""

from __future__ import annotations

import argparse
import logging
import os
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from prefect import flow, get_client, get_run_logger
from prefect.blocks.core import Block
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy, FlowRun, State
from prefect.client.schemas.schedules import CronSchedule
from prefect.runtime import flow_run as this_run
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Crashed
from pydantic import ValidationError

from flows.launch import check_prefect_api, quiet_bad_input
from flows.repro import prefect_server
from hexdata import extend as library
from hexdata.doctor import shown
from hexdata.errors import BadInput
from hexdata.params import BadParams, ScheduleParams, read_params

OVERLAP = {"queue": ConcurrencyLimitStrategy.ENQUEUE, "refuse": ConcurrencyLimitStrategy.CANCEL_NEW}
AGAIN_SECONDS = 5


def tell(flow: Any, flow_run: FlowRun, state: State[Any]) -> None:
    """Send word of the run's end to the blocks that params.yaml names for it."""
    notify = read_params().schedule.notify
    if state.type.value.lower() in notify.after:
        for name in notify.blocks:
            block = cast(Any, Block.load(name))
            block.notify(f"{flow_run.name}: {state.message or state.name}", subject=f"hexdata: {state.name}")


@flow(name="extend", on_completion=[tell], on_failure=[tell], on_crashed=[tell], on_cancellation=[tell])
def extend() -> str:
    """Add shards to the active campaigns, rebuild what stands on them, validate, push and commit."""
    # stages are processes of their own and find the server by this
    os.environ["PREFECT_API_URL"] = PREFECT_API_URL.value() or ""
    quiet_bad_input()
    logging.getLogger("prefect.flow_runs").setLevel(logging.INFO)
    play, say = (sys.executable, "-m", "flows.games"), get_run_logger().info
    scheduled = this_run.scheduled_start_time
    return library.extend(Path.cwd(), play, say, scheduled=scheduled).commit


def main(argv: Sequence[str] | None = None) -> int:
    epilog = "example: PREFECT_API_URL=http://127.0.0.1:4200/api python -m flows.schedule"
    argparse.ArgumentParser(description=__doc__, epilog=epilog).parse_args(argv)
    try:
        schedule = read_params().schedule
        cron = calendar(schedule)
        lock = library.lock_path(Path.cwd())
        check_prefect_api(os.environ.get("PREFECT_API_URL"))
    except BadInput as error:
        print(f"hexdata: {error}", file=sys.stderr)
        return 2
    # Prefect read its settings when it was imported, and would start one more server
    with prefect_server(), temporary_settings({PREFECT_API_URL: (url := os.environ["PREFECT_API_URL"])}):
        print(f"Extending {', '.join(read_params().active)} at {schedule.cron} ({schedule.timezone}).", flush=True)
        while True:
            try:
                tidy(lock)
                extend.serve(
                    name="nightly",
                    schedules=[cron],
                    global_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=OVERLAP[schedule.overlap]),
                    pause_on_shutdown=False,
                    tags=[tag(lock)],
                    print_starting_message=False,
                )
                return 0
            except Exception:
                if answers(url):
                    raise
            print(f"hexdata: {shown(url)} does not answer; waiting for it", file=sys.stderr, flush=True)
            while not answers(url):
                time.sleep(AGAIN_SECONDS)


def calendar(schedule: ScheduleParams) -> CronSchedule:
    try:
        return CronSchedule(cron=schedule.cron, timezone=schedule.timezone)
    except ValidationError:
        raise BadParams(
            f'params.yaml: schedule.cron: expected five fields such as "0 2 * * *", not {schedule.cron!r}'
        ) from None


def answers(url: str) -> bool:
    try:
        check_prefect_api(url)
    except BadInput:
        return False
    return True


def tag(lock: Path) -> str:
    """Tells this repository's runs from those of another clone on the same server."""
    return f"{socket.gethostname()}:{lock.parent}"


def tidy(lock: Path) -> None:
    """Tell the server of runs whose process was killed, else they count as running and hold up the next."""
    if library.is_locked(lock):
        return
    with get_client(sync_client=True) as client:
        for run in client.read_flow_runs(
            flow_filter=FlowFilter.model_validate({"name": {"any_": ["extend"]}}),
            flow_run_filter=FlowRunFilter.model_validate(
                {"state": {"type": {"any_": ["RUNNING"]}}, "tags": {"all_": [tag(lock)]}}
            ),
        ):
            crashed: State[Any] = Crashed(message="its process was killed")
            client.set_flow_run_state(run.id, crashed, force=True)
            try:
                tell(extend, run, crashed)  # the run's own hooks died with it
            except Exception as error:  # whoever cannot be told must not keep the schedule from going on
                print(f"hexdata: nobody was told that {run.name} was killed: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
