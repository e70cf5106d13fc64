"""The brute force itself: rules, and the same answers by two ways."""

import numpy as np
import pytest

from tests.engine import brute


def test_joined_sides() -> None:
    #  . B .
    #   . B W      b1-b2-a3: Black joins top and bottom
    #    B W .
    board = np.array([0, 1, 0, 0, 1, 2, 1, 2, 0], np.uint8)
    assert brute.joined(board, 3) == brute.BLACK
    assert brute.joined(np.array([0, 0, 2, 0, 2, 1, 2, 1, 0], np.uint8), 3) == brute.WHITE
    assert brute.joined(np.array([1, 0, 0, 0, 1, 0, 0, 0, 1], np.uint8), 3) == 0


@pytest.mark.parametrize(("n", "wins"), [(2, 2), (3, 5)])
def test_winning_first_moves(n: int, wins: int) -> None:
    found = brute.move_winners(np.zeros(n * n, np.uint8), n, brute.BLACK)
    assert sum(w == brute.BLACK for w in found.values()) == wins


def test_table_and_memo_agree() -> None:
    table = brute.table(3)
    rng = np.random.default_rng(1)
    for code in rng.integers(0, 3**9, 200):
        board = brute.board_of(int(code), 3)
        assert brute.code(board) == code
        for side in (brute.BLACK, brute.WHITE):
            assert table[code, side - 1] == brute.winner(board, 3, side)
