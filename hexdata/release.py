"""Release content: the files of a campaign under the names that strangers' programs load, with a card and checksums.

The content has no version and no date; publishing adds both. Everything is made in a folder beside the release and
moved in file by file, so that a failure leaves the last release as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hexdata.card import CONFIGURATIONS, Release, ReleasedFile, card, croissant
from hexdata.engine import ENGINE_VERSION
from hexdata.evaluate import rate
from hexdata.params import BadParams, read_campaign
from hexdata.records import SCHEMA_VERSION, BadFile, params_hash, remove_others, schema_for
from hexdata.report import figures as fig

SPLITS = ("train", "validation", "test")
CHUNK = 1 << 20


def build_release(
    campaign: str, size: int, data: Path, metrics: Path, out: Path, params: Path = Path("params.yaml")
) -> None:
    """Fill `out` from data/{games,dataset,suites}/`campaign` and metrics/`campaign`."""
    wanted = read_campaign(campaign, params)
    if wanted.size != size:
        raise BadParams(f"{params}: campaigns.{campaign}.size is {wanted.size}, not {size} as the release needs")
    sources = find_sources(campaign, data)
    schemas = {configuration.name: schema_for(configuration.kind, size) for configuration in CONFIGURATIONS}
    kinds = {configuration.name: configuration.kind for configuration in CONFIGURATIONS}
    rows = {}
    for target, source in sources.items():
        name = _configuration(target)
        rows[target] = check(source, kinds[name], schemas[name])
    read = metrics / campaign
    games = fig.read_json(read / "games.json", fig.Games)
    positions = fig.read_json(read / "examples.json", fig.Examples)
    dataset = fig.read_json(read / "dataset.json", fig.Dataset)
    suite = fig.read_json(read / "suite.json", fig.Suite)

    with staging(out) as stage:
        sums = {target: copy(source, stage / target) for target, source in sources.items()}
        files = [
            ReleasedFile(
                path=target,
                configuration=_configuration(target),
                split=Path(target).name.split("-")[0],
                rows=rows[target],
                size=(stage / target).stat().st_size,
                sha256=sums[target],
            )
            for target in sources
        ]
        # without train: a release must not change because a network did
        section = wanted.model_dump(mode="json", exclude={"train"})
        release = Release(
            campaign=campaign,
            params=wanted,
            params_sha256=params_hash(section),
            engine_version=ENGINE_VERSION,
            schema_version=SCHEMA_VERSION,
            files=files,
            schemas=schemas,
            games=games,
            examples=positions,
            dataset=dataset,
            suite=suite,
            black_wins=fig.Rate.model_validate(rate(games.black_wins, games.games)),
        )
        made = {source.relative_to(data).as_posix(): sums[target] for target, source in sources.items()}
        texts = {
            "README.md": card(release),
            "croissant.json": croissant(release),
            "provenance.json": json.dumps(provenance(release, section, made), indent=2) + "\n",
        }
        for name, content in texts.items():
            (stage / name).write_bytes(content.encode())
            sums[name] = hashlib.sha256(content.encode()).hexdigest()
        (stage / "SHA256SUMS").write_bytes("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode())
        move_in(stage, out)


def find_sources(campaign: str, data: Path) -> dict[str, Path]:
    """Where each released data file comes from, in the order of the card."""
    sources: dict[str, Path] = {}
    dataset = data / "dataset" / campaign
    for split in SPLITS:
        paths = sorted(dataset.glob(f"{split}-*.parquet"))
        names = [f"{split}-{index:05}-of-{len(paths):05}.parquet" for index in range(len(paths))]
        if [path.name for path in paths] != names:
            found = ", ".join(path.name for path in paths)
            raise BadFile(f"{dataset}: the files of {split} are not one whole set of {len(paths)}: found {found}")
        sources |= {f"data/examples/{path.name}": path for path in paths}
    if not any(name.startswith("data/examples/train-") for name in sources):
        raise BadFile(f"{dataset}: no train-*.parquet files here; run `make repro` to build them")
    shards = sorted((data / "games" / campaign).glob("games-*.parquet"))
    if not shards:
        raise BadFile(f"{data / 'games' / campaign}: no games-*.parquet files here; run `make repro` to build them")
    for index, path in enumerate(shards):
        sources[f"data/games/train-{index:05}-of-{len(shards):05}.parquet"] = path
    suites = data / "suites" / campaign
    sources["data/suites/test-00000-of-00001.parquet"] = suites / "suite.parquet"
    sources["data/openings/test-00000-of-00001.parquet"] = suites / "openings.parquet"
    return sources


def _configuration(target: str) -> str:
    return target.split("/")[1]


def check(path: Path, kind: str, schema: pa.Schema) -> int:
    """The number of rows of a file that has the schema it should have."""
    try:
        with pq.ParquetFile(path) as file:
            found, rows = file.schema_arrow, file.metadata.num_rows
    except FileNotFoundError:
        raise BadFile(f"{path}: no such file; run `make repro` to build it") from None
    except (OSError, pa.ArrowException) as error:
        raise BadFile(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from None
    if not found.equals(schema):
        raise BadFile(f"{path}: its columns are not those of {kind}, schema version {SCHEMA_VERSION}")
    return int(rows)


def provenance(release: Release, section: Mapping[str, object], made: Mapping[str, str]) -> dict[str, object]:
    """What made what. The hashes are of the files themselves: dvc.lock is not final while a stage of it still runs."""
    inputs: dict[str, list[str]] = {"games": [], "suites": [], "dataset": ["games", "suites"]}
    return {
        "campaign": release.campaign,
        "engine_version": release.engine_version,
        "schema_version": release.schema_version,
        "params_sha256": release.params_sha256,
        "params": section,
        "steps": {
            step: {
                "from": before,
                "sha256": {f"data/{name}": made[name] for name in sorted(made) if name.startswith(f"{step}/")},
            }
            for step, before in inputs.items()
        },
    }


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """An empty folder on the disk of `out`, gone afterwards. What a killed run left there goes first."""
    stage = out.parent / f".{out.name}.partial"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def copy(source: Path, target: Path) -> str:
    """Copy a file and return its SHA-256, in one pass.

    A copy, not a hard link: a byte that goes wrong in data/ must not go wrong in the release with it.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with source.open("rb") as reader, target.open("wb") as writer:
        while chunk := reader.read(CHUNK):
            digest.update(chunk)
            writer.write(chunk)
        writer.flush()
        os.fsync(writer.fileno())
    return digest.hexdigest()


def move_in(stage: Path, out: Path) -> None:
    """Make `out` hold exactly the files of `stage`: each by rename, the checksums last, then the rest goes."""
    names = sorted(path.relative_to(stage).as_posix() for path in stage.rglob("*") if path.is_file())
    for name in sorted(names, key=lambda name: name == "SHA256SUMS"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(stage / name, out / name)
    remove_others(out, names)
