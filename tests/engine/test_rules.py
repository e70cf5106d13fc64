"""The rules against counts, drawn boards, a plain flood fill, and the theorem that a full board has one winner."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hexdata.engine import Board, transform, winners


def pack(size: int, cells: list[int]) -> NDArray[np.uint8]:
    bits = np.zeros(size * size, np.uint8)
    bits[cells] = 1
    return np.packbits(bits, bitorder="little")[None, :]


def read(drawing: str) -> tuple[int, list[int], list[int]]:
    """Size, black and white cells of a drawn board: B, W and dots, one line a row."""
    rows = [line.split() for line in drawing.strip().splitlines()]
    cells = [stone for row in rows for stone in row]
    return len(rows), [c for c, s in enumerate(cells) if s == "B"], [c for c, s in enumerate(cells) if s == "W"]


def winner_by_flood(size: int, black: set[int], white: set[int]) -> int:
    for colour, stones in enumerate((black, white)):
        lines = [divmod(c, size) if colour == 0 else divmod(c, size)[::-1] for c in stones]
        reached = [cell for cell in lines if cell[0] == 0]
        seen = set(reached)
        while reached:
            r, c = reached.pop()
            if r == size - 1:
                return colour
            for near in ((r, c - 1), (r, c + 1), (r - 1, c), (r + 1, c), (r - 1, c + 1), (r + 1, c - 1)):
                if near in lines and near not in seen:
                    seen.add(near)
                    reached.append(near)
    return 2


@pytest.mark.parametrize(
    ("drawing", "winner"),
    [
        (
            """
            . B .
             . B W
              B W .
            """,
            0,
        ),
        (
            """
            B . .
             . B .
              . . B
            """,
            2,
        ),
        (
            """
            . . W
             . W .
              W B B
            """,
            1,
        ),
        # A chain that comes down on the right, climbs in the middle and comes down on the left.
        (
            """
            . . . . . . B
             . B B B . . B
              . B . B . . B
               . B . B . . B
                . B . B . . B
                 . B . B B B B
                  . B . . . . .
            """,
            0,
        ),
        (
            """
            . . . . . . B
             . B W B . . B
              . B . B . . B
               . B . B . . B
                . B . B . . B
                 . B . B B B B
                  . B . . . . .
            """,
            2,
        ),
        (
            """
            . . . . . . .
             . W W W W W W
              . W . . . . .
               . W W W W W .
                . . . . . W .
                 . . . . . W .
                  W W W W W W B
            """,
            1,
        ),
    ],
)
def test_winner_of_drawn_boards(drawing: str, winner: int) -> None:
    size, black, white = read(drawing)
    assert winner_by_flood(size, set(black), set(white)) == winner
    assert winners(size, pack(size, black), pack(size, white)).tolist() == [winner]


def undecided(size: int) -> int:
    """How many positions with equally many stones or one more black stone nobody has won, out of all by brute force."""
    cells = size * size
    masks = np.arange(1 << cells, dtype=np.uint16)
    stones = np.bitwise_count(masks)
    by_count = [masks[stones == k] for k in range(cells + 1)]
    total = 0
    for count in range((cells + 1) // 2 + 1):
        whites = np.concatenate([by_count[k] for k in (count - 1, count) if k >= 0])
        for black in by_count[count]:
            white = whites[whites & black == 0]
            black_rows = np.full(len(white), black)
            width = (cells + 7) // 8
            packed = [rows.view(np.uint8).reshape(-1, 2)[:, :width] for rows in (black_rows, white)]
            total += int((winners(size, *packed) == 2).sum())
    return total


def test_undecided_positions_2x2() -> None:
    # By hand: the empty board, 4 with one stone, 12 with two, and 6 with three: Black's pair is not joined in a row (2)
    # or on the diagonal whose cells do not touch (1), with 2 cells for White each. A full board is decided.
    assert undecided(2) == 1 + 4 + 12 + 6


def test_undecided_positions_3x3() -> None:
    assert undecided(3) == 4_520


@pytest.mark.slow
def test_undecided_positions_4x4() -> None:
    assert undecided(4) == 8_188_705


def test_undecided_positions_3x3_by_playing() -> None:
    """The same count through Board: every position is reached by some order of play that nobody wins on the way."""
    seen: set[bytes] = set()
    board = Board(3)

    def explore() -> None:
        if board.winner() is not None or board.key() in seen:
            return
        seen.add(board.key())
        for cell in board.legal():
            board.play(cell)
            explore()
            board.undo()

    explore()
    assert len(seen) == 4_520
    assert board.moves == []


@pytest.mark.parametrize("size", range(2, 20))
def test_full_boards_have_exactly_one_winner(size: int) -> None:
    cells = size * size
    rng = np.random.default_rng(size)
    black = np.stack([rng.permutation(np.arange(cells) < (cells + 1) // 2) for _ in range(300)]).astype(np.uint8)
    black_packed, white_packed = (np.packbits(bits, axis=1, bitorder="little") for bits in (black, 1 - black))
    nobody = np.zeros_like(black_packed)
    black_joins = winners(size, black_packed, nobody) == 0
    white_joins = winners(size, nobody, white_packed) == 1
    assert (black_joins != white_joins).all()
    assert 0 < black_joins.sum() < 300
    assert (winners(size, black_packed, white_packed) == np.where(black_joins, 0, 1)).all()
    for row in range(10):
        stones = [set(np.flatnonzero(bits).tolist()) for bits in (black[row], 1 - black[row])]
        assert winner_by_flood(size, *stones) == (0 if black_joins[row] else 1)


@st.composite
def positions(draw: st.DrawFn) -> tuple[int, NDArray[np.uint8]]:
    """A size and any contents of the board: 0 empty, 1 black, 2 white."""
    size = draw(st.integers(2, 19))
    density = draw(st.floats(0, 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cells = np.where(rng.random(size * size) < density, rng.integers(1, 3, size * size), 0)
    return size, cells.astype(np.uint8)


@given(positions(), st.integers(0, 3))
def test_symmetries_keep_the_winner(position: tuple[int, NDArray[np.uint8]], symmetry: int) -> None:
    size, cells = position
    image = np.zeros_like(cells)
    image[transform(size, symmetry)] = np.array([0, 2, 1] if symmetry >= 2 else [0, 1, 2], np.uint8)[cells]
    # A position that both have won is no position: empty White's stones where Black wins.
    black, white = (pack(size, np.flatnonzero(cells == colour).tolist()) for colour in (1, 2))
    nobody = np.zeros_like(black)
    image_black, image_white = (pack(size, np.flatnonzero(image == colour).tolist()) for colour in (1, 2))
    black_joins = winners(size, black, nobody)[0] == 0
    white_joins = winners(size, nobody, white)[0] == 1
    image_black_joins = winners(size, image_black, nobody)[0] == 0
    image_white_joins = winners(size, nobody, image_white)[0] == 1
    assert not (black_joins and white_joins)
    swapped = symmetry >= 2
    assert (image_black_joins, image_white_joins) == (
        (white_joins, black_joins) if swapped else (black_joins, white_joins)
    )


@given(positions())
def test_winner_agrees_with_a_plain_flood_fill(position: tuple[int, NDArray[np.uint8]]) -> None:
    size, cells = position
    black, white = (np.flatnonzero(cells == colour).tolist() for colour in (1, 2))
    assert winners(size, pack(size, black), pack(size, white))[0] == winner_by_flood(size, set(black), set(white))


def test_a_game_on_the_board() -> None:
    board = Board(3)
    assert (board.size, board.to_move, board.moves, board.winner()) == (3, "black", [], None)
    for cell in (4, 0, 1, 3):
        board.play(cell)
    assert (board.black(), board.white()) == ([1, 4], [0, 3])
    assert board.legal() == [2, 5, 6, 7, 8]
    assert board.to_move == "black"
    board.play(6)
    assert board.winner() == "black"
    assert board.legal() == []
    board.undo()
    assert (board.winner(), board.to_move, board.moves) == (None, "black", [4, 0, 1, 3])


def test_a_colour_may_play_out_of_turn_and_is_undone() -> None:
    board = Board(4)
    board.play(5, "white")
    assert (board.white(), board.to_move) == ([5], "black")
    board.play(6, "white")
    assert board.to_move == "black"
    board.undo()
    board.undo()
    assert board.to_move == "black"
    assert board.key() == Board(4).key()


@pytest.mark.parametrize("size", [-1, 0, 1, 20])
def test_sizes_out_of_range_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"the board size must be 2 to 19, not {size}"):
        Board(size)


def test_illegal_moves_are_refused_and_change_nothing() -> None:
    board = Board(2)
    board.play(0)
    for cell, why in ((0, "already has a stone"), (4, "is not on a board of size 2"), (-1, "is not on a board")):
        with pytest.raises(ValueError, match=f"cell {cell} {why}"):
            board.play(cell)
    with pytest.raises(ValueError, match="a colour must be 'black' or 'white', not 'red'"):
        board.play(1, "red")
    board.play(1)
    board.play(2)
    with pytest.raises(ValueError, match="cell 3 cannot be played: black has already won"):
        board.play(3)
    assert board.moves == [0, 1, 2]
    with pytest.raises(ValueError, match="there is no move to undo"):
        Board(2).undo()


def test_packed_positions_are_checked() -> None:
    zero = np.zeros((1, 2), np.uint8)
    with pytest.raises(ValueError, match="row 0: cell 9 has a stone of both colours"):
        winners(4, np.array([[0, 2]], np.uint8), np.array([[0, 2]], np.uint8))
    with pytest.raises(ValueError, match="row 0: a packed bit lies off the board of size 3"):
        winners(3, np.array([[0, 2]], np.uint8), zero)
    with pytest.raises(ValueError, match=r"shape \[P, 4\] for a board of size 5"):
        winners(5, zero, zero)


def test_neighbours_are_those_of_the_drawing() -> None:
    """Two stones on a 2x2 board join top and bottom exactly if they touch across the rows."""
    joined = [(a, b) for a, b in product((0, 1), (2, 3)) if winners(2, pack(2, [a, b]), pack(2, []))[0] == 0]
    assert joined == [(0, 2), (1, 2), (1, 3)]
