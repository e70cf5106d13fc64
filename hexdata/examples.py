"""Games to unique examples: one row per orbit of a position under the four symmetries, with all that was played there.

Late positions are solved within a node budget and marked as proved, so that a noisy result can be replaced by truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import comb
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hexdata import engine
from hexdata.board import packed_width
from hexdata.cluster import Workers
from hexdata.dedup import (
    bits_for,
    client_for,
    deal_all,
    examples_of,
    fold,
    fold_all,
    found_in,
    keys_of_rows,
    spill_folder,
)
from hexdata.occurrences import Records, occurrences, piece_bytes, pieces, read_piece, survey
from hexdata.params import ExamplesParams
from hexdata.records import params_hash, remove_others, table_bytes, write_whole

NOTHING_PROVED = ExamplesParams()

PROOF_TABLE_MB = 1
"""Budgets of late positions are a few hundred nodes."""


class Ply(NamedTuple):
    """One line of plies.csv: what is known of the positions with `ply` stones."""

    ply: int
    raw: int
    unique: int
    repeated: int
    """Unique positions that more than one game met."""
    disagreeing: int
    """Unique positions with games won by either side."""
    proved: int
    """Unique positions whose winner is proved."""
    policies: int
    """Unique positions with a search policy."""
    entropy: float
    """Of the policies, in bits, on average."""


class Result(NamedTuple):
    """One line of results.csv: games through proved positions, and how many ended against the proof."""

    ply: int
    player: str
    """Who was to move."""
    games: int
    wrong: int


@dataclass(frozen=True)
class Built:
    raw: int
    forced: int
    unique: int
    plies: list[Ply]
    results: list[Result]
    openings: dict[str, dict[str, int]]
    """By number of stones: distinct positions that were met, and how many there are."""


@dataclass(frozen=True)
class Partition:
    """What a worker makes of one partition."""

    content: bytes
    plies: dict[int, list[int]]
    """The counts of `Ply`, then the sum of entropies in 2**-20 bits: integers add up the same in any order."""
    results: dict[tuple[int, int], list[int]]


ENTROPY_UNIT = 2**-20

Key = TypeVar("Key")


def _line(ply: int, counts: Sequence[int]) -> Ply:
    raw, unique, repeated, disagreeing, proved, policies, entropy = counts
    mean = round(entropy * ENTROPY_UNIT / max(policies, 1), 4)
    return Ply(ply, raw, unique, repeated, disagreeing, proved, policies, mean)


def reduce(games: pa.Table) -> pa.Table:
    """All games of a table at once: for what fits into memory."""
    return examples_of(fold(occurrences(games, players_of(games)).records))


def players_of(games: pa.Table) -> list[str]:
    return sorted({name for colour in ("black", "white") for name in pc.unique(games.column(colour)).to_pylist()})


def build(
    games: Path,
    out: Path,
    params: ExamplesParams = NOTHING_PROVED,
    cluster: str | None = None,
    workers: Workers | None = None,
) -> Built:
    """All games of a campaign into out/examples-*.parquet, sorted by key over all files."""
    found = survey(games)
    bits = bits_for(found.moves)
    lineage = {
        "engine_version": engine.ENGINE_VERSION,
        "games_rows_sha256": found.shards,
        "params_sha256": params_hash(params.model_dump()),
    }
    names = [f"examples-{p:05d}-of-{2**bits:05d}.parquet" for p in range(2**bits)]
    plies: dict[int, list[int]] = {}
    results: dict[tuple[int, int], list[int]] = {}
    with spill_folder(out) as folder, client_for(bits, cluster, workers) as client:
        payloads = (piece_bytes(piece) for piece in pieces(found.paths))
        forced = deal_all(client, payloads, partial(_read, found.players), bits, folder)
        finish = partial(_finish, params, lineage)
        for p, part in fold_all(client, folder, found.size, bits, finish, lambda p: None):
            write_whole(out / names[p], part.content)
            add_counts(plies, part.plies)
            add_counts(results, part.results)
    remove_others(out, names)
    lines = [_line(ply, counts) for ply, counts in sorted(plies.items())]
    return Built(
        raw=sum(line.raw for line in lines),
        forced=sum(forced),
        unique=sum(line.unique for line in lines),
        plies=lines,
        results=[Result(ply, found.players[who], *counts) for (ply, who), counts in sorted(results.items())],
        openings={str(line.ply): {"met": line.unique, "of": positions_at(found.size, line.ply)} for line in lines[:3]},
    )


def add_counts(total: dict[Key, list[int]], more: dict[Key, list[int]]) -> None:
    for key, counts in more.items():
        before = total.setdefault(key, [0] * len(counts))
        total[key] = [a + b for a, b in zip(before, counts, strict=True)]


def _read(players: Sequence[str], content: bytes) -> tuple[Records, int]:
    found = occurrences(read_piece(content), players)
    return found.records, found.forced


def _finish(params: ExamplesParams, lineage: dict[str, object], p: int, records: Records, _: None) -> Partition:
    rows = examples_of(fold(records))
    proved = prove(rows, records.size, params)
    rows = rows.set_column(rows.schema.get_field_index("proved"), rows.schema.field("proved"), proved)
    return Partition(table_bytes(rows, "examples", lineage), _by_ply(rows), _against_proof(records, rows))


def prove(rows: pa.Table, size: int, params: ExamplesParams) -> pa.Array:
    """The value of each late enough position for the side to move, null where the budget ran out."""
    values = np.zeros(rows.num_rows, np.int8)
    ply = rows.column("ply").to_numpy()
    late = np.flatnonzero(ply >= params.prove_from_ply) if params.prove_limit_nodes else np.zeros(0, np.int64)
    black, white = (_cells(rows.column(name), size, late) for name in ("black", "white"))
    movers = rows.column("to_move").take(late).to_pylist()
    # one ply at a time: a batch lends proofs to positions one move before, and a value must depend on its position
    # alone
    for number in np.unique(ply[late]).tolist():
        batch = np.flatnonzero(ply[late] == number).tolist()
        solved = engine.solve_batch(
            size,
            [(black[i], white[i], movers[i]) for i in batch],
            limit_nodes=params.prove_limit_nodes,
            table_mb=PROOF_TABLE_MB,
        )
        for i, solution in zip(batch, solved, strict=True):
            if solution.winner != "unknown":
                values[late[i]] = 1 if solution.winner == movers[i] else -1
    return pa.array(values, pa.int8(), mask=values == 0)


def _cells(packed: pa.ChunkedArray, size: int, rows: NDArray[np.int64]) -> list[list[int]]:
    raw = np.frombuffer(b"".join(packed.take(rows).to_pylist()), np.uint8).reshape(-1, packed_width(size))
    stones = np.unpackbits(raw, axis=1, bitorder="little", count=size * size)
    return [np.flatnonzero(row).tolist() for row in stones]


def _by_ply(rows: pa.Table) -> dict[int, list[int]]:
    ply = rows.column("ply").to_numpy().astype(np.int64)
    games, z_sum = rows.column("games").to_numpy().astype(np.int64), rows.column("z_sum").to_numpy()
    policy, entropy = entropies(rows)
    columns = (
        games,
        np.ones(len(ply), np.int64),
        games > 1,
        np.abs(z_sum) < games,
        rows.column("proved").is_valid().to_numpy(),
        policy,
        np.rint(entropy / ENTROPY_UNIT).astype(np.int64),
    )
    return {number: [int(column[ply == number].sum()) for column in columns] for number in np.unique(ply).tolist()}


def entropies(rows: pa.Table) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which rows have a search policy, and its entropy in bits, else 0."""
    lengths = pc.list_value_length(rows.column("policy_cells")).to_numpy()
    visits = pc.list_flatten(rows.column("policy_visits")).to_numpy().astype(np.float64)
    row = np.repeat(np.arange(len(lengths)), lengths)
    total = np.bincount(row, visits, len(lengths))
    some = visits > 0
    weighed = np.bincount(row[some], visits[some] * np.log2(visits[some]), len(lengths))
    has = total > 0
    entropy = np.zeros(len(lengths))
    entropy[has] = np.log2(total[has]) - weighed[has] / total[has]
    return has, entropy


