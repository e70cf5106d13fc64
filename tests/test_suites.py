"""Suites: distinct undecided positions whose labels are true, in pieces that any worker may make."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from hexdata import suites
from hexdata.board import Position, bits, cells, unpack
from hexdata.label import label
from hexdata.params import BadParams, SuiteParams
from hexdata.records import BadFile, read_table, write_whole
from tests.engine import brute

PARAMS = SuiteParams(
    positions=40, min_stones=9, max_stones=14, limit_nodes=100_000, opening_limit_nodes=100_000, shards=3, seed=1
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    pieces = suites.pieces(4, PARAMS.model_copy(update={"min_stones": 3, "max_stones": 9}))
    for piece in pieces:
        write_whole(folder / "work" / piece.name, suites.make_piece(piece))
    suites.assemble(folder / "work", pieces, folder / "out")
    with pytest.raises(BadFile, match=r"suite-00003\.parquet"):
        suites.assemble(folder / "work", [*pieces, replace(pieces[0], number=3)], folder / "less")
    assert not (folder / "less").exists()
    return folder / "out"


def test_drawn_positions_are_distinct_undecided_and_in_range() -> None:
    drawn = suites.draw_positions(5, PARAMS)
    assert drawn == suites.draw_positions(5, PARAMS)
    assert drawn != suites.draw_positions(5, PARAMS.model_copy(update={"seed": 2}))
    assert len(set(drawn)) == len(drawn) == 40
    turned = {position.transform(1) for position in drawn} - {p for p in drawn if p == p.transform(1)}
    assert not turned & set(drawn)
    for position in drawn:
        assert 9 <= position.ply <= 14
        assert position.winner() is None
        assert position.is_black_first()


def test_too_many_are_refused() -> None:
    few = PARAMS.model_copy(update={"positions": 50, "min_stones": 0, "max_stones": 1})
    with pytest.raises(BadParams, match=r"suite\.positions: only \d+ distinct undecided 2x2 positions"):
        suites.draw_positions(2, few)


def test_every_label_is_what_brute_force_says(built: Path) -> None:
    rows = read_table(built / "suite.parquet", "suite").to_pylist()
    assert len(rows) == 40
    for row in rows:
        position = Position(4, unpack(row["black"]), unpack(row["white"]), row["to_move"])
        wins = brute_wins(position)
        assert row["winning_moves"] == [c for c in cells(position.empties()) if c in wins]
        assert row["losing_moves"] == [c for c in cells(position.empties()) if c not in wins]
        assert row["unknown_moves"] == []
        assert row["value"] == (1 if wins else -1)


def brute_wins(position: Position) -> set[int]:
    board = np.zeros(position.size**2, np.uint8)
    board[list(cells(position.black))], board[list(cells(position.white))] = brute.BLACK, brute.WHITE
    side = brute.BLACK if position.to_move == "black" else brute.WHITE
    return {cell for cell, winner in brute.move_winners(board, position.size, side).items() if winner == side}


def test_openings_of_4x4(built: Path) -> None:
    openings = read_table(built / "openings.parquet", "openings")
    assert openings.column("cell").to_pylist() == list(range(16))
    assert openings.column("winner").to_pylist().count("black") == 4
    assert suites.openings_json(openings)["size"] == 4


def test_a_budget_that_runs_out_is_unknown() -> None:
    found = label([Position.after(8, [27])], limit_nodes=1, all_moves=True)[0]
    assert found.winner is None
    assert found.difficulty == "unknown"
    assert len(found.unknown_moves) == 63
    assert found.value_for("white") is None


def test_pieces_hold_every_position_once() -> None:
    pieces = suites.pieces(5, PARAMS)
    of_suite = [item for piece in pieces if piece.kind == "suite" for item in piece.items]
    assert len(of_suite) == len(set(of_suite)) == 40
    assert sum(len(piece.items) for piece in pieces if piece.kind == "openings") == 25
    assert len({piece.key() for piece in pieces}) == len(pieces)


def test_json_and_parquet_agree(built: Path) -> None:
    import json

    as_json = json.loads((built / "suite.json").read_text())
    table = pq.read_table(built / "suite.parquet").to_pylist()
    assert [row["value"] for row in as_json] == [row["value"] for row in table]
    assert [len(row["winning_moves"]) for row in as_json] == [len(row["winning_moves"]) for row in table]


def test_a_label_depends_on_its_position_alone() -> None:
    """In one batch the solver would lend what it proves of the second to the first, which alone runs out of nodes."""
    empty, d4 = Position(7, 0, 0, "black"), Position(7, bits([24]), 0, "white")
    alone = label([empty], 260, all_moves=True)
    assert alone[0].winner is None
    assert label([empty, d4], 260, all_moves=True)[0] == alone[0]
