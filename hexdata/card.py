"""What a stranger reads first: the dataset card (README.md) and its machine-readable twin (croissant.json).

Both are written from the same list of files and the same description of every column, so they cannot disagree.
"""

from __future__ import annotations

import hashlib
import json
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import yaml

from hexdata.label import EASY_NODES, HARD_NODES
from hexdata.params import Campaign, DatasetParams, Filters, GamesParams, ImportedGames
from hexdata.report import figures as fig


@dataclass(frozen=True)
class Configuration:
    """A folder of files of one schema, which `datasets` loads by its name. (Mixed schemas in one folder do not "
    "load.)"""

    name: str
    kind: str
    """The kind of table, as in `hexdata.records`."""
    what: str


CONFIGURATIONS = (
    Configuration("examples", "dataset", "one row per position up to symmetry"),
    Configuration("games", "games", "the games that the examples come from, move by move with the search's visits"),
    Configuration("suites", "suite", "positions with the proved value of every move, for evaluation"),
    Configuration("openings", "openings", "the proved winner after every first move of Black"),
)


@dataclass(frozen=True)
class ReleasedFile:
    path: str
    """Relative to the release."""
    configuration: str
    split: str
    rows: int
    size: int
    sha256: str


@dataclass(frozen=True)
class Release:
    """Everything that the card says. Nothing in it depends on the network: data do not change when a model does."""

    campaign: str
    params: Campaign
    params_sha256: str
    engine_version: int
    schema_version: int
    files: Sequence[ReleasedFile]
    schemas: dict[str, pa.Schema]
    """By configuration."""
    games: fig.Games
    examples: fig.Examples
    dataset: fig.Dataset
    suite: fig.Suite
    black_wins: fig.Rate

    @property
    def title(self) -> str:
        size = self.params.size
        return f"hexdata {self.campaign}: Hex {size}x{size} games, examples and proved positions"

    @property
    def description(self) -> str:
        games = self.params.games
        if isinstance(games, ImportedGames):
            who = "played by others and imported"
        else:
            who = f"played by programs ({', '.join(games.players)})"
        return (
            f"{self.games.games:,} games of Hex on a {self.params.size}x{self.params.size} board, {who}; "
            f"{self.examples.unique:,} positions that are unique up to symmetry, {self.dealt}; "
            f"{self.suite.proved:,} positions whose winner is proved."
        )

    @property
    def dealt(self) -> str:
        return "split without leaks" if self.params.dataset.split == "games" else "split at random, with leaks"

    def what(self, configuration: Configuration) -> str:
        return f"{configuration.what}, {self.dealt}" if configuration.name == "examples" else configuration.what

    def of(self, configuration: str) -> list[ReleasedFile]:
        return [file for file in self.files if file.configuration == configuration]

    def content_hash(self, configuration: str) -> str:
        """A hash of the configuration's files, names and bytes."""
        lines = "".join(f"{file.sha256}  {file.path}\n" for file in self.of(configuration))
        return hashlib.sha256(lines.encode()).hexdigest()

    def splits(self, configuration: str) -> list[str]:
        return list(dict.fromkeys(file.split for file in self.of(configuration)))


LICENSE = "mit"
LICENSE_URL = "https://spdx.org/licenses/MIT"
CREATOR = "The hexdata authors"

_POSITION = {
    "key": "Orbit key: a 128-bit hash that the four symmetric images of a position share",
    "size": "Cells along one side of the board",
    "black": "Black stones, one bit a cell: cell c is bit c % 8 of byte c // 8; c = row * size + column",
    "white": "White stones, packed in the same way",
    "to_move": "Side to move, `black` or `white`",
    "ply": "Number of stones on the board",
}

