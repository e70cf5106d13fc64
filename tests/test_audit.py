"""The audit passes on what the solver proved, and finds every label that was turned round, in its place."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hexdata import audit, suites
from hexdata.board import Position, bits, cell_name
from hexdata.cli import main
from hexdata.label import keys_of, label, suite_table
from hexdata.params import SuiteParams
from hexdata.records import BadFile, read_table, schema_for, table_bytes, write_whole
from hexdata.validate import validate

Row = dict[str, Any]
SIZE = 5
PARAMS = SuiteParams(
    positions=20, min_stones=8, max_stones=14, limit_nodes=100_000, opening_limit_nodes=100_000, shards=1, seed=3
)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real suite of 5x5, and the openings of 3x3."""
    work, out = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("suite")
    pieces = [
        suites.pieces(SIZE, PARAMS)[0],
        suites.pieces(3, PARAMS.model_copy(update={"min_stones": 2, "max_stones": 5}))[1],
    ]
    for piece in pieces:
        write_whole(work / piece.name, suites.make_piece(piece))
    suites.assemble(work, pieces, out)
    return out


def changed(suite: Path, tmp_path: Path, row: int, **columns: Any) -> Path:
    rows = read_table(suite).to_pylist()
    rows[row].update(columns)
    kind = suite.stem
    table = pa.Table.from_pylist(rows, schema=schema_for(kind, rows[0]["size"]))
    write_whole(tmp_path / suite.name, table_bytes(table, kind, {}))
    return tmp_path / suite.name


def small_row(suite: Path, value: int) -> tuple[int, Row]:
    """The row with the most stones that has winning and losing moves, or only losing ones."""
    rows = enumerate(read_table(suite).to_pylist())
    of_value = [(number, row) for number, row in rows if row["value"] == value and row["losing_moves"]]
    return max(of_value, key=lambda found: found[1]["ply"])


