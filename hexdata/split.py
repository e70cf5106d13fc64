"""Examples to leak-free train, validation and test: no game, no orbit and no suite position on two sides.

A game's side is a hash of its moves up to symmetry, so it never changes when a campaign grows. An orbit that games of
several sides share belongs to one side, with counts from that side's games only: among the games of the first shard
that met it, to test, else validation, else train. Shards are only ever added, so a released orbit never changes sides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hexdata import engine
from hexdata.augment import augment
from hexdata.board import COLOURS, MAX_SIZE, SYMMETRIES, cell_map
from hexdata.cluster import Workers, each
from hexdata.dedup import (
    bits_for,
    client_for,
    deal_all,
    examples_of,
    fold,
    fold_all,
    found_in,
    keys_of_rows,
    spill_folder,
)
from hexdata.examples import add_counts
from hexdata.leaks import leak_report
from hexdata.occurrences import Occurrences, Records, occurrences, piece_bytes, pieces, read_piece, survey
from hexdata.params import DatasetParams, Filters
from hexdata.records import (
    BadFile,
    metadata_of_schema,
    params_hash,
    read_table,
    remove_others,
    table_bytes,
    write_whole,
)

if TYPE_CHECKING:
    from distributed import Client

SIDES = ("test", "validation", "train")
"""A side's number is its place here; strongest first."""

TEST, VALIDATION, TRAIN = range(3)
COPIES = "copies"

AUGMENTATIONS = {"rotation": (0, 1), "all": SYMMETRIES}


class Count(NamedTuple):
    """One line of kept.csv: what is left after a step, by side, number of stones and side to move."""

    step: str
    side: str
    ply: int
    to_move: str
    raw: int
    unique: int


@dataclass(frozen=True)
class Known:
    """What is already settled of some orbits: keys in order, and a number each."""

    keys: NDArray[np.bytes_]
    values: NDArray[np.int8]

    def of(self, keys: NDArray[np.bytes_], default: int) -> NDArray[np.int8]:
        is_known, places = found_in(keys, self.keys)
        result = np.full(len(keys), default, np.int8)
        result[is_known] = self.values[places[is_known]]
        return result

    def between(self, p: int, bits: int) -> Known:
        """Those of one partition."""
        starts = [(n << (128 - bits)).to_bytes(17, "big")[1:] for n in (p, p + 1)]
        first = int(np.searchsorted(self.keys, np.bytes_(starts[0])))
        last = len(self.keys) if p + 1 == 2**bits else int(np.searchsorted(self.keys, np.bytes_(starts[1])))
        return Known(self.keys[first:last], self.values[first:last])


NOTHING_KNOWN = Known(np.zeros(0, "S16"), np.zeros(0, np.int8))


@dataclass(frozen=True)
class Context:
    """What a worker must know of one partition besides its records."""

    proved: Known
    released: Known
    """Sides by number."""


@dataclass(frozen=True)
class Parts:
    """One partition, split: tables by side and the counts of `Count`."""

    tables: dict[str, pa.Table]
    counts: dict[tuple[str, str, int, str], list[int]]


def side_of(moves: NDArray[np.uint16], size: int, validation: float, test: float) -> str:
    """The side of a game, the same for all four images of it."""
    image = min(row.tobytes() for row in _maps(size)[:, moves])
    digest = hashlib.sha256(size.to_bytes(1, "little") + image).digest()
    return SIDES[_side(int.from_bytes(digest[:8], "big") / 2**64, validation, test)]


@lru_cache(maxsize=MAX_SIZE)
def _maps(size: int) -> NDArray[np.uint16]:
    return np.array([cell_map(size, symmetry) for symmetry in SYMMETRIES], dtype="<u2")


def _side(share: float, validation: float, test: float) -> int:
    if share < test:
        return TEST
    return VALIDATION if share < test + validation else TRAIN


