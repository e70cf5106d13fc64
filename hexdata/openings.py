"""Which first stones a game starts from: a scheme is one string, and the opening of a turn is a pure function of the
scheme, the board size, the seed and the turn.

    one-stone, two-stone, three-stone   all ordered sequences, Black's first (the database of daliri-2022 section 2)
    ring-2                              one stone on the two outer rows and columns (takada-2019)
    one-stone+two-stone                 several sets, one after the other
    A1, A2, A3, A123                    drawn at random for each game; A123 takes each depth in turn (stratified)
    random:stones=3-6                   that many random stones, nobody has won
    file:openings.txt                   a line an opening, such as `a1 d4`; `#` starts a comment
    empty                               none

Sets are swept in their order; `order=shuffled` takes another order each round, `draw=uniform` draws. `keep=winning`
keeps what its last mover is proved to win, `keep=balanced` as many openings that Black wins as White, the hardest to
prove; `nodes=` bounds each proof, and what is not proved within it is left out.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from hexdata.board import Cell, Position, bits, parse_moves
from hexdata.errors import BadInput

Opening: TypeAlias = tuple[Cell, ...]

SETS = {"empty": 0, "one-stone": 1, "two-stone": 2, "three-stone": 3, "ring-2": 1}
"""The stones of each set."""

DRAWN: dict[str, tuple[str, ...]] = {"A1": ("one-stone",), "A2": ("two-stone",), "A3": ("three-stone",)}
DRAWN["A123"] = DRAWN["A1"] + DRAWN["A2"] + DRAWN["A3"]

CHOICES = {
    "draw": ("sweep", "stratified", "uniform"),
    "order": ("listed", "shuffled"),
    "keep": ("all", "winning", "balanced"),
}
PROOF_NODES = 100_000


class BadOpenings(BadInput):
    """A scheme or a file of openings that cannot be read; the message says what was expected."""


@dataclass(frozen=True)
class Scheme:
    sets: tuple[str, ...] = ()
    draw: str = "sweep"
    order: str = "listed"
    keep: str = "all"
    nodes: int = PROOF_NODES
    stones: tuple[int, int] = (0, 0)
    """Least and most stones of random openings."""
    file: str = ""

    @property
    def is_listed(self) -> bool:
        """Its openings come from a file or from proofs, so whoever plays a game must be told its opening."""
        return bool(self.file) or self.keep != "all"


def parse_scheme(text: str) -> Scheme:
    name, _, rest = text.partition(":")
    if name == "file":
        if not rest:
            raise BadOpenings("openings 'file:' names no file: expected file:PATH")
        path, order = (rest[: -len(",order=shuffled")], "shuffled") if rest.endswith(",order=shuffled") else (rest, "")
        return Scheme(file=path, order=order or "listed")
    items = [item.partition("=")[::2] for item in rest.split(",")] if rest else []
    given = dict(items)
    if len(given) < len(items):
        raise BadOpenings(f"openings {text!r} give a parameter twice")
    if name == "random":
        return Scheme(stones=_stones(given, text))
    sets = DRAWN.get(name) or tuple(name.split("+"))
    for unknown in set(sets) - set(SETS):
        names = ", ".join([*SETS, *DRAWN, "random:stones=K", "file:PATH"])
        raise BadOpenings(f"unknown openings {unknown!r}: expected {names}, or sets joined by +")
    if len(set(sets)) < len(sets):
        raise BadOpenings(f"openings {text!r} name a set twice")
    draw = {"A123": "stratified"}.get(name, "uniform") if name in DRAWN else "sweep"
    known = {"draw": draw, "order": "listed", "keep": "all", "nodes": str(PROOF_NODES)}
    for key, value in given.items():
        if key not in known:
            raise BadOpenings(f"openings {text!r}: unknown parameter {key!r}: expected {', '.join(known)}")
        if key in CHOICES and value not in CHOICES[key]:
            raise BadOpenings(f"openings {text!r}: {key} is {value!r}: expected one of {', '.join(CHOICES[key])}")
    values = known | given
    if not values["nodes"].isdecimal() or int(values["nodes"]) < 1:
        raise BadOpenings(f"openings {text!r}: nodes is {values['nodes']!r}: expected a number from 1")
    if "nodes" in given and values["keep"] == "all":
        raise BadOpenings(f"openings {text!r}: nodes is for proofs: expected keep=winning or keep=balanced with it")
    if values["draw"] != "sweep" and values["order"] != "listed":
        raise BadOpenings(f"openings {text!r}: only a sweep has an order, this is drawn")
    if values["draw"] == "stratified" and values["keep"] != "all":
        raise BadOpenings(f"openings {text!r}: expected draw=sweep or draw=uniform with keep={values['keep']}")
    return Scheme(sets, values["draw"], values["order"], values["keep"], int(values["nodes"]))


def _stones(given: dict[str, str], text: str) -> tuple[int, int]:
    low, _, high = given.get("stones", "").partition("-")
    high = high or low
    if set(given) != {"stones"} or not low.isdecimal() or not high.isdecimal() or int(high) < max(int(low), 1):
        raise BadOpenings(f"openings {text!r}: expected random:stones=3 or random:stones=3-6")
    return int(low), int(high)


def check_scheme(text: str, size: int) -> Scheme:
    """Refuse what cannot be had on this board, before anything is touched."""
    scheme = parse_scheme(text)
    most = scheme.stones[1] if scheme.stones[1] else max((SETS[name] for name in scheme.sets), default=0)
    # up to here there are enough undecided openings to draw from
    if most > max(size * size // 2, 1):
        raise BadOpenings(f"openings {text!r}: {most} stones are too many for a {size}x{size} board")
    if scheme.file:
        read_openings(Path(scheme.file), size)
    return scheme


# -------------------------------------------------------------------------------------------------------- the database


def ring(size: int) -> tuple[Cell, ...]:
    """The cells of the two outer rows and columns: 56, 72 and 88 of them on 9x9, 11x11 and 13x13 (takada-2019)."""
    inside = range(2, size - 2)
    return tuple(cell for cell in range(size * size) if cell // size not in inside or cell % size not in inside)


def _cells(name: str, size: int) -> Sequence[Cell]:
    return ring(size) if name == "ring-2" else range(size * size)


def count(name: str, size: int) -> int:
    return math.perm(len(_cells(name, size)), SETS[name])


def nth(name: str, size: int, index: int) -> Opening:
    """Opening `index` of a set, in lexicographic order. The database is computed, not stored: 19x19 has 46 million."""
    left = list(_cells(name, size))
    opening = []
    for stones in range(SETS[name], 0, -1):
        place, index = divmod(index, math.perm(len(left) - 1, stones - 1))
        opening.append(left.pop(place))
    return tuple(opening)


def all_openings(scheme: Scheme, size: int) -> list[Opening]:
    return [nth(name, size, index) for name in scheme.sets for index in range(count(name, size))]


def read_openings(path: Path, size: int) -> list[Opening]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadOpenings(f"{path}: not a readable list of openings ({error})") from None
    found = []
    for number, line in enumerate(lines, start=1):
        moves = line.partition("#")[0].strip()
        if not moves:
            continue
        try:
            opening = tuple(parse_moves(moves, size))
            if Position.after(size, list(opening)).winner() is not None:
                raise ValueError("somebody has already won")
        except ValueError as error:
            raise BadOpenings(f"{path}: line {number}: {error}") from None
        found.append(opening)
    if not found:
        raise BadOpenings(f"{path}: no openings in it: expected a line each, such as `a1 d4`")
    return found


# -------------------------------------------------------------------------------------------------------------- proofs


def proved_openings(scheme: Scheme, size: int) -> list[Opening]:
    """What `keep` leaves of the sets, in their order."""
    from hexdata.engine import Solution, solve

    openings = all_openings(scheme, size)

    def prove(opening: Opening) -> Solution:
        to_move = "white" if len(opening) % 2 else "black"
        return solve(size, opening[::2], opening[1::2], to_move, limit_nodes=scheme.nodes)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        proofs = list(threads.map(prove, openings))
    if scheme.keep == "winning":
        movers = ["black" if len(opening) % 2 else "white" for opening in openings]
        kept = [o for o, proof, mover in zip(openings, proofs, movers, strict=True) if proof.winner == mover]
    else:
        hardest = sorted(range(len(openings)), key=lambda i: (-proofs[i].nodes, i))
        sides = [[i for i in hardest if proofs[i].winner == winner] for winner in ("black", "white")]
        fewest = min(map(len, sides))
        kept = [openings[i] for i in sorted(sides[0][:fewest] + sides[1][:fewest])]
    if not kept:
        text = "+".join(scheme.sets)
        raise BadOpenings(
            f"no opening of {text} is left by keep={scheme.keep} within {scheme.nodes} nodes on {size}x{size}"
        )
    return kept


def listed_openings(scheme: Scheme, size: int) -> list[Opening]:
    """The openings of a scheme that `is_listed`; proofs take a while on larger boards."""
    return read_openings(Path(scheme.file), size) if scheme.file else proved_openings(scheme, size)


# --------------------------------------------------------------------------------------------------------------- turns


def opening_of(scheme: Scheme, size: int, seed: int, turn: int, listed: Sequence[Opening] = ()) -> Opening:
    """The opening of a turn; `listed` is what `listed_openings` says, if the scheme is one of those."""
    if scheme.stones[1]:
        return _random_stones(scheme.stones, size, seed, turn)
    if scheme.is_listed:
        return listed[_index(scheme, len(listed), seed, turn)]
    if scheme.draw == "stratified":
        # each depth in turn, so that any stretch of games has its third
        name = scheme.sets[turn % len(scheme.sets)]
        return nth(name, size, _draw(seed, turn, count(name, size)))
    counts = [count(name, size) for name in scheme.sets]
    index = _index(scheme, sum(counts), seed, turn)
    for name, here in zip(scheme.sets, counts, strict=True):
        if index < here:
            return nth(name, size, index)
        index -= here
    raise AssertionError("an index beyond all sets")


def _index(scheme: Scheme, total: int, seed: int, turn: int) -> int:
    if scheme.draw == "uniform":
        return _draw(seed, turn, total)
    if scheme.order == "listed":
        return turn % total
    return _order(total, seed, turn // total)[turn % total]


def _draw(seed: int, turn: int, total: int) -> int:
    """256 bits are so many more than any database has rows that their remainder is uniform."""
    return int.from_bytes(hashlib.sha256(f"opening {seed} {turn}".encode()).digest(), "little") % total


@lru_cache(maxsize=4)
def _order(total: int, seed: int, turns: int) -> list[int]:
    order = list(range(total))
    random.Random(f"order {seed} {turns}").shuffle(order)
    return order


def _random_stones(stones: tuple[int, int], size: int, seed: int, turn: int) -> Opening:
    source = random.Random(f"stones {seed} {turn}")
    while True:
        opening = source.sample(range(size * size), source.randint(*stones))
        if Position(size, bits(opening[::2]), bits(opening[1::2]), "black").winner() is None:
            return tuple(opening)
