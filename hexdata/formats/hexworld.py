"""Links to the HexWorld board, `https://hexworld.org/board/#11r9c1,b4:sh4g8`: the size, how the board is turned and
coloured, which changes no cell's name, then the moves. A second comma marks the move that is shown first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from hexdata.board import Colour, cell_name, check_size, other, parse_cell
from hexdata.errors import BadInput
from hexdata.formats.game import COLOUR_OF, LETTER_OF, Game, Move, Special

BOARD = "https://hexworld.org/board/#"
DEFAULT_SIZE = 11

_LINK = re.compile(r"(?:[^\s#]*#)?([^,\s]*)(?:,(\S*))?")
_OPTIONS = re.compile(r"([0-9]+(?:x[0-9]+)?)?((?:r[0-9]+|m|n|c[0-9]+)*)")
_MOVE = re.compile(r"[a-z]+[0-9]+|:s|:S|:p|:r[bw]|:f[bw]|,")
_SWAPS: dict[str, Special] = {":s": "swap-pieces", ":S": "swap-sides"}
_ENDS: dict[str, Special] = {"r": "resign", "f": "forfeit"}


def parse_hexworld(text: str, name: str = "link", size: int | None = None) -> Iterator[Game | BadInput]:
    """The game of every line that is not empty, or why it is refused. A `size` must agree with the links'."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield _parse_link(line.strip(), f"{name}:{number}", size)
            except BadInput as error:
                yield error


def _parse_link(link: str, place: str, wanted: int | None) -> Game:
    whole = _LINK.fullmatch(unquote(link))
    options = _OPTIONS.fullmatch(whole[1]) if whole else None
    if whole is None or options is None:
        raise BadInput(f"{place}: {link[:60]!r} is no HexWorld link: expected one such as {BOARD}11,a3b4")
    columns, _, rows = (options[1] or str(DEFAULT_SIZE)).partition("x")
    if rows not in ("", columns):
        raise BadInput(f"{place}: a {columns}x{rows} board, expected a square")
    try:
        size = check_size(int(columns))
    except ValueError as error:
        raise BadInput(f"{place}: {error}") from None
    if wanted not in (None, size):
        raise BadInput(f"{place}: a {size}x{size} board, not {wanted}x{wanted} as was asked for")
    moves: list[tuple[Colour, Move]] = []
    to_move: Colour = "black"
    text, at = whole[2] or "", 0
    while at < len(text):
        found = _MOVE.match(text, at)
        where = f"{place}: move {len(moves) + 1}"
        if not found or text[at:].count(",") > 1:
            raise BadInput(f"{where}: found {text[at : at + 12]!r}, expected a cell, :s, :S, :rb, :rw, :fb or :fw")
        word, at = found[0], found.end()
        if word == ",":
            continue
        if word == ":p":
            raise BadInput(f"{where}: a pass, which Hex does not have: expected a cell")
        try:
            moves.append(_move(word, to_move, size))
        except ValueError as error:
            raise BadInput(f"{where}: {error}") from None
        if word != ":S":
            to_move = other(to_move)
    game = Game(size, moves=tuple(moves))
    if fault := game.first_fault():
        raise BadInput(f"{place}: {fault[1]}")
    return game


def _move(word: str, to_move: Colour, size: int) -> tuple[Colour, Move]:
    if word in _SWAPS:
        return to_move, _SWAPS[word]
    if word.startswith(":"):
        return COLOUR_OF[word[2].upper()], _ENDS[word[1]]
    return to_move, parse_cell(word, size)


def write_hexworld(games: Iterable[Game]) -> str:
    """A link a line, Black in red as HexWorld draws it. A link has no place for a result that no move tells."""
    return "".join(f"{BOARD}{_link(game)}\n" for game in games)


def _link(game: Game) -> str:
    game.position()
    if game.black_setup or game.white_setup or game.to_move == "white":
        raise ValueError("HexWorld links have Black move first on the empty board: expected no set-up")
    words = [_word(colour, move, game.size) for colour, move in game.moves]
    return f"{game.size}c1,{''.join(words)}"


def _word(colour: Colour, move: Move, size: int) -> str:
    if isinstance(move, int):
        return cell_name(move, size)
    if move in ("resign", "forfeit"):
        return f":{move[0]}{LETTER_OF[colour].lower()}"
    return ":s" if move == "swap-pieces" else ":S"
