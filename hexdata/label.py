"""Positions to proved labels. A label is win, loss or unknown; a budget that runs out is unknown, never a guess."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hexdata import engine
from hexdata.board import COLOURS, Colour, Position, cells, pack, packed_width
from hexdata.records import CELLS, openings_schema, suite_schema

EASY_NODES, HARD_NODES = 100, 10_000


@dataclass(frozen=True)
class Label:
    """What the solver proved of one position."""

    winner: Colour | None
    winning_moves: list[int]
    losing_moves: list[int]
    unknown_moves: list[int]
    nodes: int

    def value_for(self, side: Colour) -> int | None:
        return None if self.winner is None else (1 if self.winner == side else -1)

    @property
    def difficulty(self) -> str:
        if self.winner is None:
            return "unknown"
        if self.nodes < EASY_NODES:
            return "easy"
        return "medium" if self.nodes < HARD_NODES else "hard"


def label(positions: list[Position], limit_nodes: int, all_moves: bool) -> list[Label]:
    """Label positions of one size, each from an empty table and within its own node budget."""
    labels: dict[int, Label] = {}
    # by ply: the solver lends what it proves to positions one move earlier, and labels must not depend on company
    for ply in sorted({p.ply for p in positions}):
        places = [n for n, p in enumerate(positions) if p.ply == ply]
        solved = engine.solve_batch(
            positions[0].size,
            [(list(cells(p.black)), list(cells(p.white)), p.to_move) for p in (positions[n] for n in places)],
            all_moves=all_moves,
            limit_nodes=limit_nodes,
        )
        for n, found in zip(places, solved, strict=True):
            labels[n] = Label(
                winner=next((colour for colour in COLOURS if colour == found.winner), None),
                winning_moves=sorted(found.winning_moves),
                losing_moves=sorted(found.losing_moves),
                unknown_moves=sorted(found.unknown_moves),
                nodes=found.nodes,
            )
    return [labels[n] for n in range(len(positions))]


def keys_of(positions: list[Position]) -> tuple[list[bytes], NDArray[np.uint8]]:
    """Orbit keys, and the symmetries that lead to the stored images."""
    size = positions[0].size
    width = packed_width(size)

    def stones(colour: Colour) -> NDArray[np.uint8]:
        raw = b"".join(pack(p.stones(colour), size) for p in positions)
        return np.frombuffer(raw, np.uint8).reshape(-1, width)

    to_move = np.array([COLOURS.index(p.to_move) for p in positions], dtype=np.uint8)
    keys, symmetry = engine.keys(size, stones("black"), stones("white"), to_move)
    return [key.tobytes() for key in keys], symmetry


def suite_table(positions: list[Position], keys: list[bytes], labels: list[Label], source: str) -> pa.Table:
    size = positions[0].size
    columns = {
        "key": pa.array(keys, pa.binary(16)),
        "size": pa.array([size] * len(positions), pa.uint8()),
        "black": pa.array([pack(p.black, size) for p in positions], pa.binary(packed_width(size))),
        "white": pa.array([pack(p.white, size) for p in positions], pa.binary(packed_width(size))),
        "to_move": pa.array([p.to_move for p in positions]),
        "ply": pa.array([p.ply for p in positions], pa.uint16()),
        "value": pa.array([found.value_for(p.to_move) for p, found in zip(positions, labels, strict=True)], pa.int8()),
        "winning_moves": pa.array([found.winning_moves for found in labels], CELLS),
        "losing_moves": pa.array([found.losing_moves for found in labels], CELLS),
        "unknown_moves": pa.array([found.unknown_moves for found in labels], CELLS),
        "nodes": pa.array([found.nodes for found in labels], pa.uint64()),
        "difficulty": pa.array([found.difficulty for found in labels]),
        "source": pa.array([source] * len(positions)),
    }
    schema = suite_schema(size)
    return pa.table([columns[field.name] for field in schema], schema=schema)


def openings_table(size: int, first_moves: list[int], labels: list[Label]) -> pa.Table:
    """The proved winner after each first move."""
    columns = {
        "size": pa.array([size] * len(first_moves), pa.uint8()),
        "cell": pa.array(first_moves, pa.uint16()),
        "winner": pa.array([found.winner or "unknown" for found in labels]),
        "nodes": pa.array([found.nodes for found in labels], pa.uint64()),
    }
    schema = openings_schema()
    return pa.table([columns[field.name] for field in schema], schema=schema)
