"""Plain move lists, one game a line: `d4 e5 c6 resign` or `1. d4 2. swap 3. e5 … B+`, Black first.

A line of the form `# 11 x 11` tells the board size of the lines below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hexdata.board import Colour, cell_name, other, parse_cell
from hexdata.errors import BadInput
from hexdata.formats.game import LETTER_OF, SPECIALS, Game, Move
from hexdata.formats.neurobenzene import parse_lines

_WORD = re.compile(r"[^\s,;]+")


def parse_move_lists(text: str, name: str = "moves", size: int | None = None) -> Iterator[Game | BadInput]:
    """Every line's game, or why it is refused. `size` is for texts without a header, and must agree with one."""
    return parse_lines(text, name, size, _parse_line)


def _parse_line(line: str, place: str, size: int | None) -> Game:
    if size is None:
        raise BadInput(f"{place}:1: the board size is unknown: expected a line such as `# 11 x 11` above, or a size")
    moves: list[tuple[Colour, Move]] = []
    starts: list[int] = []
    to_move: Colour = "black"
    result = None
    for found in _WORD.finditer(line):
        word = re.sub(r"^[0-9]+\.+", "", found[0])
        where = f"{place}:{found.start() + 1}"
        if not word:
            continue
        if result is not None:
            raise BadInput(f"{where}: found {word!r} after the result {result}")
        if re.fullmatch(r"[BW]\+[A-Za-z]*", word):
            result = word
            continue
        try:
            move = _move(word, size)
        except ValueError as error:
            raise BadInput(f"{where}: move {len(moves) + 1}: {error}") from None
        moves.append((to_move, move))
        starts.append(found.start())
        if move != "swap-sides":
            to_move = other(to_move)
    game = Game(size, moves=tuple(moves), result=result)
    if fault := game.first_fault():
        raise BadInput(f"{place}:{starts[fault[0]] + 1}: {fault[1]}")
    return game


def _move(word: str, size: int) -> Move:
    for special in SPECIALS:
        if word.lower() == special:
            return special
    return "swap-pieces" if word.lower() == "swap" else parse_cell(word, size)


def write_move_lists(games: Iterable[Game]) -> str:
    """Games must start from the empty board with Black to move. A player who resigns out of turn, as one does whose
    loss only the result tells, is told by the result."""
    lines = []
    size = None
    for game in games:
        game.position()
        if game.black_setup or game.white_setup or game.to_move == "white":
            raise ValueError("move lists have Black move first on the empty board: expected no set-up")
        result = _result(game)
        if not game.moves and not result:
            raise ValueError("a game without moves makes an empty line: expected at least one move")
        if game.size != size:
            size = game.size
            lines.append(f"# {size} x {size}")
        moves = game.moves
        waiting = other(game.position().to_move)
        if moves and moves[-1] == (waiting, "resign") and game.result_winner() == other(waiting):
            moves = moves[:-1]
        words = [_word(colour, move, game) for colour, move in moves]
        lines.append(" ".join([*words, *([result] if result else [])]))
    return "".join(line + "\n" for line in lines)


def _result(game: Game) -> str:
    """`W+Time`, as the reader takes it, also of `White + Time`; nothing where nobody can tell who won."""
    winner = game.result_winner()
    if winner is None:
        return ""
    how = re.search(r"\+\s*([A-Za-z]*)", game.result or "")
    return f"{LETTER_OF[winner]}+{how[1] if how else ''}"


def _word(colour: Colour, move: Move, game: Game) -> str:
    if isinstance(move, int):
        return cell_name(move, game.size)
    if move in ("resign", "forfeit") and colour != game.position().to_move:
        raise ValueError(f"move lists cannot say that {colour} {move}s when it is the other side's turn")
    return move
