"""Games to pattern weights: how likely a move is, by the stones around it, as the search of recorded games saw it.

Every candidate move has two features: the cells around it and, if it is near the last move, its place among the cells
around that. It wins against the others of its position with a probability proportional to the product of the features'
strengths (a generalised Bradley-Terry model, Coulom 2007). The shares of the search's visits are the wins.
Minorisation-maximisation finds the strengths. The games are a campaign of their own, played by `mohex-2011`, which
reads no weights; `promote` gives what was learned to the engine.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hexdata import engine, generate
from hexdata.errors import BadInput
from hexdata.params import BadParams, PatternsParams
from hexdata.records import params_hash, write_json, write_whole

ENGINE = Path("hexdata/engine")
"""The engine's sources, from the project's root: what `promote` writes to."""

MAGIC = b"HEXPAT02"
RING = np.uint32(0xFFF)
NEAR = 1 << 24
"""In a code: near the last move."""
CODE_SIX, REPLY_SIX = 1 << 25, 1 << 28
"""In a feature: only the six neighbours count."""
NO_REPLY = 0
"""The feature, always of strength 1, of a move that is not near the last one."""
PRIOR_FAR, PRIOR_NEAR, PRIOR_REPLY, PLAYOUT, PLAYOUT_REPLY = range(5)

Features: TypeAlias = NDArray[np.uint32]
Numbers: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Competitions:
    """Positions and their candidates: `wins` of the candidates of one position add up to 1."""

    codes: Features
    replies: Features
    starts: Indices
    """The first candidate of each position."""
    wins: Numbers
    game: Indices
    """Of each position."""

    def lengths(self) -> Indices:
        return np.diff(np.append(self.starts, len(self.codes)))


@dataclass(frozen=True)
class Family:
    """Features of which every candidate has one."""

    names: Features
    ids: Indices
    """By candidate, into names."""
    neutral: NDArray[np.bool_]
    """By name: strength 1, whatever happens."""

    @classmethod
    def of(cls, features: Features, neutral: int | None = None) -> Family:
        names, ids = np.unique(features, return_inverse=True)
        return cls(names, ids, names == neutral if neutral is not None else np.zeros(len(names), bool))


@dataclass(frozen=True)
class Weights:
    """What the engine reads. Strengths by key of the file."""

    ordinary: float
    """No move of a playout but a reply is stronger than this: sharp playouts are biased (mohex-player.md 2.1)."""
    strengths: dict[int, float]

    def file(self) -> bytes:
        """Logarithms in units of 1/256, so that the last bits of a sum never matter."""

        def logarithm(strength: float) -> int:
            return int(np.clip(np.rint(256 * np.log2(strength)), -32768, 32767))

        entries = b"".join(struct.pack("<Ih", key, logarithm(value)) for key, value in sorted(self.strengths.items()))
        return MAGIC + struct.pack("<iI", logarithm(self.ordinary), len(self.strengths)) + entries


@dataclass(frozen=True)
class Origin:
    """Where the engine's weights come from: hexdata/engine/patterns.json."""

    learned_by: int
    """The engine version that played the games."""
    promoted_as: int
    """The version that the weights made."""
    params: str
    """A hash of the params that rebuild them."""


def read_origin(folder: Path) -> Origin:
    return Origin(**json.loads((folder / "patterns.json").read_text()))


def playing_version(current: int, origin: Origin) -> int:
    """The engine version that the campaign's games carry.

    A promotion raises the version but changes nothing that mohex-2011 reads: its games are still those of the version
    before, so that what was promoted can be rebuilt, byte for byte, by the engine that has it.
    """
    return origin.learned_by if current == origin.promoted_as else current


def learning_key(params: PatternsParams) -> str:
    """What the weights depend on; more shards are other weights."""
    return params_hash(params.model_dump())


def shards(params: PatternsParams) -> list[generate.Shard]:
    """The campaign; BadParams unless its player is one that plays the same with any weights."""
    for player in params.games.players:
        if player.partition(":")[0] != "mohex-2011":
            raise BadParams(f"patterns.games.player: expected mohex-2011, which reads no weights, not {player!r}")
    generate.check_games(params.size, params.games)
    version = playing_version(engine.ENGINE_VERSION, read_origin(Path(engine.__file__).parent))
    plain = generate.shards("patterns", params.size, params.games)
    return [replace(shard, engine_version=version) for shard in plain]


