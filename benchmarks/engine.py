"""How fast the engine is on one thread, in CPU time, beside others and its targets: `python -m benchmarks.engine`.

The rivals' figures are of design.md section 8, on an idle 2 vCPU AMD EPYC that need not be as fast as this machine.
OpenSpiel is measured anew where it is installed (`pip install 'hexdata[benchmark]'`): its ratio is this machine's share
in the ratios to rivals, 2.4 on a newer processor that goes by the same name.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.machine import processor_name, short_name
from benchmarks.openspiel import EXPLORATION, MEMORY_MB
from hexdata import engine
from hexdata.records import write_json

RESULTS = Path(__file__).parent / "results"
# early stop and extension would change how many playouts there are, not how fast they are
MOHEX_SETTINGS = {
    "patterns alone": "early=off,extend=off,knowledge=0,expand=10000000",
    "knowledge off": "early=off,extend=off,knowledge=0",
    "knowledge on": "early=off,extend=off",
}
MOHEX = "MoHex 2.0"
"""At its leanest settings."""


@dataclass(frozen=True)
class Goal:
    """What to compare with: per CPU second, on boards of a size."""

    size: int
    rival: float | None
    target: float | None


UCT = (Goal(9, 134_000, 134_000), Goal(11, 95_000, 95_000))
PLAYOUTS = {
    "patterns alone": (Goal(9, 16_000, None), Goal(11, 10_600, None), Goal(13, 7_100, None)),
    "knowledge off": (Goal(9, 13_500, 30_000), Goal(11, 8_700, 20_000), Goal(13, 5_800, 13_000)),
    "knowledge on": (Goal(9, 7_600, 15_000), Goal(11, 5_200, 10_000), Goal(13, 3_300, 6_000)),
}
OPENSPIEL = (Goal(9, 17_000, None), Goal(11, 11_000, None))
SELFPLAY = (Goal(9, 7.5, 14), Goal(11, 2.4, 5))
ROWS = Goal(9, None, 2_000_000)


@dataclass(frozen=True)
class Figure:
    work: str
    goal: Goal
    value: float
    rival: str = ""
    new_playouts: float | None = None
    """Of each searched position: the kept subtree and an early stop save the rest."""

    def row(self) -> dict[str, object]:
        goal = self.goal
        found: dict[str, object] = {
            "name": self.work,
            "size": goal.size,
            "per_cpu_second": round(self.value, 1),
            "rival": self.rival or None,
            "rival_per_cpu_second": goal.rival,
            "rival_ratio": round(self.value / goal.rival, 2) if goal.rival else None,
            "target": goal.target,
            "target_ratio": round(self.value / goal.target, 2) if goal.target else None,
        }
        if self.new_playouts is not None:
            found["new_playouts_a_position"] = round(self.new_playouts, 1)
        return found

    def line(self) -> str:
        cells = [f"{self.value:>12,.{0 if self.value > 1000 else 1}f}"]
        for other in (self.goal.rival, self.goal.target):
            cells.append(f"{other:>12,}{self.value / other:>7.2f}" if other else f"{'-':>12}{'':>7}")
        name = f"{self.work}, {self.goal.size}x{self.goal.size}"
        if self.new_playouts is not None:
            name += f", {self.new_playouts:.0f} new playouts a move"
        return f"{name:<58}{''.join(cells)}  {self.rival}".rstrip()


def rate(work: Callable[[int], int], seconds: float) -> float:
    """Units of work per CPU second; ``work(round)`` returns how many units it did."""
    work(0)
    done, rounds = 0, 0
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds:
        rounds += 1
        done += work(rounds)
    return done / spent


def search_rate(size: int, player: str, seconds: float) -> float:
    """Playouts per CPU second of the first move on an empty board."""
    board = engine.Board(size)

    def work(seed: int) -> int:
        return engine.search(board, player, seed)["budget"]

    return rate(work, seconds)


def selfplay_rate(size: int, player: str, seconds: float) -> tuple[float, float]:
    """Positions with a search behind them per CPU second of whole games, and the new playouts of each."""
    playouts, positions = 0, 0

    def work(seed: int) -> int:
        nonlocal playouts, positions
        games = engine.play_games(size, player, player, [[seed % size**2]], [seed], dither_moves=4, temperature=1.0)
        searched = games["budget"] > 0
        playouts += int(games["budget"].sum())
        positions += int(searched.sum())
        return int(searched.sum())

    return rate(work, seconds), playouts / positions


def replay_rate(size: int, seconds: float) -> float:
    """Positions per CPU second, four symmetries' keys each."""
    games = engine.play_games(size, "random", "random", [[]] * 2000, range(2000), dither_moves=0, temperature=0.0)

    def work(_: int) -> int:
        return len(engine.replay(size, games["moves"], games["offsets"])["symmetry"])

    return rate(work, seconds)


