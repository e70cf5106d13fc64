"""How good a network is, and what the games say of each opening; every rate and mean comes with its 95 % interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hexdata.arrays import Floats, Positions, cell_sets, positions_of, read_examples
from hexdata.board import cell_map, cell_name
from hexdata.kernels import pin_kernels
from hexdata.records import BadFile, read_folder, read_table

Z_95 = 1.959963984540054
"""Two-sided 95 % point of the normal distribution."""

TOP_K = 10


class TopKRow(NamedTuple):
    """A line of topk.csv."""

    k: int
    rate: float
    low: float
    high: float


class OpeningRow(NamedTuple):
    """A line of openings.csv; rows and columns count from 0."""

    name: str
    row: int
    column: int
    games: int
    black_wins: int
    rate: float
    low: float
    high: float
    proved: str


@dataclass(frozen=True)
class Evaluation:
    summary: dict[str, Any]
    """The content of evaluate.json."""
    topk: list[TopKRow]
    openings: list[OpeningRow]
    """One row per first move of the board."""


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The Wilson score interval of a rate, 95 %. Of nothing, nothing is known: 0 to 1."""
    if not 0 <= hits <= of:
        raise ValueError(f"{hits} hits of {of} is not a rate")
    if of == 0:
        return 0.0, 1.0
    rate, z2 = hits / of, Z_95**2
    centre = (rate + z2 / (2 * of)) / (1 + z2 / of)
    reach = Z_95 / (1 + z2 / of) * math.sqrt(rate * (1 - rate) / of + z2 / (4 * of * of))
    # the ends are exact at no hits and at all hits; rounding would leave 1e-17 there
    return 0.0 if hits == 0 else centre - reach, 1.0 if hits == of else centre + reach


def mean_interval(values: npt.NDArray[np.floating[Any]]) -> tuple[float, float, float]:
    """Mean, low and high: the normal 95 % interval from the sample's own spread, which takes two values at least."""
    if len(values) < 2:
        raise ValueError(f"an interval needs at least 2 values, not {len(values)}")
    values = values.astype(np.float64)
    mean = float(values.mean())
    reach = Z_95 * float(values.std(ddof=1)) / math.sqrt(len(values))
    return mean, mean - reach, mean + reach


def rate(hits: int, of: int) -> dict[str, int | float]:
    """A rate as evaluate.json holds it; of nothing it is 0, with the interval saying that it may be anything."""
    low, high = wilson(hits, of)
    return {"hits": hits, "of": of, "rate": hits / of if of else 0.0, "low": low, "high": high}


def evaluate(model: Path, dataset: Path, suite: Path, games: Path) -> Evaluation:
    """The network in `model` on the test split of `dataset` and on the proved positions in `suite`, and the openings of
    `games` beside their proved winners. All four are folders."""
    # only here: torch takes seconds to import, and its kernels are pinned first
    pin_kernels()
    from hexdata.nets import load_net, predict, read_card

    net = load_net(model)
    size = read_card(model).board_size
    test = read_examples(dataset, "test", size)
    if len(test) < 2:
        raise BadFile(f"{dataset}: the test split has {len(test)} rows; evaluation needs at least 2")
    suite_table = read_table(suite / "suite.parquet", "suite")
    proved_table = suite_table.filter(pc.is_valid(suite_table["value"]))
    if len(proved_table) < 2:
        raise BadFile(f"{suite / 'suite.parquet'}: {len(proved_table)} proved positions; evaluation needs at least 2")
    proved = positions_of(proved_table, size, str(suite / "suite.parquet"))
    games_table = read_folder(games, "games")
    opening_table = read_table(suite / "openings.parquet", "openings")

    on_test = predict(net, test.positions)
    on_suite = predict(net, proved)
    ranks = move_ranks(on_test.log_policy, test.best_move())
    hits = [int((ranks < k).sum()) for k in range(TOP_K + 1)]
    uniform = float((1 / test.positions.legal().sum(axis=1)).mean())
    black_wins = games_table["winner"].to_pylist().count("black")
    summary = {
        "policy": {
            "positions": len(test),
            "uniform_top1": uniform,
            **{f"top{k}": rate(hits[k], len(test)) for k in (1, 3, 5)},
            "times_uniform": hits[1] / len(test) / uniform,
        },
        "value": {
            "suite": value_quality(on_suite.v, proved_table["value"].to_numpy().astype(np.float32)),
            "test": value_quality(on_test.v, test.value()),
        },
        "suite_policy": suite_policy(on_suite.log_policy, proved_table, proved),
        "games": {"black_wins": rate(black_wins, len(games_table))},
    }
    topk = [TopKRow(k, hits[k] / len(test), *wilson(hits[k], len(test))) for k in range(1, TOP_K + 1)]
    return Evaluation(summary, topk, opening_rows(games_table, opening_table, size, games))


def move_ranks(log_policy: Floats, move: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The place of each row's move in the policy's order, 0 for the first; ties go to the smaller cell."""
    order = np.argsort(-log_policy, axis=1, kind="stable")
    ranks: npt.NDArray[np.int64] = (order == move[:, None]).argmax(axis=1)
    return ranks


def value_quality(v: Floats, truth: Floats) -> dict[str, Any]:
    """Squared error over all rows; a sign is right or wrong only where the truth has one."""
    signed = truth != 0
    right = np.sign(v[signed]) == np.sign(truth[signed])
    mean, low, high = mean_interval((v.astype(np.float64) - truth) ** 2)
    return {
        "positions": len(v),
        "sign_right": rate(int(right.sum()), int(signed.sum())),
        "mse": {"mean": mean, "low": low, "high": high, "of": len(v)},
    }


def suite_policy(log_policy: Floats, table: pa.Table, positions: Positions) -> dict[str, Any]:
    """In how many won positions is the policy's best legal move a proved winning move?"""
    won = table["value"].to_numpy() == 1
    winning = cell_sets(table["winning_moves"], positions.size)
    hit = winning[np.arange(len(positions)), log_policy.argmax(axis=1)]
    return {"positions": int(won.sum()), "top1_wins": rate(int(hit[won].sum()), int(won.sum()))}


def opening_rows(games: pa.Table, openings: pa.Table, size: int, name: Path) -> list[OpeningRow]:
    """Every first move with its games. A proof holds for the half-turn of its cell too."""
    cells = size * size
    sizes, lengths = games["size"].to_numpy(), pc.list_value_length(games["moves"]).to_numpy()
    for row in np.flatnonzero((sizes != size) | (lengths == 0))[:1]:
        raise BadFile(f"{name}: row {row} is a game of {lengths[row]} moves on size {sizes[row]}, expected size {size}")
    first = pc.list_element(games["moves"], 0).to_numpy()
    won = pc.equal(games["winner"], "black").to_numpy()
    played = np.bincount(first, minlength=cells).tolist()
    black_wins = np.bincount(first[won], minlength=cells).tolist()

    half_turn = cell_map(size, 1)
    proved: dict[int, str] = {}
    for cell, winner in zip(openings["cell"].to_pylist(), openings["winner"].to_pylist(), strict=True):
        if winner != "unknown":
            proved[cell] = proved[half_turn[cell]] = winner
    return [
        OpeningRow(
            cell_name(cell, size),
            *divmod(cell, size),
            games=played[cell],
            black_wins=black_wins[cell],
            rate=black_wins[cell] / max(played[cell], 1),
            low=wilson(black_wins[cell], played[cell])[0],
            high=wilson(black_wins[cell], played[cell])[1],
            proved=proved.get(cell, "unknown"),
        )
        for cell in range(cells)
    ]
