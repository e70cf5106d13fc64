"""Proved labels, proved again: a sample is compared with plain proof search that shares nothing with the solver.

Only positions with few empty cells can be searched without any knowledge; how many are too large is always told.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from hexdata import engine
from hexdata.board import Cell, Colour, Position, bits, cell_name, cells, other, unpack
from hexdata.records import BadFile, read_table
from hexdata.rows import kind_of

Place = TypeVar("Place", int, tuple[Path, int])

MOST_EMPTY = 24
"""Empty cells of the largest positions that are tried: 5x5 openings, 6x6 with 12 stones."""
LIMIT_NODES = 1_000_000
"""For a position with all its moves: two or three seconds."""


@dataclass(frozen=True)
class Claim:
    """What a row says is proved."""

    position: Position
    winner: Colour | None
    moves: dict[Cell, str]
    """`win` or `loss` for the side to move, of the moves that have a label."""


@dataclass(frozen=True)
class Difference:
    row: int
    move: str | None
    """None when it is the winner that differs."""
    stored: str
    proved: str

    def __str__(self) -> str:
        return self.told("plain search")

    def told(self, by: str) -> str:
        what = f"{self.move} is labelled a {self.stored}" if self.move else f"{self.stored} is said to win"
        if self.proved == "illegal":
            return f"{what}, but is no legal move"
        return f"{what}, but {by} proves {'a ' if self.move else ''}{self.proved}"


@dataclass(frozen=True)
class Checked:
    """One row, compared: how many of its labels were proved again, how many were not within the node budget."""

    row: int
    labels: int = 0
    unproved: int = 0
    differences: list[Difference] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """Which rows to prove again, by file."""

    files: int
    rows: int
    """Rows with proved values, in all files."""
    too_large: int
    """Of these, rows with more empty cells than `most_empty`."""
    most_empty: int
    chosen: dict[Path, list[int]]


def plan(path: Path, sample: int, seed: int, most_empty: int = MOST_EMPTY) -> Plan:
    """Draw rows from a Parquet file or from all files below a folder; the same seed draws the same rows."""
    if not path.exists():
        raise BadFile(f"{path}: no such file or folder")
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    counts: dict[tuple[Path, int], int] = {}
    for file in files:
        counts |= {(file, row): count for row, count in empty_cells(read_table(file), str(file)).items()}
    if not counts:
        raise BadFile(f"{path}: no proved values here: expected a suite, an openings table or proved examples")
    chosen: dict[Path, list[int]] = {}
    for file, row in draw(counts, sample, seed, most_empty):
        chosen.setdefault(file, []).append(row)
    too_large = sum(count > most_empty for count in counts.values())
    return Plan(len(files), len(counts), too_large, most_empty, chosen)


def draw(counts: dict[Place, int], sample: int, seed: int, most_empty: int, larger: bool = False) -> list[Place]:
    """Some of the places with few enough empty cells, or with more than that, in order."""
    small = [place for place, count in counts.items() if (count > most_empty) == larger]
    return sorted(random.Random(f"audit {seed}").sample(small, min(sample, len(small))))


def empty_cells(table: pa.Table, name: str) -> dict[int, int]:
    """The empty cells of each row that has a proved value; other rows are left out."""
    kind = kind_of(table)
    try:
        if kind == "openings":
            columns = [table.column(column).to_pylist() for column in ("winner", "size")]
            return {row: n * n - 1 for row, (winner, n) in enumerate(zip(*columns, strict=True)) if winner != "unknown"}
        if kind == "games":
            columns = [table.column(column).to_pylist() for column in ("ended_by", "size", "moves")]
            found = enumerate(zip(*columns, strict=True))
            return {row: n * n - len(moves) for row, (ended_by, n, moves) in found if ended_by == "proof"}
        value = "value" if kind == "suite" else "proved"
        if value not in table.column_names:
            return {}
        columns = [table.column(column).to_pylist() for column in (value, "size", "black", "white")]
        found = enumerate(zip(*columns, strict=True))
        # a suite's row whose winner is unknown may still have losing moves
        return {
            row: n * n - unpack(black).bit_count() - unpack(white).bit_count()
            for row, (proved, n, black, white) in found
            if proved is not None or kind == "suite"
        }
    except (KeyError, TypeError) as error:
        raise BadFile(f"{name}: not a table of {kind} ({type(error).__name__}: {error})") from None


def claim_of(kind: str, row: dict[str, Any]) -> Claim:
    """ValueError if the row is no position."""
    size = row["size"]
    if kind == "openings":
        return Claim(Position(size, bits([row["cell"]]), 0, "white"), row["winner"], {})
    if kind == "games":
        return Claim(Position.after(size, row["moves"]), row["winner"], {})
    mover: Colour = row["to_move"]
    value = row["value"] if kind == "suite" else row["proved"]
    winner = None if value is None else mover if value > 0 else other(mover)
    moves = dict.fromkeys(row.get("winning_moves", []), "win") | dict.fromkeys(row.get("losing_moves", []), "loss")
    return Claim(Position(size, unpack(row["black"]), unpack(row["white"]), mover), winner, moves)


def audit_rows(
    table: pa.Table, rows: list[int], name: str, limit_nodes: int = LIMIT_NODES, by_solver: bool = False
) -> Iterator[Checked]:
    """Compare these rows one by one; `name` is what errors call the table.

    The solver itself instead of plain search proves large positions, too: that finds what was damaged since, not what
    the solver has always got wrong.
    """
    kind = kind_of(table)
    for number, row in zip(rows, table.take(pa.array(rows, pa.int64())).to_pylist(), strict=True):
        try:
            claim = claim_of(kind, row)
        except ValueError as error:
            raise BadFile(f"{name}: row {number}: {error}") from None
        yield compare(number, claim, limit_nodes, by_solver)


def compare(row: int, claim: Claim, limit_nodes: int, by_solver: bool = False) -> Checked:
    position = claim.position
    stones = list(cells(position.black)), list(cells(position.white))
    all_moves = bool(claim.moves)
    found: engine.Solution | engine.Reproof
    if by_solver:
        found = engine.solve(position.size, *stones, position.to_move, all_moves=all_moves, limit_nodes=limit_nodes)
    else:
        found = engine.reprove(position.size, *stones, position.to_move, all_moves=all_moves, limit_nodes=limit_nodes)
    proved = dict.fromkeys(found.winning_moves, "win") | dict.fromkeys(found.losing_moves, "loss")
    proved |= dict.fromkeys(found.unknown_moves, "unknown")
    answers: list[tuple[str | None, str, str]] = [
        (cell_name(move, position.size), label, proved.get(move, "illegal")) for move, label in claim.moves.items()
    ]
    if claim.winner is not None:
        answers.append((None, claim.winner, found.winner))
    differences = [Difference(row, *answer) for answer in answers if answer[2] not in (answer[1], "unknown")]
    unproved = sum(answer == "unknown" for *_, answer in answers)
    return Checked(row, len(answers) - unproved, unproved, differences)


def audit(chosen: dict[Path, list[int]], limit_nodes: int = LIMIT_NODES) -> Iterator[tuple[Path, Checked]]:
    """Every chosen row as soon as it is compared, so that a caller who is interrupted keeps what was done."""
    for file, rows in chosen.items():
        for checked in audit_rows(read_table(file), rows, str(file), limit_nodes):
            yield file, checked
