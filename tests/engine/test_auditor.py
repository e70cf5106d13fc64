"""The second path to a label: right by brute force, unknown when its budget ends, and stopped by Ctrl-C."""

import signal
import subprocess
import sys

import numpy as np
import pytest

from hexdata import engine
from tests.engine import brute

PLENTY = 10_000_000


@pytest.mark.parametrize(
    ("n", "fewest", "most", "count"), [(2, 0, 4, 30), (3, 0, 9, 200), (4, 2, 16, 300), (5, 10, 25, 200)]
)
def test_every_label_is_what_brute_force_says(n: int, fewest: int, most: int, count: int) -> None:
    """Either side to move, decided positions included."""
    rng = np.random.default_rng(n)
    for _ in range(count):
        board = brute.random_board(rng, n, int(rng.integers(fewest, most + 1)))
        side = int(rng.integers(1, 3))
        black, white = brute.stones(board)
        found = engine.reprove(n, black, white, brute.NAMES[side], all_moves=True, limit_nodes=PLENTY)
        if joined := brute.joined(board, n):
            assert found.winner == brute.NAMES[joined]
            assert found.winning_moves + found.losing_moves + found.unknown_moves == []
            continue
        expected = brute.move_winners(board, n, side)
        assert found.winner == brute.NAMES[side if side in expected.values() else 3 - side]
        assert found.winning_moves == [cell for cell, winner in expected.items() if winner == side]
        assert found.losing_moves == [cell for cell, winner in expected.items() if winner != side]
        assert found.unknown_moves == []


def test_a_chain_of_stones_on_a_large_board_is_one_chain() -> None:
    """On 19x19 Black has column a but for a10, White the rest but for b10: whoever takes a10 wins."""
    black = [19 * row for row in range(19) if row != 9]
    white = [19 * row + column for row in range(19) for column in range(1, 19) if (row, column) != (9, 1)]
    for to_move in ("black", "white"):
        found = engine.reprove(19, black, white, to_move, all_moves=True, limit_nodes=100)
        assert found.winner == to_move
        assert (found.winning_moves, found.losing_moves) == ([9 * 19], [9 * 19 + 1])


def test_openings_of_4x4() -> None:
    winners = [engine.reprove(4, [cell], [], "white", limit_nodes=PLENTY).winner for cell in range(16)]
    assert [cell for cell, winner in enumerate(winners) if winner == "black"] == [3, 6, 9, 12]


@pytest.mark.slow
def test_openings_of_5x5() -> None:
    """One of each pair under the half-turn: 13 of all 25 win, the centre among them."""
    winners = [engine.reprove(5, [cell], [], "white", limit_nodes=10 * PLENTY).winner for cell in range(13)]
    assert winners.count("black") == 7
    assert winners == [engine.solve(5, [cell], [], "white").winner for cell in range(13)]


def test_a_budget_that_runs_out_is_unknown() -> None:
    few = engine.reprove(5, [], [], "black", all_moves=True, limit_nodes=100)
    assert few.winner == "unknown"
    assert few.unknown_moves == list(range(25))
    assert 100 <= few.nodes < 200
    only_winner = engine.reprove(3, [], [], "black", limit_nodes=PLENTY)
    assert (only_winner.winner, only_winner.unknown_moves) == ("black", list(range(9)))


def test_what_is_no_position_is_refused() -> None:
    for arguments, message in [
        ((6, [], [], "black"), "36 cells are empty, expected at most 32"),
        ((1, [], [], "black"), "size must be 2 to 19, not 1"),
        ((3, [9], [], "black"), "cell 9 is not on a board of size 3"),
        ((3, [1], [1], "black"), "cell 1 holds more than one stone"),
        ((3, [], [], "red"), "to_move must be 'black' or 'white', not 'red'"),
    ]:
        with pytest.raises(ValueError, match=message):
            engine.reprove(*arguments, limit_nodes=10)


def test_ctrl_c_stops_it() -> None:
    code = "from hexdata import engine; print('ready', flush=True); "
    code += "engine.reprove(6, [0, 1], [4, 5], 'black', limit_nodes=10**12)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in err
