"""Matches: who is stronger, and how sure that is. Each pair of players plays every opening with both colours.

A piece of a match is one opening of one pair, two games; it is made by any worker and, with a folder, never twice. The
folder says which match it is of and holds the games (Parquet and SGF), the results, and apart from them the times,
which no two runs share. Games that do not count, as with a smaller `--games`, are spare: they lie beside those that do.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hexdata import engine
from hexdata.board import COLOURS, Cell, Colour, cell_name, check_size, other
from hexdata.cluster import Workers, connect
from hexdata.errors import BadInput, Unfinished
from hexdata.evaluate import wilson
from hexdata.external import Answer, EngineFailed, ExternalPlayer, is_external, parse_external
from hexdata.formats.game import Game
from hexdata.formats.sgf import write_sgf
from hexdata.generate import game_seeds
from hexdata.import_games import game_of
from hexdata.locks import only_writer
from hexdata.openings import Opening, all_openings, check_scheme, listed_openings, opening_of
from hexdata.records import (
    SCHEMA_VERSION,
    games_schema,
    metadata_of_schema,
    params_hash,
    read_table,
    remove_others,
    table_bytes,
    write_json,
    write_whole,
)
from hexdata.shards import Made, complete, set_aside, unfinished
from hexdata.swap import SWAP_NODES, wants_swap

PROOF_NODES = 500
"""What the solver may spend on confirming a win. A player claims one when it has proved it, so that few are needed."""
MOST_GAMES = 1_000_000
"""Of each pair; all pieces of a match are listed in memory before it begins."""
TRIES = 3
"""Of a game in which an external engine fails."""

ELO = 400 / math.log(10)
"""Elo points of one unit of log odds."""


class BadMatch(BadInput):
    """A match that cannot be played; the message says which argument is wrong."""


# --------------------------------------------------------------------------------------------------------------- pieces


@dataclass(frozen=True)
class Match:
    size: int
    players: tuple[str, ...]
    openings: str
    """`all`, `balanced`, `ring2`, a file with a line an opening, or a scheme of `hexdata.openings`."""
    games: int | None = None
    """Of each pair; every opening once with each colour when not said."""
    swap: bool = False
    """White may take over the first stone, and does if it thinks that White is losing."""
    seed: int = 0


@dataclass(frozen=True)
class Piece:
    """One opening of one pair of players, once with each colour."""

    number: int
    size: int
    first: str
    second: str
    opening: Opening
    seeds: tuple[int, int]
    swap: bool

    @property
    def name(self) -> str:
        return f"games-{self.number:05d}.parquet"

    def key(self) -> str:
        rest = {"engine": engine.ENGINE_VERSION, "schema": SCHEMA_VERSION, "proof_nodes": PROOF_NODES}
        rest |= {"swap_nodes": SWAP_NODES} if self.swap else {}
        return params_hash({**asdict(self), **rest})


def check_match(match: Match) -> None:
    """Refuse what cannot be played before anything is touched."""
    check_size(match.size)
    if len(match.players) < 2:
        raise BadMatch("a match needs two players at least, such as mohex:playouts=1000 uct:playouts=1000")
    for player, count in Counter(match.players).items():
        if count > 1:
            raise BadMatch(f"player {player!r} is named twice: expected players that differ")
        if is_external(player):
            parse_external(player)
        else:
            engine.player_settings(player)
    if match.games is not None and (not 2 <= match.games <= MOST_GAMES or match.games % 2):
        raise BadMatch(
            f"{match.games} games: expected an even number from 2 to {MOST_GAMES:,}, "
            "as every opening is played with both colours"
        )
    if match.swap and any(len(opening) != 1 for opening in match_openings(match)):
        raise BadMatch("a swap is of the first stone: expected openings of one stone with it")


def pieces(match: Match) -> list[Piece]:
    check_match(match)
    starts = match_openings(match)
    seeds = game_seeds(match.seed, 0, 2 * len(starts) * math.comb(len(match.players), 2))
    found: list[Piece] = []
    for first, second in combinations(match.players, 2):
        for opening in starts:
            number = len(found)
            two = (seeds[2 * number], seeds[2 * number + 1])
            found.append(Piece(number, match.size, first, second, opening, two, match.swap))
    return found


def match_openings(match: Match) -> list[Opening]:
    """The opening of each piece of a pair: all of them, or as many as there are games for, spread over the list."""
    text = {"all": "one-stone", "ring2": "ring-2"}.get(match.openings, match.openings)
    if text == "balanced":
        pool = balanced_openings(match.size)
    else:
        if ":" not in text and Path(text).is_file():
            text = f"file:{text}"
        elif ":" not in text and (Path(text).name != text or Path(text).suffix or Path(text).exists()):
            raise BadMatch(f"openings {match.openings!r}: no such file: expected all, balanced, ring2 or a file")
        scheme = check_scheme(text, match.size)
        if scheme.is_listed:
            pool = listed_openings(scheme, match.size)
        elif scheme.draw == "sweep" and not scheme.stones[1]:
            pool = all_openings(scheme, match.size)
        elif match.games is None:
            raise BadMatch(f"openings {text!r} are drawn: expected --games to say how many")
        else:
            return [opening_of(scheme, match.size, match.seed, turn) for turn in range(match.games // 2)]
    wanted = len(pool) if match.games is None else match.games // 2
    if wanted < len(pool):
        return [pool[turn * len(pool) // wanted] for turn in range(wanted)]
    return [pool[turn % len(pool)] for turn in range(wanted)]


@lru_cache
def balanced_lists() -> dict[str, Any]:
    """By board size: the pilot's players and, for each opening, how many of its games Black won."""
    lists: dict[str, Any] = json.loads((Path(__file__).parent / "balanced.json").read_text())
    return lists


