"""How fast the solver proves positions, in CPU seconds of one thread, beside Benzene: `python -m benchmarks.solver`.

Every position starts from an empty table. Benzene's figures are of design.md section 8: an idle 2 vCPU AMD EPYC. Where
OpenSpiel is installed (`pip install 'hexdata[benchmark]'`), how much faster it runs here than it did there is this
machine's pace, and a last line says which targets hold at the pace of the other.
"""

import argparse
import json
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.engine import OPENSPIEL, openspiel_rate
from benchmarks.machine import processor_name, short_name
from hexdata import engine
from hexdata.board import Position, bits, cells, parse_cell
from hexdata.records import write_json

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Work:
    """Positions to prove, and the figure to compare with."""

    name: str
    positions: list[Position]
    unit: str
    """`s` for all together, `ms` for the mean of one."""
    benzene: float
    target: float
    long: bool = False
    """Took over half a minute when it was measured; `--quick` leaves it out."""
    table_mb: int = 64


@dataclass(frozen=True)
class Figures:
    work: Work
    seconds: list[float]
    nodes: int
    expansions: int
    unknown: int

    @property
    def value(self) -> float:
        total = sum(self.seconds)
        return total if self.work.unit == "s" else 1000 * total / len(self.seconds)

    def row(self) -> dict[str, object]:
        total = sum(self.seconds)
        return {
            "name": self.work.name,
            "positions": len(self.seconds),
            "unknown": self.unknown,
            "cpu_seconds": round(total, 3),
            "mean_ms": round(1000 * total / len(self.seconds), 3),
            "median_ms": round(1000 * statistics.median(self.seconds), 3),
            "nodes": self.nodes,
            "expansions": self.expansions,
            "positions_per_cpu_second": round(len(self.seconds) / total, 3),
            "unit": self.work.unit,
            "value": round(self.value, 3),
            "benzene": self.work.benzene,
            "target": self.work.target,
            "benzene_ratio": round(self.work.benzene / self.value, 2),
            "target_ratio": round(self.work.target / self.value, 2),
        }


def after(size: int, cell: int) -> Position:
    return Position(size, bits([cell]), 0, "white")


def random_positions(size: int, stones: int = 8, count: int = 500) -> list[Position]:
    """Cells drawn without replacement, colours alternating from Black, Black to move; those already won are redrawn."""
    rng = random.Random(12345)
    found: list[Position] = []
    while len(found) < count:
        drawn = rng.sample(range(size * size), stones)
        position = Position(size, bits(drawn[::2]), bits(drawn[1::2]), "black")
        if position.winner() is None:
            found.append(position)
    return found


def table() -> list[Work]:
    works = [
        Work("36 openings of 6x6", [after(6, cell) for cell in range(36)], "s", 4.75, 1.6),
        Work("500 of 8 stones on 6x6", random_positions(6), "ms", 3.3, 1.1),
        Work("500 of 8 stones on 7x7", random_positions(7), "ms", 78, 26),
        Work("49 openings of 7x7", [after(7, cell) for cell in range(49)], "s", 257, 85, long=True),
    ]
    for name, benzene, target in (("d5", 47.0, 16.0), ("a1", 120.0, 40.0), ("d4", 363.0, 120.0)):
        position = after(8, parse_cell(name, 8))
        works.append(Work(f"8x8 after {name}", [position], "s", benzene, target, long=True, table_mb=512))
    return works


def measure(work: Work) -> Figures:
    solved = engine.solve_batch(
        work.positions[0].size,
        [(list(cells(p.black)), list(cells(p.white)), p.to_move) for p in work.positions],
        table_mb=work.table_mb,
    )
    return Figures(
        work,
        [found.cpu_seconds for found in solved],
        sum(found.nodes for found in solved),
        sum(found.expansions for found in solved),
        sum(found.winner == "unknown" for found in solved),
    )


def lines(figures: Figures) -> Iterator[str]:
    work, total = figures.work, sum(figures.seconds)
    yield (
        f"{work.name:<24}{total:>9.2f}{figures.expansions:>12,}{len(figures.seconds) / total:>11,.2f}"
        f"{figures.value:>10.2f} {work.unit:<3}{work.benzene:>8g}{work.benzene / figures.value:>8.2f}"
        f"{work.target:>8g}{work.target / figures.value:>8.2f}"
    )
    if work.unit == "ms":
        yield f"{'':<24}median {1000 * statistics.median(figures.seconds):.2f} ms"
    if figures.unknown:
        yield f"{'':<24}{figures.unknown} not proved"


def pace() -> float | None:
    """How many times as fast OpenSpiel's search is here as on the machine of design.md section 8; None without it."""
    if not find_spec("pyspiel"):
        return None
    goal = OPENSPIEL[0]
    assert goal.rival
    return openspiel_rate(goal.size, 10_000, 2.0) / goal.rival


def at_pace(done: list[Figures], times: float) -> str:
    """Which targets hold where everything takes so many times as long."""
    told = ", ".join(
        f"{f.work.name} {f.value * times:.2f} {f.work.unit}{'' if f.value * times <= f.work.target else ' (missed)'}"
        for f in done
    )
    return f"OpenSpiel runs {times:.2f} times as fast here as on the machine of the targets; at its pace: {told}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out what takes over half a minute")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--save", action="store_true", help="keep the JSON in benchmarks/results/")
    args = parser.parse_args()
    works = [work for work in table() if not (args.quick and work.long)]
    if not args.json:
        print(
            f"{'':<24}{'CPU s':>9}{'expanded':>12}{'per CPU s':>11}{'figure':>10}    {'Benzene':>8}{'ratio':>8}", end=""
        )
        print(f"{'target':>8}{'ratio':>8}", flush=True)
    done = []
    for work in works:
        done.append(measure(work))
        if not args.json:
            print("\n".join(lines(done[-1])), flush=True)
    times = pace()
    if times and not args.json:
        print(at_pace(done, times))
    processor = processor_name()
    result = {
        "processor": processor,
        "pace": round(times, 2) if times else None,
        "engine_version": engine.ENGINE_VERSION,
        "threads": 1,
        "works": [figures.row() for figures in done],
    }
    if args.json:
        print(json.dumps(result, indent=2))
    if args.save:
        write_json(RESULTS / f"solver-{short_name(processor)}.json", result)


if __name__ == "__main__":
    main()
