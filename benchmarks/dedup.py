"""Ten million raw 9x9 positions to unique rows, beside DuckDB doing the same: `python -m benchmarks.dedup [--save]`.

Both read the same Parquet files of keyed positions, sum all that was played and searched in each orbit, and write one
sorted table; the tables are compared row by row. Computing the keys is timed apart. The first run plays the games into
build/dedup (minutes). Each measured run is a process of its own, with the memory of all its children; the clock starts
when the program and its workers stand. CPU seconds are told beside, which a busy machine changes less. Each limit
stands beside its figure; the exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.engine import keys_rate
from benchmarks.machine import processor_name, short_name
from hexdata import generate
from hexdata.cluster import connect, each
from hexdata.dedup import bits_for, deal_all, examples_of, fold, fold_all, spill_folder
from hexdata.occurrences import Records, occurrences, record_type
from hexdata.params import GamesParams
from hexdata.records import CELLS, COUNTS, read_table, table_bytes, write_json, write_whole

SIZE = 9
PLAYER = "uct:playouts=16"
SHARDS, PER_SHARD = 90, 2048
"""About 58 searched positions a game."""
WORKERS = 2
Spent: TypeAlias = dict[str, float]
FOLDER = Path("build/dedup")
RESULTS = Path(__file__).parent / "results"
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


@dataclass(frozen=True)
class Limit:
    """A figure of the benchmark, and between what it must be."""

    name: str
    value: float
    least: float = 0.0
    most: float = math.inf

    @property
    def kept(self) -> bool:
        return self.least <= self.value <= self.most

    def __str__(self) -> str:
        asked = [f"at least {self.least:,.0f}"] * (self.least > 0) + [f"at most {self.most:,.0f}"] * (
            self.most < math.inf
        )
        return f"{self.name}: {self.value:,.2f}, limit {' and '.join(asked)}: {'kept' if self.kept else 'MISSED'}"


def limits(results: Mapping[int, Mapping[str, Spent]], keys_per_second: float) -> list[Limit]:
    """Of the largest run, and of how the time grew from the smallest to it: 10 is linear, and less is what the half
    second that Dask takes to begin makes of it.
    """
    few, many = min(results), max(results)
    found, before = results[many], results[few]
    growth = found["hexdata"]["seconds"] / before["hexdata"]["seconds"] * 10 / (many / few)
    return [
        Limit("hexdata's time beside DuckDB's", found["hexdata"]["seconds"] / found["duckdb"]["seconds"], most=1),
        Limit("hexdata's peak memory, GB", found["hexdata"]["peak_gb"], most=2),
        Limit("hexdata's time for ten times the positions", growth, most=12),
        Limit("keys of positions per CPU second, all four symmetries", keys_per_second, least=2_000_000),
    ]


def play(count: int) -> list[Path]:
    """The first games, and the keyed positions that both sides read; what is there is not made again."""
    params = GamesParams(
        shards=SHARDS,
        per_shard=PER_SHARD,
        player=PLAYER,
        openings="two-stone",
        dither_moves=10,
        temperature=1.0,
        seed=1,
    )
    shards = generate.shards("dedup", SIZE, params)[:count]
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


def ours(paths: list[Path], out: Path) -> Spent:
    bits = bits_for(sum(pq.read_metadata(path).num_rows for path in paths))
    with connect(workers=WORKERS) as client, spill_folder(out) as folder:
        client.wait_for_workers(WORKERS)
        client.run(_load)
        with spending() as spent:
            deal_all(client, (path.read_bytes() for path in paths), read_raw, bits, folder)
            for p, content in fold_all(client, folder, SIZE, bits, _encode, lambda p: None):
                write_whole(out / f"examples-{p:05d}-of-{2**bits:05d}.parquet", content)
    return spent


def _load() -> None:
    """Workers import what this program and DuckDB's have imported when the clock starts."""
    from benchmarks import dedup  # noqa: F401


def duckdb(paths: list[Path], out: Path) -> Spent:
    import duckdb as database

    out.mkdir(parents=True)
    with database.connect(config={"threads": WORKERS}) as connection, spending() as spent:
        files = "[" + ", ".join(f"'{path}'" for path in paths) + "]"
        connection.execute(QUERY.format(files=files, out=out / "examples.parquet"))
    return spent


