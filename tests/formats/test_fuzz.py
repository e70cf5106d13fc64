"""A short fixed run of the fuzzer; `make fuzz` runs it at length."""

from tests.formats.fuzz import fuzz


def test_changed_records_and_move_lists_are_read_or_refused() -> None:
    found = fuzz(1, count=700)
    assert (
        min(found[f"{what} {end}"] for what in ("records", "lines", "move lists") for end in ("read", "refused")) > 30
    )
