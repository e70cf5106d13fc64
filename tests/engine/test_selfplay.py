"""Self-play: legal games, honest records, the same bytes whatever the batching, and errors that name what is wrong."""

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hexdata.engine import Board, play_games, replay, search

UCT = "uct:playouts=20-60"
Games = dict[str, NDArray[Any]]


def uct_games(openings: list[list[int]], seeds: list[int], *, dither_moves: int = 3) -> Games:
    return play_games(5, UCT, UCT, openings, seeds, dither_moves=dither_moves, temperature=1.0)


OPENINGS = [[], [12], [3, 4], [], [7]]


@pytest.fixture(scope="module")
def games() -> Games:
    return uct_games(OPENINGS, [5, 6, 7, 8, 9])


def test_columns_have_the_promised_types(games: Games) -> None:
    assert {name: column.dtype.str for name, column in games.items()} == {
        "moves": "<u2",
        "offsets": "<i8",
        "winner": "|u1",
        "ended_by": "|u1",
        "budget": "<u4",
        "root_value": "<f4",
        "sampled": "|u1",
        "visit_offsets": "<i8",
        "visit_cells": "<u2",
        "visit_counts": "<u4",
    }


def test_games_are_legal_and_end_with_the_winning_chain(games: Games) -> None:
    for g, opening in enumerate(OPENINGS):
        moves = games["moves"][games["offsets"][g] : games["offsets"][g + 1]].tolist()
        assert moves[: len(opening)] == opening
        board = Board(5)
        for move in moves:
            assert board.winner() is None
            board.play(move)
        assert board.winner() == ("black", "white")[games["winner"][g]]
    assert not games["ended_by"].any()
    assert (replay(5, games["moves"], games["offsets"])["winner"] == games["winner"]).all()


def test_visits_are_sorted_legal_and_sum_to_the_budget(games: Games) -> None:
    for g, opening in enumerate(OPENINGS):
        board = Board(5)
        for ply, m in enumerate(range(games["offsets"][g], games["offsets"][g + 1])):
            cells = games["visit_cells"][games["visit_offsets"][m] : games["visit_offsets"][m + 1]].tolist()
            counts = games["visit_counts"][games["visit_offsets"][m] : games["visit_offsets"][m + 1]]
            assert cells == sorted(set(cells))
            assert set(cells) <= set(board.legal())
            assert counts.sum() == games["budget"][m]
            if ply < len(opening):
                assert (games["budget"][m], games["root_value"][m], games["sampled"][m], len(cells)) == (0, 0, 0, 0)
            else:
                assert 20 <= games["budget"][m] <= 60
                assert (counts > 0).all()
                assert -1 <= games["root_value"][m] <= 1
                assert games["sampled"][m] == (ply - len(opening) < 3)
                played = int(games["moves"][m])
                assert played in cells
                if not games["sampled"][m]:
                    assert counts[cells.index(played)] == counts.max()
            board.play(int(games["moves"][m]))


def test_budgets_are_drawn_from_the_whole_range() -> None:
    games = play_games(4, "uct:playouts=3-5", "uct:playouts=7", [[]] * 40, range(40), dither_moves=0, temperature=0.0)
    rows = replay(4, games["moves"], games["offsets"])
    assert set(games["budget"][rows["to_move"] == 0].tolist()) == {3, 4, 5}
    assert set(games["budget"][rows["to_move"] == 1].tolist()) == {7}


def test_a_game_does_not_depend_on_its_batch(games: Games) -> None:
    alone = [uct_games([opening], [seed]) for opening, seed in zip(OPENINGS, [5, 6, 7, 8, 9], strict=True)]
    for name in games.keys() - {"offsets", "visit_offsets"}:
        assert np.concatenate([part[name] for part in alone]).tobytes() == games[name].tobytes()
    lengths = np.concatenate([np.diff(part["visit_offsets"]) for part in alone])
    assert (lengths == np.diff(games["visit_offsets"])).all()


def test_seeds_matter() -> None:
    games = uct_games([[], []], [1, 2])
    first, second = (games["moves"][a:b].tolist() for a, b in zip(games["offsets"], games["offsets"][1:], strict=False))
    assert first != second


