"""Strangers' games through the whole pipeline."""

from pathlib import Path

import pytest

from hexdata.formats import write_games
from hexdata.validate import validate
from tests.flows.conftest import copy_project, run
from tests.test_import_games import finished


@pytest.mark.slow
def test_every_stage_runs_on_imported_games(tmp_path: Path, server: str) -> None:
    """A whole campaign of strangers' games through DVC, each stage as users run it."""
    clone = copy_project(tmp_path / "clone", "[theirs]")
    text = write_games([finished(seed, 4) for seed in range(120)], "sgf")
    (clone / "theirs.sgf").write_text(text)
    params = (clone / "params.yaml").read_text()
    (clone / "params.yaml").write_text(params.replace("active: [theirs]", "active: [hex5]", 1))
    done = run(clone, "hexdata.cli", "import", "theirs.sgf", "--as", "theirs")
    assert done.returncode == 0, done.stderr
    assert "put theirs into `active`" in done.stdout
    params = (clone / "params.yaml").read_text().replace("active: [hex5]", "active: [theirs]", 1)
    start = params.index("  theirs:")
    small = params[start:].replace("positions: 60", "positions: 12", 1).replace("epochs: 2", "epochs: 1", 1)
    (clone / "params.yaml").write_text(params[:start] + small)
    done = run(clone, "flows.repro", PREFECT_API_URL=server)
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in ("games", "examples", "dataset", "suites", "release"):
        report = validate(clone / "data" / kind / "theirs")
        assert report.problems == []
        assert report.rows > 0
    assert "imported from other programs" in (clone / "data" / "release" / "theirs" / "README.md").read_text()

    (clone / "data" / "games" / "theirs" / "games-00000.parquet").unlink()
    done = run(clone, "flows.games", "theirs", PREFECT_API_URL=server)
    assert done.returncode == 2
    assert "data/games/theirs: the imported games are not here: run `hexdata import FILES… --as theirs`" in done.stderr
