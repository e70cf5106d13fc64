"""What must hold of every artifact: `validate(path, …)` names each breach in files and folders by file, row and rule.

What must hold between files is checked within a campaign or release, over all paths at once; what could not be checked
because its other half is elsewhere is told too."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import ValidationError

from hexdata import audit, engine
from hexdata.augment import augment
from hexdata.board import MAX_SIZE, MIN_SIZE, SYMMETRIES, packed_width
from hexdata.dedup import found_in, keys_of_rows
from hexdata.external import is_external
from hexdata.label import Label
from hexdata.leaks import InKeyOrder, recount
from hexdata.params import DatasetParams
from hexdata.records import SCHEMA_VERSION, BadFile, augmented_schema, metadata_of, read_table, rows_hash, schema_for
from hexdata.split import AUGMENTATIONS
from hexdata.suites import openings_json, suite_json

AUDIT_ROWS, AUDIT_EMPTY, AUDIT_NODES = 10, 20, 50_000
"""Rows of a suite that are proved again, at most a second; `hexdata audit` takes as many as are asked for."""

NUMBERED = re.compile(r"(.+)-([0-9]{5})-of-([0-9]{5})\.parquet")
SHARD = re.compile(r"(?:games-([0-9]+)|train-([0-9]+)-of-[0-9]+)\.parquet")
"""The names of a shard of games, in a campaign and in a release."""
SIDES = ("train", "validation", "test")
LARGE_ROWS, LARGE_NODES = 3, 2_000
"""Rows of a file with more empty cells, which only the solver itself can prove: a quarter of a second each on 9x9."""

ENDS = ("chain", "proof", "resign")
RELEASED = ("croissant.json", "provenance.json")
"""What only a release has."""

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
    notes: list[str] = field(default_factory=list)
    """What was not checked, and why: no problem, but no proof of the contrary either."""
    large: int = 0
    """Rows whose proofs are too large for plain search, and how many of them the solver proved again."""
    solved_again: int = 0

    def remarks(self) -> list[str]:
        if not self.large:
            return self.notes
        large = (
            f"{self.large:,} rows with proved values have more than {AUDIT_EMPTY} empty cells, too many for plain "
            f"search; the solver proved {self.solved_again:,} of them again, which finds damage but no fault of its own"
        )
        return [*self.notes, large]


@dataclass(frozen=True)
class Stones:
    """Unpacked stones of rows: P x cells of 0 or 1."""

    black: NDArray[np.uint8]
    white: NDArray[np.uint8]
    to_move: NDArray[np.uint8]
    ply: NDArray[np.int64]


@dataclass(frozen=True)
class Sound:
    """A file without a problem of its own, and what files must agree on."""

    path: Path
    kind: str
    notes: dict[str, object]
    keys: NDArray[np.bytes_]
    """Ids of games; none for openings."""
    home: str
    """Its campaign or release."""

    @property
    def folder(self) -> Path:
        return self.path.parent


@dataclass(frozen=True)
class Everything:
    """The sound files of all paths, what was found of them, and where to tell what cannot be checked."""

    sound: list[Sound]
    notes: list[str]
    whole: set[Path]
    """Folders without a file that is missing, damaged or not among the paths."""

    def folders(self, *kinds: str) -> dict[Path, list[Sound]]:
        found: dict[Path, list[Sound]] = {}
        for file in self.sound:
            if file.kind in kinds:
                found.setdefault(file.folder, []).append(file)
        return found

    def beside(self, home: str, kind: str) -> list[Sound]:
        """The files of a kind of the same campaign or release."""
        return [file for file in self.sound if file.kind == kind and file.home == home]


KINDS_OF_FOLDERS = ("games", "examples", "dataset", "augmented", "suites", "openings")


def homes(files: Sequence[Path]) -> dict[Path, str]:
    """The campaign (data/KIND/CAMPAIGN/…) or release (RELEASE/data/KIND/…) of each file, by where it lies.

    Positions of one campaign's suite may well be in another's train. What lies elsewhere belongs together, and to the
    campaign or release if there is only one.
    """
    found = {}
    for file in files:
        folder = Path(os.path.abspath(file)).parent
        if folder.parent.name in KINDS_OF_FOLDERS:
            found[file] = f"{folder.parent.parent}/*/{folder.name}"
        else:
            found[file] = str(folder.parent) if folder.name in KINDS_OF_FOLDERS else ""
    known = set(found.values()) - {""}
    return {file: home or (min(known) if len(known) == 1 else "") for file, home in found.items()}


def validate(*paths: Path) -> Report:
    """Check Parquet files, every one below folders, and what must hold between all of them."""
    report = Report()
    found_files: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise BadFile(f"{path}: no such file or folder")
        below = _below(path, "*.parquet") if path.is_dir() else [path]
        if not below:
            raise BadFile(f"{path}: no Parquet files here")
        found_files.update(below)
    named = sorted(found_files)
    home_of = homes(named)
    sound: list[Sound] = []
    for file in named:
        report.files += 1
        try:
            table = read_table(file)
        except BadFile as error:
            if file in paths:
                raise
            report.problems.append(Problem(str(file), None, "readable", str(error)))
            continue
        report.rows += table.num_rows
        found = [Problem(str(file), row, rule, text) for row, rule, text in _check_table(file, table, report)]
        report.problems += found
        if all(problem.rule == "rows_sha256" for problem in found):
            notes = metadata_of(table)
            names = [name for name in ("key", "game_id") if name in table.column_names]
            keys = keys_of_rows(table, names[0]) if names else np.zeros(0, "S16")
            sound.append(Sound(file, str(notes["kind"]), notes, keys, home_of[file]))
    folders = [path for path in paths if path.is_dir()]
    below_folders = [file for file in named if any(file.is_relative_to(folder) for folder in folders)]
    everything = Everything(sound, report.notes, {file.parent for file in below_folders})
    everything.whole.difference_update(file.parent for file in set(named) - {file.path for file in sound})
    places = [*_sets(below_folders), *_sides(everything, below_folders)]
    everything.whole.difference_update(place if place.is_dir() else place.parent for place, *_ in places)
    for check in (_json, _order, _ids, _leaks, _copied_leaks, _copies, _counts):
        places += check(everything)
    lists = {file.parent for folder in folders for name in ("SHA256SUMS", *RELEASED) for file in _below(folder, name)}
    for folder in sorted(lists):
        places += _checksums(folder)
    report.problems += [Problem(str(file), row, rule, text) for file, row, rule, text in places]
    return report


def _below(folder: Path, pattern: str) -> list[Path]:
    """Files below a folder, without what is hidden there: work that is not finished, and other programs' own."""
    found = sorted(folder.rglob(pattern))
    return [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


def _check_table(file: Path, table: pa.Table, report: Report) -> Iterator[tuple[int | None, str, str]]:
    notes = metadata_of(table)
    kind = str(notes.get("kind", ""))
    if notes.get("schema_version") != SCHEMA_VERSION:
        found = notes.get("schema_version")
        yield None, "schema_version", f"schema version {found}, expected {SCHEMA_VERSION}"
        return
    if "size" not in table.column_names:
        yield None, "schema", "there is no column `size`"
        return
    if not pa.types.is_integer(table.schema.field("size").type):
        yield None, "schema", f"`size` is a column of {table.schema.field('size').type}, expected whole numbers"
        return
    sizes = table.column("size").to_pylist()
    size = sizes[0] if sizes else MIN_SIZE
    for row, found in enumerate(sizes):
        if found != size or found is None or not MIN_SIZE <= found <= MAX_SIZE:
            yield row, "size", f"size {found}, expected one size of {MIN_SIZE} to {MAX_SIZE} in all rows"
            return
    # an empty side cannot tell its board size
    possible = [size] if sizes else range(MIN_SIZE, MAX_SIZE + 1)
    try:
        schemas = [schema_for(kind, n) for n in possible]
    except KeyError:
        yield None, "schema", f"unknown kind of table {kind!r}"
        return
    if not any(table.schema.equals(schema, check_metadata=False) for schema in schemas):
        expected = schemas[0]
        missing = [f.name for f in expected if f not in table.schema]
        extra = [f.name for f in table.schema if f not in expected]
        yield None, "schema", f"columns differ: expected {missing or 'another order'}, found {extra}"
        return
    if notes.get("rows_sha256") != rows_hash(table):
        yield None, "rows_sha256", "the rows are not the ones that were written"
    if "dataset" in notes and (fault := _fault_of_params(notes["dataset"])):
        yield None, "metadata", f"its note `dataset` holds no parameters of a dataset: {fault}"
    if table.num_rows:
        sound = True
        checks = [_CHECKS[kind](table, size)]
        if kind == "games":
            checks.append(_origin(file, table))
        for problem in _first_few(chain(*checks)):
            sound = False
            yield problem
        if sound:  # what breaks the rules of Hex cannot be searched
            yield from _first_few(_audit(table, report))


def _fault_of_params(noted: object) -> str | None:
    try:
        DatasetParams.model_validate(noted)
    except ValidationError as error:
        first = error.errors()[0]
        return ": ".join([*map(str, first["loc"]), first["msg"].lower()])
    return None


def _audit(table: pa.Table, report: Report) -> Iterator[tuple[int | None, str, str]]:
    empty = audit.empty_cells(table, "the table")
    rows = audit.draw(empty, AUDIT_ROWS, seed=0, most_empty=AUDIT_EMPTY)
    for checked in audit.audit_rows(table, rows, "the table", AUDIT_NODES):
        for difference in checked.differences:
            yield difference.row, "audit", str(difference)
    report.large += sum(cells > AUDIT_EMPTY for cells in empty.values())
    large = audit.draw(empty, LARGE_ROWS, seed=0, most_empty=AUDIT_EMPTY, larger=True)
    for checked in audit.audit_rows(table, large, "the table", LARGE_NODES, by_solver=True):
        report.solved_again += checked.labels > 0
        for difference in checked.differences:
            yield difference.row, "audit", difference.told("the solver")


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
    values = table.column("root_value").combine_chunks()
    row_of = np.repeat(np.arange(len(values)), values.value_lengths().to_numpy())
    for row in np.unique(row_of[~(np.abs(values.flatten().to_numpy()) <= 1)]).tolist():
        yield row, "root_value", "a root_value is not a number from -1 to 1"
    games = table.drop_columns(["budget", "root_value"]).to_pylist()
    seen_ids: dict[bytes, int] = {}
    for row, game in enumerate(games):
        if game["winner"] not in ("black", "white"):
            yield row, "winner", f"winner {game['winner']!r}, expected black or white"
        if game["ended_by"] not in ENDS:
            yield row, "ended_by", f"ended by {game['ended_by']!r}, expected {', '.join(ENDS)}"
        if seen_ids.setdefault(game["game_id"], row) != row:
            yield row, "unique", f"its game_id is that of row {seen_ids[game['game_id']]}"
        if game["game_id"] not in _game_ids(game):
            yield row, "game_id", "the game_id is not that of its moves and of where they come from"
    for row, played in enumerate(np.split(flat, ends[:-1])):
        try:
            replayed = engine.replay(size, played, np.array([0, len(played)]))
        except ValueError as error:
            yield row, "legal", str(error)
            continue
        joined = ("black", "white", None)[int(replayed["winner"][0])]
        yield from ((row, rule, text) for rule, text in chain(_end(games[row], joined), _visits(games[row], size)))


def _game_ids(game: dict[str, Any]) -> list[bytes]:
    """What its id can be: imported games have no engine, and those of a match are named by a swap, too."""
    size, black, white, swapped = (game[name] for name in ("size", "black", "white", "swapped"))
    played = f"{game['seed']} {game['engine_version']} "
    origins = [f"{game['campaign']} {size} {black if black == white else f'{black} {white}'} {played}"]
    if not game["engine_version"]:
        origins = [f"import {size} {game['winner']} {swapped} {black!r} {white!r} "]
    elif game["campaign"] == "match":
        origins.append(f"match {size} {black} {white} {swapped} {played}")
    moves = np.array(game["moves"], "<u2").tobytes()
    return [hashlib.sha256(origin.encode() + moves).digest()[:16] for origin in origins]


def _end(game: dict[str, Any], joined: str | None) -> Iterator[tuple[str, str]]:
    """`joined` is the winner by the stones. A game of ours may have no moves: the solver may prove the empty board, and
    an external engine may resign on it."""
    winner, ended_by, moves, opening = (game[name] for name in ("winner", "ended_by", "moves", "opening_length"))
    if joined and winner != joined:
        yield "winner", f"winner {winner}, but the stones say {joined}"
    if not joined and ended_by == "chain":
        yield "winner", f"{winner} is said to win by a chain, but nobody has joined two sides"
    if joined and ended_by in ("proof", "resign"):
        yield "ended_by", f"ended by {ended_by}, but {joined} has joined two sides"
    loser = game["white" if winner == "black" else "black"]
    if ended_by == "resign" and game["engine_version"] and not is_external(loser):
        yield "ended_by", f"{loser} is said to resign, which only external engines do"
    if opening > len(moves):
        yield "opening_length", f"{opening} opening stones in {len(moves)} moves"
    elif joined and opening == len(moves):
        yield "opening_length", f"the opening of {opening} stones has joined two sides"
    if not moves and not game["engine_version"]:
        yield "legal", "an imported game without moves"


def _visits(game: dict[str, Any], size: int) -> Iterator[tuple[str, str]]:
    moves = game["moves"]
    for ply, (move, seen, drawn) in enumerate(zip(moves, game["visits"], game["sampled"], strict=False)):
        cells = set(seen["cells"])
        if cells & set(moves[:ply]):
            yield "visits", f"ply {ply}: a visited cell is taken"
        elif any(cell >= size * size for cell in cells):
            yield "visits", f"ply {ply}: a visited cell is off the board"
        elif len(seen["cells"]) != len(seen["counts"]):
            yield "visits", f"ply {ply}: cells and counts differ in length"
        elif len(cells) != len(seen["cells"]):
            yield "visits", f"ply {ply}: a cell is visited twice"
        elif ply < game["opening_length"] and (cells or drawn):
            yield "visits", f"ply {ply}: a stone of the opening is said to be searched"
        elif drawn and move not in cells:  # moves that are not drawn may be proved, and without visits
            yield "visits", f"ply {ply}: the move was drawn from visits, but has none"


def _origin(file: Path, table: pa.Table) -> Iterator[tuple[int | None, str, str]]:
    """Games are of the campaign and the shard that their file names."""
    noted, shard = metadata_of(table).get("campaign"), SHARD.fullmatch(file.name)
    number = int(shard[1] or shard[2]) if shard else None
    columns = (table.column(name).to_pylist() for name in ("campaign", "shard"))
    for row, (campaign, found) in enumerate(zip(*columns, strict=True)):
        if noted is not None and campaign != noted:
            yield row, "campaign", f"campaign {campaign!r}, but the file is of {noted!r}"
        if number is not None and found != number:
            yield row, "shard", f"shard {found}, expected {number} in a file of this name"


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
    for row, mover in enumerate(table.column("to_move").to_pylist()):
        if mover not in ("black", "white"):
            yield row, "turn", f"to_move is {mover!r}, expected black or white"
    both = np.flatnonzero((stones.black & stones.white).any(axis=1)).tolist()
    outside = np.flatnonzero((stones.black[:, cells:] | stones.white[:, cells:]).any(axis=1)).tolist()
    yield from ((row, "stones", "a cell holds both colours") for row in both)
    yield from ((row, "stones", "a stone lies outside the board") for row in outside)
    if both or outside:
        return  # the rules say nothing about what cannot be on a board
    blacks, whites = stones.black.sum(axis=1).astype(int), stones.white.sum(axis=1).astype(int)
    for row in np.flatnonzero(blacks + whites != stones.ply).tolist():
        yield row, "ply", f"ply {stones.ply[row]}, but {blacks[row] + whites[row]} stones"
    copied = table.column("symmetry").to_numpy() if "symmetry" in table.column_names else None
    swapped = np.zeros(len(blacks), bool) if copied is None else copied >= 2
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
    if copied is None:
        for row in np.flatnonzero(symmetry != 0).tolist():
            yield row, "image", "not the image that a row stores"
        for row in range(1, len(stored)):
            if stored[row - 1] >= stored[row]:
                yield row, "sorted", "keys are not strictly ascending"
        return
    for row in np.flatnonzero(copied >= len(SYMMETRIES)).tolist():
        yield row, "symmetry", f"symmetry {copied[row]}, expected 0 to {len(SYMMETRIES) - 1}"
    for row, (before, after) in enumerate(pairwise(zip(stored, copied.tolist(), strict=True)), start=1):
        if before >= after:
            yield row, "sorted", "keys and symmetries are not strictly ascending"


def _examples(table: pa.Table, size: int) -> Iterator[tuple[int | None, str, str]]:
    yield from _positions(table, size)
    stones = _stones(table, size)
    taken = (stones.black | stones.white)[:, : size * size].astype(bool)
    for cells_name, counts_name in (("policy_cells", "policy_visits"), ("played_cells", "played_counts")):
        yield from _cell_lists(table, size, taken, cells_name, counts_name)
    names = ("z_sum", "z_count", "games", "sampled_count", "plies_left_sum")
    z_sum, z_count, games, sampled, left = (table.column(name).to_numpy().astype(np.int64) for name in names)
    for row in np.flatnonzero((z_count == 0) | (np.abs(z_sum) > z_count) | ((z_count + z_sum) % 2 != 0)).tolist():
        yield row, "z", f"z_sum {z_sum[row]} cannot come from {z_count[row]} games"
    lists = table.column("played_counts").combine_chunks()
    row_of = np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy())
    played = np.bincount(row_of, lists.flatten().to_numpy(), len(lists))
    for row in np.flatnonzero((played != games) | (z_count != games)).tolist():
        yield row, "games", "played_counts and z_count do not add up to the number of games"
    for row in np.flatnonzero(sampled > games).tolist():
        yield row, "sampled_count", "more sampled moves than games"
    for row in np.flatnonzero((left < games) | (left > games * (size * size - stones.ply))).tolist():
        yield (
            row,
            "plies_left",
            f"{left[row]} plies left in {games[row]} games with {stones.ply[row]} stones on the board",
        )
    lists = table.column("policy_visits").combine_chunks()
    row_of = np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy())
    most = games.astype(np.uint64)[row_of] * np.uint64(2**32 - 1)
    for row in np.unique(row_of[lists.flatten().to_numpy() > most]).tolist():
        yield row, "policy", f"policy_visits has more visits than {games[row]} games can hold"
    for row, proved in enumerate(table.column("proved").to_pylist()):
        if proved not in (None, 1, -1):
            yield row, "proved", f"proved is {proved}, expected +1, -1 or null"
    weight = table.column("weight").to_numpy()
    for row in np.flatnonzero(~(np.isfinite(weight) & (weight > 0))).tolist():
        yield row, "weight", f"weight {weight[row]}, expected a number above 0"


