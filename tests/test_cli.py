"""The command line: what it prints, its exit codes, and one sentence for whatever is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hexdata import doctor, engine
from hexdata.board import Position, bits, cells, pack, parse_moves
from hexdata.cli import main
from hexdata.records import schema_for, table_bytes
from hexdata.validate import Problem, Report

COMMANDS = ("show", "solve", "head", "validate", "import", "export", "audit", "doctor", "version")


@pytest.fixture(autouse=True)
def plain_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")


Output = pytest.CaptureFixture[str]


def printed(capsys: Output, *arguments: str, code: int = 0) -> str:
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert captured.err == "" or code == 130
    return captured.out


def refusal(capsys: Output, *arguments: str) -> str:
    """The one sentence, without `hexdata: `."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("hexdata: ")
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("hexdata: ").rstrip("\n")


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "NO_COLOR")}
    return subprocess.run(
        [sys.executable, "-m", "hexdata.cli", *arguments],
        capture_output=True,
        text=True,
        env={**clean, **environment},
        timeout=60,
    )


# ---------------------------------------------------------------------------------------------------------- artifacts


def write(path: Path, kind: str, size: int, rows: list[dict[str, Any]]) -> Path:
    table = pa.Table.from_pylist(rows, schema=schema_for(kind, size))
    path.write_bytes(table_bytes(table, kind, {}))
    return path


def stones(size: int, moves: str) -> dict[str, Any]:
    position = Position.after(size, parse_moves(moves, size))
    return {
        "key": b"\x01" * 16,
        "size": size,
        "black": pack(position.black, size),
        "white": pack(position.white, size),
        "to_move": position.to_move,
        "ply": position.ply,
    }


@pytest.fixture
def games(tmp_path: Path) -> Path:
    moves = parse_moves("b2 a1 b1 c3 b3", 3)
    row = {
        "game_id": b"\xab" * 16,
        "campaign": "hex3",
        "shard": 0,
        "size": 3,
        "opening_length": 1,
        "moves": moves,
        "winner": "black",
        "ended_by": "chain",
        "swapped": False,
        "black": "uct:playouts=20",
        "white": "uct:playouts=20",
        "seed": 7,
        "budget": [0, 20, 20, 20, 20],
        "root_value": [0.0, 0.1, -0.5, 1.0, 1.0],
        "visits": [{"cells": [], "counts": []}] + [{"cells": [move, 8], "counts": [15, 5]} for move in moves[1:]],
        "sampled": [False, True, False, False, False],
        "engine_version": 1,
        "net_hash": None,
    }
    return write(tmp_path / "games-00000.parquet", "games", 3, [row, {**row, "seed": 8}])


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    row = {
        **stones(3, "b2 a1"),
        "plies_left_sum": 9,
        "policy_cells": parse_moves("b1 c3", 3),
        "policy_visits": [15, 5],
        "played_cells": parse_moves("b1", 3),
        "played_counts": [3],
        "z_sum": 3,
        "z_count": 3,
        "games": 3,
        "sampled_count": 1,
        "proved": None,
        "weight": 0.1,
    }
    return write(tmp_path / "examples.parquet", "examples", 3, [row])


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    row = {
        **stones(3, "a1 c3"),
        "value": 1,
        "winning_moves": parse_moves("b2", 3),
        "losing_moves": parse_moves("b1 c1 a2 c2", 3),
        "unknown_moves": parse_moves("a3 b3", 3),
        "nodes": 12,
        "difficulty": "easy",
        "source": "games",
    }
    return write(tmp_path / "suite.parquet", "suite", 3, [{**row, "value": None}, row])


@pytest.fixture
def openings(tmp_path: Path) -> Path:
    winners = ["white", "black", "black", "unknown"]
    rows = [{"size": 2, "cell": cell, "winner": winner, "nodes": 3} for cell, winner in enumerate(winners)]
    return write(tmp_path / "openings.parquet", "openings", 2, rows)


# -------------------------------------------------------------------------------------------------- help and versions


