"""Whether White takes over Black's first stone: one rule for matches and for other programs that ask."""

from __future__ import annotations

from hexdata.engine import Board, solve

SWAP_NODES = 500
"""What the solver may spend where a player answers the first stone unthinking: the proofs of 2x2 to 13x13 take 8."""


def wants_swap(player: str, board: Board, value: float, budget: int) -> bool:
    """Does the player think that White, who is to answer Black's only stone, is losing? `value` is White's.

    mohex does not think where a single move is not lost at once, and the move may be lost all the same. random never
    thinks, and never swaps.
    """
    if value or budget or player == "random":
        return value < 0
    return solve(board.size, board.black(), [], "white", limit_nodes=SWAP_NODES, table_mb=1).winner == "black"
