"""Examples against a reference in plain Python dictionaries, and their independence of the order of games."""

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hexdata.board import SYMMETRIES, Position, cell_map, cells, pack
from hexdata.engine import KEY_SEED
from hexdata.examples import build, occurrences, reduce
from hexdata.records import read_table, rows_hash


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


def test_row_for_row_the_same_as_plain_dictionaries(games: pa.Table) -> None:
    expected = reference(games)
    found = reduce(occurrences(games)).to_pylist()
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
    assert any(row["games"] > 1 for row in found), "no position met twice: the test shows nothing"


def test_the_order_of_games_changes_nothing(games: pa.Table) -> None:
    order = np.random.default_rng(3).permutation(games.num_rows)
    assert rows_hash(reduce(occurrences(games.take(order)))) == rows_hash(reduce(occurrences(games)))


def test_a_rotated_game_adds_to_the_same_rows(games: pa.Table) -> None:
    one = games.slice(0, 1)
    row = one.to_pylist()[0]
    turn = cell_map(row["size"], 1)
    row["moves"] = [turn[cell] for cell in row["moves"]]
    for seen in row["visits"]:
        pairs = sorted((turn[cell], count) for cell, count in zip(seen["cells"], seen["counts"], strict=True))
        seen["cells"], seen["counts"] = [c for c, _ in pairs], [n for _, n in pairs]
    both = pa.concat_tables([one, pa.Table.from_pylist([row], schema=one.schema)])
    once, twice = reduce(occurrences(one)), reduce(occurrences(both))
    assert twice.column("key").equals(once.column("key"))
    assert twice.column("games").to_pylist() == [2] * once.num_rows
    assert [2 * n for n in once.column("z_sum").to_pylist()] == twice.column("z_sum").to_pylist()
    doubled = [[2 * n for n in visits] for visits in once.column("policy_visits").to_pylist()]
    # a position equal to its own half-turn keeps both images of its policy apart
    same = [a == b for a, b in zip(doubled, twice.column("policy_visits").to_pylist(), strict=True)]
    assert sum(same) >= len(same) - 1


def test_build_counts_what_it_left_out(games_folder: Path, games: pa.Table, tmp_path: Path) -> None:
    built = build(games_folder, tmp_path)
    lengths = [len(moves) for moves in games.column("moves").to_pylist()]
    assert built.forced == games.num_rows
    assert built.raw == sum(lengths) - games.num_rows
    assert built.unique == read_table(tmp_path / "examples.parquet", "examples").num_rows
    assert sum(raw for _, raw, _ in built.plies) == built.raw
    assert sum(unique for _, _, unique in built.plies) == built.unique
