"""A position as text: plain for files and pipes, or in colour for a terminal.

Every row stands half a cell further right than the one above, and each edge wears the colour of the side that owns it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, TextIO, TypeAlias

from hexdata.board import Cell, Position

Label: TypeAlias = Literal["win", "loss", "unknown", "black", "white"]

MARKS: dict[Label, str] = {"win": "+", "loss": "-", "unknown": "?", "black": "B", "white": "W"}

# colours of the 256-colour palette, foreground;background. The board brings its own background, so that black and
# white stones are seen on dark and on light terminals alike.
_BLACK_EDGE, _WHITE_EDGE = "38;5;255;48;5;235", "38;5;235;48;5;255"
_BLACK_STONE, _WHITE_STONE = "38;5;16", "38;5;231"
_FAINT = "38;5;239"
# three shades, no two touching cells of the same one
_SHADES = ("48;5;243", "48;5;245", "48;5;247")
_LABELS: dict[Label, str] = {
    "win": "1;38;5;231;48;5;28",
    "loss": "38;5;52",
    "unknown": "38;5;16",
    "black": f"1;{_BLACK_STONE}",
    "white": f"1;{_WHITE_STONE}",
}
_STYLES = {"ok": "32", "warn": "33", "fail": "1;31", "dim": "2", "bold": "1"}


def wants_colour(stream: TextIO) -> bool:
    """On a terminal, unless NO_COLOR is set (no-color.org) or the terminal is dumb; FORCE_COLOR is for pagers."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, colour: bool) -> str:
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if colour else text


def draw(
    position: Position,
    *,
    labels: Mapping[Cell, Label] | None = None,
    last: Cell | None = None,
    colour: bool = False,
    encoding: str = "utf-8",
) -> str:
    """The board with its labels on empty cells and the last move marked. Plain, with a last move at b2:

     a b c
    1 X . +  1
     2 .[O].  2
      3 . . -  3
         a b c
    """
    labels = labels or {}
    return _in_colour(position, labels, last, encoding) if colour else _plain(position, labels, last)


def _plain(position: Position, labels: Mapping[Cell, Label], last: Cell | None) -> str:
    size = position.size
    letters = " ".join(chr(ord("a") + column) for column in range(size))
    lines = ["  " + letters]
    for row in range(size):
        line = ""
        for column in range(size):
            cell = row * size + column
            before = "[" if cell == last else "]" if column and cell - 1 == last else " "
            line += before + _plain_symbol(position, labels, cell)
        line += "]" if row * size + size - 1 == last else " "
        lines.append(" " * row + f"{row + 1:>2}{line} {row + 1}")
    lines.append(" " * (size + 3) + letters)
    return "\n".join(lines)


def _plain_symbol(position: Position, labels: Mapping[Cell, Label], cell: Cell) -> str:
    if position.black >> cell & 1:
        return "X"
    if position.white >> cell & 1:
        return "O"
    return MARKS[labels[cell]] if cell in labels else "."


def _in_colour(position: Position, labels: Mapping[Cell, Label], last: Cell | None, encoding: str) -> str:
    size = position.size
    letters = " ".join(chr(ord("a") + column) for column in range(size))
    lines = [" " + _styled(f" {letters} ", _BLACK_EDGE)]
    for row in range(size):
        line = " " * row + _styled(f"{row + 1:>2} ", _WHITE_EDGE)
        for column in range(size):
            cell = row * size + column
            line += _cell_in_colour(position, labels, last, cell, _SHADES[(column - row) % 3], encoding)
        lines.append(line + _styled(f" {row + 1:<2}", _WHITE_EDGE))
    lines.append(" " * (size + 2) + _styled(f" {letters} ", _BLACK_EDGE))
    return "\n".join(lines)


def _cell_in_colour(
    position: Position, labels: Mapping[Cell, Label], last: Cell | None, cell: Cell, shade: str, encoding: str
) -> str:
    stone = _plain_symbol(position, {}, cell)
    if stone == ".":
        if cell in labels:
            label = labels[cell]
            # the label's own background, if it has one, comes last and wins
            return _styled(f"{MARKS[label]} ", f"{shade};{_LABELS[label]}")
        return _styled(_glyph("· ", ". ", encoding), f"{_FAINT};{shade}")
    ink = _BLACK_STONE if stone == "X" else _WHITE_STONE
    symbol = _glyph("◉ ", "@ ", encoding) if cell == last else _glyph("● ", f"{stone} ", encoding)
    return _styled(symbol, f"{ink};{shade}")


def _glyph(wanted: str, plain: str, encoding: str) -> str:
    try:
        wanted.encode(encoding)
    except UnicodeEncodeError:
        return plain
    return wanted


def _styled(text: str, codes: str) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m"
