"""The one writer: same rows, same bytes; whole files or none."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hexdata.examples import reduce
from hexdata.records import (
    BadFile,
    metadata_of,
    openings_schema,
    read_folder,
    read_table,
    remove_others,
    rows_hash,
    table_bytes,
    write_folder,
    write_whole,
)


def openings_rows(winner: str = "black") -> pa.Table:
    return pa.table({"size": [2, 2], "cell": [0, 1], "winner": [winner, "white"], "nodes": [3, 4]}, openings_schema())


def nested_rows() -> pa.Table:
    visits = [[{"cells": [1, 2], "counts": [3, 4]}], [], [{"cells": [], "counts": []}, {"cells": [5], "counts": [6]}]]
    return pa.table({"visits": visits, "name": ["a", None, "bc"], "flag": [[True, False], [], [True]]})


def test_same_rows_same_bytes_and_metadata_in_order() -> None:
    one = table_bytes(openings_rows(), "openings", {"b": 1, "a": 2})
    two = table_bytes(openings_rows(), "openings", {"a": 2, "b": 1})
    assert one == two
    notes = metadata_of(pq.read_table(pa.BufferReader(one)))
    assert notes == {
        "a": 2,
        "b": 1,
        "kind": "openings",
        "schema_version": 1,
        "rows_sha256": rows_hash(openings_rows()),
    }


def test_files_are_made_for_streaming() -> None:
    """Row groups of one size, zstd, and statistics by which readers skip what they do not want."""
    many = pa.table({"size": [2] * 20_000, "cell": range(20_000), "winner": ["black"] * 20_000, "nodes": [1] * 20_000})
    file = pq.ParquetFile(pa.BufferReader(table_bytes(many.cast(openings_schema()), "openings", {})))
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    assert [group.num_rows for group in groups] == [8192, 8192, 3616]
    cells = [group.column(1) for group in groups]
    assert {column.compression for column in cells} == {"ZSTD"}
    assert [(c.statistics.min, c.statistics.max) for c in cells] == [(0, 8191), (8192, 16383), (16384, 19999)]


def test_rows_hash_sees_values_and_not_chunks() -> None:
    table = nested_rows()
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1, 2)])
    assert rows_hash(chunked) == rows_hash(table)
    assert rows_hash(table.take([2, 1, 0])) != rows_hash(table)
    assert rows_hash(openings_rows("white")) != rows_hash(openings_rows())
    # moving an element from one list to the next changes no flat value
    left, right = pa.table({"x": [[1, 2], [3]]}), pa.table({"x": [[1], [2, 3]]})
    assert rows_hash(left) != rows_hash(right)


def test_rows_hash_survives_another_writer(tmp_path: Path) -> None:
    table = nested_rows()
    pq.write_table(table, tmp_path / "x.parquet", compression="snappy", row_group_size=1)
    assert rows_hash(pq.read_table(tmp_path / "x.parquet")) == rows_hash(table)


def test_rows_hash_survives_a_program_that_is_not_ours(games: pa.Table, tmp_path: Path) -> None:
    """DuckDB knows no bytes of fixed width and gives the elements of lists other names."""
    import duckdb

    for name, table in (("games", games), ("examples", reduce(games))):
        path = tmp_path / f"{name}.parquet"
        path.write_bytes(table_bytes(table, name, {}))
        again = tmp_path / f"{name}-again.parquet"
        duckdb.execute(f"COPY (SELECT * FROM '{path}') TO '{again}' (FORMAT parquet, COMPRESSION snappy)")
        other = pq.read_table(again)
        assert other.schema != table.schema
        assert rows_hash(other) == rows_hash(table) == metadata_of(read_table(path))["rows_sha256"]


def test_a_file_that_already_holds_the_bytes_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"one")
    before = path.stat()
    write_whole(path, b"one")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_ino != before.st_ino
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_folder_holds_exactly_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "x").write_text("x")
    write_folder(tmp_path, {"a": b"1", "sub/b": b"2"})
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*")) == ["a", "sub", "sub/b"]
    remove_others(tmp_path, ["a"])
    assert [p.name for p in tmp_path.rglob("*")] == ["a"]


def test_broken_and_strange_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "openings.parquet"
    with pytest.raises(BadFile, match=r"openings\.parquet: no such file"):
        read_table(path)
    whole = table_bytes(openings_rows(), "openings", {})
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadFile, match=r"openings\.parquet: not a readable Parquet file"):
        read_table(path)
    path.write_bytes(whole)
    assert read_table(path, "openings").num_rows == 2
    with pytest.raises(BadFile, match="expected a table of games, found openings"):
        read_table(path, "games")
    with pytest.raises(BadFile, match="no games-"):
        read_folder(tmp_path, "games", "games-*.parquet")