def _cell_lists(
    table: pa.Table, size: int, taken: NDArray[np.bool_], cells_name: str, counts_name: str
) -> Iterator[tuple[int | None, str, str]]:
    cells, counts = (table.column(name).combine_chunks() for name in (cells_name, counts_name))
    lengths = cells.value_lengths().to_numpy()
    for row in np.flatnonzero(lengths != counts.value_lengths().to_numpy()).tolist():
        yield row, "policy", f"{cells_name} and {counts_name} differ in length"
    zero = np.repeat(np.arange(len(counts)), counts.value_lengths().to_numpy())[counts.flatten().to_numpy() == 0]
    for row in np.unique(zero).tolist():
        yield row, "policy", f"{counts_name} has a count of 0"
    flat = cells.flatten().to_numpy()
    row_of = np.repeat(np.arange(len(lengths)), lengths)
    off = flat >= size * size
    wrong = off | taken[row_of, np.where(off, 0, flat)]
    for row in np.unique(row_of[wrong]).tolist():
        yield row, "policy", f"{cells_name} has a cell that is taken or off the board"
    falls = (np.diff(flat.astype(np.int64)) <= 0) & (np.diff(row_of) == 0)
    for row in np.unique(row_of[1:][falls]).tolist():
        yield row, "policy", f"{cells_name} is not sorted and distinct"


