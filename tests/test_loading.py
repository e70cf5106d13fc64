"""`hexdata.load`: what the views hold, their types, and the cache that they are mapped from."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import hexdata
from hexdata.arrays import read_examples
from hexdata.board import cells, unpack
from hexdata.features import PLANES
from hexdata.loading import Rows, load_dataset
from hexdata.records import BadFile, read_folder
from tests.invented import write_data

SIZE = 5
DTYPES = {
    "key": ("uint8", (16,)),
    "board": ("int8", (SIZE, SIZE)),
    "to_move": ("uint8", ()),
    "ply": ("int16", ()),
    "policy": ("float32", (SIZE * SIZE,)),
    "played": ("float32", (SIZE * SIZE,)),
    "z": ("float32", ()),
    "proved": ("int8", ()),
    "games": ("int32", ()),
    "weight": ("float32", ()),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the dataset of a campaign, and a cache of its own."""
    write_data(tmp_path / "data", "tiny", SIZE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEXDATA_CACHE", str(tmp_path / "cache"))
    return tmp_path


def rewrite(path: Path, column: str, value: float) -> None:
    """As another program would: the notes inside stay, also the hash of the rows that were."""
    table = pq.read_table(path)
    field = table.schema.field(column)
    values = pa.array([value] * len(table), field.type)
    pq.write_table(table.set_column(table.column_names.index(column), field, values), path)


def test_the_views_hold_what_the_files_say(project: Path) -> None:
    data = hexdata.load("tiny")
    assert data.size == SIZE
    for split in ("train", "validation", "test"):
        rows: Rows = getattr(data, split)
        told = read_folder(project / "data/dataset/tiny", "dataset", f"{split}-*.parquet").to_pylist()
        assert len(rows) == len(told) > 0
        for index, row in enumerate(told):
            board = np.zeros(SIZE * SIZE, np.int8)
            board[list(cells(unpack(row["black"])))] = 1
            board[list(cells(unpack(row["white"])))] = -1
            assert (rows.board[index].reshape(-1) == board).all()
            assert rows.key[index].tobytes() == row["key"]
            assert rows.to_move[index] == (row["to_move"] == "white")
            assert rows.ply[index] == row["ply"] == np.abs(board).sum()
            assert rows.z[index] == row["z_sum"] / row["z_count"]
            assert rows.policy[index].argmax() == row["policy_cells"][0]
            assert rows.games[index] == row["games"]
        expected = read_examples(project / "data/dataset/tiny", split, SIZE)
        assert (rows.policy == expected.policy).all()
        assert (rows.played == expected.played).all()
        assert (rows.weight == expected.weight).all()


def test_documented_types_in_numpy_and_torch(project: Path) -> None:
    rows = hexdata.load("tiny").train
    tensors = rows.torch()
    documented = re.findall(r"^ {4}(\w+) +(\w+)\[P", sys.modules["hexdata.loading"].__doc__ or "", re.MULTILINE)
    assert dict(documented) == {name: kind for name, (kind, _) in DTYPES.items()}
    for name, (kind, shape) in DTYPES.items():
        array, tensor = getattr(rows, name), getattr(tensors, name)
        assert (str(array.dtype), array.shape) == (kind, (len(rows), *shape))
        assert (str(tensor.dtype), tuple(tensor.shape)) == (f"torch.{kind}", array.shape)
        assert not array.flags.writeable
        assert tensor.data_ptr() == array.ctypes.data, "one memory, no copy"
    planes = tensors.planes(slice(0, 3))
    assert planes.shape == (3, len(PLANES), SIZE + 2, SIZE + 2)
    assert (planes[:, 0, 1:-1, 1:-1] == (tensors.board[:3] == 1)).all()


def test_decoded_once_and_mapped_from_then_on(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = hexdata.load("tiny").train.policy.copy()
    cached = {path.name: path.stat().st_ino for path in (project / "cache").iterdir()}
    assert len(cached) == 3

    def never(*arguments: object) -> None:
        raise AssertionError("decoded again")

    monkeypatch.setattr("hexdata.loading.decode", never)
    again = hexdata.load(project / "data/dataset/tiny").train
    assert (again.policy == first).all()
    assert {path.name: path.stat().st_ino for path in (project / "cache").iterdir()} == cached


def test_writing_to_a_tensor_does_not_reach_the_cache(project: Path) -> None:
    tensors = hexdata.load("tiny").train.torch()
    before = tensors.z.clone()
    tensors.z.add_(7)
    assert torch.equal(hexdata.load("tiny").train.torch().z, before)


def test_other_rows_or_a_damaged_cache_are_decoded_again(project: Path) -> None:
    before = hexdata.load("tiny").train.weight.copy()
    path = project / "data/dataset/tiny/train-00000-of-00002.parquet"
    table = pq.read_table(path)
    rewrite(path, "weight", 2.0)
    changed = hexdata.load("tiny").train.weight
    assert (changed[: len(table)] == 2).all()
    assert (changed[len(table) :] == before[len(table) :]).all()
    for kept in (100, 0):
        for cached in list((project / "cache").iterdir()):
            content = cached.read_bytes()
            cached.unlink()  # the arrays above still live in the old file
            cached.write_bytes(content[:kept])
        assert (hexdata.load("tiny").train.weight == changed).all()


def test_a_release_and_a_folder_load_as_the_campaign_does(project: Path) -> None:
    shutil.copytree(project / "data/dataset/tiny", project / "release/data/examples")
    for name in (project / "release", "release/data/examples", Path("data/dataset/tiny")):
        assert (hexdata.load(name).train.policy == hexdata.load("tiny").train.policy).all()
    assert len(list((project / "cache").iterdir())) == 3, "the same bytes are decoded once, wherever they lie"


def test_an_empty_split(project: Path) -> None:
    path = project / "data/dataset/tiny/validation-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    data = hexdata.load("tiny")
    assert len(data.validation) == 0
    assert data.validation.torch().board.shape == (0, SIZE, SIZE)
    assert len(data.train) > 0


def test_what_is_no_dataset_is_named(project: Path) -> None:
    with pytest.raises(BadFile, match="hex99: no dataset: expected a campaign of data/dataset, or a folder"):
        hexdata.load("hex99")
    for path in (project / "data/dataset/tiny").glob("test-*"):
        path.unlink()
    with pytest.raises(BadFile, match=r"tiny: no test-\*\.parquet files here"):
        hexdata.load("tiny")


@pytest.mark.parametrize("name", ["train-00001-of-00002", "validation-00000-of-00001"])
def test_a_truncated_file_is_named(project: Path, name: str) -> None:
    path = project / f"data/dataset/tiny/{name}.parquet"
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(BadFile, match=rf"{name}\.parquet: not a readable Parquet file"):
        hexdata.load("tiny")


def test_a_bad_row_is_named_and_nothing_is_cached(project: Path) -> None:
    path = project / "data/dataset/tiny/train-00000-of-00002.parquet"
    rewrite(path, "z_count", 0)
    with pytest.raises(BadFile, match=r"train-00000-of-00002\.parquet: row 0 has z_count 0"):
        load_dataset("tiny", project / "other")
    assert list((project / "other").iterdir()) == []


def test_numpy_alone_needs_no_torch(project: Path) -> None:
    code = "import sys, hexdata; data = hexdata.load('tiny'); print(data.train.z.mean() <= 1, 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True False\n"