def keys(paths: list[Path], out: Path) -> Spent:
    """On one core: games as they lie on disk to keyed records in memory."""
    with spending() as spent:
        for path in paths:
            occurrences(read_table(FOLDER / "games" / path.name.replace("raw", "games"), "games"), [PLAYER])
    return spent


@contextmanager
def spending() -> Iterator[Spent]:
    """Wall-clock seconds, and CPU seconds of this process and its children."""
    spent: Spent = {}
    started, before = time.monotonic(), _cpu_seconds()
    yield spent
    spent.update(seconds=time.monotonic() - started, cpu_seconds=_cpu_seconds() - before)


def _cpu_seconds() -> float:
    root = psutil.Process()
    times = [process.cpu_times() for process in (root, *root.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


SIDES = {"keys": keys, "hexdata": ours, "duckdb": duckdb}


def measure(side: str, shards: int) -> Spent:
    """One run, and its peak memory: resident bytes of the process and its children."""
    shutil.rmtree(FOLDER / f"{side}-{shards}", ignore_errors=True)
    command = [sys.executable, "-m", "benchmarks.dedup", "--run", side, "--shards", str(shards)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.05):
            peak = max(peak, _resident(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    told, _ = process.communicate()
    done.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"{side} failed with exit code {process.returncode}")
    return {**json.loads(told), "peak_gb": peak / 1e9}


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--save", action="store_true", help="keep the JSON in benchmarks/results/")
    parser.add_argument("--shards", type=int, default=SHARDS, help=f"of {PER_SHARD} games (default: %(default)s)")
    parser.add_argument("--run", choices=tuple(SIDES), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.save and args.shards != SHARDS:
        parser.error(f"--save is for the whole benchmark: expected no --shards, or {SHARDS}")
    paths = play(args.shards)
    if args.run:
        print(json.dumps(SIDES[args.run](paths, FOLDER / f"{args.run}-{args.shards}")))
        return 0
    results: dict[int, dict[str, Spent]] = {}
    for shards in (max(1, args.shards // 10), args.shards):
        rows = sum(pq.read_metadata(path).num_rows for path in paths[:shards])
        results[rows] = {side: measure(side, shards) for side in SIDES}
        if not same_rows(FOLDER / f"hexdata-{shards}", FOLDER / f"duckdb-{shards}"):
            raise SystemExit(f"{rows} positions: hexdata and DuckDB wrote different rows")
    judged = limits(results, keys_rate(SIZE, 2.0))
    processor = processor_name()
    result = {
        "processor": processor,
        "cores": os.cpu_count(),
        "workers": WORKERS,
        "rows": results,
        "limits": {limit.name: limit.value for limit in judged},
    }
    if args.save:
        write_json(RESULTS / f"dedup-{short_name(processor)}.json", result)
    # a start takes its time, which only many positions make small
    missed = args.shards == SHARDS and not all(limit.kept for limit in judged)
    if args.json:
        print(json.dumps(result, indent=2))
        return int(missed)
    print(f"{'':<24}" + "".join(f"{name:>14}" for name in ("seconds", "CPU seconds", "peak GB", "positions/s")))
    for rows, found in results.items():
        print(f"{rows:,} raw positions")
        for side, spent in found.items():
            print(
                f"  {side:<22}{spent['seconds']:>14.1f}{spent['cpu_seconds']:>14.1f}{spent['peak_gb']:>14.2f}"
                f"{rows / spent['seconds']:>14,.0f}"
            )
        mine, theirs = found["hexdata"], found["duckdb"]
        print(
            f"  hexdata takes {mine['seconds'] / theirs['seconds']:.2f} of DuckDB's time, "
            f"{mine['cpu_seconds'] / theirs['cpu_seconds']:.2f} of its CPU time; the rows are the same"
        )
    few, many = (found["hexdata"] for found in results.values())
    times = {name: many[name] / few[name] for name in ("seconds", "cpu_seconds")}
    print(
        f"{max(results) / min(results):.1f} times the positions take {times['seconds']:.1f} times as long, "
        f"{times['cpu_seconds']:.1f} times the CPU time; on {processor}, {os.cpu_count()} cores"
    )
    if args.shards != SHARDS:
        print(f"the limits are those of {SHARDS} shards, not of {args.shards}:")
    print("\n".join(map(str, judged)))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
