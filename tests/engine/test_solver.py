"""The solver against brute force, its limits, and what a caller may rely on."""

import itertools
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from hexdata.engine import _core
from tests.engine import brute, checks

OTHER = {"black": "white", "white": "black"}


def labels(solution: _core.Solution) -> dict[int, str]:
    found = {}
    for name in ("winning", "losing", "unknown"):
        found.update(dict.fromkeys(getattr(solution, f"{name}_moves"), name))
    return found


def check(board: np.ndarray, n: int, side: int, solution: _core.Solution, value_after: dict[int, int]) -> None:
    """Every label against the winners of all moves; `value_after` is empty if the position is decided."""
    done = brute.joined(board, n)
    if done:
        assert solution.winner == brute.NAMES[done]
        assert labels(solution) == {}
        return
    wins = {cell for cell, winner in value_after.items() if winner == side}
    truth = brute.NAMES[side] if wins else OTHER[brute.NAMES[side]]
    where = f"board {board.reshape(n, n).tolist()}, side {side}"
    assert solution.winner == truth, where
    assert set(solution.winning_moves) == wins, where
    assert set(solution.losing_moves) == set(value_after) - wins, where
    assert solution.unknown_moves == [], where


def solve_boards(n: int, boards: list[tuple[np.ndarray, int]]) -> list[_core.Solution]:
    positions = [(*brute.stones(board), brute.NAMES[side]) for board, side in boards]
    return _core.solve_batch(n, positions, all_moves=True, threads=2)


def check_all(n: int, boards: list[tuple[np.ndarray, int]]) -> None:
    for (board, side), solution in zip(boards, solve_boards(n, boards), strict=True):
        check(board, n, side, solution, {} if brute.joined(board, n) else brute.move_winners(board, n, side))


def test_every_3x3_position() -> None:
    check_all(3, [(brute.board_of(code, 3), side) for code in range(3**9) for side in (brute.BLACK, brute.WHITE)])


def test_random_4x4_positions() -> None:
    # test_soundness.py meets them all
    rng = np.random.default_rng(4)
    boards = [brute.random_board(rng, 4, int(rng.integers(4, 16))) for _ in range(300)]
    check_all(4, [(board, side) for board in boards for side in (brute.BLACK, brute.WHITE)])


