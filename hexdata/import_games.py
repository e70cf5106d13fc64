"""Strangers' games as a campaign like any other, and a campaign's games as others read them.

The rows say what is known: who played, what and how it ended. There is no seed, no budget and no engine version (all
are 0), and visits only where the record has them. The games are sorted by their ids and named by one hash of all rows,
which params.yaml holds (`games: {imported: …}`): the same games are the same bytes, whatever files they came in.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import yaml

from hexdata.board import Cell, Colour, cell_map, other
from hexdata.errors import BadInput
from hexdata.formats import read_games
from hexdata.formats.game import LETTER_OF, SHARE_UNITS, Game, Move, Shares
from hexdata.params import BadParams, Campaign, ImportedGames, Params, parse_params, read_text
from hexdata.records import (
    SCHEMA_VERSION,
    BadFile,
    games_schema,
    metadata_of,
    params_hash,
    read_folder,
    read_table,
    rows_hash,
    table_bytes,
    write_folder,
    write_whole,
)
from hexdata.shards import is_finished

PER_SHARD = 1000
NOBODY = "unknown"
HASHED = ["game_id", "size", "opening_length", "moves", "winner", "ended_by", "swapped", "black", "white", "visits"]

_FIRST: dict[tuple[Colour, int], Colour] = {
    ("black", 0): "black",
    ("white", 1): "black",
    ("white", 0): "white",
    ("black", -1): "white",
}
"""Who moved first, by who is to move and how many stones Black is ahead; nothing else comes of alternating play."""

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A game as alternating play from the empty board, Black first: what the games schema holds."""

    size: int
    moves: tuple[Cell, ...]
    opening_length: int
    winner: Colour
    ended_by: str
    swapped: bool
    black: str
    white: str
    policies: tuple[Shares, ...]


def black_first(game: Game) -> Line:
    """The same game with Black first and no swap in it; ValueError where nobody can tell how it went or who won.

    A swapped game is told by who owned the first stone: after `swap-pieces` all later moves are mirrored back, so that
    the stone lies where it was played. It was offered, not chosen as the best one, so it counts as a given opening.
    Set-up stones are a given opening too, if alternating play could have put them there.
    """
    stones = [(number, move) for number, (_, move) in enumerate(game.moves) if isinstance(move, int)]
    swap = next((move for _, move in game.moves if move in ("swap-pieces", "swap-sides")), None)
    if not stones:
        raise ValueError("no moves: expected at least one")
    if game.position(0).winner() is not None:
        raise ValueError("the position that is set up is already decided")
    winner, ended_by = _end(game, swap)
    ahead = len(game.black_setup) - len(game.white_setup)
    first = _FIRST.get((game.to_move, ahead))
    if first is None:
        raise ValueError(
            f"{len(game.black_setup)} black and {len(game.white_setup)} white stones are set up with {game.to_move} to "
            "move: expected what alternating play from the empty board can lead to"
        )
    names = dict(game.info)
    owners = {"black": names.get("PB") or NOBODY, "white": names.get("PW") or NOBODY}
    if swap == "swap-sides":
        owners = {"black": owners["white"], "white": owners["black"]}
    if swap == "swap-pieces":
        first = other(first)
    mine, theirs = (game.black_setup, game.white_setup) if first == "black" else (game.white_setup, game.black_setup)
    given = [cell for pair in zip(mine, theirs, strict=False) for cell in pair] + list(mine[len(theirs) :])
    mirror = cell_map(game.size, 2) if first == "white" else cell_map(game.size, 0)
    moves = [mirror[cell] for cell in given]
    policies: list[Shares] = [()] * len(given)
    for number, cell in stones:
        # the swapped stone was played before the board was mirrored
        at = cell_map(game.size, 2)[cell] if swap == "swap-pieces" and number == 0 else cell
        shares = game.policies[number] if game.policies else ()
        moves.append(mirror[at])
        policies.append(tuple(sorted((mirror[where], share) for where, share in shares)) if number or not swap else ())
    return Line(
        game.size,
        tuple(moves),
        opening_length=1 if swap else len(given),
        winner=winner if first == "black" else other(winner),
        ended_by=ended_by,
        swapped=swap is not None,
        black=owners[first],
        white=owners[other(first)],
        policies=tuple(policies),
    )


