"""params.yaml as one typed model: unknown names, wrong types and impossible values are refused before anything runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import available_timezones

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from hexdata.board import MAX_SIZE, MIN_SIZE
from hexdata.cluster import Workers, parse_workers
from hexdata.errors import BadInput
from hexdata.openings import parse_scheme

Count = Annotated[int, Field(gt=0, lt=2**63, strict=True)]
Natural = Annotated[int, Field(ge=0, lt=2**63, strict=True)]
Seed = Annotated[int, Field(ge=0, lt=2**63, strict=True)]
Share = Annotated[float, Field(ge=0, lt=1)]


def _known_scheme(text: str) -> str:
    parse_scheme(text)
    return text


class BadParams(BadInput):
    """params.yaml does not say what it must; the message names the parameter and what was expected."""


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class GamesParams(Model):
    shards: Count
    """The only number of a campaign that may grow without remaking what exists."""
    per_shard: Count
    player: str | Annotated[tuple[str, ...], Field(min_length=2)]
    """One plays itself; of several, each plays each with both colours from every opening."""
    openings: Annotated[str, AfterValidator(_known_scheme)]
    """A scheme of `hexdata.openings`."""
    dither_moves: Annotated[int, Field(ge=0, lt=2**31, strict=True)]
    """The first n searched moves of a game are drawn from the visit counts."""
    temperature: Annotated[float, Field(gt=0)]
    seed: Seed
    end_nodes: Natural = 0
    """Before each move the solver may spend this many nodes; what it decides ends there. 0: play until a chain."""

    @property
    def players(self) -> tuple[str, ...]:
        return (self.player,) if isinstance(self.player, str) else self.player

    @model_validator(mode="after")
    def players_differ(self) -> Self:
        if len(set(self.players)) < len(self.players):
            raise ValueError("player names one of them twice")
        return self


class ImportedGames(Model):
    """Games that others played: there is nothing to make, `hexdata import` has put them there."""

    imported: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """Which ones: the hash of all of them."""

    @property
    def openings(self) -> str:
        """From the empty board: the first moves are the players' own."""
        return "empty"


def _kind_of_games(section: Any) -> str:
    is_imported = isinstance(section, ImportedGames) or (isinstance(section, dict) and "imported" in section)
    return "<imported>" if is_imported else "<played>"


class ExamplesParams(Model):
    prove_from_ply: Natural = 0
    """Positions with at least so many stones are solved."""
    prove_limit_nodes: Natural = 0
    """Per position; what is not proved within it keeps its games' results alone. 0: nothing is solved."""


class Filters(Model):
    """Which positions a dataset is made of; the defaults keep all."""

    winner_moves: bool = False
    """Only positions before a move of the side that won the game (takada-2019)."""
    without_connection: bool = False
    """Without positions in which a side already has a winning virtual connection (takada-2019)."""
    min_games: Count = 1
    min_visits: Natural = 0
    min_ply: Natural = 0
    max_ply: Natural = MAX_SIZE**2

    @model_validator(mode="after")
    def range_of_plies(self) -> Self:
        if self.min_ply > self.max_ply:
            raise ValueError("min_ply must not exceed max_ply")
        return self


class DatasetParams(Model):
    validation: Share
    test: Share
    split: Literal["games", "pairs"] = "games"
    """`games` is free of leaks; `pairs` deals (position, move) pairs at random, as the theses did, and leaks."""
    filters: Filters = Filters()
    augment: Literal["rotation", "all", "minority"]
    """The symmetries of the augmented copy: the half-turn, all four maps, or the half-turn of the games that the colour
    with fewer wins has won (hort-2019)."""
    rows_per_file: Count
    released: tuple[str, ...] = ()
    """Folders of earlier versions of this dataset, oldest first: orbits keep the side that they have there."""

    @model_validator(mode="after")
    def leave_some_for_training(self) -> Self:
        if self.validation + self.test >= 1:
            raise ValueError("validation and test must leave something for training")
        return self


