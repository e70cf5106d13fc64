"""Games to pattern weights: how likely a move is, by the stones around it, as the search of recorded games saw it.

Every candidate move has one feature, its pattern, and wins against the others of its position with a probability
proportional to the pattern's strength (a generalised Bradley-Terry model, Coulom 2007). The shares of the search's
visits are the wins. Minorisation-maximisation finds the strengths. `rebuild(read_params().patterns)` gives what is
committed as hexdata/engine/patterns.bin, in minutes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hexdata import engine, generate
from hexdata.params import PatternsParams

MAGIC = b"HEXPAT01"
RING = 0xFFF
NEAR = 1 << 24
SIX_CELLS = 1 << 24
"""In a key of the file: only the six neighbours count."""
PRIOR_FAR, PRIOR_NEAR, PLAYOUT_FAR, PLAYOUT_NEAR = range(4)
FIRST_SIX = 1 << 25
"""In a feature: a six-cell pattern; bits 0-23 the code, bit 24 near."""

Features: TypeAlias = NDArray[np.uint32]


@dataclass(frozen=True)
class Competitions:
    """Positions and their candidates: `wins` of the candidates of one position add up to 1."""

    codes: Features
    starts: NDArray[np.int64]
    """The first candidate of each position."""
    wins: NDArray[np.float64]
    game: NDArray[np.int64]
    """Of each position."""


@dataclass(frozen=True)
class Weights:
    """What the engine reads. Strengths by key of the file."""

    cap: float
    """Far moves of a playout are never stronger than this: sharp playouts are biased (mohex-player.md 2.1)."""
    strengths: dict[int, float]

    def file(self) -> bytes:
        """Logarithms in units of 1/256, so that the last bits of a sum never matter."""

        def logarithm(strength: float) -> int:
            return int(np.clip(np.rint(256 * np.log2(strength)), -32768, 32767))

        entries = b"".join(struct.pack("<Ih", key, logarithm(value)) for key, value in sorted(self.strengths.items()))
        return MAGIC + struct.pack("<iI", logarithm(self.cap), len(self.strengths)) + entries


def rebuild(params: PatternsParams) -> bytes:
    """The weights file of these params, games included."""
    shards = generate.shards("patterns", params.size, params.games)
    tables = [pq.read_table(pa.BufferReader(generate.make_shard(shard))) for shard in shards]
    return learn(pa.concat_tables(tables), params)[0].file()


def learn(games: pa.Table, params: PatternsParams) -> tuple[Weights, dict[str, float]]:
    """Weights for the prior and for playouts, and how well they predict the games that were held out.

    The metrics are mean log-likelihoods of the search's visit shares in nats a position, and those of a uniform guess.
    """
    strengths: dict[int, float] = {}
    metrics: dict[str, float] = {}

    prior = competitions(games, filled=True)
    features = backed_off(prior.codes, params.min_count)
    found, metrics["prior"], metrics["prior_uniform"] = fitted(prior, features, params)
    ring_features = six_cells(prior.codes)
    # a rare pattern whose ring was never rare before
    strengths |= _keys(fitted(prior, ring_features, params)[0], PRIOR_FAR, PRIOR_NEAR)
    strengths |= _keys(found, PRIOR_FAR, PRIOR_NEAR)

    playout = competitions(games, filled=False)
    near = (playout.codes & NEAR) != 0
    features = np.where(near, backed_off(playout.codes, params.min_count), six_cells(playout.codes))
    found, metrics["playout"], metrics["playout_uniform"] = fitted(playout, features, params)
    strengths |= _keys(found, PLAYOUT_FAR, PLAYOUT_NEAR)
    far_strengths = np.array([found[int(feature)] for feature in np.unique(features[~near])])
    counts = np.unique(features[~near], return_counts=True)[1]
    order = np.argsort(far_strengths, kind="stable")
    below = np.cumsum(counts[order]) / counts.sum()
    cap = float(far_strengths[order][np.searchsorted(below, params.cap)])
    return Weights(cap, strengths), metrics


def competitions(games: pa.Table, *, filled: bool) -> Competitions:
    """The searched positions of the games. Playouts always save a bridge, so they learn nothing where one is cut."""
    parts = list(_competitions_by_size(games, filled))
    bounds = np.cumsum([0] + [len(part.codes) for part in parts[:-1]])
    return Competitions(
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.starts + bound for part, bound in zip(parts, bounds, strict=True)]),
        np.concatenate([part.wins for part in parts]),
        np.concatenate([part.game for part in parts]),
    )


def _competitions_by_size(games: pa.Table, filled: bool) -> Iterator[Competitions]:
    sizes = games.column("size").to_numpy()
    for size in sorted(set(sizes.tolist())):
        numbers = np.flatnonzero(sizes == size)
        rows = games.take(pa.array(numbers))
        moves = rows.column("moves").combine_chunks()
        offsets = np.concatenate([[0], np.cumsum(moves.value_lengths().to_numpy())]).astype(np.int64)
        found = engine.pattern_candidates(size, moves.flatten().to_numpy(), offsets, filled)
        visits = rows.column("visits").combine_chunks().flatten()
        cells, counts = visits.field(0), visits.field(1)
        visited = np.repeat(np.arange(len(visits)), cells.value_lengths().to_numpy())
        lengths = np.diff(found["offsets"])
        position = np.repeat(np.arange(len(lengths)), lengths)
        # both lists are sorted by position and cell
        candidates = position * 361 + found["cells"]
        wanted = visited * 361 + cells.flatten().to_numpy()
        place = np.searchsorted(candidates, wanted)
        there = candidates[np.minimum(place, len(candidates) - 1)] == wanted
        wins = np.zeros(len(candidates))
        wins[place[there]] = counts.flatten().to_numpy()[there]
        total = np.bincount(position, weights=wins, minlength=len(lengths))
        used = (total > 0) & (lengths > 1)
        if not filled:
            used &= found["bridge"] == 0
        keep = used[position]
        yield Competitions(
            found["codes"][keep],
            np.concatenate([[0], np.cumsum(lengths[used])])[:-1].astype(np.int64),
            (wins / np.maximum(total, 1)[position])[keep],
            np.repeat(numbers, np.diff(offsets))[used],
        )


def six_cells(codes: Features) -> Features:
    """The six-cell feature of each code; its own half-turn, like the twelve-cell code's, is the same pattern."""
    ring = codes & RING
    turned = ((ring >> 6) | (ring << 6)) & RING
    features: Features = np.minimum(ring, turned) | (codes & NEAR) | FIRST_SIX
    return features


