"""More games: params.yaml changes in its numbers alone, there is one writer, and a run is one commit or none."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml

from hexdata import extend
from hexdata.params import BadParams, ScheduleParams, read_params

PARAMS = """\
# every knob
active: [tiny] # which
campaigns:
  tiny: # small
    size: 4
    examples: {}
    games: {shards: 2, per_shard: 5, player: "uct:playouts=10", openings: one-stone,   # odd spacing stays
      dither_moves: 4, temperature: 1.0, seed: 1}
    dataset: {validation: 0.1, test: 0.1, augment: all, rows_per_file: 1000}
    suite: {positions: 9, min_stones: 6, max_stones: 12, limit_nodes: 9, opening_limit_nodes: 9, shards: 2, seed: 5}
    train: {blocks: 1, filters: 4, epochs: 1, batch: 64, learning_rate: 1.0e-3, value_weight: 0.5, weight_decay: 0,
      threads: 1, seed: 5}
schedule: {shards: 2, worktree: ../night, overlap: refuse} # the last line
"""

PLAY = """\
import sys
from pathlib import Path
from hexdata import generate
from hexdata.params import read_campaign
from hexdata.records import remove_others, write_json, write_whole
from hexdata.shards import unfinished

name = sys.argv[1]
params, folder = read_campaign(name), Path("data/games") / name
shards = generate.shards(name, params.size, params.games)
for shard in unfinished(folder, shards):
    write_whole(folder / shard.name, generate.make_shard(shard))
    if Path("../poison").exists():
        sys.exit(f"hexdata: {shard.name} is poisoned")
remove_others(folder, [shard.name for shard in shards])
write_json(Path("metrics") / name / "games.json", generate.folder_metrics(folder, shards))
"""

CONFIG = """\
[core]
    analytics = false
    autostage = true
    remote = store
['remote "store"']
    url = ../../store
"""

LINEAGE = """\
stages:
  games:
    cmd: python play.py tiny
    params: [campaigns.tiny.games]
    outs: [data/games/tiny: {persist: true}]
    metrics: [metrics/tiny/games.json: {cache: false, persist: true}]
"""


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a real generator, one stage and a remote beside it."""
    root = tmp_path / "root"
    (root / ".dvc").mkdir(parents=True)
    for name, text in {
        "params.yaml": PARAMS,
        "play.py": PLAY,
        "dvc.yaml": LINEAGE,
        ".gitignore": "/data/\n/logs/\n",
        ".dvc/.gitignore": "/config.local\n/tmp\n/cache\n",
        ".dvc/config": CONFIG,
    }.items():
        (root / name).write_text(text)
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "config", "user.name", "tester")
    git(root, "config", "user.email", "tester@example.org")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "start")
    return root


def run(root: Path) -> tuple[extend.Extension, list[str]]:
    said: list[str] = []
    return extend.extend(root, (sys.executable, "play.py"), said.append), said


def test_other_shards_and_every_other_character_as_it_was() -> None:
    assert extend.raise_shards(PARAMS, {"tiny": 13}) == PARAMS.replace("{shards: 2, per", "{shards: 13, per")
    text = (Path(__file__).parent.parent / "params.yaml").read_text()
    grown = extend.raise_shards(text, {"hex5": 1234, "hex13": 7})
    changed = [(a, b) for a, b in zip(text.splitlines(), grown.splitlines(), strict=True) if a != b]
    assert [a.replace("shards: 2, per", "shards: 1234, per") for a, _ in changed[:1]] == [changed[0][1]]
    assert len(changed) == 2
    assert yaml.safe_load(grown)["campaigns"]["hex13"]["games"]["shards"] == 7


def test_other_shards_and_the_line_ends_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes((before := PARAMS.replace("\n", "\r\n")).encode())
    with open(tmp_path / "lock", "w") as lock:
        extend.add_games(extend.Tree(tmp_path, lock), ScheduleParams(), ("true",), lambda sentence: None, datetime.now)
    assert path.read_bytes().decode() == before.replace("{shards: 2, per", "{shards: 3, per")


def test_games_that_campaigns_share_are_not_changed_behind_a_campaign() -> None:
    shared = "campaigns:\n  a: {games: &g {shards: 2}}\n  b: {games: *g}\n"
    with pytest.raises(BadParams, match="share games by a YAML alias"):
        extend.raise_shards(shared, {"b": 3})
    merged = "campaigns:\n  a: {games: &g {shards: 2}}\n  b: {games: {<<: *g, seed: 1}}\n"
    with pytest.raises(BadParams, match=r"campaigns\.b\.games\.shards"):
        extend.raise_shards(merged, {"b": 3})