class SuiteParams(Model):
    positions: Count
    min_stones: Natural
    max_stones: Natural
    limit_nodes: Count
    """Per position; what is not proved within it is unknown."""
    opening_limit_nodes: Count
    shards: Count
    seed: Seed

    @model_validator(mode="after")
    def range_of_stones(self) -> Self:
        if self.min_stones > self.max_stones:
            raise ValueError("min_stones must not exceed max_stones")
        return self


class TrainParams(Model):
    blocks: Count
    filters: Count
    epochs: Count
    batch: Count
    learning_rate: Annotated[float, Field(gt=0)]
    value_weight: Annotated[float, Field(ge=0)]
    """w of gao-2020 eq. 4.5."""
    weight_decay: Annotated[float, Field(ge=0)]
    """c of gao-2020 eq. 4.5."""
    threads: Count
    """Part of the result: the order of floating-point sums depends on it."""
    seed: Seed
    source: Literal["dataset", "augmented"] = "dataset"
    """What the network learns from: rows of the dataset, each turned by 180 degrees half of the time, or the written
    copies of data/augmented as they are."""


class PatternsParams(Model):
    """How the engine's pattern weights are learned, from games of their own."""

    size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE, strict=True)]
    games: GamesParams
    min_count: Count
    """A twelve-cell pattern that appears less often counts as its six-cell pattern."""
    prior: Annotated[float, Field(gt=0)]
    """Games that every pattern wins and loses against a strength of 1."""
    passes: Count
    cap: Annotated[float, Field(gt=0, le=1)]
    """The share of far moves in playouts that are weaker than the cap of their strength."""


class Campaign(Model):
    size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE, strict=True)]
    games: Annotated[
        Annotated[GamesParams, Tag("<played>")] | Annotated[ImportedGames, Tag("<imported>")],
        Discriminator(_kind_of_games),
    ]
    examples: ExamplesParams = ExamplesParams()
    """DVC does not know this default: a campaign says `{}`."""
    dataset: DatasetParams
    suite: SuiteParams
    train: TrainParams

    @model_validator(mode="after")
    def examples_are_there(self) -> Self:
        if "examples" not in self.model_fields_set:
            raise ValueError("examples are missing: expected `examples: {}` at least, which DVC looks for")
        return self

    @model_validator(mode="after")
    def stones_fit(self) -> Self:
        if self.suite.max_stones >= self.size**2:
            raise ValueError(f"suite.max_stones must be less than the {self.size**2} cells of the board")
        return self


class NotifyParams(Model):
    after: list[Literal["completed", "failed", "crashed", "cancelled"]] = ["failed", "crashed"]
    blocks: list[str] = []
    """Notification blocks of the Prefect server, such as slack-webhook/team: addresses and secrets stay there."""


def check_place(cluster: str | None, workers: int | str | None) -> Workers | None:
    """How many workers are meant, if this cluster starts any."""
    if workers is None:
        return None
    crew = parse_workers(str(workers))
    if cluster is not None and "://" in cluster:
        raise BadInput(f"{cluster} has workers of its own: expected no --workers with an address")
    return crew


_CLUSTER = re.compile(r"local|slurm|pbs|ssh:.+|.+://.+")
_NO_BRANCH = re.compile(r"^$|^HEAD$|^[-/]|(^|/)\.|//|\.\.|@\{|\.lock(/|$)|[/.]$|[\0-\x20~^:?*\[\\\x7f]")
"""What `git check-ref-format --branch` refuses."""


