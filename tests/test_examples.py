"""Examples against a reference in plain Python dictionaries; order, shards and workers change nothing."""

import math
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hexdata import dedup, engine, generate
from hexdata.board import SYMMETRIES, Position, cell_map, cells, pack
from hexdata.engine import KEY_SEED
from hexdata.errors import Unfinished
from hexdata.examples import Result, build, entropies, positions_at, prove, reduce
from hexdata.locks import only_writer
from hexdata.occurrences import read_piece
from hexdata.params import ExamplesParams, GamesParams
from hexdata.records import read_folder, rows_hash, table_bytes, write_whole


def stored_image(position: Position) -> tuple[bytes, int]:
    """The orbit key, and the symmetry to the Black-first image with the smallest exact key."""
    images = [position.transform(symmetry) for symmetry in SYMMETRIES]
    exact = [exact_key(image) for image in images]
    first = [symmetry for symmetry in SYMMETRIES if images[symmetry].is_black_first()]
    return min(exact), min(first, key=lambda symmetry: (exact[symmetry], symmetry))


def exact_key(position: Position) -> bytes:
    """The Zobrist key as the engine's documentation defines it, recomputed."""
    size_and_turn = [723 + position.size] + ([722] if position.to_move == "white" else [])
    stones = [*cells(position.black), *(361 + cell for cell in cells(position.white))]
    key = 0
    for constant in (*stones, *size_and_turn):
        key ^= word(2 * constant) << 64 | word(2 * constant + 1)
    return key.to_bytes(16, "big")


@cache
def word(index: int) -> int:
    """Number `index` of the splitmix64 stream."""
    mask = (1 << 64) - 1
    z = (KEY_SEED + (index + 1) * 0x9E3779B97F4A7C15) & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31


def reference(games: pa.Table) -> dict[bytes, dict[str, Any]]:
    rows: dict[bytes, dict[str, Any]] = {}
    for game in games.to_pylist():
        position = Position.empty(game["size"])
        for ply, move in enumerate(game["moves"]):
            if ply >= game["opening_length"]:
                key, symmetry = stored_image(position)
                to = cell_map(position.size, symmetry)
                image = position.transform(symmetry)
                row = rows.setdefault(
                    key,
                    {
                        "black": pack(image.black, image.size),
                        "white": pack(image.white, image.size),
                        "to_move": image.to_move,
                        "ply": ply,
                        "left": 0,
                        "policy": defaultdict(int),
                        "played": defaultdict(int),
                        "z": 0,
                        "games": 0,
                        "sampled": 0,
                    },
                )
                row["left"] += len(game["moves"]) - ply
                row["played"][to[move]] += 1
                row["z"] += 1 if game["winner"] == position.to_move else -1
                row["games"] += 1
                row["sampled"] += game["sampled"][ply]
                seen = game["visits"][ply]
                for cell, count in zip(seen["cells"], seen["counts"], strict=True):
                    row["policy"][to[cell]] += count
            position = position.play(move)
    return rows


def check_against_reference(games: pa.Table) -> list[dict[str, Any]]:
    expected = reference(games)
    found = reduce(games).to_pylist()
    assert [row["key"] for row in found] == sorted(expected)
    for row in found:
        want = expected[row["key"]]
        assert (row["black"], row["white"], row["to_move"], row["ply"]) == (
            want["black"],
            want["white"],
            want["to_move"],
            want["ply"],
        )
        assert dict(zip(row["policy_cells"], row["policy_visits"], strict=True)) == want["policy"]
        assert dict(zip(row["played_cells"], row["played_counts"], strict=True)) == want["played"]
        assert row["policy_cells"] == sorted(row["policy_cells"])
        assert (row["z_sum"], row["z_count"], row["games"]) == (want["z"], want["games"], want["games"])
        assert (row["sampled_count"], row["plies_left_sum"]) == (want["sampled"], want["left"])
        assert row["proved"] is None
    return found


def test_row_for_row_the_same_as_plain_dictionaries(games: pa.Table) -> None:
    found = check_against_reference(games)
    assert any(row["games"] > 1 for row in found), "no position met twice: the test shows nothing"


