"""Find the openings that either side can win: `python -m benchmarks.balanced --size 9`.

A pilot of `mohex` against itself, because a stronger player would win with both colours, from one of each pair of
openings under the half-turn. How many games Black won goes to `hexdata/balanced.json`, where `hexdata match --openings
balanced` reads it; the file says by which player and in how many games (11x11: `--games 10 --playouts 200`). The games
are kept below `build/`, so a run may be stopped at any time and goes on where it was.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from benchmarks.openings import distinct_openings
from hexdata import arena, engine
from hexdata.board import cell_map, cell_name, check_size
from hexdata.generate import game_seeds
from hexdata.progress import Meter
from hexdata.records import write_json

LISTS = Path(arena.__file__).parent / "balanced.json"
PILOTS = Path("build/pilots")


def run(size: int, playouts: int, games: int, folder: Path, workers: int | None = None) -> dict[str, object]:
    """The pilot of one board: `games` from each opening."""
    player = f"mohex:playouts={playouts}"
    starts = [cell for cell in sorted(distinct_openings(size)) for _ in range(games // 2)]
    seeds = game_seeds(size, 0, 2 * len(starts))
    todo = [
        arena.Piece(number, size, player, player, (cell,), (seeds[2 * number], seeds[2 * number + 1]), False)
        for number, cell in enumerate(starts)
    ]
    with Meter(f"pilot {size}x{size}", 2 * len(todo), "games") as meter:
        finished = arena.play_pieces(
            todo, folder, workers=workers, done=lambda piece, fresh: meter.advance(2, fresh=fresh)
        )
    wins: Counter[int] = Counter()
    for found in finished:
        wins[found.piece.opening[0]] += found.table.column("winner").to_pylist().count("black")
    turned = cell_map(size, 1)
    return {
        "player": player,
        "games": 2 * (games // 2),
        "engine_version": engine.ENGINE_VERSION,
        "black_wins": {cell_name(cell, size): wins[min(cell, turned[cell])] for cell in range(size * size)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--playouts", type=int, default=1000, help="a move")
    parser.add_argument("--games", type=int, default=16, help="from each opening, an even number")
    parser.add_argument("--workers", type=int, help="processes; one a core")
    args = parser.parse_args()
    size = check_size(args.size)
    lists = json.loads(LISTS.read_text()) if LISTS.exists() else {}
    lists[str(size)] = run(size, args.playouts, args.games, PILOTS / str(size), args.workers)
    write_json(LISTS, dict(sorted(lists.items(), key=lambda item: int(item[0]))))
    arena.balanced_lists.cache_clear()
    found = arena.balanced_openings(size)
    print(f"{len(found)} of {size * size} openings are balanced: {' '.join(cell_name(c, size) for (c,) in found)}")


if __name__ == "__main__":
    main()