LEAST_SHARE = 0.2
"""Of the pilot's games that each colour must have won for an opening to be balanced."""


def is_balanced(black_wins: int, games: int) -> bool:
    return LEAST_SHARE * games <= black_wins <= (1 - LEAST_SHARE) * games


def balanced_openings(size: int) -> list[Opening]:
    if str(size) not in balanced_lists():
        known = ", ".join(f"{n}x{n}" for n in balanced_lists())
        raise BadMatch(
            f"no balanced openings are known for {size}x{size}, only for {known}: "
            "expected all, ring2 or a file, or `python -m benchmarks.balanced` to find some"
        )
    pilot = balanced_lists()[str(size)]
    return [
        (cell,)
        for cell in range(size * size)
        if is_balanced(pilot["black_wins"][cell_name(cell, size)], pilot["games"])
    ]


# ---------------------------------------------------------------------------------------------------------------- games


@dataclass
class Played:
    """A game as it happened. Cells and colours are those of a game without a swap: after one, the players change."""

    black: str
    white: str
    moves: list[Cell]
    opening_length: int
    seed: int
    winner: Colour = "black"
    ended_by: str = "chain"
    swapped: bool = False
    budget: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    visits: list[dict[str, list[int]]] = field(default_factory=list)

    def player(self, colour: Colour) -> str:
        return self.black if colour == "black" else self.white


@dataclass
class Effort:
    """What a player spent: processor time for ours, time on the wall for others'."""

    moves: int = 0
    nanoseconds: int = 0


@dataclass(frozen=True)
class Thought:
    answer: Answer
    value: float = 0.0
    budget: int = 0
    visits: tuple[Sequence[int], Sequence[int]] = ((), ())


class Seat:
    """A player in a game, ours or an external one."""

    def __init__(self, player: str, size: int) -> None:
        self.player = player
        self.effort = Effort()
        self.external = ExternalPlayer(player, size) if is_external(player) else None
        self.own = None if self.external else engine.Player(player, 0)

    def new_game(self, seed: int) -> None:
        if self.external:
            self.external.new_game()
            self.external.start()
        elif self.own:
            self.own.new_game(seed)

    def think(self, board: engine.Board, swap: bool) -> Thought:
        """Its move. `swap`: White may take over the first stone in this game, and nobody has."""
        clock = time.monotonic_ns if self.external else time.thread_time_ns
        began = clock()
        if self.external:
            thought = Thought(self.external.choose(board.moves, swap=swap))
        else:
            assert self.own
            found = self.own.choose(board)
            visits = found["visit_cells"].tolist(), found["visit_counts"].tolist()
            thought = Thought(found["move"], found["value"], found["budget"], visits)
            if swap and len(board.moves) == 1 and wants_swap(self.player, board, thought.value, thought.budget):
                thought = replace(thought, answer="swap-pieces")
        self.effort.nanoseconds += clock() - began
        self.effort.moves += 1
        return thought

    def close(self) -> None:
        if self.external:
            self.external.close()