def game_sides(games: pa.Table, size: int, validation: float, test: float) -> NDArray[np.uint8]:
    """The number of each game's side."""
    moves = games.column("moves").to_pylist()
    sides = [side_of(np.array(game, np.uint16), size, validation, test) for game in moves]
    return np.array([SIDES.index(side) for side in sides], np.uint8)


def pair_sides(found: Occurrences, validation: float, test: float) -> NDArray[np.uint8]:
    """The thesis's way: every distinct (position, move), as it was played, falls on a side by itself (gao-2020).

    Positions of one game, and a position's image under the half-turn, then lie on both sides.
    """
    halves = np.ascontiguousarray(found.records.fixed["key"]).view(">u8").astype(np.uint64).reshape(-1, 2)
    played = found.symmetry.astype(np.uint64) << np.uint64(32) | found.cell.astype(np.uint64)
    share = _mixed(halves[:, 0] ^ _mixed(halves[:, 1] ^ _mixed(played))) / 2**64
    return np.where(share < test, TEST, np.where(share < test + validation, VALIDATION, TRAIN)).astype(np.uint8)


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64."""
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def sided(games: pa.Table, players: Sequence[str], params: DatasetParams) -> Records:
    """The records of some games, each with its side."""
    found = occurrences(games, players)
    if params.split == "pairs":
        found.records.fixed["side"] = pair_sides(found, params.validation, params.test)
    else:
        sides = game_sides(games, found.records.size, params.validation, params.test)
        found.records.fixed["side"] = sides[found.game]
    return found.records


def filtered(records: Records, filters: Filters) -> Iterator[tuple[str, Records]]:
    """The records after each filter that looks at one game at a time, by name."""
    for step in game_filters(filters):
        if step == "winner_moves":
            records = records.where(records.fixed["won"] != 0)
        else:
            ply = records.fixed["ply"]
            records = records.where((ply >= filters.min_ply) & (ply <= filters.max_ply))
        yield step, records


def game_filters(filters: Filters) -> list[str]:
    """The names of those that were asked for."""
    plies = filters.min_ply > 0 or filters.max_ply < MAX_SIZE**2
    return ["winner_moves"] * filters.winner_moves + ["plies"] * plies


def split(
    records: Records, params: DatasetParams, suite: NDArray[np.bytes_], context: Context, minority: int | None = None
) -> Parts:
    """Split the records of whole orbits. `minority` is the colour whose won games are copied: 0 Black, 1 White."""
    counts: dict[tuple[str, str, int, str], list[int]] = {}
    rows = fold(records)
    _count(counts, "raw", rows)
    for step, left in filtered(records, params.filters):
        records, rows = left, fold(left)
        _count(counts, step, rows)

    for step, left_rows in narrowed(rows, records.size, params, suite, context.released):
        rows = left_rows
        _count(counts, step, rows)
    proved = context.proved.of(keys_of_rows(rows), 0)
    column = pa.array(proved, pa.int8(), mask=proved == 0)
    rows = rows.set_column(rows.schema.get_field_index("proved"), rows.schema.field("proved"), column)

    side = rows.column("side").to_numpy()
    tables = {name: examples_of(rows.filter(pa.array(side == number))) for number, name in enumerate(SIDES)}
    if params.augment == "minority":
        white_won = (records.fixed["won"] != 0) == (records.fixed["white_to_move"] != 0)
        chosen = (records.fixed["side"] == TRAIN) & (white_won == bool(minority))
        tables[COPIES] = _minority_copies(tables["train"], examples_of(fold(records.where(chosen))), records.size)
    else:
        tables[COPIES] = augment(tables["train"], records.size, AUGMENTATIONS[params.augment])
    return Parts(tables, counts)


def narrowed(
    rows: pa.Table, size: int, params: DatasetParams, suite: NDArray[np.bytes_], released: Known
) -> Iterator[tuple[str, pa.Table]]:
    """The folded rows after each step that looks at whole orbits, by name."""
    if params.split == "games":
        rows = rows.filter(pa.array(_owned(rows, released)))
        yield "split", rows
        in_suite, _ = found_in(keys_of_rows(rows), suite)
        rows = rows.filter(pa.array(~in_suite | (rows.column("side").to_numpy() == TEST)))
        yield "suite", rows
    for step, mask in _row_filters(size, params.filters):
        rows = rows.filter(pa.array(mask(rows)))
        yield step, rows


def _count(counts: dict[tuple[str, str, int, str], list[int]], step: str, rows: pa.Table) -> None:
    side, ply, games = (rows.column(name).to_numpy().astype(np.int64) for name in ("side", "ply", "games"))
    white = pc.equal(rows.column("to_move"), "white").to_numpy()
    groups, group = np.unique((side << 20) + (ply << 1) + white, return_inverse=True)
    raw, unique = np.bincount(group, games, len(groups)), np.bincount(group, minlength=len(groups))
    for number, found in enumerate(groups.tolist()):
        place = (step, SIDES[found >> 20], found >> 1 & 0x7FFFF, COLOURS[found & 1])
        counts[place] = [int(raw[number]), int(unique[number])]


def _owned(rows: pa.Table, released: Known) -> NDArray[np.bool_]:
    """Which rows (of one orbit and side each) are on the side that owns the orbit."""
    keys, side = keys_of_rows(rows), rows.column("side").to_numpy()
    orbit = np.cumsum(np.concatenate([[True], keys[1:] != keys[:-1]])) - 1 if len(keys) else np.zeros(0, np.int64)
    order = np.lexsort((side, rows.column("first_shard").to_numpy(), orbit))
    first = np.concatenate([[True], np.diff(orbit[order]) != 0]) if len(keys) else np.zeros(0, bool)
    owner = side[order][first][orbit]
    pinned = released.of(keys, -1)
    owned: NDArray[np.bool_] = side == np.where(pinned >= 0, pinned, owner)
    return owned


def _row_filters(size: int, filters: Filters) -> Iterator[tuple[str, Callable[[pa.Table], NDArray[np.bool_]]]]:
    """The filters that look at an orbit's row, those that were asked for."""
    if filters.without_connection:
        yield "without_connection", lambda rows: ~has_connection(rows, size)
    if filters.min_games > 1:
        yield "min_games", lambda rows: rows.column("games").to_numpy() >= filters.min_games
    if filters.min_visits:
        yield "min_visits", lambda rows: visit_sums(rows) >= filters.min_visits