def _suite(table: pa.Table, size: int) -> Iterator[tuple[int | None, str, str]]:
    yield from _positions(table, size)
    stones = _stones(table, size)
    empty = ~(stones.black | stones.white)[:, : size * size].astype(bool)
    for row, found in enumerate(table.drop_columns(["key", "black", "white"]).to_pylist()):
        wins, losses, unknown = found["winning_moves"], found["losing_moves"], found["unknown_moves"]
        if sorted(wins + losses + unknown) != np.flatnonzero(empty[row]).tolist():
            yield row, "moves", "the three move lists do not cover the empty cells once each"
        value = 1 if wins else (-1 if not unknown else None)
        if found["value"] != value:
            yield row, "value", f"value {found['value']}, but the moves say {value}"
        difficulty = Label(None if value is None else "black", [], [], [], found["nodes"]).difficulty
        if found["difficulty"] != difficulty:
            yield row, "difficulty", f"difficulty {found['difficulty']!r}, expected {difficulty!r} of its nodes"


def _openings(table: pa.Table, size: int) -> Iterator[tuple[int | None, str, str]]:
    for row, cell in enumerate(table.column("cell").to_pylist()):
        if cell != row:
            yield row, "cells", f"cell {cell}, expected every first move once, in order"
            return
    if table.num_rows != size * size:
        yield None, "cells", f"{table.num_rows} first moves, expected all {size * size}"
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


