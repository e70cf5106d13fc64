"""Game lines as neurobenzene writes and learns from: `B[b3] W[j4][j4:0.37;i5:0.06;] … -1.0`, one game a line.

The bracket after a move holds the visit shares that it was drawn from; the number at the end is +1 or -1 for the player
to move after the last move. A line of the form `# 13 x 13 Hex` tells the board size of the lines below it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

from hexdata.board import COLOURS, Cell, Colour, cell_name, check_size, other, parse_cell
from hexdata.errors import BadInput
from hexdata.formats.game import LETTER_OF, SHARE_UNITS, Game, Shares

_MOVE = re.compile(r"([BW])\[\s*([a-zA-Z][0-9]+)\s*\](?:\[([^\]]*)\])?", re.IGNORECASE)
_SHARE = re.compile(r"([a-zA-Z][0-9]+)\s*[: ]\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)")


def parse_neurobenzene(text: str, name: str = "lines", size: int | None = None) -> Iterator[Game | BadInput]:
    """Every line's game, or why it is refused. `size` is for texts without a header, and must agree with one."""
    return parse_lines(text, name, size, _parse_line)


def parse_lines(
    text: str, name: str, size: int | None, parse: Callable[[str, str, int | None], Game]
) -> Iterator[Game | BadInput]:
    """One game a line under headers that tell the board size: what this format and plain move lists share."""
    board = size
    for number, line in enumerate(text.splitlines(), start=1):
        place = f"{name}:{number}"
        try:
            if line.lstrip().startswith("#"):
                board = header_size(line, place, size) or board
            elif line.strip():
                yield parse(line, place, board)
        except BadInput as error:
            yield error


def header_size(line: str, place: str, wanted: int | None) -> int | None:
    """The board size that a line such as `# 13 x 13 Hex` tells; None for any other remark."""
    found = re.match(r"\s*#\s*([0-9]{1,3})\s*x\s*([0-9]{1,3})\b", line)
    if not found:
        return None
    columns, rows = int(found[1]), int(found[2])
    if columns != rows or wanted not in (None, rows):
        raise BadInput(f"{place}: a {columns}x{rows} board, expected {f'{wanted}x{wanted}' if wanted else 'a square'}")
    try:
        return check_size(rows)
    except ValueError as error:
        raise BadInput(f"{place}: {error}") from None


def _parse_line(line: str, place: str, size: int | None) -> Game:
    def refuse(start: int, message: str) -> NoReturn:
        raise BadInput(f"{place}:{start + 1}: {message}")

    if size is None:
        refuse(0, "the board size is unknown: expected a line such as `# 13 x 13 Hex` above, or a size")
    moves: list[tuple[Colour, Cell]] = []
    policies: list[Shares] = []
    starts: list[int] = []
    at = _skip_space(line, 0)
    while found := _MOVE.match(line, at):
        where = f"move {len(moves) + 1}"
        colour = COLOURS[len(moves) % 2]
        if found[1].upper() != LETTER_OF[colour]:
            refuse(at, f"{where}: {found[1]} plays, expected {LETTER_OF[colour]}, whose turn it is")
        try:
            moves.append((colour, parse_cell(found[2], size)))
            policies.append(_shares(found[3] or "", size))
            if taken := {cell for cell, _ in policies[-1]} & {cell for _, cell in moves[:-1]}:
                raise ValueError(f"the policy has {cell_name(min(taken), size)}, which is taken")
        except ValueError as error:
            refuse(at, f"{where}: {error}")
        starts.append(at)
        at = _skip_space(line, found.end())
    rest = line[at:].strip()
    if not moves:
        refuse(at, f"found {rest[:20]!r}, expected a move such as B[b3]")
    if not re.fullmatch(r"[-+]?1(\.0*)?", rest):
        refuse(at, f"found {rest[:20]!r}, expected a move or the game's result, 1.0 or -1.0")
    played = Game(size, moves=tuple(moves))
    if fault := played.first_fault():
        refuse(starts[fault[0]], fault[1])
    to_move = COLOURS[len(moves) % 2]
    winner = other(to_move) if rest.startswith("-") else to_move
    stones = played.winner()
    if stones not in (None, winner):
        refuse(at, f"the result {rest} says that {winner} won, but the stones say {stones}")
    result = f"{LETTER_OF[winner]}+" if stones else f"{LETTER_OF[winner]}+Proof"
    return Game(size, moves=tuple(moves), result=result, policies=tuple(policies) if any(policies) else ())


def _skip_space(line: str, at: int) -> int:
    while at < len(line) and line[at].isspace():
        at += 1
    return at


def _shares(text: str, size: int) -> Shares:
    shares: dict[Cell, int] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        found = _SHARE.fullmatch(part)
        if not found:
            raise ValueError(f"the policy has {part!r}, expected a cell and its share such as j4:0.37")
        cell, share = parse_cell(found[1], size), float(found[2])
        if share > 1:
            raise ValueError(f"the policy has a share of {found[2]}, expected 0 to 1")
        if cell in shares:
            raise ValueError(f"the policy names {cell_name(cell, size)} twice")
        shares[cell] = round(share * SHARE_UNITS)
    return tuple(sorted((cell, share) for cell, share in shares.items() if share))


def write_neurobenzene(games: Iterable[Game]) -> str:
    """All games must be of Black-first play from the empty board, without swaps, and tell who won, but not by time."""
    lines = []
    size = None
    for game in games:
        if game.size != size:
            size = game.size
            lines.append(f"# {size} x {size} Hex")
        lines.append(_line(game))
    return "".join(line + "\n" for line in lines)


def _line(game: Game) -> str:
    winner, final = game.winner(), game.position()
    if winner is None:
        raise ValueError("the record does not tell who won: expected a finished game for a neurobenzene line")
    if game.lost_by_time():
        raise ValueError("lost by time or forfeit, which says nothing about the position: expected another end")
    if game.black_setup or game.white_setup or game.to_move == "white":
        raise ValueError("neurobenzene lines have Black move first on the empty board: expected no set-up")
    words = []
    for number, (colour, move) in enumerate(game.moves):
        if move in ("resign", "forfeit"):
            continue
        if isinstance(move, str):
            raise ValueError(f"neurobenzene lines have no {move}: expected a game without a swap")
        shares = game.policies[number] if game.policies else ()
        policy = "".join(f"{cell_name(cell, game.size)}:{_decimal(share)};" for cell, share in shares)
        words.append(f"{LETTER_OF[colour]}[{cell_name(move, game.size)}]" + (f"[{policy}]" if policy else ""))
    words.append("1.0" if winner == final.to_move else "-1.0")
    return " ".join(words)


def _decimal(share: int) -> str:
    return f"{share / SHARE_UNITS:.4f}".rstrip("0").rstrip(".")