def has_connection(rows: pa.Table, size: int) -> NDArray[np.bool_]:
    black, white = (_packed(rows, name) for name in ("black", "white"))
    found: NDArray[np.bool_] = engine.winning_connections(size, black, white) != 2
    return found


def visit_sums(rows: pa.Table) -> NDArray[np.int64]:
    lists = rows.column("policy_visits").combine_chunks()
    row = np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy())
    return np.bincount(row, lists.flatten().to_numpy(), len(lists)).astype(np.int64)


def _packed(rows: pa.Table, name: str) -> NDArray[np.uint8]:
    width = rows.schema.field(name).type.byte_width
    return np.frombuffer(b"".join(rows.column(name).to_pylist()), np.uint8).reshape(-1, width)


def _minority_copies(train: pa.Table, won: pa.Table, size: int) -> pa.Table:
    """Every training row, and the half-turn of what the games say that the minority colour has won (hort-2019)."""
    kept, places = found_in(keys_of_rows(won), keys_of_rows(train))
    won = won.filter(pa.array(kept))
    # a proof is of the position, whichever games are counted
    proved = train.column("proved").take(pa.array(places[kept]))
    won = won.set_column(won.schema.get_field_index("proved"), won.schema.field("proved"), proved)
    both = pa.concat_tables([augment(train, size, (0,)), augment(won, size, (1,))])
    return both.sort_by([("key", "ascending"), ("symmetry", "ascending")])


