"""How fast the engine is on one thread of this machine, in process CPU time: `python -m benchmarks.engine [--json]`."""

import argparse
import json
import time
from collections.abc import Callable

from hexdata import engine

# design.md section 8: bridge-saving playouts in the tree of Morat, per CPU second.
PLAYOUT_REFERENCE = {9: 134_000, 11: 95_000}
# The same section: MoHex 2.0 at its leanest.
MOHEX_REFERENCE = {
    "bare": {9: 16_000, 11: 10_600, 13: 7_100},
    "knowledge off": {9: 13_500, 11: 8_700, 13: 5_800},
    "knowledge on": {9: 7_600, 11: 5_200, 13: 3_300},
}
# early stop and extension would change how many playouts there are, not how fast they are
MOHEX_SETTINGS = {
    "bare": "early=off,extend=off,knowledge=0,expand=10000000",
    "knowledge off": "early=off,extend=off,knowledge=0",
    "knowledge on": "early=off,extend=off",
}
SELFPLAY_REFERENCE = {9: 7.5, 11: 2.4}
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


def search_rate(size: int, player: str) -> float:
    """Playouts per CPU second of the first move on an empty board."""
    board = engine.Board(size)

    def work(seed: int) -> int:
        return engine.search(board, player, seed)["budget"]

    return rate(work)


def selfplay_rate(size: int, player: str) -> tuple[float, float]:
    """Positions with a search behind them per CPU second of whole games, and the new playouts of each."""
    playouts, positions = 0, 0

    def work(seed: int) -> int:
        nonlocal playouts, positions
        games = engine.play_games(size, player, player, [[seed % size**2]], [seed], dither_moves=4, temperature=1.0)
        searched = games["budget"] > 0
        playouts += int(games["budget"].sum())
        positions += int(searched.sum())
        return int(searched.sum())

    return rate(work), playouts / positions


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
    rows: list[tuple[str, float, float]] = [
        (f"uct playouts, {size}x{size}", search_rate(size, f"uct:playouts={args.playouts}"), reference)
        for size, reference in PLAYOUT_REFERENCE.items()
    ]
    for kind, references in MOHEX_REFERENCE.items():
        for size, reference in references.items():
            player = f"mohex:playouts={args.playouts},{MOHEX_SETTINGS[kind]}"
            rows.append((f"mohex playouts, {kind}, {size}x{size}", search_rate(size, player), reference))
    for size, positions in SELFPLAY_REFERENCE.items():
        found, playouts = selfplay_rate(size, "mohex:playouts=1000")
        rows.append((f"self-play positions, {size}x{size}, {playouts:.0f} new playouts", found, positions))
    rows.append(("replay positions, 9x9", replay_rate(9), REPLAY_REFERENCE))
    rows.append(("keys positions, 9x9", keys_rate(9), REPLAY_REFERENCE))
    if args.json:
        print(
            json.dumps(
                {name: {"per_cpu_second": round(value, 1), "reference": ref} for name, value, ref in rows}, indent=2
            )
        )
        return
    print(f"{'work':<52}{'per CPU second':>16}{'reference':>12}{'ratio':>8}")
    for name, value, reference in rows:
        print(f"{name:<52}{value:>16,.{0 if value > 1000 else 1}f}{reference:>12,}{value / reference:>8.2f}")


if __name__ == "__main__":
    main()