Place = tuple[Path, int | None, str, str]


def _sets(files: Sequence[Path]) -> Iterator[Place]:
    """Files that are numbered `-00001-of-00003` are all there, whichever of them are, and of one set."""
    totals: dict[tuple[Path, str], set[int]] = {}
    for file in files:
        if match := NUMBERED.fullmatch(file.name):
            totals.setdefault((file.parent, match[1]), set()).add(int(match[3]))
    for (folder, stem), found in totals.items():
        if len(found) > 1:
            yield folder, None, "files", f"files of {stem} from sets of {' and '.join(map(str, sorted(found)))} files"
        for total in sorted(found):
            for number in range(total):
                name = f"{stem}-{number:05d}-of-{total:05d}.parquet"
                if not (folder / name).is_file():
                    yield folder / name, None, "files", f"missing from the set of {total} files"


def _sides(everything: Everything, whole: Sequence[Path]) -> Iterator[Place]:
    """A dataset's file lies on the side that it names, and a folder has all three sides."""
    for folder, files in everything.folders("dataset").items():
        for file in files:
            match = NUMBERED.fullmatch(file.path.name)
            if match and match[1] != file.notes.get("split"):
                yield file.path, None, "split", f"a file of {match[1]} that was written as {file.notes.get('split')}"
        names = [path.name for path in whole if path.parent == folder]
        for side in SIDES:
            if names and not any(name.startswith(f"{side}-") for name in names):
                yield folder, None, "files", f"no files of {side}: a dataset has all of {', '.join(SIDES)}"


