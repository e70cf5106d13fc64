"""Every planted fault is found, with its file, row and rule."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hexdata.augment import augment
from hexdata.board import Position
from hexdata.examples import reduce
from hexdata.label import keys_of, label, openings_table, suite_table
from hexdata.records import BadFile, schema_for, table_bytes, write_whole
from hexdata.validate import validate

Row = dict[str, Any]


@pytest.fixture(scope="module")
def tables(games: pa.Table) -> dict[str, pa.Table]:
    examples = reduce(games).slice(0, 50)
    positions = [Position.after(5, [12, 6, 8]), Position.after(5, [0, 1])]
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


FAULTS: list[tuple[str, str, Callable[[list[Row]], None]]] = [
    ("games", "legal", lambda rows: rows[3]["moves"].__setitem__(2, rows[3]["moves"][1])),
    ("games", "legal", lambda rows: rows[3]["moves"].__setitem__(0, 25)),
    ("games", "winner", lambda rows: rows[3].update(winner="white" if rows[3]["winner"] == "black" else "black")),
    ("games", "winner", lambda rows: (rows[3]["moves"].pop(), [rows[3][n].pop() for n in PER_MOVE])),
    ("games", "per_move", lambda rows: rows[3]["budget"].pop()),
    ("games", "per_move", lambda rows: rows[3]["sampled"].append(True)),
    ("games", "visits", lambda rows: rows[3]["visits"][5]["cells"].__setitem__(0, rows[3]["moves"][0])),
    ("games", "visits", lambda rows: rows[3]["visits"][5]["counts"].pop()),
    ("games", "opening_length", lambda rows: rows[3].update(opening_length=99)),
    ("games", "unique", lambda rows: rows[3].update(game_id=rows[4]["game_id"])),
    ("examples", "stones", lambda rows: rows[3].update(white=rows[3]["black"])),
    ("examples", "stones", lambda rows: rows[3].update(black=rows[3]["black"][:3] + b"\x80")),
    ("examples", "ply", lambda rows: rows[3].update(ply=rows[3]["ply"] + 2)),
    ("examples", "turn", lambda rows: rows[3].update(to_move="white" if rows[3]["to_move"] == "black" else "black")),
    ("examples", "undecided", lambda rows: rows[3].update(black=b"\x21\x84\x10\x00", white=b"\x00\x00\x00\x00")),
    ("examples", "key", lambda rows: rows[3].update(key=bytes(16))),
    ("examples", "image", lambda rows: rows[3].update(turned(rows[3]))),
    ("examples", "sorted", swap_first_two),
    ("examples", "sorted", repeat_a_row),
    ("examples", "policy", lambda rows: rows[3].update(policy_cells=[25, *rows[3]["policy_cells"][1:]])),
    ("examples", "policy", lambda rows: rows[3]["policy_cells"].reverse()),
    ("examples", "policy", lambda rows: rows[3]["policy_visits"].append(4)),
    ("examples", "z", lambda rows: rows[3].update(z_sum=rows[3]["z_count"] + 2)),
    ("examples", "z", lambda rows: rows[3].update(z_sum=rows[3]["z_sum"] + 1)),
    ("examples", "games", lambda rows: rows[3].update(games=rows[3]["games"] + 1)),
    ("examples", "sampled_count", lambda rows: rows[3].update(sampled_count=rows[3]["games"] + 1)),
    ("examples", "proved", lambda rows: rows[3].update(proved=2)),
    ("augmented", "key", lambda rows: rows[3].update(key=bytes(16))),
    ("augmented", "turn", lambda rows: rows[3].update(symmetry=0)),
    ("suite", "moves", lambda rows: rows[1]["losing_moves"].pop()),
    ("suite", "value", lambda rows: rows[1].update(value=-1)),
    ("openings", "winner", lambda rows: rows[3].update(winner="nobody")),
    ("openings", "cells", lambda rows: rows[3].update(cell=4)),
    ("examples", "size", lambda rows: rows[3].update(size=6)),
]
PER_MOVE = ("budget", "root_value", "visits", "sampled")


def turned(row: Row) -> Row:
    from hexdata.board import pack, unpack

    position = Position(5, unpack(row["black"]), unpack(row["white"]), row["to_move"]).transform(1)
    return {"black": pack(position.black, 5), "white": pack(position.white, 5)}


@pytest.mark.parametrize(
    ("kind", "rule", "break_it"),
    FAULTS,
    ids=[f"{number}-{kind}-{rule}" for number, (kind, rule, _) in enumerate(FAULTS)],
)
def test_a_planted_fault_is_found_in_its_place(
    tables: dict[str, pa.Table], kind: str, rule: str, break_it: Callable[[list[Row]], None], tmp_path: Path
) -> None:
    rows = tables[kind].to_pylist()
    break_it(rows)
    path = write(tmp_path / "x.parquet", kind, pa.Table.from_pylist(rows, schema=schema_for(kind, 5)))
    problems = validate(path).problems
    assert rule in {problem.rule for problem in problems}, problems
    found = next(problem for problem in problems if problem.rule == rule)
    assert found.file == str(path)
    assert found.row in (None, 0, 1, 3)


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


def test_a_leak_between_sides_is_found(tables: dict[str, pa.Table], tmp_path: Path) -> None:
    for side in ("train", "test"):
        content = table_bytes(tables["examples"].slice(0, 5), "dataset", {"split": side})
        write_whole(tmp_path / f"{side}-00000-of-00001.parquet", content)
    leak = [problem for problem in validate(tmp_path).problems if problem.rule == "leak"]
    assert [problem.message for problem in leak] == ["5 orbits stand in test and in train"]


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