class ScheduleParams(Model):
    """When the active campaigns are extended, by how much, and where."""

    cron: str = "0 2 * * *"
    timezone: str = "UTC"
    shards: Count = 1
    """More for every active campaign in a run."""
    until: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$", strict=True)] | None = None
    """And as many again, and again, until clocks show this time, such as "06:30"; without it once."""
    overlap: Literal["queue", "refuse"] = "queue"
    """What becomes of a run whose time comes while another is at work; never do two write at once."""
    workers: Count | str | None = None
    """Processes that play, such as 4 or 2-16; without it one a core."""
    cluster: str | None = None
    """What `--cluster` of the games says; without it this machine."""
    branch: str = "nightly"
    worktree: Path = Path("../hexdata-nightly")
    """Beside the repository, and for the schedule alone."""
    push: bool = True
    """To the default DVC remote."""
    notify: NotifyParams = NotifyParams()

    @model_validator(mode="after")
    def zone_exists(self) -> Self:
        if self.timezone not in available_timezones():
            raise ValueError(f"timezone {self.timezone!r}: expected a name such as UTC or Europe/Amsterdam")
        return self

    @model_validator(mode="after")
    def place_exists(self) -> Self:
        if self.cluster and not _CLUSTER.fullmatch(self.cluster):
            raise ValueError(f"cluster {self.cluster!r}: expected local, tcp://…, tls://…, slurm, pbs or ssh:HOST,HOST")
        check_place(self.cluster, self.workers or None)
        return self

    @model_validator(mode="after")
    def branch_is_a_name(self) -> Self:
        if _NO_BRANCH.search(self.branch):
            raise ValueError(f"branch {self.branch!r}: expected a name that git takes for a branch")
        return self


class Params(Model):
    active: Annotated[list[str], Field(min_length=1)]
    campaigns: dict[str, Campaign]
    patterns: PatternsParams | None = None
    schedule: ScheduleParams = ScheduleParams()

    @model_validator(mode="after")
    def active_exist(self) -> Self:
        for name in self.active:
            if name not in self.campaigns:
                known = ", ".join(self.campaigns)
                raise ValueError(f"active names {name!r}, which is no campaign: expected some of {known}")
        if len(set(self.active)) < len(self.active):
            raise ValueError("active names a campaign twice")
        return self


def read_params(path: Path = Path("params.yaml")) -> Params:
    return parse_params(read_text(path), path)


def read_text(path: Path) -> str:
    """Every character, so that whoever writes it back leaves the line ends as they are."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise BadParams(f"{path}: no such file; run from the folder that holds params.yaml") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadParams(f"{path}: not a readable text in UTF-8 ({error})") from None


class _Loader(yaml.SafeLoader):
    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """YAML itself keeps the last of several values without a word."""
        node = super().compose_mapping_node(anchor)
        keys: set[Any] = set()
        for key, _ in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else key
            if name in keys:
                raise _GivenTwice(f"line {key.start_mark.line + 1}: {name} is given twice")
            keys.add(name)
        return node


class _GivenTwice(Exception):
    pass


def parse_params(text: str, path: Path) -> Params:
    """The params that a text holds; errors name the path that it came from or goes to."""
    try:
        raw = yaml.load(text, _Loader)
    except _GivenTwice as error:
        raise BadParams(f"{path}: {error}") from None
    except (yaml.YAMLError, ValueError) as error:  # a ValueError comes of dates that are none
        raise BadParams(f"{path}: not YAML ({' '.join(str(error).split())})") from None
    try:
        return Params.model_validate(raw)
    except ValidationError as error:
        # a mistyped name shows as one extra and one missing parameter: the extra one is what the user wrote
        first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        place = ".".join(str(part) for part in first["loc"] if part not in ("<played>", "<imported>"))
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            raise BadParams(f"{path}: {place}: there is no parameter of this name") from None
        given = "" if isinstance(first["input"], dict) else f", not {first['input']!r}"
        raise BadParams(f"{path}: {place + ': ' if place else ''}{message[0].lower()}{message[1:]}{given}") from None


def read_campaign(name: str, path: Path = Path("params.yaml")) -> Campaign:
    params = read_params(path)
    if name not in params.campaigns:
        raise BadParams(f"{path}: no campaign {name!r}: expected one of {', '.join(params.campaigns)}")
    return params.campaigns[name]


def read_patterns(path: Path = Path("params.yaml")) -> PatternsParams:
    found = read_params(path).patterns
    if found is None:
        raise BadParams(f"{path}: patterns: missing; expected what the engine's weights are learned from")
    return found