def _json(everything: Everything) -> Iterator[Place]:
    """The JSON beside a suite says what the suite says."""
    shown: dict[str, Callable[[pa.Table], object]] = {"suite": suite_json, "openings": openings_json}
    for file in everything.sound:
        beside = file.path.with_suffix(".json")
        if file.kind not in shown or file.path.stem != file.kind or not beside.is_file():
            continue
        try:
            found = json.loads(beside.read_bytes())
        except ValueError:
            yield beside, None, "json", "not readable as JSON"
            continue
        if found != shown[file.kind](read_table(file.path)):
            yield beside, None, "json", f"not what {file.path.name} says"


def _order(everything: Everything) -> Iterator[Place]:
    """Keys ascend from file to file of a set, too; the copies of one row may lie in two files."""
    last: dict[tuple[Path, str], bytes] = {}
    for file in everything.sound:
        if file.kind not in ("examples", "dataset", "augmented") or not len(file.keys):
            continue
        place = (file.path.parent, file.path.name.split("-")[0])
        if place in last and (file.keys[0], file.kind == "augmented") <= (last[place], False):
            yield file.path, 0, "sorted", "its first key does not follow the last one of the file before"
        last[place] = file.keys[-1]


def _ids(everything: Everything) -> Iterator[Place]:
    """No game twice in a folder."""
    for files in everything.folders("games").values():
        before = files[0].keys
        for file in files[1:]:
            for row in np.flatnonzero(found_in(file.keys, np.sort(before))[0]).tolist()[:MOST_PER_RULE]:
                yield file.path, row, "unique", "its game_id is that of a game in another file of the folder"
            before = np.concatenate([before, file.keys])