def promote(weights: Path, metrics: Path, params: PatternsParams) -> Origin:
    """Make the learned weights the engine's own and raise its version; BadInput, and nothing changed, if they are not
    what these params give, or if the engine has them already.
    """
    number = ENGINE / "VERSION"
    for path, remedy in (
        (number, "run from the project's root"),
        (weights, "run `dvc repro patterns/dvc.yaml` to learn them"),
        (metrics, "run `dvc repro patterns/dvc.yaml` to learn them"),
    ):
        if not path.is_file():
            raise BadInput(f"{path}: no such file; {remedy}")
    content, notes = weights.read_bytes(), json.loads(metrics.read_text())
    if notes["weights_sha256"] != hashlib.sha256(content).hexdigest():
        raise BadInput(f"{weights}: not the weights that {metrics} tells of; run `dvc repro patterns/dvc.yaml`")
    current = int(number.read_text())
    playing = playing_version(current, read_origin(ENGINE))
    if notes["params"] != learning_key(params) or notes["engine_version"] != playing:
        raise BadInput(
            f"{weights}: learned with other params or another engine than are here now; "
            "run `dvc repro patterns/dvc.yaml`"
        )
    if content == (ENGINE / "patterns.bin").read_bytes():
        raise BadInput(f"the engine, version {current}, has these weights already; nothing was changed")
    try:
        engine.load_patterns(content)
    except ValueError as error:
        raise BadInput(f"{weights}: {error}") from None
    origin = Origin(playing, current + 1, learning_key(params))
    write_whole(ENGINE / "patterns.bin", content)
    write_json(ENGINE / "patterns.json", asdict(origin))
    write_whole(number, f"{current + 1}\n".encode())
    return origin


def learn(games: pa.Table, params: PatternsParams) -> tuple[bytes, dict[str, object]]:
    """The weights file, and what it was made of.

    The metrics are mean log-likelihoods of the search's visit shares, in nats a position of the held-out games, beside
    those of a uniform guess.
    """
    prior, prior_metrics = learn_prior(competitions(games, filled=True), params)
    playout, ordinary, playout_metrics = learn_playout(competitions(games, filled=False), params)
    file = Weights(ordinary, prior | playout).file()
    return file, {
        "games": games.num_rows,
        "prior": prior_metrics,
        "playout": playout_metrics,
        "engine_version": games.column("engine_version")[0].as_py(),
        "params": learning_key(params),
        "weights_sha256": hashlib.sha256(file).hexdigest(),
    }


def learn_prior(found: Competitions, params: PatternsParams) -> tuple[dict[int, float], dict[str, object]]:
    """Strengths by key of the file: moves by their twelve cells, near the last move and far from it, and replies."""
    moves = Family.of(backed_off(found.codes, six_cells(found.codes), params.min_count))
    replies = Family.of(backed_off(found.replies, six_cell_replies(found.replies), params.min_count), NO_REPLY)
    strengths = minorise((moves, replies), found, params)
    # for a rare pattern whose ring was never rare before
    rings = Family.of(six_cells(found.codes))
    ring_replies = Family.of(six_cell_replies(found.replies), NO_REPLY)
    coarse = minorise((rings, ring_replies), found, params)
    keys: dict[int, float] = {}
    for family, reply_family, (of_moves, of_replies) in ((rings, ring_replies, coarse), (moves, replies, strengths)):
        keys |= _code_keys(family, of_moves, PRIOR_FAR, PRIOR_NEAR) | _reply_keys(reply_family, of_replies, PRIOR_REPLY)
    chances = strengths[0][moves.ids] * strengths[1][replies.ids]
    return keys, {**predicted(found, chances), "patterns": len(moves.names) + len(replies.names) - 1}


def learn_playout(found: Competitions, params: PatternsParams) -> tuple[dict[int, float], float, dict[str, object]]:
    """The same for playouts, which look at six cells around a move and at twelve around the last one, and the strength
    of an ordinary move: stronger ones are as strong, and what they lose the replies learn to make up for.
    """
    moves = Family.of(six_cells(found.codes & ~np.uint32(NEAR)))
    replies = Family.of(backed_off(found.replies, six_cell_replies(found.replies), params.min_count), NO_REPLY)
    of_moves = minorise((moves, replies), found, params)[0]
    far = moves.ids[found.replies == NO_REPLY]
    counts = np.bincount(far, minlength=len(moves.names))
    order = np.argsort(of_moves, kind="stable")
    below = np.cumsum(counts[order]) / counts.sum()
    ordinary = float(of_moves[order][np.searchsorted(below, params.cap)])
    capped = np.minimum(of_moves, ordinary)
    given = capped[moves.ids] / ordinary
    (of_replies,) = minorise((replies,), found, params, given)
    ring_replies = Family.of(six_cell_replies(found.replies), NO_REPLY)
    (coarse,) = minorise((ring_replies,), found, params, given)
    keys = _code_keys(moves, capped, PLAYOUT, PLAYOUT)
    keys |= _reply_keys(ring_replies, coarse, PLAYOUT_REPLY) | _reply_keys(replies, of_replies, PLAYOUT_REPLY)
    metrics = predicted(found, given * of_replies[replies.ids])
    return keys, ordinary, {**metrics, "patterns": len(moves.names) + len(replies.names) - 1}


