"""What a written dataset leaks, recomputed from its files: keys from the stones, counts from the games.

Nothing here asks how the dataset was split; a row is judged by what it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hexdata import engine
from hexdata.board import packed_width
from hexdata.dedup import bits_for, deal_all, fold, fold_all, found_in, keys_of_rows
from hexdata.occurrences import Records, occurrences, piece_bytes, pieces, read_piece, survey
from hexdata.params import DatasetParams
from hexdata.records import metadata_of_schema, unreadable

COUNTED = (
    *("black", "white", "to_move", "ply", "plies_left_sum", "policy_cells", "policy_visits"),
    *("played_cells", "played_counts", "z_sum", "z_count", "games", "sampled_count"),
)
"""The columns of a row that its games determine."""


@dataclass(frozen=True)
class Breach:
    path: Path
    row: int | None
    """None for what is not there."""
    message: str


def leak_report(dataset: Path, games: Path, suite: Path) -> dict[str, int]:
    """All must be zero: orbits on two sides, rows that count games of another side, and suite positions in what is
    learned from (train, and validation, which picks the epoch)."""
    from hexdata.split import SIDES

    keys = {side: np.unique(orbit_keys(sorted(dataset.glob(f"{side}-*.parquet")))) for side in SIDES}
    pairs = (("train", "validation"), ("train", "test"), ("validation", "test"))
    learned = np.union1d(keys["train"], keys["validation"])
    return {
        "orbits": sum(len(np.intersect1d(keys[a], keys[b])) for a, b in pairs),
        "games": sum(1 for _ in recount(sorted(dataset.glob("*.parquet")), games, by_game=True)),
        "suite": len(np.intersect1d(learned, orbit_keys([suite / "suite.parquet"]))),
    }


def orbit_keys(paths: Sequence[Path]) -> NDArray[np.bytes_]:
    """The orbit of every row, from its stones: a planted twin may bear any key."""
    found = [np.zeros(0, "S16")]
    for path in paths:
        rows = pq.read_table(path, columns=["size", "black", "white", "to_move"])
        if rows.num_rows:
            found.append(keys_from_stones(rows))
    return np.concatenate(found)


def keys_from_stones(rows: pa.Table) -> NDArray[np.bytes_]:
    size = int(rows.column("size")[0].as_py())
    width = packed_width(size)
    black, white = (
        np.frombuffer(b"".join(rows.column(name).to_pylist()), np.uint8).reshape(-1, width)
        for name in ("black", "white")
    )
    movers = np.array([mover == "white" for mover in rows.column("to_move").to_pylist()], np.uint8)
    keys, _ = engine.keys(size, black, white, movers)
    return keys.view("S16").ravel()


def recount(
    paths: Sequence[Path],
    games: Path,
    by_game: bool = False,
    whole: bool = False,
    suite: NDArray[np.bytes_] | None = None,
) -> Iterator[Breach]:
    """Rows of examples or of a dataset that are not the sum over the games that they should count.

    The split and the filters are those that the files' own notes name; `by_game` asks that a row counts whole games of
    its side, however the dataset was split. `whole` asks for rows that are missing, too: of a dataset those that its
    `suite` and the versions that it names as released do not account for.
    """
    from hexdata.split import SIDES, filtered, narrowed, read_released, sided

    notes = metadata_of_schema(pq.read_schema(paths[0]))
    params = DatasetParams.model_validate(notes["dataset"]) if "dataset" in notes else None
    if params and by_game:
        params = params.model_copy(update={"split": "games"})
    found = survey(games)
    bits = bits_for(found.moves)
    released = read_released(params.released) if params and whole else None

    def read(content: bytes) -> tuple[Records, None]:
        table = read_piece(content)
        records = sided(table, found.players, params) if params else occurrences(table, found.players).records
        for _, left in filtered(records, params.filters) if params else ():
            records = left
        return records, None

    def finish(p: int, records: Records, _: None) -> pa.Table:
        return fold(records)

    written = {
        number: InKeyOrder([path for path in paths if path.name.startswith(f"{side}-")] if params else list(paths))
        for number, side in (enumerate(SIDES) if params else [(0, "")])
    }
    lost: dict[int, list[NDArray[np.bytes_]]] = {number: [] for number in written}
    with TemporaryDirectory() as folder:
        payloads = (piece_bytes(piece) for piece in pieces(found.paths))
        deal_all(None, payloads, read, bits, Path(folder))
        for p, expected in fold_all(None, Path(folder), found.size, bits, finish, lambda p: None):
            end = ((p + 1) << (128 - bits)).to_bytes(17, "big")[1:] if p + 1 < 2**bits else None
            side = expected.column("side").to_numpy()
            due = expected
            if params and released:
                in_suite = np.zeros(0, "S16") if suite is None else suite
                for _, left in narrowed(expected, found.size, params, in_suite, released.between(p, bits)):
                    due = left
            for number, rows in written.items():
                of_side = expected.filter(pa.array(side == number))
                seen = [np.zeros(0, "S16")]
                for path, first, table in rows.until(end):
                    seen.append(keys_of_rows(table))
                    yield from _compare(path, first, table, of_side)
                if whole:
                    wanted = keys_of_rows(due.filter(pa.array(due.column("side").to_numpy() == number)))
                    lost[number].append(wanted[~found_in(wanted, np.sort(np.concatenate(seen)))[0]])
    for number, keys in lost.items():
        gone = np.concatenate([np.zeros(0, "S16"), *keys])
        if len(gone):
            first_key = gone[0].ljust(16, b"\0").hex()
            text = f"{len(gone)} positions of the games are missing from {SIDES[number] if params else 'the rows'}"
            yield Breach(paths[0].parent, None, f"{text}, the first with key {first_key}")


def _compare(path: Path, first: int, rows: pa.Table, expected: pa.Table) -> Iterator[Breach]:
    there, places = found_in(keys_of_rows(rows), keys_of_rows(expected))
    for row in np.flatnonzero(~there).tolist():
        yield Breach(path, first + row, "no game of this side has this position")
    mine = rows.filter(pa.array(there)).select(COUNTED)
    theirs = expected.take(pa.array(places[there])).select(COUNTED).cast(mine.schema)
    if mine.equals(theirs):
        return
    numbers = np.flatnonzero(there).tolist()
    for number, a, b in zip(numbers, mine.to_pylist(), theirs.to_pylist(), strict=True):
        if a != b:
            name = next(name for name in COUNTED if a[name] != b[name])
            text = f"{name} is {_short(a[name])}, but the games of this side give {_short(b[name])}"
            yield Breach(path, first + number, text)


def _short(value: Any) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


class InKeyOrder:
    """The rows of files that are sorted by key, one after the other, without holding more than is asked for."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._rows = self._read(paths)
        self._waiting: tuple[Path, int, pa.Table] | None = None

    @staticmethod
    def _read(paths: Sequence[Path]) -> Iterator[tuple[Path, int, pa.Table]]:
        for path in paths:
            try:
                with pq.ParquetFile(path) as file:
                    first = 0
                    for batch in file.iter_batches():
                        yield path, first, pa.Table.from_batches([batch])
                        first += batch.num_rows
            except (OSError, pa.ArrowException):
                raise unreadable(path) from None

    def until(self, end: bytes | None) -> Iterator[tuple[Path, int, pa.Table]]:
        """The next rows with keys below `end`: their file, the row number of the first, and the rows."""
        while True:
            taken = self._waiting or next(self._rows, None)
            self._waiting = None
            if taken is None:
                return
            path, first, table = taken
            count = table.num_rows if end is None else int(np.searchsorted(keys_of_rows(table), np.bytes_(end)))
            if count:
                yield path, first, table.slice(0, count)
            if count < table.num_rows:
                self._waiting = (path, first + count, table.slice(count))
                return
