"""Openings to games. A shard is a pure function of the campaign's params and its number, so any worker may make it
and a shard that is already there is never made again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hexdata import engine, mixed
from hexdata.cluster import Workers, connect
from hexdata.errors import Unfinished
from hexdata.external import is_external, parse_external
from hexdata.openings import BadOpenings, Opening, Scheme, check_scheme, listed_openings, opening_of, parse_scheme
from hexdata.params import BadParams, GamesParams
from hexdata.progress import Meter
from hexdata.records import SCHEMA_VERSION, games_schema, params_hash, read_table, remove_others, table_bytes
from hexdata.shards import Made, complete, set_aside, unfinished

WINNERS = ("black", "white")
ENDINGS = ("chain", "proof", "resign")
MOST_PAIRINGS = 200
"""Counted in the metrics: every one of a tournament, but not of thousands of strangers."""


@dataclass(frozen=True)
class Shard:
    """Everything that a worker needs to play one shard of a campaign."""

    campaign: str
    number: int
    size: int
    per_shard: int
    player: str | tuple[str, ...]
    openings: str
    dither_moves: int
    temperature: float
    seed: int
    end_nodes: int = 0
    starts: tuple[Opening, ...] = ()
    """The openings of its games, if they come from a file or from proofs: workers share no files."""
    engine_version: int = engine.ENGINE_VERSION
    """Which engine's games they are."""

    @property
    def name(self) -> str:
        return f"games-{self.number:05d}.parquet"

    def key(self) -> str:
        """What the rows depend on; a shard with another key on disk is another campaign's."""
        rows = asdict(self)
        # knobs that came later are left out at their defaults, so that shards which were made before them stay
        for name, default in (("end_nodes", 0), ("starts", ())):
            if rows[name] == default:
                del rows[name]
        rows["engine"] = rows.pop("engine_version")
        return params_hash({**rows, "schema": SCHEMA_VERSION})

    @property
    def games(self) -> range:
        """The numbers of its games within the campaign."""
        return range(self.number * self.per_shard, (self.number + 1) * self.per_shard)


def shards(campaign: str, size: int, params: GamesParams) -> list[Shard]:
    knobs = params.model_dump(exclude={"shards"})
    found = [Shard(campaign=campaign, number=number, size=size, **knobs) for number in range(params.shards)]
    scheme = parse_scheme(params.openings)
    if scheme.is_listed:
        listed = listed_openings(scheme, size)
        found = [replace(shard, starts=tuple(starts_of(shard, scheme, listed))) for shard in found]
    return found


def check_games(size: int, params: GamesParams) -> None:
    """Refuse players that nobody knows and openings that the board has not, before anything is touched."""
    knobs: dict[str, Any] = params.model_dump(include={"dither_moves", "temperature", "end_nodes"})
    try:
        engine.play_games(size, "random", "random", [], [], **knobs)
    except ValueError as error:
        raise BadParams(f"games: {error}") from None
    for player in params.players:
        try:
            if is_external(player):
                parse_external(player)
                continue
            engine.play_games(size, player, player, [], [], **knobs)
        except ValueError as error:
            raise BadParams(f"games.player: {error}") from None
        # no two runs get the same out of a second; "0" is the solver's way to say that it has nodes instead
        if any(name == "seconds" and value != "0" for name, value, _ in engine.player_settings(player)):
            raise BadParams(f"games.player: {player!r}: seconds are for matches: expected playouts or nodes")
    try:
        check_scheme(params.openings, size)
    except BadOpenings as error:
        raise BadParams(f"games.openings: {error}") from None


def pairings(player: str | Sequence[str]) -> list[tuple[str, str]]:
    """Black and White of the games that a turn of the openings takes: each pair of players, with both colours."""
    if isinstance(player, str):
        return [(player, player)]
    return [pair for a, b in combinations(player, 2) for pair in ((a, b), (b, a))]


