"""The long matches are kept where they should be, and go on where they were."""

import json
from pathlib import Path

import pytest

from benchmarks import balanced, ladder
from benchmarks.machine import processor_name
from hexdata.arena import Match
from hexdata.engine import ENGINE_VERSION


def test_results_of_a_whole_match_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "GAMES", tmp_path / "games")
    monkeypatch.setattr(ladder, "RESULTS", tmp_path / "results")
    match = Match(3, ("uct:playouts=5", "random"), "all")
    table = ladder.play("small", match, workers=1)
    processor = processor_name()
    assert (tmp_path / "results" / "ladder-small.txt").read_text() == f"{table}\n\nprocessor {processor}\n"
    figures = json.loads((tmp_path / "games" / "small" / "results.json").read_text())
    kept = json.loads((tmp_path / "results" / "ladder-small.json").read_text())
    assert kept == {**figures, "processor": processor}
    assert kept["engine_version"] == ENGINE_VERSION


def test_a_match_that_cannot_be_played_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        ladder.play("small", Match(5, ("uct:playouts=5", "random"), "balanced"))
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("no balanced openings are known for 5x5")


def test_a_pilot_counts_the_wins_of_black(tmp_path: Path) -> None:
    """On 3x3 all first moves but two corners win, says the solver, and mohex at 50 playouts knows."""
    found = balanced.run(3, 50, 2, tmp_path / "pilot", workers=1)
    wins = found["black_wins"]
    assert isinstance(wins, dict)
    assert (wins["b2"], wins["a1"], wins["c3"]) == (2, 0, 0)
    assert wins["b1"] == wins["b3"]
