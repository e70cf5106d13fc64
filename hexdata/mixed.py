"""Games in which an external engine takes part, move by move from Python; the records are those of `engine.play_games`.

An engine that dies, hangs or cheats costs the game: it is discarded, counted and played again from its opening.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from hexdata import engine
from hexdata.board import COLOURS, Cell
from hexdata.external import EngineFailed, ExternalPlayer, is_external

Side: TypeAlias = ExternalPlayer | engine.Player

MOST_ATTEMPTS = 4
"""At one game: an engine that fails this often in a row would fail forever, and the shard says so."""


@dataclass(frozen=True)
class Rules:
    """What all games of a call share."""

    size: int
    dither_moves: int
    temperature: float
    end_nodes: int


@dataclass
class Moves:
    """One game as it grows: an entry a move, as in `engine.play_games`."""

    cells: list[Cell]
    budget: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    sampled: list[bool] = field(default_factory=list)
    visits: list[tuple[Sequence[int], Sequence[int]]] = field(default_factory=list)
    winner: str = ""
    ended_by: int = 0

    def note(self, budget: int = 0, value: float = 0.0, sampled: bool = False, visits: Any = ((), ())) -> None:
        self.budget.append(budget)
        self.value.append(value)
        self.sampled.append(sampled)
        self.visits.append(visits)


def play_games(
    rules: Rules, players: tuple[str, str], openings: Sequence[Sequence[Cell]], seeds: Sequence[int]
) -> tuple[dict[str, np.ndarray], int]:
    """One game per opening and seed, Black's player first; and how many were discarded on the way."""
    games, discarded = [], 0
    with ExitStack() as stack:
        sides = [
            stack.enter_context(ExternalPlayer(player, rules.size)) if is_external(player) else engine.Player(player, 0)
            for player in players
        ]
        for opening, seed in zip(openings, seeds, strict=True):
            for attempt in range(MOST_ATTEMPTS):
                try:
                    games.append(_play(rules, sides, opening, seed))
                    break
                except EngineFailed:
                    discarded += 1
                    if attempt + 1 == MOST_ATTEMPTS:
                        raise
    return _records(games), discarded


def _play(rules: Rules, sides: Sequence[Side], opening: Sequence[Cell], seed: int) -> Moves:
    board = engine.Board(rules.size)
    moves = Moves(list(opening))
    for cell in opening:
        board.play(cell)
        moves.note()
    for player in sides:
        if isinstance(player, ExternalPlayer):
            player.new_game()
        else:
            player.new_game(seed)
    while not (winner := board.winner()):
        if rules.end_nodes:
            proof = engine.solve(
                rules.size, board.black(), board.white(), board.to_move, limit_nodes=rules.end_nodes
            ).winner
            if proof != "unknown":
                moves.winner, moves.ended_by = proof, 1
                return moves
        side = len(moves.cells) % 2
        player = sides[side]
        if isinstance(player, ExternalPlayer):
            answer = player.choose(moves.cells)
            if answer == "resign":
                moves.winner, moves.ended_by = COLOURS[1 - side], 2
                return moves
            if not isinstance(answer, int):
                player.kill()
                raise EngineFailed(f"{COLOURS[side]} answered {answer}, but games here have no swap")
            cell = answer
            moves.note()
        else:
            dithers = len(moves.cells) - len(opening) < rules.dither_moves
            choice = player.choose(board, temperature=rules.temperature if dithers else 0.0)
            cell = choice["move"]
            visits = choice["visit_cells"].tolist(), choice["visit_counts"].tolist()
            moves.note(choice["budget"], choice["value"], choice["sampled"], visits)
        board.play(cell)
        moves.cells.append(cell)
    moves.winner = winner
    return moves


def _records(games: Sequence[Moves]) -> dict[str, np.ndarray]:
    def flat(kind: type, values: Callable[[Moves], Sequence[Any]]) -> np.ndarray:
        return np.array([value for game in games for value in values(game)], kind)

    def offsets(lengths: Sequence[int]) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)

    visits = [seen for game in games for seen in game.visits]
    return {
        "moves": flat(np.uint16, lambda game: game.cells),
        "offsets": offsets([len(game.cells) for game in games]),
        "winner": np.array([COLOURS.index(game.winner) for game in games], np.uint8),
        "ended_by": np.array([game.ended_by for game in games], np.uint8),
        "budget": flat(np.uint32, lambda game: game.budget),
        "root_value": flat(np.float32, lambda game: game.value),
        "sampled": flat(np.uint8, lambda game: game.sampled),
        "visit_offsets": offsets([len(cells) for cells, _ in visits]),
        "visit_cells": np.array([cell for cells, _ in visits for cell in cells], np.uint16),
        "visit_counts": np.array([count for _, counts in visits for count in counts], np.uint32),
    }
