"""Inferior cells and pruning against brute force: fill-in keeps values, pruning keeps a winning move."""

import numpy as np

from hexdata.engine import _core
from tests.engine import brute


def clique_dead(black: int, white: int) -> bool:
    """Deadness by the reduced graph of one colour: own stones contracted, the opponent's cells deleted.

    Dead iff the neighbourhood is a clique: no own group and the empty cells pairwise adjacent, or one own group that
    every empty cell touches.
    """
    empty = [d for d in range(6) if not (black | white) >> d & 1]

    def touching(a: int, b: int) -> bool:
        return (a - b) % 6 in (1, 5)

    groups: list[set[int]] = []
    for d in (d for d in range(6) if black >> d & 1):
        near = [g for g in groups if any(touching(d, e) for e in g)]
        groups = [g for g in groups if g not in near] + [set().union({d}, *near)]
    if not groups:
        return all(touching(a, b) for a in empty for b in empty if a < b)
    return len(groups) == 1 and all(any(touching(e, g) for g in groups[0]) for e in empty)


def rings() -> list[tuple[int, int]]:
    return [(b, w) for b in range(64) for w in range(64) if not b & w]


def test_dead_cells_agree_with_the_clique_form() -> None:
    facts = _core.ring_facts()
    dead = {(b, w) for b, w in rings() if facts[b | w << 6][0]}
    assert dead == {(b, w) for b, w in rings() if clique_dead(b, w)}
    assert len(rings()) == 729
    assert len(dead) == 122


def test_dead_rings_fall_into_ten_classes() -> None:
    facts = _core.ring_facts()

    def images(b: int, w: int) -> set[tuple[int, int]]:
        found = set()
        for turn in range(6):
            for flip in (False, True):
                place = [(turn - d if flip else turn + d) % 6 for d in range(6)]
                move = [sum(1 << place[d] for d in range(6) if s >> d & 1) for s in (b, w)]
                found |= {(move[0], move[1]), (move[1], move[0])}
        return found

    assert len({min(images(b, w)) for b, w in rings() if facts[b | w << 6][0]}) == 10


def test_killers_follow_from_deadness() -> None:
    facts = _core.ring_facts()
    count = {"black": 0, "white": 0, "either": 0}
    for b, w in rings():
        dead, by_black, by_white = facts[b | w << 6]
        if dead:
            assert by_black == by_white == 0
            continue
        free = [d for d in range(6) if not (b | w) >> d & 1]
        assert by_black == sum(1 << d for d in free if clique_dead(b | 1 << d, w))
        assert by_white == sum(1 << d for d in free if clique_dead(b, w | 1 << d))
        if by_black or by_white:
            count["either" if by_black and by_white else "black" if by_black else "white"] += 1
    assert count == {"black": 99, "white": 99, "either": 72}


def check_knowledge(board: np.ndarray, n: int) -> None:
    """Fill-in, verdict, proof set, mustplay and pruning of one undecided position, for both sides to move."""
    where = board.reshape(n, n).tolist()
    for side, name in brute.NAMES.items():
        truth = brute.winner(board, n, side)
        known = _core.knowledge(n, *brute.stones(board), name)
        filled = np.zeros_like(board)
        filled[known.black], filled[known.white] = brute.BLACK, brute.WHITE
        assert all(filled[c] == board[c] for c in np.flatnonzero(board)), where
        for mover in (brute.BLACK, brute.WHITE):
            assert brute.winner(filled, n, mover) == brute.winner(board, n, mover), f"fill-in: {where}"
        if known.value:
            assert truth == (side if known.value > 0 else 3 - side), f"verdict: {where}, {name} to move"
            held = np.where((board == 0) & ~np.isin(np.arange(n * n), known.proof), 3 - truth, board).astype(np.uint8)
            assert brute.winner(held, n, side) == truth, f"proof set {known.proof}: {where}, {name} to move"
            continue
        wins = set()
        for cell in np.flatnonzero(filled == 0):
            after = filled.copy()
            after[cell] = side
            if brute.winner(after, n, 3 - side) == side:
                wins.add(int(cell))
        assert wins <= set(known.mustplay), f"mustplay: {where}, {name} to move"
        assert not wins or wins & set(known.moves), f"pruning: {where}, {name} to move"


def check_solution_proof(board: np.ndarray, n: int) -> None:
    """The solver's proof set: the winner still wins if every other empty cell goes to the loser."""
    for side, name in brute.NAMES.items():
        solution = _core.solve(n, *brute.stones(board), name)
        winner = brute.BLACK if solution.winner == "black" else brute.WHITE
        held = np.where((board == 0) & ~np.isin(np.arange(n * n), solution.proof), 3 - winner, board).astype(np.uint8)
        assert brute.winner(held, n, side) == winner, f"{board.reshape(n, n).tolist()}, {name}: {solution.proof}"


def test_random_4x4_positions() -> None:
    # test_soundness.py meets them all
    rng = np.random.default_rng(44)
    for _ in range(200):
        board = brute.random_board(rng, 4, int(rng.integers(4, 16)))
        if not brute.joined(board, 4):
            check_knowledge(board, 4)


def test_proof_sets_of_the_search() -> None:
    rng = np.random.default_rng(56)
    for n, stones in [(4, 2), (4, 3), (4, 4), (5, 12), (5, 13)] * 20:
        board = brute.random_board(rng, n, stones)
        if not brute.joined(board, n):
            check_solution_proof(board, n)
