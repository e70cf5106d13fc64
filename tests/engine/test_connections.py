"""Every connection that H-search claims, against exhaustive play inside its carrier."""

import itertools
import random

import numpy as np
import pytest

from hexdata.board import pack, parse_cell
from hexdata.engine import _core, winning_connections
from tests.engine import brute

LARGEST = 16  # what brute force can play out


def check_connections(board: np.ndarray, n: int, parameters: dict[str, float] | None = None) -> int:
    checked = 0
    for colour, name in brute.NAMES.items():
        for x, y, full, carrier in _core.connections(n, *brute.stones(board), name, parameters=parameters or {}):
            assert not {x, y} & set(carrier)
            assert not any(board[c] for c in carrier)
            if len(carrier) <= LARGEST:
                checked += 1
                assert brute.connection_holds(board, n, colour, x, y, full, carrier), (
                    f"{board.reshape(n, n).tolist()}: {name} {x}-{y} {'full' if full else 'semi'} in {carrier}"
                )
    return checked


def undecided(boards: list[np.ndarray], n: int) -> list[np.ndarray]:
    return [b for b in boards if not brute.joined(b, n)]


def test_3x3() -> None:
    boards = undecided([brute.board_of(c, 3) for c in range(0, 3**9, 20)], 3)
    assert sum(check_connections(b, 3) for b in boards) > 5000


def test_4x4() -> None:
    # test_soundness.py meets them all
    rng = np.random.default_rng(40)
    boards = undecided([brute.random_board(rng, 4, int(rng.integers(2, 14))) for _ in range(100)], 4)
    assert sum(check_connections(b, 4) for b in boards) > 5000


@pytest.mark.parametrize("parameters", [{}, {"edge_midpoints": 1}, {"limit_fulls": 0}])
def test_5x5(parameters: dict[str, float]) -> None:
    rng = np.random.default_rng(50)
    boards = undecided([brute.random_board(rng, 5, int(rng.integers(10, 20))) for _ in range(20)], 5)
    assert sum(check_connections(b, 5, parameters) for b in boards) > 1000


def check_a_sample(size: int, boards: int, seed: int, most: int) -> None:
    """Boards with stones on 10 to 50 % of their cells; so many carriers of each colour at most."""
    rng = np.random.default_rng([size, seed])
    checked = 0
    while boards:
        board = brute.random_board(rng, size, int(rng.integers(size * size // 10, size * size // 2 + 1)))
        if brute.joined(board, size):
            continue
        boards -= 1
        for colour, name in brute.NAMES.items():
            links = _core.connections(size, *brute.stones(board), name)
            short = [link for link in links if len(link[3]) <= 12]
            for place in rng.permutation(len(short))[:most]:
                x, y, full, carrier = short[place]
                checked += 1
                assert brute.connection_holds(board, size, colour, x, y, full, carrier), (
                    f"{board.reshape(size, size).tolist()}: {name} {x}-{y} {'full' if full else 'semi'} in {carrier}"
                )
    assert checked > 10_000


@pytest.mark.parametrize("size", [6, 7, 8, 9, 11, 13])
def test_a_sample_on_larger_boards(size: int) -> None:
    check_a_sample(size, 25, 1, 500)


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 7, 8, 9, 11, 13, 16, 19])
def test_many_larger_boards(size: int) -> None:
    check_a_sample(size, 100 if size < 12 else 50, 2, 500)


def test_a_stone_that_captures_four_pairs() -> None:
    """White on g5 captures four pairs that share no cell: one random board in five thousand has such a cell."""
    #  . . . . . . . .
    #   . . . . . . . .
    #    . . . . . . W .
    #     . . . . . . W .
    #      . . . . W . . .
    #       . . . . . . W .
    #        . . . . W . . .
    #         . . . . W . . .
    board = np.zeros(64, np.uint8)
    board[[parse_cell(name, 8) for name in ("g3", "g4", "e5", "g6", "e7", "e8")]] = brute.WHITE
    links = _core.connections(8, *brute.stones(board), "white")
    short = [link for link in links if len(link[3]) <= 12]
    assert len(short) > 1000
    assert all(brute.connection_holds(board, 8, brute.WHITE, *link) for link in short)


def test_a_bridge() -> None:
    #  . . . .
    #   . . B .     c2 and b4 are a bridge apart, over b3 and c3
    #    . . . .
    #     . B . .
    links = _core.connections(4, [6, 13], [], "black")
    ends = {17, 6}  # b4 stands on the bottom edge, so its group is that edge
    assert [sorted(c) for x, y, full, c in links if full and {x, y} == ends] == [[9, 10]]


@pytest.mark.parametrize("row", [2, 3, 4])
def test_the_rules_find_the_edge_templates(row: int) -> None:
    """A lone stone on row 2, 3 or 4: shrink the strip to minimal carriers by proof; the rules know them all.

    On row 2 that is the bridge to the edge (2 cells), on row 3 the ziggurat (8), on row 4 a template of 19 cells.
    """
    size, top = 8, 8 - row
    rng = random.Random(row)
    sizes = set()
    for column, _ in itertools.product(range(size), range(2)):
        stone = top * size + column
        above = [r * size + column for r in range(top + 1)]  # joins the stone to the top, so that the solver can judge
        strip = [r * size + c for r in range(top, size) for c in range(size) if r * size + c != stone]
        rng.shuffle(strip)
        carrier = set(strip)

        def white(free: set[int], black: list[int]) -> list[int]:
            return [c for c in range(size * size) if c not in free and c not in black]

        if _core.solve(size, above, white(carrier, above), "white").winner != "black":
            continue
        for cell in strip:
            smaller = carrier - {cell}
            if _core.solve(size, above, white(smaller, above), "white").winner == "black":
                carrier = smaller
        sizes.add(len(carrier))
        links = _core.connections(size, [stone], white(carrier, [stone]), "black")
        assert any(full and {x, y} == {stone, size * size + 1} for x, y, full, _ in links), sorted(carrier)
    assert min(sizes) == {2: 2, 3: 8, 4: 19}[row]


def test_what_is_known_of_a_board_does_not_depend_on_those_before_it() -> None:
    """From the 35th on the lists of the 34 before it have outgrown the memory that is kept for the next."""
    source, boards = random.Random(1), []
    for _ in range(45):
        cells = source.sample(range(225), 28 + source.randrange(75))
        boards.append([pack(sum(1 << cell for cell in cells[first::2]), 15) for first in (0, 1)])
    black, white = (
        np.frombuffer(b"".join(stones), np.uint8).reshape(len(boards), -1) for stones in zip(*boards, strict=True)
    )
    together = winning_connections(15, black, white)
    for board in range(34, len(boards)):
        assert winning_connections(15, black[board : board + 1], white[board : board + 1])[0] == together[board]
