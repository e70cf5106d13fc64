"""The openings run: right winners, saved after each, resumed, stopped by Ctrl-C; and what the solver table measures."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import openings, solver
from benchmarks.machine import processor_name, short_name
from hexdata import engine
from hexdata.board import parse_cell


def proved(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text())
    assert found["size"] == 5
    rows: dict[str, Any] = found["openings"]
    return rows


def test_distinct_by_rotation_from_the_centre() -> None:
    cells = openings.distinct_openings(8)
    assert len(cells) == len({min(cell, 63 - cell) for cell in cells}) == 32
    assert cells[0] == parse_cell("e4", 8)
    assert cells[-1] == parse_cell("a1", 8)
    assert len(openings.distinct_openings(5)) == 13


def test_a_run_is_right_and_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results" / "openings.json"
    assert openings.main(["--size", "5", "--threads", "2", "--table-mb", "8", "--output", str(path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 15
    rows = proved(path)
    winners = {min(parse_cell(name, 5), 24 - parse_cell(name, 5)): row["winner"] for name, row in rows.items()}
    everything = {cell: engine.solve(5, [cell], [], "white").winner for cell in range(25)}
    assert winners == {cell: winner for cell, winner in everything.items() if cell <= 24 - cell}
    assert set(rows["c3"]) == {
        *("winner", "nodes", "expansions", "cpu_seconds", "table_mb", "engine_version", "processor"),
    }

    # one row is gone, one is of another engine, one was not proved: these three are made, the others are kept
    rows["c3"]["cpu_seconds"] = rows["a1"]["cpu_seconds"] = rows["b1"]["cpu_seconds"] = 999.0
    rows["a1"]["engine_version"] = engine.ENGINE_VERSION - 1
    rows["b1"]["winner"] = "unknown"
    del rows["c2"]
    path.write_text(json.dumps({"size": 5, "openings": rows}))
    assert openings.main(["--size", "5", "--table-mb", "8", "--output", str(path)]) == 0
    assert "10 of 13 openings are proved, 3 to do" in capsys.readouterr().out
    again = proved(path)
    assert len(again) == 13
    assert again["c3"]["cpu_seconds"] == 999.0
    assert again["a1"]["cpu_seconds"] < 999 > again["b1"]["cpu_seconds"]
    assert again["a1"]["engine_version"] == engine.ENGINE_VERSION
    assert again["b1"]["winner"] != "unknown"


def test_a_limit_leaves_openings_unknown(tmp_path: Path) -> None:
    path = tmp_path / "openings.json"
    arguments = ["--size", "5", "--table-mb", "8", "--output", str(path), "--limit-seconds", "1e-9"]
    assert openings.main(arguments) == 1
    assert "unknown" in {row["winner"] for row in proved(path).values()}


def test_ctrl_c_keeps_what_is_proved(tmp_path: Path) -> None:
    path = tmp_path / "openings.json"
    command = [sys.executable, "-m", "benchmarks.openings", "--size", "9", "--table-mb", "8", "--output", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "9x9: 0 of 41 openings are proved, 41 to do\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == "benchmarks.openings: stopped; the same command goes on from here\n"


def test_bad_input_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "openings.json"
    path.write_text('{"size": 6, "openings": {}}')
    for arguments, sentence in [
        (["--size", "5", "--output", str(path)], f"{path}: not the results of 5x5 openings"),
        (["--size", "20"], "board size 20 is out of range"),
        (["--threads", "0"], "expected --threads"),
    ]:
        assert openings.main(arguments) == 2
        assert sentence in capsys.readouterr().err
    assert path.read_text() == '{"size": 6, "openings": {}}'


def test_the_solver_table_is_the_one_that_was_agreed() -> None:
    works = {work.name: work for work in solver.table()}
    assert [len(work.positions) for work in works.values()] == [36, 500, 500, 49, 1, 1, 1]
    drawn = random.Random(12345).sample(range(36), 8)
    first = works["500 of 8 stones on 6x6"].positions[0]
    assert (first.black, first.to_move) == (sum(1 << cell for cell in drawn[::2]), "black")
    for work in works.values():
        assert all(position.winner() is None for position in work.positions)
    assert works["8x8 after d5"].positions[0].black == 1 << parse_cell("d5", 8)
    assert works["8x8 after d5"].positions[0].to_move == "white"


def test_figures_and_names() -> None:
    work = solver.Work("two", [solver.after(4, 5), solver.after(4, 6)], "ms", 10.0, 5.0)
    row = solver.Figures(work, [0.001, 0.003], 7, 6, 0).row()
    assert (row["cpu_seconds"], row["mean_ms"], row["benzene_ratio"], row["target_ratio"]) == (0.004, 2.0, 5.0, 2.5)
    measured = solver.measure(work).row()
    assert (measured["positions"], measured["unknown"]) == (2, 0)
    assert processor_name()
    assert short_name("Intel(R) Xeon(R) CPU @ 2.20GHz") == "intel-xeon-cpu-2-20ghz"