def _end(game: Game, swap: Move | None) -> tuple[Colour, str]:
    """Who won and how. Whatever the record says twice must agree: a wrong sign would poison every position."""
    by_stones, told = game.position().winner(), game.result_winner()
    quit_by, how = game.moves[-1]
    if game.lost_by_time():
        raise ValueError("lost by time or forfeit, which says nothing about the position")
    known = by_stones or (other(quit_by) if how == "resign" else None)
    if known and swap != "swap-sides" and told not in (None, known):
        raise ValueError(f"the result {game.result} is not what the moves say, that {known} won")
    if known:
        return known, "chain" if by_stones else "resign"
    if told is None:
        raise ValueError("the record does not tell who won: expected a finished game")
    if swap == "swap-sides":
        raise ValueError(
            f"the sides were swapped and only the result {game.result} tells who won: whose colour is that?"
        )
    return told, "proof" if (game.result or "").lower().endswith("+proof") else "resign"


def game_id(line: Line) -> bytes:
    provenance = f"import {line.size} {line.winner} {line.swapped} {line.black!r} {line.white!r} "
    moves = b"".join(cell.to_bytes(2, "little") for cell in line.moves)
    return hashlib.sha256(provenance.encode() + moves).digest()[:16]


# -------------------------------------------------------------------------------------------------------------- import


@dataclass(frozen=True)
class Read:
    lines: dict[bytes, Line]
    """By game id."""
    twice: int
    refused: list[BadInput]


def read_lines(
    paths: Iterable[Path], size: int | None = None, progress: Callable[[int], None] = lambda n: None
) -> Read:
    """The games of all files, each once, and why the others are none. `progress` is told how many were read."""
    lines: dict[bytes, Line] = {}
    refused: list[BadInput] = []
    twice = 0
    for path in files_of(paths):
        for number, game in enumerate(read_games(path, size), start=1):
            progress(len(lines) + twice + len(refused))
            if isinstance(game, BadInput):
                refused.append(game)
                continue
            if size not in (None, game.size):
                refused.append(BadInput(f"{path}: game {number}: a {game.size}x{game.size} board, not {size}x{size}"))
                continue
            try:
                line = black_first(game)
            except ValueError as error:
                refused.append(BadInput(f"{path}: game {number}: {error}"))
                continue
            key = game_id(line)
            if key in lines:
                twice += 1
                # of two records the fuller one, whatever the order of the files
                line = max(line, lines[key], key=lambda one: (sum(map(len, one.policies)), repr(one)))
            lines[key] = line
    return Read(lines, twice, refused)


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """The files, and those below folders; hidden ones are not games."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for below in sorted(path.rglob("*")):
            if below.is_file() and not any(part.startswith(".") for part in below.relative_to(path).parts):
                yield below


def content_hash(table: pa.Table) -> str:
    """Of what was read, not of where it lies."""
    return rows_hash(table.select(HASHED))


def shard_key(imported: str, number: int) -> str:
    return params_hash({"imported": imported, "number": number, "schema": SCHEMA_VERSION})


def shard_files(campaign: str, lines: dict[bytes, Line]) -> tuple[str, dict[str, bytes]]:
    """The campaign's content hash and its files.

    The same games are the same bytes, so a game's shard moves when others join it, and with it what the split takes for
    the first games of an orbit: only `dataset.released` keeps orbits on their sides then.
    """
    rows = [_row(campaign, number // PER_SHARD, key, lines[key]) for number, key in enumerate(sorted(lines))]
    table = pa.Table.from_pylist(rows, schema=games_schema())
    imported = content_hash(table)
    files = {}
    for number in range(-(-len(rows) // PER_SHARD)):
        notes = {"key": shard_key(imported, number), "campaign": campaign, "imported": imported}
        part = table.slice(number * PER_SHARD, PER_SHARD)
        files[f"games-{number:05d}.parquet"] = table_bytes(part, "games", notes)
    return imported, files


def _row(campaign: str, shard: int, key: bytes, line: Line) -> Row:
    count = len(line.moves)
    return {
        "game_id": key,
        "campaign": campaign,
        "shard": shard,
        "size": line.size,
        "opening_length": line.opening_length,
        "moves": line.moves,
        "winner": line.winner,
        "ended_by": line.ended_by,
        "swapped": line.swapped,
        "black": line.black,
        "white": line.white,
        "seed": 0,
        "budget": [0] * count,
        "root_value": [0.0] * count,
        "visits": [
            {"cells": [cell for cell, _ in shares], "counts": [share for _, share in shares]}
            for shares in line.policies
        ],
        "sampled": [False] * count,
        "engine_version": 0,
        "net_hash": None,
    }


@dataclass(frozen=True)
class Imported:
    campaign: str
    size: int
    games: int
    twice: int
    refused: list[BadInput]
    sha256: str
    replaced: bool
    """Other games bore this name."""


def import_games(
    campaign: str,
    paths: Iterable[Path],
    data: Path,
    params: Path,
    size: int | None = None,
    skip: bool = False,
    progress: Callable[[int], None] = lambda n: None,
) -> Imported:
    """Make data/games/`campaign` hold exactly the games of these files, and params.yaml name them.

    A game that is refused ends it before anything is touched, unless `skip` leaves it out.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", campaign):
        raise BadInput(f"{campaign!r} is no name for a campaign: expected letters, digits, - and _")
    text = read_text(params)
    known = parse_params(text, params)
    found = read_lines(paths, size, progress)
    if found.refused and not skip:
        more = len(found.refused) - 1
        rest = f"; {more} more like it" if more else ""
        raise BadInput(f"{found.refused[0]} (--skip leaves such games out{rest})")
    sizes = sorted({line.size for line in found.lines.values()})
    if not sizes:
        raise BadInput("no games are left to import" if found.refused else "there are no games in these files")
    if len(sizes) > 1:
        boards = " and ".join(f"{n}x{n}" for n in sizes)
        raise BadInput(f"the games are on boards of {boards}: expected one size; --size N --skip takes those of N")
    folder = data / "games" / campaign
    for path in sorted(folder.glob("*.parquet")):
        if "imported" not in metadata_of(read_table(path)):
            raise BadFile(f"{path}: games of another kind are here: expected another name for imported games")
    imported, files = shard_files(campaign, found.lines)
    changed = with_campaign(text, known, params, campaign, sizes[0], imported)
    write_folder(folder, files)
    write_whole(params, changed.encode())
    replaced = campaign in known.campaigns and changed != text
    return Imported(campaign, sizes[0], len(found.lines), found.twice, found.refused, imported, replaced)


