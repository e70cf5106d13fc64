"""Shards are pure functions of params and number, and only the true ones are kept."""

from pathlib import Path

import pyarrow as pa
import pytest

from hexdata import generate
from hexdata.board import Position
from hexdata.openings import openings, sweep
from hexdata.params import BadParams
from hexdata.records import read_table
from hexdata.shards import is_finished, unfinished
from tests.conftest import SMALL_GAMES


def test_openings_count() -> None:
    assert openings("empty", 6) == [()]
    assert len(openings("one-stone", 6)) == 36
    assert len(openings("two-stone", 6)) == 36 * 35


def test_a_sweep_goes_round() -> None:
    assert sweep("one-stone", 2, 3, 4) == [(3,), (0,), (1,), (2,)]


def test_a_shard_is_the_same_twice_and_another_number_is_another_shard(small_shards: list[generate.Shard]) -> None:
    one = generate.make_shard(small_shards[0])
    assert one == generate.make_shard(small_shards[0])
    assert one != generate.make_shard(small_shards[1])


def test_games_are_legal_and_won_by_the_winner(games: pa.Table) -> None:
    for row in games.to_pylist():
        position = Position.after(5, row["moves"])
        assert position.winner() == row["winner"]
        assert row["ended_by"] == "chain"
        assert row["opening_length"] == 1
        assert not row["visits"][0]["cells"]
        for ply, seen in enumerate(row["visits"][1:], start=1):
            assert row["moves"][ply] in seen["cells"]
            assert not set(seen["cells"]) & set(row["moves"][:ply])
            assert 20 <= row["budget"][ply] <= 40
            assert -1 <= row["root_value"][ply] <= 1
    ids = games.column("game_id").to_pylist()
    assert len(set(ids)) == len(ids)


def test_every_knob_but_the_number_of_shards_is_in_the_key() -> None:
    def key(**change: object) -> str:
        params = SMALL_GAMES.model_copy(update=change)
        return generate.shards("small", 5, params)[0].key()

    plain = key()
    assert key(shards=9) == plain
    for change in ({"per_shard": 41}, {"seed": 8}, {"player": "uct:playouts=20"}, {"temperature": 0.5}):
        assert key(**change) != plain
    assert generate.shards("other", 5, SMALL_GAMES)[0].key() != plain
    assert generate.shards("small", 6, SMALL_GAMES)[0].key() != plain


def test_only_true_shards_count_as_finished(
    games_folder: Path, small_shards: list[generate.Shard], tmp_path: Path
) -> None:
    whole = (games_folder / small_shards[0].name).read_bytes()
    path = tmp_path / small_shards[0].name
    assert unfinished(games_folder, small_shards) == []
    assert unfinished(tmp_path, small_shards) == small_shards
    key = small_shards[0].key()
    path.write_bytes(whole)
    assert is_finished(path, key)
    assert not is_finished(path, small_shards[1].key())
    path.write_bytes(whole[:-100])
    assert not is_finished(path, key)
    unnoticed = 0
    for place in range(4, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        assert not is_finished(path, key), f"a flipped bit at byte {place} went unnoticed"
        unnoticed += 1
    assert unnoticed >= 100


def test_a_bad_player_is_refused_by_name() -> None:
    params = SMALL_GAMES.model_copy(update={"player": "uct:playouts=none"})
    with pytest.raises(BadParams, match=r"games\.player: .*playouts"):
        generate.check_player(5, params)


def test_metrics_count_games(games: pa.Table, games_folder: Path, small_shards: list[generate.Shard]) -> None:
    figures = generate.games_metrics(games)
    assert figures["games"] == 120
    rows = games.to_pylist()
    assert figures["black_wins"] == sum(row["winner"] == "black" for row in rows)
    assert figures["positions"] == sum(len(row["moves"]) - 1 for row in rows)
    assert generate.games_metrics(read_table(games_folder / small_shards[0].name))["games"] == 40
