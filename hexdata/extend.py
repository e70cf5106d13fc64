"""More games for the active campaigns, and everything that stands on them: one commit in a git work tree of its own.

The last good state is the branch: a commit appears on it when all is built, validated and pushed, or not at all. What
a failed run changed is taken back; the shards that it finished stay in its work tree, and the next run keeps them.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path
from time import sleep
from typing import IO
from zoneinfo import ZoneInfo

import yaml

from hexdata.errors import BadInput, Unfinished
from hexdata.params import BadParams, GamesParams, Params, ScheduleParams, read_params, read_text

OURS = ("params.yaml", "dvc.lock", "metrics")
"""All that a run may change and commit."""

POLL_SECONDS = 0.2
"""A run is stopped by an exception from another thread, which a wait for the child would not let in."""

STOP_SECONDS = 10
"""What the steps of a run that is stopped get to end by themselves."""

Say = Callable[[str], None]


class Refused(BadInput):
    """The run was not begun, and the message says what is in its way."""


class Failed(Unfinished):
    """The run was begun and taken back; the message says which step failed and why."""


@dataclass(frozen=True)
class Extension:
    commit: str
    shards: Mapping[str, int]
    """Of each active campaign, as they are now."""


def extend(
    root: Path,
    play: Sequence[str],
    say: Say,
    now: Callable[[], datetime] = datetime.now,
    scheduled: datetime | None = None,
) -> Extension:
    """Extend the active campaigns of the repository at `root`, as the `schedule` of its params.yaml says.

    `play CAMPAIGN` makes the games that params.yaml in the working directory asks for. `scheduled` is when the run
    should have begun, if that was not just now.
    """
    begun = scheduled or now()
    params = read_params(root / "params.yaml")
    schedule = params.schedule
    if not played_shards(params):
        raise Refused("no active campaign plays its games: there is nothing to extend")
    with writer_lock(lock_path(root), wait=schedule.overlap == "queue") as lock:
        end = end_of(schedule, begun, now)
        check_tree(root, schedule)
        code = git(root, "rev-parse", "HEAD")
        tree = Tree((root / schedule.worktree).resolve(), lock)
        prepare(root, tree, schedule, say)
        before = git(tree.path, "rev-parse", "HEAD")
        note(lock, before)
        try:
            merge(code, tree, say)
            shards = add_games(tree, schedule, play, say, now, end)
            say("dvc repro")
            tree.run(sys.executable, "-m", "dvc", "repro")
            check_artifacts(tree.path, params.active, say)
            check_code(root, code)
            if schedule.push:
                say("dvc push")
                tree.run(sys.executable, "-m", "dvc", "push", "dvc.yaml")
            commit = commit_ours(tree.path, shards)
        except BaseException:
            take_back(tree.path, before)
            raise
        finally:
            note(lock, None)
    say(f"{schedule.branch} is at {commit[:10]}: {told(shards)}")
    return Extension(commit, shards)


# ------------------------------------------------------------------------------------------------------ one writer


def lock_path(root: Path) -> Path:
    """In the folder that all work trees of a repository share."""
    if not (root / ".git").exists():
        raise Refused(f"{root}: not the root of a git repository")
    return Path(git(root, "rev-parse", "--path-format=absolute", "--git-common-dir")) / "hexdata-extend.lock"


@contextmanager
def writer_lock(path: Path, wait: bool) -> Iterator[IO[str]]:
    """Hold the file's lock. The kernel gives it up with the last process that has the file open, however it ended."""
    with open(path, "a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused("another run extends the campaigns of this repository; wait for its end") from None
        yield lock


def is_locked(path: Path) -> bool:
    try:
        with writer_lock(path, wait=False):
            return False
    except Refused:
        return True


def note(lock: IO[str], commit: str | None) -> None:
    """Write into the lock file where to go back to, if this process should not live to do it itself."""
    lock.seek(0)
    lock.truncate()
    if commit is not None:
        json.dump({"last_good": commit}, lock)
    lock.flush()


def noted(lock: IO[str]) -> str | None:
    lock.seek(0)
    text = lock.read()
    return str(json.loads(text)["last_good"]) if text else None


# -------------------------------------------------------------------------------------------------- the work tree


@dataclass(frozen=True)
class Tree:
    path: Path
    lock: IO[str]

    def run(self, *command: str) -> None:
        """Run a step in the tree, its output in logs/extend.log."""
        log = self.path / "logs" / "extend.log"
        log.parent.mkdir(exist_ok=True)
        # stages say `python`, which must be this one, also where the environment is not activated
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT__")}
        environment["PATH"] = os.pathsep.join((os.path.dirname(sys.executable), environment.get("PATH", "")))
        with open(log, "a+b") as out:
            start = out.tell()
            child = subprocess.Popen(
                command,
                cwd=self.path,
                env=environment,
                stdout=out,
                stderr=out,
                # the child holds the lock too: if this process is killed, no run begins before the child has ended
                pass_fds=(self.lock.fileno(),),
                # in a group of its own, so that a run that is stopped takes the stages and their workers with it
                start_new_session=True,
            )
            try:
                while (code := child.poll()) is None:
                    sleep(POLL_SECONDS)
            except BaseException:
                stop(child)
                raise
            out.seek(start)
            said = out.read().decode(errors="replace")
        if code:
            shown = " ".join(command).replace(f"{sys.executable} -m ", "")
            raise Failed(f"`{shown}` ended with exit code {code}: {reason(said)} (all of it: {log})")


def stop(child: subprocess.Popen[bytes], number: signal.Signals = signal.SIGTERM) -> None:
    """End a child and all of its session, in the end by force."""
    # the child may have ended, and left others
    with suppress(ProcessLookupError):
        os.killpg(child.pid, number)
        try:
            with suppress(subprocess.TimeoutExpired):
                child.wait(STOP_SECONDS)
        finally:  # also if a second Ctrl-C ends the wait
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def reason(output: str) -> str:
    """The line that says most: our own sentence, else the last error, else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for start in ("hexdata: ", "ERROR: "):
        for line in reversed(lines):
            if line.startswith(start):
                return line.removeprefix(start)
    return lines[-1] if lines else "it said nothing"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())
        raise Failed(f"`git {' '.join(arguments)}` in {folder}: {said}")
    return done.stdout.strip()


def changes(folder: Path) -> list[str]:
    """Files that git would not call clean, untracked ones included."""
    lines = git(folder, "-c", "core.quotePath=false", "status", "--porcelain", "--no-renames").splitlines()
    return [line.strip().split(maxsplit=1)[1] for line in lines]


def check_tree(root: Path, schedule: ScheduleParams) -> None:
    """What would make the run fail or its commit untrue is found before hours are spent."""
    if changed := changes(root):
        raise Refused(f"{root}: {changed[0]} is not committed: commit or stash it, because a run records the commit")
    if git(root, "branch", "--show-current") == schedule.branch:
        raise Refused(f"{root}: schedule.branch {schedule.branch} is checked out here; it needs a work tree of its own")
    try:
        git(root, "var", "GIT_COMMITTER_IDENT")
    except Failed:
        raise Refused("git does not know who commits: set user.name and user.email with `git config`") from None
    if schedule.push and "remote" not in dvc_config(root)["core"]:
        raise Refused(
            "there is no DVC remote to push to: `dvc remote add --default NAME URL`, or set schedule.push to false"
        )


def check_code(root: Path, commit: str) -> None:
    """The steps import hexdata from the repository, where an editable install finds it, and not from the work tree."""
    found, changed = git(root, "rev-parse", "HEAD"), changes(root)
    if found != commit or changed:
        what = f"{changed[0]} is not committed" if changed else f"{found[:10]} is checked out instead of {commit[:10]}"
        raise Failed(
            f"{root}: the code changed while the run was at work: {what}; the next run begins with what is there"
        )


def dvc_config(root: Path) -> dict[str, dict[str, object]]:
    from dvc.config import Config

    return Config(dvc_dir=str(root / ".dvc"))  # type: ignore[no-any-return]


def prepare(root: Path, tree: Tree, schedule: ScheduleParams, say: Say) -> None:
    """A clean work tree on the schedule's branch, with the cache and the remotes of the repository."""
    git(root, "worktree", "prune")
    if not tree.path.exists():
        say(f"new work tree {tree.path} on branch {schedule.branch}")
        known = subprocess.run(
            ["git", "show-ref", "--verify", "--quiet", f"refs/heads/{schedule.branch}"], cwd=root
        ).returncode
        branch = ["-b", schedule.branch, str(tree.path), "HEAD"] if known else [str(tree.path), schedule.branch]
        git(root, "worktree", "add", "--quiet", *branch)
    elif git(root, "worktree", "list", "--porcelain").splitlines().count(f"worktree {tree.path}") == 0:
        raise Refused(f"{tree.path} is no work tree of this repository: move it, or name another schedule.worktree")
    if git(tree.path, "branch", "--show-current") != schedule.branch:
        raise Refused(f"{tree.path} is not on branch {schedule.branch}: `git switch {schedule.branch}` there")
    if (last_good := noted(tree.lock)) is not None:
        say("the last run was killed: its changes are taken back, its finished shards stay")
        take_back(tree.path, last_good)
    if changed := changes(tree.path):
        raise Refused(f"{tree.path}: {changed[0]} is not committed, and the work tree is for the schedule alone")
    share_dvc(root, tree.path)
    if not fetched(tree.path).exists():
        fetch_data(tree)
        fetched(tree.path).touch()


def share_dvc(root: Path, tree: Path) -> None:
    from dvc.config import Config

    ours = dvc_config(root)
    with Config(dvc_dir=str(tree / ".dvc")).edit("local") as local:
        local["cache"] = {"dir": ours["cache"].get("dir", str(root / ".dvc" / "cache"))}
        local["remote"] = ours["remote"]
        if "remote" in ours["core"]:
            local["core"] = {**local.get("core", {}), "remote": ours["core"]["remote"]}


def fetched(tree: Path) -> Path:
    """There once the new work tree's data have been fetched: a run that failed before leaves that to the next."""
    return Path(git(tree, "rev-parse", "--absolute-git-dir")) / "hexdata-fetched"


def fetch_data(tree: Tree) -> None:
    """What the cache or the remote holds of the commit's artifacts; the rest is made."""
    if "remote" in dvc_config(tree.path)["core"]:
        tree.run(sys.executable, "-m", "dvc", "pull", "--force", "--allow-missing", "dvc.yaml")
    else:
        tree.run(sys.executable, "-m", "dvc", "checkout", "--force", "--allow-missing", "dvc.yaml")


def merge(base: str, tree: Tree, say: Say) -> None:
    """Bring the branch up to the repository's commit: the code that runs is the code that stands in the commit."""
    lock = tree.path / "dvc.lock"
    before = lock.read_bytes() if lock.exists() else b""
    if subprocess.run(["git", "merge-base", "--is-ancestor", base, "HEAD"], cwd=tree.path).returncode:
        say(f"merge of {base[:10]}")
        try:
            git(tree.path, "merge", "--quiet", "--no-edit", base)
        except Failed as error:
            branch = git(tree.path, "branch", "--show-current")
            raise Failed(f"{branch} and {base[:10]} differ in the same lines: merge by hand ({error})") from None
    others = git(tree.path, "diff", "--name-only", base, "HEAD", "--", ".", *(f":(exclude){name}" for name in OURS))
    if others:
        raise Failed(f"{others.split()[0]} is not as in {base[:10]}, whose code runs: merge the branch there first")
    if lock.exists() and lock.read_bytes() != before:
        fetch_data(tree)


def take_back(tree: Path, commit: str) -> None:
    git(tree, "reset", "--quiet", "--hard", commit)
    git(tree, "clean", "--quiet", "--force", "-d", "--", *OURS)


# ------------------------------------------------------------------------------------------------------ the steps


def end_of(schedule: ScheduleParams, begun: datetime, now: Callable[[], datetime]) -> datetime | None:
    """Until when games are added; Refused if that is over, as for a run that waited for its turn for too long."""
    if schedule.until is None:
        return None
    zone = ZoneInfo(schedule.timezone)
    end = next_time(schedule.until, begun.astimezone(zone))
    if now().astimezone(zone) >= end:
        raise Refused(f"it is past {end:%Y-%m-%d %H:%M}, until which this run was to add games: the next one will")
    return end


def add_games(
    tree: Tree,
    schedule: ScheduleParams,
    play: Sequence[str],
    say: Say,
    now: Callable[[], datetime],
    end: datetime | None = None,
) -> dict[str, int]:
    """More shards for every active campaign: once, or again and again until the end has come."""
    from hexdata.records import write_whole

    path = tree.path / "params.yaml"
    while True:
        present = played_shards(read_params(path))
        shards = {name: wanted_shards(tree.path, name, present[name], schedule.shards) for name in present}
        # a new file by rename: git may miss one of the same size that is written within the second of the checkout
        write_whole(path, raise_shards(read_text(path), shards).encode())
        for campaign in shards:
            say(f"games of {campaign}: from {present[campaign]} to {shards[campaign]} shards")
            where = ["--cluster", schedule.cluster] if schedule.cluster else []
            where += ["--workers", str(schedule.workers)] if schedule.workers else []
            tree.run(*play, campaign, *where)
        if end is None or now().astimezone(end.tzinfo) >= end:
            return shards


def played_shards(params: Params) -> dict[str, int]:
    """The shards of the active campaigns that play their games; imported games do not grow by themselves."""
    games = {name: params.campaigns[name].games for name in params.active}
    return {name: found.shards for name, found in games.items() if isinstance(found, GamesParams)}


def wanted_shards(tree: Path, campaign: str, present: int, more: int) -> int:
    """As many more as the schedule says, and no fewer than a failed run has left finished."""
    left = present
    while (tree / "data" / "games" / campaign / f"games-{left:05}.parquet").exists():
        left += 1
    return max(present + more, left)


def next_time(clock: str, start: datetime) -> datetime:
    """The first moment after `start` when clocks of its zone show `clock`, such as 06:30."""
    found = datetime.combine(start.date(), time.fromisoformat(clock), start.tzinfo)
    return found if found > start else found + timedelta(days=1)


def raise_shards(text: str, shards: Mapping[str, int]) -> str:
    """params.yaml with other numbers of shards; every other character, comments included, stays as it is."""
    document = yaml.compose(text, Loader=yaml.SafeLoader)
    wanted = json.loads(json.dumps(yaml.safe_load(text)))  # apart, also what is shared by an alias
    places = []
    for campaign, count in shards.items():
        node = document
        for name in ("campaigns", campaign, "games", "shards"):
            pairs = node.value if isinstance(node, yaml.MappingNode) else []
            node = next((value for key, value in pairs if key.value == name), None)
        if not isinstance(node, yaml.ScalarNode):
            raise BadParams(f"params.yaml: campaigns.{campaign}.games.shards: expected a number in the campaign itself")
        places.append((node.start_mark.index, node.end_mark.index, str(count)))
        wanted["campaigns"][campaign]["games"]["shards"] = count
    for start, end, number in sorted(places, reverse=True):
        text = text[:start] + number + text[end:]
    if yaml.safe_load(text) != wanted:
        raise BadParams("params.yaml: campaigns share games by a YAML alias: write them out, so that one can grow")
    return text


def check_artifacts(tree: Path, campaigns: Sequence[str], say: Say) -> None:
    from hexdata.validate import validate

    say("validation")
    for campaign in campaigns:
        # reports and models hold no tables
        folders = [path for path in sorted((tree / "data").glob(f"*/{campaign}")) if any(path.rglob("*.parquet"))]
        problems = validate(*folders).problems
        if problems:
            first, count = problems[0], len(problems)
            raise Failed(f"{first.file}: {first.rule}: {first.message} ({count} problems in {campaign})")


def commit_ours(tree: Path, shards: Mapping[str, int]) -> str:
    strangers = [name for name in changes(tree) if name.split("/")[0] not in OURS]
    if strangers:
        raise Failed(f"the run changed {strangers[0]}, which is not its to change")
    git(tree, "add", "--all", "--", *OURS)
    git(tree, "commit", "--quiet", "--message", f"More games: {told(shards)}")
    return git(tree, "rev-parse", "HEAD")


def told(shards: Mapping[str, int]) -> str:
    return ", ".join(f"{campaign} at {count} shards" for campaign, count in shards.items())
