"""Games to occurrences: every position before a searched move, with what was played there and how the game ended.

Occurrences are fixed-width records and two flat arrays of visits, the form in which the engine deals them by key and
folds them into rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hexdata import engine
from hexdata.board import SYMMETRIES, packed_width
from hexdata.records import BadFile, metadata_of_schema


def record_type(size: int) -> np.dtype[np.void]:
    """One occurrence, in the image that its row stores. `hexdata/engine/src/fold.hpp` reads the same bytes."""
    stones = f"V{packed_width(size)}"
    return np.dtype(
        [
            ("key", "S16"),  # big-endian, so that bytes sort as numbers; numpy cannot sort V16
            ("black", stones),
            ("white", stones),
            ("shard", "<u4"),
            ("ply", "<u2"),
            ("plies_left", "<u2"),
            ("played", "<u2"),
            ("visits", "<u2"),
            ("player", "<u2"),
            ("side", "u1"),
            ("won", "u1"),
            ("white_to_move", "u1"),
            ("sampled", "u1"),
        ]
    )


@dataclass(frozen=True)
class Records:
    """Occurrences of one board size, in any order: `fixed[i].visits` entries of `cells` and `counts` belong to each."""

    size: int
    fixed: NDArray[np.void]
    cells: NDArray[np.uint16]
    counts: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.fixed)

    def raw(self) -> NDArray[np.uint8]:
        """u8[R, bytes]: what the engine takes."""
        return self.fixed.view(np.uint8).reshape(-1, self.fixed.dtype.itemsize)

    def where(self, mask: NDArray[np.bool_]) -> Records:
        if mask.all():
            return self
        visits = np.repeat(mask, self.fixed["visits"])
        return Records(self.size, self.fixed[mask], self.cells[visits], self.counts[visits])


@dataclass(frozen=True)
class Occurrences:
    """The records of some games, and what a record does not hold. M entries."""

    records: Records
    game: NDArray[np.int64]
    """Row of the game in its table."""
    symmetry: NDArray[np.uint8]
    """The map that took the position as it was played to the stored image."""
    cell: NDArray[np.uint16]
    """The move as it was played."""
    forced: int
    """Positions left out because their move was a prescribed opening stone: nobody chose it."""


def occurrences(games: pa.Table, players: Sequence[str]) -> Occurrences:
    """Replay the games of one board size. A record's player is the place of the mover's name in `players`; its side is
    0 until somebody decides it."""
    size = int(games.column("size")[0].as_py())
    moves = _one_array(games, "moves")
    lengths = moves.value_lengths().to_numpy().astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    flat = moves.flatten().to_numpy()
    replayed = engine.replay(size, flat, offsets)

    game = np.repeat(np.arange(len(lengths)), lengths)
    ply = np.arange(len(flat)) - offsets[game]
    searched = ply >= games.column("opening_length").to_numpy()[game]
    black_moves = ply % 2 == 0
    black_won = pc.equal(games.column("winner"), "black").to_numpy()
    names = pa.array(players, pa.string())
    black, white = (pc.index_in(games.column(name), value_set=names).to_numpy() for name in ("black", "white"))

    visits = _one_array(games, "visits").flatten()
    visit_lengths = visits.field("cells").value_lengths().to_numpy()
    symmetry = replayed["symmetry"]
    maps = np.stack([engine.transform(size, symmetry) for symmetry in SYMMETRIES])
    width = size * size
    visit_cells = visits.field("cells").flatten().to_numpy()
    if visit_cells.size and int(visit_cells.max()) >= width:
        raise BadFile(f"a visited cell is {int(visit_cells.max())}, which is not on a {size}x{size} board")
    visit_maps = np.repeat(symmetry.astype(np.intp) * width, visit_lengths)
    cells = maps.ravel()[visit_maps + visit_cells]

    fixed = np.zeros(len(flat), record_type(size))
    stones = f"V{packed_width(size)}"
    fixed["key"] = replayed["orbit_keys"].view("S16").ravel()
    fixed["black"] = replayed["black"].view(stones).ravel()
    fixed["white"] = replayed["white"].view(stones).ravel()
    fixed["shard"] = games.column("shard").to_numpy()[game]
    fixed["ply"] = ply
    fixed["plies_left"] = lengths[game] - ply
    fixed["played"] = maps[symmetry, flat]
    fixed["visits"] = visit_lengths
    fixed["player"] = np.where(black_moves, black[game], white[game])
    fixed["won"] = black_won[game] == black_moves
    fixed["white_to_move"] = replayed["to_move"]
    fixed["sampled"] = _one_array(games, "sampled").flatten().to_numpy(zero_copy_only=False)
    counts = visits.field("counts").flatten().to_numpy()
    return Occurrences(
        Records(size, fixed, cells, counts).where(searched),
        game=game[searched],
        symmetry=symmetry[searched],
        cell=flat[searched],
        forced=int((~searched).sum()),
    )


def _one_array(games: pa.Table, name: str) -> pa.Array:
    column = games.column(name).combine_chunks()
    return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)


@dataclass(frozen=True)
class Survey:
    """What the metadata and a few small columns of a games folder say before any game is replayed."""

    paths: tuple[Path, ...]
    size: int
    games: int
    moves: int
    players: tuple[str, ...]
    black_wins: int
    shards: dict[str, str]
    """The hash of the rows of each file."""


def survey(folder: Path) -> Survey:
    paths = tuple(sorted(folder.glob("*.parquet")))
    if not paths:
        raise BadFile(f"{folder}: no *.parquet files here; run `make repro` to build them")
    sizes: set[int] = set()
    players: set[str] = set()
    games = moves = black_wins = 0
    shards: dict[str, str] = {}
    for path in paths:
        try:
            file = pq.ParquetFile(path)
            notes = metadata_of_schema(file.schema_arrow)
            if notes.get("kind") != "games":
                raise BadFile(f"{path}: expected a table of games, found {notes.get('kind') or 'something else'}")
            few = file.read(columns=["size", "black", "white", "winner", "moves"])
        except (OSError, ValueError, pa.ArrowException):
            raise BadFile(f"{path}: not a readable Parquet file: truncated, damaged or something else") from None
        sizes.update(pc.unique(few.column("size")).to_pylist())
        for name in ("black", "white"):
            players.update(pc.unique(few.column(name)).to_pylist())
        games += few.num_rows
        moves += pc.sum(pc.list_value_length(few.column("moves"))).as_py() or 0
        black_wins += pc.sum(pc.equal(few.column("winner"), "black")).as_py() or 0
        shards[path.name] = str(notes.get("rows_sha256"))
    if len(sizes) != 1:
        found = ", ".join(str(size) for size in sorted(sizes)) or "none"
        raise BadFile(f"{folder}: expected games of one board size, found {found}")
    return Survey(paths, sizes.pop(), games, moves, tuple(sorted(players)), black_wins, shards)


def pieces(paths: Sequence[Path]) -> list[tuple[Path, int]]:
    """What one worker takes at a time: a row group."""
    return [(path, group) for path in paths for group in range(pq.ParquetFile(path).num_row_groups)]


def piece_bytes(piece: tuple[Path, int]) -> bytes:
    """A piece as a Parquet file of its own: workers need no shared files."""
    path, group = piece
    with pq.ParquetFile(path) as file:
        if file.num_row_groups == 1:
            return path.read_bytes()
        sink = pa.BufferOutputStream()
        pq.write_table(file.read_row_group(group), sink, compression="none")
    return bytes(sink.getvalue())


def read_piece(content: bytes) -> pa.Table:
    return pq.read_table(pa.BufferReader(content))
