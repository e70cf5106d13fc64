"""The figures of a campaign, as the stages left them in metrics/: typed, and refused with one sentence if they are not.

The report and the dataset card read the same figures; nothing here computes a new one.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from hexdata.records import BadFile


def _missing_is_nan(value: Any) -> Any:
    return math.nan if value is None or value == "" else value


Count = Annotated[int, Field(ge=0)]
Real = Annotated[float, BeforeValidator(_missing_is_nan)]
"""A mean of nothing is written as null or as an empty field."""


class Figures(BaseModel):
    """Unknown names are let through: a stage may say more than the report shows."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Rate(Figures):
    """A share `hits / of` with its Wilson 95 % interval."""

    hits: Count
    of: Count
    rate: Real
    low: Real
    high: Real


class Mean(Figures):
    """A mean over `of` rows with its normal 95 % interval."""

    mean: Real
    low: Real
    high: Real
    of: Count


class Pairing(Figures):
    """The games of two players with these colours."""

    black: str
    white: str
    games: Count
    black_wins: Count
    plies: Count


class Games(Figures):
    games: Count
    black_wins: Count
    white_wins: Count
    plies: Count
    positions: Count
    ended_by: dict[str, Count]
    pairings: list[Pairing] = []
    """Of a tournament; self-play has none."""


class Coverage(Figures):
    met: Count
    of: Count


class Examples(Figures):
    raw: Count
    forced: Count
    unique: Count
    proved: Count
    openings: dict[str, Coverage]
    """By number of stones: positions up to the half-turn that games met, and how many there are."""


LEAKS = {
    "games": "rows that count games of another split",
    "orbits": "positions in more than one split, up to symmetry",
    "suite": "suite positions in what is learned from (train, validation), up to symmetry",
}
"""What each kind of leak counts; all must be zero."""


class Split(Figures):
    rows: Count
    games: Count


class Dataset(Figures):
    train: Split
    validation: Split
    test: Split
    augmented_rows: Count
    dropped: dict[str, Count]
    suite_dropped: Count
    leaks: dict[str, Count]
    """By the kinds of `LEAKS`."""


class OpeningProofs(Figures):
    black: Count
    white: Count
    unknown: Count
    nodes: Count


class Suite(Figures):
    positions: Count
    proved: Count
    unknown: Count
    wins: Count
    losses: Count
    nodes: Count
    openings: OpeningProofs


class Train(Figures):
    parameters: Count
    epochs: Count
    best_epoch: Count
    train_rows: Count
    validation_rows: Count


class Policy(Figures):
    positions: Count
    uniform_top1: Real
    top1: Rate
    top3: Rate
    top5: Rate
    times_uniform: Real


class HeadError(Figures):
    positions: Count
    sign_right: Rate
    mse: Mean


class Values(Figures):
    suite: HeadError
    test: HeadError


class SuitePolicy(Figures):
    positions: Count
    top1_wins: Rate


class Balance(Figures):
    black_wins: Rate


class Evaluation(Figures):
    policy: Policy
    value: Values
    suite_policy: SuitePolicy
    games: Balance


class Ply(Figures):
    """See `hexdata.examples.Ply`."""

    ply: Count
    raw: Count
    unique: Count
    repeated: Count
    disagreeing: Count
    proved: Count
    policies: Count
    entropy: Real


class AgainstProof(Figures):
    """Games through proved positions with `player` to move, and how many the other side won than the proof says."""

    ply: Count
    player: str
    games: Count
    wrong: Count


class Epoch(Figures):
    epoch: Count
    split: Literal["train", "validation"]
    loss: Real
    policy: Real
    value: Real
    q: Real
    top1: Real


class TopK(Figures):
    k: Annotated[int, Field(ge=1)]
    rate: Real
    low: Real
    high: Real


class Opening(Figures):
    name: str
    row: Count
    column: Count
    games: Count
    black_wins: Count
    rate: Real
    low: Real
    high: Real
    proved: Literal["black", "white", "unknown"]

    @model_validator(mode="after")
    def wins_are_games(self) -> Self:
        if self.black_wins > self.games:
            raise ValueError(f"black_wins is {self.black_wins} of only {self.games} games")
        return self


Kind = TypeVar("Kind", bound=Figures)


def read_json(path: Path, kind: type[Kind]) -> Kind:
    try:
        return kind.model_validate_json(_text(path))
    except ValidationError as error:
        raise BadFile(f"{path}: {_first(error)}") from None


def read_csv(path: Path, kind: type[Kind]) -> list[Kind]:
    rows = []
    for number, row in enumerate(csv.DictReader(io.StringIO(_text(path))), start=1):
        try:
            rows.append(kind.model_validate(row))
        except ValidationError as error:
            raise BadFile(f"{path}: row {number}: {_first(error)}") from None
    return rows


def read_openings(path: Path, size: int) -> list[Opening]:
    """Every first move of the board, once, in the order of the cells."""
    openings = sorted(read_csv(path, Opening), key=lambda opening: (opening.row, opening.column))
    cells = [(opening.row, opening.column) for opening in openings]
    if cells != [(row, column) for row in range(size) for column in range(size)]:
        raise BadFile(f"{path}: expected each of the {size * size} first moves of a {size}x{size} board once")
    return openings


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadFile(f"{path}: no such file; run `make repro` to build it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: not readable ({error})") from None


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{place + ': ' if place else ''}{message[0].lower()}{message[1:]}"