def with_campaign(text: str, known: Params, path: Path, name: str, size: int, imported: str) -> str:
    """params.yaml with this campaign: its new hash where it stands, else a section like that of the nearest size."""
    lines = text.splitlines(keepends=True)
    standing = known.campaigns.get(name)
    if standing is None:
        at = _end_of_campaigns(lines)
        end = "\r\n" if lines[0].endswith("\r\n") else "\n"
        lines[at:at] = [line.replace("\n", end) for line in ("\n", *_section(name, size, imported, known))]
    else:
        if not isinstance(standing.games, ImportedGames):
            raise BadParams(f"{path}: {name} is a campaign of self-play: expected another name for imported games")
        if standing.size != size:
            raise BadParams(f"{path}: campaigns.{name}.size is {standing.size}, but the games are on {size}x{size}")
        start = next(n for n, line in enumerate(lines) if re.match(rf"\s+{re.escape(name)}\s*:", line))
        own = next(n for n in range(start, len(lines)) if standing.games.imported in lines[n])
        lines[own] = lines[own].replace(standing.games.imported, imported)
    changed = "".join(lines)
    try:
        added = parse_params(changed, path).campaigns.get(name)
    except BadParams:
        added = None
    if added is None or added.games != ImportedGames(imported=imported):
        wanted = "".join(_section(name, size, imported, known)).strip()
        raise BadParams(f"{path}: no place for the campaign was found: expected you to add `{wanted}`")
    return changed


def _end_of_campaigns(lines: Sequence[str]) -> int:
    """Below the last campaign, above the remarks on what comes next."""
    start = next((number for number, line in enumerate(lines) if line.startswith("campaigns:")), len(lines))
    end = next((n for n in range(start + 1, len(lines)) if re.match(r"[^\s#]", lines[n])), len(lines))
    while end > start + 1 and re.match(r"#|\s*$", lines[end - 1]):
        end -= 1
    return end


