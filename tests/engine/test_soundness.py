"""Fill-in, verdicts, mustplay, pruning, connections, proofs and labels against exhaustive play, by `checks.cpp`.

The undecided positions that alternating play from Black can reach are counted in test_rules.py: 4,520 on 3x3 and
8,188,705 on 4x4.
"""

import pytest

from tests.engine import checks


@pytest.mark.parametrize(("size", "positions"), [(2, 23), (3, 4520)])
def test_every_position_of_small_boards(size: int, positions: int) -> None:
    counts = checks.run("positions", size, 0, 1)
    assert counts["positions"] == positions
    assert counts["labels"] > positions


def test_one_4x4_position_in_400() -> None:
    counts = checks.run("positions", 4, 7, 400)
    assert counts["positions"] == 20_472
    assert counts["connections"] > 1_000_000
    assert counts["labels"] > 100_000
    assert counts["verdicts"] > 1_000


def test_random_5x5_positions() -> None:
    counts = checks.run("random", 77, 2_000)
    assert counts["positions"] == 2_000
    assert counts["connections"] > 100_000


@pytest.mark.slow
def test_every_4x4_position() -> None:
    counts = checks.run("positions", 4, 0, 1)
    assert counts["positions"] == 8_188_705
    assert counts["labels"] > counts["positions"]


@pytest.mark.slow
def test_random_5x5_positions_at_length() -> None:
    assert checks.run("random", 5, 20_000)["positions"] == 20_000


@pytest.mark.parametrize("sequences", [150, pytest.param(10_000, marks=pytest.mark.slow)])
def test_connections_follow_stones_and_undo(sequences: int) -> None:
    """Undo restores all of it; without limits the carriers are those of a build from nothing; with limits they hold."""
    counts = checks.run("connections", 1, sequences)
    assert counts["sequences"] == sequences
    assert min(counts["undos"], counts["compared"], counts["proved"]) > sequences


@pytest.mark.parametrize("boards", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_connections_of_larger_boards_hold(boards: int) -> None:
    counts = checks.run("boards", 1, boards)
    assert counts["sequences"] == boards
    assert counts["proved"] > 50 * boards


def test_every_part_on_every_board_size() -> None:
    assert checks.run("widths") == {"sizes": 18}


def test_play_and_undo_of_random_bytes() -> None:
    assert checks.run("play", 1, 2_000)["inputs"] == 2_000


def test_the_table_keeps_its_budget() -> None:
    counts = checks.run("table", 128 << 20)
    assert counts["entries"] > 500_000
    assert counts["kilobytes"] - counts["of_keys"] <= 128 * 1024