def starts_of(shard: Shard, scheme: Scheme, listed: Sequence[Opening] = ()) -> list[Opening]:
    """The openings of the shard's games: all pairings of a turn start from the same one."""
    turn = len(pairings(shard.player))
    return [opening_of(scheme, shard.size, shard.seed, game // turn, listed) for game in shard.games]


def game_seeds(seed: int, first: int, count: int) -> list[int]:
    """64 well-mixed bits per game; the theses' 15-bit worker seeds collided (gao-2020 section 6)."""
    return [
        int.from_bytes(hashlib.sha256(f"game {seed} {game}".encode()).digest()[:8], "little")
        for game in range(first, first + count)
    ]


def make_shard(shard: Shard) -> bytes:
    """Play the shard's games and return its Parquet file."""
    return play_shard(shard).content


def play_shard(shard: Shard) -> Made:
    """Play the shard's games: its Parquet file, and what there is to tell of them."""
    starts = shard.starts or starts_of(shard, parse_scheme(shard.openings))
    seeds = game_seeds(shard.seed, shard.games[0], shard.per_shard)
    sides = pairings(shard.player)
    tables, order, discarded = [], [], 0
    for index, (black, white) in enumerate(sides):
        mine = [at for at, game in enumerate(shard.games) if game % len(sides) == index]
        played, lost = _play(shard, black, white, [starts[at] for at in mine], [seeds[at] for at in mine])
        lengths = [len(starts[at]) for at in mine]
        tables.append(games_table(shard, black, white, lengths, [seeds[at] for at in mine], played))
        discarded += lost
        order += mine
    table = tables[0]
    if len(tables) > 1:
        table = pa.concat_tables(tables).take(np.argsort(order)).combine_chunks()
    content = table_bytes(table, "games", {"key": shard.key(), "campaign": shard.campaign})
    return Made(content, {**notes_of(table), "discarded": discarded})


def _play(
    shard: Shard, black: str, white: str, starts: Sequence[Opening], seeds: Sequence[int]
) -> tuple[dict[str, np.ndarray], int]:
    """The games of one pairing, and how many were discarded because an external engine failed."""
    if is_external(black) or is_external(white):
        rules = mixed.Rules(shard.size, shard.dither_moves, shard.temperature, shard.end_nodes)
        return mixed.play_games(rules, (black, white), starts, seeds)
    played = engine.play_games(
        shard.size,
        black,
        white,
        [list(start) for start in starts],
        seeds,
        dither_moves=shard.dither_moves,
        temperature=shard.temperature,
        end_nodes=shard.end_nodes,
    )
    return played, 0


def games_table(
    shard: Shard,
    black: str,
    white: str,
    opening_lengths: Sequence[int],
    seeds: Sequence[int],
    played: dict[str, np.ndarray],
) -> pa.Table:
    offsets, count = played["offsets"], len(seeds)

    def per_move(values: pa.Array, kind: pa.DataType) -> pa.Array:
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=kind)

    schema = games_schema()
    kinds = {field.name: field.type for field in schema}
    visit_offsets = pa.array(played["visit_offsets"], pa.int32())
    visit_kind = kinds["visits"].value_type
    visits = pa.StructArray.from_arrays(
        [
            pa.ListArray.from_arrays(visit_offsets, pa.array(played["visit_cells"]), type=visit_kind.field(0).type),
            pa.ListArray.from_arrays(visit_offsets, pa.array(played["visit_counts"]), type=visit_kind.field(1).type),
        ],
        fields=list(visit_kind),
    )
    who = black if black == white else f"{black} {white}"
    provenance = [f"{shard.campaign} {shard.size} {who} {seed} {shard.engine_version} " for seed in seeds]
    ids = [_game_id(text, played["moves"][offsets[game] : offsets[game + 1]]) for game, text in enumerate(provenance)]
    columns = {
        "game_id": pa.array(ids, pa.binary(16)),
        "campaign": pa.array([shard.campaign] * count),
        "shard": pa.array([shard.number] * count, pa.uint32()),
        "size": pa.array([shard.size] * count, pa.uint8()),
        "opening_length": pa.array(opening_lengths, pa.uint16()),
        "moves": per_move(pa.array(played["moves"]), kinds["moves"]),
        "winner": pa.array([WINNERS[w] for w in played["winner"]]),
        "ended_by": pa.array([ENDINGS[e] for e in played["ended_by"]]),
        "swapped": pa.array([False] * count),
        "black": pa.array([black] * count),
        "white": pa.array([white] * count),
        "seed": pa.array(seeds, pa.uint64()),
        "budget": per_move(pa.array(played["budget"]), kinds["budget"]),
        "root_value": per_move(pa.array(played["root_value"]), kinds["root_value"]),
        "visits": per_move(visits, kinds["visits"]),
        "sampled": per_move(pa.array(played["sampled"].astype(bool)), kinds["sampled"]),
        "engine_version": pa.array([shard.engine_version] * count, pa.uint32()),
        "net_hash": pa.nulls(count, pa.string()),
    }
    return pa.table([columns[field.name] for field in schema], schema=schema)


def _game_id(provenance: str, moves: np.ndarray) -> bytes:
    return hashlib.sha256(provenance.encode() + moves.astype("<u2").tobytes()).digest()[:16]


NOTES_COLUMNS = ("moves", "opening_length", "ended_by", "budget")


def notes_of(table: pa.Table) -> dict[str, int]:
    """What progress tells of games: how many, their searched positions and playouts, and how they ended."""
    budget = table.column("budget").combine_chunks().flatten().to_numpy()
    plies = int(table.column("moves").combine_chunks().value_lengths().to_numpy().sum())
    endings = Counter(table.column("ended_by").to_pylist())
    return {
        "games": table.num_rows,
        "positions": plies - int(table.column("opening_length").to_numpy().sum()),
        "playouts": int(budget.sum(dtype=np.uint64)),
        **{name: endings[name] for name in ENDINGS if endings[name]},
    }


METRICS_COLUMNS = ("moves", "opening_length", "winner", "ended_by", "black", "white")


def games_metrics(tables: Iterable[pa.Table]) -> dict[str, object]:
    """Figures of a campaign, from its shards one at a time."""
    wins: Counter[str] = Counter()
    endings: Counter[str] = Counter()
    plies = forced = 0
    by_pairing: dict[tuple[str, str], Counter[str]] = {}
    for table in tables:
        columns = [table.column(name).to_pylist() for name in ("winner", "black", "white")]
        lengths = table.column("moves").combine_chunks().value_lengths().to_pylist()
        for winner, black, white, length in zip(*columns, lengths, strict=True):
            pair = by_pairing.setdefault((black, white), Counter())
            pair.update(games=1, black_wins=winner == "black", plies=length)
        wins.update(columns[0])
        endings.update(table.column("ended_by").to_pylist())
        plies += sum(lengths)
        forced += int(table.column("opening_length").to_numpy().sum())
    figures: dict[str, object] = {
        "games": wins.total(),
        "black_wins": wins["black"],
        "white_wins": wins["white"],
        "plies": plies,
        "positions": plies - forced,
        "ended_by": {name: endings[name] for name in ENDINGS if endings[name]},
    }
    if any(black != white for black, white in by_pairing) and len(by_pairing) <= MOST_PAIRINGS:
        figures["pairings"] = [
            {"black": black, "white": white, **{name: pair[name] for name in ("games", "black_wins", "plies")}}
            for (black, white), pair in sorted(by_pairing.items())
        ]
    return figures


def folder_metrics(folder: Path, found: Iterable[Shard]) -> dict[str, object]:
    return games_metrics(read_table(folder / shard.name, "games", METRICS_COLUMNS) for shard in found)


def advance(meter: Meter, shard: Shard, made: Made | None, folder: Path) -> None:
    """Tell of a shard; `made` is None if it was already there."""
    notes = dict(made.notes) if made else notes_of(read_table(folder / shard.name, "games", NOTES_COLUMNS))
    playouts, games = notes.pop("playouts"), notes.pop("games")
    meter.advance(games, fresh=made is not None, rates={"playouts": playouts}, **notes)


def generate(
    campaign: str,
    size: int,
    params: GamesParams,
    folder: Path,
    where: str | None = None,
    workers: Workers | None = None,
    log: Path | None = None,
) -> dict[str, int]:
    """Fill the folder with the campaign's shards on a cluster, and nothing else. Shards that are there stay.

    Returns what was played now and what was there; Unfinished if shards are missing in the end.
    """
    check_games(size, params)
    wanted = shards(campaign, size, params)
    missing = unfinished(folder, wanted)
    names = {shard.name for shard in missing}
    with Meter(f"games {campaign}", len(wanted) * params.per_shard, "games", log) as meter:
        for shard in wanted:
            if shard.name not in names:
                advance(meter, shard, None, folder)
        failures: dict[str, str] = {}
        if missing:
            with connect(where, workers) as client:

                def done(shard: Shard, made: Made) -> None:
                    advance(meter, shard, made, folder)

                if client.cluster is not None:  # whoever has a scheduler of his own knows its page
                    meter.tell(f"Dask's page: {client.dashboard_link}")
                failures = complete(client, play_shard, missing, folder, done)
    if failures:
        raise Unfinished(set_aside(failures, len(wanted)))
    remove_others(folder, [shard.name for shard in wanted])
    there = (len(wanted) - len(missing)) * params.per_shard
    return {"games": meter.done, "found": there, "played": meter.done - there, **meter.notes}