def play_game(size: int, seats: Mapping[Colour, Seat], opening: Opening, seed: int, swap: bool = False) -> Played:
    """One game. It ends with a chain, with a resignation, or when the mover claims a win and the solver confirms it."""
    sides = dict(seats)
    board = engine.Board(size)
    for cell in opening:
        board.play(cell)
    for seat in seats.values():
        seat.new_game(seed)
    game = Played(sides["black"].player, sides["white"].player, list(opening), len(opening), seed)
    for _ in opening:
        _note(game, Thought(0))
    while board.winner() is None:
        colour = cast(Colour, board.to_move)
        thought = sides[colour].think(board, swap and not game.swapped)
        if thought.answer == "swap-pieces":
            sides = {"black": sides["white"], "white": sides["black"]}
            game.black, game.white, game.swapped = game.white, game.black, True
            continue
        if thought.answer == "resign":
            game.winner, game.ended_by = other(colour), "resign"
            return game
        board.play(thought.answer)
        game.moves.append(thought.answer)
        _note(game, thought)
        if thought.value == 1.0 and board.winner() is None and _is_proved(board, colour):
            game.winner, game.ended_by = colour, "proof"
            return game
    game.winner = cast(Colour, board.winner())
    return game


def _note(game: Played, thought: Thought) -> None:
    cells, counts = thought.visits
    game.budget.append(thought.budget)
    game.values.append(thought.value)
    game.visits.append({"cells": list(cells), "counts": list(counts)})


def _is_proved(board: engine.Board, winner: Colour) -> bool:
    proof = engine.solve(board.size, board.black(), board.white(), board.to_move, limit_nodes=PROOF_NODES, table_mb=1)
    return proof.winner == winner


def play_piece(piece: Piece) -> Made:
    """The games of a piece as a Parquet file; what its players spent and how often an engine failed as notes."""
    with ExitStack() as stack:
        seats = [Seat(player, piece.size) for player in (piece.first, piece.second)]
        for seat in seats:
            stack.callback(seat.close)
        failures = 0
        games = []
        for seed, (black, white) in zip(piece.seeds, (seats, seats[::-1]), strict=True):
            for tries in range(1, TRIES + 1):
                try:
                    sides: dict[Colour, Seat] = {"black": black, "white": white}
                    games.append(play_game(piece.size, sides, piece.opening, seed, piece.swap))
                    break
                except EngineFailed:
                    failures += 1
                    if tries == TRIES:
                        raise
    table = _games_table(piece, games)
    notes = {"failures": failures}
    for name, seat in zip(("first", "second"), seats, strict=True):
        notes |= {f"{name}_moves": seat.effort.moves, f"{name}_ns": seat.effort.nanoseconds}
    return Made(table_bytes(table, "games", {"key": piece.key(), "campaign": "match"}), notes)


def _games_table(piece: Piece, games: Sequence[Played]) -> pa.Table:
    rows = []
    for game in games:
        provenance = f"match {piece.size} {game.black} {game.white} {game.swapped} {game.seed} {engine.ENGINE_VERSION} "
        moves = np.array(game.moves, "<u2").tobytes()
        rows.append(
            {
                "game_id": hashlib.sha256(provenance.encode() + moves).digest()[:16],
                "campaign": "match",
                "shard": piece.number,
                "size": piece.size,
                "opening_length": game.opening_length,
                "moves": game.moves,
                "winner": game.winner,
                "ended_by": game.ended_by,
                "swapped": game.swapped,
                "black": game.black,
                "white": game.white,
                "seed": game.seed,
                "budget": game.budget,
                "root_value": game.values,
                "visits": game.visits,
                "sampled": [False] * len(game.moves),
                "engine_version": engine.ENGINE_VERSION,
                "net_hash": None,
            }
        )
    return pa.Table.from_pylist(rows, schema=games_schema())