@pytest.mark.slow
@pytest.mark.parametrize(("size", "count", "player"), [(5, 2000, "uct:playouts=20-40"), (9, 200, "uct:playouts=16")])
def test_many_games_row_for_row_the_same_as_plain_dictionaries(size: int, count: int, player: str) -> None:
    params = GamesParams(
        shards=1, per_shard=count, player=player, openings="one-stone", dither_moves=4, temperature=1.0, seed=1
    )
    (shard,) = generate.shards("many", size, params)
    games = read_piece(generate.make_shard(shard))
    assert games.num_rows == count
    check_against_reference(games)


def write_shuffled(games: pa.Table, folder: Path, files: int, seed: int) -> Path:
    """The same games in another order and in other files."""
    order = np.random.default_rng(seed).permutation(games.num_rows)
    for number, part in enumerate(np.array_split(order, files)):
        content = table_bytes(games.take(part).combine_chunks(), "games", {})
        write_whole(folder / f"games-{number:05d}.parquet", content)
    return folder


NO_PROOFS = ExamplesParams()


@pytest.mark.parametrize("per_partition", [dedup.RECORDS_PER_PARTITION, 100])
def test_order_shards_and_partitions_change_nothing(
    games: pa.Table, tmp_path: Path, per_partition: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dedup, "RECORDS_PER_PARTITION", per_partition)
    monkeypatch.setattr(dedup, "BUFFERED_BYTES", 20_000)
    expected = rows_hash(reduce(games))
    for number, files in enumerate((1, 2, 7)):
        folder = write_shuffled(games, tmp_path / f"games{number}", files, seed=number)
        build(folder, tmp_path / "out", NO_PROOFS, workers=1)
        assert len(list((tmp_path / "out").iterdir())) == (1 if per_partition > 100 else 32)
        assert rows_hash(read_folder(tmp_path / "out", "examples")) == expected
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == [], "the spill is left"


def test_any_number_of_workers_writes_the_same_bytes(
    games_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dedup, "RECORDS_PER_PARTITION", 600)
    params = ExamplesParams(prove_from_ply=10, prove_limit_nodes=50)
    built = [build(games_folder, tmp_path / str(workers), params, workers=workers) for workers in (1, 2)]
    assert built[0] == built[1]
    files = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("1", "2")]
    assert len(files[0]) == 4
    assert files[0] == files[1]


def test_a_rotated_game_adds_to_the_same_rows(games: pa.Table) -> None:
    one = games.slice(0, 1)
    row = one.to_pylist()[0]
    turn = cell_map(row["size"], 1)
    row["moves"] = [turn[cell] for cell in row["moves"]]
    for seen in row["visits"]:
        pairs = sorted((turn[cell], count) for cell, count in zip(seen["cells"], seen["counts"], strict=True))
        seen["cells"], seen["counts"] = [c for c, _ in pairs], [n for _, n in pairs]
    both = pa.concat_tables([one, pa.Table.from_pylist([row], schema=one.schema)])
    once, twice = reduce(one), reduce(both)
    assert twice.column("key").equals(once.column("key"))
    assert twice.column("games").to_pylist() == [2] * once.num_rows
    assert [2 * n for n in once.column("z_sum").to_pylist()] == twice.column("z_sum").to_pylist()
    doubled = [[2 * n for n in visits] for visits in once.column("policy_visits").to_pylist()]
    # a position equal to its own half-turn keeps both images of its policy apart
    same = [a == b for a, b in zip(doubled, twice.column("policy_visits").to_pylist(), strict=True)]
    assert sum(same) >= len(same) - 1


def test_build_counts_what_it_left_out(games_folder: Path, games: pa.Table, tmp_path: Path) -> None:
    built = build(games_folder, tmp_path / "out", NO_PROOFS)
    lengths = [len(moves) for moves in games.column("moves").to_pylist()]
    rows = read_folder(tmp_path / "out", "examples").to_pylist()
    assert built.forced == games.num_rows
    assert built.raw == sum(lengths) - games.num_rows
    assert built.unique == len(rows)
    for line in built.plies:
        here = [row for row in rows if row["ply"] == line.ply]
        assert (line.raw, line.unique) == (sum(row["games"] for row in here), len(here))
        assert line.repeated == sum(row["games"] > 1 for row in here)
        assert line.disagreeing == sum(abs(row["z_sum"]) != row["z_count"] for row in here)
        bits = [entropy(row["policy_visits"]) for row in here if row["policy_visits"]]
        assert line.policies == len(bits)
        assert math.isclose(line.entropy, sum(bits) / len(bits), abs_tol=1e-4)
    assert sum(line.disagreeing for line in built.plies) > 0
    assert built.openings["1"] == {"met": 13, "of": 13}, "every first move of 5x5 up to the half-turn"
    assert built.results == []