COLUMNS: dict[str, dict[str, str]] = {
    "examples": {
        **_POSITION,
        "plies_left_sum": "Moves from here to the end, this one included, summed over `games`",
        "policy_cells": "Cells that the search visited here",
        "policy_visits": "Visits of each of `policy_cells`, summed over all searches; divide by their sum for a policy",
        "played_cells": "Moves that were played here",
        "played_counts": "How often each of `played_cells` was played",
        "z_sum": "Wins minus losses of the side to move; divide by `z_count` for its mean result",
        "z_count": "Number of results in `z_sum`",
        "games": "Number of games that came through this position",
        "sampled_count": "How often the move was drawn from the visits instead of being the most visited one",
        "proved": "+1 if the side to move is proved to win, -1 if it is proved to lose, else null",
        "weight": "Suggested weight of the row in training",
    },
    "games": {
        "game_id": "Hash of the moves and of what made them",
        "campaign": "Campaign that the game belongs to",
        "shard": "Shard that the game was made in",
        "size": "Cells along one side of the board",
        "opening_length": "How many of the first moves were given, not searched",
        "moves": "All moves as cells (row * size + column), Black first",
        "winner": "`black` or `white`",
        "ended_by": "`chain` (the sides were joined), `proof` or `resign`",
        "swapped": "Whether the swap rule was used",
        "black": "Player of the black stones",
        "white": "Player of the white stones",
        "seed": "Seed of the game: with the players and the opening it gives the same game again; 0 of imported games",
        "budget": "Playouts that the search was given, per move; 0 where the move was given",
        "root_value": "The search's own estimate from -1 to 1, per move, for the side that makes it",
        "visits": "Visits of the search at its root, per move: cells and counts; shares of 10,000 in imported games",
        "visits.cells": "Cells that were visited",
        "visits.counts": "Visits of each of them",
        "sampled": "Whether the move was drawn from the visits instead of being the most visited one, per move",
        "engine_version": "Version of the engine that played, 0 of imported games",
        "net_hash": "Hash of the network that played, null if none did",
    },
    "suites": {
        **_POSITION,
        "value": "+1 if the side to move wins with perfect play, -1 if it loses, null if the budget ran out",
        "winning_moves": "Moves that are proved to win",
        "losing_moves": "Moves that are proved to lose",
        "unknown_moves": "Moves without a proof",
        "nodes": "Nodes that the solver searched for this row",
        "difficulty": f"`easy` below {EASY_NODES:,} nodes, `medium` below {HARD_NODES:,}, else `hard`; or `unknown`",
        "source": "Where the position comes from: `random` stones",
    },
    "openings": {
        "size": "Cells along one side of the board",
        "cell": "First move of Black (row * size + column)",
        "winner": "Who wins after it with perfect play: `black`, `white`, or `unknown` if the budget ran out",
        "nodes": "Nodes that the solver searched for this row",
    },
}


def card(release: Release) -> str:
    return "\n".join(
        [
            "---",
            yaml.safe_dump(_front_matter(release), sort_keys=False, allow_unicode=True, width=100).rstrip(),
            "---",
            "",
            f"# {release.title}",
            "",
            *_paragraph(release.description),
            *_paragraph(
                "Hex is played on a rhombus of hexagons. Black moves first and joins the top to the bottom, White "
                "joins the left to the right; one of them always does. `a1` is the top-left cell, the letter is the "
                "column, the number the row."
            ),
            *_load(release),
            *_contents(release),
            *_columns(release),
            *_made(release),
            *_statistics(release),
            *_splits(release),
            *_limits(release),
            *_cite(release),
        ]
    )


def _front_matter(release: Release) -> dict[str, object]:
    configs: list[dict[str, object]] = []
    for configuration in CONFIGURATIONS:
        name = configuration.name
        files = [{"split": split, "path": f"data/{name}/{split}-*.parquet"} for split in release.splits(name)]
        # `datasets` 5.2 keys its cache of a local folder by the folder's name and this front matter, not by the data:
        # without a hash in it a rebuilt release would load as the old one
        described = f"{release.what(configuration)}; SHA-256 {release.content_hash(name)}"
        default = {"default": True} if not configs else {}
        configs.append({"config_name": name, **default, "description": described, "data_files": files})
    return {
        "pretty_name": release.title,
        "license": LICENSE,
        "tags": ["hex", "board-games", "self-play", "reinforcement-learning", "game-solving"],
        "size_categories": [size_category(sum(file.rows for file in release.of("examples")))],
        "configs": configs,
    }


def size_category(rows: int) -> str:
    """Hugging Face's name for a number of rows."""
    names = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")
    for power, (low, high) in enumerate(zip(("", *names[:-1]), names, strict=True), start=3):
        if rows < 10**power:
            return f"{low}<n<{high}" if low else f"n<{high}"
    return "n>1T"


def _load(release: Release) -> list[str]:
    size = release.params.size
    return [
        "## Load it",
        "",
        "```python",
        "import numpy as np",
        "from datasets import load_dataset",
        'examples = load_dataset("path/to/this/folder", "examples", split="train")',
        "row = examples[0]",
        f'black = np.unpackbits(np.frombuffer(row["black"], np.uint8), count={size * size}, bitorder="little")'
        f".reshape({size}, {size})",
        "```",
        "",
        "or without `datasets`:",
        "",
        "```python",
        "import pandas as pd",
        "import pyarrow.parquet as pq",
        'table = pq.read_table("data/examples", filters=[("ply", ">=", 4)])  # pyarrow: all splits as one table',
        f'suite = pd.read_parquet("{release.of("suites")[0].path}")  # pandas',
        "```",
        "",
        "`sha256sum -c SHA256SUMS` checks that every byte arrived.",
        "",
    ]