def test_the_next_time_the_clock_shows() -> None:
    zone = ZoneInfo("Europe/Amsterdam")
    night = datetime(2026, 3, 28, 23, 30, tzinfo=zone)
    assert extend.next_time("06:30", night) == datetime(2026, 3, 29, 6, 30, tzinfo=zone)  # the clocks change on the way
    assert extend.next_time("23:45", night) == datetime(2026, 3, 28, 23, 45, tzinfo=zone)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("schedule: {until: 16:30}", "until: input should be a valid string, not 990"),
        ('schedule: {until: "24:00"}', "until: string should match pattern"),
        ("schedule: {timezone: Mars}", "timezone 'Mars': expected a name such as UTC"),
        ("schedule: {shards: 0}", "shards: input should be greater than 0"),
        ("schedule: {workers: lots}", "workers is 'lots': expected a number such as 4, or a range such as 2-16"),
        ("schedule: {workers: 123456}", "workers is '123456': expected a number such as 4"),
        ("schedule: {cluster: foo}", "cluster 'foo': expected local, tcp://…, tls://…, slurm, pbs or ssh:HOST,HOST"),
        ("schedule: {cluster: tcp://here:8786, workers: 4}", "tcp://here:8786 has workers of its own: expected no"),
        ('schedule: {branch: "a b..c"}', "branch 'a b..c': expected a name that git takes for a branch"),
        ("schedule: {notify: {after: [bored]}}", "input should be 'completed', 'failed', 'crashed' or 'cancelled'"),
    ],
)
def test_a_bad_schedule_is_one_sentence(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(PARAMS.replace(PARAMS.splitlines()[-1], line))
    with pytest.raises(BadParams) as told:
        read_params(path)
    assert message in str(told.value)


def test_a_branch_is_what_git_takes_for_one() -> None:
    right = "nightly a/b é x@y a.b a.locks HEAD/a a]"
    wrong = "-a /a a/ a//b .a a/.b a. a..b a.lock a.lock/b a@{b HEAD a~ a^ a: a? a* a["
    for name in [*right.split(), *wrong.split(), "a b", "a\\b", "a\tb", "a\x7f", ""]:
        known = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True).returncode == 0
        try:
            assert (ScheduleParams(branch=name).branch == name) == known, name
        except ValueError:
            assert not known, name


def test_a_late_run_ends_when_it_should_have(root: Path) -> None:
    """From the clock of its schedule: a run that waited past its end would play for another day."""
    zone = ZoneInfo("Europe/Amsterdam")
    schedule = ScheduleParams(until="06:30", timezone="Europe/Amsterdam")
    scheduled = datetime(2026, 3, 3, 2, 0, tzinfo=zone)
    for hour in (2, 5):
        end = extend.end_of(schedule, scheduled, lambda: datetime(2026, 3, 3, hour, 0, tzinfo=zone))  # noqa: B023
        assert end == datetime(2026, 3, 3, 6, 30, tzinfo=zone)
    assert extend.end_of(ScheduleParams(), scheduled, datetime.now) is None
    (root / "params.yaml").write_text(PARAMS.replace("overlap", 'until: "06:30", timezone: Europe/Amsterdam, overlap'))
    git(root, "commit", "--quiet", "--all", "--message", "until")
    late = datetime(2026, 3, 3, 6, 31, tzinfo=zone)
    with pytest.raises(extend.Refused, match="it is past 2026-03-03 06:30, until which this run was to add games"):
        extend.extend(root, (sys.executable, "play.py"), lambda sentence: None, lambda: late, scheduled)
    assert not (root.parent / "night").exists()


def test_a_run_is_one_commit_or_nothing(root: Path) -> None:
    tree, start = root.parent / "night", git(root, "rev-parse", "HEAD")
    done, said = run(root)
    assert done.shards == {"tiny": 4}
    assert git(root, "log", "--format=%s", "nightly") == "More games: tiny at 4 shards\nstart"
    assert git(root, "rev-parse", "nightly") == done.commit
    changed = git(root, "diff", "--name-only", start, "nightly").splitlines()
    assert changed == ["dvc.lock", "metrics/tiny/games.json", "params.yaml"]
    assert git(root, "show", "nightly:params.yaml") + "\n" == PARAMS.replace("{shards: 2, per", "{shards: 4, per")
    assert json.loads((tree / "metrics" / "tiny" / "games.json").read_text())["games"] == 20
    stored = [path for path in (root.parent / "store").rglob("*") if path.is_file()]
    assert len(stored) == 5, "four shards and the list of them"
    assert git(root, "rev-parse", "HEAD") == start
    assert git(root, "status", "--porcelain") == git(tree, "status", "--porcelain") == ""
    assert said[-1].endswith("tiny at 4 shards")

    # a step that fails: the branch stays, the shard that was finished stays too, and the sentence is the step's own
    poison = root.parent / "poison"
    poison.touch()
    with pytest.raises(extend.Failed, match=r"play\.py tiny` ended with exit code 1: games-00004\.parquet is poisoned"):
        run(root)
    assert git(root, "rev-parse", "nightly") == done.commit
    assert git(tree, "status", "--porcelain") == ""
    kept = tree / "data" / "games" / "tiny" / "games-00004.parquet"
    inode = kept.stat().st_ino

    # a run that was killed in its work: the next takes back what it did
    (tree / "params.yaml").write_text("half a fi")
    (tree / "metrics" / "tiny" / "more.json").write_text("{}")
    with extend.writer_lock(extend.lock_path(root), wait=False) as lock:
        extend.note(lock, done.commit)
    poison.unlink()
    (root / "README.md").write_text("new")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "words")
    again, said = run(root)
    assert said[0].startswith("the last run was killed")
    assert again.shards == {"tiny": 6}
    assert kept.stat().st_ino == inode
    assert git(root, "diff", "--name-only", "main", "nightly").splitlines() == changed
    assert git(root, "merge-base", "main", "nightly") == git(root, "rev-parse", "main")

    # git may miss a file of the same size that is written in the second of its checkout, but not another inode
    params = tree / "params.yaml"
    inode = params.stat().st_ino
    with open(root / "lock", "w") as lock:
        shards = extend.add_games(
            extend.Tree(tree, lock), ScheduleParams(), (sys.executable, "play.py"), said.append, datetime.now
        )
    (root / "lock").unlink()
    assert shards == {"tiny": 7}
    assert params.stat().st_ino != inode
    extend.take_back(tree, again.commit)

    # somebody else grew the campaign too
    (root / "params.yaml").write_text(PARAMS.replace("{shards: 2, per", "{shards: 3, per"))
    git(root, "commit", "--quiet", "--all", "--message", "by hand")
    with pytest.raises(extend.Failed, match="differ in the same lines: merge by hand"):
        run(root)
    assert git(root, "rev-parse", "nightly") == again.commit
    assert git(tree, "status", "--porcelain") == ""


