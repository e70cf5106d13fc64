"""What other Hex programs read and write: one reader and one writer of games a format, and telling which is which."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from hexdata.errors import BadInput
from hexdata.formats.game import Game
from hexdata.formats.hexworld import parse_hexworld, write_hexworld
from hexdata.formats.moves import parse_move_lists, write_move_lists
from hexdata.formats.neurobenzene import parse_neurobenzene, write_neurobenzene
from hexdata.formats.sgf import decode, parse_sgf_games, write_sgf

Format: TypeAlias = Literal["sgf", "neurobenzene", "hexworld", "moves"]
FORMATS: tuple[Format, ...] = get_args(Format)

_READERS: dict[Format, Callable[[str, str, int | None], Iterator[Game | BadInput]]] = {
    "sgf": parse_sgf_games,
    "neurobenzene": parse_neurobenzene,
    "hexworld": parse_hexworld,
    "moves": parse_move_lists,
}
_WRITERS: dict[Format, Callable[[Iterable[Game]], str]] = {
    "sgf": lambda games: "".join(write_sgf(game) for game in games),
    "neurobenzene": write_neurobenzene,
    "hexworld": write_hexworld,
    "moves": write_move_lists,
}


def read_games(path: Path, size: int | None = None) -> Iterator[Game | BadInput]:
    """Every game of a file in any of the formats; one that is refused comes as its error, with its place."""
    return parse_games(decode(path.read_bytes(), str(path)), str(path), size)


def parse_games(text: str, name: str, size: int | None = None) -> Iterator[Game | BadInput]:
    """As `read_games`, from text; `name` is what errors call it."""
    return _READERS[format_of(text)](text, name, size)


def write_games(games: Iterable[Game], form: Format) -> str:
    return _WRITERS[form](games)


def format_of(text: str) -> Format:
    """By how the games of a text begin."""
    if re.search(r"\(\s*;", text):
        return "sgf"
    if re.search(r"^[ \t]*[BW]\[", text, re.MULTILINE | re.IGNORECASE):
        return "neurobenzene"
    # a link, but not one in a remark
    if re.search(r"^(?![ \t]*#).*hexworld\S*(#|%23)|^[ \t]*#?[0-9]+(x[0-9]+)?[rmnc0-9]*,", text, re.MULTILINE):
        return "hexworld"
    return "moves"
