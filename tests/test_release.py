"""A release holds the data byte for byte, under names that load, with checksums that check."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from hexdata import release
from hexdata.board import MAX_SIZE
from hexdata.card import COLUMNS, CONFIGURATIONS, size_category
from hexdata.errors import BadInput
from hexdata.records import schema_for
from hexdata.release import build_release
from tests.invented import write_data, write_metrics

PARAMS = Path(__file__).parents[1] / "params.yaml"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_metrics(tmp_path / "metrics" / "hex5", size=5)
    write_data(tmp_path / "data", "hex5")
    return tmp_path


def build(root: Path, out: str = "data/release/hex5", params: Path = PARAMS) -> Path:
    build_release("hex5", 5, root / "data", root / "metrics", root / out, params)
    return root / out


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def front_matter(folder: Path) -> dict[str, object]:
    start, end = [match.start() for match in re.finditer(r"^---$", (folder / "README.md").read_text(), re.MULTILINE)]
    loaded = yaml.safe_load((folder / "README.md").read_text()[start:end])
    assert isinstance(loaded, dict)
    return loaded


def test_the_files_are_byte_copies_under_hugging_face_names(root: Path) -> None:
    found = contents(build(root))
    assert sorted(found) == [
        "README.md",
        "SHA256SUMS",
        "croissant.json",
        "data/examples/test-00000-of-00001.parquet",
        "data/examples/train-00000-of-00002.parquet",
        "data/examples/train-00001-of-00002.parquet",
        "data/examples/validation-00000-of-00001.parquet",
        "data/games/train-00000-of-00002.parquet",
        "data/games/train-00001-of-00002.parquet",
        "data/openings/test-00000-of-00001.parquet",
        "data/suites/test-00000-of-00001.parquet",
        "provenance.json",
    ]
    data = root / "data"
    assert found["data/games/train-00001-of-00002.parquet"] == (data / "games/hex5/games-00001.parquet").read_bytes()
    assert found["data/suites/test-00000-of-00001.parquet"] == (data / "suites/hex5/suite.parquet").read_bytes()
    train = (data / "dataset/hex5/train-00001-of-00002.parquet").read_bytes()
    assert found["data/examples/train-00001-of-00002.parquet"] == train


def test_no_released_file_shares_its_bytes_on_disk_with_data(root: Path) -> None:
    """A byte that goes wrong in data/ must not go wrong in the release, so: no links of either kind."""
    for path in build(root).rglob("*"):
        assert not path.is_symlink()
        assert path.is_dir() or path.stat().st_nlink == 1


def test_checksums_cover_every_file_but_themselves(root: Path) -> None:
    out = build(root)
    found = contents(out)
    sums = dict(reversed(line.split("  ")) for line in found.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}
    assert list(sums) == sorted(sums)


def test_the_texts_are_utf_8_whatever_the_locale(root: Path) -> None:
    """A player's parameters may hold any letter, such as the path of a GTP engine."""
    (root / "params.yaml").write_bytes(PARAMS.read_bytes().replace(b"uct:playouts=60-100", "gtp:éngine".encode()))
    build_it = (
        "from pathlib import Path; from hexdata.release import build_release as build; "
        "build('hex5', 5, Path('data'), Path('metrics'), Path('data/release/hex5'))"
    )
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", build_it], cwd=root, env=plain, check=True)
    assert contents(root / "data/release/hex5") == contents(build(root, "data/release/again", root / "params.yaml"))


def test_the_same_input_gives_the_same_bytes(root: Path) -> None:
    assert contents(build(root)) == contents(build(root, "data/release/again"))


def test_a_network_does_not_change_a_release(root: Path, tmp_path: Path) -> None:
    before = contents(build(root))
    params = yaml.safe_load(PARAMS.read_text())
    params["campaigns"]["hex5"]["train"]["epochs"] += 1
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params))
    for name in ("train.json", "evaluate.json", "learning.csv"):
        (root / "metrics/hex5" / name).unlink()
    assert contents(build(root, params=tmp_path / "params.yaml")) == before


