"""Cells, names, symmetries and the immutable `Position`: the rules of Hex in plain Python.

Black moves first and joins the top row to the bottom row; White joins the left column to the right column.
The engine has the same rules in C++ and is much faster; this module is what people and tests read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

Cell: TypeAlias = int
"""row * size + column."""

Bits: TypeAlias = int
"""A set of cells: bit `c` is set when cell `c` is in it."""

Colour: TypeAlias = Literal["black", "white"]

COLOURS: tuple[Colour, Colour] = ("black", "white")
MIN_SIZE, MAX_SIZE = 2, 19
SYMMETRIES = (0, 1, 2, 3)
"""0 identity; 1 half-turn; 2 transpose with colours and side to move swapped; 3 is 1 after 2."""


def other(colour: Colour) -> Colour:
    return "white" if colour == "black" else "black"


def check_size(size: int) -> int:
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise ValueError(f"board size {size} is out of range: expected {MIN_SIZE} to {MAX_SIZE}")
    return size


def cell_name(cell: Cell, size: int) -> str:
    """The letter is the column, the number the row: cell 0 is `a1`, the top-left corner."""
    row, column = divmod(cell, size)
    return f"{chr(ord('a') + column)}{row + 1}"


def parse_cell(name: str, size: int) -> Cell:
    match = re.fullmatch(r"([a-s])([1-9][0-9]?)", name.strip().lower())
    if match:
        column, row = ord(match[1]) - ord("a"), int(match[2]) - 1
        if row < size and column < size:
            return row * size + column
    last = cell_name(size * size - 1, size)
    raise ValueError(f"{name.strip()!r} is not a cell of a {size}x{size} board: expected a1 to {last}")


def parse_moves(text: str, size: int) -> list[Cell]:
    """Cells separated by spaces or commas: `d4 e5` or `d4,e5`."""
    return [parse_cell(name, size) for name in re.split(r"[\s,]+", text.strip()) if name]


@lru_cache(maxsize=MAX_SIZE)
def neighbours(size: int) -> tuple[tuple[Cell, ...], ...]:
    """The up to six cells that each cell touches.

      (r-1,c) (r-1,c+1)
    (r,c-1) (r,c) (r,c+1)
      (r+1,c-1) (r+1,c)
    """
    steps = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
    return tuple(
        tuple((row + dr) * size + column + dc for dr, dc in steps if 0 <= row + dr < size and 0 <= column + dc < size)
        for row in range(size)
        for column in range(size)
    )


@lru_cache(maxsize=4 * MAX_SIZE)
def cell_map(size: int, symmetry: int) -> tuple[Cell, ...]:
    """Where each cell goes under a symmetry."""
    last = size * size - 1
    transposed = tuple(column * size + row for row in range(size) for column in range(size))
    if symmetry == 0:
        return tuple(range(size * size))
    if symmetry == 1:
        return tuple(last - cell for cell in range(size * size))
    if symmetry == 2:
        return transposed
    if symmetry == 3:
        return tuple(last - cell for cell in transposed)
    raise ValueError(f"symmetry {symmetry} is out of range: expected 0 to 3")


def swaps_colours(symmetry: int) -> bool:
    return symmetry >= 2


def bits(cells: Iterable[Cell]) -> Bits:
    result = 0
    for cell in cells:
        result |= 1 << cell
    return result


def cells(mask: Bits) -> Iterator[Cell]:
    """The cells of a set, smallest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def packed_width(size: int) -> int:
    return (size * size + 7) // 8


def pack(mask: Bits, size: int) -> bytes:
    """Cell c is bit c % 8 of byte c // 8."""
    return mask.to_bytes(packed_width(size), "little")


def unpack(packed: bytes) -> Bits:
    return int.from_bytes(packed, "little")