def _section(name: str, size: int, imported: str, known: Params) -> list[str]:
    like = min(known.campaigns.values(), key=lambda campaign: (abs(campaign.size - size), -campaign.size))
    sections = like.model_dump(mode="json", exclude_unset=True, exclude={"size", "games"})
    # versions of that campaign's dataset are none of this one's
    sections["dataset"].pop("released", None)
    for section, stones in (("suite", "min_stones"), ("suite", "max_stones"), ("examples", "prove_from_ply")):
        if stones in sections.get(section, {}):
            sections[section][stones] = sections[section][stones] * size**2 // like.size**2
    dumped = {
        key: yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000).strip()
        for key, value in sections.items()
    }
    return [
        f"  {name}: # games of others, by `hexdata import`\n",
        f"    size: {size}\n",
        f"    games: {{imported: {imported}}}\n",
        *(f"    {key}: {value}\n" for key, value in dumped.items()),
    ]


def check_imported(folder: Path, campaign: str, wanted: Campaign) -> pa.Table:
    """The imported games of a campaign, if they are whole and the ones that params.yaml names."""
    assert isinstance(wanted.games, ImportedGames)
    imported = wanted.games.imported
    again = f"run `hexdata import FILES… --as {campaign}` again, or fetch them with `make pull`"
    paths = sorted(folder.glob("games-*.parquet"))
    if not paths:
        raise BadFile(f"{folder}: the imported games are not here: {again}")
    for number, path in enumerate(paths):
        if path.name != f"games-{number:05d}.parquet" or not is_finished(path, shard_key(imported, number)):
            raise BadFile(f"{path}: not one of the games that params.yaml names as imported: {again}")
    table = read_folder(folder, "games")
    if content_hash(table) != imported:
        raise BadFile(f"{folder}: not all of the games that params.yaml names as imported: {again}")
    return table


# -------------------------------------------------------------------------------------------------------------- export


def games_from(paths: Iterable[Path], size: int | None = None, swaps: bool = True) -> Iterator[Game]:
    """The games of artifacts and of files in any format, to be written in another."""
    for path in files_of(paths):
        if path.suffix == ".parquet":
            table = read_table(path, "games")
            yield from (game_of(row, swaps) for batch in table.to_batches() for row in batch.to_pylist())
            continue
        for game in read_games(path, size):
            if isinstance(game, BadInput):
                raise game
            yield game


def game_of(row: Row, swaps: bool = True) -> Game:
    """A row of games as a record. A swapped game shows its swap, unless the format has none.

    As one of pieces, so that all from there on is the mirror image of the row, with the colours of the players: after a
    swap of sides nobody could tell whose colour a result means.
    """
    size = row["size"]
    swapped = row["swapped"] and swaps
    mirror = cell_map(size, 2 if swapped else 0)
    first: Colour = "white" if swapped else "black"
    colours = (first, other(first))
    moves: list[tuple[Colour, Move]] = [(colours[ply % 2], mirror[cell]) for ply, cell in enumerate(row["moves"])]
    policies = [tuple(sorted((mirror[cell], n) for cell, n in _shares_of(visits))) for visits in row["visits"]]
    if swapped:
        # the first stone was played before the board was mirrored, and offered, not searched for
        moves[:1] = [("black", row["moves"][0]), ("white", "swap-pieces")]
        policies[:1] = [(), ()]
    winner: Colour = other(row["winner"]) if swapped else row["winner"]
    if row["ended_by"] == "resign":
        moves.append((other(winner), "resign"))
        policies.append(())
    how = {"chain": "", "proof": "Proof", "resign": "Resign"}[row["ended_by"]]
    black, white = (row["white"], row["black"]) if swapped else (row["black"], row["white"])
    return Game(
        size,
        moves=tuple(moves),
        result=f"{LETTER_OF[winner]}+{how}",
        info=(("PB", black), ("PW", white)),
        policies=tuple(policies) if any(policies) else (),
    )


def _shares_of(visits: dict[str, list[int]]) -> Shares:
    total = sum(visits["counts"])
    pairs = zip(visits["cells"], visits["counts"], strict=True)
    shares = ((cell, round(n * SHARE_UNITS / total) if total else 0) for cell, n in pairs)
    return tuple(sorted((cell, share) for cell, share in shares if share))