def entropy(counts: list[int]) -> float:
    return -sum(n / sum(counts) * math.log2(n / sum(counts)) for n in counts if n)


def test_entropy_of_drawn_policies() -> None:
    kind = pa.list_(pa.uint64())
    cells, visits = [[0, 1], [], [3], [1, 2, 3, 4]], [[5, 5], [], [7], [1, 1, 1, 1]]
    rows = pa.table({"policy_cells": pa.array(cells, kind), "policy_visits": pa.array(visits, kind)})
    has, bits = entropies(rows)
    assert has.tolist() == [True, False, True, True]
    assert bits.tolist() == [1, 0, 0, 2]


def test_late_positions_are_proved_and_wrong_results_counted(
    games_folder: Path, games: pa.Table, tmp_path: Path
) -> None:
    params = ExamplesParams(prove_from_ply=12, prove_limit_nodes=1000)
    built = build(games_folder, tmp_path / "out", params)
    rows = {row["key"]: row for row in read_folder(tmp_path / "out", "examples").to_pylist()}
    for row in rows.values():
        if row["ply"] < 12:
            assert row["proved"] is None
            continue
        stones = [[cell for cell in range(25) if row[c][cell // 8] >> cell % 8 & 1] for c in ("black", "white")]
        winner = engine.reprove(5, stones[0], stones[1], row["to_move"], limit_nodes=10**6).winner
        assert row["proved"] == (1 if winner == row["to_move"] else -1)

    expected: dict[tuple[int, str], list[int]] = {}
    for game in games.to_pylist():
        position = Position.empty(5)
        for ply, move in enumerate(game["moves"]):
            if ply >= 12:
                right = rows[stored_image(position)[0]]["proved"] == (1 if game["winner"] == position.to_move else -1)
                counts = expected.setdefault((ply, game[position.to_move]), [0, 0])
                counts[0] += 1
                counts[1] += not right
            position = position.play(move)
    assert built.results == [Result(*where, *counts) for where, counts in sorted(expected.items())]
    assert sum(result.wrong for result in built.results) > 0, "no game went wrong: the test shows nothing"


def test_a_proof_depends_on_its_position_and_budget_alone(games: pa.Table) -> None:
    rows = reduce(games)
    little, enough = (ExamplesParams(prove_from_ply=3, prove_limit_nodes=nodes) for nodes in (3, 2000))
    values = prove(rows, 5, little)
    assert values.null_count > (rows.column("ply").to_numpy() < 3).sum(), "three nodes prove all"
    some = rows.take(np.arange(0, rows.num_rows, 7))
    assert prove(some, 5, little).equals(values.take(np.arange(0, rows.num_rows, 7)))
    for a, b in zip(values.to_pylist(), prove(rows, 5, enough).to_pylist(), strict=True):
        assert a in (None, b), "a budget that runs out is unknown, never a guess"


def test_positions_up_to_the_half_turn_are_counted() -> None:
    from itertools import combinations

    for size in (2, 3):
        cells_of_board = range(size * size)
        for ply in range(size * size + 1):
            orbits = {
                min((b, w), (turn(b, size), turn(w, size)))
                for b in combinations(cells_of_board, (ply + 1) // 2)
                for w in combinations([c for c in cells_of_board if c not in b], ply // 2)
            }
            assert positions_at(size, ply) == len(orbits)


def turn(chosen: tuple[int, ...], size: int) -> tuple[int, ...]:
    return tuple(sorted(size * size - 1 - cell for cell in chosen))


def test_nobody_else_writes_the_examples_meanwhile(games_folder: Path, tmp_path: Path) -> None:
    with only_writer(tmp_path / "out"), pytest.raises(Unfinished, match="out: another run is writing it: wait for"):
        build(games_folder, tmp_path / "out")
    assert build(games_folder, tmp_path / "out").unique
