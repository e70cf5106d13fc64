"""The cost of a campaign is told from a sample: what can be counted is right, and budgets are divided."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hexdata import cost, generate
from hexdata.params import GamesParams
from tests.clusters import games, run, write_params


@pytest.mark.parametrize(
    ("player", "smaller"),
    [
        ("uct:playouts=800-1200", "uct:playouts=80-120"),
        ("mohex:playouts=45,rave=off", "mohex:playouts=4,rave=off"),
        ("uct:playouts=5,exploration=0.3", "uct:playouts=1,exploration=0.3"),
        ("gtp:hexdata gtp --player mohex:seconds=0.5", "gtp:hexdata gtp --player mohex:seconds=0.05"),
        ("solver:nodes=10000", "solver:nodes=1000"),
        ("resistance-4ply", "resistance-4ply"),
        ("random", "random"),
    ],
)
def test_budgets_are_divided(player: str, smaller: str) -> None:
    assert cost.divided(player, 10) == smaller


def test_a_sample_is_games_of_the_campaign(tmp_path: Path) -> None:
    """From its middle, each pairing as often, with the openings that those games have."""
    path = tmp_path / "mine.txt"
    path.write_text("a1\nb2\nc3\nd4 a4\n")
    for openings in ("one-stone", f"file:{path}"):
        params = GamesParams(
            shards=4,
            per_shard=6,
            player=("uct:playouts=20", "random"),
            openings=openings,
            dither_moves=0,
            temperature=1.0,
            seed=1,
        )
        every = generate.shards("cup", 4, params)
        rows = pq.read_table(pa.BufferReader(generate.make_shard(every[2]))).to_pylist()
        sample = cost._measure(every, 1, 6)
        assert sample.games == 6
        assert sample.positions == sum(len(row["moves"]) - row["opening_length"] for row in rows)


@pytest.mark.parametrize("shards", [1, 4])
def test_a_list_of_openings_that_is_shorter_than_a_turn_goes_round(tmp_path: Path, shards: int) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("a1\n")
    params = GamesParams(
        shards=shards,
        per_shard=1,
        player=("uct:playouts=20", "random"),
        openings=f"file:{path}",
        dither_moves=0,
        temperature=1.0,
        seed=1,
    )
    assert cost._measure(generate.shards("cup", 4, params), 1, 6).games == 6


@pytest.mark.parametrize(("workers", "seconds"), [(1, 33), (2, 22), (3, 11), (40, 11)])
def test_the_last_round_takes_as_long_as_the_others(
    monkeypatch: pytest.MonkeyPatch, workers: int, seconds: float
) -> None:
    params = GamesParams(
        shards=3, per_shard=2, player="random", openings="empty", dither_moves=0, temperature=1.0, seed=1
    )
    content = generate.make_shard(generate.shards("tiny", 3, params)[0])
    monkeypatch.setattr(cost, "_measure", lambda every, divisor, games: cost._Sample(2, 10.0, 10, content))
    monkeypatch.setattr(cost, "_seconds_a_shard", lambda size: 1.0)
    assert cost.estimate("tiny", 3, params, workers).seconds == pytest.approx(seconds)


@pytest.mark.slow
def test_a_dry_run_tells_the_cost_and_touches_nothing(tmp_path: Path) -> None:
    folder = write_params(tmp_path, ("shards: 8", "shards: 40"), ("playouts=3000-5000", "playouts=100-200"))
    done = run(folder, "generate", "tiny", "--dry-run", "--workers", "4", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [path.name for path in folder.iterdir()] == ["params.yaml"]
    assert (told["campaign"], told["games"], told["workers"]) == ("tiny", 400, 4)
    assert min(told["seconds"], told["cpu_seconds"], told["overhead"]) > 0
    assert told["divided_by"] == 1
    assert run(folder, "generate", "tiny", "--json").returncode == 0
    files = list(games(folder).iterdir())
    positions = sum(generate.notes_of(pq.read_table(path))["positions"] for path in files)
    assert abs(told["positions"] / positions - 1) < 0.1
    assert abs(told["bytes"] / sum(path.stat().st_size for path in files) - 1) < 0.25
    words = run(folder, "generate", "tiny", "--dry-run", "--workers", "4").stdout
    assert words.startswith("tiny: 400 games, about ")
    assert "on 4 workers" in words
