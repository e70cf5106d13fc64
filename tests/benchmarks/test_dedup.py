"""The limits of the benchmark of deduplication are read from its figures, and each can be missed."""

from typing import Any

import pytest

from benchmarks.dedup import limits


def results(**changed: float) -> dict[int, dict[str, dict[str, float]]]:
    """A run that keeps every limit: a tenth of the positions takes a tenth of the time."""
    ours = {"seconds": 80.0, "peak_gb": 1.5} | changed
    return {
        1_000_000: {"hexdata": {"seconds": 8.0, "peak_gb": 0.9}, "duckdb": {"seconds": 9.0}},
        10_000_000: {"hexdata": ours, "duckdb": {"seconds": 100.0}},
    }


def missed(found: dict[int, Any], keys: float = 3e6) -> list[str]:
    return [limit.name for limit in limits(found, keys) if not limit.kept]


def test_a_good_run_keeps_all_limits() -> None:
    assert missed(results()) == []
    assert [str(limit) for limit in limits(results(), 3e6)] == [
        "hexdata's time beside DuckDB's: 0.80, limit at most 1: kept",
        "hexdata's peak memory, GB: 1.50, limit at most 2: kept",
        "hexdata's time for ten times the positions: 10.00, limit at most 12: kept",
        "keys of positions per CPU second, all four symmetries: 3,000,000.00, limit at least 2,000,000: kept",
    ]


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"seconds": 101.0}, ["hexdata's time beside DuckDB's", "hexdata's time for ten times the positions"]),
        ({"seconds": 97.0}, ["hexdata's time for ten times the positions"]),
        ({"peak_gb": 2.1}, ["hexdata's peak memory, GB"]),
    ],
)
def test_each_limit_can_be_missed(changed: dict[str, float], names: list[str]) -> None:
    assert missed(results(**changed)) == names
    assert missed(results(), keys=1.9e6) == ["keys of positions per CPU second, all four symmetries"]
    assert "MISSED" in str(limits(results(**changed), 1.0)[-1])