def answer(capsys: pytest.CaptureFixture[str], path: Path, *options: str, code: int) -> dict[str, Any]:
    assert main(["audit", str(path), "--json", *options]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_what_the_solver_proved_is_proved_again(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, suite, "--sample", "100", code=0)
    assert found["ok"]
    assert (found["files"], found["rows"], found["sampled"], found["too_large"]) == (2, 29, 29, 0)
    assert found["labels"] > 150
    assert main(["audit", str(suite), "--sample", "3"]) == 0
    assert capsys.readouterr().out.startswith("no differences in ")


def test_a_winning_move_among_the_losing_is_found(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number, row = small_row(suite / "suite.parquet", 1)
    move = row["winning_moves"][0]
    name = cell_name(move, SIZE)
    lists = {"winning_moves": row["winning_moves"][1:], "losing_moves": sorted([*row["losing_moves"], move])}
    path = changed(suite / "suite.parquet", tmp_path, number, **lists)
    assert answer(capsys, path, code=1)["differences"] == [
        {"file": str(path), "row": number, "move": name, "stored": "loss", "proved": "win"}
    ]
    assert main(["audit", str(path)]) == 1
    assert f"{path}: row {number}: audit: {name} is labelled a loss, but plain search proves a win\n" in (
        capsys.readouterr().out
    )


def test_a_flipped_value_is_found(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    number, row = small_row(suite / "suite.parquet", -1)
    path = changed(suite / "suite.parquet", tmp_path, number, value=1)
    winner = {"black": "white", "white": "black"}[row["to_move"]]
    found = answer(capsys, path, code=1)["differences"]
    assert found == [{"file": str(path), "row": number, "move": None, "stored": row["to_move"], "proved": winner}]


def test_a_flipped_opening_is_found(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = changed(suite / "openings.parquet", tmp_path, 4, winner="white")
    found = answer(capsys, path, code=1)["differences"]
    assert found == [{"file": str(path), "row": 4, "move": None, "stored": "white", "proved": "black"}]


def test_a_label_of_a_taken_cell_is_a_difference(suite: Path, tmp_path: Path) -> None:
    number, row = small_row(suite / "suite.parquet", -1)
    taken = next(cell for cell in range(SIZE * SIZE) if cell not in row["losing_moves"])
    path = changed(suite / "suite.parquet", tmp_path, number, losing_moves=[taken])
    found = [str(d) for _, c in audit.audit({path: [number]}) for d in c.differences]
    assert found == [f"{cell_name(taken, SIZE)} is labelled a loss, but is no legal move"]


def test_validate_proves_some_of_a_suite_again(suite: Path, tmp_path: Path) -> None:
    assert validate(suite).problems == []
    _, row = small_row(suite / "suite.parquet", -1)
    wrong = {**row, "winning_moves": row["losing_moves"], "losing_moves": [], "value": 1}
    table = pa.Table.from_pylist([wrong], schema=schema_for("suite", SIZE))
    write_whole(tmp_path / "suite.parquet", table_bytes(table, "suite", {}))
    problems = validate(tmp_path / "suite.parquet").problems
    assert {(p.file, p.rule) for p in problems} == {(str(tmp_path / "suite.parquet"), "audit")}
    assert problems[0].row == 0
    assert "is labelled a win, but plain search proves a loss" in problems[0].message
    flipped = changed(suite / "openings.parquet", tmp_path, 0, winner="black")
    assert [(p.row, p.rule) for p in validate(flipped).problems] == [(0, "audit")]


def test_validate_has_the_solver_prove_what_is_too_large_for_plain_search(tmp_path: Path) -> None:
    """A suite of 9x9: its damaged labels are found, and what was proved how is told."""
    rng = random.Random(1)
    drawn = [rng.sample(range(81), 40) for _ in range(6)]
    positions = [Position(9, bits(stones[::2]), bits(stones[1::2]), "black") for stones in drawn]
    positions = sorted((p for p in positions if p.winner() is None), key=lambda p: keys_of([p])[0][0])
    keys, symmetry = keys_of(positions)
    images = [p.transform(int(s)) for p, s in zip(positions, symmetry, strict=True)]
    table = suite_table(images, keys, label(images, limit_nodes=2_000, all_moves=True), "random")
    path = tmp_path / "suite.parquet"
    write_whole(path, table_bytes(table, "suite", {}))
    report = validate(path)
    assert report.problems == []
    assert (report.large, report.solved_again) == (len(images), 3)
    assert "the solver proved 3 of them again, which finds damage but no fault of its own" in report.remarks()[-1]
    rows = table.to_pylist()
    for row in rows:
        lists = {"winning_moves": row["losing_moves"], "losing_moves": row["winning_moves"]}
        row.update(lists, value=1 if row["losing_moves"] else -1)
    write_whole(path, table_bytes(pa.Table.from_pylist(rows, schema=schema_for("suite", 9)), "suite", {}))
    problems = validate(path).problems
    assert {p.rule for p in problems} == {"audit"}
    assert "but the solver proves" in problems[0].message


def test_the_sample_is_a_function_of_the_seed(suite: Path) -> None:
    first = audit.plan(suite, 6, seed=1)
    assert first == audit.plan(suite, 6, seed=1)
    assert first.chosen != audit.plan(suite, 6, seed=2).chosen
    assert sum(map(len, first.chosen.values())) == 6
    assert all(rows == sorted(set(rows)) for rows in first.chosen.values())


def test_large_positions_are_counted_and_a_short_budget_is_no_difference(suite: Path) -> None:
    plan = audit.plan(suite / "suite.parquet", 100, seed=0, most_empty=15)
    stones = read_table(suite / "suite.parquet").column("ply").to_pylist()
    assert plan.too_large == sum(ply < 10 for ply in stones) > 0
    assert len(plan.chosen[suite / "suite.parquet"]) == plan.rows - plan.too_large
    everything = {suite / "suite.parquet": list(range(20))}
    checked = [found for _, found in audit.audit(everything, limit_nodes=1)]
    assert not any(found.differences for found in checked)
    assert sum(found.unproved for found in checked) > 100


def test_proved_examples_and_games_are_audited(games: pa.Table) -> None:
    """A finished game's end is won: called proved, its winner is checked; the loser is a difference."""
    rows = games.slice(0, 2).to_pylist()
    for row in rows:
        row["ended_by"] = "proof"
    rows[1]["winner"] = "white" if rows[1]["winner"] == "black" else "black"
    table = pa.Table.from_pylist(rows, schema=schema_for("games", 5))
    assert set(audit.empty_cells(table, "games")) == {0, 1}
    assert [len(found.differences) for found in audit.audit_rows(table, [0, 1], "games")] == [0, 1]
    assert audit.empty_cells(games, "games") == {}
    example = {"size": 3, "black": b"\x10\0", "white": b"\0\0", "to_move": "white"}
    table = pa.Table.from_pylist([{**example, "proved": value} for value in (1, -1, None)])
    assert list(audit.empty_cells(table, "examples")) == [0, 1]
    assert [len(found.differences) for found in audit.audit_rows(table, [0, 1], "examples")] == [1, 0]


def test_nothing_to_audit_is_bad_input(tmp_path: Path, games: pa.Table) -> None:
    with pytest.raises(BadFile, match="no such file or folder"):
        audit.plan(tmp_path / "nowhere", 1, 0)
    write_whole(tmp_path / "games.parquet", table_bytes(games, "games", {}))
    with pytest.raises(BadFile, match="no proved values here"):
        audit.plan(tmp_path, 1, 0)
    overlap = {"size": 3, "black": b"\x10\0", "white": b"\x10\0", "to_move": "white", "proved": 1}
    with pytest.raises(BadFile, match="x: row 0: b2 holds a black and a white stone"):
        list(audit.audit_rows(pa.Table.from_pylist([overlap]), [0], "x"))
