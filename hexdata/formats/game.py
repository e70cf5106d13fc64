"""A game as other programs record it: what every reader of `hexdata.formats` gives and every writer takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from hexdata.board import Cell, Colour, Position, bits, cell_map, other

Special: TypeAlias = Literal["swap-pieces", "swap-sides", "resign", "forfeit"]
SPECIALS: tuple[Special, ...] = get_args(Special)
Move: TypeAlias = Cell | Special
Shares: TypeAlias = tuple[tuple[Cell, int], ...]

SHARE_UNITS = 10_000
"""Shares of a policy are whole numbers of these, so that they add up the same everywhere."""

COLOUR_OF: dict[str, Colour] = {"B": "black", "W": "white"}
LETTER_OF: dict[Colour, str] = {"black": "B", "white": "W"}


@dataclass(frozen=True)
class Game:
    """One game, or a position that was set up. Colours are the sides: Black joins top and bottom, whoever plays it."""

    size: int
    black_setup: tuple[Cell, ...] = ()
    white_setup: tuple[Cell, ...] = ()
    to_move: Colour = "black"
    """Before the first move."""
    moves: tuple[tuple[Colour, Move], ...] = ()
    """`swap-pieces` turns the first stone into its mirror image of the other colour; `swap-sides` leaves the stones as
    they are, so the second colour moves next; `resign` and `forfeit` come last, and from either side."""
    result: str | None = None
    """As SGF's RE: `B+Resign`."""
    info: tuple[tuple[str, str], ...] = ()
    """SGF's game information, ("PB", "Queenbee"), in a fixed order."""
    comments: tuple[tuple[int, str], ...] = ()
    """After which move (0: before the first), and the text."""
    policies: tuple[Shares, ...] = ()
    """One for each move, or none at all: the cells that were searched and their shares, () where nobody tells."""

    def position(self, move_number: int | None = None) -> Position:
        """After that many moves; after all of them when not said."""
        if move_number is None:
            move_number = len(self.moves)
        if not 0 <= move_number <= len(self.moves):
            raise ValueError(f"move number {move_number} is out of range: the game has {len(self.moves)} moves")
        *_, last = self.positions(move_number)
        return last

    def positions(self, move_number: int | None = None) -> Iterator[Position]:
        """The position before the first move and after each one; ValueError at a move that is not legal."""
        position = Position(self.size, bits(self.black_setup), bits(self.white_setup), self.to_move)
        yield position
        ended = ""
        for number, (colour, move) in enumerate(self.moves[:move_number], start=1):
            if ended:
                raise ValueError(f"move {number}: {ended}, expected no more moves")
            try:
                position = _after(position, number, colour, move)
            except ValueError as error:
                raise ValueError(f"move {number}: {error}") from None
            if move in ("resign", "forfeit"):
                ended = f"{colour} has {'resigned' if move == 'resign' else 'forfeited'}"
            yield position

    def first_fault(self) -> tuple[int, str] | None:
        """The first move that is not legal, counted from 0, and why."""
        positions = self.positions()
        next(positions)
        for number in range(len(self.moves)):
            try:
                next(positions)
            except ValueError as error:
                return number, str(error)
        return None

    def last_cell(self, move_number: int | None = None) -> Cell | None:
        """Where the last stone of `position(move_number)` lies, if a move put one there."""
        played = [move for _, move in self.moves[:move_number] if move not in ("resign", "forfeit")]
        if not played:
            return None
        if played[-1] == "swap-pieces":
            return cell_map(self.size, 2)[cast(Cell, played[0])]
        return cast(Cell, played[0] if played[-1] == "swap-sides" else played[-1])

    def winner(self) -> Colour | None:
        """By the stones, else by giving up, else by the result; None when the record does not tell."""
        if (by_stones := self.position().winner()) is not None:
            return by_stones
        if self.moves and self.moves[-1][1] in ("resign", "forfeit"):
            return other(self.moves[-1][0])
        return self.result_winner()

    def lost_by_time(self) -> bool:
        """Or by forfeit: an end that says nothing about the position."""
        if self.moves and self.moves[-1][1] == "forfeit":
            return True
        return bool(re.match(r"\s*[BW](lack|hite)?\s*\+\s*[tf]", self.result or "", re.IGNORECASE))

    def result_winner(self) -> Colour | None:
        """By the result alone: `B`, `B+`, `W+Resign`, `White`, but not a sentence that happens to begin so."""
        told = re.fullmatch(r"(b|w)(lack|hite)?\s*(\+.*)?", (self.result or "").strip(), re.IGNORECASE)
        return COLOUR_OF[told[1].upper()] if told else None


def _after(position: Position, number: int, colour: Colour, move: Move) -> Position:
    if move in ("resign", "forfeit"):
        if (winner := position.winner()) is not None:
            raise ValueError(f"{colour} {move}s after {winner} has won")
        return position
    if colour != position.to_move:
        raise ValueError(f"{colour} plays, expected {position.to_move}, whose turn it is")
    if isinstance(move, int):
        return position.play(move)
    if number != 2 or position.ply != 1:
        raise ValueError(f"{move} is only legal as the second move of a game from the empty board")
    return position.transform(2) if move == "swap-pieces" else position
