"""What the learned patterns are worth: `python -m benchmarks.patterns` lets mohex play mohex-2011, which has none.

At 1,000 playouts a move, and at equal CPU time; seven minutes in all. Each opening is one stone on the two outer rings
of 9x9, where neither side is much ahead, and is played with both colours. Results are saved after every pair of games
in benchmarks/results/patterns.json, so a run may be stopped at any time and goes on where it was. The matches at half
a second a move, and against the other players, are benchmarks.ladder's.
"""

import argparse
import json
import math
from pathlib import Path
from typing import Any

from benchmarks.machine import processor_name
from hexdata import engine
from hexdata.board import Cell
from hexdata.evaluate import wilson
from hexdata.generate import game_seeds
from hexdata.records import write_json

RESULTS = Path(__file__).parent / "results" / "patterns.json"
SIZE = 9
PLAYERS = ("mohex", "mohex-2011")


def outer_cells(size: int) -> list[Cell]:
    rings = [min(row, column, size - 1 - row, size - 1 - column) for row in range(size) for column in range(size)]
    return [cell for cell, ring in enumerate(rings) if ring < 2]


def elo(rate: float) -> float | None:
    return round(400 * math.log10(rate / (1 - rate)), 1) if 0 < rate < 1 else None


def play_pair(budget: str, pair: int) -> dict[str, int]:
    """One opening with both colours: what there is to add up."""
    pool = outer_cells(SIZE)
    # a stride without a common divisor spreads the first pairs over the rings
    opening = [pool[pair * 17 % len(pool)]]
    found = dict.fromkeys(("games", "wins", "wins_as_black"), 0)
    for name in PLAYERS:
        found |= {f"{name} playouts": 0, f"{name} searched moves": 0}
    for colour, seed in enumerate(game_seeds(9, 2 * pair, 2)):
        sides = [f"{name}:{budget}" for name in (PLAYERS if colour == 0 else PLAYERS[::-1])]
        games = engine.play_games(SIZE, *sides, [opening], [seed], dither_moves=0, temperature=0.0)
        won = int(games["winner"][0] == colour)
        found["games"] += 1
        found["wins"] += won
        found["wins_as_black"] += won * (colour == 0)
        for ply, playouts in enumerate(games["budget"].tolist()):
            name = PLAYERS[(ply + colour) % 2]
            found[f"{name} playouts"] += playouts
            found[f"{name} searched moves"] += playouts > 0
    return found


def summary(found: dict[str, int]) -> dict[str, Any]:
    games, wins = found["games"], found["wins"]
    low, high = wilson(wins, games)
    return {
        "wins": wins,
        "games": games,
        "wins_as_black": found["wins_as_black"],
        "rate": round(wins / games, 4),
        "interval": [round(low, 4), round(high, 4)],
        "elo": elo(wins / games),
        "elo_interval": [elo(low), elo(high)],
        "playouts_a_move": {
            name: round(found[f"{name} playouts"] / max(found[f"{name} searched moves"], 1)) for name in PLAYERS
        },
        "sums": found,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=300, help="at 1,000 playouts")
    parser.add_argument("--seconds", type=float, default=0.1, help="CPU time of a move of the other match")
    parser.add_argument("--timed-games", type=int, default=100, help="of that match")
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    saved = json.loads(args.output.read_text()) if args.output.exists() else {}
    if saved.get("engine_version") != engine.ENGINE_VERSION:
        saved = {}
    report: dict[str, Any] = {
        "command": "python -m benchmarks.patterns",
        "engine_version": engine.ENGINE_VERSION,
        "processor": processor_name(),
        "matches": saved.get("matches", {}),
    }
    for budget, games in (("playouts=1000", args.games), (f"seconds={args.seconds}", args.timed_games)):
        row = report["matches"].get(budget, {"sums": {"games": 0}})
        while row["sums"]["games"] < games:
            pair = play_pair(budget, row["sums"]["games"] // 2)
            row = summary({name: row["sums"].get(name, 0) + count for name, count in pair.items()})
            report["matches"][budget] = row
            write_json(args.output, report)
        low, high = row["interval"]
        print(f"{budget}: {row['wins']} of {row['games']}, {row['rate']:.1%} [{low:.1%}, {high:.1%}], Elo {row['elo']}")


if __name__ == "__main__":
    main()