def _against_proof(records: Records, rows: pa.Table) -> dict[tuple[int, int], list[int]]:
    """By ply and player to move: games through proved positions, and those that the other side won."""
    known = rows.filter(rows.column("proved").is_valid())
    is_known, places = found_in(records.fixed["key"], keys_of_rows(known))
    met = records.fixed[is_known]
    wins = known.column("proved").to_numpy()[places[is_known]] > 0
    wrong = wins != (met["won"] != 0)
    pairs, number = np.unique(np.stack([met["ply"], met["player"]], axis=1), axis=0, return_inverse=True)
    games, against = np.bincount(number.ravel(), minlength=len(pairs)), np.bincount(number.ravel(), wrong, len(pairs))
    return {(ply, player): [int(games[i]), int(against[i])] for i, (ply, player) in enumerate(pairs.tolist())}


def positions_at(size: int, ply: int) -> int:
    """How many positions with `ply` stones alternate play can reach, up to the half-turn, decided ones included.

    By Burnside: half of all positions and of those that the half-turn leaves as they are.
    """
    cells, black, white = size * size, (ply + 1) // 2, ply // 2
    everything = comb(cells, black) * comb(cells - black, white)
    pairs, centre = cells // 2, cells % 2
    unmoved = 0
    for centre_black, centre_white in ((0, 0), (1, 0), (0, 1)):
        b, w = black - centre_black, white - centre_white
        if centre_black + centre_white <= centre and min(b, w) >= 0 and not (b % 2 or w % 2):
            unmoved += comb(pairs, b // 2) * comb(pairs - b // 2, w // 2)
    return (everything + unmoved) // 2