@pytest.mark.parametrize(("n", "wins"), [(2, 2), (3, 5), (4, 4), (5, 13)])
def test_winning_first_moves(n: int, wins: int) -> None:
    solution = _core.solve(n, [], [], "black", all_moves=True)
    assert solution.winner == "black"
    assert len(solution.winning_moves) == wins
    # the half turn keeps the value, the reflection with colours swapped gives White's winning moves
    assert {n * n - 1 - c for c in solution.winning_moves} == set(solution.winning_moves)
    mirrored = _core.solve(n, [], [], "white", all_moves=True)
    assert {c % n * n + c // n for c in solution.winning_moves} == set(mirrored.winning_moves)


def test_openings_one_by_one_agree_with_all_moves() -> None:
    openings = _core.solve_batch(5, [([c], [], "white") for c in range(25)])
    assert [c for c in range(25) if openings[c].winner == "black"] == _core.solve(
        5, [], [], "black", all_moves=True
    ).winning_moves


def openings(n: int) -> list[int]:
    """Black's winning first moves, each opening solved by itself from an empty table."""
    solved = _core.solve_batch(n, [([c], [], "white") for c in range(n * n)], threads=2)
    assert all(s.winner != "unknown" for s in solved)
    return [c for c in range(n * n) if solved[c].winner == "black"]


def test_winning_openings_of_6x6() -> None:
    wins = openings(6)
    assert len(wins) == 24
    assert {35 - c for c in wins} == set(wins)


@pytest.mark.slow
def test_winning_openings_of_7x7() -> None:
    wins = openings(7)
    assert len(wins) == 27
    assert {48 - c for c in wins} == set(wins)


def test_without_all_moves_a_winning_move_is_named() -> None:
    rng = random.Random(3)
    for _ in range(100):
        cells = rng.sample(range(25), 8)
        board = np.zeros(25, np.uint8)
        board[cells[::2]], board[cells[1::2]] = brute.BLACK, brute.WHITE
        if brute.joined(board, 5):
            continue
        few = _core.solve(5, cells[::2], cells[1::2], "black")
        full = _core.solve(5, cells[::2], cells[1::2], "black", all_moves=True)
        assert few.winner == full.winner
        assert set(few.winning_moves) <= set(full.winning_moves)
        assert set(few.losing_moves) <= set(full.losing_moves)
        assert bool(few.winning_moves) == (few.winner == "black")
        assert sorted(labels(few)) == sorted(set(range(25)) - set(cells))


def test_the_line_alternates_and_is_legal() -> None:
    solution = _core.solve(5, [0], [], "white")
    assert solution.line
    assert len(set(solution.line)) == len(solution.line)
    assert 0 not in solution.line
    assert solution.line[0] in solution.winning_moves


def test_limits_give_unknown_never_a_guess() -> None:
    solution = _core.solve(9, [40], [], "white", limit_nodes=5)
    assert solution.winner == "unknown"
    assert solution.nodes <= 5
    assert len(solution.unknown_moves) == 80
    began = time.monotonic()
    assert _core.solve(11, [60], [], "white", limit_seconds=0.2).winner == "unknown"
    assert time.monotonic() - began < 30


def test_one_thread_is_deterministic_and_threads_change_nothing() -> None:
    rng = random.Random(5)
    positions = [(s[:4], s[4:], "black") for s in (rng.sample(range(36), 8) for _ in range(40))]
    runs = [_core.solve_batch(6, positions, all_moves=True, threads=t) for t in (1, 1, 2, 3)]
    for a, b in itertools.pairwise(runs):
        for x, y in zip(a, b, strict=True):
            assert (x.winner, x.winning_moves, x.losing_moves, x.line) == (
                y.winner,
                y.winning_moves,
                y.losing_moves,
                y.line,
            )
            assert (x.nodes, x.expansions) == (y.nodes, y.expansions)


def answer(solution: _core.Solution) -> tuple[str, list[int], list[int]]:
    return solution.winner, solution.winning_moves, solution.losing_moves


DAEMON = """
import threading, time
from hexdata import engine
threading.Thread(target=lambda: {call}, daemon=True).start()
time.sleep(0.5)
"""


@pytest.mark.parametrize(
    "call",
    [
        "engine.solve(10, [], [], 'black', limit_seconds=20)",
        "engine.reprove(7, [0, 8, 24], [5, 9, 30], 'black', limit_nodes=10**9)",
    ],
)
def test_a_program_can_end_beside_a_search(call: str) -> None:
    """A thread that asks for the interpreter when it is gone would abort the process."""
    done = subprocess.run([sys.executable, "-c", DAEMON.format(call=call)], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()


def test_two_threads_on_one_position_agree_with_one() -> None:
    rng = random.Random(8)
    for _ in range(12):
        cells = rng.sample(range(36), 6)
        alone, together = (_core.solve(6, cells[::2], cells[1::2], "black", all_moves=True, threads=t) for t in (1, 2))
        assert answer(alone) == answer(together)


def test_a_batch_uses_what_it_proved_of_the_next_positions() -> None:
    """6x6 positions together with all positions after them: no visit for a won one, and every label and proof right."""
    rng = random.Random(11)
    for _ in range(6):
        cells = rng.sample(range(36), 8)
        black, white = cells[::2], cells[1::2]
        alone = _core.solve(6, black, white, "black", all_moves=True)
        after = [c for c in range(36) if c not in cells]
        batch = [(black, white, "black"), *(([*black, c], white, "white") for c in after)]
        for threads in (1, 2):
            root, *children = _core.solve_batch(6, batch, all_moves=True, threads=threads)
            assert answer(root) == answer(alone)
            won = [c for c, found in zip(after, children, strict=True) if found.winner == "black"]
            assert won == root.winning_moves
            assert root.nodes <= (0 if won else alone.nodes)
            held = np.full(36, brute.WHITE if won else brute.BLACK, np.uint8)
            held[root.proof] = 0
            held[black], held[white] = brute.BLACK, brute.WHITE
            assert _core.solve(6, *brute.stones(held), "black").winner == root.winner


@pytest.mark.parametrize("parameters", [{"incremental": 1}, {"leaf_distance": 1}, {"edge_midpoints": 1}])
def test_other_parameters_prove_the_same(parameters: dict[str, float]) -> None:
    rng = random.Random(9)
    positions = [(s[:4], s[4:], "black") for s in (rng.sample(range(36), 8) for _ in range(40))]
    usual = _core.solve_batch(6, positions, all_moves=True)
    other = _core.solve_batch(6, positions, all_moves=True, parameters=parameters)
    assert [answer(s) for s in usual] == [answer(s) for s in other]
    assert any(a.nodes != b.nodes for a, b in zip(usual, other, strict=True))


@pytest.mark.parametrize("table_mb", [0.0625, 0.0001])
def test_an_overfull_table_still_ends_right(table_mb: float) -> None:
    entries = checks.run("table", int(table_mb * 2**20))["entries"]
    assert entries <= 1000
    tight = _core.solve(5, [], [], "black", all_moves=True, table_mb=table_mb)
    assert tight.winning_moves == _core.solve(5, [], [], "black", all_moves=True).winning_moves
    hard = _core.solve(7, [0], [], "white", table_mb=table_mb)
    assert hard.winner == "white"
    assert hard.nodes > entries


@pytest.mark.parametrize(
    ("size", "table_mb", "nodes"),
    [
        (8, 1.0, 2000),
        (13, 1.0, 5),
        (19, 1.0, 1),
        pytest.param(8, 32.0, 300_000, marks=pytest.mark.slow),  # fills the table
    ],
)
def test_memory_stays_within_the_budget_and_100_mb(size: int, table_mb: float, nodes: int) -> None:
    program = (
        "import resource; from hexdata.engine import _core; "
        f"_core.solve({size}, [{size * size // 2}], [], 'white', table_mb={table_mb}, limit_nodes={nodes}); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [*checks.SMALL_PARENT, sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 1000 < int(done.stdout) <= (table_mb + 100) * 1024


@pytest.mark.parametrize("size", [2, 8, 9, 11, 12, 13, 14, 19])
def test_every_board_width(size: int) -> None:
    # a black column with one gap that has two ways round: Black wins whoever moves
    column = [r * size + size // 2 for r in range(size) if r != 1]
    for to_move in ("black", "white"):
        solution = _core.solve(size, column, [], to_move, limit_nodes=50)
        assert solution.winner == ("black" if size > 2 or to_move == "black" else solution.winner)
    assert _core.solve(size, [r * size for r in range(size)], [], "white").winner == "black"
    assert _core.solve(size, [], list(range(size)), "black").winner == "white"
    assert _core.solve(size, [], list(range(size)), "black").losing_moves == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, [], [], "black"), "size"),
        ((20, [], [], "black"), "size"),
        ((5, [25], [], "black"), "cell 25"),
        ((5, [-1], [], "black"), "cell -1"),
        ((5, [3], [3], "black"), "cell 3"),
        ((5, [], [], "red"), "red"),
    ],
)
def test_bad_input_is_named(arguments: tuple[int, list[int], list[int], str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.solve(*arguments)


# One evaluation of this position finds two million connections.
FEW = "259 157 38 247 195 74 327 194 306 209 241 0 271 335 54 177"
MANY = """350 297 15 316 228 349 67 79 296 72 346 110 171 186 149 81 225 207 60 307 138 151 341 351 309 4 275 329 287 51
235 221 347 216 141 189 310 236 27 50 19 330 360 357 21 56 300 71 260 182 282 290 242 125 318 122 183 59 20 160 129"""


@pytest.mark.parametrize("position", [(11, "60", "", "white"), (19, FEW, MANY, "black")])
def test_ctrl_c_stops_a_long_search(position: tuple[int, str, str, str]) -> None:
    size, *stones, to_move = position
    cells = ", ".join(str([int(cell) for cell in some.split()]) for some in stones)
    program = f"from hexdata.engine import _core; print('go', flush=True); _core.solve({size}, {cells}, {to_move!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "go\n"
    time.sleep(0.5)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert time.monotonic() - sent < 5  # a second on an idle machine
    assert "KeyboardInterrupt" in errors
