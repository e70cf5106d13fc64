"""Drawings of positions, plain and in colour."""

from __future__ import annotations

import io
import re

import pytest

from hexdata.board import MAX_SIZE, Position, neighbours, parse_cell, parse_moves
from hexdata.draw import draw, paint, wants_colour


def bare(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_plain_with_labels_and_last_move() -> None:
    position = Position.after(4, parse_moves("b2 c3 d1", 4))
    labels = {parse_cell("a1", 4): "win", parse_cell("b1", 4): "loss", parse_cell("d4", 4): "unknown"}
    assert draw(position, labels=labels, last=parse_cell("d1", 4)).splitlines() == [
        "  a b c d",
        " 1 + - .[X] 1",
        "  2 . X . .  2",
        "   3 . . O .  3",
        "    4 . . . ?  4",
        "       a b c d",
    ]


def test_plain_last_move_inside_a_row() -> None:
    position = Position.after(3, parse_moves("b2", 3))
    assert draw(position, last=parse_cell("b2", 3)).splitlines()[2] == "  2 .[X].  2"


def test_winners_of_openings() -> None:
    labels = {0: "black", 1: "white", 2: "unknown", 3: "black"}
    assert draw(Position.empty(2), labels=labels).splitlines()[1:3] == [" 1 B W  1", "  2 ? B  2"]


@pytest.mark.parametrize("size", [2, 9, 10, MAX_SIZE])
@pytest.mark.parametrize("colour", [False, True])
def test_touching_cells_are_drawn_touching(size: int, colour: bool) -> None:
    """Two columns apart in a row, one column apart in rows that follow each other; so are the letters of the edges."""
    rows = [bare(line) for line in draw(Position.empty(size), colour=colour, encoding="ascii").splitlines()]
    places = {}
    for row in range(size):
        columns = [match.start() for match in re.finditer(r"\.", rows[row + 1])]
        places.update({row * size + column: (row, place) for column, place in enumerate(columns)})
    for cell, touching in enumerate(neighbours(size)):
        for near in touching:
            down, across = places[near][0] - places[cell][0], places[near][1] - places[cell][1]
            assert abs(across) == (2 if down == 0 else 1)
    for row, edge in ((0, rows[0]), (size - 1, rows[-1])):
        letters = [match.start() for match in re.finditer("[a-z]", edge)]
        step = -1 if row == 0 else 1
        assert letters == [places[row * size + column][1] + step for column in range(size)]


def test_colour_never_gives_two_touching_cells_the_same_shade() -> None:
    text = draw(Position.empty(5), colour=True, encoding="ascii")
    shades = re.findall(r"\x1b\[[0-9;]*48;5;(\d+)m\. ", text)
    assert len(shades) == 25
    assert all(shades[cell] != shades[near] for cell, touching in enumerate(neighbours(5)) for near in touching)


def test_colour_of_edges_stones_and_labels() -> None:
    position = Position.after(3, parse_moves("a1 b2", 3))
    text = draw(position, labels={8: "win"}, last=parse_cell("b2", 3), colour=True)
    assert bare(text).splitlines() == ["  a b c ", " 1 ● · ·  1 ", "  2 · ◉ ·  2 ", "   3 · · +  3 ", "      a b c "]
    edges = re.findall(r"\x1b\[38;5;(\d+);48;5;(\d+)m [a-c ]+\x1b", text)
    assert edges == [("255", "235")] * 2, "top and bottom are Black's"
    assert text.count("\x1b[38;5;235;48;5;255m") == 6, "left and right are White's"
    assert re.search(r"\x1b\[38;5;16;[0-9;]*m●", text)
    assert re.search(r"\x1b\[38;5;231;[0-9;]*m◉", text)


def test_colour_on_a_terminal_without_unicode() -> None:
    text = draw(Position.after(3, parse_moves("a1 b2 c3", 3)), last=8, colour=True, encoding="ascii")
    assert text.isascii()
    assert bare(text).splitlines()[1:4] == [" 1 X . .  1 ", "  2 . O .  2 ", "   3 . . @  3 "]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "terminal", "pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_when_colour_is_wanted(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], terminal: bool, pipe: bool
) -> None:
    for name, value in {"NO_COLOR": "", "FORCE_COLOR": "", "TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(Terminal()) is terminal
    assert wants_colour(io.StringIO()) is pipe


def test_paint() -> None:
    assert paint("x", "ok", False) == "x"
    assert bare(paint("x", "ok", True)) == "x" != paint("x", "ok", True)