def _contents(release: Release) -> list[str]:
    lines = ["## What is in it", "", "| configuration | split | rows | files | bytes |", "|---|---|---:|---:|---:|"]
    for configuration in CONFIGURATIONS:
        for split in release.splits(configuration.name):
            files = [file for file in release.of(configuration.name) if file.split == split]
            rows, size = sum(file.rows for file in files), sum(file.size for file in files)
            lines.append(f"| `{configuration.name}` | {split} | {rows:,} | {len(files):,} | {size:,} |")
    lines.append("")
    for configuration in CONFIGURATIONS:
        lines += _item(f"`{configuration.name}`: {release.what(configuration)}.")
    lines += _item(
        "`croissant.json` says the same to programs (Croissant 1.0); `provenance.json` has the parameters and the "
        "hash of every file that each step made."
    )
    return [*lines, ""]


def _columns(release: Release) -> list[str]:
    lines = ["## Columns", "", "Values are +1 for a win and -1 for a loss; the table says whose.", ""]
    for configuration in CONFIGURATIONS:
        lines += [f"### {configuration.name}", "", "| column | type | whose value | meaning |", "|---|---|---|---|"]
        for field in release.schemas[configuration.name]:
            meaning = COLUMNS[configuration.name][field.name]
            kind = type_name(field.type) + (" or null" if field.nullable else "")
            lines.append(f"| `{field.name}` | {kind} | {_whose(field)} | {meaning} |")
        lines.append("")
    return lines


def _whose(field: pa.Field) -> str:
    return str((field.metadata or {}).get(b"value_for", b"").decode())