def keys_rate(size: int, seconds: float) -> float:
    """Packed positions per CPU second, four symmetries' keys each."""
    games = engine.play_games(size, "random", "random", [[]] * 2000, range(2000), dither_moves=0, temperature=0.0)
    rows = engine.replay(size, games["moves"], games["offsets"])

    def work(_: int) -> int:
        return len(engine.keys(size, rows["black"], rows["white"], rows["to_move"])[1])

    return rate(work, seconds)


def openspiel_rate(size: int, simulations: int, seconds: float) -> float:
    """Simulations per CPU second of its C++ tree search on an empty board, set as in benchmarks/openspiel.py."""
    import pyspiel

    game: Any = pyspiel.load_game(f"hex(board_size={size})")

    def work(seed: int) -> int:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        bot = pyspiel.MCTSBot(game, evaluator, EXPLORATION, simulations, MEMORY_MB, True, seed, False)
        bot.step(game.new_initial_state())
        return simulations

    return rate(work, seconds)


def measure(playouts: int, selfplay_playouts: int, seconds: float) -> Iterator[Figure]:
    if find_spec("pyspiel"):
        for goal in OPENSPIEL:
            yield Figure("OpenSpiel here", goal, openspiel_rate(goal.size, playouts, seconds), "OpenSpiel there")
    for goal in UCT:
        yield Figure("uct", goal, search_rate(goal.size, f"uct:playouts={playouts}", seconds), "Morat")
    for kind, goals in PLAYOUTS.items():
        for goal in goals:
            player = f"mohex:playouts={playouts},{MOHEX_SETTINGS[kind]}"
            yield Figure(f"mohex, {kind}", goal, search_rate(goal.size, player, seconds), MOHEX)
    for goal in SELFPLAY:
        found, new = selfplay_rate(goal.size, f"mohex:playouts={selfplay_playouts}", seconds)
        yield Figure(f"self-play at {selfplay_playouts:,}", goal, found, MOHEX, new)
    yield Figure("replay of positions", ROWS, replay_rate(ROWS.size, seconds))
    yield Figure("keys of positions", ROWS, keys_rate(ROWS.size, seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--save", action="store_true", help="keep the JSON in benchmarks/results/")
    parser.add_argument("--playouts", type=int, default=10_000, help="of a search on the empty board")
    parser.add_argument("--selfplay-playouts", type=int, default=1000, help="nominal ones, of a move")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each figure is measured, at least")
    args = parser.parse_args()
    if not args.json:
        print(f"{'':<58}{'per CPU s':>12}{'rival':>12}{'ratio':>7}{'target':>12}{'ratio':>7}", flush=True)
    done = []
    for figure in measure(args.playouts, args.selfplay_playouts, args.seconds):
        done.append(figure)
        if not args.json:
            print(figure.line(), flush=True)
    processor = processor_name()
    result = {
        "processor": processor,
        "engine_version": engine.ENGINE_VERSION,
        "threads": 1,
        "playouts": args.playouts,
        "figures": [figure.row() for figure in done],
    }
    if args.json:
        print(json.dumps(result, indent=2))
    if args.save:
        write_json(RESULTS / f"engine-{short_name(processor)}.json", result)


if __name__ == "__main__":
    main()
