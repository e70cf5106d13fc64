from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hexdata.arrays import read_examples
from hexdata.board import Position, cells, unpack
from hexdata.records import BadFile
from tests.tables import best_cell, example, random_examples, write_dataset, write_rows


def test_rows_decode_as_in_plain_python(tmp_path: Path) -> None:
    """Two files of a split, so that columns come in several chunks."""
    rows = random_examples(5, 150, seed=1)
    rows[7] |= {"z_sum": -1, "z_count": 4, "proved": 1, "weight": 0.5}
    write_rows(tmp_path / "train-00000-of-00002.parquet", "dataset", 5, rows[:60])
    write_rows(tmp_path / "train-00001-of-00002.parquet", "dataset", 5, rows[60:])
    examples = read_examples(tmp_path, "train", 5)
    assert len(examples) == 150
    legal, best = examples.positions.legal(), examples.best_move()
    for number, row in enumerate(rows):
        taken = set(cells(unpack(row["black"]) | unpack(row["white"])))
        assert set(np.flatnonzero(~legal[number])) == taken
        assert examples.positions.to_move[number] == (row["to_move"] == "white")
        named, counts = ("policy_cells", "policy_visits") if row["policy_cells"] else ("played_cells", "played_counts")
        policy = np.zeros(25)
        policy[row[named]] = row[counts]
        np.testing.assert_allclose(examples.policy[number], policy / policy.sum(), rtol=1e-6)
        assert np.flatnonzero(examples.played[number]).tolist() == row["played_cells"]
        assert best[number] == best_cell(row)
        assert examples.z[number] == row["z_sum"] / row["z_count"]
        assert examples.undithered[number] == (row["sampled_count"] == 0)
    assert examples.value()[7] == 1
    assert examples.value()[8] == examples.z[8]
    assert examples.weight[6:9].tolist() == [1, 0.5, 1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"played_cells": [0]}, "train: row 1 has a move to a taken cell"),
        ({"policy_cells": [0], "policy_visits": [3]}, "train: row 1 has a move to a taken cell"),
        ({"played_cells": [], "played_counts": []}, "row 1 has neither visits nor played moves"),
        ({"played_cells": [16]}, "cell 16 is not on a 4x4 board"),
        ({"played_cells": [3, 4]}, "a list of cells and its counts differ in length"),
        ({"z_count": 0}, "row 1 has z_count 0"),
        ({"weight": 0.0}, "row 1 has a weight that is not above 0"),
        ({"weight": float("nan")}, "row 1 has a weight that is not above 0"),
        ({"to_move": "red"}, "row 1: to_move is 'red', expected black or white"),
        ({"size": 3}, "holds 3x3 positions, expected 4x4"),
    ],
)
def test_rows_that_teach_nothing_are_refused(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    rows = [example(Position.empty(4)), {**example(Position.after(4, [0])), **columns}]
    with pytest.raises(BadFile, match=message):
        read_examples(write_dataset(tmp_path, 4, train=rows), "train", 4)
