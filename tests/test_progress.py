"""What a meter tells where there is no terminal, and what it keeps in its log."""

import re
from pathlib import Path

import pytest

from hexdata.progress import Meter


def test_counts_rates_and_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "logs" / "games.log"
    with Meter("games tiny", 30, "games", log) as meter:
        meter.advance(10, fresh=False, rates={"playouts": 10**12}, positions=100, chain=10)
        meter.advance(10, rates={"playouts": 5000}, positions=120, chain=9, proof=1, discarded=0)
        meter.tell("Dask's page: http://127.0.0.1:1/status")
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "Dask's page: http://127.0.0.1:1/status"
    line = r"games tiny: 20/30 games, 220 positions, 19 chain, 1 proof, ([\d,]+) playouts/s in \d+ s, \d+ s left"
    found = re.fullmatch(line, told[1])
    assert found, told[1]
    assert int(found[1].replace(",", "")) > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ " + line, log.read_text().strip())


def test_a_meter_that_fails_says_nothing_of_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with Meter("games tiny", 30, "games", tmp_path / "games.log"):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert capsys.readouterr().err == ""
    assert not (tmp_path / "games.log").exists()
