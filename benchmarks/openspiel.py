"""Our player against OpenSpiel's C++ tree search with random rollouts, equal processor time a move.

    pip install 'hexdata[benchmark]'
    python -m benchmarks.openspiel --size 9 --seconds 0.5 --games 162

The games are kept below `build/`, so a run may be stopped and goes on where it was; the results go to
`benchmarks/results/`. With `--serve` this is the other side: OpenSpiel's bot as a GTP engine, which the match starts.
"""

import argparse
import sys
import time
from typing import Any

from benchmarks.ladder import play
from hexdata.arena import Match
from hexdata.board import cell_name, check_size, parse_cell

EXPLORATION = 1.4
"""Near the square root of 2, as in OpenSpiel's own examples."""
FIRST_SIMULATIONS = 1000
MEMORY_MB = 1000


class Bot:
    """The C++ bot is told a number of simulations; what fits in the time is taken from its last move."""

    def __init__(self, seconds: float, seed: int) -> None:
        import pyspiel

        self.spiel: Any = pyspiel
        self.seconds, self.seed = seconds, seed
        self.rate = 0.0
        self.boardsize(11)

    def boardsize(self, size: int) -> None:
        self.size = check_size(size)
        self.game = self.spiel.load_game(f"hex(board_size={size})")
        self.clear()

    def clear(self) -> None:
        self.state = self.game.new_initial_state()

    def play(self, cell: int) -> None:
        self.state.apply_action(cell)

    def choose(self) -> int:
        if not self.rate:
            self._think(FIRST_SIMULATIONS)
        return self._think(max(int(self.rate * self.seconds), 1))

    def _think(self, simulations: int) -> int:
        self.seed += 1
        evaluator = self.spiel.RandomRolloutEvaluator(1, self.seed)
        bot = self.spiel.MCTSBot(self.game, evaluator, EXPLORATION, simulations, MEMORY_MB, True, self.seed, False)
        began = time.process_time()
        cell = int(bot.step(self.state))
        self.rate = simulations / max(time.process_time() - began, 1e-6)
        return cell


def serve(bot: Bot) -> None:
    for line in sys.stdin:
        command, *words = line.split() or [""]
        answer = ""
        if command == "boardsize":
            bot.boardsize(int(words[0]))
        elif command == "clear_board":
            bot.clear()
        elif command == "play":
            bot.play(parse_cell(words[1], bot.size))
        elif command == "genmove":
            cell = bot.choose()
            bot.play(cell)
            answer = cell_name(cell, bot.size)
        print(f"= {answer}\n", flush=True)
        if command == "quit":
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5, help="of processor time, a move of each side")
    parser.add_argument("--games", type=int, default=162, help="an even number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help="be OpenSpiel's bot as a GTP engine")
    args = parser.parse_args()
    try:
        import pyspiel  # noqa: F401
    except ImportError:
        sys.exit("OpenSpiel is not installed: expected `pip install 'hexdata[benchmark]'` before")
    if args.serve:
        serve(Bot(args.seconds, args.seed))
        return
    # `python` of the environment that this runs in: the record must not name the machine's paths
    rival = f"gtp:python -m benchmarks.openspiel --serve --seconds {args.seconds:g} --seed {args.seed}"
    ours = f"mohex:seconds={args.seconds:g}"
    print(play("openspiel", Match(args.size, (ours, rival), "balanced", args.games, seed=args.seed)))


if __name__ == "__main__":
    main()
