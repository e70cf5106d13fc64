"""Every planted fault is found, with its file, row and rule."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hexdata.augment import augment
from hexdata.board import Position, unpack
from hexdata.examples import build as build_examples
from hexdata.examples import reduce
from hexdata.label import keys_of, label, openings_table, suite_table
from hexdata.params import DatasetParams, Filters
from hexdata.records import BadFile, metadata_of, read_table, schema_for, table_bytes, write_json, write_whole
from hexdata.split import build
from hexdata.suites import openings_json, suite_json
from hexdata.validate import Report, validate

Row = dict[str, Any]


@pytest.fixture(scope="module")
def tables(games: pa.Table) -> dict[str, pa.Table]:
    examples = reduce(games).slice(0, 50)
    positions = [Position.after(5, moves) for moves in ([12, 6, 8], [0, 1], [12, 6, 8, 16, 7, 11, 18, 13])]
    found = keys_of(positions)
    images = [p.transform(int(s)) for p, s in zip(positions, found[1], strict=True)]
    firsts = label([Position.after(5, [cell]) for cell in range(25)], limit_nodes=100_000, all_moves=False)
    return {
        "games": games.slice(0, 20),
        "examples": examples,
        "augmented": augment(examples, 5, (0, 1, 2, 3)),
        "suite": suite_table(images, found[0], label(images, limit_nodes=100_000, all_moves=True), "random").sort_by(
            "key"
        ),
        "openings": openings_table(5, list(range(25)), firsts),
    }


def write(path: Path, kind: str, table: pa.Table) -> Path:
    write_whole(path, table_bytes(table, kind, {"split": "train"} if kind == "dataset" else {}))
    return path


@pytest.mark.parametrize("kind", ["games", "examples", "augmented", "suite", "openings"])
def test_what_we_write_is_sound(tables: dict[str, pa.Table], kind: str, tmp_path: Path) -> None:
    report = validate(write(tmp_path / "x.parquet", kind, tables[kind]))
    assert report.problems == []
    assert report.rows == tables[kind].num_rows


def swap_first_two(rows: list[Row]) -> None:
    rows[0], rows[1] = rows[1], rows[0]


def repeat_a_row(rows: list[Row]) -> None:
    rows[1] = dict(rows[0])


FEW_EMPTY = 1
"""The row of the suite that plain search can prove again."""

FAULTS: list[tuple[str, str, int, Callable[[list[Row]], None]]] = [
    ("games", "legal", 3, lambda rows: rows[3]["moves"].__setitem__(2, rows[3]["moves"][1])),
    ("games", "legal", 3, lambda rows: rows[3]["moves"].__setitem__(0, 25)),
    ("games", "winner", 3, lambda rows: rows[3].update(winner="white" if rows[3]["winner"] == "black" else "black")),
    ("games", "winner", 3, lambda rows: (rows[3]["moves"].pop(), [rows[3][n].pop() for n in PER_MOVE])),
    ("games", "winner", 3, lambda rows: rows[3].update(winner="nobody")),
    ("games", "winner", 3, lambda rows: rows[3].update(loser_resigned(rows[3]))),
    ("games", "ended_by", 3, lambda rows: rows[3].update(ended_by="time")),
    ("games", "per_move", 3, lambda rows: rows[3]["budget"].pop()),
    ("games", "per_move", 3, lambda rows: rows[3]["sampled"].append(True)),
    ("games", "visits", 3, lambda rows: rows[3]["visits"][5]["cells"].__setitem__(0, rows[3]["moves"][0])),
    ("games", "visits", 3, lambda rows: rows[3]["visits"][5]["counts"].pop()),
    ("games", "opening_length", 3, lambda rows: rows[3].update(opening_length=99)),
    ("games", "unique", 4, lambda rows: rows[3].update(game_id=rows[4]["game_id"])),
    ("games", "game_id", 3, lambda rows: rows[3].update(game_id=bytes(16))),
    ("games", "game_id", 3, lambda rows: rows[3].update(campaign="other")),
    ("games", "game_id", 3, lambda rows: rows[3].update(engine_version=99)),
    ("games", "game_id", 3, lambda rows: rows[3].update(engine_version=0)),
    ("games", "root_value", 3, lambda rows: rows[3]["root_value"].__setitem__(5, float("nan"))),
    ("games", "root_value", 3, lambda rows: rows[3]["root_value"].__setitem__(5, -7.0)),
    ("games", "visits", 3, lambda rows: repeat_a_cell(rows[3]["visits"][5])),
    ("games", "visits", 3, lambda rows: rows[3]["visits"][0].update(cells=[0], counts=[1])),
    ("games", "visits", 3, lambda rows: rows[3]["sampled"].__setitem__(0, True)),
    ("games", "visits", 3, lambda rows: rows[3]["visits"][1].update(cells=[], counts=[])),
    ("games", "opening_length", 3, lambda rows: rows[3].update(opening_length=len(rows[3]["moves"]))),
    ("games", "ended_by", 3, lambda rows: rows[3].update(ended_by="proof")),
    ("games", "ended_by", 3, lambda rows: rows[3].update(ended_by="resign")),
    ("games", "ended_by", 3, lambda rows: rows[3].update(without_moves(), ended_by="resign")),
    ("games", "legal", 3, lambda rows: rows[3].update(without_moves(), ended_by="resign", engine_version=0)),
    ("examples", "stones", 3, lambda rows: rows[3].update(white=rows[3]["black"])),
    ("examples", "stones", 3, lambda rows: rows[3].update(black=rows[3]["black"][:3] + b"\x80")),
    ("examples", "ply", 3, lambda rows: rows[3].update(ply=rows[3]["ply"] + 2)),
    ("examples", "turn", 3, lambda rows: rows[3].update(to_move="white" if rows[3]["to_move"] == "black" else "black")),
    ("examples", "undecided", 3, lambda rows: rows[3].update(black=b"\x21\x84\x10\x00", white=b"\x00\x00\x00\x00")),
    ("examples", "key", 3, lambda rows: rows[3].update(key=bytes(16))),
    ("examples", "image", 3, lambda rows: rows[3].update(turned(rows[3]))),
    ("examples", "sorted", 1, swap_first_two),
    ("examples", "sorted", 1, repeat_a_row),
    ("examples", "policy", 3, lambda rows: rows[3].update(policy_cells=[25, *rows[3]["policy_cells"][1:]])),
    ("examples", "policy", 3, lambda rows: rows[3]["policy_cells"].reverse()),
    ("examples", "policy", 3, lambda rows: rows[3]["policy_visits"].append(4)),
    ("examples", "policy", 3, lambda rows: rows[3]["policy_visits"].__setitem__(0, 0)),
    ("examples", "policy", 3, lambda rows: rows[3]["policy_visits"].__setitem__(0, 2**64 - 1)),
    ("examples", "z", 3, lambda rows: rows[3].update(z_sum=rows[3]["z_count"] + 2)),
    ("examples", "z", 3, lambda rows: rows[3].update(z_sum=rows[3]["z_sum"] + 1)),
    ("examples", "games", 3, lambda rows: rows[3].update(games=rows[3]["games"] + 1)),
    ("examples", "sampled_count", 3, lambda rows: rows[3].update(sampled_count=rows[3]["games"] + 1)),
    ("examples", "proved", 3, lambda rows: rows[3].update(proved=2)),
    ("augmented", "key", 3, lambda rows: rows[3].update(key=bytes(16))),
    ("augmented", "turn", 3, lambda rows: rows[3].update(symmetry=0)),
    ("augmented", "symmetry", 3, lambda rows: rows[3].update(symmetry=4)),
    ("augmented", "sorted", 1, swap_first_two),
    ("augmented", "sorted", 1, repeat_a_row),
    ("suite", "moves", 1, lambda rows: rows[1]["losing_moves"].pop()),
    ("suite", "value", 1, lambda rows: rows[1].update(value=-1)),
    ("suite", "difficulty", 1, lambda rows: rows[1].update(difficulty="nonsense")),
    ("suite", "difficulty", 1, lambda rows: rows[1].update(nodes=10**18)),
    ("openings", "winner", 3, lambda rows: rows[3].update(winner="nobody")),
    ("openings", "cells", 3, lambda rows: rows[3].update(cell=4)),
    ("examples", "size", 3, lambda rows: rows[3].update(size=6)),
    ("games", "visits", 3, lambda rows: rows[3]["visits"][5]["cells"].__setitem__(0, 25)),
    ("examples", "turn", 3, lambda rows: rows[3].update(to_move="nobody")),
    ("examples", "policy", 3, lambda rows: rows[3].update(played_cells=taken_cell(rows[3]))),
    ("examples", "plies_left", 3, lambda rows: rows[3].update(plies_left_sum=0)),
    ("examples", "plies_left", 3, lambda rows: rows[3].update(plies_left_sum=26 * rows[3]["games"])),
    ("examples", "weight", 3, lambda rows: rows[3].update(weight=0.0)),
    ("examples", "audit", 3, lambda rows: prove_wrong(rows, 3)),
    ("suite", "audit", FEW_EMPTY, lambda rows: rows[FEW_EMPTY].update(labels_turned(rows[FEW_EMPTY]))),
]


def taken_cell(row: Row) -> list[int]:
    from hexdata.board import cells, unpack

    return [next(cells(unpack(row["black"]) | unpack(row["white"])))]


def prove_wrong(rows: list[Row], number: int) -> None:
    """Only this row claims a proof, and a wrong one."""
    from hexdata import engine
    from hexdata.board import cells, unpack

    row = rows[number]
    stones = [list(cells(unpack(row[colour]))) for colour in ("black", "white")]
    winner = engine.solve(5, *stones, to_move=row["to_move"]).winner
    row.update(proved=-1 if winner == row["to_move"] else 1)


def labels_turned(row: Row) -> Row:
    return {"winning_moves": row["losing_moves"], "losing_moves": row["winning_moves"], "value": 1}


def loser_resigned(row: Row) -> Row:
    """Said to be won by resignation by the side that has been joined against."""
    return {"winner": "white" if row["winner"] == "black" else "black", "ended_by": "resign"}


PER_MOVE = ("budget", "root_value", "visits", "sampled")


def repeat_a_cell(seen: dict[str, list[int]]) -> None:
    seen["cells"][1] = seen["cells"][0]


def without_moves() -> Row:
    return {"moves": [], "opening_length": 0} | {name: [] for name in PER_MOVE}


def turned(row: Row) -> Row:
    from hexdata.board import pack, unpack

    position = Position(5, unpack(row["black"]), unpack(row["white"]), row["to_move"]).transform(1)
    return {"black": pack(position.black, 5), "white": pack(position.white, 5)}


@pytest.mark.parametrize(
    ("kind", "rule", "row", "break_it"),
    FAULTS,
    ids=[f"{number}-{kind}-{rule}" for number, (kind, rule, _, _) in enumerate(FAULTS)],
)
def test_a_planted_fault_is_found_in_its_place(
    tables: dict[str, pa.Table],
    kind: str,
    rule: str,
    row: int,
    break_it: Callable[[list[Row]], None],
    tmp_path: Path,
) -> None:
    rows = tables[kind].to_pylist()
    break_it(rows)
    path = write(tmp_path / "x.parquet", kind, pa.Table.from_pylist(rows, schema=schema_for(kind, 5)))
    problems = validate(path).problems
    assert (str(path), row, rule) in {(p.file, p.row, p.rule) for p in problems}, problems


def test_changed_rows_and_a_foreign_schema_are_found(tables: dict[str, pa.Table], tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = write(tmp_path / "x.parquet", "examples", tables["examples"])
    table = pq.read_table(path)
    pq.write_table(table.slice(0, 49), path)
    assert [p.rule for p in validate(path).problems] == ["rows_sha256"]
    pq.write_table(table.drop_columns(["weight"]), path)
    assert [p.rule for p in validate(path).problems] == ["schema"]
    pq.write_table(table.replace_schema_metadata(None), path)
    assert [p.rule for p in validate(path).problems] == ["schema_version"]


def test_columns_of_an_empty_table(tables: dict[str, pa.Table], tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", "dataset", tables["examples"].slice(0, 0))
    assert validate(path).problems == []
    write(path, "dataset", pa.table({"size": pa.array([], pa.uint8()), "foo": pa.array([], pa.string())}))
    assert [p.rule for p in validate(path).problems] == ["schema"]


@pytest.mark.parametrize("sizes", [["5"], [[5]], [5.0], [None]])
def test_a_size_that_is_no_number(sizes: list[Any], tmp_path: Path) -> None:
    (problem,) = validate(write(tmp_path / "x.parquet", "examples", pa.table({"size": sizes}))).problems
    assert (problem.rule, problem.message.endswith("expected whole numbers")) == ("schema", True)


@pytest.mark.parametrize(("kind", "shown"), [("suite", suite_json), ("openings", openings_json)])
def test_the_json_beside_a_suite(
    tables: dict[str, pa.Table], kind: str, shown: Callable[[pa.Table], object], tmp_path: Path
) -> None:
    path = write(tmp_path / f"{kind}.parquet", kind, tables[kind])
    beside = tmp_path / f"{kind}.json"
    write_json(beside, shown(tables[kind]))
    assert validate(tmp_path).problems == []
    for content, message in ((b"[]", f"not what {path.name} says"), (b"\xff", "not readable as JSON")):
        beside.write_bytes(content)
        assert [(p.file, p.rule, p.message) for p in validate(path).problems] == [(str(beside), "json", message)]


@pytest.fixture(scope="module")
def campaign(games_folder: Path, tables: dict[str, pa.Table], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaign")
    shutil.copytree(games_folder, folder / "games")
    suite = write(folder / "suites" / "suite.parquet", "suite", tables["suite"]).parent
    build_examples(folder / "games", folder / "examples")
    params = DatasetParams(validation=0.2, test=0.2, augment="rotation", rows_per_file=500)
    build(folder / "games", None, suite, folder / "dataset", folder / "augmented", params)
    assert validate(folder).problems == []
    return folder


class TestFolders:
    """What must hold between files: each fault is planted in a built campaign, and named with its file and row."""

    @pytest.fixture
    def built(self, campaign: Path, tmp_path: Path) -> Path:
        return shutil.copytree(campaign, tmp_path / "campaign")

    def change(self, path: Path, change: Callable[[list[Row]], None]) -> None:
        table = read_table(path)
        rows, notes = table.to_pylist(), metadata_of(table)
        change(rows)
        kept = {name: value for name, value in notes.items() if name not in ("schema_version", "rows_sha256", "kind")}
        changed = pa.Table.from_pylist(rows, schema=table.schema.remove_metadata())
        write_whole(path, table_bytes(changed, str(notes["kind"]), kept))

    def found(self, folder: Path) -> set[tuple[str, int | None, str]]:
        return {(Path(p.file).relative_to(folder).as_posix(), p.row, p.rule) for p in validate(folder).problems}

    def test_counts_that_are_not_the_sum_over_the_games(self, built: Path) -> None:
        self.change(built / "examples" / "examples-00000-of-00001.parquet", lambda rows: more_visits(rows[5]))
        train = "dataset/train-00001-of-00003.parquet"
        self.change(built / train, lambda rows: one_more_game(rows[7]))
        assert self.found(built) == {
            ("examples/examples-00000-of-00001.parquet", 5, "counts"),
            (train, 7, "counts"),
            ("augmented/train-00002-of-00005.parquet", 14, "copies"),
        }

    def test_rows_that_are_missing(self, built: Path) -> None:
        """Of every table that games determine: the examples, and each side of a dataset by its suite and filters."""
        shutil.rmtree(built / "augmented")
        self.change(built / "examples" / "examples-00000-of-00001.parquet", lambda rows: rows.pop(7))
        for side in ("train-00001-of-00003", "test-00000-of-00001"):
            self.change(built / "dataset" / f"{side}.parquet", lambda rows: (rows.pop(3), rows.pop()))
        problems = validate(built).problems
        assert [(Path(p.file).name, p.row, p.rule) for p in problems] == [
            ("dataset", None, "counts"),
            ("dataset", None, "counts"),
            ("examples", None, "counts"),
        ]
        assert [p.message.partition(", ")[0] for p in problems] == [
            "2 positions of the games are missing from test",
            "2 positions of the games are missing from train",
            "1 positions of the games are missing from the rows",
        ]

    @pytest.mark.parametrize(
        "changed",
        [
            {"split": "pairs"},
            {"filters": Filters(winner_moves=True, min_ply=3)},
            {"filters": Filters(without_connection=True, min_visits=35)},
        ],
        ids=["pairs", "filters of games", "filters of rows"],
    )
    def test_nothing_is_missed_that_was_left_out_on_purpose(self, built: Path, changed: dict[str, Any]) -> None:
        params = DatasetParams(validation=0.2, test=0.2, augment="rotation", rows_per_file=9999, **changed)
        dataset, augmented = built / "dataset", built / "augmented"
        build(built / "games", None, built / "suites", dataset, augmented, params)
        assert {p.rule for p in validate(built).problems} <= ({"leak"} if "split" in changed else set())
        self.change(dataset / "train-00000-of-00001.parquet", lambda rows: rows.pop(7))
        missing = [p.message for p in validate(built).problems if p.rule == "counts"]
        assert [text.partition(", ")[0] for text in missing] == ["1 positions of the games are missing from train"]

    def test_what_an_absent_release_decided_is_not_called_missing(self, built: Path, tmp_path: Path) -> None:
        released = shutil.copytree(built / "dataset", tmp_path / "v1")
        params = DatasetParams(
            validation=0.3, test=0.3, augment="rotation", rows_per_file=500, released=(str(released),)
        )
        build(built / "games", None, built / "suites", built / "dataset", built / "augmented", params)
        assert (validate(built).problems, validate(built).notes) == ([], [])
        shutil.rmtree(released)
        assert validate(built).problems == []
        (note,) = validate(built).notes
        assert note.endswith("v1, which it names as released, is not here")

    def test_parameters_in_the_metadata_that_are_none(self, built: Path) -> None:
        def note(**changed: object) -> set[tuple[str, int | None, str]]:
            for path in sorted((built / "dataset").iterdir()):
                table = read_table(path)
                wanted = {"split": metadata_of(table)["split"], "games_rows_sha256": {}, **changed}
                write_whole(path, table_bytes(table, "dataset", wanted))
            return {place for place in self.found(built) if place[2] != "copies"}

        names = [path.name for path in (built / "dataset").iterdir()]
        assert note(dataset={"foo": 1}) == {(f"dataset/{name}", None, "metadata") for name in names}
        assert note() == set()

    @pytest.mark.parametrize("kind", ["rotation", "all", "minority"])
    def test_copies_that_the_training_rows_do_not_give(self, built: Path, kind: Any) -> None:
        params = DatasetParams(validation=0.2, test=0.2, augment=kind, rows_per_file=500)
        build(built / "games", None, built / "suites", built / "dataset", built / "augmented", params)
        assert validate(built).problems == []
        path = sorted((built / "augmented").iterdir())[1]
        content = path.read_bytes()
        symmetries = read_table(path).column("symmetry").to_pylist()
        turned, itself = symmetries.index(1, 5), symmetries.index(0, 5)
        name = f"augmented/{path.name}"

        def after(change: Callable[[list[Row]], object]) -> set[tuple[str, int | None, str]]:
            self.change(path, change)
            found = self.found(built)
            path.write_bytes(content)
            return found

        assert after(lambda rows: rows[itself].update(plies_left_sum=rows[itself]["plies_left_sum"] + 1)) == {
            (name, itself, "copies")
        }
        assert after(lambda rows: rows[turned].update(weight=2.0)) == {(name, turned, "copies")}
        assert after(lambda rows: rows.pop(itself)) == {(name, itself, "copies")}
        last = sorted((built / "augmented").iterdir())[-1]
        self.change(last, lambda rows: [rows.pop() for _ in range(4)])
        assert self.found(built) == {(f"augmented/{last.name}", None, "copies")}

    def test_copies_of_other_training_rows_and_none_to_compare_with(self, built: Path) -> None:
        params = DatasetParams(validation=0.1, test=0.2, augment="rotation", rows_per_file=500)
        build(built / "games", None, built / "suites", built / "dataset", built / "other", params)
        shutil.rmtree(built / "other")
        assert ("augmented", None, "copies") in self.found(built)
        (note,) = validate(built / "augmented").notes
        assert "not compared with its training rows" in note

    def test_a_copy_of_a_test_position_leaks(self, built: Path) -> None:
        test = read_table(built / "dataset" / "test-00000-of-00001.parquet").slice(9, 1)
        copy = augment(test, 5, (1,)).to_pylist()
        path = built / "augmented" / "train-00000-of-00005.parquet"

        def plant(rows: list[Row]) -> None:
            rows += copy
            rows.sort(key=lambda row: (row["key"], row["symmetry"]))

        self.change(path, plant)
        found = {problem for problem in self.found(built) if problem[2] == "leak"}
        keys = read_table(path).column("key").to_pylist()
        assert found == {("augmented/train-00000-of-00005.parquet", keys.index(copy[0]["key"]), "leak")}

    def test_tables_of_other_games_than_those_that_are_here(self, built: Path) -> None:
        def gone(report: Report) -> list[tuple[str, str]]:
            return [(p.rule, p.message) for p in report.problems]

        shard = built / "games" / "games-00001.parquet"
        content = shard.read_bytes()
        shard.unlink()
        text = "made from other games than those here: 1 missing or changed (games-00001.parquet), {} others"
        assert gone(validate(built)) == [("counts", text.format(0))] * 2
        shard.write_bytes(content)
        self.change(shard, lambda rows: rows[3]["budget"].__setitem__(5, 1))
        found = validate(built)
        assert gone(found) == [("counts", text.format(1))] * 2
        assert {p.file for p in found.problems} == {str(built / "examples"), str(built / "dataset")}

    def test_a_game_in_two_files(self, built: Path) -> None:
        row = read_table(built / "games" / "games-00000.parquet").slice(5, 1).to_pylist()[0]
        self.change(built / "games" / "games-00002.parquet", lambda rows: rows.append({**row, "shard": 2}))
        assert ("games/games-00002.parquet", 40, "unique") in self.found(built)

    @pytest.mark.parametrize("column", ["shard", "campaign"])
    def test_a_game_of_another_shard_or_campaign_than_its_file(self, built: Path, column: str) -> None:
        other = {"shard": 7, "campaign": "other"}
        self.change(built / "games" / "games-00001.parquet", lambda rows: rows[3].update({column: other[column]}))
        assert ("games/games-00001.parquet", 3, column) in self.found(built)

    def test_a_shard_under_the_name_of_another_in_a_release(self, built: Path) -> None:
        for number in (0, 2):
            shard = built / "games" / f"games-{number:05d}.parquet"
            shard.rename(built / "games" / f"train-{number // 2:05d}-of-00002.parquet")
        (built / "games" / "games-00001.parquet").unlink()
        found = {place for place in self.found(built) if place[2] == "shard" and place[1] is not None}
        assert found == {("games/train-00001-of-00002.parquet", row, "shard") for row in range(5)}

    def test_an_orbit_on_two_sides(self, built: Path) -> None:
        shutil.rmtree(built / "augmented")
        row = read_table(built / "dataset" / "train-00000-of-00003.parquet").slice(9, 1).to_pylist()[0]

        def plant(rows: list[Row]) -> None:
            rows.append(row)
            rows.sort(key=lambda row: row["key"])

        self.change(built / "dataset" / "test-00000-of-00001.parquet", plant)
        keys = read_table(built / "dataset" / "test-00000-of-00001.parquet").column("key").to_pylist()
        place = ("dataset/test-00000-of-00001.parquet", keys.index(row["key"]))
        assert self.found(built) == {(*place, "leak"), (*place, "counts")}

    def test_a_suite_position_in_train(self, built: Path) -> None:
        train = built / "dataset" / "train-00002-of-00003.parquet"
        row = read_table(train).slice(4, 1).to_pylist()[0]
        position = Position(5, unpack(row["black"]), unpack(row["white"]), row["to_move"])
        labels = label([position], limit_nodes=100_000, all_moves=True)
        write(built / "suites" / "suite.parquet", "suite", suite_table([position], [row["key"]], labels, "random"))
        assert self.found(built) == {
            ("dataset/train-00002-of-00003.parquet", 4, "leak"),
            ("augmented/train-00004-of-00005.parquet", 8, "leak"),
        }

    def test_a_missing_file_and_a_file_of_another_side(self, built: Path) -> None:
        (built / "dataset" / "train-00001-of-00003.parquet").unlink()
        assert self.found(built) == {("dataset/train-00001-of-00003.parquet", None, "files")}
        dataset = built / "dataset"
        kept = (dataset / "train-00000-of-00003.parquet").read_bytes()
        (dataset / "train-00000-of-00003.parquet").unlink()
        lost = {(f"dataset/train-0000{n}-of-00003.parquet", None, "files") for n in (0, 1)}
        assert self.found(built) == lost, "the first of a set is missed as the others are"
        (dataset / "train-00000-of-00003.parquet").write_bytes(kept)
        shutil.copy(dataset / "validation-00000-of-00001.parquet", dataset / "train-00001-of-00003.parquet")
        assert ("dataset/train-00001-of-00003.parquet", None, "split") in self.found(built)

    def test_the_order_in_which_files_are_named_says_nothing(self, built: Path) -> None:
        files = sorted(built.rglob("*.parquet"))
        found = validate(*reversed(files))
        assert (found.problems, found.rows) == ([], validate(*files).rows)

    def test_unfinished_work_in_hidden_folders_is_passed_over(self, built: Path, tables: dict[str, pa.Table]) -> None:
        pieces = built / ".work" / "suites"
        write(pieces / "openings-00000.parquet", "openings", tables["openings"].take(pa.array(range(0, 25, 2))))
        (pieces / "SHA256SUMS").write_text(f"{'0' * 64}  lost.parquet\n")
        assert self.found(built) == set()
        assert {problem.rule for problem in validate(pieces).problems} == {"cells", "checksum"}
        assert {problem.rule for problem in validate(pieces / "openings-00000.parquet").problems} == {"cells"}

    @pytest.mark.parametrize("side", ["train", "validation", "test"])
    def test_a_missing_side(self, built: Path, side: str) -> None:
        for path in (built / "dataset").glob(f"{side}-*"):
            path.unlink()
        assert self.found(built) == {("dataset", None, "files")}

    def test_files_of_two_sets(self, built: Path) -> None:
        test = built / "dataset" / "test-00000-of-00001.parquet"
        test.rename(test.with_name("test-00001-of-00002.parquet"))
        (built / "examples" / "examples-00000-of-00001.parquet").rename(
            built / "examples" / "examples-00000-of-00002.parquet"
        )
        lost = {"dataset/test-00000-of-00002.parquet", "examples/examples-00001-of-00002.parquet"}
        assert self.found(built) == {(path, None, "files") for path in lost}
        shutil.copy(built / "dataset" / "test-00001-of-00002.parquet", test)
        assert ("dataset", None, "files") in self.found(built)

    def test_copies_in_the_wrong_order(self, built: Path) -> None:
        one, two = (built / "augmented" / f"train-0000{n}-of-00005.parquet" for n in (0, 1))
        first, second = one.read_bytes(), two.read_bytes()
        one.write_bytes(second)
        two.write_bytes(first)
        assert ("augmented/train-00001-of-00005.parquet", 0, "sorted") in self.found(built)

    def test_files_in_the_wrong_order(self, built: Path) -> None:
        one, two = (built / "dataset" / f"train-0000{n}-of-00003.parquet" for n in (0, 1))
        first, second = one.read_bytes(), two.read_bytes()
        one.write_bytes(second)
        two.write_bytes(first)
        assert ("dataset/train-00001-of-00003.parquet", 0, "sorted") in self.found(built)


class TestPaths:
    """Several paths are one set of files, and a campaign's files are compared with its own alone."""

    @pytest.fixture
    def data(self, campaign: Path, tmp_path: Path) -> Path:
        """Two campaigns as `make repro` lays them out; a position of hex5's train is in the suite of other5."""
        for kind in ("games", "examples", "dataset", "augmented", "suites"):
            shutil.copytree(campaign / kind, tmp_path / "data" / kind / "hex5")
        train = tmp_path / "data" / "dataset" / "hex5" / "train-00000-of-00003.parquet"
        row = read_table(train).slice(4, 1).to_pylist()[0]
        position = Position(5, unpack(row["black"]), unpack(row["white"]), row["to_move"])
        labels = label([position], limit_nodes=100_000, all_moves=True)
        table = suite_table([position], [row["key"]], labels, "random")
        write(tmp_path / "data" / "suites" / "other5" / "suite.parquet", "suite", table)
        return tmp_path / "data"

    def test_a_suite_of_another_campaign_is_none_of_its_business(self, data: Path) -> None:
        assert validate(data).problems == []
        assert validate(data).notes == []

    def test_a_dataset_and_its_suite_named_apart_are_compared(
        self, data: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shutil.copy(data / "suites" / "other5" / "suite.parquet", data / "suites" / "hex5")
        dataset, suite = Path("dataset/hex5"), Path("suites/hex5")
        monkeypatch.chdir(data)
        train = str(dataset / "train-00000-of-00003.parquet")
        assert [(p.file, p.row, p.rule) for p in validate(dataset, suite).problems] == [(train, 4, "leak")]
        assert validate(dataset, suite).problems == validate(dataset, suite / "suite.parquet", dataset).problems
        elsewhere = shutil.copytree(suite, data.parent / "downloads" / "proved")
        assert [p.rule for p in validate(dataset, elsewhere).problems] == ["leak"]

    def test_a_release_is_compared_with_itself(self, data: Path) -> None:
        """Beside campaigns, under the names that a release gives: its dataset lies in `examples`."""
        release = data / "release" / "hex5" / "data"
        shutil.copytree(data / "dataset" / "hex5", release / "examples")
        shutil.copytree(data / "suites" / "hex5", release / "suites")
        (release / "games").mkdir()
        for number, path in enumerate(sorted((data / "games" / "hex5").iterdir())):
            shutil.copy(path, release / "games" / f"train-{number:05d}-of-00003.parquet")
        for path in (data, data / "release" / "hex5"):
            assert (validate(path).problems, validate(path).notes) == ([], [])
        shutil.copy(data / "suites" / "other5" / "suite.parquet", release / "suites")
        leaks = [(p.file, p.row) for p in validate(data).problems if p.rule == "leak"]
        assert leaks == [(str(release / "examples" / "train-00000-of-00003.parquet"), 4)]

    def test_what_cannot_be_compared_is_told(self, data: Path) -> None:
        dataset = data / "dataset" / "hex5"
        found = validate(dataset)
        assert found.problems == []
        assert found.notes == [
            f"{dataset}: not compared with a suite: none of the same campaign is among the paths",
            f"{dataset}: not counted again: its games are not among the paths",
        ]
        assert len(validate(dataset, data / "suites" / "other5").notes) == 2
        assert validate(dataset, data / "suites" / "hex5", data / "games" / "hex5").notes == []
        assert validate(data / "games").notes == validate(data / "suites").notes == []


def more_visits(row: Row) -> None:
    row["policy_visits"][0] += 1


def one_more_game(row: Row) -> None:
    row["played_counts"][0] += 1
    row.update(games=row["games"] + 1, z_count=row["z_count"] + 1, z_sum=row["z_sum"] + 1)
    row.update(plies_left_sum=row["plies_left_sum"] + 1)


def test_checksums_truncation_and_nothing(tables: dict[str, pa.Table], tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no such file or folder"):
        validate(tmp_path / "nowhere")
    with pytest.raises(BadFile, match="no Parquet files here"):
        validate(tmp_path)
    path = write(tmp_path / "x.parquet", "openings", tables["openings"])
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  x.parquet\n{'0' * 64}  y.parquet\n")
    assert [p.message for p in validate(tmp_path).problems] == ["x.parquet has other bytes", "y.parquet is missing"]
    (tmp_path / "SHA256SUMS").unlink()
    path.write_bytes(path.read_bytes()[:200])
    assert [p.rule for p in validate(tmp_path).problems] == ["readable"]
    with pytest.raises(BadFile, match="not a readable Parquet file"):
        validate(path)


class TestRelease:
    """Its SHA256SUMS stands for every file."""

    @pytest.fixture
    def release(self, tables: dict[str, pa.Table], tmp_path: Path) -> Path:
        folder = tmp_path / "hex5"
        write(folder / "data" / "openings" / "test-00000-of-00001.parquet", "openings", tables["openings"])
        for name in ("README.md", "croissant.json", "provenance.json"):
            (folder / name).write_text("{}\n")
        (folder / ".gitattributes").write_text("put there by its host\n")
        names = ["README.md", "croissant.json", "data/openings/test-00000-of-00001.parquet", "provenance.json"]
        sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
        (folder / "SHA256SUMS").write_text("".join(sums))
        assert validate(folder).problems == []
        return folder

    def found(self, folder: Path) -> list[tuple[str, str, str]]:
        problems = validate(folder.parent).problems
        return [(Path(p.file).relative_to(folder).as_posix(), p.rule, p.message) for p in problems]

    def test_no_list(self, release: Path) -> None:
        (release / "SHA256SUMS").unlink()
        text = "missing: expected the checksums of all files of the release"
        assert self.found(release) == [("SHA256SUMS", "checksum", text)]

    def test_an_unreadable_list(self, release: Path) -> None:
        (release / "SHA256SUMS").write_bytes(b"\xff\xfe")
        assert self.found(release) == [("SHA256SUMS", "checksum", "not readable as text")]

    def test_an_empty_list(self, release: Path) -> None:
        (release / "SHA256SUMS").write_text("")
        text = "4 files of the release are not listed, first README.md"
        assert self.found(release) == [("SHA256SUMS", "checksum", text)]

    def test_files_that_are_not_listed(self, release: Path) -> None:
        lines = (release / "SHA256SUMS").read_text().splitlines(keepends=True)
        (release / "SHA256SUMS").write_text("".join(line for line in lines if "croissant.json" not in line))
        (release / "data" / "evil.txt").write_text("planted")
        text = "2 files of the release are not listed, first croissant.json"
        assert self.found(release) == [("SHA256SUMS", "checksum", text)]