# -------------------------------------------------------------------------------------------------------------- playing


@dataclass(frozen=True)
class Finished:
    """A piece's games, and what they took, if that was measured."""

    piece: Piece
    table: pa.Table
    notes: Mapping[str, int]


def play_match(
    match: Match,
    folder: Path | None = None,
    cluster: str | None = None,
    workers: Workers | None = None,
    done: Callable[[Piece, bool], None] = lambda piece, fresh: None,
) -> Result:
    """Play the match, keeping its games and results in the folder if there is one."""
    todo = pieces(match)
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(TemporaryDirectory()))
        _check_folder(folder)
        stack.enter_context(only_writer(folder))
        _check_match(folder, match)

        def claim(piece: Piece, fresh: bool) -> None:
            write_json(folder / "match.json", _whatever_its_games(match))
            done(piece, fresh)

        result = Result(match, play_pieces(todo, folder, cluster, workers, claim))
        records = [game for found in result.finished for game in sgf_games(found.table)]
        write_whole(folder / "games.sgf", "".join(map(write_sgf, records)).encode())
        write_json(folder / "results.json", result.figures())
        write_whole(folder / "results.txt", (result.report() + "\n").encode())
    return result


def play_pieces(
    todo: Sequence[Piece],
    folder: Path,
    cluster: str | None = None,
    workers: Workers | None = None,
    done: Callable[[Piece, bool], None] = lambda piece, fresh: None,
) -> list[Finished]:
    """Play what the folder does not hold. `done` is told of each piece, and whether it was played just now."""
    _check_folder(folder)
    games, times = folder / "games", folder / "times"
    _exchange_spares(folder, todo)
    missing = unfinished(games, todo)
    waiting = {piece.number for piece in missing}
    for piece in todo:
        if piece.number not in waiting:
            done(piece, False)

    def note(piece: Piece, made: Made) -> None:
        write_json(times / f"{piece.name}.json", dict(made.notes))
        done(piece, True)

    if missing and cluster is None and workers == 1:
        for piece in missing:
            made = _play_here(piece)
            write_whole(games / piece.name, made.content)
            note(piece, made)
    elif missing:
        with connect(cluster, workers) as client:
            if failures := complete(client, play_piece, missing, games, note):
                raise Unfinished(set_aside(failures, len(todo)))
    remove_others(games, [piece.name for piece in todo])
    remove_others(times, [f"{piece.name}.json" for piece in todo])
    for path in folder.iterdir():
        if OUR_HALVES.fullmatch(path.name):
            path.unlink()
    return [
        Finished(piece, read_table(games / piece.name, "games"), _read_notes(times / f"{piece.name}.json"))
        for piece in todo
    ]


def _play_here(piece: Piece) -> Made:
    try:
        return play_piece(piece)
    except EngineFailed as error:
        raise Unfinished(f"{error}, {TRIES} times in a row; with --out the games before it are kept") from None


OUR_FOLDERS = ("games", "times", "spare")
OUR_FILES = ("match.json", "games.sgf", "results.json", "results.txt")
OUR_HALVES = re.compile(rf"\.({'|'.join(map(re.escape, OUR_FILES))})\.[a-z0-9_]{{8}}")
"""What a kill leaves of `write_whole`."""


def _check_folder(folder: Path) -> None:
    """Files that are not of a match are not ours to remove."""
    if folder.exists() and not folder.is_dir():
        raise BadMatch(f"{folder}: a file: expected a folder, or a name for a new one")
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        if path.name not in (*OUR_FOLDERS, *OUR_FILES) and not OUR_HALVES.fullmatch(path.name):
            raise BadMatch(f"{folder}: holds {path.name}, which is not of a match: expected an empty or a new folder")


def _whatever_its_games(match: Match) -> dict[str, object]:
    found = {**asdict(match), "players": list(match.players)}
    del found["games"]
    return found


