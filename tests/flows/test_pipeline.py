"""The whole path for real: a clone, DVC, a Prefect server, a Dask cluster, every stage of hex5."""

import json
from pathlib import Path

import pytest

from hexdata.records import folder_hash
from hexdata.validate import validate
from tests.flows.conftest import copy_project, edit, git, run

STAGES = ("games", "suite", "examples", "dataset", "train", "evaluate", "report", "release")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory, server: str) -> Path:
    folder = copy_project(tmp_path_factory.mktemp("pipeline") / "clone", "[hex5]")
    done = run(folder, "flows.repro", PREFECT_API_URL=server)
    assert done.returncode == 0, done.stdout + done.stderr
    for stage in STAGES:
        assert f"Running stage '{stage}@hex5'" in done.stdout
    for word in ("report", "dataset", "model", "suite", "release"):
        assert f"\n  {word} " in done.stdout
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "built")
    return folder


def ran(output: str) -> set[str]:
    return {name for name in STAGES for line in output.splitlines() if f"Running stage '{name}@" in line}


def test_every_artifact_is_there_and_sound(clone: Path) -> None:
    for kind in ("games", "examples", "dataset", "augmented", "suites", "release"):
        report = validate(clone / "data" / kind / "hex5")
        assert report.problems == []
        assert report.rows > 0
    figures = json.loads((clone / "metrics" / "hex5" / "dataset.json").read_text())
    assert set(figures["leaks"].values()) == {0}
    suite = json.loads((clone / "metrics" / "hex5" / "suite.json").read_text())
    assert suite["openings"]["black"] == 13, "13 first moves win on 5x5"
    page = (clone / "data" / "reports" / "hex5" / "index.html").read_text()
    assert "<svg" in page
    assert git(clone, "status", "--porcelain") == ""


def test_a_second_run_has_nothing_to_do(clone: Path) -> None:
    done = run(clone, "flows.repro")
    assert done.returncode == 0
    assert "Nothing to do" in done.stdout
    assert "Running stage" not in done.stdout
    assert "Prefect server" not in done.stdout, "a server was started for nothing"


@pytest.mark.slow
def test_more_epochs_rerun_training_and_what_stands_on_it(clone: Path, server: str) -> None:
    edit(clone, "epochs: 2", "epochs: 1")
    done = run(clone, "dvc", "repro", PREFECT_API_URL=server)
    assert done.returncode == 0, done.stderr
    assert ran(done.stdout) == {"train", "evaluate", "report"}
    git(clone, "checkout", "--quiet", "HEAD", "--", ".")
    assert run(clone, "dvc", "checkout", "--quiet").returncode == 0
    assert "Nothing to do" in run(clone, "flows.repro").stdout


def test_a_bad_parameter_under_dvc_costs_nothing(clone: Path, server: str) -> None:
    before = folder_hash(clone / "data"), folder_hash(clone / "metrics")
    edit(clone, "per_shard: 60", "per_shard: -60")
    done = run(clone, "dvc", "repro", PREFECT_API_URL=server)
    assert done.returncode != 0
    assert "hexdata: params.yaml: campaigns.hex5.games.per_shard: input should be greater than 0" in done.stderr
    edit(clone, "per_shard: -60", "per_shard: 60")
    assert (folder_hash(clone / "data"), folder_hash(clone / "metrics")) == before


@pytest.mark.slow
def test_from_nothing_the_lock_and_the_metrics_stay_as_they_are(clone: Path) -> None:
    import shutil

    for name in ("data", ".dvc/cache", ".dvc/tmp"):
        shutil.rmtree(clone / name)
    done = run(clone, "flows.repro")
    assert done.returncode == 0, done.stdout + done.stderr
    # the metrics are in git and still true, so there is nothing to evaluate again
    assert ran(done.stdout) == set(STAGES) - {"evaluate"}
    assert git(clone, "diff", "HEAD", "--", "dvc.lock", "metrics") == ""
    assert git(clone, "status", "--porcelain") == ""


@pytest.mark.slow
def test_growth_through_dvc_equals_a_fresh_build(clone: Path, server: str, tmp_path: Path) -> None:
    games = clone / "data" / "games" / "hex5"
    before = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in games.iterdir()}
    edit(clone, "shards: 2, per_shard", "shards: 4, per_shard")
    assert run(clone, "dvc", "repro", PREFECT_API_URL=server).returncode == 0
    after = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in games.iterdir()}
    assert len(after) == 4
    assert {name: after[name] for name in before} == before
    fresh = copy_project(tmp_path / "fresh", "[hex5]")
    edit(fresh, "shards: 2, per_shard", "shards: 4, per_shard")
    assert run(fresh, "dvc", "repro", PREFECT_API_URL=server).returncode == 0
    assert (fresh / "dvc.lock").read_text() == (clone / "dvc.lock").read_text()
    for kind in ("games", "examples", "dataset", "augmented", "suites", "models", "reports", "release"):
        assert folder_hash(fresh / "data" / kind) == folder_hash(clone / "data" / kind), kind
    edit(clone, "shards: 4, per_shard", "shards: 2, per_shard")
    assert run(clone, "dvc", "repro", PREFECT_API_URL=server).returncode == 0
    assert git(clone, "status", "--porcelain") == ""


@pytest.mark.slow
def test_another_campaign_reruns_nothing_of_the_first(clone: Path, server: str) -> None:
    text = (clone / "params.yaml").read_text()
    start, end = text.index("  hex5:"), text.index("  hex6:")
    second = (
        text[start:end].replace("  hex5:", "  hex4:", 1).replace("size: 5", "size: 4", 1).replace("seed: 5", "seed: 4")
    )
    (clone / "params.yaml").write_text(
        text[:end].replace("active: [hex5]", "active: [hex5, hex4]", 1) + second + text[end:]
    )
    done = run(clone, "dvc", "repro", PREFECT_API_URL=server)
    assert done.returncode == 0, done.stderr
    assert "Running stage 'games@hex4'" in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.startswith("Running stage") and "hex5" in line]
