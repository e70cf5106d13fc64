"""The stage `patterns` and its promotion with real processes, on a campaign of seconds."""

import json
from pathlib import Path

import pytest

from flows.launch import launch_alone
from flows.patterns import check, learn
from hexdata.records import folder_hash
from tests.flows.conftest import copy_project, edit, git, run

TINY = """
patterns:
  size: 5
  games:
    {shards: 2, per_shard: 10, player: "mohex-2011:playouts=20", openings: one-stone, dither_moves: 4, temperature: 1.0,
     seed: 1}
  min_count: 5
  prior: 1.0
  passes: 5
  cap: 0.7
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory, server: str) -> Path:
    """A copy of the project whose campaign is tiny, learned once."""
    folder = copy_project(tmp_path_factory.mktemp("patterns") / "clone", "[hex5]")
    text = (folder / "params.yaml").read_text()
    head = text[: text.index("\npatterns:\n")]
    (folder / "params.yaml").write_text(head + TINY)
    done = run(folder, "dvc", "repro", "patterns/dvc.yaml", PREFECT_API_URL=server)
    assert done.returncode == 0, done.stdout + done.stderr
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "learned")
    return folder


def test_the_stage_is_apart_and_complete(clone: Path) -> None:
    assert git(clone, "status", "--porcelain") == ""
    figures = json.loads((clone / "metrics" / "patterns.json").read_text())
    assert figures["games"] == 20
    assert figures["prior"]["log_likelihood"] > figures["prior"]["uniform_log_likelihood"]
    assert len(list((clone / "data" / "patterns" / "games").iterdir())) == 2


def test_promotion_and_what_it_refuses(clone: Path) -> None:
    engine = clone / "hexdata" / "engine"
    before = int((engine / "VERSION").read_text())
    edit(clone, "passes: 5", "passes: 6")
    refused = run(clone, "hexdata.cli", "patterns", "promote")
    assert refused.returncode == 2
    assert "learned with other params or another engine than are here now; run `dvc repro" in refused.stderr
    edit(clone, "passes: 6", "passes: 5")
    assert git(clone, "status", "--porcelain") == ""

    done = run(clone, "hexdata.cli", "patterns", "promote", "--json")
    assert done.returncode == 0, done.stderr
    origin = json.loads(done.stdout)
    assert (engine / "VERSION").read_text() == f"{before + 1}\n"
    assert origin["promoted_as"] == before + 1
    assert (engine / "patterns.bin").read_bytes() == (clone / "data" / "patterns" / "weights.bin").read_bytes()

    again = run(clone, "hexdata.cli", "patterns", "promote")
    assert again.returncode == 2
    assert (
        again.stderr == f"hexdata: the engine, version {before + 1}, has these weights already; nothing was changed\n"
    )


@pytest.mark.slow
def test_the_engine_that_has_the_weights_rebuilds_them(clone: Path, server: str) -> None:
    """Byte for byte, from the games that are there although the version is another; and not as part of `make repro`."""
    before = folder_hash(clone / "data" / "patterns")
    assert "patterns" not in run(clone, "dvc", "repro", "--dry").stdout
    rebuilt = run(clone, "dvc", "repro", "patterns/dvc.yaml", PREFECT_API_URL=server)
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert "Running stage 'patterns" in rebuilt.stdout
    assert folder_hash(clone / "data" / "patterns") == before


def test_missing_weights_are_named(clone: Path) -> None:
    weights = clone / "data" / "patterns" / "weights.bin"
    content = weights.read_bytes()
    weights.unlink()
    gone = run(clone, "hexdata.cli", "patterns", "promote")
    weights.write_bytes(content)
    assert gone.stderr == (
        "hexdata: data/patterns/weights.bin: no such file; run `dvc repro patterns/dvc.yaml` to learn them\n"
    )


def test_a_bad_parameter_touches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "params.yaml").write_text("active: [a]\ncampaigns: {}\n")
    monkeypatch.chdir(tmp_path)
    assert launch_alone(learn, check, argv=[]) == 2
    assert "active names 'a', which is no campaign" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["params.yaml"]
