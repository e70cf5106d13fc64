"""Openings: the database counts of daliri-2022, every scheme, and draws that depend on scheme, seed and turn alone."""

from collections import Counter
from pathlib import Path

import pytest

from hexdata.board import Position, cell_name, parse_moves
from hexdata.engine import solve
from hexdata.openings import (
    BadOpenings,
    Opening,
    all_openings,
    check_scheme,
    count,
    listed_openings,
    nth,
    opening_of,
    parse_scheme,
    proved_openings,
    ring,
)


def turns(text: str, size: int, number: int, seed: int = 1) -> list[Opening]:
    scheme = check_scheme(text, size)
    listed = listed_openings(scheme, size) if scheme.is_listed else []
    return [opening_of(scheme, size, seed, turn, listed) for turn in range(number)]


@pytest.mark.parametrize(("size", "rows"), [(6, (36, 1_260, 42_840, 44_136)), (8, (64, 4_032, 249_984, 254_080))])
def test_the_database_has_the_rows_of_the_thesis(size: int, rows: tuple[int, ...]) -> None:
    """daliri-2022 section 2.1: ordered sequences of one, two and three stones, and their sum."""
    database = all_openings(parse_scheme("A123"), size)
    assert len(database) == len(set(database)) == rows[3]
    assert Counter(len(opening) for opening in database) == {1: rows[0], 2: rows[1], 3: rows[2]}
    assert all(len(set(opening)) == len(opening) and max(opening) < size * size for opening in database)
    assert database == sorted(database, key=lambda opening: (len(opening), opening))


def test_openings_of_a_large_board_are_computed_one_by_one() -> None:
    last = count("three-stone", 19) - 1
    assert nth("three-stone", 19, 0) == (0, 1, 2)
    assert nth("three-stone", 19, last) == (360, 359, 358)


def test_the_ring() -> None:
    assert {size: len(ring(size)) for size in (9, 11, 13)} == {9: 56, 11: 72, 13: 88}, "takada-2019"
    names = {cell_name(cell, 6) for cell in ring(6)}
    assert {"c3", "d3", "c4", "d4"} == {cell_name(cell, 6) for cell in range(36)} - names


def test_a_sweep_goes_round() -> None:
    assert turns("one-stone", 2, 6) == [(0,), (1,), (2,), (3,), (0,), (1,)]
    both = turns("one-stone+two-stone", 3, 9 + 72 + 1)
    assert [len(opening) for opening in both] == [1] * 9 + [2] * 72 + [1]
    assert turns("empty", 5, 2) == [(), ()]


def test_each_round_of_a_shuffled_sweep_has_every_opening_once_in_another_order() -> None:
    found = turns("one-stone:order=shuffled", 6, 72)
    first, second = found[:36], found[36:]
    assert sorted(first) == sorted(second) == [(cell,) for cell in range(36)]
    assert first != second
    assert first != sorted(first)
    assert turns("one-stone:order=shuffled", 6, 36, seed=2) != first


def test_stratified_draws_are_a_third_each_and_uniform_ones_nearly_always_three_stones() -> None:
    depths = Counter(len(opening) for opening in turns("A123", 6, 30_000))
    for stones in (1, 2, 3):
        assert abs(depths[stones] / 30_000 - 1 / 3) < 0.01 / 3
    depths = Counter(len(opening) for opening in turns("A123:draw=uniform", 6, 30_000))
    assert abs(depths[3] / 30_000 - 0.971) < 0.005, "daliri-2022: 97.1 %"


def test_draws_spread_over_their_set_and_depend_on_the_seed() -> None:
    found = Counter(turns("A1", 6, 36_000))
    assert len(found) == 36
    assert 850 < min(found.values()) < max(found.values()) < 1150
    assert {len(opening) for opening in turns("A2", 5, 50)} == {2}
    assert {len(opening) for opening in turns("A3", 5, 50)} == {3}
    assert turns("A2", 5, 50) != turns("A2", 5, 50, seed=2)
    scheme = parse_scheme("A2")
    assert opening_of(scheme, 5, 1, 49) == turns("A2", 5, 50)[49], "a later turn does not depend on those before"