def _check_match(folder: Path, match: Match) -> None:
    """A folder that holds games of another match is not ours to add to."""
    said = folder / "match.json"
    if not said.exists():
        return
    try:
        theirs = dict(json.loads(said.read_bytes()))
    except (ValueError, TypeError):
        raise BadMatch(f"{said}: is damaged: expected that of a match, or a new folder") from None
    mine = _whatever_its_games(match)
    if others := [name for name in mine if theirs.get(name) != mine[name]]:
        raise BadMatch(
            f"{folder}: holds a match with other {' and '.join(others)}: expected the same match or a new folder"
        )


def _exchange_spares(folder: Path, todo: Sequence[Piece]) -> None:
    """Pieces that are not of this match, such as those of a larger `--games`, become spare; spare ones that are return.

    Spare pieces bear their key, as another may have their number.
    """
    games, times, spare = folder / "games", folder / "times", folder / "spare"
    wanted = {piece.name: piece.key() for piece in todo}
    for path in sorted(games.glob("*.parquet")):
        key = _key_of(path)
        if key and wanted.get(path.name) != key:
            _move(times / f"{path.name}.json", spare / f"{key}.json")
            _move(path, spare / f"{key}.parquet")
    for name, key in wanted.items():
        if (spare / f"{key}.parquet").exists() and not (games / name).exists():
            _move(spare / f"{key}.json", times / f"{name}.json")
            _move(spare / f"{key}.parquet", games / name)


def _move(path: Path, to: Path) -> None:
    if path.exists():
        to.parent.mkdir(exist_ok=True)
        path.replace(to)


def _key_of(path: Path) -> str:
    """Of the piece in this file; empty if it holds none."""
    try:
        key = str(metadata_of_schema(pq.read_schema(path)).get("key"))
    except (OSError, ValueError, pa.ArrowException):
        return ""
    return key if re.fullmatch("[0-9a-f]{64}", key) else ""