def _leaks(everything: Everything) -> Iterator[Place]:
    """No orbit on two sides of a dataset, no position of its campaign's suite in what is learned from."""
    for folder, files in everything.folders("dataset").items():
        suites = everything.beside(files[0].home, "suite")
        if not suites:
            everything.notes.append(
                f"{folder}: not compared with a suite: none of the same campaign is among the paths"
            )
        in_suites = _keys_in_order(suites)
        sides: dict[str, list[Sound]] = {}
        for file in files:
            sides.setdefault(str(file.notes.get("split")), []).append(file)
        keys = {side: _keys_in_order(of_side) for side, of_side in sides.items()}
        for file in files:
            side = str(file.notes.get("split"))
            for other in sorted(other for other in sides if side < other):
                rows = np.flatnonzero(found_in(file.keys, keys[other])[0])
                if len(rows):
                    text = f"{len(rows)} orbits of {side} stand in {other} as well, from this row on"
                    yield file.path, int(rows[0]), "leak", text
            if side in ("train", "validation"):
                rows = np.flatnonzero(found_in(file.keys, in_suites)[0])
                if len(rows):
                    text = f"{len(rows)} positions of a suite stand in {side}, from this row on"
                    yield file.path, int(rows[0]), "leak", text


def _copied_leaks(everything: Everything) -> Iterator[Place]:
    """Copies are learned from as the training rows are."""
    for files in everything.folders("augmented").values():
        home = files[0].home
        held_out = {"a suite": _keys_in_order(everything.beside(home, "suite"))}
        for side in ("validation", "test"):
            of_side = [file for file in everything.beside(home, "dataset") if file.notes.get("split") == side]
            held_out[side] = _keys_in_order(of_side)
        for file in files:
            for name, keys in held_out.items():
                rows = np.flatnonzero(found_in(file.keys, keys)[0])
                if len(rows):
                    text = f"{len(rows)} copies of positions of {name} stand in what is learned from, from this row on"
                    yield file.path, int(rows[0]), "leak", text


