"""Ten million raw 9x9 positions to unique rows, beside DuckDB doing the same: `python -m benchmarks.dedup [--json]`.

Both read the same Parquet files of keyed positions, sum all that was played and searched in each orbit, and write one
sorted table; the tables are compared row by row. Computing the keys is timed apart. The first run plays the games into
build/dedup (minutes); each measured run is a process of its own, with the memory of all its children.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.machine import processor_name
from hexdata import generate
from hexdata.cluster import connect, each
from hexdata.dedup import bits_for, deal_all, examples_of, fold, fold_all, spill_folder
from hexdata.occurrences import Records, occurrences, record_type
from hexdata.params import GamesParams
from hexdata.records import CELLS, COUNTS, read_table, table_bytes, write_whole

SIZE = 9
PLAYER = "uct:playouts=16"
SHARDS, PER_SHARD = 90, 2048
"""About 58 searched positions a game."""
WORKERS = 2
FOLDER = Path("build/dedup")
RAW = pa.schema(
    [
        ("key", pa.binary(16)),
        ("black", pa.binary(11)),
        ("white", pa.binary(11)),
        ("to_move", pa.string()),
        ("ply", pa.uint16()),
        ("plies_left", pa.uint16()),
        ("played", pa.uint16()),
        ("z", pa.int8()),
        ("sampled", pa.bool_()),
        ("cells", CELLS),
        ("counts", COUNTS),
    ]
)

QUERY = """
COPY (
  WITH raw AS (SELECT * FROM read_parquet({files})),
  policy AS (
    SELECT key, list(cell ORDER BY cell) AS policy_cells, list(visits ORDER BY cell) AS policy_visits
    FROM (
      SELECT key, cell, sum(visits)::UBIGINT AS visits
      FROM (SELECT key, unnest(cells) AS cell, unnest(counts) AS visits FROM raw) GROUP BY key, cell
    ) GROUP BY key
  ),
  played AS (
    SELECT key, list(played ORDER BY played) AS played_cells, list(n ORDER BY played) AS played_counts
    FROM (SELECT key, played, count(*)::UINTEGER AS n FROM raw GROUP BY key, played) GROUP BY key
  ),
  sums AS (
    SELECT key, any_value(black) AS black, any_value(white) AS white, any_value(to_move) AS to_move,
      any_value(ply) AS ply, sum(plies_left)::UBIGINT AS plies_left_sum, sum(z)::BIGINT AS z_sum,
      count(*)::UINTEGER AS games, sum(sampled::INTEGER)::UINTEGER AS sampled_count
    FROM raw GROUP BY key
  )
  SELECT key, 9::UTINYINT AS size, black, white, to_move, ply, plies_left_sum,
    coalesce(policy_cells, []) AS policy_cells, coalesce(policy_visits, []) AS policy_visits,
    played_cells, played_counts, z_sum, games AS z_count, games, sampled_count, NULL::TINYINT AS proved,
    1::FLOAT AS weight
  FROM sums JOIN played USING (key) LEFT JOIN policy USING (key) ORDER BY key
) TO '{out}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 8192)
"""


def play() -> list[Path]:
    """The games, and the keyed positions that both sides read; what is there is not made again."""
    params = GamesParams(
        shards=SHARDS,
        per_shard=PER_SHARD,
        player=PLAYER,
        openings="two-stone",
        dither_moves=10,
        temperature=1.0,
        seed=1,
    )
    shards = generate.shards("dedup", SIZE, params)
    missing = [shard for shard in shards if not (FOLDER / "games" / shard.name).is_file()]
    if missing:
        with connect(workers=WORKERS) as client:
            for name, content in each(client, _play_shard, missing):
                write_whole(FOLDER / "games" / name, content)
                print(f"played {name}", file=sys.stderr)
    paths = [FOLDER / "raw" / shard.name.replace("games", "raw") for shard in shards]
    for shard, path in zip(shards, paths, strict=True):
        if not path.is_file():
            write_whole(path, raw_bytes(read_table(FOLDER / "games" / shard.name, "games")))
    return paths


def _play_shard(shard: generate.Shard) -> tuple[str, bytes]:
    return shard.name, generate.make_shard(shard)


def raw_bytes(games: pa.Table) -> bytes:
    records = occurrences(games, [PLAYER]).records
    fixed = records.fixed
    offsets = pa.array(np.concatenate([[0], np.cumsum(fixed["visits"], dtype=np.int32)]), pa.int32())

    def packed(name: str, width: int) -> pa.Array:
        raw = pa.py_buffer(np.ascontiguousarray(fixed[name]).tobytes())
        return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(fixed), [None, raw])

    columns = [
        packed("key", 16),
        packed("black", 11),
        packed("white", 11),
        pa.array(np.array(["black", "white"])[fixed["white_to_move"]]),
        pa.array(fixed["ply"].copy()),
        pa.array(fixed["plies_left"].copy()),
        pa.array(fixed["played"].copy()),
        pa.array(np.where(fixed["won"], 1, -1).astype(np.int8)),
        pa.array(fixed["sampled"] != 0),
        pa.ListArray.from_arrays(offsets, pa.array(records.cells), type=CELLS),
        pa.ListArray.from_arrays(offsets, pa.array(records.counts), type=COUNTS),
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, schema=RAW), sink, compression="zstd", row_group_size=2**17)
    return bytes(sink.getvalue())


def read_raw(content: bytes) -> tuple[Records, None]:
    table = pq.read_table(pa.BufferReader(content)).combine_chunks()
    fixed = np.zeros(table.num_rows, record_type(SIZE))
    for name, kind, width in (("key", "S16", 16), ("black", "V11", 11), ("white", "V11", 11)):
        chunk = table.column(name).chunk(0)
        fixed[name] = np.frombuffer(chunk.buffers()[1], kind, len(chunk), chunk.offset * width)
    for name in ("ply", "plies_left", "played"):
        fixed[name] = table.column(name).to_numpy()
    lists = table.column("cells").chunk(0)
    fixed["visits"] = lists.value_lengths().to_numpy()
    fixed["won"] = table.column("z").to_numpy() > 0
    fixed["white_to_move"] = pa.compute.equal(table.column("to_move"), "white").to_numpy()
    fixed["sampled"] = table.column("sampled").to_numpy()
    counts = table.column("counts").chunk(0).flatten().to_numpy()
    return Records(SIZE, fixed, lists.flatten().to_numpy(), counts), None


def _encode(p: int, records: Records, _: None) -> bytes:
    return table_bytes(examples_of(fold(records)), "examples", {})


def ours(paths: list[Path], out: Path) -> None:
    bits = bits_for(sum(pq.read_metadata(path).num_rows for path in paths))
    with connect(workers=WORKERS) as client, spill_folder(out) as folder:
        deal_all(client, (path.read_bytes() for path in paths), read_raw, bits, folder)
        for p, content in fold_all(client, folder, SIZE, bits, _encode, lambda p: None):
            write_whole(out / f"examples-{p:05d}-of-{2**bits:05d}.parquet", content)


def duckdb(paths: list[Path], out: Path) -> None:
    import duckdb as database

    out.mkdir(parents=True)
    with database.connect(config={"threads": WORKERS}) as connection:
        files = "[" + ", ".join(f"'{path}'" for path in paths) + "]"
        connection.execute(QUERY.format(files=files, out=out / "examples.parquet"))


def keys(paths: list[Path], out: Path) -> None:
    """On one core: games as they lie on disk to keyed records in memory."""
    for path in paths:
        occurrences(read_table(FOLDER / "games" / path.name.replace("raw", "games"), "games"), [PLAYER])


SIDES = {"keys": keys, "hexdata": ours, "duckdb": duckdb}


def measure(side: str, shards: int) -> dict[str, float]:
    """Seconds and peak memory (resident bytes of the process and its children) of one run."""
    out = FOLDER / f"{side}-{shards}"
    shutil.rmtree(out, ignore_errors=True)
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.dedup", "--run", side, "--shards", str(shards)])
    peak = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.05):
            peak = max(peak, _resident(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = process.wait()
    seconds = time.monotonic() - started
    done.set()
    watcher.join()
    if code:
        raise SystemExit(f"{side} failed with exit code {code}")
    return {"seconds": seconds, "peak_bytes": float(peak)}


def _resident(pid: int) -> int:
    total = 0
    try:
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            try:
                total += process.memory_info().rss
            except psutil.Error:
                continue
    except psutil.Error:
        pass
    return total


def same_rows(ours_folder: Path, other: Path) -> bool:
    """Both in the order of their keys, a batch at a time."""
    theirs = pq.ParquetFile(other / "examples.parquet").iter_batches(2**15)
    rest: pa.Table | None = None
    for path in sorted(ours_folder.glob("*.parquet")):
        table = read_table(path, "examples").replace_schema_metadata(None)
        place = 0
        while place < table.num_rows:
            if rest is None or not rest.num_rows:
                batch = next(theirs, None)
                if batch is None:
                    return False
                rest = pa.Table.from_batches([batch]).cast(table.schema)
            count = min(rest.num_rows, table.num_rows - place)
            if not table.slice(place, count).equals(rest.slice(0, count)):
                return False
            place, rest = place + count, rest.slice(count)
    return next(theirs, None) is None and not (rest is not None and rest.num_rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--shards", type=int, default=SHARDS, help=f"of {PER_SHARD} games (default: %(default)s)")
    parser.add_argument("--run", choices=tuple(SIDES), help=argparse.SUPPRESS)
    args = parser.parse_args()
    paths = play()[: args.shards]
    if args.run:
        SIDES[args.run](paths, FOLDER / f"{args.run}-{args.shards}")
        return
    results: dict[str, dict[str, float]] = {}
    for shards in (max(1, args.shards // 10), args.shards):
        rows = sum(pq.read_metadata(path).num_rows for path in paths[:shards])
        found = {side: measure(side, shards) for side in SIDES}
        if not same_rows(FOLDER / f"hexdata-{shards}", FOLDER / f"duckdb-{shards}"):
            raise SystemExit(f"{rows} positions: hexdata and DuckDB wrote different rows")
        results[str(rows)] = {
            "unique": pq.read_metadata(FOLDER / f"duckdb-{shards}" / "examples.parquet").num_rows,
            "keys_per_cpu_second": rows / found["keys"]["seconds"],
            "hexdata_seconds": found["hexdata"]["seconds"],
            "duckdb_seconds": found["duckdb"]["seconds"],
            "times_duckdb": found["hexdata"]["seconds"] / found["duckdb"]["seconds"],
            "hexdata_peak_gb": found["hexdata"]["peak_bytes"] / 1e9,
            "duckdb_peak_gb": found["duckdb"]["peak_bytes"] / 1e9,
        }
    few, many = results.values()
    growth = many["hexdata_seconds"] / few["hexdata_seconds"]
    if args.json:
        print(json.dumps({"processor": processor_name(), "growth": growth, "rows": results}, indent=2))
        return
    names = ("unique rows", "seconds", "of DuckDB's", "ratio", "peak GB", "DuckDB's", "keys/s")
    print(f"{'raw positions':>14}" + "".join(f"{name:>13}" for name in names))
    for raw, row in results.items():
        print(
            f"{int(raw):>14,}{row['unique']:>13,}{row['hexdata_seconds']:>13.1f}{row['duckdb_seconds']:>13.1f}"
            f"{row['times_duckdb']:>13.2f}{row['hexdata_peak_gb']:>13.2f}{row['duckdb_peak_gb']:>13.2f}"
            f"{row['keys_per_cpu_second']:>13,.0f}"
        )
    print(f"ten times the positions take {growth:.1f} times as long, on {processor_name()}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