def _read_notes(path: Path) -> dict[str, int]:
    """Times are not vouched for by any hash: what cannot be read is not known."""
    try:
        notes = json.loads(path.read_text())
        return {key: int(value) for key, value in notes.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def sgf_games(table: pa.Table) -> Iterator[Game]:
    for row in table.to_pylist():
        comment = f"{row['opening_length']} opening stones, ended by {row['ended_by']}, seed {row['seed']}"
        yield replace(game_of(row), comments=((0, comment),))


# -------------------------------------------------------------------------------------------------------------- figures


@dataclass(frozen=True)
class Rating:
    """Elo against the last player; infinite where one never lost, with the end of the interval that is known."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True)
class Score:
    wins: int
    games: int

    def figures(self) -> dict[str, float]:
        low, high = wilson(self.wins, self.games)
        rate = self.wins / self.games if self.games else 0.0
        return {"wins": self.wins, "games": self.games, "rate": rate, "low": low, "high": high}

    def __str__(self) -> str:
        low, high = wilson(self.wins, self.games)
        return f"{100 * self.wins / self.games:.1f} % [{100 * low:.1f}, {100 * high:.1f}]" if self.games else "-"


@dataclass(frozen=True)
class Result:
    match: Match
    finished: Sequence[Finished]

    def scores(self, player: str, rival: str | None = None, colour: Colour | None = None) -> Score:
        """The games that a player won, against one rival or all, with one colour or both."""
        wins = games = 0
        for row in self._rows():
            for mine in COLOURS:
                if row[mine] == player and rival in (None, row[other(mine)]) and colour in (None, mine):
                    games += 1
                    wins += row["winner"] == mine
        return Score(wins, games)

    def _rows(self) -> Iterator[dict[str, Any]]:
        names = ["black", "white", "winner", "ended_by", "swapped"]
        for piece in self.finished:
            yield from piece.table.select(names).to_pylist()

    def wins(self) -> NDArray[np.int64]:
        """[player, rival] games that the player won."""
        players = self.match.players
        found = np.zeros((len(players), len(players)), np.int64)
        for row in self._rows():
            found[players.index(row[row["winner"]]), players.index(row[other(row["winner"])])] += 1
        return found

    def ratings(self) -> list[Rating]:
        return ratings(self.wins())

    def distinct(self) -> int:
        """Games that differ; players without chance repeat themselves, and a repetition tells nothing new."""
        tables = (found.table.select(["black", "white", "moves"]).to_pylist() for found in self.finished)
        return len({(row["black"], row["white"], *row["moves"]) for rows in tables for row in rows})

    def playouts(self, player: str) -> float | None:
        """The mean over its searched moves: playouts, nodes or positions, whatever its budget is in."""
        spent: list[int] = []
        for piece in self.finished:
            for row in piece.table.select(["black", "white", "opening_length", "budget"]).to_pylist():
                for side, colour in enumerate(COLOURS):
                    if row[colour] == player:
                        budget = row["budget"]
                        first = row["opening_length"]
                        spent += [budget[ply] for ply in range(first, len(budget)) if ply % 2 == side and budget[ply]]
        return sum(spent) / len(spent) if spent else None

    def seconds(self, player: str) -> float | None:
        """The mean over its moves, those that were timed: a kill may come between games and their times."""
        moves = nanoseconds = 0
        for found in self.finished:
            for name, who in (("first", found.piece.first), ("second", found.piece.second)):
                if who == player and f"{name}_ns" in found.notes:
                    moves += found.notes[f"{name}_moves"]
                    nanoseconds += found.notes[f"{name}_ns"]
        return nanoseconds / 1e9 / moves if moves else None

    def failures(self) -> int:
        return sum(found.notes.get("failures", 0) for found in self.finished)

    def figures(self) -> dict[str, Any]:
        """All that the games say, the same for the same games: no times."""
        match, rows = self.match, list(self._rows())
        described = [
            {
                "player": player,
                "elo": {name: _finite(value) for name, value in vars(rating).items()},
                "all": self.scores(player).figures(),
                "black": self.scores(player, colour="black").figures(),
                "white": self.scores(player, colour="white").figures(),
                "playouts": self.playouts(player),
            }
            for player, rating in zip(match.players, self.ratings(), strict=True)
        ]
        pairs = [{"player": a, "rival": b, **self.scores(a, b).figures()} for a, b in combinations(match.players, 2)]
        return {
            **asdict(match),
            "engine_version": engine.ENGINE_VERSION,
            "played": len(rows),
            "distinct": self.distinct(),
            "ended_by": dict(sorted(Counter(row["ended_by"] for row in rows).items())),
            "swapped": sum(row["swapped"] for row in rows),
            "results": described,
            "pairs": pairs,
        }

    def times(self) -> dict[str, float | None]:
        return {player: self.seconds(player) for player in self.match.players}

    def report(self) -> str:
        """The table of the match, for people and papers."""
        match = self.match
        rows = list(self._rows())
        endings = Counter(row["ended_by"] for row in rows)
        size = f"{match.size}x{match.size}"
        starts = len({found.piece.opening for found in self.finished})
        swap = f"swap ({sum(row['swapped'] for row in rows)} swapped)" if match.swap else "no swap"
        lines = [
            f"{size}, {len(rows)} games, {starts} openings ({match.openings}) with both colours, {swap}, "
            f"seed {match.seed}, engine {engine.ENGINE_VERSION}",
            "ended by " + ", ".join(f"{name} {count}" for name, count in sorted(endings.items())),
        ]
        if (distinct := self.distinct()) < len(rows):
            lines.append(f"only {distinct} games differ: the intervals are too narrow by that")
        if failures := self.failures():
            lines.append(f"{failures} games were played again because an external engine failed")
        header = ["player", "Elo", "95 %", "won", "as Black", "as White", "playouts", "ms/move"]
        body = []
        for place, (player, rating) in enumerate(zip(match.players, self.ratings(), strict=True)):
            playouts, seconds = self.playouts(player), self.seconds(player)
            reference = place == len(match.players) - 1
            body.append(
                [
                    player,
                    "0" if reference else _elo(rating.elo),
                    "reference" if reference else f"[{_elo(rating.low)}, {_elo(rating.high)}]",
                    str(self.scores(player)),
                    str(self.scores(player, colour="black")),
                    str(self.scores(player, colour="white")),
                    "-" if playouts is None else f"{playouts:,.0f}",
                    "-" if seconds is None else f"{1000 * seconds:.3g}",
                ]
            )
        lines += ["", *_columns([header, *body])]
        if len(match.players) > 2:
            lines += ["", "won by the row against the column"]
            grid = [["", *(f"({number})" for number in range(1, len(match.players) + 1))]]
            for number, player in enumerate(match.players, start=1):
                cells = [str(self.scores(player, rival)) if rival != player else "" for rival in match.players]
                grid.append([f"({number}) {player}", *cells])
            lines += _columns(grid)
        return "\n".join(lines)


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None


def _elo(value: float) -> str:
    if math.isnan(value):
        return "?"
    return f"{value:+.0f}" if math.isfinite(value) else ("+∞" if value > 0 else "-∞")


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if not column else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


# ------------------------------------------------------------------------------------------------------------------ Elo

FARTHEST = 15.0
"""Log odds beyond which a rating is as good as infinite: one game in three million."""
RIDGE = 1e-6
"""Keeps the fit finite where a player won all; far below what one game says."""
DROP_95 = 1.920729
"""Half of the 95 % quantile of chi-squared with one degree of freedom."""


def ratings(wins: NDArray[np.int64]) -> list[Rating]:
    """Bradley-Terry strengths in Elo against the last player, with profile-likelihood intervals of 95 %.

    A player that never lost to those below it has no finite strength; its interval still has the end that the games
    bound. A player that no chain of games joins to the last is unknown: nan, from -inf to inf.
    """
    count = len(wins)
    above = _reaches(wins)
    fitted = _fit(wins, {count - 1: 0.0})
    found = []
    for player in range(count - 1):
        # the chain of wins from one to the other, and back
        down, up = above[player, count - 1], above[count - 1, player]
        if not down and not up:
            found.append(Rating(math.nan, -math.inf, math.inf))
            continue
        elo = ELO * float(fitted[player]) if down and up else math.inf if down else -math.inf
        low = _profile_end(wins, player, fitted, -1.0) if down else -math.inf
        high = _profile_end(wins, player, fitted, 1.0) if up else math.inf
        found.append(Rating(elo, low, high))
    return [*found, Rating(0.0, 0.0, 0.0)]


def _reaches(wins: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[i, j]: i beat somebody who beat … who beat j."""
    reach: NDArray[np.bool_] = wins > 0
    for middle in range(len(wins)):
        reach = reach | (reach[:, middle : middle + 1] & reach[middle : middle + 1, :])
    return reach


def _likelihood(wins: NDArray[np.int64], strength: NDArray[np.float64]) -> float:
    gap = strength[:, None] - strength[None, :]
    return float(-(wins * np.logaddexp(0.0, -gap)).sum() - 0.5 * RIDGE * (strength**2).sum())


def _fit(
    wins: NDArray[np.int64], fixed: Mapping[int, float], start: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The most likely strengths with some of them held: Newton's method, halved where it overshoots."""
    strength = np.zeros(len(wins)) if start is None else start.copy()
    for player, value in fixed.items():
        strength[player] = value
    free = [player for player in range(len(wins)) if player not in fixed]
    if not free:
        return strength
    games = wins + wins.T
    now = _likelihood(wins, strength)
    for _ in range(200):
        chance = 1 / (1 + np.exp(-(strength[:, None] - strength[None, :])))
        gradient = (wins - games * chance).sum(axis=1) - RIDGE * strength
        weight = games * chance * (1 - chance)
        hessian = np.diag(weight.sum(axis=1) + RIDGE) - weight
        step = np.zeros(len(wins))
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        step = np.clip(step, -2.0, 2.0)
        while np.abs(step).max() > 1e-10:
            after = _likelihood(wins, strength + step)
            if after >= now:
                break
            step = step / 2
        else:
            return strength
        strength, now = strength + step, after
    return strength


def _profile_end(wins: NDArray[np.int64], player: int, fitted: NDArray[np.float64], direction: float) -> float:
    """Where the likelihood with this player held has dropped by what 95 % allow."""
    last, best, now = len(wins) - 1, _likelihood(wins, fitted), fitted
    inside = float(fitted[player])
    outside = inside + direction * 2 * FARTHEST
    while abs(outside - inside) > 1e-5:
        middle = (inside + outside) / 2
        now = _fit(wins, {last: 0.0, player: middle}, now)
        if best - _likelihood(wins, now) <= DROP_95:
            inside = middle
        else:
            outside = middle
    return ELO * inside
