"""Small real artifacts from random legal games, made in plain Python: what the learning tests read."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hexdata.board import Position, cells, pack
from hexdata.records import schema_for, table_bytes, write_whole


def random_game(size: int, rng: random.Random) -> tuple[list[int], str]:
    """Moves and winner of a game between players who do not think."""
    position, moves = Position.empty(size), list(range(size * size))
    rng.shuffle(moves)
    for number, move in enumerate(moves, start=1):
        position = position.play(move)
        if (winner := position.winner()) is not None:
            return moves[:number], winner
    raise AssertionError("a full board has a winner")


def example(position: Position, **columns: Any) -> dict[str, Any]:
    """An example row: one game, won by the side to move with the first empty cell, unless the columns say otherwise."""
    first = next(cells(position.empties()))
    row = {
        **_position_columns(position),
        "plies_left_sum": 1,
        "policy_cells": [],
        "policy_visits": [],
        "played_cells": [first],
        "played_counts": [1],
        "z_sum": 1,
        "z_count": 1,
        "games": 1,
        "sampled_count": 0,
        "proved": None,
        "weight": 1.0,
    }
    assert columns.keys() <= row.keys()
    return {**row, **columns}


def random_examples(size: int, count: int, seed: int) -> list[dict[str, Any]]:
    """Rows of random games, with visits on every second one."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    while len(rows) < count:
        moves, winner = random_game(size, rng)
        position = Position.empty(size)
        for ply, move in enumerate(moves):
            visited = sorted({move, *rng.sample(moves[ply:], min(3, len(moves) - ply))})
            rows.append(
                example(
                    position,
                    plies_left_sum=len(moves) - ply,
                    policy_cells=visited if ply % 2 else [],
                    policy_visits=[30 if cell == move else rng.randrange(1, 20) for cell in visited] if ply % 2 else [],
                    played_cells=[move],
                    z_sum=1 if winner == position.to_move else -1,
                    sampled_count=int(ply < 3),
                )
            )
            position = position.play(move)
    return rows[:count]


def suite_row(position: Position, value: int | None, winning: Sequence[int] = ()) -> dict[str, Any]:
    rest = [cell for cell in cells(position.empties()) if cell not in winning]
    return {
        **_position_columns(position),
        "value": value,
        "winning_moves": list(winning),
        "losing_moves": rest if value is not None else [],
        "unknown_moves": rest if value is None else [],
        "nodes": 1,
        "difficulty": "easy",
        "source": "random",
    }


def game_row(size: int, moves: Sequence[int], winner: str) -> dict[str, Any]:
    count = len(moves)
    return {
        "game_id": hashlib.md5(bytes(moves)).digest(),
        "campaign": "tiny",
        "shard": 0,
        "size": size,
        "opening_length": 0,
        "moves": list(moves),
        "winner": winner,
        "ended_by": "chain",
        "swapped": False,
        "black": "random",
        "white": "random",
        "seed": 0,
        "budget": [0] * count,
        "root_value": [0.0] * count,
        "visits": [{"cells": [], "counts": []}] * count,
        "sampled": [False] * count,
        "engine_version": 1,
        "net_hash": None,
    }


def write_rows(path: Path, kind: str, size: int, rows: Sequence[dict[str, Any]]) -> None:
    write_whole(path, table_bytes(pa.Table.from_pylist(list(rows), schema=schema_for(kind, size)), kind, {}))


def write_dataset(folder: Path, size: int, **splits: Sequence[dict[str, Any]]) -> Path:
    for split, rows in splits.items():
        write_rows(folder / f"{split}-00000-of-00001.parquet", "dataset", size, rows)
    return folder


def best_cell(row: dict[str, Any]) -> int:
    """The row's most visited cell, else its most played one."""
    named, counts = ("policy_cells", "policy_visits") if row["policy_cells"] else ("played_cells", "played_counts")
    tally = Counter(dict(zip(row[named], row[counts], strict=True)))
    return min(tally, key=lambda cell: (-tally[cell], cell))


def _position_columns(position: Position) -> dict[str, Any]:
    text = f"{position.size} {position.black} {position.white} {position.to_move}"
    return {
        "key": hashlib.md5(text.encode()).digest(),
        "size": position.size,
        "black": pack(position.black, position.size),
        "white": pack(position.white, position.size),
        "to_move": position.to_move,
        "ply": position.ply,
    }
