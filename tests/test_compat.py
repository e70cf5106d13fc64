"""The files as they are in `datasets`, pandas, DuckDB and pyarrow.dataset, and README's examples of loading them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hexdata.records import schema_for
from hexdata.release import build_release
from tests.flows.conftest import ROOT
from tests.invented import write_data, write_metrics

COMPAT = Path(sys.prefix) / "compat"
SIZE = 6

SCRIPT = """
import json, sys
import datasets, duckdb, pandas, pyarrow.dataset

told = {}
for name, (folder, configuration) in json.loads(sys.argv[1]).items():
    pattern = f"{folder}/*.parquet"
    loaded = datasets.load_dataset(*([folder] if configuration is None else [folder, configuration]))
    if configuration is not None:
        folder = f"{folder}/data/{configuration}"
        pattern = f"{folder}/*.parquet"
    frame = pandas.read_parquet(folder)
    asked = duckdb.sql(f"SELECT * FROM '{pattern}'")
    first = next(iter(loaded.values()))
    told[name] = {
        "datasets": {column: str(kind) for column, kind in first.features.items()},
        "pandas": {column: str(kind) for column, kind in frame.dtypes.items()},
        "elements": {
            column: str(value.dtype) for column, value in frame.iloc[0].items() if type(value).__name__ == "ndarray"
        },
        "duckdb": {column: str(kind) for column, kind in zip(asked.columns, asked.types)},
        "rows": {
            "datasets": {split: len(part) for split, part in loaded.items()},
            "pandas": len(frame),
            "duckdb": len(asked.fetchall()),
            "pyarrow": pyarrow.dataset.dataset(folder).count_rows(),
        },
    }
print(json.dumps(told))
"""


def run(folder: Path, code: str, *arguments: str) -> str:
    home = folder.parent / "home"  # not the user's, and not among the data
    assert COMPAT.is_dir(), "what others load our files with is not installed: `make test` does it"
    environment = {
        "PYTHONPATH": os.pathsep.join((str(COMPAT), str(ROOT))),
        "HF_HOME": str(home / "hugging-face"),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        "HEXDATA_CACHE": str(home / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compat")
    write_metrics(folder / "metrics" / "hex6", size=SIZE)
    write_data(folder / "data", "hex6", SIZE)
    build_release("hex6", SIZE, folder / "data", folder / "metrics", folder / "data/release/hex6", ROOT / "params.yaml")
    return folder


@pytest.fixture(scope="module")
def told(project: Path) -> dict[str, Any]:
    folders = {
        "dataset": ("data/dataset/hex6", None),
        "examples": ("data/release/hex6", "examples"),
        "games": ("data/release/hex6", "games"),
        "suites": ("data/release/hex6", "suites"),
        "openings": ("data/release/hex6", "openings"),
    }
    found: dict[str, Any] = json.loads(run(project, SCRIPT, json.dumps(folders)))
    return found


KINDS = {"dataset": "dataset", "examples": "dataset", "games": "games", "suites": "suite", "openings": "openings"}


def in_datasets(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"List({in_datasets(kind.value_type)})"
    if pa.types.is_struct(kind):
        return "{" + ", ".join(f"'{field.name}': {in_datasets(field.type)}" for field in kind) + "}"
    return f"Value('{'float32' if kind == pa.float32() else kind}')"


DUCKDB = {
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "int8": "TINYINT",
    "int64": "BIGINT",
    "float": "FLOAT",
    "bool": "BOOLEAN",
    "string": "VARCHAR",
}


def in_duckdb(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"{in_duckdb(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f"{field.name} {in_duckdb(field.type)}" for field in kind) + ")"
    return DUCKDB.get(str(kind), "BLOB")


def in_pandas(field: pa.Field) -> str:
    if field.type == pa.string():
        return "str"
    if pa.types.is_nested(field.type) or pa.types.is_fixed_size_binary(field.type):
        return "object"
    return str(field.type.to_pandas_dtype().__name__).replace("bool_", "bool")


@pytest.mark.parametrize("name", KINDS)
def test_every_column_has_its_documented_type(told: dict[str, Any], name: str) -> None:
    schema, found = schema_for(KINDS[name], SIZE), told[name]
    assert found["datasets"] == {field.name: in_datasets(field.type) for field in schema}
    assert found["duckdb"] == {field.name: in_duckdb(field.type) for field in schema}
    frame = {field.name: in_pandas(field) for field in schema}
    if found["pandas"].get("proved") == "float64":
        frame["proved"] = "float64"  # a column with nulls has NaN for them
    assert found["pandas"] == frame
    lists = {
        field.name: str(field.type.value_type)
        for field in schema
        if pa.types.is_list(field.type) and pa.types.is_integer(field.type.value_type)
    }
    assert lists.items() <= found["elements"].items()


@pytest.mark.parametrize("name", KINDS)
def test_every_program_sees_every_row(told: dict[str, Any], name: str) -> None:
    rows = told[name]["rows"]
    splits = ("train", "validation", "test") if name in ("dataset", "examples") else None
    assert splits is None or tuple(rows["datasets"]) == splits
    assert sum(rows["datasets"].values()) == rows["pandas"] == rows["duckdb"] == rows["pyarrow"] > 0


def examples_in(path: Path, title: str) -> list[str]:
    """The Python of a page's section."""
    section = path.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def test_the_readme_trains_a_model_in_five_lines_and_loads_in_other_programs(project: Path) -> None:
    training, loading = examples_in(ROOT / "README.md", "Load the dataset")
    assert len([line for line in training.splitlines() if line.strip()]) == 5
    measure = """
def loss(weights):
    return -(rows.policy * (x @ weights).log_softmax(1)).sum(1).mean().item()
print(loss(torch.zeros_like(w)), loss(w))
"""
    before, after = map(float, run(project, training + measure + loading).split())
    assert after < 0.9 * before, "it learned nothing"


def test_the_card_of_a_release_loads_it(project: Path) -> None:
    release = project / "data/release/hex6"
    blocks = [
        block.replace("path/to/this/folder", str(release)) for block in examples_in(release / "README.md", "Load it")
    ]
    told = run(release, "".join(blocks) + "print(black.shape, len(table), len(suite))").split()
    assert told[:2] == [f"({SIZE},", f"{SIZE})"]
    assert min(map(int, told[2:])) > 0
