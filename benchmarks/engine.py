"""How fast the engine is on one thread of this machine, in process CPU time: `python -m benchmarks.engine [--json]`."""

import argparse
import json
import time
from collections.abc import Callable

from hexdata import engine

# design.md section 8: bridge-saving playouts in the tree of Morat, per CPU second.
PLAYOUT_REFERENCE = {9: 134_000, 11: 95_000}
REPLAY_REFERENCE = 2_000_000
MIN_SECONDS = 2.0


def rate(work: Callable[[int], int]) -> float:
    """Units of work per CPU second; ``work(round)`` returns how many units it did."""
    work(0)
    done, rounds = 0, 0
    start = time.process_time()
    while (spent := time.process_time() - start) < MIN_SECONDS:
        rounds += 1
        done += work(rounds)
    return done / spent


def search_rate(size: int, playouts: int) -> float:
    """Playouts per CPU second of the first move on an empty board."""
    board = engine.Board(size)

    def work(seed: int) -> int:
        return engine.search(board, f"uct:playouts={playouts}", seed)["budget"]

    return rate(work)


def replay_rate(size: int) -> float:
    """Positions per CPU second, four symmetries' keys each."""
    games = engine.play_games(size, "random", "random", [[]] * 2000, range(2000), dither_moves=0, temperature=0.0)

    def work(_: int) -> int:
        return len(engine.replay(size, games["moves"], games["offsets"])["symmetry"])

    return rate(work)


def keys_rate(size: int) -> float:
    """Packed positions per CPU second, four symmetries' keys each."""
    games = engine.play_games(size, "random", "random", [[]] * 2000, range(2000), dither_moves=0, temperature=0.0)
    rows = engine.replay(size, games["moves"], games["offsets"])

    def work(_: int) -> int:
        return len(engine.keys(size, rows["black"], rows["white"], rows["to_move"])[1])

    return rate(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--playouts", type=int, default=10_000, help="playouts per searched move")
    args = parser.parse_args()
    rows = [
        (f"uct playouts, {size}x{size}", search_rate(size, args.playouts), reference)
        for size, reference in PLAYOUT_REFERENCE.items()
    ]
    rows.append(("replay positions, 9x9", replay_rate(9), REPLAY_REFERENCE))
    rows.append(("keys positions, 9x9", keys_rate(9), REPLAY_REFERENCE))
    if args.json:
        print(
            json.dumps(
                {name: {"per_cpu_second": round(value), "reference": ref} for name, value, ref in rows}, indent=2
            )
        )
        return
    print(f"{'work':<24}{'per CPU second':>16}{'reference':>12}{'ratio':>8}")
    for name, value, reference in rows:
        print(f"{name:<24}{value:>16,.0f}{reference:>12,}{value / reference:>8.2f}")


if __name__ == "__main__":
    main()