def competitions(games: pa.Table, *, filled: bool) -> Competitions:
    """The searched positions of the games. Playouts always save a bridge, so they learn nothing where one is cut."""
    parts = list(_competitions_by_size(games, filled))
    bounds = np.cumsum([0] + [len(part.codes) for part in parts[:-1]])
    return Competitions(
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.replies for part in parts]),
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
            found["replies"][keep],
            np.concatenate([[0], np.cumsum(lengths[used])])[:-1].astype(np.int64),
            (wins / np.maximum(total, 1)[position])[keep],
            np.repeat(numbers, np.diff(offsets))[used],
        )


def six_cells(codes: Features) -> Features:
    """The six-cell feature of each code; its own half-turn, like the twelve-cell code's, is the same pattern."""
    ring = _ring(codes)
    features: Features = np.minimum(ring, _turned(ring)) | (codes & NEAR) | CODE_SIX
    return features


def six_cell_replies(replies: Features) -> Features:
    """The same for replies, whose places turn with the ring."""
    ring, place = _ring(replies), (replies >> 24).astype(np.int64) - 1
    opposite = place // 6 * 6 + (place + 3) % 6
    first = ring | (place + 1).astype(np.uint32) << 24
    second = _turned(ring) | (opposite + 1).astype(np.uint32) << 24
    return np.where(replies == NO_REPLY, np.uint32(NO_REPLY), np.minimum(first, second) | REPLY_SIX)


def _ring(codes: Features) -> Features:
    ring: Features = codes & RING
    return ring


def _turned(ring: Features) -> Features:
    half = np.uint32(6)
    return _ring(ring >> half | ring << half)


def backed_off(features: Features, coarse: Features, min_count: int) -> Features:
    """The feature where it is frequent enough to learn from, else the coarse one."""
    _, inverse, counts = np.unique(features, return_inverse=True, return_counts=True)
    return np.where(counts[inverse] >= min_count, features, coarse)


def is_held_out(found: Competitions) -> NDArray[np.bool_]:
    """By position: one game in ten is for the metrics."""
    held_out: NDArray[np.bool_] = found.game % 10 == 9
    return held_out


def predicted(found: Competitions, chances: Numbers) -> dict[str, object]:
    """How well strengths predict the held-out games. Rounded: the last bits of a logarithm differ between machines."""
    held_out = is_held_out(found)
    totals = np.add.reduceat(chances, found.starts)
    likely = np.add.reduceat(found.wins * np.log(chances), found.starts) - np.log(totals)
    uniform = -np.log(found.lengths())
    scores = {"log_likelihood": likely, "uniform_log_likelihood": uniform}
    return {
        "positions": len(found.starts),
        "held_out": int(held_out.sum()),
        **{name: round(float(score[held_out].mean()), 4) for name, score in scores.items() if held_out.any()},
    }


def minorise(
    families: Sequence[Family], found: Competitions, params: PatternsParams, given: Numbers | None = None
) -> list[Numbers]:
    """The strengths of each family's features, learned from the positions that are not held out.

    A candidate's strength is the product of its features' and of what is `given`. One family moves at a time, so the
    likelihood never falls. Each feature also wins and loses `prior` games against a strength of 1, so that none is 0 or
    infinite.
    """
    lengths = found.lengths()
    used = np.repeat(~is_held_out(found), lengths)
    wins = np.where(used, found.wins, 0.0)
    strengths = [np.ones(len(family.names)) for family in families]
    won = [np.bincount(family.ids, weights=wins, minlength=len(family.names)) for family in families]
    for _ in range(params.passes):
        for turn, family in enumerate(families):
            others = np.ones(len(wins)) if given is None else given.copy()
            for number, other in enumerate(families):
                if number != turn:
                    others *= strengths[number][other.ids]
            totals = np.add.reduceat(others * strengths[turn][family.ids], found.starts)
            shares = np.where(used, others / np.repeat(totals, lengths), 0.0)
            against = np.bincount(family.ids, weights=shares, minlength=len(family.names))
            moved = (won[turn] + params.prior) / (against + 2 * params.prior / (strengths[turn] + 1.0))
            strengths[turn] = np.where(family.neutral, 1.0, moved)
    return strengths


def _code_keys(family: Family, strengths: Numbers, far: int, near: int) -> dict[int, float]:
    """Features as keys of the weights file: set << 29 | six cells << 24 | code."""
    result = {}
    for feature, strength in zip(family.names.tolist(), strengths.tolist(), strict=True):
        six, kind = bool(feature & CODE_SIX), near if feature & NEAR else far
        result[kind << 29 | six << 24 | (feature & 0xFFFFFF)] = strength
    return result


def _reply_keys(family: Family, strengths: Numbers, kind: int) -> dict[int, float]:
    """The same for replies, with their place: step << 25."""
    result = {}
    for feature, strength in zip(family.names.tolist(), strengths.tolist(), strict=True):
        if feature != NO_REPLY:
            six, step = bool(feature & REPLY_SIX), (feature >> 24 & 15) - 1
            result[kind << 29 | step << 25 | six << 24 | (feature & 0xFFFFFF)] = strength
    return result