def test_every_configuration_of_the_card_is_one_schema_and_all_its_files(root: Path) -> None:
    out = build(root)
    configs = front_matter(out)["configs"]
    assert isinstance(configs, list)
    assert [config["config_name"] for config in configs] == ["examples", "games", "suites", "openings"]
    named = set()
    for config, configuration in zip(configs, CONFIGURATIONS, strict=True):
        for files in config["data_files"]:
            paths = sorted(out.glob(files["path"]))
            assert paths
            assert all(path.name.startswith(files["split"]) for path in paths)
            for path in paths:
                assert pq.read_schema(path).equals(schema_for(configuration.kind, 5))
            named |= set(paths)
    assert named == set(out.glob("data/**/*.parquet"))


def readme(root: Path, params: Path, **sections: dict[str, object]) -> str:
    """The card, on one line, of hex5 with these changes."""
    changed = yaml.safe_load(PARAMS.read_text())
    for section, values in sections.items():
        changed["campaigns"]["hex5"][section] |= values
        if "imported" in values:
            changed["campaigns"]["hex5"][section] = values
    params.write_text(yaml.safe_dump(changed))
    return " ".join((build(root, params=params) / "README.md").read_text().split())


def test_the_card_says_how_the_rows_were_dealt_chosen_and_proved(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    croissant = root / "data/release/hex5/croissant.json"
    owner = "belongs to the split of the first shard that met it"
    plain = readme(root, path)
    assert plain.count("split without leaks") == 3
    assert croissant.read_text().count("split without leaks") == 2
    assert plain.count(owner) == 2
    assert "stays in test" not in plain
    assert "later versions with more shards never move it" in plain
    assert "with at least 8 stones were solved within 100 nodes each" in plain
    assert "Filters" not in plain

    filters = {"winner_moves": True, "min_ply": 4, "min_visits": 2000}
    chosen = readme(root, path, dataset={"filters": filters}, examples={"prove_limit_nodes": 0})
    asked = "before a move of the side that won the game; with at least 2,000 visits; of at least 4 stones."
    assert f"**Filters**: only positions {asked}" in chosen
    assert "None of them was solved" in chosen

    pairs = readme(root, path, dataset={"split": "pairs"})
    assert owner not in pairs
    assert "a game goes to" not in pairs
    for text in (pairs, croissant.read_text()):
        assert "without leaks" not in text
        assert "one row per position up to symmetry, split at random, with leaks" in text.replace("One", "one")
        assert "positions that are unique up to symmetry, split at random, with leaks; " in text
    assert "Pairs of a position and a move were dealt at random, and nothing was left out" in pairs

    several = readme(root, path, games={"player": ["random", "resistance"]})
    assert "played by programs (random, resistance);" in several
    assert "The players are programs: their moves and results are evidence, not truth." in several

    theirs = readme(root, path, games={"imported": "0" * 64}, dataset={"released": ["v1"]})
    assert "keeps it there if its `dataset.released` names this one. Positions of earlier versions have kept" in theirs


def test_other_data_give_another_front_matter(root: Path) -> None:
    """`datasets` keys its cache by it: with equal front matter a rebuilt release would load as the old one."""
    before = front_matter(build(root))["configs"]
    write_data(root / "data", "hex5", seed=2)
    after = front_matter(build(root))["configs"]
    assert isinstance(before, list)
    assert isinstance(after, list)
    changed = [old["config_name"] for old, new in zip(before, after, strict=True) if old != new]
    assert changed == ["examples", "games", "suites"]


def test_the_card_counts_the_rows_that_are_there(root: Path) -> None:
    out = build(root)
    lines = (out / "README.md").read_text().splitlines()
    for configuration, split in (("examples", "train"), ("games", "train"), ("suites", "test")):
        paths = sorted((out / "data" / configuration).glob(f"{split}-*.parquet"))
        rows = sum(pq.read_metadata(path).num_rows for path in paths)
        size = sum(path.stat().st_size for path in paths)
        assert f"| `{configuration}` | {split} | {rows:,} | {len(paths)} | {size:,} |" in lines
    assert front_matter(out)["size_categories"] == ["n<1K"]


def test_every_column_is_described_and_values_say_whose_they_are(root: Path) -> None:
    for configuration in CONFIGURATIONS:
        schema = schema_for(configuration.kind, 5)
        described = [name for name in COLUMNS[configuration.name] if "." not in name]
        assert described == schema.names
    card = (build(root) / "README.md").read_text()
    for column in ("z_sum", "root_value", "value", "proved"):
        assert re.search(rf"^\| `{column}` \| [^|]+ \| side to move \|", card, re.MULTILINE)


def test_croissant_names_every_file_with_its_hash_and_every_column(root: Path) -> None:
    out = build(root)
    document = json.loads((out / "croissant.json").read_text())
    assert document["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    objects = [part for part in document["distribution"] if part["@type"] == "cr:FileObject"]
    assert {part["contentUrl"]: part["sha256"] for part in objects} == {
        path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in out.glob("data/**/*.parquet")
    }
    sets = {part["@id"] for part in document["distribution"] if part["@type"] == "cr:FileSet"}
    for configuration, records in zip(CONFIGURATIONS, document["recordSet"], strict=True):
        names = [field["@id"].split("/")[1] for field in records["field"]]
        assert names == schema_for(configuration.kind, 5).names
        leaves = [leaf for field in records["field"] for leaf in field.get("subField", [field])]
        assert {leaf["source"]["fileSet"]["@id"] for leaf in leaves} <= sets
        assert all(leaf["dataType"].startswith("sc:") for leaf in leaves)


def test_provenance_has_params_and_the_hash_of_what_every_step_made(root: Path) -> None:
    found = json.loads((build(root) / "provenance.json").read_text())
    assert found["params"]["games"]["player"] == "uct:playouts=60-100"
    assert "train" not in found["params"]
    hashes = {name: value for step in found["steps"].values() for name, value in step["sha256"].items()}
    made = [path for kind in ("games", "dataset", "suites") for path in (root / "data" / kind).rglob("*.parquet")]
    assert hashes == {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in made}


def test_what_lay_there_before_goes_and_half_made_folders_go(root: Path) -> None:
    expected = contents(build(root))
    out = root / "data/release/hex5"
    (out / "data/old").mkdir()
    (out / "data/old/file.parquet").write_text("old")
    (out / "README.md").write_text("old")
    (out.parent / ".hex5.partial").mkdir()
    (out.parent / ".hex5.partial/junk").write_text("left by a kill")
    assert contents(build(root)) == expected
    assert [path.name for path in out.parent.iterdir()] == ["hex5"]


@pytest.mark.parametrize(
    ("break_it", "complaint"),
    [
        (lambda data: (data / "suites/hex5/suite.parquet").write_bytes(b"PAR1 no"), "suite.parquet: not a readable"),
        (lambda data: (data / "suites/hex5/openings.parquet").unlink(), "openings.parquet: no such file"),
        (lambda data: (data / "dataset/hex5/train-00000-of-00002.parquet").unlink(), "not one whole set"),
        (lambda data: [path.unlink() for path in (data / "games/hex5").iterdir()], "no games-*.parquet files here"),
        (lambda data: [path.unlink() for path in (data / "dataset/hex5").iterdir()], "no train-*.parquet files here"),
        (
            lambda data: (data / "games/hex5/games-00000.parquet").write_bytes(
                (data / "suites/hex5/suite.parquet").read_bytes()
            ),
            "its columns are not those of games",
        ),
    ],
)
def test_bad_input_is_named_and_the_last_release_stays(root: Path, break_it: object, complaint: str) -> None:
    before = contents(build(root))
    assert callable(break_it)
    break_it(root / "data")
    with pytest.raises(BadInput, match=re.escape(complaint)):
        build(root)
    assert contents(root / "data/release/hex5") == before


def test_a_failure_while_copying_leaves_the_last_release(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(build(root))
    write_data(root / "data", "hex5", seed=2)
    monkeypatch.setattr(release, "card", lambda _: (_ for _ in ()).throw(OSError("no space left on device")))
    with pytest.raises(OSError, match="no space"):
        build(root)
    assert contents(root / "data/release/hex5") == before
    assert [path.name for path in (root / "data/release").iterdir()] == ["hex5"]


def test_a_size_that_params_do_not_have_is_refused(root: Path) -> None:
    with pytest.raises(BadInput, match=r"campaigns\.hex5\.size is 5, not 6"):
        build_release("hex5", 6, root / "data", root / "metrics", root / "out", PARAMS)
    assert not (root / "out").exists()


def test_size_categories() -> None:
    assert [size_category(rows) for rows in (0, 999, 1000, 45_000, 2_000_000)] == [
        "n<1K",
        "n<1K",
        "1K<n<10K",
        "10K<n<100K",
        "1M<n<10M",
    ]


def test_columns_are_described_on_every_board() -> None:
    for size in (2, MAX_SIZE):
        assert schema_for("dataset", size).names == list(COLUMNS["examples"])
