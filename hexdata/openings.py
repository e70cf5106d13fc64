"""Which first stones a game starts from. A campaign sweeps its openings in turn, so every one gets its share."""

from __future__ import annotations

from itertools import permutations
from typing import Literal, TypeAlias

from hexdata.board import Cell

Scheme: TypeAlias = Literal["empty", "one-stone", "two-stone"]

STONES: dict[Scheme, int] = {"empty": 0, "one-stone": 1, "two-stone": 2}


def openings(scheme: Scheme, size: int) -> list[tuple[Cell, ...]]:
    """All ordered sequences of the scheme's number of stones, Black's first."""
    return list(permutations(range(size * size), STONES[scheme]))


def sweep(scheme: Scheme, size: int, first: int, count: int) -> list[tuple[Cell, ...]]:
    """The openings of games `first` to `first + count - 1` of a campaign."""
    pool = openings(scheme, size)
    return [pool[game % len(pool)] for game in range(first, first + count)]