def test_help_names_every_command(capsys: Output) -> None:
    text = printed(capsys, "--help")
    assert all(f"\n  {command} " in text for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(capsys: Output, command: str) -> None:
    text = printed(capsys, command, "--help")
    assert f"\n    hexdata {command}" in text
    assert "--json" in text


def test_version(capsys: Output) -> None:
    assert printed(capsys, "version").startswith("hexdata 0.")
    assert json.loads(printed(capsys, "version", "--json"))["engine"] == engine.ENGINE_VERSION


@pytest.mark.parametrize("statement", ["import hexdata", "import hexdata.cli"])
def test_imports_stay_light(statement: str) -> None:
    heavy = "{'numpy', 'pyarrow', 'torch', 'prefect', 'dask', 'pydantic', 'rich', 'hexdata.engine'}"
    code = f"import sys; {statement}; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


# --------------------------------------------------------------------------------------------------------------- show

MOVES_DRAWN = """\
  a b c
 1 O X .  1
  2 .[X].  2
   3 . . .  3
      a b c
white to move, 3 stones
Black (X) joins top and bottom, White (O) left and right
"""


def test_show_moves(capsys: Output) -> None:
    assert printed(capsys, "show", "--size", "3", "--moves", "b1 a1 b2") == MOVES_DRAWN
    assert printed(capsys, "show", "--size", "3", "--moves", "B1,A1, b2") == MOVES_DRAWN


def test_show_json(capsys: Output) -> None:
    assert json.loads(printed(capsys, "show", "--size", "3", "--moves", "b1 a1 b2", "--json")) == {
        "size": 3,
        "black": ["b1", "b2"],
        "white": ["a1"],
        "to_move": "white",
        "winner": None,
    }


def test_show_in_colour_only_when_asked_or_on_a_terminal() -> None:
    arguments = ("show", "--size", "3", "--moves", "b2")
    assert "\x1b" not in run(*arguments).stdout
    assert "\x1b[" in run(*arguments, FORCE_COLOR="1", PYTHONIOENCODING="utf-8").stdout
    assert "\x1b" not in run(*arguments, FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "●" not in run(*arguments, FORCE_COLOR="1", PYTHONIOENCODING="ascii").stdout


@pytest.fixture
def sgf(tmp_path: Path) -> Path:
    path = tmp_path / "game.sgf"
    path.write_text("(;FF[4]GM[11]SZ[3]PB[Ann]PW[Bob]RE[B+];B[b1];W[a1];B[b2];W[c1];B[b3])")
    return path


def test_show_sgf(capsys: Output, sgf: Path) -> None:
    text = printed(capsys, "show", str(sgf))
    assert text.splitlines()[0] == f"{sgf}, move 5 of 5, black Ann, white Bob"
    assert "black has won, 5 stones" in text
    assert printed(capsys, "show", str(sgf), "--move-number", "3").endswith(MOVES_DRAWN)
    answer = json.loads(printed(capsys, "show", str(sgf), "--json"))
    assert (answer["winner"], answer["result"], answer["move_number"]) == ("black", "B+", 5)


def test_show_sgf_and_moves_go_on_from_there(capsys: Output, sgf: Path) -> None:
    text = printed(capsys, "show", str(sgf), "--move-number", "2", "--moves", "b2")
    assert text.splitlines()[0].endswith("then b2")
    assert text.endswith(MOVES_DRAWN)


def test_show_game_row(capsys: Output, games: Path) -> None:
    text = printed(capsys, "show", str(games), "--row", "1")
    assert text.splitlines()[0] == f"{games}: row 1 of 2, games, move 5 of 5, black won"
    assert "   3 .[X]O  3\n" in text
    assert " 1[O]. .  1\n" in printed(capsys, "show", str(games), "--ply", "2")
    answer = json.loads(printed(capsys, "show", str(games), "--row", "1", "--json"))
    assert answer["black"] == ["b1", "b2", "b3"]
    assert answer["row"]["seed"] == 8


def test_show_example_row(capsys: Output, examples: Path) -> None:
    text = printed(capsys, "show", str(examples), "--row", "0")
    assert " 1 O . .  1\n  2 . X .  2\n" in text
    assert "black to move, 2 stones" in text


def test_show_suite_row_marks_moves(capsys: Output, suite: Path) -> None:
    text = printed(capsys, "show", str(suite), "--row", "1")
    assert " 1 X - -  1\n  2 - + -  2\n   3 ? ? O  3\n" in text
    assert "proved: black wins" in text
    assert "+ wins  - loses  ? unknown" in text
    assert "proved" not in printed(capsys, "show", str(suite), "--row", "0")
    assert json.loads(printed(capsys, "show", str(suite), "--row", "1", "--json"))["row"]["winning_moves"] == ["b2"]


def test_show_openings_draws_the_winners(capsys: Output, openings: Path) -> None:
    text = printed(capsys, "show", str(openings))
    assert " 1 W B  1\n  2 B ?  2\n" in text
    assert "? unknown  B black wins  W white wins" in text
    winners = json.loads(printed(capsys, "show", str(openings), "--json"))["winners"]
    assert winners == {"a1": "white", "b1": "black", "a2": "black", "b2": "unknown"}


def test_a_table_that_another_program_rewrote_is_still_known(capsys: Output, suite: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(suite).replace_schema_metadata(None), suite)
    assert "  2 - + -  2\n" in printed(capsys, "show", str(suite), "--row", "1")


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("show", "no position given: expected a FILE, or --size with or without --moves"),
        ("show --size 1", "board size 1 is out of range: expected 2 to 19"),
        ("show --size 20", "board size 20 is out of range: expected 2 to 19"),
        ("show --size five", "Invalid value for '--size'"),
        ("show --size 3 --moves d4", "'d4' is not a cell of a 3x3 board: expected a1 to c3"),
        ("show --size 3 --moves a1,a1", "--moves: move 2: a1 is already taken"),
        ("show --size 2 --moves a1,b1,a2,b2", "--moves: move 4: b2 comes after black has won"),
        ("show --size 3 --row 1", "--row is for a FILE"),
        ("show --size 3 --ply 1", "--move-number is for a FILE"),
        ("show missing.sgf", "missing.sgf: no such file or directory"),
        ("show missing.parquet", "missing.parquet: no such file or directory"),
        ("show .", ".: a folder: expected an SGF or Parquet file"),
        ("head .", ".: a folder: expected one of its Parquet files"),
        ("head missing.parquet", "missing.parquet: no such file"),
        ("head", "Missing argument 'FILE.parquet' (see `hexdata head --help`)"),
        ("head missing.parquet -n 0", "Invalid value for '--rows' / '-n'"),
        ("head missing.parquet -n 99999999999999999999999", "Invalid value for '--rows' / '-n'"),
        ("audit missing.parquet", "missing.parquet: no such file or folder"),
        ("audit . --sample 0", "Invalid value for '--sample'"),
        ("solve", "no position given"),
        ("solve --size 3 --to-move red", "--to-move 'red' is no side: expected black or white"),
        ("solve --size 3 --limit-seconds -1", "--limit-seconds -1.0 is out of range"),
        ("solve --size 3 --limit-seconds nan", "--limit-seconds nan is out of range"),
        ("solve --size 3 --limit-nodes 0", "Invalid value for '--limit-nodes'"),
        ("solve --size 3 --limit-nodes 99999999999999999999999", "Invalid value for '--limit-nodes'"),
        ("solve --size 3 --threads 0", "Invalid value for '--threads'"),
        ("solve --size 3 --threads 99999", "Invalid value for '--threads'"),
        ("worker tcp://127.0.0.1:1 --workers 99999999999", "Invalid value for '--workers'"),
        ("solve --openings", "--openings needs a board: expected --size"),
        ("solve --openings --size 20", "board size 20 is out of range"),
        ("solve --openings --size 3 --moves a1", "--openings is about the empty board: expected no --moves with it"),
        ("solve --openings --size 3 --all-moves", "--openings is about the empty board: expected no --all-moves"),
        ("generate hex6 --dry-run --cluster slurm", "--dry-run measures here: expected --workers alone with it"),
        (
            "generate hex6 --cluster tcp://127.0.0.1:1 --workers 2",
            "tcp://127.0.0.1:1 has workers of its own: expected no --workers with an address",
        ),
        (
            "match random uct:playouts=1 --cluster tcp://127.0.0.1:1 --workers 2",
            "tcp://127.0.0.1:1 has workers of its own: expected no --workers with an address",
        ),
        ("sho", "No such command 'sho'. Did you mean 'show'? (see `hexdata --help`)"),
        ("show --colour", "No such option: --colour"),
        ("", "Missing command"),
    ],
)
def test_one_sentence_for_bad_arguments(
    capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refusal(capsys, *arguments.split()).startswith(sentence)


def test_one_sentence_for_bad_rows(capsys: Output, games: Path, openings: Path, examples: Path) -> None:
    assert refusal(capsys, "show", str(games), "--row", "2") == (
        f"{games}: row 2 is out of range: the table has 2 rows, numbered from 0"
    )
    assert "row -1 is out of range" in refusal(capsys, "show", str(games), "--row", "-1")
    assert refusal(capsys, "show", str(games), "--ply", "6") == (
        f"{games}: row 0: move number 6 is out of range: the game has 5 moves"
    )
    assert "expected no --row" in refusal(capsys, "show", str(openings), "--row", "0")
    assert "this row is one position" in refusal(capsys, "show", str(examples), "--ply", "1")
    assert "not --size 5" in refusal(capsys, "show", str(games), "--size", "5")
    assert "expected --openings" in refusal(capsys, "solve", str(openings))


def test_one_sentence_for_damaged_files(capsys: Output, games: Path, tmp_path: Path) -> None:
    whole = games.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:6], b"", b"PAR1" * 4):
        games.write_bytes(damaged)
        for command in ("show", "head"):
            assert refusal(capsys, command, str(games)).startswith(f"{games}: not a readable Parquet file")
    sgf = tmp_path / "game.sgf"
    sgf.write_text("(;SZ[5];B[a1];W[a1])")
    assert refusal(capsys, "show", str(sgf)) == f"{sgf}:1:16: move 2: a1 is already taken"
    assert refusal(capsys, "show", str(sgf), "--row", "1").startswith(f"{sgf}: --row is for Parquet tables")
    sgf.write_text("(;SZ[5];B[a1])")
    assert refusal(capsys, "show", str(sgf), "--move-number", "2").startswith(f"{sgf}: move number 2 is out of range")


