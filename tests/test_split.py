"""No game, orbit or suite position on two sides; sides that growth does not change; copies that are true copies."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from hexdata import dedup, engine
from hexdata.arrays import read_examples
from hexdata.augment import augment
from hexdata.board import SYMMETRIES, Position, cell_map, cells, pack, swaps_colours, unpack
from hexdata.examples import build as build_examples
from hexdata.examples import players_of, reduce
from hexdata.features import Boards, apply_symmetry, unpack_stones
from hexdata.label import Label, keys_of, suite_table
from hexdata.leaks import leak_report
from hexdata.occurrences import occurrences
from hexdata.params import DatasetParams, ExamplesParams, Filters
from hexdata.records import BadFile, metadata_of, read_folder, read_table, rows_hash, table_bytes, write_whole
from hexdata.split import SIDES, STEPS, Count, build, game_sides, pair_sides, side_of, told
from tests.test_examples import reference, stored_image, write_shuffled

Row = dict[str, Any]


def params(**changed: Any) -> DatasetParams:
    return DatasetParams(**{"validation": 0.2, "test": 0.2, "augment": "rotation", "rows_per_file": 300, **changed})


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    write_suite(folder, [Position.after(5, [12, 6, 8]), Position.after(5, [0, 1])])
    return folder


def write_suite(folder: Path, positions: list[Position]) -> None:
    labels = [Label(None, [], [], sorted(cells(p.empties())), 1) for p in positions]
    table = suite_table(positions, keys_of(positions)[0], labels, "random").sort_by("key")
    write_whole(folder / "suite.parquet", table_bytes(table, "suite", {}))


def sides_in(folder: Path) -> dict[bytes, str]:
    """The side of every orbit of a written dataset."""
    found = {side: read_folder(folder, "dataset", f"{side}-*.parquet").column("key").to_pylist() for side in SIDES}
    assert sum(map(len, found.values())) == len({key for keys in found.values() for key in keys})
    return {key: side for side, keys in found.items() for key in keys}


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


def test_sides_have_their_shares(games: pa.Table) -> None:
    rng = np.random.default_rng(2)
    sides = [side_of(rng.permutation(36)[:20].astype(np.uint16), 6, 0.1, 0.3) for _ in range(4000)]
    # three standard errors
    assert abs(sides.count("validation") / 4000 - 0.1) < 0.0143
    assert abs(sides.count("test") / 4000 - 0.3) < 0.0218
    pairs = pair_sides(occurrences(games, players_of(games)), 0.1, 0.3)
    assert abs((pairs == SIDES.index("test")).mean() - 0.3) < 0.04


def expected_rows(games: pa.Table, wanted: DatasetParams, in_suite: set[bytes]) -> dict[str, dict[bytes, Row]]:
    """The dataset in plain Python: rows of each side's games, each orbit on the side that its first shard gives it."""
    side = [SIDES[number] for number in game_sides(games, 5, wanted.validation, wanted.test)]
    by_side = {name: reference(games.filter(pa.array([s == name for s in side]))) for name in SIDES}
    owner: dict[bytes, tuple[int, int]] = {}
    for game, name in zip(games.to_pylist(), side, strict=True):
        position = Position.empty(5)
        for ply, move in enumerate(game["moves"]):
            if ply >= game["opening_length"]:
                key = stored_image(position)[0]
                claim = (game["shard"], SIDES.index(name))
                owner[key] = min(owner.get(key, claim), claim)
            position = position.play(move)
    return {
        name: {
            key: row
            for key, row in rows.items()
            if owner[key][1] == SIDES.index(name) and (name == "test" or key not in in_suite)
        }
        for name, rows in by_side.items()
    }


