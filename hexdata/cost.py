"""What a campaign will cost here, from a short measured sample: CPU time, bytes, and time on some workers.

Games that take minutes each are sampled with their budgets divided by powers of ten, because the cost of a search grows
in proportion to its playouts.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import cycle, islice
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from hexdata.cluster import connect
from hexdata.generate import Shard, pairings, play_shard, shards
from hexdata.params import GamesParams
from hexdata.records import metadata_of, table_bytes
from hexdata.shards import Made, complete

SAMPLE_SECONDS = 10.0
"""Of CPU time, for the sample that the estimate stands on; finding its size takes about as much again."""
OVERHEAD_SHARDS = 12


@dataclass(frozen=True)
class Cost:
    games: int
    positions: int
    cpu_seconds: float
    """Of the workers."""
    bytes: int
    workers: int
    seconds: float
    """By the clock, with that many workers."""
    overhead: float
    """The share of a worker's time that Dask, the client and the disk add, measured here."""
    sample_games: int
    divided_by: int
    """The budgets of the sample were the campaign's divided by this."""

    def json(self) -> dict[str, float]:
        return {name: round(value, 4) for name, value in asdict(self).items()}


@dataclass(frozen=True)
class _Sample:
    games: int
    seconds: float
    positions: int
    content: bytes


def estimate(campaign: str, size: int, params: GamesParams, workers: int) -> Cost:
    """Play a sample of the campaign's games, from its middle, and measure."""
    every = shards(campaign, size, params)
    total = len(every) * params.per_shard
    turn = len(pairings(params.player))
    divisor = 1
    while _largest(params) // (divisor * 10) >= 50:
        divisor *= 10
    # from cheap to dear: each step is ten times nearer to the campaign, until the next would take too long
    _measure(every, divisor, turn)  # loads what is loaded once
    sample = _measure(every, divisor, turn)
    while divisor > 1 and sample.seconds * 10 < SAMPLE_SECONDS:
        divisor //= 10
        sample = _measure(every, divisor, turn)
    turns = int(min(SAMPLE_SECONDS / max(sample.seconds, 1e-3), total / sample.games))
    if turns > 1:
        sample = _measure(every, divisor, turn * turns)
    seconds = sample.seconds
    if divisor > 1:
        # a second budget tells what grows with it from what does not, such as players without playouts
        less = _measure(every, divisor * 10, sample.games).seconds
        growing = max(sample.seconds - less, 0.0) / (1 / divisor - 1 / (10 * divisor))
        seconds = max(sample.seconds - growing / divisor, 0.0) + growing
    cpu_seconds = seconds * total / sample.games
    # small files say more about themselves: one of as many games as a shard has, if the sample has so many
    table = pq.read_table(pa.BufferReader(sample.content)).slice(0, params.per_shard)
    size_bytes = len(table_bytes(table, "games", metadata_of(table))) * total // table.num_rows
    extra = _seconds_a_shard(size_bytes // len(every)) * len(every)
    return Cost(
        games=total,
        positions=sample.positions * total // sample.games,
        cpu_seconds=cpu_seconds,
        bytes=size_bytes,
        workers=workers,
        # in rounds, of which the last takes as long as the others, however few shards are left for it
        seconds=(cpu_seconds + extra) / len(every) * ceil(len(every) / workers),
        overhead=extra / (cpu_seconds + extra),
        sample_games=sample.games,
        divided_by=divisor,
    )


_BUDGET = re.compile(r"\b(playouts|seconds|nodes)=([0-9.]+)(?:-([0-9.]+))?")


def _largest(params: GamesParams) -> int:
    """The largest budget of any player; seconds, which an external engine may have, as thousandths."""
    found = [
        (1000 if name == "seconds" else 1) * float(high or low)
        for p in params.players
        for name, low, high in _BUDGET.findall(p)
    ]
    return int(max(found, default=0))


def divided(player: str, divisor: int) -> str:
    def smaller(text: str, name: str) -> str:
        return f"{float(text) / divisor:g}" if name == "seconds" else str(max(int(text) // divisor, 1))

    def change(found: re.Match[str]) -> str:
        name, low, high = found.groups()
        return f"{name}={smaller(low, name)}" + (f"-{smaller(high, name)}" if high else "")

    return _BUDGET.sub(change, player)


def _measure(every: list[Shard], divisor: int, games: int) -> _Sample:
    """Play this many games with divided budgets, as a shard from the middle of the campaign."""
    like = every[len(every) // 2]
    players = (
        [divided(like.player, divisor)] if isinstance(like.player, str) else [divided(p, divisor) for p in like.player]
    )
    number = like.games[0] // games
    listed = [start for shard in every for start in shard.starts]
    sample = replace(
        like,
        number=number,
        per_shard=games,
        player=players[0] if isinstance(like.player, str) else tuple(players),
        starts=tuple(islice(cycle(listed), number * games, (number + 1) * games)),
    )
    before = _cpu_seconds()
    made = play_shard(sample)
    return _Sample(games, _cpu_seconds() - before, made.notes["positions"], made.content)


def _cpu_seconds() -> float:
    """Of this process and of the engines that it ran."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@dataclass(frozen=True)
class _Echo:
    """A shard that costs nothing to make, to see what a shard costs besides."""

    name: str

    def key(self) -> str:
        return self.name


def _echo(size: int, shard: _Echo) -> bytes:
    return b"x" * size


def _seconds_a_shard(size: int) -> float:
    """What one worker loses on each shard to Dask, to the client and to the disk."""
    with TemporaryDirectory() as folder, connect("local", 1) as client:
        times: list[float] = []

        def done(shard: _Echo, made: Made) -> None:
            times.append(time.monotonic())

        complete(client, partial(_echo, size), [_Echo(str(n)) for n in range(OVERHEAD_SHARDS)], Path(folder), done)
    return (times[-1] - times[0]) / (len(times) - 1)
