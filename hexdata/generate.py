"""Openings to games. A shard is a pure function of the campaign's params and its number, so any worker may make it
and a shard that is already there is never made again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa

from hexdata import engine
from hexdata.openings import Scheme, sweep
from hexdata.params import BadParams, GamesParams
from hexdata.records import SCHEMA_VERSION, games_schema, params_hash, table_bytes

WINNERS = ("black", "white")
ENDINGS = ("chain", "proof", "resign")


@dataclass(frozen=True)
class Shard:
    """Everything that a worker needs to play one shard of a campaign."""

    campaign: str
    number: int
    size: int
    per_shard: int
    player: str
    openings: Scheme
    dither_moves: int
    temperature: float
    seed: int

    @property
    def name(self) -> str:
        return f"games-{self.number:05d}.parquet"

    def key(self) -> str:
        """What the rows depend on; a shard with another key on disk is another campaign's."""
        return params_hash({**asdict(self), "engine": engine.ENGINE_VERSION, "schema": SCHEMA_VERSION})


def shards(campaign: str, size: int, params: GamesParams) -> list[Shard]:
    knobs = params.model_dump(exclude={"shards"})
    return [Shard(campaign=campaign, number=number, size=size, **knobs) for number in range(params.shards)]


def check_player(size: int, params: GamesParams) -> None:
    """Refuse a player that the engine does not know before anything is touched."""
    try:
        engine.play_games(size, params.player, params.player, [], [], dither_moves=0, temperature=1.0)
    except ValueError as error:
        raise BadParams(f"games.player: {error}") from None


def game_seeds(seed: int, first: int, count: int) -> list[int]:
    """64 well-mixed bits per game; the theses' 15-bit worker seeds collided (gao-2020 section 6)."""
    return [
        int.from_bytes(hashlib.sha256(f"game {seed} {game}".encode()).digest()[:8], "little")
        for game in range(first, first + count)
    ]


def make_shard(shard: Shard) -> bytes:
    """Play the shard's games and return its Parquet file."""
    first = shard.number * shard.per_shard
    starts = sweep(shard.openings, shard.size, first, shard.per_shard)
    seeds = game_seeds(shard.seed, first, shard.per_shard)
    played = engine.play_games(
        shard.size,
        shard.player,
        shard.player,
        [list(start) for start in starts],
        seeds,
        dither_moves=shard.dither_moves,
        temperature=shard.temperature,
    )
    table = games_table(shard, [len(start) for start in starts], seeds, played)
    return table_bytes(table, "games", {"key": shard.key(), "campaign": shard.campaign})


def games_table(
    shard: Shard, opening_lengths: Sequence[int], seeds: Sequence[int], played: dict[str, np.ndarray]
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
    ids = [_game_id(shard, seed, played["moves"][offsets[game] : offsets[game + 1]]) for game, seed in enumerate(seeds)]
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
        "black": pa.array([shard.player] * count),
        "white": pa.array([shard.player] * count),
        "seed": pa.array(seeds, pa.uint64()),
        "budget": per_move(pa.array(played["budget"]), kinds["budget"]),
        "root_value": per_move(pa.array(played["root_value"]), kinds["root_value"]),
        "visits": per_move(visits, kinds["visits"]),
        "sampled": per_move(pa.array(played["sampled"].astype(bool)), kinds["sampled"]),
        "engine_version": pa.array([engine.ENGINE_VERSION] * count, pa.uint32()),
        "net_hash": pa.nulls(count, pa.string()),
    }
    return pa.table([columns[field.name] for field in schema], schema=schema)


def _game_id(shard: Shard, seed: int, moves: np.ndarray) -> bytes:
    provenance = f"{shard.campaign} {shard.size} {shard.player} {seed} {engine.ENGINE_VERSION} "
    return hashlib.sha256(provenance.encode() + moves.astype("<u2").tobytes()).digest()[:16]


def games_metrics(table: pa.Table) -> dict[str, object]:
    winners = table.column("winner").to_pylist()
    endings = table.column("ended_by").to_pylist()
    lengths = table.column("moves").combine_chunks().value_lengths().to_numpy()
    openings = table.column("opening_length").to_numpy()
    return {
        "games": len(winners),
        "black_wins": winners.count("black"),
        "white_wins": winners.count("white"),
        "plies": int(lengths.sum()),
        "positions": int(lengths.sum()) - int(openings.sum()),
        "ended_by": {name: endings.count(name) for name in ENDINGS if name in endings},
    }