def test_threads_do_not_change_games(games: Games) -> None:
    found: list[Games] = []
    threads = [threading.Thread(target=lambda: found.append(uct_games(OPENINGS, [5, 6, 7, 8, 9]))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in found:
        assert all(other[name].tobytes() == games[name].tobytes() for name in games)


@pytest.mark.parametrize(("temperature", "power"), [(1.0, 1.0), (0.5, 2.0), (2.0, 0.5)])
def test_dithered_moves_follow_the_visits(temperature: float, power: float) -> None:
    """Over many games the share of each drawn first move is the mean of visits ** (1 / T), normalised."""
    count = 4000
    games = play_games(
        2, "uct:playouts=30", "random", [[]] * count, range(count), dither_moves=1, temperature=temperature
    )
    expected, drawn = np.zeros(4), np.zeros(4)
    for start in games["offsets"][:-1]:
        visits = slice(games["visit_offsets"][start], games["visit_offsets"][start + 1])
        weights = games["visit_counts"][visits].astype(float) ** power
        expected[games["visit_cells"][visits]] += weights / weights.sum()
        drawn[games["moves"][start]] += 1
    # Four standard deviations of a share; the seeds are fixed, so this never flickers.
    assert np.abs(drawn - expected).max() < 4 * (count * 0.25) ** 0.5
    assert games["sampled"].sum() == count


def test_temperature_zero_takes_the_most_visited() -> None:
    cold = play_games(4, UCT, UCT, [[]], [3], dither_moves=5, temperature=0.0)
    undithered = play_games(4, UCT, UCT, [[]], [3], dither_moves=0, temperature=1.0)
    assert cold["moves"].tobytes() == undithered["moves"].tobytes()
    assert not cold["sampled"].any()


def test_random_keeps_no_visits_and_plays_everywhere() -> None:
    games = play_games(3, "random", "random", [[]] * 300, range(300), dither_moves=2, temperature=1.0)
    assert len(games["visit_cells"]) == 0
    assert not games["budget"].any()
    assert not games["sampled"].any()
    first = np.bincount(games["moves"][games["offsets"][:-1]], minlength=9)
    assert (first > 10).all()


def test_an_opening_that_decides_the_game_is_a_game() -> None:
    games = play_games(2, UCT, UCT, [[0, 1, 2]], [0], dither_moves=0, temperature=0.0)
    assert (games["moves"].tolist(), games["winner"].tolist()) == ([0, 1, 2], [0])


def test_no_games() -> None:
    games = play_games(5, UCT, UCT, [], [], dither_moves=0, temperature=0.0)
    assert (games["offsets"].tolist(), games["visit_offsets"].tolist(), len(games["moves"])) == ([0], [0], 0)


def test_search_is_what_the_game_thinks(games: Games) -> None:
    board = Board(5)
    thought = search(board, UCT, 5)
    visits = slice(games["visit_offsets"][0], games["visit_offsets"][1])
    assert (thought["visit_cells"] == games["visit_cells"][visits]).all()
    assert (thought["visit_counts"] == games["visit_counts"][visits]).all()
    assert thought["budget"] == games["budget"][0]
    assert np.float32(thought["value"]) == games["root_value"][0]


def draw(drawing: str, to_move: str) -> Board:
    cells = [stone for line in drawing.strip().splitlines() for stone in line.split()]
    board = Board(int(len(cells) ** 0.5))
    other = "white" if to_move == "black" else "black"
    for colour in (to_move, other):
        for cell, stone in enumerate(cells):
            if stone == colour[0].upper():
                board.play(cell, colour)
    assert board.to_move == to_move
    return board


@pytest.mark.parametrize(
    ("drawing", "to_move", "winning"),
    [
        # Black's one winning move joins the two halves.
        (
            """
            . . B W .
             . . B W .
              W W . W .
               . B W . .
                . B . . .
            """,
            "black",
            12,
        ),
        # White must cut there.
        (
            """
            . . B W .
             . . B W .
              W W . W .
               . B W . .
                . B . . .
            """,
            "white",
            12,
        ),
    ],
)
def test_uct_finds_the_deciding_move(drawing: str, to_move: str, winning: int) -> None:
    for seed in range(5):
        thought = search(draw(drawing, to_move), "uct:playouts=500", seed)
        assert thought["best"] == winning
        assert thought["value"] > 0.5


def test_uct_beats_random_and_fewer_playouts() -> None:
    def score(first: str, second: str, count: int) -> float:
        """The share of games that `first` wins, half of them with each colour."""
        wins = 0
        for swap in (False, True):
            black, white = (second, first) if swap else (first, second)
            games = play_games(6, black, white, [[]] * count, range(count), dither_moves=2, temperature=1.0)
            wins += int((games["winner"] == int(swap)).sum())
        return wins / (2 * count)

    assert score("uct:playouts=100", "random", 20) == 1.0
    assert score("uct:playouts=1000", "uct:playouts=50", 50) > 0.7


@pytest.mark.parametrize(
    ("player", "sentence"),
    [
        ("mcts", r"unknown player 'mcts' \(expected: random, uct, mohex"),
        ("", r"unknown player '' \(expected: random, uct, mohex"),
        ("uct", "player 'uct': give either 'playouts' or 'seconds'"),
        ("uct:", "player 'uct:': '' is not of the form name=value"),
        ("uct:playouts", "player 'uct:playouts': 'playouts' is not of the form name=value"),
        ("uct:playouts=0", "parameter 'playouts' must be a number or a rising range .* not '0'"),
        ("uct:playouts=-5", "parameter 'playouts' must be .* not '-5'"),
        ("uct:playouts=9-5", "parameter 'playouts' must be .* not '9-5'"),
        ("uct:playouts=5-", "parameter 'playouts' must be .* not '5-'"),
        ("uct:playouts=5.5", "parameter 'playouts' must be .* not '5.5'"),
        ("uct:playouts=99999999999", "parameter 'playouts' must be .* not '99999999999'"),
        ("uct:playouts=5,playouts=6", "parameter 'playouts' is given twice"),
        ("uct:playouts=5,exploration=x", "parameter 'exploration' must be a number from 0 to 100, not 'x'"),
        ("uct:playouts=5,exploration=nan", "parameter 'exploration' must be a number from 0 to 100, not 'nan'"),
        ("uct:playouts=5,exploration=-1", "parameter 'exploration' must be a number from 0 to 100, not '-1'"),
        ("uct:playouts=5,depth=3", r"unknown parameter 'depth' \(expected: seconds, playouts, exploration\)"),
        ("random:playouts=5", r"unknown parameter 'playouts' \(expected: none\)"),
    ],
)
def test_player_errors_name_what_is_wrong(player: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        play_games(5, "random", player, [[]], [0], dither_moves=0, temperature=0.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"size": 20}, "the board size must be 2 to 19, not 20"),
        ({"openings": [[], [3, 3]]}, "opening 1, ply 1: cell 3 already has a stone"),
        ({"openings": [[], [25]]}, "opening 1, ply 0: cell 25 is not on a board of size 5"),
        ({"seeds": [1]}, r"seeds must be as many as openings \(2\), not 1"),
        ({"dither_moves": -1}, "dither_moves must be 0 or more, not -1"),
        ({"temperature": -1.0}, "temperature must be from 0 to 1000, not -1"),
        ({"temperature": float("nan")}, "temperature must be from 0 to 1000, not nan"),
    ],
)
def test_argument_errors_name_what_is_wrong(change: dict[str, Any], sentence: str) -> None:
    arguments: dict[str, Any] = {
        "size": 5,
        "black": "random",
        "white": "random",
        "openings": [[], []],
        "seeds": [1, 2],
        "dither_moves": 0,
        "temperature": 0.0,
    }
    with pytest.raises(ValueError, match=sentence):
        play_games(**(arguments | change))


def test_search_refuses_a_decided_board() -> None:
    board = Board(2)
    for cell in (0, 1, 2):
        board.play(cell)
    with pytest.raises(ValueError, match="there is nothing to search: black has won"):
        search(board, UCT, 0)


def test_ctrl_c_stops_one_long_search() -> None:
    """A search of a hundred million playouts, minutes long, ends with KeyboardInterrupt soon after the signal."""
    program = """
from hexdata.engine import Board, search
print("ready", flush=True)
try:
    search(Board(19), "uct:playouts=100000000", 0)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    assert output == "interrupted\n"
    assert process.returncode == 0