def type_name(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {type_name(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "(" + ", ".join(f"{field.name}: {type_name(field.type)}" for field in kind) + ")"
    if pa.types.is_fixed_size_binary(kind):
        return f"{kind.byte_width} bytes"
    return str(kind)


def _made(release: Release) -> list[str]:
    suite, dataset, proofs = release.params.suite, release.params.dataset, release.params.examples
    solved = (
        f" Those with at least {proofs.prove_from_ply} stones were solved within {proofs.prove_limit_nodes:,} nodes "
        "each: `proved` holds what that proved."
        if proofs.prove_limit_nodes
        else " None of them was solved: `proved` is null."
    )
    steps = [
        f"**Games**: {_games_made(release.params.games)}",
        "**Examples**: every position before a searched move. Its four symmetric images (half-turn; transpose with "
        "colours swapped) become one row, which sums what all games say of it and stores the image in which Black "
        f"moved first.{solved}",
        f"**Splits**: {_split_made(dataset)}",
        *([f"**Filters**: only positions {'; '.join(kept)}."] if (kept := _kept(dataset.filters)) else []),
        f"**Suite**: {suite.positions} random positions of {suite.min_stones} to {suite.max_stones} stones, undecided "
        f"and distinct, solved by proof-number search within {suite.limit_nodes:,} nodes each. A proof that did not "
        "end is null, never a guess.",
    ]
    return [
        "## How it was made",
        "",
        *(line for number, step in enumerate(steps, start=1) for line in _item(step, f"{number}.")),
        "",
        *_paragraph(
            f"Engine version {release.engine_version}, schema version {release.schema_version}, parameters "
            f"`{release.params_sha256}`. The same parameters give the same bytes on any machine."
        ),
    ]


def _split_made(dataset: DatasetParams) -> str:
    shares = f"test ({dataset.test:g}), validation ({dataset.validation:g}) or train"
    if dataset.split == "pairs":
        return (
            f"every distinct pair of a position and a move goes to {shares} at random, as in gao-2020. Positions of "
            "one game, and images of one position, are in several splits."
        )
    return (
        f"a game goes to {shares} by a hash of its moves. A position that games of several splits share belongs to the "
        "split of the first shard that met it, and counts only that split's games."
    )


def _kept(filters: Filters) -> list[str]:
    """What the filters ask of a position, those that ask for anything."""
    default = Filters()
    asked = {
        "winner_moves": "before a move of the side that won the game",
        "without_connection": "in which no side has a winning virtual connection yet",
        "min_games": f"that at least {filters.min_games:,} games of the split met",
        "min_visits": f"with at least {filters.min_visits:,} visits",
        "min_ply": f"of at least {filters.min_ply} stones",
        "max_ply": f"of at most {filters.max_ply} stones",
    }
    return [words for name, words in asked.items() if getattr(filters, name) != getattr(default, name)]


def _games_made(games: GamesParams | ImportedGames) -> str:
    if isinstance(games, ImportedGames):
        return (
            f"imported from other programs and players; the hash of all of them is `{games.imported}`. A swapped "
            "first stone counts as given; games that were lost by time or forfeit are left out."
        )
    dither = (
        f"The first {games.dither_moves} searched moves are drawn from the visit counts at temperature "
        f"{games.temperature:g}, later ones are the most visited."
        if games.dither_moves
        else "Every searched move is the most visited one."
    )
    who = "both sides " if len(games.players) == 1 else "each with both colours against each of the others: "
    who += ", ".join(f"`{player}`" for player in games.players)
    end = f" A game ends once the solver decides it within {games.end_nodes:,} nodes." if games.end_nodes else ""
    return (
        f"{games.shards} shards of {games.per_shard} games, {who}, openings `{games.openings}`, seed {games.seed}. "
        f"{dither}{end}"
    )


def _statistics(release: Release) -> list[str]:
    games, examples, suite, black = release.games, release.examples, release.suite, release.black_wins
    length = f"{games.plies / games.games:.1f}" if games.games else "-"
    won = f"{100 * black.rate:.1f} % | {100 * black.low:.1f} to {100 * black.high:.1f} %"
    openings = f"{suite.openings.black:,} / {suite.openings.white:,} / {suite.openings.unknown:,}"
    words = "Everything is a count except the share, which has its Wilson interval."
    if release.params.games.openings != "empty":
        words += (
            " Openings are spread over the board, good and bad ones alike, so the share is not the strength of "
            "moving first."
        )
    return [
        "## Statistics",
        "",
        "| figure | value | 95 % interval |",
        "|---|---:|---:|",
        f"| games | {games.games:,} | |",
        f"| moves a game, mean | {length} | |",
        f"| games that Black won | {won} |",
        f"| positions, raw | {examples.raw:,} | |",
        f"| positions, unique up to symmetry | {examples.unique:,} | |",
        f"| suite positions proved | {suite.proved:,} of {suite.positions:,} | |",
        f"| of these, won / lost by the side to move | {suite.wins:,} / {suite.losses:,} | |",
        f"| first moves after which Black wins / White wins / unknown | {openings} | |",
        "",
        *_paragraph(words),
    ]


def _splits(release: Release) -> list[str]:
    data = release.dataset
    lines = ["## Splits and leaks", "", "| split | rows | games |", "|---|---:|---:|"]
    for name, part in (("train", data.train), ("validation", data.validation), ("test", data.test)):
        games = f"{part.games:,}" if release.params.dataset.split == "games" else "of all splits"
        lines.append(f"| {name} | {part.rows:,} | {games} |")
    lines += ["", "| leak | found |", "|---|---:|"]
    lines += [f"| {fig.LEAKS.get(kind, kind)} | {found:,} |" for kind, found in sorted(data.leaks.items())]
    if release.params.dataset.split == "pairs":
        words = (
            "Pairs of a position and a move were dealt at random, and nothing was left out: what is learned from "
            "shares positions and games with what it is tested on, as the table counts."
        )
        return [*lines, "", *_paragraph(words)]
    grown = (
        "a later version with more games keeps it there if its `dataset.released` names this one."
        if isinstance(release.params.games, ImportedGames)
        else "later versions with more shards never move it."
    )
    if release.params.dataset.released:
        grown += " Positions of earlier versions have kept their splits."
    return [
        *lines,
        "",
        *_paragraph(
            "A position that games of several splits share belongs to the split of the first shard that met it (test "
            f"before validation before train within that shard): {grown} To get "
            f"there, {data.dropped.get('train', 0):,} training rows, {data.dropped.get('validation', 0):,} "
            f"validation rows and {data.dropped.get('test', 0):,} test rows were left out because another split has "
            f"their position, and {data.suite_dropped:,} rows because the suite has it. The suite may share positions "
            "with the test split: nothing learns from either."
        ),
    ]


def _limits(release: Release) -> list[str]:
    size = release.params.size
    imported = isinstance(release.params.games, ImportedGames)
    players = "people and programs of all strengths" if imported else "programs"
    rules = "swapped games are told without their swap" if imported else "no swap rule in play"
    limits = [
        f"The players are {players}: their moves and results are evidence, not truth. Only `value`, `proved`, the "
        "lists of winning and losing moves and the openings' `winner` are proved.",
        f"One board size, {size}x{size}, and {rules}; the openings decide what is seen.",
        "Suite positions are random stones, not positions from games; the ones that the solver could not finish "
        "within its budget have no value, and these are the hardest.",
        "Rows of one game are not independent: intervals over rows are a little too narrow.",
    ]
    return ["## Limits", "", *(line for limit in limits for line in _item(limit)), ""]


def _paragraph(words: str) -> list[str]:
    return [*textwrap.wrap(words, 120, break_long_words=False, break_on_hyphens=False), ""]


def _item(words: str, mark: str = "-") -> list[str]:
    indent = " " * (len(mark) + 1)
    text = f"{mark} {words}"
    return textwrap.wrap(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _cite(release: Release) -> list[str]:
    return ["## Cite", "", "```bibtex", *citation(release).splitlines(), "```", ""]


def citation(release: Release) -> str:
    return (
        f"@misc{{hexdata-{release.campaign},\n  author = {{{{{CREATOR}}}}},\n  title = {{{{{release.title}}}}},\n"
        f"  note = {{Parameters {release.params_sha256[:16]}, engine {release.engine_version}, "
        f"schema {release.schema_version}}}\n}}"
    )


def croissant(release: Release) -> str:
    """Croissant 1.0 JSON-LD. `datePublished` and `version` belong to publishing; this content has neither."""
    distribution: list[dict[str, object]] = []
    record_sets: list[dict[str, object]] = []
    for configuration in CONFIGURATIONS:
        name = configuration.name
        distribution += [
            {
                "@type": "cr:FileObject",
                "@id": file.path,
                "name": file.path,
                "description": f"{file.rows} rows of {name}, {file.split} split",
                "contentUrl": file.path,
                "contentSize": f"{file.size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": file.sha256,
            }
            for file in release.of(name)
        ]
        distribution.append(
            {
                "@type": "cr:FileSet",
                "@id": f"{name}-files",
                "name": f"{name}-files",
                "description": f"All files of {name}",
                "encodingFormat": "application/x-parquet",
                "includes": f"data/{name}/*.parquet",
            }
        )
        what = release.what(configuration)
        record_sets.append(
            {
                "@type": "cr:RecordSet",
                "@id": name,
                "name": name,
                "description": what[0].upper() + what[1:],
                "field": list(_fields(name, release.schemas[name])),
            }
        )
    document = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"hexdata-{release.campaign}",
        "description": release.description,
        "license": LICENSE_URL,
        "creator": {"@type": "sc:Organization", "name": CREATOR},
        "keywords": ["Hex", "board games", "self-play", "solved positions"],
        "citeAs": citation(release),
        "distribution": distribution,
        "recordSet": record_sets,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _fields(name: str, schema: pa.Schema) -> Iterable[dict[str, object]]:
    for field in schema:
        described = _described(f"{name}/{field.name}", field, COLUMNS[name][field.name])
        inner = field.type.value_type if pa.types.is_list(field.type) else field.type
        repeated = {"repeated": True} if pa.types.is_list(field.type) else {}
        source = {"fileSet": {"@id": f"{name}-files"}, "extract": {"column": field.name}}
        if not pa.types.is_struct(inner):
            yield {**described, "dataType": data_type(inner), **repeated, "source": source}
            continue
        parts = []
        for part in inner:
            partly = _described(f"{name}/{field.name}/{part.name}", part, COLUMNS[name][f"{field.name}.{part.name}"])
            kind = part.type.value_type if pa.types.is_list(part.type) else part.type
            many = {"repeated": True} if pa.types.is_list(part.type) else {}
            chosen = {**source, "transform": {"jsonPath": part.name}}
            parts.append({**partly, "dataType": data_type(kind), **many, "source": chosen})
        yield {**described, **repeated, "subField": parts}


def _described(identity: str, field: pa.Field, meaning: str) -> dict[str, object]:
    whose = f" (value for the {_whose(field)})" if _whose(field) else ""
    return {"@type": "cr:Field", "@id": identity, "name": identity, "description": meaning + whose}


def data_type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    if pa.types.is_integer(kind):
        return "sc:Integer"
    if pa.types.is_floating(kind):
        return "sc:Float"
    return "sc:Text"  # Croissant 1.0 has no type for bytes and reads Text as bytes


CONTEXT: dict[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that the Croissant 1.0 specification gives, which its readers expect word for word."""