@dataclass(frozen=True)
class Position:
    """Stones on a board and the side to move. Playing returns a new position."""

    size: int
    black: Bits
    white: Bits
    to_move: Colour

    def __post_init__(self) -> None:
        check_size(self.size)
        if (self.black | self.white) >> (self.size * self.size):
            raise ValueError(f"a stone lies outside the {self.size}x{self.size} board")
        if self.black & self.white:
            cell = next(cells(self.black & self.white))
            raise ValueError(f"{cell_name(cell, self.size)} holds a black and a white stone")

    @classmethod
    def empty(cls, size: int) -> Position:
        return cls(size, 0, 0, "black")

    @classmethod
    def after(cls, size: int, moves: Iterable[Cell]) -> Position:
        """The position after alternating moves, Black first."""
        position = cls.empty(size)
        for number, cell in enumerate(moves, start=1):
            try:
                position = position.play(cell)
            except ValueError as error:
                raise ValueError(f"move {number}: {error}") from None
        return position

    @property
    def ply(self) -> int:
        return (self.black | self.white).bit_count()

    def stones(self, colour: Colour) -> Bits:
        return self.black if colour == "black" else self.white

    def empties(self) -> Bits:
        return ((1 << self.size * self.size) - 1) & ~(self.black | self.white)

    def play(self, cell: Cell) -> Position:
        """The position after the side to move takes `cell`; a decided position takes no more moves."""
        if not 0 <= cell < self.size * self.size:
            raise ValueError(f"cell {cell} is not on a {self.size}x{self.size} board")
        name = cell_name(cell, self.size)
        stone = 1 << cell
        if (self.black | self.white) & stone:
            raise ValueError(f"{name} is already taken")
        if (winner := self.winner()) is not None:
            raise ValueError(f"{name} comes after {winner} has won")
        if self.to_move == "black":
            return Position(self.size, self.black | stone, self.white, "white")
        return Position(self.size, self.black, self.white | stone, "black")

    def winner(self) -> Colour | None:
        for colour in COLOURS:
            if connects(self.stones(colour), self.size, colour):
                return colour
        return None

    def transform(self, symmetry: int) -> Position:
        move = cell_map(self.size, symmetry)
        black = bits(move[cell] for cell in cells(self.black))
        white = bits(move[cell] for cell in cells(self.white))
        if swaps_colours(symmetry):
            return Position(self.size, white, black, other(self.to_move))
        return Position(self.size, black, white, self.to_move)

    def is_black_first(self) -> bool:
        """Could alternating play that Black began have led here?"""
        ahead = self.black.bit_count() - self.white.bit_count()
        return ahead == (0 if self.to_move == "black" else 1)

    def draw(self) -> str:
        """Plain text, X for Black and O for White, each row half a cell further right.

         a b c
        1 X . .
         2 . O .
          3 . . .
        """
        letters = " ".join(chr(ord("a") + column) for column in range(self.size))
        lines = ["   " + letters]
        for row in range(self.size):
            symbols = (self._symbol(row * self.size + column) for column in range(self.size))
            lines.append(" " * row + f"{row + 1:>2} " + " ".join(symbols))
        return "\n".join(lines)

    def _symbol(self, cell: Cell) -> str:
        if self.black >> cell & 1:
            return "X"
        return "O" if self.white >> cell & 1 else "."


def connects(stones: Bits, size: int, colour: Colour) -> bool:
    """Do these stones join the two sides of `colour`? Flood fill from the first side, all cells at once."""
    row = (1 << size) - 1
    column = sum(1 << r * size for r in range(size))
    if colour == "black":
        start, goal = row, row << size * (size - 1)
    else:
        start, goal = column, column << size - 1
    board = (1 << size * size) - 1
    not_first, not_last = board & ~column, board & ~(column << size - 1)
    reached = stones & start
    while True:
        grown = reached | reached << size | reached >> size
        grown |= (reached & not_last) << 1 | (reached & not_first) >> 1
        grown |= (reached & not_last) >> size - 1 | (reached & not_first) << size - 1
        grown &= stones
        if grown & goal:
            return True
        if grown == reached:
            return False
        reached = grown