def test_random_stones_are_undecided() -> None:
    found = turns("random:stones=3-4", 3, 300)
    assert {len(opening) for opening in found} == {3, 4}
    for opening in found:
        assert Position.after(3, opening).winner() is None
    assert len(set(found)) > 200


def test_openings_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# from a tournament\na1 d4\n\nb2,c3 a4 # three\n")
    assert turns(f"file:{path}", 5, 3) == [
        tuple(parse_moves("a1 d4", 5)),
        tuple(parse_moves("b2 c3 a4", 5)),
        tuple(parse_moves("a1 d4", 5)),
    ]
    assert len(set(turns(f"file:{path},order=shuffled", 5, 2))) == 2
    path.write_text("a1 d4\na1 a1\n")
    with pytest.raises(BadOpenings, match=r"mine\.txt: line 2: move 2: "):
        check_scheme(f"file:{path}", 5)
    path.write_text("a1 b1 a2 b2\n")
    with pytest.raises(BadOpenings, match=r"mine\.txt: line 1: .*won"):
        check_scheme(f"file:{path}", 2)
    path.write_text("# nothing\n")
    with pytest.raises(BadOpenings, match=r"mine\.txt: no openings in it"):
        check_scheme(f"file:{path}", 5)
    with pytest.raises(BadOpenings, match="not a readable list of openings"):
        check_scheme(f"file:{tmp_path / 'none.txt'}", 5)


def test_only_proved_wins_of_the_last_mover_are_kept() -> None:
    kept = proved_openings(parse_scheme("one-stone:keep=winning"), 5)
    assert len(kept) == 13, "13 first moves win on 5x5"
    replies = proved_openings(parse_scheme("two-stone:keep=winning"), 4)
    for first, second in all_openings(parse_scheme("two-stone"), 4):
        assert ((first, second) in replies) == (solve(4, [first], [second], "black").winner == "white")


def test_balanced_openings_are_won_by_each_colour_as_often() -> None:
    kept = proved_openings(parse_scheme("one-stone:keep=balanced"), 5)
    winners = Counter(solve(5, opening, [], "white").winner for opening in kept)
    assert winners == {"black": 12, "white": 12}, "of 13 and 12"
    assert kept == sorted(kept)
    assert turns("one-stone:keep=balanced", 5, 25) == [*kept, kept[0]]
    with pytest.raises(BadOpenings, match="no opening of one-stone is left by keep=winning within 1 nodes on 9x9"):
        proved_openings(parse_scheme("one-stone:keep=winning,nodes=1"), 9)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("four-stone", "unknown openings 'four-stone': expected empty, one-stone"),
        ("one-stone+one-stone", "name a set twice"),
        ("one-stone:drow=sweep", "unknown parameter 'drow': expected draw, order, keep, nodes"),
        ("one-stone:keep=good", "keep is 'good': expected one of all, winning, balanced"),
        ("one-stone:nodes=0", "nodes is '0'"),
        ("one-stone:nodes=5", "nodes is for proofs: expected keep=winning or keep=balanced with it"),
        ("one-stone:order=listed,order=shuffled", "give a parameter twice"),
        ("A1:order=shuffled", "only a sweep has an order"),
        ("A123:keep=winning", "expected draw=sweep or draw=uniform"),
        ("random", "expected random:stones=3"),
        ("random:stones=6-3", "expected random:stones=3"),
        ("random:stones=0", "expected random:stones=3"),
        ("random:stones=0-0", "expected random:stones=3"),
        ("random:stones=3,stones=4", "give a parameter twice"),
        ("random:stones=13", "13 stones are too many for a 5x5 board"),
        ("file:", "names no file"),
    ],
)
def test_mistakes_are_named(text: str, sentence: str) -> None:
    with pytest.raises(BadOpenings, match=sentence):
        check_scheme(text, 5)
