import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from hexdata.board import Position, cell_map, cells, pack, parse_moves
from hexdata.features import PLANES, Boards, apply_symmetry, planes, unpack_stones


def boards_of(*positions: Position) -> Boards:
    size = positions[0].size
    black, white = (
        unpack_stones(torch.tensor([list(pack(p.stones(colour), size)) for p in positions], dtype=torch.uint8), size)
        for colour in ("black", "white")
    )
    return Boards(black, white, torch.tensor([int(p.to_move == "white") for p in positions], dtype=torch.uint8))


def draw(plane_hw: Tensor) -> list[str]:
    return ["".join("X" if cell else "." for cell in row) for row in plane_hw.tolist()]


def test_planes_of_a_drawn_position() -> None:
    """Border included: Black owns the top, the bottom and the corners, White the left and the right.

     a b c
    1 X . .
     2 . . O
      3 . X .
    """
    position = Position.after(3, parse_moves("a1 c2 b3", 3))
    planes_bchw = planes(boards_of(position), 3)
    assert planes_bchw.shape == (1, len(PLANES), 5, 5)
    black, white, empty, to_move = planes_bchw[0]
    assert draw(black) == ["XXXXX", ".X...", ".....", "..X..", "XXXXX"]
    assert draw(white) == [".....", "X...X", "X..XX", "X...X", "....."]
    assert draw(empty) == [".....", "..XX.", ".XX..", ".X.X.", "....."]
    assert draw(to_move) == ["XXXXX"] * 5
    assert not planes(boards_of(Position.empty(3)), 3)[0, 3].any()
    assert planes_bchw.is_contiguous(memory_format=torch.channels_last)


positions = st.builds(
    lambda size, seed, count: Position.after(size, _undecided(size, seed, count)),
    st.integers(2, 7),
    st.integers(0, 10_000),
    st.integers(0, 30),
)


def _undecided(size: int, seed: int, count: int) -> list[int]:
    order = random.Random(seed).sample(range(size * size), size * size)
    moves: list[int] = []
    while len(moves) < count and Position.after(size, moves).winner() is None:
        moves.append(order[len(moves)])
    return moves


@given(positions)
def test_unpacked_stones_are_the_position(position: Position) -> None:
    boards = boards_of(position)
    assert boards.black_ba[0].nonzero().flatten().tolist() == list(cells(position.black))
    assert boards.white_ba[0].nonzero().flatten().tolist() == list(cells(position.white))
    assert boards.legal_ba()[0].nonzero().flatten().tolist() == list(cells(position.empties()))


@given(positions)
def test_planes_turn_with_the_half_turn(position: Position) -> None:
    turned = planes(boards_of(position.transform(1)), position.size)
    assert torch.equal(turned, planes(boards_of(position), position.size).flip(2, 3))


@given(positions, st.integers(0, 3))
def test_symmetry_of_stones_is_that_of_the_position(position: Position, symmetry: int) -> None:
    boards, _ = apply_symmetry(position.size, torch.tensor([symmetry]), boards_of(position))
    expected = boards_of(position.transform(symmetry))
    for got, want in zip(boards, expected, strict=True):
        assert torch.equal(got, want)


def test_each_row_has_its_own_symmetry_and_values_move_along() -> None:
    size = 4
    position = Position.after(size, parse_moves("b1 d3 a4", size))
    values_ba = torch.arange(16.0).repeat(4, 1)
    boards, (moved_ba,) = apply_symmetry(size, torch.arange(4), boards_of(*[position] * 4), values_ba)
    for symmetry in range(4):
        image = boards_of(position.transform(symmetry))
        assert torch.equal(boards.black_ba[symmetry], image.black_ba[0])
        assert boards.to_move_b[symmetry] == image.to_move_b[0]
        for cell, target in enumerate(cell_map(size, symmetry)):
            assert moved_ba[symmetry, target] == cell


def test_packed_stones_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="2 bytes wide, expected 4"):
        unpack_stones(torch.zeros(1, 2, dtype=torch.uint8), 5)