def _copies(everything: Everything) -> Iterator[Place]:
    """Augmented rows are what `augment` makes of the training rows, where these are at hand."""
    for folder, files in everything.folders("augmented").items():
        beside = [file for file in everything.beside(files[0].home, "dataset") if file.notes.get("split") == "train"]
        away = f"{folder}: not compared with its training rows: "
        if not beside:
            everything.notes.append(f"{away}none of the same campaign are among the paths")
        elif any(files[0].notes.get(name) != beside[0].notes.get(name) for name in ("dataset", "games_rows_sha256")):
            yield folder, None, "copies", f"made of other training rows than those in {beside[0].folder}"
        elif not {folder, beside[0].folder} <= everything.whole or "dataset" not in files[0].notes:
            everything.notes.append(f"{away}not all files of both are here and sound")
        else:
            yield from _compare_copies(files, [file for file in beside if file.folder == beside[0].folder])


def _compare_copies(files: Sequence[Sound], train: Sequence[Sound]) -> Iterator[Place]:
    """The first row that differs: what follows a missing one differs, too."""
    augmentation = DatasetParams.model_validate(files[0].notes["dataset"]).augment
    due = _copies_due(files, train, augmentation)
    waiting: pa.Table | None = None
    for path, first, found in InKeyOrder([file.path for file in files]).until(None):
        while (waiting is None or waiting.num_rows < found.num_rows) and (more := next(due, None)) is not None:
            waiting = more if waiting is None else pa.concat_tables([waiting, more])
        wanted = found.slice(0, 0) if waiting is None else waiting.slice(0, found.num_rows)
        waiting = None if waiting is None else waiting.slice(found.num_rows)
        row = _first_difference(found, wanted, augmentation == "minority")
        if row is not None:
            yield path, first + row, "copies", "not the copy that follows from the training rows"
            return
    left = (waiting.num_rows if waiting is not None else 0) + sum(table.num_rows for table in due)
    if left:
        yield files[-1].path, None, "copies", f"the last {left} copies that follow from the training rows are missing"


def _copies_due(files: Sequence[Sound], train: Sequence[Sound], augmentation: str) -> Iterator[pa.Table]:
    turned = np.zeros(0, "S16")
    if augmentation == "minority":
        # which rows have a turned copy is known from the games alone
        for file in files:
            rows = read_table(file.path, "augmented", ["key", "symmetry"])
            turned = np.concatenate([turned, keys_of_rows(rows.filter(pc.field("symmetry") == 1))])
    for _, _, rows in InKeyOrder([file.path for file in train]).until(None):
        copies = augment(rows, rows.column("size")[0].as_py(), AUGMENTATIONS.get(augmentation, (0, 1)))
        if augmentation == "minority":
            kept = (copies.column("symmetry").to_numpy() == 0) | found_in(keys_of_rows(copies), turned)[0]
            copies = copies.filter(pa.array(kept))
        yield copies


OF_THE_POSITION = ["key", "size", "black", "white", "to_move", "ply", "proved", "weight", "symmetry"]
"""What a turned row of the minority shares with its training row; the rest counts some of the games."""


