"""Shards are pure functions of params and number, and only the true ones are kept."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hexdata import engine, generate
from hexdata.board import Position
from hexdata.params import BadParams
from hexdata.records import read_table, table_bytes
from hexdata.shards import is_finished, unfinished
from hexdata.validate import validate
from tests.conftest import SMALL_GAMES


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
    changes: list[dict[str, object]] = [
        {"per_shard": 41},
        {"seed": 8},
        {"player": "uct:playouts=20"},
        {"player": ("uct:playouts=20-40", "random")},
        {"temperature": 0.5},
        {"openings": "A1"},
        {"end_nodes": 10},
    ]
    for change in changes:
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
        generate.check_games(5, params)
    for player in ("mohex:seconds=0.5", ("random", "solver:seconds=1")):
        params = SMALL_GAMES.model_copy(update={"player": player})
        with pytest.raises(BadParams, match=r"seconds=.*: seconds are for matches: expected playouts or nodes"):
            generate.check_games(5, params)
    generate.check_games(5, SMALL_GAMES.model_copy(update={"player": "solver:nodes=100"}))
    params = SMALL_GAMES.model_copy(update={"temperature": 1e9})
    with pytest.raises(BadParams, match="games: temperature must be from 0 to 1000"):
        generate.check_games(5, params)
    params = SMALL_GAMES.model_copy(update={"openings": "random:stones=13"})
    with pytest.raises(BadParams, match=r"games\.openings: .*13 stones are too many"):
        generate.check_games(5, params)


PLAYERS = ("uct:playouts=20-40", "mohex:playouts=20", "random")


def rows_of(shard: generate.Shard) -> list[dict[str, Any]]:
    return pq.read_table(pa.BufferReader(generate.make_shard(shard))).to_pylist()


def test_of_several_players_each_plays_each_with_both_colours_from_every_opening() -> None:
    params = SMALL_GAMES.model_copy(update={"player": PLAYERS, "per_shard": 20, "openings": "one-stone:order=shuffled"})
    rows = [row for shard in generate.shards("cup", 4, params) for row in rows_of(shard)]
    assert len(rows) == 60
    ordered = [(a, b) for a in PLAYERS for b in PLAYERS if a != b]
    openings = [row["moves"][0] for row in rows]
    for turn in range(0, 60, 6):
        assert sorted((row["black"], row["white"]) for row in rows[turn : turn + 6]) == sorted(ordered)
        assert len(set(openings[turn : turn + 6])) == 1, "all pairings of a turn start from the same opening"
    assert len(set(openings)) == 10
    for row in rows:
        assert Position.after(4, row["moves"]).winner() == row["winner"]
        for ply, budget in enumerate(row["budget"]):
            assert budget == 0 or row[("black", "white")[ply % 2]] != "random"
    # a game is what its two players make of its opening and its seed, whatever stands beside it in the shard
    alone = engine.play_games(
        4,
        rows[1]["black"],
        rows[1]["white"],
        [[rows[1]["moves"][0]]],
        [rows[1]["seed"]],
        dither_moves=4,
        temperature=1.0,
    )
    assert alone["moves"].tolist() == rows[1]["moves"]


def test_the_table_of_a_tournament_counts_by_pairing() -> None:
    params = SMALL_GAMES.model_copy(update={"player": PLAYERS, "per_shard": 18})
    table = pq.read_table(pa.BufferReader(generate.make_shard(generate.shards("cup", 4, params)[0])))
    figures = generate.games_metrics([table])
    assert [pair["games"] for pair in figures["pairings"]] == [3] * 6  # type: ignore[attr-defined]
    rows = table.to_pylist()
    for pair in figures["pairings"]:  # type: ignore[attr-defined]
        mine = [row for row in rows if (row["black"], row["white"]) == (pair["black"], pair["white"])]
        assert pair["black_wins"] == sum(row["winner"] == "black" for row in mine)
        assert pair["plies"] == sum(len(row["moves"]) for row in mine)


def test_a_proof_ends_a_game_at_the_first_position_that_the_solver_decides() -> None:
    params = SMALL_GAMES.model_copy(update={"end_nodes": 3, "per_shard": 60})
    rows = rows_of(generate.shards("short", 6, params)[0])
    assert {row["ended_by"] for row in rows} == {"proof"}, "six by six is decided long before the chain"
    for row in rows:
        for ply in range(row["opening_length"], len(row["moves"]) + 1):
            stones, mover = row["moves"][:ply], ("black", "white")[ply % 2]
            winner = engine.solve(6, stones[::2], stones[1::2], mover, limit_nodes=3).winner
            assert winner == (row["winner"] if ply == len(row["moves"]) else "unknown")
        assert Position.after(6, row["moves"]).winner() is None
        assert engine.solve(6, row["moves"][::2], row["moves"][1::2], mover).winner == row["winner"]


def test_a_proof_that_ended_a_game_is_validated(tmp_path: Path) -> None:
    params = SMALL_GAMES.model_copy(update={"end_nodes": 1, "per_shard": 20})
    path = tmp_path / "games.parquet"
    path.write_bytes(generate.make_shard(generate.shards("short", 5, params)[0]))
    assert validate(path).problems == []
    table = read_table(path)
    assert table.column("ended_by").to_pylist() == ["proof"] * 20
    others = ["white" if winner == "black" else "black" for winner in table.column("winner").to_pylist()]
    at = table.column_names.index("winner")
    wrong = table.set_column(at, table.schema.field("winner"), pa.array(others)).replace_schema_metadata(None)
    path.write_bytes(table_bytes(wrong, "games", {}))
    assert {problem.rule for problem in validate(path).problems} == {"audit"}


def test_a_game_that_is_proved_before_its_first_move_is_valid(tmp_path: Path) -> None:
    params = SMALL_GAMES.model_copy(update={"openings": "empty", "end_nodes": 1000, "per_shard": 2})
    path = tmp_path / "games.parquet"
    path.write_bytes(generate.make_shard(generate.shards("short", 3, params)[0]))
    assert read_table(path).column("moves").to_pylist() == [[], []]
    assert validate(path).problems == []


def test_workers_are_told_the_openings_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("c3 b2\nd4\n")
    params = SMALL_GAMES.model_copy(update={"openings": f"file:{path}", "per_shard": 3})
    before = generate.shards("mine", 5, params)
    path.write_text("c3 b2\nd4\na1\n")
    after = generate.shards("mine", 5, params)
    assert [row["opening_length"] for row in rows_of(before[0])] == [2, 1, 2], "the file is not read again"
    assert before[0].key() != after[0].key(), "other openings are another shard"


def test_metrics_count_games(games: pa.Table, games_folder: Path, small_shards: list[generate.Shard]) -> None:
    figures = generate.games_metrics([games])
    assert figures["games"] == 120
    rows = games.to_pylist()
    assert figures["black_wins"] == sum(row["winner"] == "black" for row in rows)
    assert figures["positions"] == sum(len(row["moves"]) - 1 for row in rows)
    assert generate.folder_metrics(games_folder, small_shards) == figures
