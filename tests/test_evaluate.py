import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hexdata.arrays import positions_of, read_examples
from hexdata.board import Position, cells, parse_cell, unpack
from hexdata.evaluate import TopKRow, evaluate, mean_interval, move_ranks, value_quality, wilson
from hexdata.nets import Predictions, load_net, predict
from hexdata.records import BadFile, read_table
from tests.tables import best_cell, game_row, random_examples, random_game, suite_row, write_dataset, write_rows
from tests.test_nets import saved, small_net

SIZE = 4


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        (8, 10, 0.490162, 0.943318),
        (0, 10, 0.0, 0.277533),
        (10, 10, 0.722467, 1.0),
        (1, 2, 0.094531, 0.905469),
        (500, 1000, 0.469070, 0.530930),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilson(hits: int, of: int, low: float, high: float) -> None:
    assert wilson(hits, of) == pytest.approx((low, high), abs=1e-5)


@pytest.mark.parametrize(("hits", "of"), [(3, 2), (-1, 2)])
def test_wilson_refuses_what_is_no_rate(hits: int, of: int) -> None:
    with pytest.raises(ValueError, match="is not a rate"):
        wilson(hits, of)


def test_mean_interval() -> None:
    """1, 2, 3, 4: mean 2.5, sample variance 5/3."""
    reach = 1.959964 * (5 / 3 / 4) ** 0.5
    assert mean_interval(np.array([1.0, 2, 3, 4])) == pytest.approx((2.5, 2.5 - reach, 2.5 + reach), abs=1e-6)
    assert mean_interval(np.array([3.0, 3, 3])) == (3, 3, 3)
    with pytest.raises(ValueError, match="at least 2 values, not 1"):
        mean_interval(np.array([3.0]))


def test_ranks_break_ties_by_cell() -> None:
    log_policy = np.log(np.array([[0.1, 0.4, 0.4, 0.1]] * 4, dtype=np.float32))
    assert move_ranks(log_policy, np.arange(4)).tolist() == [2, 0, 1, 3]


def test_signs_count_only_where_there_is_a_truth() -> None:
    quality = value_quality(np.array([0.5, -0.5, 0.9, 0.0], np.float32), np.array([1, 1, 0, -1], np.float32))
    assert (quality["sign_right"]["hits"], quality["sign_right"]["of"]) == (1, 3)
    assert quality["mse"]["mean"] == pytest.approx((0.25 + 2.25 + 0.81 + 1) / 4)
    assert quality["positions"] == quality["mse"]["of"] == 4


@pytest.fixture
def artifacts(tmp_path: Path) -> dict[str, Path]:
    """A model that knows nothing, a test split, a suite with two unknowns, openings proved on half a board."""
    rng = random.Random(4)
    test = random_examples(SIZE, 90, seed=3)
    test[5] |= {"z_sum": 0, "z_count": 2}
    test[6] |= {"proved": -test[6]["z_sum"]}
    suite = []
    for number in range(30):
        moves, _ = random_game(SIZE, rng)
        position = Position.after(SIZE, moves[: rng.randrange(1, 6)])
        value = None if number in (3, 20) else 1 if number % 3 else -1
        empties = list(cells(position.empties()))
        suite.append(suite_row(position, value, sorted(rng.sample(empties, 5)) if value == 1 else []))
    write_rows(tmp_path / "suite" / "suite.parquet", "suite", SIZE, suite)
    winners = {"a1": "white", "b1": "white", "a2": "unknown", "b2": "black", "c4": "unknown"}
    openings = [
        {"size": SIZE, "cell": parse_cell(name, SIZE), "winner": winner, "nodes": 1} for name, winner in winners.items()
    ]
    write_rows(tmp_path / "suite" / "openings.parquet", "openings", SIZE, openings)
    games = [random_game(SIZE, rng) for _ in range(60)]
    rows = [game_row(SIZE, moves, winner) for moves, winner in games]
    write_rows(tmp_path / "games" / "games-00000.parquet", "games", SIZE, rows[:25])
    write_rows(tmp_path / "games" / "games-00001.parquet", "games", SIZE, rows[25:])
    return {
        "model": saved(tmp_path / "model", small_net(), SIZE),
        "dataset": write_dataset(tmp_path / "dataset", SIZE, test=test),
        "suite": tmp_path / "suite",
        "games": tmp_path / "games",
    }