def test_one_sentence_for_impossible_rows(capsys: Output, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "odd.parquet"
    rows = {
        "no position here": {"a": 1},
        "to_move is 'red'": {"size": 3, "black": b"\0\0", "white": b"\0\0", "to_move": "red"},
        "a1 holds a black and a white stone": {"size": 3, "black": b"\1\0", "white": b"\1\0", "to_move": "black"},
        "board size 40 is out of range": {"size": 40, "black": b"\1", "white": b"\0", "to_move": "black"},
        "not a row of examples": {"size": 3, "black": None, "white": b"\0", "to_move": "black"},
        "move 2: a1 is already taken": {"size": 3, "moves": [0, 0], "winner": "black"},
        "winner is 'red'": {"size": 3, "cell": 0, "winner": "red"},
    }
    for sentence, row in rows.items():
        pq.write_table(pa.Table.from_pylist([row]), path)
        assert refusal(capsys, "show", str(path)).startswith(f"{path}: row 0: {sentence}")


def test_no_traceback_from_the_real_command(tmp_path: Path) -> None:
    done = run("show", str(tmp_path / "missing.sgf"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"hexdata: {tmp_path / 'missing.sgf'}: no such file or directory\n"


def test_a_reader_that_goes_away_is_no_error(games: Path) -> None:
    script = f"{sys.executable} -m hexdata.cli head {games} | true"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


# -------------------------------------------------------------------------------------------------------------- solve


@dataclass
class Answer:
    winner: str
    winning_moves: list[int] = field(default_factory=list)
    losing_moves: list[int] = field(default_factory=list)
    unknown_moves: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    nodes: int = 10
    expansions: int = 7
    knowledge: int = 13
    cpu_seconds: float = 0.25


@cache
def mover_wins(position: Position) -> bool:
    if position.winner() is not None:
        return position.winner() == position.to_move
    return any(not mover_wins(position.play(cell)) for cell in cells(position.empties()))


def exhaustive(size: int, black: list[int], white: list[int], to_move: Any, **options: Any) -> Answer:
    """Every move labelled by playing on to the end: the engine's answers, found in another way."""
    position = Position(size, bits(black), bits(white), to_move)
    if (winner := position.winner()) is not None:
        return Answer(winner)
    answer = Answer("")
    for cell in cells(position.empties()):
        loses = mover_wins(position.play(cell))
        (answer.losing_moves if loses else answer.winning_moves).append(cell)
    answer.winner = to_move if answer.winning_moves else "white" if to_move == "black" else "black"
    answer.line = answer.winning_moves[:1]
    return answer


@pytest.fixture
def solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "solve", exhaustive)


@pytest.mark.usefixtures("solver")
def test_solve_prints_board_verdict_and_moves(capsys: Output) -> None:
    """c2 makes two bridges: to b1 through c1 and b2, to the bottom through b3 and c3."""
    assert printed(capsys, "solve", "--size", "3", "--moves", "b1 a3", "--all-moves").splitlines() == [
        "  a b c",
        " 1 - X -  1",
        "  2 - - +  2",
        "   3[O]- -  3",
        "      a b c",
        "+ wins  - loses",
        "Black (X) joins top and bottom, White (O) left and right",
        "black to move: black wins",
        "winning    1  c2",
        "losing     6  a1 c1 a2 b2 b3 c3",
        "line       1  c2",
        "10 nodes, 7 expansions, 13 connection sets, 0.250 CPU seconds",
    ]


@pytest.mark.usefixtures("solver")
def test_solve_json_is_the_documented_shape(capsys: Output) -> None:
    answer = json.loads(printed(capsys, "solve", "--size", "3", "--moves", "b1 a3", "--all-moves", "--json"))
    assert list(answer) == [
        "size",
        "black",
        "white",
        "to_move",
        "winner",
        "winning_moves",
        "losing_moves",
        "unknown_moves",
        "nodes",
        "cpu_seconds",
    ]
    assert (answer["size"], answer["black"], answer["white"], answer["to_move"]) == (3, ["b1"], ["a3"], "black")
    assert (answer["winner"], answer["winning_moves"]) == ("black", ["c2"])
    assert answer["losing_moves"] == ["a1", "c1", "a2", "b2", "b3", "c3"]


@pytest.mark.usefixtures("solver")
def test_solve_takes_positions_from_anywhere(capsys: Output, suite: Path, sgf: Path, games: Path) -> None:
    assert json.loads(printed(capsys, "solve", str(suite), "--row", "1", "--json"))["black"] == ["a1"]
    assert json.loads(printed(capsys, "solve", str(sgf), "--move-number", "2", "--json"))["white"] == ["a1"]
    assert json.loads(printed(capsys, "solve", str(games), "--ply", "1", "--json"))["to_move"] == "white"
    swapped = json.loads(printed(capsys, "solve", "--size", "3", "--to-move", "white", "--json"))
    assert (swapped["to_move"], swapped["winner"]) == ("white", "white")
    assert "black has won" in printed(capsys, "solve", str(games))


def test_solve_hands_its_limits_to_the_engine(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    def unknown(size: int, black: list[int], white: list[int], to_move: str, **options: Any) -> Answer:
        seen.append(options)
        return Answer("unknown", losing_moves=[0], unknown_moves=[1, 2, 3])

    monkeypatch.setattr(engine, "solve", unknown)
    text = printed(
        capsys, "solve", "--size", "2", "--limit-nodes", "5", "--limit-seconds", "1.5", "--threads", "2", "--all-moves"
    )
    assert seen == [{"limit_nodes": 5, "limit_seconds": 1.5, "threads": 2, "all_moves": True}]
    assert " 1 - ?  1\n  2 ? ?  2\n" in text
    assert "black to move: unknown, not proved within the limits" in text
    assert json.loads(printed(capsys, "solve", "--size", "2", "--json"))["winner"] == "unknown"
    assert seen[1] == {"limit_nodes": 0, "limit_seconds": 0.0, "threads": 1, "all_moves": False}


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("threads", ["1", "3"])
def test_solve_openings(capsys: Output, threads: str) -> None:
    answer = json.loads(printed(capsys, "solve", "--size", "3", "--openings", "--json", "--threads", threads))
    assert list(answer) == ["size", "winners", "nodes", "cpu_seconds"]
    assert [name for name, winner in answer["winners"].items() if winner == "black"] == ["c1", "a2", "b2", "c2", "a3"]
    assert (answer["nodes"], answer["cpu_seconds"]) == (90, 2.25)
    text = printed(capsys, "solve", "--size", "3", "--openings", "--threads", threads)
    assert " 1 W W B  1\n  2 B B B  2\n   3 B W W  3\n" in text
    assert "5 black, 4 white, 0 unknown; 90 nodes, 63 expansions, 117 connection sets, 2.250 CPU seconds" in text


def test_solve_openings_passes_on_what_the_engine_refuses(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Answer:
        raise ValueError("no")

    monkeypatch.setattr(engine, "solve", refuse)
    assert refusal(capsys, "solve", "--size", "3", "--openings") == "no"


def test_interrupted_solve_prints_what_was_proved(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = KeyboardInterrupt()

    def interrupt(*_: Any, **__: Any) -> Answer:
        raise stop

    monkeypatch.setattr(engine, "solve", interrupt)
    answer = json.loads(printed(capsys, "solve", "--size", "2", "--json", code=130))
    assert (answer["winner"], answer["unknown_moves"]) == ("unknown", ["a1", "b1", "a2", "b2"])
    stop.solutions = [Answer("black", [1], [0], [2, 3])]  # type: ignore[attr-defined]
    answer = json.loads(printed(capsys, "solve", "--size", "2", "--json", code=130))
    assert (answer["winner"], answer["losing_moves"], answer["unknown_moves"]) == ("black", ["a1"], ["a2", "b2"])
    assert main(["solve", "--size", "2"]) == 130
    captured = capsys.readouterr()
    assert " 1 - +  1\n  2 . .  2\n" in captured.out
    assert "unknown    2  try --all-moves" in captured.out
    assert captured.err == "hexdata: stopped with 2 of 4 moves proved\n"


STUCK = """
import sys, time
from hexdata import cli, engine

class Answer:
    winner, nodes, expansions, knowledge, cpu_seconds = "black", 1, 1, 2, 0.5

def solve(size, black, white, to_move, **options):
    if black[0] >= 2:
        print("stuck", file=sys.stderr, flush=True)
        time.sleep(60)
    return Answer()

engine.solve = solve
sys.exit(cli.main(["solve", "--size", "2", "--openings", "--json"]))
"""


def test_interrupted_openings_print_what_was_proved() -> None:
    process = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "stuck\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(out)["winners"] == {"a1": "black", "b1": "black", "a2": "unknown", "b2": "unknown"}
    assert err == "hexdata: stopped with 2 of 4 openings proved\n"


@pytest.mark.parametrize("options", ["", "--json", "--all-moves", "--all-moves --json --threads 2"])
def test_ctrl_c_stops_the_engine_itself(options: str) -> None:
    process = interrupted("solve", "--size", "11", *options.split())
    assert process.returncode == 130
    if "--json" in options:
        assert json.loads(process.stdout)["winner"] == "unknown"
    else:
        assert "black to move: unknown, not proved before it was stopped" in process.stdout
    assert process.stderr.startswith("hexdata: stopped with ")
    assert process.stderr.endswith(" of 121 moves proved\n")


@pytest.mark.parametrize("options", ["", "--json", "--json --threads 2"])
def test_ctrl_c_stops_openings_and_prints_the_board(options: str) -> None:
    process = interrupted("solve", "--size", "11", "--openings", *options.split())
    assert process.returncode == 130
    if "--json" in options:
        answer = json.loads(process.stdout)
        assert list(answer) == ["size", "winners", "nodes", "cpu_seconds"]
        assert len(answer["winners"]) == 121
        assert answer["winners"]["a1"] == "unknown"
    else:
        assert "Who wins after each first move of Black" in process.stdout
        assert " 1 ? " in process.stdout
    assert process.stderr.endswith(" of 121 openings proved\n")


SAYS_WHEN_AT_WORK = """
import sys
from hexdata import cli, engine

def announced(work):
    def run(*arguments, **options):
        sys.stderr.write("at work\\n")  # one write: two threads may say it at once
        sys.stderr.flush()
        return work(*arguments, **options)
    return run

engine.solve, engine.reprove = announced(engine.solve), announced(engine.reprove)
sys.exit(cli.main(sys.argv[1:]))
"""


def interrupted(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The real command, sent Ctrl-C while the engine works."""
    command = [sys.executable, "-c", SAYS_WHEN_AT_WORK, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "at work\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    return subprocess.CompletedProcess(command, process.returncode, out, err.replace("at work\n", ""))


def test_ctrl_c_prints_what_was_audited(tmp_path: Path) -> None:
    """The middle of the board is open, so the audit is still at work when it is stopped."""
    row = {
        **stones(5, "a1 e5 a2 e4"),
        "value": 1,
        "winning_moves": [12],
        "losing_moves": [],
        "unknown_moves": [],
        "nodes": 12,
        "difficulty": "easy",
        "source": "games",
    }
    path = write(tmp_path / "suite.parquet", "suite", 5, [row] * 50)
    process = interrupted("audit", str(path), "--json")
    assert process.returncode == 130
    answer = json.loads(process.stdout)
    assert (answer["rows"], answer["too_large"]) == (50, 0)
    assert answer["sampled"] < 50
    assert process.stderr == f"hexdata: stopped with {answer['sampled']} of 50 rows compared\n"


def test_solve_with_the_engine_itself(capsys: Output) -> None:
    answer = json.loads(printed(capsys, "solve", "--size", "3", "--all-moves", "--json"))
    assert answer["winner"] == "black"
    assert answer["winning_moves"] == ["c1", "a2", "b2", "c2", "a3"]
    winners = json.loads(printed(capsys, "solve", "--size", "4", "--openings", "--json", "--threads", "2"))["winners"]
    assert [name for name in winners if winners[name] == "black"] == ["d1", "c2", "b3", "a4"]


# ------------------------------------------------------------------------------------------- head, validate, doctor


def test_head_of_games(capsys: Output, games: Path) -> None:
    text = printed(capsys, "head", str(games), "-n", "1")
    lines = text.splitlines()
    assert lines[0] == f"{games}: games, 2 rows"
    assert "  moves           b2 a1 b1 c3 b3" in lines
    assert "  game_id         " + "ab" * 16 in lines
    assert "  visits          -, a1:15/20, b1:15/20, c3:15/20, b3:15/20" in lines
    assert "  sampled         01000" in lines
    assert "  root_value      0 0.1 -0.5 1 1" in lines
    assert "row 1" not in text


def test_head_of_examples_draws_the_stones(capsys: Output, examples: Path) -> None:
    lines = printed(capsys, "head", str(examples)).splitlines()
    assert "   1 O . .  1" in lines
    assert "    2 . X .  2" in lines
    assert "  policy          b1:15 c3:5" in lines
    assert "  played          b1:3" in lines
    assert "  proved          -" in lines


def test_head_json_is_one_whole_object_a_line(capsys: Output, games: Path, examples: Path, openings: Path) -> None:
    first, second = (json.loads(line) for line in printed(capsys, "head", str(games), "--json").splitlines())
    assert first["moves"] == ["b2", "a1", "b1", "c3", "b3"]
    assert first["root_value"] == [0.0, 0.1, -0.5, 1.0, 1.0]
    assert first["visits"][1] == {"cells": ["a1", "c3"], "counts": [15, 5]}
    assert first["black"] == "uct:playouts=20"
    assert second["seed"] == 8
    example = json.loads(printed(capsys, "head", str(examples), "--json"))
    assert (example["black"], example["white"], example["weight"]) == (["b2"], ["a1"], 0.1)
    assert example["key"] == "01" * 16
    opening = json.loads(printed(capsys, "head", str(openings), "--json", "-n", "1"))
    assert opening == {"size": 2, "cell": "a1", "winner": "white", "nodes": 3}


def test_head_shortens_to_the_width_of_the_terminal(
    capsys: Output, games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "45")
    lines = printed(capsys, "head", str(games), "-n", "1").splitlines()[1:]
    assert all(len(line) <= 45 for line in lines)
    assert "  visits          -, a1:15/20, b1:15/20, …" in lines


def test_head_of_a_strangers_table(capsys: Output, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"x": [1.5, float("nan")], "raw": [b"\x01\xff", None], "size": ["big", "small"]}), path)
    assert [json.loads(line) for line in printed(capsys, "head", str(path), "--json").splitlines()] == [
        {"x": 1.5, "raw": "01ff", "size": "big"},
        {"x": None, "raw": None, "size": "small"},
    ]
    assert "other.parquet: table, 2 rows" in printed(capsys, "head", str(path))


@pytest.mark.parametrize(
    "row",
    [
        {"size": 5, "moves": ["a1", "b2"]},
        {"size": 5, "moves": "a1 b2"},
        {"size": 0, "cell": 3},
        {"size": 5, "visits": [1, 2]},
        {"visits": 5},
        {"policy_cells": 3},
        {"policy_cells": ["a"], "policy_visits": [None]},
    ],
)
def test_head_of_a_strangers_table_with_columns_named_as_ours(
    capsys: Output, tmp_path: Path, row: dict[str, Any]
) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "other.parquet"
    pq.write_table(pa.Table.from_pylist([row]), path)
    assert json.loads(printed(capsys, "head", str(path), "--json")) == row
    shown = [line.split()[0] for line in printed(capsys, "head", str(path)).splitlines()[2:]]
    assert shown == ["row", *row]


EMPTY = {"size": 5, "black": b"\0" * 5, "white": b"\0" * 5, "to_move": "black"}


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**EMPTY, "black": b"\xff" * 5}, "lies outside the 5x5 board"),
        ({**EMPTY, "policy_cells": [25]}, "cell 25 lies outside the 5x5 board"),
        ({"size": 0, "cell": 3, "winner": "black"}, "board size 0 is out of range: expected 2 to 19"),
        ({"size": 5, "moves": "a1 b2", "winner": "black"}, "not a row of games (TypeError"),
        ({"size": 5, "moves": [3], "winner": "black", "visits": [None]}, "not a row of games (TypeError"),
        ({"size": 5, "moves": [3], "winner": "black", "visits": [{"counts": [1]}]}, "not a row of games (KeyError"),
    ],
)
def test_head_of_rows_that_are_not_what_their_columns_say(
    capsys: Output, tmp_path: Path, row: dict[str, Any], message: str, options: list[str]
) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "other.parquet"
    pq.write_table(pa.Table.from_pylist([row]), path)
    assert main(["head", str(path), *options]) == 2
    said = capsys.readouterr().err
    assert f"{path}: row 0: " in said
    assert message in said
    assert said.count("\n") == 1


def test_head_of_cells_without_their_counts(capsys: Output, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "other.parquet"
    pq.write_table(pa.Table.from_pylist([{**EMPTY, "policy_cells": [3], "policy_visits": [None]}]), path)
    assert json.loads(printed(capsys, "head", str(path), "--json"))["policy_cells"] == ["d1"]
    assert main(["head", str(path)]) == 2
    assert f"{path}: row 0: not a row of examples (TypeError" in capsys.readouterr().err


@pytest.fixture
def validator(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*paths: Path) -> Report:
        report = Report(len(paths), 10 * len(paths), notes=[f"{paths[0].parent}: not compared"] if paths[1:] else [])
        for path in paths:
            if path.name == "wrong.parquet":
                report.problems.append(Problem(str(path), 3, "stones", "a1 is black and white"))
                report.problems.append(Problem(str(path), None, "schema", "no column key"))
        return report

    monkeypatch.setattr("hexdata.validate.validate", check)


@pytest.mark.usefixtures("validator")
def test_validate(capsys: Output, tmp_path: Path) -> None:
    good, wrong = tmp_path / "good.parquet", tmp_path / "wrong.parquet"
    assert printed(capsys, "validate", str(good)) == "no problems in 1 files, 10 rows\n"
    assert printed(capsys, "validate", str(good), str(wrong), code=1).splitlines() == [
        f"{wrong}: row 3: stones: a1 is black and white",
        f"{wrong}: schema: no column key",
        f"{tmp_path}: not compared",
        "2 problems in 2 files, 20 rows",
    ]
    answer = json.loads(printed(capsys, "validate", str(wrong), "--json", code=1))
    assert (answer["ok"], answer["files"], answer["rows"], answer["not_checked"]) == (False, 1, 10, [])
    assert answer["problems"][1] == {"file": str(wrong), "row": None, "rule": "schema", "message": "no column key"}


def test_validate_files_that_are_damaged_or_missing(capsys: Output, games: Path, tmp_path: Path) -> None:
    games.write_bytes(games.read_bytes()[:100])
    assert "not a readable Parquet file" in refusal(capsys, "validate", str(games))
    assert refusal(capsys, "validate", str(tmp_path / "missing")).endswith("missing: no such file or folder")


def test_doctor_prints_each_check_and_what_to_do(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = [doctor.Check("compiler", "ok", "g++ 12"), doctor.Check("dvc", "warn", "no remote", "add one")]
    monkeypatch.setattr(doctor, "examine", lambda: iter(checks))
    assert printed(capsys, "doctor").splitlines() == [
        "ok    compiler   g++ 12",
        "warn  dvc        no remote",
        "                 -> add one",
        "ready",
    ]
    checks.append(doctor.Check("engine", "fail", "not built", "run `make setup`"))
    assert printed(capsys, "doctor", code=1).splitlines()[-1] == "needs your attention: engine"
    answer = json.loads(printed(capsys, "doctor", "--json", code=1))
    assert answer["ok"] is False
    assert answer["checks"][2] == {
        "name": "engine",
        "status": "fail",
        "found": "not built",
        "advice": "run `make setup`",
    }


def test_doctor_survives_a_check_that_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = ("compiler", "engine", "torch_device", "dask_cluster", "prefect_server", "dvc_remote")
    for name in quick:
        monkeypatch.setattr(doctor, name, lambda: doctor.Check("x", "ok", ""))

    def broken() -> doctor.Check:
        raise RuntimeError("half\ninstalled")

    monkeypatch.setattr(doctor, "dask_cluster", broken)
    found = {check.name: check for check in doctor.examine()}
    assert found["dask"] == doctor.Check(
        "dask", "fail", "the check itself broke: half installed", "run `make setup` again"
    )
    assert found["disk"].status in ("ok", "warn", "fail")


def test_doctor_names_the_package_of_a_missing_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(doctor, "_engine_error", lambda: "no module")
    check = doctor.compiler()
    assert (check.status, check.found) == ("fail", "no g++ or clang++ or c++ on the PATH")
    assert "apt install g++" in check.advice
    monkeypatch.setattr(doctor, "_engine_error", lambda: None)
    assert doctor.compiler().status == "warn"


def test_doctor_on_a_server_that_does_not_answer_and_a_real_cluster() -> None:
    """The slow checks for real, once, in a process of their own."""
    code = (
        "import json; from hexdata import doctor\n"
        "if __name__ == '__main__':\n"
        "    print(json.dumps([vars(c) for c in (doctor.prefect_server(), doctor.dask_cluster())]))"
    )
    environment = {**os.environ, "PREFECT_API_URL": "http://127.0.0.1:9/api"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120)
    prefect, dask = json.loads(done.stdout)
    assert prefect["status"] == "fail"
    assert "no answer from http://127.0.0.1:9/api" in prefect["found"]
    assert dask["status"] == "ok"


def test_doctor_knows_the_dvc_remote(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def dvc(*arguments: str) -> None:
        subprocess.run([sys.executable, "-m", "dvc", *arguments], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.chdir(tmp_path)
    assert doctor.dvc_remote().advice == "run this in the clone of hexdata"
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text("[core]\n    analytics = false\n    no_scm = true\n")
    assert "dvc remote add -d NAME URL" in doctor.dvc_remote().advice
    dvc("remote", "add", "-d", "store", str(tmp_path / "store"))
    check = doctor.dvc_remote()
    assert (check.status, check.advice) == ("ok", "")
    assert "remote store at" in check.found
