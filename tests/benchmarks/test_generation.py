"""The benchmark of generation fails when a limit is missed; its figures are its own affair."""

import json
from pathlib import Path

import pytest

from benchmarks import generation

GOOD = {
    "games": 1,
    "bare_games_per_second": 1.0,
    "dask_games_per_second": 1.0,
    "ratio": 0.95,
    "client_cpu_share": 0.5,
    "cpu_share_beyond_the_engine": 0.049,
}


@pytest.mark.parametrize(
    ("change", "peak", "missed"),
    [
        ({}, 599, None),
        ({"ratio": 0.949}, 599, "ratio at least 0.95"),
        ({"cpu_share_beyond_the_engine": 0.05}, 599, "client and Dask less than 5%"),
        ({}, 600, "client's peak less than 600 MB"),
    ],
)
def test_a_missed_limit_is_named_and_is_the_exit_code(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, float],
    peak: int,
    missed: str | None,
) -> None:
    size = {"games": 1, "client_peak_mb": peak, "written_mb": 1}
    monkeypatch.setattr(generation, "throughput", lambda *arguments: GOOD | change)
    monkeypatch.setattr(generation, "memory", lambda games: size)
    monkeypatch.setattr(generation, "RESULTS", tmp_path)
    assert generation.main(["--quick", "--save"]) == (1 if missed else 0)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("missed")] == ([f"missed: {missed}"] if missed else [])
    (kept,) = tmp_path.glob("generation-*.json")
    assert json.loads(kept.read_text())["memory"] == size