def build(
    games: Path,
    examples: Path | None,
    suite: Path,
    out: Path,
    augmented: Path,
    params: DatasetParams,
    cluster: str | None = None,
    workers: Workers | None = None,
) -> tuple[dict[str, object], list[Count]]:
    """Split a campaign's games, write the dataset and its augmented training rows, and return the figures.

    Proved values are taken from `examples`. The leaks are counted in the files as written.
    """
    found = survey(games)
    bits = bits_for(found.moves)
    released = read_released(params.released)
    proofs = _examples_of(examples, bits, found.shards) if examples is not None else []
    suite_keys = np.sort(keys_of_rows(read_table(suite / "suite.parquet", "suite")))
    minority = int(found.black_wins * 2 >= found.games)
    lineage = {
        "dataset": params.model_dump(mode="json"),
        "engine_version": engine.ENGINE_VERSION,
        "games_rows_sha256": found.shards,
        "params_sha256": params_hash(params.model_dump(mode="json")),
    }

    def context(p: int) -> Context:
        return Context(_proved(proofs[p]) if proofs else NOTHING_KNOWN, released.between(p, bits))

    counts: dict[tuple[str, str, int, str], list[int]] = {}
    totals = dict.fromkeys((*SIDES, COPIES), 0)
    with spill_folder(out) as folder, client_for(bits, cluster, workers) as client:
        payloads = (piece_bytes(piece) for piece in pieces(found.paths))
        sides = deal_all(client, payloads, partial(_read, found.players, params), bits, folder)
        finish = partial(_finish, params, suite_keys, minority)
        for p, (tables, more) in fold_all(client, folder, found.size, bits, finish, context):
            for name, (rows, content) in tables.items():
                totals[name] += rows
                (folder / f"{name}-{p:05d}.arrow").write_bytes(content)
            add_counts(counts, more)
        written = [
            name
            for side in SIDES
            for name in _write_side(
                client, folder, side, totals[side], out, side, "dataset", params.rows_per_file, lineage
            )
        ]
        copied = _write_side(
            client, folder, COPIES, totals[COPIES], augmented, "train", "augmented", params.rows_per_file, lineage
        )
    remove_others(out, written)
    remove_others(augmented, copied)

    by_side = np.sum(sides, axis=0)
    steps: dict[tuple[str, str], int] = {}
    for (step, side, _, _), (_, unique) in counts.items():
        steps[step, side] = steps.get((step, side), 0) + unique
    # what stood before the step: the last of those that look at one game at a time, whatever it has left
    before = (["raw", *game_filters(params.filters)])[-1]
    dropped = {
        side: steps.get((before, side), 0) - steps.get(("split", side), 0) if params.split == "games" else 0
        for side in SIDES
    }
    in_suite = sum(steps.get(("split", side), 0) - steps.get(("suite", side), 0) for side in SIDES)
    figures: dict[str, object] = {
        **{side: {"rows": totals[side], "games": int(by_side[n])} for n, side in enumerate(SIDES)},
        "augmented_rows": totals[COPIES],
        "dropped": dropped,
        "suite_dropped": in_suite,
        "leaks": leak_report(out, games, suite),
    }
    lines = [Count(*key, *numbers) for key, numbers in sorted(counts.items(), key=_step_order)]
    return figures, lines


STEPS = ("raw", "winner_moves", "plies", "split", "suite", "without_connection", "min_games", "min_visits")


def _step_order(item: tuple[tuple[str, str, int, str], list[int]]) -> tuple[int, int, int, str]:
    (step, side, ply, mover), _ = item
    return STEPS.index(step), SIDES.index(side), ply, mover


def _read(players: Sequence[str], params: DatasetParams, content: bytes) -> tuple[Records, NDArray[np.int64]]:
    games = read_piece(content)
    records = sided(games, players, params)
    size = records.size
    sides = game_sides(games, size, params.validation, params.test)
    return records, np.bincount(sides, minlength=len(SIDES))


