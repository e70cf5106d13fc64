"""How strong the players are: `python -m benchmarks.ladder [NAME…]`, hours in all.

Each match is played from balanced openings with both colours. The games are kept below `build/`, so a run may be
stopped at any time and goes on where it was; the results of a whole match go to `benchmarks/results/ladder-NAME.json`
(all that the games say) and `.txt` (the table, with times), both with the processor. Seconds are of processor time, so
that load does not bias.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.machine import processor_name
from hexdata.arena import Match, pieces, play_match
from hexdata.errors import BadInput, Unfinished
from hexdata.progress import Meter
from hexdata.records import write_json, write_whole

GAMES = Path("build/ladder")
RESULTS = Path(__file__).parent / "results"

MATCHES = {
    # the rivals among themselves, recorded first: what we are measured against must not become weaker
    "rivals": (("uct:seconds=0.5", "resistance", "mohex-2011:seconds=0.5"), 162),
    "uct": (("mohex:seconds=0.5", "uct:seconds=0.5"), 162),
    "resistance": (("mohex:seconds=0.5", "resistance"), 162),
    "mohex-2011": (("mohex:seconds=0.5", "mohex-2011:seconds=0.5"), 162),
    # what the learned patterns add
    "patterns": (("mohex:playouts=1000", "mohex-2011:playouts=1000"), 162),
}


def play(name: str, match: Match, workers: int | None = None) -> str:
    """Play a match, or what is left of it, and keep its results; the table."""
    folder = GAMES / name
    try:
        with Meter(name, 2 * len(pieces(match)), "games") as meter:
            result = play_match(match, folder, workers=workers, done=lambda piece, fresh: meter.advance(2, fresh=fresh))
    except BadInput as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except Unfinished as error:
        sys.exit(str(error))
    processor = processor_name()
    write_json(RESULTS / f"ladder-{name}.json", {"processor": processor, **result.figures()})
    write_whole(RESULTS / f"ladder-{name}.txt", f"{result.report()}\n\nprocessor {processor}\n".encode())
    return result.report()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MATCHES)}; all if none is given")
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--workers", type=int, help="processes; one a core")
    args = parser.parse_args()
    if unknown := set(args.names) - set(MATCHES):
        parser.error(f"no match {min(unknown)!r}: expected some of {', '.join(MATCHES)}")
    for name in args.names or MATCHES:
        players, games = MATCHES[name]
        print(play(name, Match(args.size, players, "balanced", games, seed=1), args.workers), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
