"""Truth for the solver's tests, from `brute.cpp`: plain exhaustive play that shares no code with the engine.

Boards are numpy arrays of n*n cells: 0 empty, 1 black, 2 white; sides and winners are 1 and 2.
"""

import ctypes
import functools
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

Board = npt.NDArray[np.uint8]
BLACK, WHITE = 1, 2
NAMES = {BLACK: "black", WHITE: "white"}


@functools.cache
def library() -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp(prefix="hexdata-brute-"))
    target = folder / "brute.so"
    compiler = os.environ.get("CXX", "c++")
    source = Path(__file__).with_name("brute.cpp")
    subprocess.run([compiler, "-std=c++17", "-O2", "-shared", "-fPIC", str(source), "-o", str(target)], check=True)
    return ctypes.CDLL(str(target))


def _pointer(array: Board) -> ctypes.c_void_p:
    return ctypes.c_void_p(np.ascontiguousarray(array).ctypes.data)


def joined(board: Board, n: int) -> int:
    """The colour that has joined its sides, or 0."""
    return int(library().brute_joined(_pointer(board), n))


def winner(board: Board, n: int, side: int) -> int:
    """Who wins with `side` to move; at most 16 empty cells."""
    return _moves(board, n, side)[0]


def move_winners(board: Board, n: int, side: int) -> dict[int, int]:
    """The winner after each legal move of `side`; at most 16 empty cells."""
    return _moves(board, n, side)[1]


def _moves(board: Board, n: int, side: int) -> tuple[int, dict[int, int]]:
    assert np.count_nonzero(board == 0) <= 16, "too many empty cells for brute force"
    found = np.zeros(n * n, np.uint8)
    winner = int(library().brute_moves(_pointer(board), n, side, _pointer(found)))
    return winner, {int(c): int(found[c]) for c in np.flatnonzero(board == 0)}


@functools.cache
def table(n: int) -> npt.NDArray[np.uint8]:
    """The winner of every position of an n x n board, n <= 4: [code, side - 1], cell i worth 3**i."""
    values = np.zeros((3 ** (n * n), 2), np.uint8)
    library().brute_table(n, _pointer(values))
    return values


def code(board: Board) -> int:
    return int(sum(int(v) * 3**i for i, v in enumerate(board)))


def board_of(code: int, n: int) -> Board:
    return np.array([code // 3**i % 3 for i in range(n * n)], np.uint8)


def stones(board: Board) -> tuple[list[int], list[int]]:
    return [int(c) for c in np.flatnonzero(board == BLACK)], [int(c) for c in np.flatnonzero(board == WHITE)]


def random_board(rng: np.random.Generator, n: int, count: int) -> Board:
    """`count` stones on random cells, colours alternating from Black."""
    board = np.zeros(n * n, np.uint8)
    for i, cell in enumerate(rng.permutation(n * n)[:count]):
        board[cell] = BLACK if i % 2 == 0 else WHITE
    return board


def connection_holds(board: Board, n: int, colour: int, x: int, y: int, full: bool, carrier: list[int]) -> bool:
    """Whether `colour` joins x and y by exhaustive play inside the carrier; the rest is the opponent's."""
    assert len(carrier) <= 16, "too many cells for brute force"
    cells = np.array(carrier, np.int32)
    pointer = ctypes.c_void_p(cells.ctypes.data)
    return bool(library().brute_connection(_pointer(board), n, colour, x, y, int(full), pointer, len(carrier)))
