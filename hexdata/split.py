"""Examples to leak-free train, validation and test: no game, no orbit and no suite position on two sides.

A game's side is a hash of its moves up to symmetry, so it never changes when a campaign grows. An orbit that games of
several sides share stays in test, else in validation, with counts from that side's games only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hexdata.augment import augment
from hexdata.board import SYMMETRIES, cell_map
from hexdata.examples import Occurrences, occurrences, reduce, select
from hexdata.params import DatasetParams
from hexdata.records import params_hash, read_folder, read_table, rows_hash, table_bytes, write_folder

SIDES = ("test", "validation", "train")
"""Strongest first: an orbit belongs to the first side that has it."""

AUGMENTATIONS = {"rotation": (0, 1), "all": SYMMETRIES}

Files: TypeAlias = dict[str, bytes]


@dataclass(frozen=True)
class Split:
    tables: dict[str, pa.Table]
    games: dict[str, int]
    dropped: dict[str, int]
    """Orbits left out of a side because a stronger side has them."""
    suite_dropped: int


def side_of(moves: NDArray[np.uint16], size: int, validation: float, test: float) -> str:
    """The side of a game, the same for all four images of it."""
    images = (np.array(cell_map(size, symmetry), dtype="<u2")[moves].tobytes() for symmetry in SYMMETRIES)
    digest = hashlib.sha256(size.to_bytes(1, "little") + min(images)).digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    if share < test:
        return "test"
    return "validation" if share < test + validation else "train"


def game_sides(games: pa.Table, size: int, validation: float, test: float) -> list[str]:
    moves = games.column("moves").combine_chunks()
    flat = moves.flatten().to_numpy()
    ends = np.cumsum(moves.value_lengths().to_numpy())
    return [side_of(game, size, validation, test) for game in np.split(flat, ends[:-1])]


def split(found: Occurrences, sides: list[str], suite_keys: set[bytes]) -> Split:
    """Suite positions stay out of what is learned from: train, and validation, which picks the epoch."""
    side_of_game = np.array(sides)
    taken: set[bytes] = set()
    tables: dict[str, pa.Table] = {}
    dropped: dict[str, int] = {}
    suite_dropped = 0
    for side in SIDES:
        table = reduce(select(found, side_of_game[found.game] == side))
        keys = table.column("key").to_pylist()
        in_suite = [side != "test" and key in suite_keys for key in keys]
        is_taken = [key in taken for key in keys]
        keep = [not (a or b) for a, b in zip(in_suite, is_taken, strict=True)]
        tables[side] = table.filter(pa.array(keep, pa.bool_()))
        dropped[side] = sum(is_taken)
        suite_dropped += sum(a and not b for a, b in zip(in_suite, is_taken, strict=True))
        taken.update(keys)
    return Split(tables, {side: sides.count(side) for side in SIDES}, dropped, suite_dropped)


def dataset_files(kind: str, tables: dict[str, pa.Table], rows_per_file: int, lineage: Mapping[str, object]) -> Files:
    """The files of a dataset by Hugging Face names; every side has at least one file, if only with its schema."""
    files: Files = {}
    for side, table in tables.items():
        count = max(1, -(-table.num_rows // rows_per_file))
        for index in range(count):
            part = table.slice(index * rows_per_file, rows_per_file)
            notes = {**lineage, "split": side, "split_rows_sha256": rows_hash(table)}
            files[f"{side}-{index:05d}-of-{count:05d}.parquet"] = table_bytes(part, kind, notes)
    return files


def build(games: Path, suite: Path, out: Path, augmented: Path, size: int, params: DatasetParams) -> dict[str, object]:
    """Split a campaign's examples, write the dataset and its augmented training rows, and return the figures."""
    table = read_folder(games, "games")
    suite_keys = set(read_table(suite / "suite.parquet", "suite").column("key").to_pylist())
    sides = game_sides(table, size, params.validation, params.test)
    parts = split(occurrences(table), sides, suite_keys)
    copies = augment(parts.tables["train"], size, AUGMENTATIONS[params.augment])
    lineage = {"games_rows_sha256": rows_hash(table), "params_sha256": params_hash(params.model_dump())}
    files = dataset_files("dataset", parts.tables, params.rows_per_file, lineage)
    copied = dataset_files("augmented", {"train": copies}, params.rows_per_file, lineage)
    write_folder(out, files)
    write_folder(augmented, copied)

    written = {side: read_folder(out, "dataset", f"{side}-*.parquet") for side in SIDES}
    keys = {side: set(written[side].column("key").to_pylist()) for side in SIDES}
    return {
        **{side: {"rows": written[side].num_rows, "games": parts.games[side]} for side in SIDES},
        "augmented_rows": copies.num_rows,
        "dropped": {side: parts.dropped[side] for side in SIDES[1:]},
        "suite_dropped": parts.suite_dropped,
        "leaks": leaks(keys, suite_keys),
    }


def leaks(keys: dict[str, set[bytes]], suite_keys: set[bytes]) -> dict[str, int]:
    """Recomputed from what was written, not from the plan: all must be zero."""
    pairs = (("train", "validation"), ("train", "test"), ("validation", "test"))
    return {
        "orbits": sum(len(keys[a] & keys[b]) for a, b in pairs),
        "suite": len((keys["train"] | keys["validation"]) & suite_keys),
    }
