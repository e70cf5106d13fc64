"""Prove every opening of a board that is distinct by rotation: `python -m benchmarks.openings --size 8 --threads 2`.

Each opening is one thread's work from an empty table of its own. The results are saved after each, so a run may be
stopped at any time and goes on where it was; what another engine version proved is proved again.
"""

import argparse
import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any

from benchmarks.machine import processor_name
from hexdata import engine
from hexdata.board import Cell, cell_map, cell_name, check_size
from hexdata.errors import BadInput
from hexdata.records import write_json

RESULTS = Path(__file__).parent / "results"
INTERRUPTED = 130

Row = dict[str, Any]


def distinct_openings(size: int) -> list[Cell]:
    """One of each pair under the half-turn, those near the centre first: they are the easiest."""
    turned = cell_map(size, 1)

    def from_centre(cell: Cell) -> int:
        # twice the distance, because the centre of an even board lies between cells
        row, column = (2 * part - size + 1 for part in divmod(cell, size))
        return max(abs(row), abs(column), abs(row + column))

    return sorted((cell for cell in range(size * size) if cell <= turned[cell]), key=lambda c: (from_centre(c), c))


def read_rows(path: Path, size: int) -> dict[str, Row]:
    """What earlier runs proved, by opening; nothing if there is no file yet."""
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text())
        if found["size"] == size and all("engine_version" in row for row in found["openings"].values()):
            return dict(found["openings"])
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise BadInput(f"{path}: not the results of {size}x{size} openings: expected another --output, or remove it")


def prove(size: int, cell: Cell, table_mb: int, limit_seconds: float) -> Row:
    found = engine.solve(size, [cell], [], "white", table_mb=table_mb, limit_seconds=limit_seconds)
    return {
        "winner": found.winner,
        "nodes": found.nodes,
        "expansions": found.expansions,
        "cpu_seconds": round(found.cpu_seconds, 3),
        "table_mb": table_mb,
        "engine_version": engine.ENGINE_VERSION,
        "processor": processor_name(),
    }


def finished(row: Row | None) -> bool:
    return row is not None and row["engine_version"] == engine.ENGINE_VERSION and row["winner"] != "unknown"


def run(size: int, threads: int, path: Path, table_mb: int = 1024, limit_seconds: float = 0) -> dict[str, Row]:
    """Prove what is not in the file yet, saving the whole file after each. KeyboardInterrupt leaves daemon threads."""
    rows = read_rows(path, size)
    names = {cell: cell_name(cell, size) for cell in distinct_openings(size)}
    todo: queue.SimpleQueue[Cell] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Cell, Row | Exception]] = queue.SimpleQueue()
    left = [cell for cell, name in names.items() if not finished(rows.get(name))]
    for cell in left:
        todo.put(cell)
    kept = len(names) - len(left)
    print(f"{size}x{size}: {kept} of {len(names)} openings are proved, {len(left)} to do", flush=True)

    def work() -> None:
        while True:
            try:
                cell = todo.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((cell, prove(size, cell, table_mb, limit_seconds)))
            except Exception as error:
                done.put((cell, error))

    for _ in range(min(threads, len(left))):
        threading.Thread(target=work, daemon=True).start()
    for count in range(1, len(left) + 1):
        cell, row = done.get()
        if isinstance(row, Exception):
            raise row
        rows[names[cell]] = row
        write_json(path, {"size": size, "openings": rows})
        effort = f"{row['expansions']:,} expanded, {row['cpu_seconds']:,.1f} CPU s"
        print(f"{kept + count:>4} of {len(names)}: {names[cell]:<4}{row['winner']:<9}{effort}", flush=True)
    return rows


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=8, help="board size")
    parser.add_argument("--threads", type=int, default=2, help="openings proved at once")
    parser.add_argument("--table-mb", type=int, default=1024, help="table of each of them, in MB")
    parser.add_argument("--limit-seconds", type=float, default=0, help="give up on an opening after so long; 0 never")
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/openings-NxN.json")
    args = parser.parse_args(argv)
    try:
        size = check_size(args.size)
        if args.threads < 1 or args.table_mb < 1 or not args.limit_seconds >= 0:
            raise BadInput("expected --threads and --table-mb of at least 1 and no negative --limit-seconds")
        path = args.output or RESULTS / f"openings-{size}x{size}.json"
        rows = run(size, args.threads, path, args.table_mb, args.limit_seconds)
    except ValueError as error:
        print(f"benchmarks.openings: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("benchmarks.openings: stopped; the same command goes on from here", file=sys.stderr, flush=True)
        sys.stdout.flush()
        # the workers are inside the engine and hear no signals: an ordinary exit would tear it down under them
        os._exit(INTERRUPTED)
    winners = [row["winner"] for row in rows.values()]
    counts = ", ".join(f"{winners.count(winner)} {winner}" for winner in ("black", "white", "unknown"))
    print(f"{counts}; {sum(row['cpu_seconds'] for row in rows.values()):,.1f} CPU s in all; saved in {path}")
    return 0 if "unknown" not in winners else 1


if __name__ == "__main__":
    sys.exit(main())