def _first_difference(found: pa.Table, wanted: pa.Table, minority: bool) -> int | None:
    schema = augmented_schema(found.column("size")[0].as_py())
    pair = [table.cast(schema) for table in (found, wanted)]
    if pair[0].equals(pair[1]):
        return None
    one, two = ([_compared(row, minority) for row in table.to_pylist()] for table in pair)
    differ = (row for row, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    return next(differ, None if len(one) == len(two) else len(two))


def _compared(row: dict[str, object], minority: bool) -> dict[str, object]:
    return {name: row[name] for name in OF_THE_POSITION} if minority and row["symmetry"] else row


def _keys_in_order(files: Sequence[Sound]) -> NDArray[np.bytes_]:
    return np.sort(np.concatenate([np.zeros(0, "S16"), *(file.keys for file in files)]))


def _counts(everything: Everything) -> Iterator[Place]:
    """Rows are the sums over the games that their notes name, where these games are at hand."""
    shards = everything.folders("games")
    for folder, files in everything.folders("examples", "dataset").items():
        wanted = files[0].notes.get("games_rows_sha256")
        if not isinstance(wanted, dict) or (files[0].kind == "dataset" and "dataset" not in files[0].notes):
            everything.notes.append(f"{folder}: not counted again: its files do not say what they are made from")
            continue
        hashes = sorted(map(str, wanted.values()))
        made_from = (games for games, found in shards.items() if sorted(map(_rows_sha256, found)) == hashes)
        games = next(made_from, None)
        if games is None:
            if beside := everything.beside(files[0].home, "games"):
                yield folder, None, "counts", _other_games(wanted, beside)
            else:
                everything.notes.append(f"{folder}: not counted again: its games are not among the paths")
            continue
        suites = everything.beside(files[0].home, "suite")
        whole = folder in everything.whole
        if whole and (reason := _cannot_tell_what_is_due(files[0], suites)):
            everything.notes.append(f"{folder}: rows that are missing were not looked for: {reason}")
            whole = False
        breaches = recount([file.path for file in files], games, whole=whole, suite=_keys_in_order(suites))
        yield from _few_places((b.path, b.row, "counts", b.message) for b in breaches)


def _cannot_tell_what_is_due(file: Sound, suites: Sequence[Sound]) -> str | None:
    """Why one cannot know which rows a dataset should have."""
    if file.kind != "dataset":
        return None
    params = DatasetParams.model_validate(file.notes["dataset"])
    if params.split == "games" and not suites:
        return "its suite is not among the paths"
    away = next((folder for folder in params.released if not any(Path(folder).glob("train-*.parquet"))), None)
    return f"{away}, which it names as released, is not here" if away else None


def _other_games(wanted: dict[str, object], here: Sequence[Sound]) -> str:
    found = set(map(_rows_sha256, here))
    gone = sorted(name for name, rows in wanted.items() if rows not in found)
    more = len(found - set(map(str, wanted.values())))
    lost = f"{len(gone)} missing or changed ({gone[0]})" if gone else "none missing"
    return f"made from other games than those here: {lost}, {more} others"


def _rows_sha256(file: Sound) -> str:
    return str(file.notes.get("rows_sha256"))


def _few_places(found: Iterator[Place]) -> Iterator[Place]:
    counts: dict[Path, int] = {}
    for path, row, rule, text in found:
        counts[path] = counts.get(path, 0) + 1
        if counts[path] <= MOST_PER_RULE:
            yield path, row, rule, text
    for path, count in counts.items():
        if count > MOST_PER_RULE:
            yield path, None, "counts", f"and {count - MOST_PER_RULE} more rows"


def _checksums(folder: Path) -> Iterator[Place]:
    """Listed files have the bytes that they should have, and a release lists all of its files."""
    sums = folder / "SHA256SUMS"
    try:
        lines = sums.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        yield sums, None, "checksum", "missing: expected the checksums of all files of the release"
        return
    except UnicodeDecodeError:
        yield sums, None, "checksum", "not readable as text"
        return
    listed = {"SHA256SUMS"}
    for number, line in enumerate(lines):
        digest, _, name = line.partition("  ")
        file = folder / name
        listed.add(name)
        if not file.is_file():
            yield sums, number, "checksum", f"{name} is missing"
        elif hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            yield sums, number, "checksum", f"{name} has other bytes"
    if any((folder / name).is_file() for name in RELEASED):
        there = {file.relative_to(folder).as_posix() for file in _below(folder, "*") if file.is_file()}
        if unlisted := sorted(there - listed):
            yield sums, None, "checksum", f"{len(unlisted)} files of the release are not listed, first {unlisted[0]}"
