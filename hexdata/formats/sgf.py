"""SGF game records for Hex (FF[4], GM[11]): a strict reader of the main line and a writer that it reads back.

Cells are read as names (`B[d4]`, HexGui and the FF[4] text for Hex) and as letter pairs (`B[dd]`, Little Golem).
Whatever is not a legal game is refused with the file, the line and column, and the move number or the property.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, TypeAlias

from hexdata.board import MAX_SIZE, MIN_SIZE, Bits, Cell, Colour, bits, cell_name, cells, check_size, other, parse_cell
from hexdata.errors import BadInput
from hexdata.formats.game import COLOUR_OF, LETTER_OF, SPECIALS, Game, Move, Special

DEFAULT_SIZE = 11
"""What a file without SZ means, says the FF[4] text for Hex."""

_ALIASES: dict[str, Special] = {"swap": "swap-pieces"}
_GAME_NUMBER = 11
_WIDER = {"shift_jis": "cp932", "gb2312": "gb18030"}
"""What texts in these are often written in, which reads the narrower one too."""
_INFO = ("GN", "EV", "RO", "DT", "PC", "PB", "BR", "BT", "PW", "WR", "WT", "RU", "ON", "GC", "SO", "US", "AN", "CP")


class BadSgf(BadInput):
    """A record that is not a legal game of Hex; the message names the file and the place."""


def read_sgf(path: Path, size: int | None = None) -> Game:
    """The main line of the first game of a file. `size` is for files without SZ, and must agree with SZ where it is."""
    return parse_sgf(decode(path.read_bytes(), str(path)), str(path), size)


def parse_sgf(text: str, name: str = "SGF", size: int | None = None) -> Game:
    """As `read_sgf`, from text; `name` is what errors call it."""
    return _Record(name, text).game(size)


def parse_sgf_games(text: str, name: str = "SGF", size: int | None = None) -> Iterator[Game | BadSgf]:
    """Every game of a collection. One that is refused comes as its error; the next begins where its brackets close, or,
    if nobody can tell where, at a line with `(;`."""
    record = _Record(name, text)
    while (opening := record.opening(record.start)) is not None:
        record.end = opening
        try:
            yield record.game(size)
        except BadSgf as error:
            yield error
        record.start = record.end
        if record.end == opening:
            following = re.compile(r"^[ \t]*\(\s*;", re.MULTILINE).search(record.text, opening + 1)
            record.start = following.start() if following else len(record.text)


def write_sgf(game: Game) -> str:
    """One move a node, cells as names. Raises ValueError if the game is not legal, so that no reader is given one."""
    game.position()
    info = dict(game.info)
    if unknown := sorted(set(info) - set(_INFO)):
        raise ValueError(f"{unknown[0]} is not a game information property: expected some of {' '.join(_INFO)}")
    comments = dict(game.comments)
    root = [("FF", "4"), ("GM", str(_GAME_NUMBER)), ("CA", "UTF-8"), ("AP", "hexdata"), ("SZ", str(game.size))]
    root += [(key, info[key]) for key in _INFO if key in info]
    if game.result is not None:
        root.append(("RE", game.result))
    parts = ["(;" + "".join(f"{key}[{_escape(value)}]" for key, value in root)]
    for key, stones in (("AB", game.black_setup), ("AW", game.white_setup)):
        if stones:
            parts.append(key + "".join(f"[{cell_name(cell, game.size)}]" for cell in stones))
    parts.append(f"PL[{LETTER_OF[game.to_move]}]")
    if 0 in comments:
        parts.append(f"C[{_escape(comments[0])}]")
    for number, (colour, move) in enumerate(game.moves, start=1):
        # ten moves a line keeps lines short for mail and diff
        parts.append("\n" if number % 10 == 1 else "")
        parts.append(f";{LETTER_OF[colour]}[{move if isinstance(move, str) else cell_name(move, game.size)}]")
        if number in comments:
            parts.append(f"C[{_escape(comments[number])}]")
    return "".join(parts) + ")\n"


def _escape(text: str) -> str:
    return re.sub(r"([\]\\])", r"\\\1", text)


def decode(content: bytes, name: str) -> str:
    """UTF-8 or UTF-16 by its mark, else what CA says, else Latin-1."""
    try:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return content.decode("utf-16")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.encoding.startswith("utf-16"):
            raise BadSgf(f"{name}: the UTF-16 text is broken at byte {error.start}") from None
        return _decode_as_told(content, name)


def _decode_as_told(content: bytes, name: str) -> str:
    told = re.search(rb"\bCA\s*\[\s*([\w.:-]+)\s*\]", content)
    # FF[4] says Latin-1 when CA is absent; Little Golem's older records are
    encoding = told[1].decode() if told else "latin-1"
    try:
        known = codecs.lookup(encoding).name
        # it is not UTF-8, whatever it says
        return content.decode("latin-1" if known in ("utf-8", "ascii") else _WIDER.get(known, known))
    except (LookupError, UnicodeError):
        raise BadSgf(f"{name}: not a text in {encoding}: expected CA to name the encoding of the text") from None


@dataclass(frozen=True)
class _Value:
    text: str
    start: int


@dataclass
class _Property:
    key: str
    start: int
    values: list[_Value]


_Node: TypeAlias = dict[str, _Property]


class _Record:
    """The text of a file, where in it a game begins and ends, and the place of whatever is wrong."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
        self.start = self.end = 0

    def opening(self, start: int) -> int | None:
        found = re.compile(r"\(\s*;").search(self.text, start)
        return found.start() if found else None

    def refuse(self, start: int, message: str) -> NoReturn:
        line = self.text.count("\n", 0, start) + 1
        column = start - self.text.rfind("\n", 0, start)
        raise BadSgf(f"{self.name}:{line}:{column}: {' '.join(message.split())}")

    def game(self, size: int | None) -> Game:
        nodes = self.main_line()
        first_move = next((i for i, node in enumerate(nodes) if "B" in node or "W" in node), len(nodes))
        # the node with the first move may hold set-up too: FF[4] frowns on it, programs write it
        head = nodes[: first_move + 1]
        self.check_is_hex(head)
        size = self.read_size(head, size)
        black, white = self.read_setup(head, size)
        moves, starts = self.read_moves(nodes, size)
        if re.match(r"HexGui:0\.[0-9](?![0-9])", self.read_text(head, "AP") or ""):
            # HexGui up to 0.9 wrote swap-pieces for what it did: the stone stays, and the same colour moves again
            moves = [(colour, "swap-sides" if move == "swap-pieces" else move) for colour, move in moves]
        to_move = self.read_to_move(head, black, white)
        little_golem = "littlegolem" in (self.read_text(head, "SO") or "").lower()
        if to_move is None:
            if moves and self.tags_are_reversed(nodes[first_move], moves, black | white, little_golem):
                moves = [(other(colour), move) for colour, move in moves]
                little_golem = True
            to_move = moves[0][0] if moves else "black"
        game = Game(
            size=size,
            black_setup=tuple(cells(black)),
            white_setup=tuple(cells(white)),
            to_move=to_move,
            moves=tuple(moves),
            result=self.read_text(head, "RE"),
            info=tuple((key, text) for key in _INFO if (text := self.read_text(head, key)) is not None),
            comments=tuple(self.read_comments(nodes)),
        )
        if fault := game.first_fault():
            number, reason = fault
            self.refuse(starts[number], reason)
        played_out = game.position().winner() or (moves and moves[-1][1] in ("resign", "forfeit"))
        if little_golem and not played_out and (told := re.fullmatch(r"\s*([BW])\s*", game.result or "")):
            # Little Golem writes a resignation as a move and a loss by time only as the result
            game = replace(game, result=f"{told[1]}+Time")
        return game

    def main_line(self) -> list[_Node]:
        """The nodes of the next game up to its first `)`; the variations after it are only checked to be whole."""
        opening = self.opening(self.start)
        if opening is None:
            self.refuse(0, "expected a game that begins with `(;`")
        nodes: list[_Node] = []
        depth, at, on_main_line, node_open = 0, opening, True, False
        node: _Node = {}
        while True:
            at = _skip_space(self.text, at)
            if at == len(self.text):
                self.refuse(at, f"the file ends inside the game: expected {depth} more closing `)`")
            symbol = self.text[at]
            if symbol == "(":
                depth, node_open = depth + 1, False
                at += 1
            elif symbol == ")":
                depth, on_main_line, node_open = depth - 1, False, False
                at += 1
                if depth == 0:
                    self.end = at
                    return nodes
            elif symbol == ";":
                node, node_open = {}, True
                if on_main_line:
                    nodes.append(node)
                at += 1
            elif symbol.isascii() and symbol.isalpha() and node_open:
                found, at = self.property_at(at)
                if found.key in node:
                    self.refuse(found.start, f"{found.key} is given twice in one node")
                node[found.key] = found
            else:
                expected = "a property, `;`, `(` or `)`" if node_open else "`;`, `(` or `)`"
                self.refuse(at, f"found {symbol!r}, expected {expected}")

    def property_at(self, start: int) -> tuple[_Property, int]:
        match = re.compile(r"[A-Za-z]+").match(self.text, start)
        assert match
        word = match[0]
        # FF[3] and older write `BlacK` for B K; wholly lower-case names are a common mistake
        key = re.sub("[a-z]", "", word) or word.upper()
        at = _skip_space(self.text, match.end())
        if at == len(self.text):
            self.refuse(at, f"the file ends after {word}: expected its value in square brackets")
        if self.text[at] != "[":
            self.refuse(at, f"found {self.text[at]!r} after {word}, expected its value in square brackets")
        values = []
        while at < len(self.text) and self.text[at] == "[":
            value, at = self.value_at(at, key)
            values.append(value)
            at = _skip_space(self.text, at)
        return _Property(key, start, values), at

    def value_at(self, start: int, key: str) -> tuple[_Value, int]:
        match = re.compile(r"\[((?:[^\]\\]|\\.)*)\]", re.DOTALL).match(self.text, start)
        if not match:
            self.refuse(start, f"the file ends inside the value of {key}: expected a closing `]`")
        text = re.sub(r"\\(\n|.)", lambda m: "" if m[1] == "\n" else m[1], match[1], flags=re.DOTALL)
        return _Value(text, start), match.end()

    def one(self, node: _Node, key: str) -> _Value:
        found = node[key]
        if len(found.values) != 1:
            self.refuse(found.start, f"{key} has {len(found.values)} values, expected one")
        return found.values[0]

    def check_is_hex(self, head: list[_Node]) -> None:
        for node in head:
            if "GM" in node:
                game = self.one(node, "GM")
                if game.text.strip() != str(_GAME_NUMBER):
                    self.refuse(game.start, f"GM[{game.text}] is another game: expected GM[{_GAME_NUMBER}], Hex")

    def read_size(self, head: list[_Node], wanted: int | None) -> int:
        for node in head:
            if "SZ" not in node:
                continue
            value = self.one(node, "SZ")
            numbers = [part.strip() for part in value.text.split(":")]
            whole = all(re.fullmatch("[0-9]{1,3}", number) for number in numbers)
            if not whole or not 1 <= len(numbers) <= 2 or len({int(number) for number in numbers}) > 1:
                self.refuse(
                    value.start, f"SZ[{value.text}] is no board size: expected one number from {MIN_SIZE} to {MAX_SIZE}"
                )
            size = int(numbers[0])
            if not MIN_SIZE <= size <= MAX_SIZE:
                self.refuse(value.start, f"SZ[{value.text}] is out of range: expected {MIN_SIZE} to {MAX_SIZE}")
            if wanted not in (None, size):
                self.refuse(value.start, f"SZ[{value.text}] differs from the size {wanted} that was asked for")
            return size
        return DEFAULT_SIZE if wanted is None else check_size(wanted)

    def read_setup(self, head: list[_Node], size: int) -> tuple[Bits, Bits]:
        stones = {"AB": 0, "AW": 0, "AE": 0}
        for node in head:
            here = {key: self.read_points(node[key], size) for key in stones if key in node}
            for key, mask in here.items():
                for rest in here:
                    if rest < key and (both := mask & here[rest]):
                        cell = cell_name(next(cells(both)), size)
                        self.refuse(node[key].start, f"{cell} is in both {rest} and {key} of one node")
            for key, mask in here.items():
                for rest in stones:
                    stones[rest] = stones[rest] | mask if rest == key else stones[rest] & ~mask
        return stones["AB"], stones["AW"]

    def read_points(self, found: _Property, size: int) -> Bits:
        """A list of cells; `a1:c3` is a rectangle."""
        mask = 0
        for value in found.values:
            if not value.text.strip() and len(found.values) == 1:
                continue
            corners = [self.read_cell(value, part, size, found.key) for part in value.text.split(":")]
            if len(corners) > 2:
                self.refuse(value.start, f"{found.key}[{value.text}] is no list of cells: expected a1 or a1:c3")
            rows = sorted(corner // size for corner in corners)
            columns = sorted(corner % size for corner in corners)
            here = bits(
                row * size + column
                for row in range(rows[0], rows[-1] + 1)
                for column in range(columns[0], columns[-1] + 1)
            )
            if mask & here:
                self.refuse(value.start, f"{found.key} names {cell_name(next(cells(mask & here)), size)} twice")
            mask |= here
        return mask

    def read_cell(self, value: _Value, text: str, size: int, where: str) -> Cell:
        point = text.strip().lower()
        if re.fullmatch("[a-z]{2}", point):
            point = f"{point[0]}{ord(point[1]) - ord('a') + 1}"
        try:
            return parse_cell(point, size)
        except ValueError:
            last = cell_name(size * size - 1, size)
            self.refuse(
                value.start, f"{where}: {text.strip()!r} is no cell of a {size}x{size} board: expected a1 to {last}"
            )

    def read_moves(self, nodes: list[_Node], size: int) -> tuple[list[tuple[Colour, Move]], list[int]]:
        moves: list[tuple[Colour, Move]] = []
        starts = []
        for node in nodes:
            keys = [key for key in COLOUR_OF if key in node]
            if moves:
                for late in [key for key in ("AB", "AW", "AE", "PL", "SZ", "GM") if key in node]:
                    self.refuse(node[late].start, f"{late} comes after move {len(moves)}: expected it before the first")
            if len(keys) == 2:
                self.refuse(node["W"].start, f"move {len(moves) + 1}: B and W in one node, expected one move")
            for key in keys:
                value = self.one(node, key)
                moves.append((COLOUR_OF[key], self.read_move(value, size, f"move {len(moves) + 1}")))
                starts.append(value.start)
        return moves, starts

    def read_move(self, value: _Value, size: int, where: str) -> Move:
        word = value.text.strip().lower().replace("_", "-")
        if word in SPECIALS:
            return word
        if word in _ALIASES:
            return _ALIASES[word]
        if word in ("", "pass"):
            self.refuse(value.start, f"{where}: a pass, which Hex does not have: expected a cell")
        return self.read_cell(value, value.text, size, where)

    def read_to_move(self, head: list[_Node], black: Bits, white: Bits) -> Colour | None:
        for node in head:
            if "PL" in node:
                value = self.one(node, "PL")
                word = value.text.strip().lower()
                if word not in ("b", "black", "w", "white"):
                    self.refuse(value.start, f"PL[{value.text}] is no side to move: expected B or W")
                return COLOUR_OF[word[0].upper()]
        if any("B" in node or "W" in node for node in head):
            return None
        return "white" if black.bit_count() > white.bit_count() else "black"

    def tags_are_reversed(
        self, first: _Node, moves: list[tuple[Colour, Move]], stones: Bits, little_golem: bool
    ) -> bool:
        """Little Golem tags the first player's moves W, though the first player is PB and joins top and bottom."""
        if stones or moves[0][0] == "black":
            return False
        letter_pair = re.fullmatch("[a-zA-Z]{2}", first["W"].values[0].text.strip())
        return little_golem or letter_pair is not None

    def read_text(self, head: list[_Node], key: str) -> str | None:
        for node in head:
            if key in node:
                return re.sub(r"[\t\n\v\f]", " ", self.one(node, key).text)
        return None

    def read_comments(self, nodes: list[_Node]) -> Iterator[tuple[int, str]]:
        """Nodes without a move add theirs to the move before."""
        texts: dict[int, list[str]] = {}
        number = 0
        for node in nodes:
            number += "B" in node or "W" in node
            if "C" in node and (text := self.one(node, "C").text):
                texts.setdefault(number, []).append(text)
        for number, parts in texts.items():
            yield number, "\n".join(parts)


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