def test_evaluation_against_plain_python(artifacts: dict[str, Path]) -> None:
    result = evaluate(**artifacts)
    summary = json.loads(json.dumps(result.summary, allow_nan=False))

    test = read_table(artifacts["dataset"] / "test-00000-of-00001.parquet").to_pylist()
    on_test = _predictions(artifacts, "test")
    hits = [0] * 11
    chances, right, errors = [], [], []
    for row, log_policy, v in zip(test, on_test.log_policy.tolist(), on_test.v.tolist(), strict=True):
        empties = list(cells(Position(SIZE, unpack(row["black"]), unpack(row["white"]), row["to_move"]).empties()))
        preferred = sorted(empties, key=lambda cell: -log_policy[cell])
        for k in range(1, 11):
            hits[k] += best_cell(row) in preferred[:k]
        chances.append(1 / len(empties))
        truth = row["proved"] if row["proved"] is not None else row["z_sum"] / row["z_count"]
        errors.append((v - truth) ** 2)
        if truth:
            right.append(v * truth > 0)
    policy = summary["policy"]
    assert policy["positions"] == 90
    assert [policy[f"top{k}"]["hits"] for k in (1, 3, 5)] == [hits[k] for k in (1, 3, 5)]
    assert 0 < policy["top1"]["hits"] < policy["top5"]["hits"] < 90
    assert policy["uniform_top1"] == pytest.approx(sum(chances) / 90)
    assert policy["times_uniform"] == pytest.approx(hits[1] / sum(chances))
    assert result.topk == [TopKRow(k, hits[k] / 90, *wilson(hits[k], 90)) for k in range(1, 11)]
    value = summary["value"]["test"]
    assert (value["sign_right"]["hits"], value["sign_right"]["of"]) == (sum(right), 89)
    assert value["mse"]["mean"] == pytest.approx(sum(errors) / 90)

    suite = read_table(artifacts["suite"] / "suite.parquet").to_pylist()
    on_suite = _predictions(artifacts, "suite")
    proved = [index for index, row in enumerate(suite) if row["value"] is not None]
    won = [index for index in proved if suite[index]["value"] == 1]
    value = summary["value"]["suite"]
    assert (value["positions"], value["sign_right"]["of"]) == (28, 28)
    assert value["sign_right"]["hits"] == sum(on_suite.v[i] * suite[i]["value"] > 0 for i in proved)
    assert value["mse"]["mean"] == pytest.approx(np.mean([(on_suite.v[i] - suite[i]["value"]) ** 2 for i in proved]))
    wins = sum(int(on_suite.log_policy[i].argmax()) in suite[i]["winning_moves"] for i in won)
    assert summary["suite_policy"]["positions"] == summary["suite_policy"]["top1_wins"]["of"] == len(won)
    assert 0 < summary["suite_policy"]["top1_wins"]["hits"] == wins < len(won)


def test_openings_have_every_first_move(artifacts: dict[str, Path]) -> None:
    result = evaluate(**artifacts)
    games = [
        row for name in ("0", "1") for row in read_table(artifacts["games"] / f"games-0000{name}.parquet").to_pylist()
    ]
    assert len(result.openings) == 16
    for row in result.openings:
        first = [game for game in games if game["moves"][0] == row.row * SIZE + row.column]
        black = sum(game["winner"] == "black" for game in first)
        assert (row.games, row.black_wins) == (len(first), black)
        assert (row.low, row.high) == wilson(black, len(first))
    # a proof of a1 is one of d4, its half-turn; c3 is that of b2; c4 that of b1
    proved = {row.name: row.proved for row in result.openings if row.proved != "unknown"}
    assert proved == {"a1": "white", "d4": "white", "b1": "white", "c4": "white", "b2": "black", "c3": "black"}
    black = sum(game["winner"] == "black" for game in games)
    assert result.summary["games"]["black_wins"] == {
        "hits": black,
        "of": 60,
        "rate": black / 60,
        "low": wilson(black, 60)[0],
        "high": wilson(black, 60)[1],
    }


def test_what_cannot_be_measured_is_refused(artifacts: dict[str, Path]) -> None:
    unknown = [suite_row(Position.after(SIZE, [cell]), None) for cell in range(3)]
    write_rows(artifacts["suite"] / "suite.parquet", "suite", SIZE, unknown)
    with pytest.raises(BadFile, match=r"suite\.parquet: 0 proved positions"):
        evaluate(**artifacts)
    write_dataset(artifacts["dataset"], SIZE, test=[])
    with pytest.raises(BadFile, match="the test split has 0 rows"):
        evaluate(**artifacts)
    saved(artifacts["model"], small_net(), 5)
    write_dataset(artifacts["dataset"], SIZE, test=random_examples(SIZE, 5, seed=1))
    with pytest.raises(BadFile, match="holds 4x4 positions, expected 5x5"):
        evaluate(**artifacts)


def test_games_of_another_size_are_refused(artifacts: dict[str, Path]) -> None:
    write_rows(artifacts["games"] / "games-00001.parquet", "games", SIZE, [game_row(5, [3, 4], "white")])
    with pytest.raises(BadFile, match="row 25 is a game of 2 moves on size 5, expected size 4"):
        evaluate(**artifacts)


def test_importing_evaluate_does_not_import_torch() -> None:
    script = "import sys, hexdata.evaluate; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def _predictions(artifacts: dict[str, Path], which: str) -> Predictions:
    net = load_net(artifacts["model"])
    if which == "test":
        return predict(net, read_examples(artifacts["dataset"], "test", SIZE).positions)
    return predict(net, positions_of(read_table(artifacts["suite"] / "suite.parquet"), SIZE, "suite"))
