"""What must hold of every artifact: `validate(path)` names each breach in a file or folder by file, row and rule."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hexdata import audit, engine
from hexdata.board import MAX_SIZE, MIN_SIZE, packed_width
from hexdata.records import SCHEMA_VERSION, BadFile, metadata_of, read_table, rows_hash, schema_for

AUDIT_ROWS, AUDIT_EMPTY, AUDIT_NODES = 10, 20, 50_000
"""Rows of a suite that are proved again, at most a second; `hexdata audit` takes as many as are asked for."""

MOST_PER_RULE = 5
"""Problems named per file and rule: one broken rule often breaks on every row."""


@dataclass(frozen=True)
class Problem:
    file: str
    row: int | None
    rule: str
    message: str


@dataclass
class Report:
    files: int = 0
    rows: int = 0
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class Stones:
    """Unpacked stones of rows: P x cells of 0 or 1."""

    black: NDArray[np.uint8]
    white: NDArray[np.uint8]
    to_move: NDArray[np.uint8]
    ply: NDArray[np.int64]


def validate(path: Path) -> Report:
    """Check one Parquet file, or every one below a folder and what must hold between them."""
    if not path.exists():
        raise BadFile(f"{path}: no such file or folder")
    report = Report()
    paths = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not paths:
        raise BadFile(f"{path}: no Parquet files here")
    sides: dict[tuple[Path, str], set[bytes]] = {}
    for file in paths:
        report.files += 1
        try:
            table = read_table(file)
        except BadFile as error:
            if file == path:
                raise
            report.problems.append(Problem(str(file), None, "readable", str(error)))
            continue
        report.rows += table.num_rows
        report.problems += [Problem(str(file), row, rule, text) for row, rule, text in _check_table(table)]
        side = metadata_of(table).get("split")
        if metadata_of(table).get("kind") == "dataset" and "key" in table.column_names:
            sides.setdefault((file.parent, str(side)), set()).update(table.column("key").to_pylist())
    report.problems += _leaks(sides)
    for sums in sorted(path.rglob("SHA256SUMS")) if path.is_dir() else []:
        report.problems += _checksums(sums)
    return report


def _check_table(table: pa.Table) -> Iterator[tuple[int | None, str, str]]:
    notes = metadata_of(table)
    kind = str(notes.get("kind", ""))
    if notes.get("schema_version") != SCHEMA_VERSION:
        found = notes.get("schema_version")
        yield None, "schema_version", f"schema version {found}, expected {SCHEMA_VERSION}"
        return
    if "size" not in table.column_names:
        yield None, "schema", "there is no column `size`"
        return
    sizes = set(table.column("size").to_pylist())
    size = next(iter(sizes), MIN_SIZE)
    if len(sizes) > 1 or size is None or not MIN_SIZE <= size <= MAX_SIZE:
        yield None, "size", f"sizes {sorted(map(str, sizes))}, expected one of {MIN_SIZE} to {MAX_SIZE}"
        return
    try:
        expected = schema_for(kind, size)
    except KeyError:
        yield None, "schema", f"unknown kind of table {kind!r}"
        return
    if not table.num_rows and kind != "games":
        size = None  # an empty side cannot tell its board size
    elif not table.schema.equals(expected, check_metadata=False):
        missing = [f.name for f in expected if f not in table.schema]
        extra = [f.name for f in table.schema if f not in expected]
        yield None, "schema", f"columns differ: expected {missing or 'another order'}, found {extra}"
        return
    if notes.get("rows_sha256") != rows_hash(table):
        yield None, "rows_sha256", "the rows are not the ones that were written"
    if table.num_rows and size is not None:
        sound = True
        for problem in _first_few(_CHECKS[kind](table, size)):
            sound = False
            yield problem
        if sound and kind in ("games", "suite", "openings"):  # what breaks the rules of Hex cannot be searched
            yield from _first_few(_audit(table))


def _audit(table: pa.Table) -> Iterator[tuple[int | None, str, str]]:
    rows = audit.draw(audit.empty_cells(table, "the table"), AUDIT_ROWS, seed=0, most_empty=AUDIT_EMPTY)
    for checked in audit.audit_rows(table, rows, "the table", AUDIT_NODES):
        for difference in checked.differences:
            yield difference.row, "audit", str(difference)


def _first_few(found: Iterator[tuple[int | None, str, str]]) -> Iterator[tuple[int | None, str, str]]:
    counts: dict[str, int] = {}
    for row, rule, text in found:
        counts[rule] = counts.get(rule, 0) + 1
        if counts[rule] <= MOST_PER_RULE:
            yield row, rule, text
    for rule, count in counts.items():
        if count > MOST_PER_RULE:
            yield None, rule, f"and {count - MOST_PER_RULE} more rows"


def _games(table: pa.Table, size: int) -> Iterator[tuple[int | None, str, str]]:
    moves = table.column("moves").combine_chunks()
    lengths = moves.value_lengths().to_numpy()
    flat = moves.flatten().to_numpy()
    ends = np.cumsum(lengths)
    for name in ("budget", "root_value", "visits", "sampled"):
        wrong = np.flatnonzero(table.column(name).combine_chunks().value_lengths().to_numpy() != lengths)
        for row in wrong.tolist():
            yield row, "per_move", f"{name} has not one entry per move"
    winners, visits = table.column("winner").to_pylist(), table.column("visits").to_pylist()
    openings = table.column("opening_length").to_pylist()
    ids = table.column("game_id").to_pylist()
    if len(set(ids)) < len(ids):
        yield None, "unique", "a game_id stands twice"
    for row, game in enumerate(np.split(flat, ends[:-1])):
        try:
            replayed = engine.replay(size, game, np.array([0, len(game)]))
        except ValueError as error:
            yield row, "legal", str(error)
            continue
        expected = ("black", "white", None)[int(replayed["winner"][0])]
        if winners[row] != expected and table.column("ended_by")[row].as_py() == "chain":
            yield row, "winner", f"winner {winners[row]}, but the stones say {expected}"
        if openings[row] > len(game):
            yield row, "opening_length", f"{openings[row]} opening stones in {len(game)} moves"
        for ply, seen in enumerate(visits[row][: len(game)]):
            if set(seen["cells"]) & set(game[:ply].tolist()):
                yield row, "visits", f"ply {ply}: a visited cell is taken"
            elif len(seen["cells"]) != len(seen["counts"]):
                yield row, "visits", f"ply {ply}: cells and counts differ in length"


def _stones(table: pa.Table, size: int) -> Stones:
    width = packed_width(size)

    def plane(name: str) -> NDArray[np.uint8]:
        raw = np.frombuffer(b"".join(table.column(name).to_pylist()), np.uint8).reshape(-1, width)
        return np.unpackbits(raw, axis=1, bitorder="little")

    to_move = np.array([colour == "white" for colour in table.column("to_move").to_pylist()], np.uint8)
    return Stones(plane("black"), plane("white"), to_move, table.column("ply").to_numpy().astype(np.int64))


def _positions(table: pa.Table, size: int) -> Iterator[tuple[int | None, str, str]]:
    """Legal, undecided, in turn, and under the right key."""
    stones = _stones(table, size)
    cells = size * size
    both = np.flatnonzero((stones.black & stones.white).any(axis=1)).tolist()
    outside = np.flatnonzero((stones.black[:, cells:] | stones.white[:, cells:]).any(axis=1)).tolist()
    yield from ((row, "stones", "a cell holds both colours") for row in both)
    yield from ((row, "stones", "a stone lies outside the board") for row in outside)
    if both or outside:
        return  # the rules say nothing about what cannot be on a board
    blacks, whites = stones.black.sum(axis=1).astype(int), stones.white.sum(axis=1).astype(int)
    for row in np.flatnonzero(blacks + whites != stones.ply).tolist():
        yield row, "ply", f"ply {stones.ply[row]}, but {blacks[row] + whites[row]} stones"
    swapped = np.zeros(len(blacks), bool)
    if "symmetry" in table.column_names:
        swapped = table.column("symmetry").to_numpy() >= 2
    ahead = np.where(swapped, whites - blacks, blacks - whites)
    turn = np.where(swapped, 1 - stones.to_move, stones.to_move)
    for row in np.flatnonzero(ahead != turn).tolist():
        yield row, "turn", f"{blacks[row]} black and {whites[row]} white stones, but it is the other side's turn"
    packed = [np.packbits(plane, axis=1, bitorder="little") for plane in (stones.black, stones.white)]
    won = engine.winners(size, packed[0], packed[1])
    for row in np.flatnonzero(won != 2).tolist():
        yield row, "undecided", "somebody has already won"
    keys, symmetry = engine.keys(size, packed[0], packed[1], stones.to_move)
    stored = table.column("key").to_pylist()
    for row, key in enumerate(keys):
        if key.tobytes() != stored[row]:
            yield row, "key", "the key is not that of the stones"
    if "symmetry" not in table.column_names:
        for row in np.flatnonzero(symmetry != 0).tolist():
            yield row, "image", "not the image that a row stores"
        for row in range(1, len(stored)):
            if stored[row - 1] >= stored[row]:
                yield row, "sorted", "keys are not strictly ascending"


def _examples(table: pa.Table, size: int) -> Iterator[tuple[int | None, str, str]]:
    yield from _positions(table, size)
    stones = _stones(table, size)
    taken = (stones.black | stones.white)[:, : size * size].astype(bool)
    columns = {name: table.column(name).to_pylist() for name in table.column_names if name not in ("black", "white")}
    for cells_name, counts_name in (("policy_cells", "policy_visits"), ("played_cells", "played_counts")):
        for row, cells in enumerate(columns[cells_name]):
            if any(cell >= size * size or taken[row, cell] for cell in cells):
                yield row, "policy", f"{cells_name} has a cell that is taken or off the board"
            elif cells != sorted(set(cells)):
                yield row, "policy", f"{cells_name} is not sorted and distinct"
            elif len(cells) != len(columns[counts_name][row]):
                yield row, "policy", f"{cells_name} and {counts_name} differ in length"
    for row, z_sum in enumerate(columns["z_sum"]):
        count = columns["z_count"][row]
        if count == 0 or abs(z_sum) > count or (count + z_sum) % 2:
            yield row, "z", f"z_sum {z_sum} cannot come from {count} games"
        if sum(columns["played_counts"][row]) != columns["games"][row] or count != columns["games"][row]:
            yield row, "games", "played_counts and z_count do not add up to the number of games"
        if columns["sampled_count"][row] > columns["games"][row]:
            yield row, "sampled_count", "more sampled moves than games"
        if columns["proved"][row] not in (None, 1, -1):
            yield row, "proved", f"proved is {columns['proved'][row]}, expected +1, -1 or null"


def _suite(table: pa.Table, size: int) -> Iterator[tuple[int | None, str, str]]:
    yield from _positions(table, size)
    stones = _stones(table, size)
    empty = ~(stones.black | stones.white)[:, : size * size].astype(bool)
    for row, found in enumerate(table.select(["value", "winning_moves", "losing_moves", "unknown_moves"]).to_pylist()):
        wins, losses, unknown = found["winning_moves"], found["losing_moves"], found["unknown_moves"]
        if sorted(wins + losses + unknown) != np.flatnonzero(empty[row]).tolist():
            yield row, "moves", "the three move lists do not cover the empty cells once each"
        value = 1 if wins else (-1 if not unknown else None)
        if found["value"] != value:
            yield row, "value", f"value {found['value']}, but the moves say {value}"


def _openings(table: pa.Table, size: int) -> Iterator[tuple[int | None, str, str]]:
    if table.column("cell").to_pylist() != list(range(size * size)):
        yield None, "cells", "expected every first move once, in order"
    for row, winner in enumerate(table.column("winner").to_pylist()):
        if winner not in ("black", "white", "unknown"):
            yield row, "winner", f"winner {winner!r}, expected black, white or unknown"


_CHECKS: dict[str, Callable[[pa.Table, int], Iterator[tuple[int | None, str, str]]]] = {
    "games": _games,
    "examples": _examples,
    "dataset": _examples,
    "augmented": _examples,
    "suite": _suite,
    "openings": _openings,
}


def _leaks(sides: dict[tuple[Path, str], set[bytes]]) -> list[Problem]:
    problems = []
    for (folder, side), keys in sides.items():
        for (other_folder, other), others in sides.items():
            if folder == other_folder and side < other and keys & others:
                text = f"{len(keys & others)} orbits stand in {side} and in {other}"
                problems.append(Problem(str(folder), None, "leak", text))
    return problems


def _checksums(sums: Path) -> list[Problem]:
    problems = []
    for number, line in enumerate(sums.read_text().splitlines()):
        digest, _, name = line.partition("  ")
        file = sums.parent / name
        if not file.is_file():
            problems.append(Problem(str(sums), number, "checksum", f"{name} is missing"))
        elif hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            problems.append(Problem(str(sums), number, "checksum", f"{name} has other bytes"))
    return problems