def test_every_orbit_is_on_the_side_of_its_first_shard_with_that_sides_counts(
    games_folder: Path, games: pa.Table, suite: Path, tmp_path: Path
) -> None:
    planted = [Position.after(5, moves[:3]) for moves in games.column("moves").to_pylist()[:30]]
    keys = keys_of(planted)[0]
    write_suite(tmp_path / "suite", [p for n, p in enumerate(planted) if keys[n] not in keys[:n]])
    figures, _ = build(games_folder, None, tmp_path / "suite", tmp_path / "out", tmp_path / "more", params())
    expected = expected_rows(games, params(), set(keys))
    for side in SIDES:
        rows = read_folder(tmp_path / "out", "dataset", f"{side}-*.parquet").to_pylist()
        assert [row["key"] for row in rows] == sorted(expected[side])
        for row in rows:
            want = expected[side][row["key"]]
            assert (row["games"], row["z_sum"], row["plies_left_sum"]) == (want["games"], want["z"], want["left"])
            assert dict(zip(row["policy_cells"], row["policy_visits"], strict=True)) == want["policy"]
            assert dict(zip(row["played_cells"], row["played_counts"], strict=True)) == want["played"]
    dropped: Any = figures["dropped"]
    assert min(dropped.values()) > 0, "no orbit is shared: the test shows nothing"
    assert figures["suite_dropped"] > 0  # type: ignore[operator]
    assert figures["leaks"] == {"orbits": 0, "games": 0, "suite": 0}
    assert sum(figures[side]["games"] for side in SIDES) == games.num_rows  # type: ignore[index]


def test_growth_moves_no_orbit_that_was_released(
    games_folder: Path, games: pa.Table, suite: Path, tmp_path: Path
) -> None:
    """The strongest side of all games would: some orbit of the first shard's train is met by a later test game."""
    versions = []
    for shards in (1, 2, 3):
        folder = tmp_path / f"games{shards}"
        for path in sorted(games_folder.iterdir())[:shards]:
            write_whole(folder / path.name, path.read_bytes())
        figures, _ = build(folder, None, suite, tmp_path / "out", tmp_path / "more", params())
        assert set(figures["leaks"].values()) == {0}  # type: ignore[attr-defined]
        versions.append(sides_in(tmp_path / "out"))
    for before, after in pairwise(versions):
        assert len(after) > len(before)
        assert {key: after[key] for key in before} == before
    tested = game_sides(games, 5, 0.2, 0.2) == SIDES.index("test")
    later = reference(games.filter(pa.array(tested & (games["shard"].to_numpy() > 0))))
    assert any(versions[0].get(key) == "train" for key in later), "nothing would move: the test shows nothing"