def backed_off(codes: Features, min_count: int) -> Features:
    """The twelve-cell pattern where it is frequent enough to learn from, else the six-cell one."""
    _, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return np.where(counts[inverse] >= min_count, codes, six_cells(codes))


def fitted(
    competitions: Competitions, features: Features, params: PatternsParams
) -> tuple[dict[int, float], float, float]:
    """Strength by feature, and the log-likelihood of the held-out tenth of the games, theirs and a uniform guess's."""
    names, ids = np.unique(features, return_inverse=True)
    held_out = competitions.game % 10 == 9
    lengths = np.diff(np.append(competitions.starts, len(ids)))
    strengths = minorise(
        ids, lengths, np.where(np.repeat(held_out, lengths), 0.0, competitions.wins), len(names), params
    )
    of_candidate = strengths[ids]
    totals = np.add.reduceat(of_candidate, competitions.starts)
    likely = np.add.reduceat(competitions.wins * np.log(of_candidate), competitions.starts) - np.log(totals)
    score = float(likely[held_out].mean()) if held_out.any() else 0.0
    uniform = float(-np.log(lengths[held_out]).mean()) if held_out.any() else 0.0
    return dict(zip(names.tolist(), strengths.tolist(), strict=True)), score, uniform


def minorise(
    ids: NDArray[np.int64], lengths: NDArray[np.int64], wins: NDArray[np.float64], count: int, params: PatternsParams
) -> NDArray[np.float64]:
    """The strengths of `count` features; positions without wins are ignored.

    Each feature also wins and loses `prior` games against a strength of 1, so that none is 0 or infinite.
    """
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    played = np.add.reduceat(wins, starts) > 0
    won = np.bincount(ids, weights=wins, minlength=count)
    strengths = np.ones(count)
    for _ in range(params.passes):
        totals = np.add.reduceat(strengths[ids], starts)
        shares = np.repeat(np.where(played, 1.0 / totals, 0.0), lengths)
        against = np.bincount(ids, weights=shares, minlength=count)
        strengths = (won + params.prior) / (against + 2 * params.prior / (strengths + 1.0))
    return strengths


def _keys(found: dict[int, float], far: int, near: int) -> dict[int, float]:
    """Features as keys of the weights file."""
    result = {}
    for feature, strength in found.items():
        six = SIX_CELLS if feature & FIRST_SIX else 0
        kind = near if feature & NEAR else far
        result[kind << 28 | six | (feature & 0xFFFFFF)] = strength
    return result
