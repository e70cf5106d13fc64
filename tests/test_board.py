"""The plain-Python rules, drawn out."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexdata.board import (
    SYMMETRIES,
    Position,
    bits,
    cell_map,
    cell_name,
    cells,
    connects,
    neighbours,
    pack,
    packed_width,
    parse_cell,
    parse_moves,
    swaps_colours,
    unpack,
)


def test_names_run_across_and_down() -> None:
    assert cell_name(0, 7) == "a1"
    assert cell_name(6, 7) == "g1"
    assert cell_name(7, 7) == "a2"
    assert all(parse_cell(cell_name(cell, 19), 19) == cell for cell in range(361))
    assert parse_moves("d4, E5 a1", 7) == [24, 32, 0]


@pytest.mark.parametrize("name", ["h1", "a8", "a0", "4d", "", "a1a", "aa1", "a-1"])
def test_what_is_no_cell_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match="is not a cell of a 7x7 board: expected a1 to g7"):
        parse_cell(name, 7)


def test_a_middle_cell_has_six_neighbours() -> None:
    #  a b c
    # 1 . x x
    #  2 x O x
    #   3 x x .
    assert {cell_name(cell, 3) for cell in neighbours(3)[4]} == {"b1", "c1", "a2", "c2", "a3", "b3"}
    assert {cell_name(cell, 3) for cell in neighbours(3)[0]} == {"b1", "a2"}


def test_black_joins_top_to_bottom_and_white_left_to_right() -> None:
    column = bits([1, 4, 7])
    assert connects(column, 3, "black")
    assert not connects(column, 3, "white")
    # b1-a2 touch, a1-b2 do not
    assert connects(bits([1, 3, 6]), 3, "black")
    assert not connects(bits([0, 4, 8]), 3, "black")


def test_draw() -> None:
    assert Position.after(3, [4, 0]).draw() == "   a b c\n 1 O . .\n  2 . X .\n   3 . . ."


@given(st.integers(2, 19), st.randoms(use_true_random=False))
def test_a_full_board_has_exactly_one_winner_under_every_symmetry(size: int, source: random.Random) -> None:
    order = list(range(size * size))
    source.shuffle(order)
    cut = source.randrange(size * size + 1)
    position = Position(size, bits(order[:cut]), bits(order[cut:]), "black")
    winner = position.winner()
    assert connects(position.black, size, "black") != connects(position.white, size, "white")
    for symmetry in SYMMETRIES:
        assert (position.transform(symmetry).winner() == winner) != swaps_colours(symmetry)


@given(st.integers(2, 19), st.sampled_from(SYMMETRIES))
def test_every_symmetry_undoes_itself_and_keeps_neighbours(size: int, symmetry: int) -> None:
    move = cell_map(size, symmetry)
    assert [move[move[cell]] for cell in range(size * size)] == list(range(size * size))
    for cell, around in enumerate(neighbours(size)):
        assert {move[other] for other in around} == set(neighbours(size)[move[cell]])


@given(st.integers(2, 19), st.data())
def test_pack_round_trip(size: int, data: st.DataObject) -> None:
    mask = data.draw(st.integers(0, (1 << size * size) - 1))
    assert len(pack(mask, size)) == packed_width(size)
    assert unpack(pack(mask, size)) == mask
    assert bits(cells(mask)) == mask


def test_illegal_moves_say_why() -> None:
    with pytest.raises(ValueError, match="move 2: b2 is already taken"):
        Position.after(3, [4, 4])
    with pytest.raises(ValueError, match="move 4: b1 comes after black has won"):
        Position.after(2, [0, 3, 2, 1])
    with pytest.raises(ValueError, match="board size 20 is out of range"):
        Position.empty(20)
    with pytest.raises(ValueError, match="a1 holds a black and a white stone"):
        Position(3, 1, 1, "black")
    with pytest.raises(ValueError, match="outside the 3x3 board"):
        Position(3, 1 << 9, 0, "black")


def test_black_first() -> None:
    assert Position.after(3, [4]).is_black_first()
    assert Position.empty(3).is_black_first()
    assert not Position.after(3, [4]).transform(2).is_black_first()