@pytest.mark.parametrize("commits", [True, False])
def test_code_that_changed_under_a_run_leaves_no_commit(root: Path, commits: bool) -> None:
    """The steps ran the repository's files, whatever the commit in the work tree says."""

    def change(sentence: str) -> None:
        if sentence == "validation":
            (root / "play.py").write_text(PLAY + "# other\n")
            if commits:
                git(root, "commit", "--quiet", "--all", "--message", "while it runs")

    start = git(root, "rev-parse", "HEAD")
    what = "is checked out instead of" if commits else r"play\.py is not committed"
    with pytest.raises(extend.Failed, match=f"the code changed while the run was at work: .*{what}"):
        extend.extend(root, (sys.executable, "play.py"), change)
    assert git(root, "rev-parse", "nightly") == start
    assert git(root.parent / "night", "status", "--porcelain") == ""
    assert not (root.parent / "store").exists(), "it was pushed"


def test_a_run_that_is_killed_holds_the_lock_until_its_step_has_ended(root: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from hexdata import extend\n"
        f"with extend.writer_lock(extend.lock_path(Path({str(root)!r})), wait=False) as lock:\n"
        f"    tree = extend.Tree(Path({str(root)!r}), lock)\n"
        "    tree.run('sh', '-c', 'echo $$ > logs/step; exec sleep 1000')\n"
    )
    step = root / "logs" / "step"
    path = extend.lock_path(root)
    process = subprocess.Popen([sys.executable, "-c", script])
    while not (step.exists() and step.read_text().strip()):
        assert process.poll() is None
    with pytest.raises(extend.Refused, match="another run extends the campaigns"):
        run(root)
    process.kill()
    process.wait()
    assert extend.is_locked(path), "the step still writes"
    child = int(step.read_text())
    os.kill(child, signal.SIGKILL)
    with open(path) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # comes as soon as the kernel has ended the step
    assert not extend.is_locked(path)


def test_a_fetch_that_fails_is_left_to_the_next_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    run_step = extend.Tree.run

    def watched(tree: extend.Tree, *command: str) -> None:
        steps.append(command[3] if command[2] == "dvc" else command[1])
        if len(steps) == 1:
            raise extend.Failed("the remote is away")
        run_step(tree, *command)

    monkeypatch.setattr(extend.Tree, "run", watched)
    with pytest.raises(extend.Failed, match="the remote is away"):
        run(root)
    run(root)
    run(root)
    assert steps == ["pull", "pull", *(2 * ["play.py", "repro", "push"])]


def test_what_is_in_the_way_is_named_and_nothing_is_touched(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(message: str) -> None:
        with pytest.raises(extend.Refused, match=message):
            run(root)
        assert not (root.parent / "night").exists()
        assert git(root, "branch", "--list") == "* main"

    (root / "stray.py").touch()
    refused(r"stray\.py is not committed")
    (root / "stray.py").unlink()
    (root / "play.py").write_text("other")
    refused(r"play\.py is not committed")
    git(root, "checkout", "--quiet", "play.py")
    (root / ".dvc" / "config").write_text("[core]\nautostage = true\n")
    git(root, "commit", "--quiet", "--all", "--message", "no remote")
    refused("there is no DVC remote to push to")
    (root / "params.yaml").write_text(PARAMS.replace("overlap", "branch: main, overlap"))
    git(root, "commit", "--quiet", "--all", "--message", "own branch")
    refused("schedule.branch main is checked out here")