def _finish(
    params: DatasetParams, suite: NDArray[np.bytes_], minority: int, p: int, records: Records, context: Context
) -> tuple[dict[str, tuple[int, bytes]], dict[tuple[str, str, int, str], list[int]]]:
    parts = split(records, params, suite, context, minority)
    return {name: (table.num_rows, _ipc(table)) for name, table in parts.tables.items()}, parts.counts


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _examples_of(folder: Path, bits: int, shards: dict[str, str]) -> list[Path]:
    """Examples are cut into files as the records are into partitions."""
    paths = [folder / f"examples-{p:05d}-of-{2**bits:05d}.parquet" for p in range(2**bits)]
    for path in paths:
        if not path.is_file():
            raise BadFile(f"{path}: no such file; it is made from the same games by the stage `examples`")
        if metadata_of_schema(pq.read_schema(path)).get("games_rows_sha256") != shards:
            raise BadFile(f"{path}: made from other games than are there now; run the stage `examples` again")
    return paths


def _proved(path: Path) -> Known:
    rows = pq.read_table(path, columns=["key", "proved"])
    rows = rows.filter(rows.column("proved").is_valid())
    return Known(keys_of_rows(rows), rows.column("proved").to_numpy())


def read_released(folders: Iterable[str]) -> Known:
    """The sides that earlier versions gave to orbits; the oldest word counts."""
    keys, sides = [np.zeros(0, "S16")], [np.zeros(0, np.int8)]
    for folder in folders:
        paths = {side: sorted(Path(folder).glob(f"{side}-*.parquet")) for side in SIDES}
        if not paths["train"]:
            raise BadFile(
                f"{folder}: no train-*.parquet files here: dataset.released names folders of earlier versions"
            )
        for number, side in enumerate(SIDES):
            for path in paths[side]:
                keys.append(keys_of_rows(read_table(path, "dataset")))
                sides.append(np.full(len(keys[-1]), number, np.int8))
    everything, first = np.unique(np.concatenate(keys), return_index=True)
    return Known(everything, np.concatenate(sides)[first])


def _write_side(
    client: Client | None,
    folder: Path,
    part: str,
    rows: int,
    out: Path,
    side: str,
    kind: str,
    rows_per_file: int,
    lineage: Mapping[str, object],
) -> list[str]:
    """The files of one side by Hugging Face names; there is at least one, if only with its schema."""
    count = max(1, -(-rows // rows_per_file))
    names = [f"{side}-{index:05d}-of-{count:05d}.parquet" for index in range(count)]
    tables = (pa.ipc.open_file(pa.memory_map(str(path))).read_all() for path in sorted(folder.glob(f"{part}-*.arrow")))
    encode = partial(_encode, kind, {**lineage, "split": side})
    tasks = ((index, _ipc(table)) for index, table in enumerate(_cut(tables, rows_per_file)))
    for index, content in each(client, encode, tasks):
        write_whole(out / names[index], content)
    return names


def _encode(kind: str, notes: Mapping[str, object], task: tuple[int, bytes]) -> tuple[int, bytes]:
    index, content = task
    return index, table_bytes(pa.ipc.open_file(pa.BufferReader(content)).read_all(), kind, notes)


def _cut(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of `rows` rows each, the last one with what is left; at least one."""
    waiting: pa.Table | None = None
    for table in tables:
        waiting = table if waiting is None else pa.concat_tables([waiting, table])
        while waiting.num_rows > rows:
            yield waiting.slice(0, rows).combine_chunks()
            waiting = waiting.slice(rows)
    assert waiting is not None
    yield waiting.combine_chunks()


def told(figures: Mapping[str, Any]) -> str:
    """The rows of each side and the leaks, in one line."""
    rows = ", ".join(f"{side} {figures[side]['rows']:,}" for side in reversed(SIDES))
    leaks = figures["leaks"]
    return (
        f"{rows} rows; leaks: {leaks['orbits']:,} orbits on two sides, {leaks['games']:,} rows that count games of "
        f"another side, {leaks['suite']:,} suite positions in what is learned from"
    )
