"""No game, orbit or suite position on two sides; sides that growth does not change; copies that are true copies."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hexdata.augment import augment
from hexdata.board import SYMMETRIES, Position, cell_map, cells, pack, swaps_colours, unpack
from hexdata.examples import occurrences, reduce, select
from hexdata.label import keys_of
from hexdata.params import DatasetParams
from hexdata.records import read_folder, table_bytes, write_whole
from hexdata.split import SIDES, build, game_sides, leaks, side_of, split


def test_a_game_and_its_images_are_on_one_side() -> None:
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(200):
        moves = rng.permutation(25)[:14].astype(np.uint16)
        side = side_of(moves, 5, 0.2, 0.2)
        seen.add(side)
        for symmetry in SYMMETRIES:
            image = np.array(cell_map(5, symmetry), np.uint16)[moves]
            assert side_of(image, 5, 0.2, 0.2) == side
    assert seen == set(SIDES)


def test_sides_have_their_shares() -> None:
    rng = np.random.default_rng(2)
    sides = [side_of(rng.permutation(36)[:20].astype(np.uint16), 6, 0.1, 0.3) for _ in range(4000)]
    # three standard errors
    assert abs(sides.count("validation") / 4000 - 0.1) < 0.0143
    assert abs(sides.count("test") / 4000 - 0.3) < 0.0218


def test_an_orbit_stays_on_the_strongest_side_with_that_sides_counts(games: pa.Table) -> None:
    found = occurrences(games)
    sides = game_sides(games, 5, 0.2, 0.2)
    parts = split(found, sides, set())
    whole = {side: reduce(select(found, np.array(sides)[found.game] == side)) for side in SIDES}
    assert parts.dropped["train"] > 0, "no orbit is shared: the test shows nothing"
    stronger: set[bytes] = set()
    for side in SIDES:
        kept = parts.tables[side]
        expected = [row for row in whole[side].to_pylist() if row["key"] not in stronger]
        assert kept.to_pylist() == expected
        stronger.update(whole[side].column("key").to_pylist())
    assert sum(parts.games.values()) == games.num_rows


def test_suite_positions_stay_out_of_what_is_learned_from(games: pa.Table) -> None:
    found = occurrences(games)
    sides = game_sides(games, 5, 0.2, 0.2)
    before = split(found, sides, set())
    planted = {before.tables[side].column("key")[0].as_py() for side in SIDES}
    after = split(found, sides, planted)
    assert after.suite_dropped == 2
    for side in ("train", "validation"):
        assert not planted & set(after.tables[side].column("key").to_pylist())
    assert planted & set(after.tables["test"].column("key").to_pylist())


def test_leaks_are_counted() -> None:
    clean = {"train": {b"a"}, "validation": {b"b"}, "test": {b"c"}}
    assert leaks(clean, {b"c"}) == {"orbits": 0, "suite": 0}
    assert leaks({**clean, "train": {b"a", b"b", b"c"}}, {b"a"}) == {"orbits": 2, "suite": 1}


def test_growing_a_campaign_moves_no_game(games: pa.Table) -> None:
    all_sides = game_sides(games, 5, 0.1, 0.1)
    assert game_sides(games.slice(0, 40), 5, 0.1, 0.1) == all_sides[:40]


@pytest.mark.parametrize("symmetries", [(0, 1), SYMMETRIES])
def test_copies_are_the_images_of_their_rows(games: pa.Table, symmetries: tuple[int, ...]) -> None:
    examples = reduce(occurrences(games)).slice(0, 200)
    copies = augment(examples, 5, symmetries).to_pylist()
    assert len(copies) == 200 * len(symmetries)
    for index, row in enumerate(examples.to_pylist()):
        position = Position(5, unpack(row["black"]), unpack(row["white"]), row["to_move"])
        for number, symmetry in enumerate(symmetries):
            copy = copies[index * len(symmetries) + number]
            image = position.transform(symmetry)
            to = cell_map(5, symmetry)
            assert copy["symmetry"] == symmetry
            assert (copy["black"], copy["white"]) == (pack(image.black, 5), pack(image.white, 5))
            assert (copy["to_move"] != row["to_move"]) == swaps_colours(symmetry)
            assert copy["key"] == row["key"] == keys_of([image])[0][0]
            assert dict(zip(copy["policy_cells"], copy["policy_visits"], strict=True)) == {
                to[cell]: n for cell, n in zip(row["policy_cells"], row["policy_visits"], strict=True)
            }
            assert copy["played_cells"] == sorted(to[cell] for cell in row["played_cells"])
            assert copy["z_sum"] == row["z_sum"]
            assert not set(copy["policy_cells"]) & set(cells(image.black | image.white))


def test_build_writes_files_that_do_not_leak(games_folder: Path, games: pa.Table, tmp_path: Path) -> None:
    from hexdata.label import Label, suite_table

    positions = [Position.after(5, [12, 6, 8]), Position.after(5, [0, 1])]
    labels = [Label(None, [], [], sorted(cells(p.empties())), 1) for p in positions]
    suite = suite_table(positions, keys_of(positions)[0], labels, "random").sort_by("key")
    write_whole(tmp_path / "suite" / "suite.parquet", table_bytes(suite, "suite", {}))
    params = DatasetParams(validation=0.1, test=0.1, augment="rotation", rows_per_file=300)

    figures = build(games_folder, tmp_path / "suite", tmp_path / "out", tmp_path / "more", 5, params)

    assert figures["leaks"] == {"orbits": 0, "suite": 0}
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    train = [name for name in names if name.startswith("train-")]
    assert train == [f"train-{i:05d}-of-{len(train):05d}.parquet" for i in range(len(train))]
    assert len(train) > 1
    written = {side: read_folder(tmp_path / "out", "dataset", f"{side}-*.parquet") for side in SIDES}
    assert {side: table.num_rows for side, table in written.items()} == {
        side: figures[side]["rows"]  # type: ignore[index]
        for side in SIDES
    }
    assert read_folder(tmp_path / "more", "augmented").num_rows == 2 * written["train"].num_rows
