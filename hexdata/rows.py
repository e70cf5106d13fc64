"""Rows of any Parquet artifact as values that people read: cells as names, packed stones as cells, bytes as hex."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from hexdata.board import Cell, Colour, Position, cell_name, cells, check_size, other, unpack
from hexdata.draw import Label
from hexdata.records import BadFile, metadata_of, read_table

Row: TypeAlias = dict[str, Any]

_CELL_LISTS = ("moves", "policy_cells", "played_cells", "winning_moves", "losing_moves", "unknown_moves")
_LABELS: dict[str, Label] = {"winning_moves": "win", "losing_moves": "loss", "unknown_moves": "unknown"}


@dataclass(frozen=True)
class Rows:
    path: Path
    kind: str
    """games, examples, dataset, augmented, suite, openings, or `table` for one that hexdata did not write."""
    total: int
    rows: list[Row]


def read_rows(path: Path, first: int = 0, count: int | None = None) -> Rows:
    table = read_table(path)
    if first and not 0 < first < table.num_rows:
        raise BadFile(f"{path}: row {first} is out of range: the table has {table.num_rows} rows, numbered from 0")
    return Rows(path, kind_of(table), table.num_rows, table.slice(first, count).to_pylist())


def kind_of(table: Any) -> str:
    """From the file's own note; by its columns when another program has rewritten the file and dropped the note."""
    names = set(table.column_names)
    if kind := metadata_of(table).get("kind"):
        return str(kind)
    if {"size", "moves", "winner"} <= names:
        return "games"
    if {"size", "black", "white", "to_move"} <= names:
        return "suite" if "winning_moves" in names else "examples"
    if {"size", "cell", "winner"} <= names:
        return "openings"
    return "table"


@dataclass(frozen=True)
class Scene:
    """What `show` draws: a position, the last move, and what is known of the empty cells."""

    position: Position
    last: Cell | None
    labels: dict[Cell, Label]


def scene_of(rows: Rows, number: int, move_number: int | None = None) -> Scene:
    """The position of the first of these rows, which is row `number` of the file; `move_number` stops a game early.
    The rows of an openings table make one board."""
    if not rows.rows:
        raise BadFile(f"{rows.path}: row {number} is out of range: the table has no rows")
    row = rows.rows[0]
    with _reading(rows, number):
        if rows.kind == "table":
            raise ValueError("no position here: expected a table of games, examples, suite positions or openings")
        if rows.kind == "games":
            return _game_scene(row, move_number)
        return _openings_scene(rows.rows) if rows.kind == "openings" else _position_scene(row, move_number)


@contextmanager
def _reading(rows: Rows, number: int) -> Iterator[None]:
    """What fails in here is the fault of row `number`, which does not hold what its columns promise."""
    try:
        yield
    except ValueError as error:
        raise BadFile(f"{rows.path}: row {number}: {error}") from None
    except (TypeError, LookupError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise BadFile(f"{rows.path}: row {number}: not a row of {rows.kind} ({why})") from None


def _game_scene(row: Row, move_number: int | None) -> Scene:
    moves = row["moves"]
    count = len(moves) if move_number is None else move_number
    if not 0 <= count <= len(moves):
        raise ValueError(f"move number {count} is out of range: the game has {len(moves)} moves")
    return Scene(Position.after(row["size"], moves[:count]), moves[count - 1] if count else None, {})


def _position_scene(row: Row, move_number: int | None) -> Scene:
    if move_number is not None:
        raise ValueError("this row is one position: a move number is for rows of games and for SGF files")
    if row["to_move"] not in ("black", "white"):
        raise ValueError(f"to_move is {row['to_move']!r}, expected black or white")
    position = Position(row["size"], unpack(row["black"]), unpack(row["white"]), row["to_move"])
    labels = {cell: label for column, label in _LABELS.items() for cell in row.get(column, [])}
    return Scene(position, None, labels)


def _openings_scene(rows: list[Row]) -> Scene:
    for row in rows:
        if row["winner"] not in ("black", "white", "unknown"):
            raise ValueError(f"winner is {row['winner']!r}, expected black, white or unknown")
    labels = {row["cell"]: cast(Label, row["winner"]) for row in rows}
    return Scene(Position.empty(rows[0]["size"]), None, labels)


def winner_of(row: Row) -> Colour | None:
    """Who wins a position of a suite or a proved example; None when nobody has proved it."""
    value = row.get("value", row.get("proved"))
    if not value:
        return None
    mover = cast(Colour, row["to_move"])
    return mover if value > 0 else other(mover)


def readable(rows: Rows, number: int, row: Row) -> Row:
    """The row, `number` in its file, as JSON can hold it. A table that is not ours comes out as it is, bytes as hex."""
    size = row.get("size")
    if rows.kind != "table" and isinstance(size, int):
        with _reading(rows, number):
            row = {column: _named(column, value, check_size(size)) for column, value in row.items()}
    return {column: _plain(value) for column, value in row.items()}


def _named(column: str, value: Any, size: int) -> Any:
    if value is None:
        return None
    if column in _CELL_LISTS:
        return _names(value, size)
    if column == "cell":
        return _names([value], size)[0]
    if column in ("black", "white") and isinstance(value, bytes):
        return _names(cells(unpack(value)), size)
    if column == "visits":
        return [{**move, "cells": _names(move["cells"], size)} for move in value]
    return value


def _names(found: Iterable[Cell], size: int) -> list[str]:
    names = []
    for cell in found:
        if not 0 <= cell < size * size:
            raise ValueError(f"cell {cell} lies outside the {size}x{size} board")
        names.append(cell_name(cell, size))
    return names


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        # float32 columns arrive widened: 0.1 would read 0.10000000149011612
        return float(f"{value:.7g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, str | int):
        return value
    return str(value)


def summary(rows: Rows, number: int, row: Row) -> list[tuple[str, str]]:
    """Column names and one-line values of a row, for a terminal. Cells and their counts share a line."""
    row = readable(rows, number, row)
    if rows.kind == "table":
        return [(column, _one_line(value)) for column, value in row.items()]
    with _reading(rows, number):
        return _lines(row)


def _lines(row: Row) -> list[tuple[str, str]]:
    lines = []
    for column, value in row.items():
        if column in ("policy_visits", "played_counts") or (column in ("black", "white") and isinstance(value, list)):
            continue
        if column == "policy_cells":
            lines.append(("policy", _counted(value, row.get("policy_visits"))))
        elif column == "played_cells":
            lines.append(("played", _counted(value, row.get("played_counts"))))
        elif column == "visits":
            lines.append((column, ", ".join(_most_visited(move) for move in value)))
        else:
            lines.append((column, _one_line(value)))
    return lines


def _counted(names: list[str], counts: list[int] | None) -> str:
    pairs = sorted(zip(names, counts or [0] * len(names), strict=False), key=lambda pair: -pair[1])
    return " ".join(f"{name}:{count}" for name, count in pairs)


def _most_visited(move: dict[str, list[Any]]) -> str:
    if not move["counts"]:
        return "-"
    best = max(range(len(move["counts"])), key=move["counts"].__getitem__)
    return f"{move['cells'][best]}:{move['counts'][best]}/{sum(move['counts'])}"


def _one_line(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        if value and all(isinstance(part, bool) for part in value):
            return "".join("1" if part else "0" for part in value)
        return " ".join(_one_line(part) for part in value)
    return str(value)