def test_orbits_keep_the_sides_of_released_versions_whatever_else_changes(
    games_folder: Path, suite: Path, tmp_path: Path
) -> None:
    build(games_folder, None, suite, tmp_path / "v1", tmp_path / "more", params())
    other_shares = {"validation": 0.3, "test": 0.3}
    build(games_folder, None, suite, tmp_path / "free", tmp_path / "more", params(**other_shares))
    pinned = params(**other_shares, released=(str(tmp_path / "v1"),))
    figures, _ = build(games_folder, None, suite, tmp_path / "v2", tmp_path / "more", pinned)
    first, free, second = (sides_in(tmp_path / name) for name in ("v1", "free", "v2"))
    assert any(free.get(key, side) != side for key, side in first.items()), "nothing would move: the test shows nothing"
    assert all(second.get(key, side) == side for key, side in first.items())
    assert set(figures["leaks"].values()) == {0}  # type: ignore[attr-defined]
    with pytest.raises(BadFile, match="nowhere: no train-"):
        build(games_folder, None, suite, tmp_path / "v3", tmp_path / "more", params(released=("nowhere",)))
    assert not (tmp_path / "v3").exists()


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_order_shards_partitions_and_workers_change_nothing(
    games: pa.Table, games_folder: Path, suite: Path, tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(games_folder, None, suite, tmp_path / "a", tmp_path / "b", params())
    monkeypatch.setattr(dedup, "RECORDS_PER_PARTITION", 600)
    shuffled = write_shuffled(games, tmp_path / "games", 5, seed=1)
    build(shuffled, None, suite, tmp_path / "c", tmp_path / "d", params(), workers=workers)
    for one, two in (("a", "c"), ("b", "d")):
        paths = sorted((tmp_path / one).iterdir())
        assert [path.name for path in paths] == sorted(path.name for path in (tmp_path / two).iterdir())
        for path in paths:
            assert rows_hash(read_table(path)) == rows_hash(read_table(tmp_path / two / path.name))


def test_files_have_hugging_face_names_and_their_lineage(games_folder: Path, suite: Path, tmp_path: Path) -> None:
    figures, _ = build(games_folder, None, suite, tmp_path / "out", tmp_path / "more", params())
    train = sorted(path.name for path in (tmp_path / "out").glob("train-*"))
    assert len(train) > 1
    assert train == [f"train-{i:05d}-of-{len(train):05d}.parquet" for i in range(len(train))]
    written = {side: read_folder(tmp_path / "out", "dataset", f"{side}-*.parquet") for side in SIDES}
    assert {side: table.num_rows for side, table in written.items()} == {
        side: figures[side]["rows"]  # type: ignore[index]
        for side in SIDES
    }
    assert read_folder(tmp_path / "more", "augmented").num_rows == 2 * written["train"].num_rows
    table = read_table(tmp_path / "out" / train[0])
    notes = metadata_of(table)
    assert notes["engine_version"] == engine.ENGINE_VERSION
    assert notes["games_rows_sha256"] == {
        path.name: metadata_of(read_table(path))["rows_sha256"] for path in games_folder.iterdir()
    }
    assert DatasetParams.model_validate(notes["dataset"]) == params()
    names = [name.decode() for name in table.schema.metadata]
    assert names == sorted(names)


def test_pairs_at_random_leak_and_say_so(games_folder: Path, suite: Path, tmp_path: Path) -> None:
    by_pairs = params(split="pairs", validation=0.0, test=0.1)
    figures, _ = build(games_folder, None, suite, tmp_path / "out", tmp_path / "more", by_pairs)
    keys = {
        side: set(read_folder(tmp_path / "out", "dataset", f"{side}-*.parquet").column("key").to_pylist())
        for side in SIDES
    }
    leaks: Any = figures["leaks"]
    assert leaks["orbits"] == len(keys["train"] & keys["test"]) > 0
    assert leaks["games"] > 100
    assert f"{leaks['orbits']} orbits on two sides" in told(figures)


FILTERS: list[tuple[Filters, Callable[[Row, Position, int], bool], Callable[[Row], bool]]] = [
    (Filters(winner_moves=True), lambda game, position, ply: game["winner"] == position.to_move, lambda row: True),
    (Filters(min_ply=3, max_ply=9), lambda game, position, ply: 3 <= ply <= 9, lambda row: True),
    (Filters(min_games=2), lambda game, position, ply: True, lambda row: row["games"] >= 2),
    (Filters(min_visits=35), lambda game, position, ply: True, lambda row: sum(row["policy"].values()) >= 35),
]


@pytest.mark.parametrize(("filters", "of_game", "of_row"), FILTERS, ids=["winner", "plies", "games", "visits"])
def test_filters_keep_what_plain_python_keeps(
    games_folder: Path,
    games: pa.Table,
    suite: Path,
    tmp_path: Path,
    filters: Filters,
    of_game: Callable[[Row, Position, int], bool],
    of_row: Callable[[Row], bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With everything in train, so that nothing else is dropped; in many partitions, some of which lose nothing."""
    monkeypatch.setattr(dedup, "RECORDS_PER_PARTITION", 100)
    wanted = params(validation=0.0, test=0.0, filters=filters)
    _, counts = build(games_folder, None, suite, tmp_path / "out", tmp_path / "more", wanted, workers=1)
    rows = {row["key"]: row for row in read_folder(tmp_path / "out", "dataset", "train-*.parquet").to_pylist()}
    tally: dict[bytes, Row] = {}
    for game in games.to_pylist():
        position = Position.empty(5)
        for ply, move in enumerate(game["moves"]):
            if ply >= game["opening_length"] and of_game(game, position, ply):
                key, symmetry = stored_image(position)
                row = tally.setdefault(key, {"games": 0, "policy": Counter()})
                row["games"] += 1
                to, seen = cell_map(5, symmetry), game["visits"][ply]
                row["policy"].update({to[c]: n for c, n in zip(seen["cells"], seen["counts"], strict=True)})
            position = position.play(move)
    expected = {key: row for key, row in tally.items() if of_row(row)}
    assert {key: row["games"] for key, row in rows.items()} == {key: row["games"] for key, row in expected.items()}
    assert 0 < len(rows) < reduce(games).num_rows, "the filter drops nothing or all: the test shows nothing"
    assert kept(counts) == (sum(row["games"] for row in rows.values()), len(rows))
    assert kept(counts, "raw") == (sum(len(g) - 1 for g in games["moves"].to_pylist()), reduce(games).num_rows)


def test_filters_that_leave_nothing_drop_nothing_at_the_split(games_folder: Path, suite: Path, tmp_path: Path) -> None:
    nothing = params(filters=Filters(min_ply=25))
    figures, counts = build(games_folder, None, suite, tmp_path / "out", tmp_path / "more", nothing)
    assert {side: figures[side]["rows"] for side in SIDES} == dict.fromkeys(SIDES, 0)  # type: ignore[index]
    assert figures["dropped"] == dict.fromkeys(SIDES, 0)
    assert {count.step for count in counts} == {"raw"}


def test_games_without_a_searched_move_make_empty_sides(games: pa.Table, suite: Path, tmp_path: Path) -> None:
    rows = games.slice(0, 5).to_pylist()
    for row in rows:
        row["opening_length"] = len(row["moves"])
    table = pa.Table.from_pylist(rows, schema=games.schema)
    write_whole(tmp_path / "games" / "games-00000.parquet", table_bytes(table, "games", {}))
    figures, counts = build(tmp_path / "games", None, suite, tmp_path / "out", tmp_path / "more", params())
    assert counts == []
    assert (figures["augmented_rows"], figures["dropped"]) == (0, dict.fromkeys(SIDES, 0))
    assert read_folder(tmp_path / "out", "dataset").num_rows == 0


def kept(counts: list[Count], step: str | None = None) -> tuple[int, int]:
    """Raw and unique positions after a step, else after the last."""
    last = step or max((line.step for line in counts), key=STEPS.index)
    return sum(line.raw for line in counts if line.step == last), sum(c.unique for c in counts if c.step == last)


def test_positions_with_a_winning_connection_are_left_out(games_folder: Path, suite: Path, tmp_path: Path) -> None:
    wanted = params(validation=0.0, test=0.0, filters=Filters(without_connection=True))
    _, counts = build(games_folder, None, suite, tmp_path / "out", tmp_path / "more", wanted)
    before = read_folder(games_folder, "games")
    rows = reduce(before).to_pylist()
    left = {row["key"] for row in read_folder(tmp_path / "out", "dataset").to_pylist()}
    assert 0 < len(left) < len(rows)
    assert kept(counts)[1] == len(left)
    for row in rows[::17]:
        stones = [list(cells(unpack(row[colour]))) for colour in ("black", "white")]
        winners = {engine.solve(5, *stones, to_move=colour).winner for colour in ("black", "white")}
        if row["key"] not in left:
            assert len(winners) == 1, "a connection that holds whoever moves wins whoever moves"
    joined = Position.after(5, [2, 0, 7, 1, 12, 3, 17, 4])  # c1 to c4: two cells below c4 reach the last row
    black, white = (np.frombuffer(pack(joined.stones(c), 5), np.uint8)[None] for c in ("black", "white"))
    assert engine.winning_connections(5, black, white).tolist() == [0]
    empty = np.zeros((1, 4), np.uint8)
    assert engine.winning_connections(5, empty, empty).tolist() == [2]


def test_growing_a_campaign_moves_no_game(games: pa.Table) -> None:
    all_sides = game_sides(games, 5, 0.1, 0.1)
    assert game_sides(games.slice(0, 40), 5, 0.1, 0.1).tolist() == all_sides[:40].tolist()


def test_proved_values_come_with_the_rows(games_folder: Path, suite: Path, tmp_path: Path) -> None:
    build_examples(games_folder, tmp_path / "examples", ExamplesParams(prove_from_ply=8, prove_limit_nodes=100))
    build(games_folder, tmp_path / "examples", suite, tmp_path / "out", tmp_path / "more", params())
    proved = {row["key"]: row["proved"] for row in read_folder(tmp_path / "examples", "examples").to_pylist()}
    rows = read_folder(tmp_path / "out", "dataset").to_pylist()
    assert [row["proved"] for row in rows] == [proved[row["key"]] for row in rows]
    assert {row["proved"] for row in rows} == {1, -1, None}


def test_proved_values_of_other_games_are_refused(
    games: pa.Table, games_folder: Path, suite: Path, tmp_path: Path
) -> None:
    write_whole(tmp_path / "fewer" / "games-00000.parquet", table_bytes(games.slice(0, 40), "games", {}))
    build_examples(tmp_path / "fewer", tmp_path / "examples")
    with pytest.raises(BadFile, match=r"00000-of-00001\.parquet: made from other games than are there now"):
        build(games_folder, tmp_path / "examples", suite, tmp_path / "out", tmp_path / "more", params())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("symmetries", [(0, 1), SYMMETRIES])
def test_copies_are_the_images_of_their_rows(games: pa.Table, symmetries: tuple[int, ...]) -> None:
    examples = reduce(games).slice(0, 200)
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


@pytest.mark.parametrize("kind", ["rotation", "all"])
def test_copies_on_the_fly_are_the_written_ones(games_folder: Path, suite: Path, tmp_path: Path, kind: str) -> None:
    """Every row under every symmetry, as training turns it, is the multiset of the augmented artifact."""
    build(games_folder, None, suite, tmp_path / "out", tmp_path / "more", params(augment=kind))
    for path in (tmp_path / "more").iterdir():  # training reads datasets: the copies without their extra column
        table = read_table(path).drop_columns(["symmetry"])
        write_whole(tmp_path / "as" / path.name, table_bytes(table.replace_schema_metadata(None), "dataset", {}))
    plain, written = (read_examples(tmp_path / name, "train", 5) for name in ("out", "as"))
    turned: Counter[bytes] = Counter()
    for symmetry in (0, 1) if kind == "rotation" else SYMMETRIES:
        boards = Boards(
            unpack_stones(torch.tensor(plain.positions.black), 5),
            unpack_stones(torch.tensor(plain.positions.white), 5),
            torch.tensor(plain.positions.to_move),
        )
        which = torch.full((len(plain),), symmetry)
        boards, (policy, played) = apply_symmetry(
            5, which, boards, torch.tensor(plain.policy), torch.tensor(plain.played)
        )
        turned.update(_rows_as_bytes(boards, policy.numpy(), played.numpy(), plain.z))
    boards = Boards(
        unpack_stones(torch.tensor(written.positions.black), 5),
        unpack_stones(torch.tensor(written.positions.white), 5),
        torch.tensor(written.positions.to_move),
    )
    assert turned == Counter(_rows_as_bytes(boards, written.policy, written.played, written.z))


def _rows_as_bytes(boards: Boards, *values: np.ndarray) -> list[bytes]:
    columns = [boards.black_ba.numpy(), boards.white_ba.numpy(), boards.to_move_b.numpy(), *values]
    return [
        b"".join(np.ascontiguousarray(column[row]).tobytes() for column in columns) for row in range(len(columns[2]))
    ]


def test_games_of_the_colour_with_fewer_wins_are_turned(games_folder: Path, suite: Path, tmp_path: Path) -> None:
    """Hort's balance: half-turns of the games that the minority colour won, and of no other."""
    everything = params(validation=0.0, test=0.0, augment="minority")
    build(games_folder, None, suite, tmp_path / "out", tmp_path / "more", everything)
    games = read_folder(games_folder, "games")
    wins = Counter(games.column("winner").to_pylist())
    fewer = min(wins, key=lambda colour: (wins[colour], colour))
    assert wins["black"] != wins["white"]
    copies = read_folder(tmp_path / "more", "augmented").to_pylist()
    train = read_folder(tmp_path / "out", "dataset", "train-*.parquet").to_pylist()
    assert [{k: v for k, v in row.items() if k != "symmetry"} for row in copies if not row["symmetry"]] == train
    turned = {row["key"]: row for row in copies if row["symmetry"] == 1}
    minority = reference(games.filter(pa.array([w == fewer for w in games.column("winner").to_pylist()])))
    learned = {row["key"] for row in train}
    assert turned.keys() == minority.keys() & learned
    assert len(turned) + len(train) == len(copies)
    for key, row in turned.items():
        assert (row["games"], row["z_sum"]) == (minority[key]["games"], minority[key]["z"])
        image = Position(5, unpack(minority[key]["black"]), unpack(minority[key]["white"]), "black").transform(1)
        assert unpack(row["black"]) == image.black
    assert [(row["key"], row["symmetry"]) for row in copies] == sorted((row["key"], row["symmetry"]) for row in copies)


def test_turned_games_keep_what_is_proved(games_folder: Path, suite: Path, tmp_path: Path) -> None:
    """Their z counts games of one winner alone, which a proof must correct as it does in the row itself."""
    build_examples(games_folder, tmp_path / "examples", ExamplesParams(prove_from_ply=6, prove_limit_nodes=100))
    wanted = params(augment="minority")
    build(games_folder, tmp_path / "examples", suite, tmp_path / "out", tmp_path / "more", wanted)
    train = read_folder(tmp_path / "out", "dataset", "train-*.parquet").to_pylist()
    proved = {row["key"]: row["proved"] for row in train}
    turned = [row for row in read_folder(tmp_path / "more", "augmented").to_pylist() if row["symmetry"] == 1]
    assert [row["proved"] for row in turned] == [proved[row["key"]] for row in turned]
    assert {row["proved"] for row in turned} == {1, -1, None}
    against = [row for row in turned if row["proved"] is not None and row["z_sum"] * row["proved"] < 0]
    assert against, "no result is against its proof: the test shows little"


class TestPlantedLeaks:
    """Each leak is planted in the files themselves, under a key that hides it, and found from the stones and games."""

    @pytest.fixture
    def dataset(self, games_folder: Path, suite: Path, tmp_path: Path) -> Path:
        figures, _ = build(
            games_folder, None, suite, tmp_path / "out", tmp_path / "more", params(rows_per_file=100_000)
        )
        assert figures["leaks"] == {"orbits": 0, "games": 0, "suite": 0}
        return tmp_path / "out"

    def plant(self, dataset: Path, side: str, change: Callable[[list[Row]], None]) -> None:
        (path,) = dataset.glob(f"{side}-*.parquet")
        table = read_table(path)
        rows = table.to_pylist()
        change(rows)
        notes = {
            name: value
            for name, value in metadata_of(table).items()
            if name not in ("kind", "schema_version", "rows_sha256")
        }
        rows.sort(key=lambda row: row["key"])
        changed = pa.Table.from_pylist(rows, schema=table.schema.remove_metadata())
        write_whole(path, table_bytes(changed, "dataset", notes))

    @pytest.mark.parametrize("symmetry", [1, 2, 3])
    def test_a_twin_in_test(self, dataset: Path, games_folder: Path, suite: Path, symmetry: int) -> None:
        row = read_folder(dataset, "dataset", "train-*.parquet").slice(7, 1).to_pylist()[0]
        position = Position(5, unpack(row["black"]), unpack(row["white"]), row["to_move"]).transform(symmetry)
        twin = {
            **row,
            "key": bytes(16),
            "black": pack(position.black, 5),
            "white": pack(position.white, 5),
            "to_move": position.to_move,
        }
        self.plant(dataset, "test", lambda rows: rows.append(twin))
        assert leak_report(dataset, games_folder, suite) == {"orbits": 1, "games": 1, "suite": 0}

    def test_a_game_on_two_sides(self, dataset: Path, games_folder: Path, games: pa.Table, suite: Path) -> None:
        """A test game's counts are added to the training rows that it shares positions with, and to no others."""
        sides = [SIDES[number] for number in game_sides(games, 5, 0.2, 0.2)]
        train = set(read_folder(dataset, "dataset", "train-*.parquet").column("key").to_pylist())
        shared = 0
        for number, side in enumerate(sides):
            met = train & reference(games.slice(number, 1)).keys()
            if side == "test" and met:
                shared = len(met)
                break
        assert shared

        def count_it_too(rows: list[Row]) -> None:
            for row in rows:
                if row["key"] in met:
                    row.update(games=row["games"] + 1, z_count=row["z_count"] + 1, z_sum=row["z_sum"] + 1)

        self.plant(dataset, "train", count_it_too)
        assert leak_report(dataset, games_folder, suite) == {"orbits": 0, "games": shared, "suite": 0}

    def test_a_suite_position_in_train(self, dataset: Path, games_folder: Path, suite: Path) -> None:
        position = Position.after(5, [12, 6, 8]).transform(1)
        some = read_folder(dataset, "dataset", "train-*.parquet").slice(0, 1).to_pylist()[0]
        planted = {
            **some,
            "key": bytes(16),
            "black": pack(position.black, 5),
            "white": pack(position.white, 5),
            "to_move": position.to_move,
        }
        self.plant(dataset, "train", lambda rows: rows.append(planted))
        assert leak_report(dataset, games_folder, suite)["suite"] == 1
