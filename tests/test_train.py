import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from hexdata import kernels
from hexdata.arrays import read_examples
from hexdata.augment import augment
from hexdata.board import Position, cell_map, pack, unpack
from hexdata.features import planes
from hexdata.nets import load_net, predict, read_card
from hexdata.params import BadParams, TrainParams
from hexdata.records import BadFile, schema_for, table_bytes, write_whole
from hexdata.train import Epoch, Rows, TrainResult, train
from tests.tables import best_cell, random_examples, write_dataset


def params(**changes: Any) -> TrainParams:
    tiny = {
        "blocks": 1,
        "filters": 8,
        "epochs": 3,
        "batch": 32,
        "learning_rate": 0.003,
        "value_weight": 0.5,
        "weight_decay": 0.00001,
        "threads": 1,
        "seed": 3,
    }
    return TrainParams(**(tiny | changes))


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(
        tmp_path / "dataset", 4, train=random_examples(4, 120, seed=1), validation=random_examples(4, 40, seed=2)
    )


def run(dataset: Path, out: Path, seen: list[Epoch] | None = None, **changes: Any) -> TrainResult:
    epochs: list[Epoch] = [] if seen is None else seen
    return train(dataset, dataset.parent / "augmented", out, 4, params(**changes), "data" * 16, epochs.append)


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def half_turned(row: dict[str, Any]) -> dict[str, Any]:
    position = Position(4, unpack(row["black"]), unpack(row["white"]), row["to_move"]).transform(1)
    turn = cell_map(4, 1)
    return {
        **row,
        "black": pack(position.black, 4),
        "white": pack(position.white, 4),
        "policy_cells": [turn[cell] for cell in row["policy_cells"]],
        "played_cells": [turn[cell] for cell in row["played_cells"]],
    }


def test_a_net_learns_a_tiny_set_by_heart_and_its_half_turn_too(tmp_path: Path) -> None:
    """Validation holds the half-turned rows, which training sees only through its own rotation."""
    games = random_examples(4, 60, seed=5)
    rows = [row for row in {row["key"]: row for row in games}.values() if row["ply"] > 1][:24]
    # some rows are lost in the one game that they come from; visits of other cells would blur the aim
    rows = [{**row, "policy_cells": [], "policy_visits": []} for row in rows]
    dataset = write_dataset(tmp_path / "d", 4, train=rows, validation=[half_turned(row) for row in rows])
    result = run(dataset, tmp_path / "m", epochs=60, batch=8, filters=16, blocks=2)
    validation = [row for row in result.learning if row.split == "validation"]
    assert validation[0].top1 < 0.7
    best = validation[result.best_epoch - 1]
    assert best.top1 == 1
    assert best.policy < 0.1
    assert best.value < 0.1

    examples = read_examples(dataset, "train", 4)
    predictions = predict(load_net(tmp_path / "m"), examples.positions)
    chosen = [best_cell(row) for row in rows]
    assert predictions.log_policy.argmax(axis=1).tolist() == chosen
    assert (np.sign(predictions.v) == examples.z).all()
    # q is for the side that moves next
    assert (np.sign(predictions.q[np.arange(len(rows)), chosen]) == -examples.z).mean() > 0.9


def write_copies(folder: Path, rows: list[dict[str, Any]], *symmetries: int) -> None:
    table = pa.Table.from_pylist(rows, schema=schema_for("dataset", 4))
    copies = augment(table, 4, symmetries)
    write_whole(folder / "train-00000-of-00001.parquet", table_bytes(copies, "augmented", {}))


def test_both_half_turns_on_the_fly_are_the_rows_of_the_files(dataset: Path, tmp_path: Path) -> None:
    write_copies(tmp_path / "augmented", random_examples(4, 120, seed=1), 0, 1)

    def batches(rows: Rows, symmetries: tuple[int, ...]) -> Counter[bytes]:
        found: Counter[bytes] = Counter()
        index = torch.arange(len(rows))
        for symmetry in symmetries:
            boards, targets = rows.batch(index, torch.full_like(index, symmetry))
            columns = [planes(boards, 4), *targets]
            found.update(b"".join(column[row].numpy().tobytes() for column in columns) for row in index)
        return found

    device = torch.device("cpu")
    plain = Rows.on_device(read_examples(dataset, "train", 4), device)
    written = Rows.on_device(read_examples(tmp_path / "augmented", "train", 4, "augmented"), device)
    assert len(written) == 2 * len(plain)
    assert batches(plain, (0, 1)) == batches(written, (0,))


def test_a_net_learns_the_written_copies_and_turns_none_of_them(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned: list[int] = []

    def batch(self: Rows, index: torch.Tensor, symmetry: torch.Tensor) -> Any:
        turned.extend(symmetry.tolist())
        return whole_batch(self, index, symmetry)

    whole_batch = Rows.batch
    monkeypatch.setattr(Rows, "batch", batch)
    on_the_fly = run(dataset, tmp_path / "a", epochs=1)
    assert set(turned) == {0, 1}
    turned.clear()
    write_copies(tmp_path / "augmented", random_examples(4, 120, seed=1), 0, 1, 2, 3)
    from_files = run(dataset, tmp_path / "b", epochs=1, source="augmented")
    assert set(turned) == {0}
    assert (on_the_fly.train_rows, from_files.train_rows) == (120, 480)
    assert from_files.validation_rows == 40
    assert from_files.learning[1].loss < on_the_fly.learning[1].loss, "four times the steps"
    write_copies(tmp_path / "augmented", [], 0, 1)
    with pytest.raises(BadFile, match="augmented: the train split has no rows"):
        run(dataset, tmp_path / "c", source="augmented")


def test_the_folder_holds_the_best_epoch_and_nothing_else(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    for stale in ("checkpoints/epoch-009.safetensors", "notes.txt"):
        (out / stale).parent.mkdir(parents=True, exist_ok=True)
        (out / stale).write_text("stale")
    seen: list[Epoch] = []
    result = run(dataset, out, seen)

    checkpoints = [f"checkpoints/epoch-00{n}.safetensors" for n in (1, 2, 3)]
    found = files(out)
    assert sorted(found) == [*checkpoints, "net.json", "net.safetensors"]
    assert found["net.safetensors"] == found[checkpoints[result.best_epoch - 1]]
    assert len({hashlib.sha256(found[name]).digest() for name in checkpoints}) == 3

    validation = [row for row in result.learning if row.split == "validation"]
    assert result.best_epoch == 1 + int(np.argmin([row.loss for row in validation]))
    assert [(row.epoch, row.split) for row in result.learning] == [
        (epoch, split) for epoch in (1, 2, 3) for split in ("train", "validation")
    ]
    assert [epoch.validation for epoch in seen] == validation
    assert "epoch 3/3: loss" in str(seen[-1])

    card = read_card(out)
    best = validation[result.best_epoch - 1]
    assert card.metrics == {name: value for name, value in best._asdict().items() if name != "split"}
    assert (card.data_hash, card.board_size, card.blocks, card.filters) == ("data" * 16, 4, 1, 8)
    net = load_net(out)
    examples = read_examples(dataset, "validation", 4)
    predictions = predict(net, examples.positions)
    assert best.value == pytest.approx(np.square(predictions.v - examples.z).mean(), rel=1e-4)
    assert best.top1 == pytest.approx((predictions.log_policy.argmax(axis=1) == examples.best_move()).mean())
    assert result.summary() == {
        "parameters": sum(p.numel() for p in net.parameters()),
        "epochs": 3,
        "best_epoch": result.best_epoch,
        "train_rows": 120,
        "validation_rows": 40,
    }


def test_same_seed_same_bytes_in_another_process(dataset: Path, tmp_path: Path) -> None:
    first = run(dataset, tmp_path / "a", threads=2)
    torch.rand(5)  # what happened before in the process must not matter
    script = (
        "from hexdata.kernels import pin_kernels\n"
        "pin_kernels()\n"
        "from pathlib import Path\n"
        "from hexdata.params import TrainParams\n"
        "from hexdata.train import train\n"
        f"params = TrainParams.model_validate_json({params(threads=2).model_dump_json()!r})\n"
        f"train(Path({str(dataset)!r}), Path(), Path({str(tmp_path / 'b')!r}), 4, params, {'data' * 16!r}, print)\n"
    )
    unpinned = {name: value for name, value in os.environ.items() if name not in kernels.PINNED}
    subprocess.run([sys.executable, "-c", script], check=True, env=unpinned, stdout=subprocess.DEVNULL)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert run(dataset, tmp_path / "c", threads=2) == first
    assert files(tmp_path / "c") == files(tmp_path / "a")
    run(dataset, tmp_path / "d", threads=2, seed=4)
    assert files(tmp_path / "d")["net.safetensors"] != files(tmp_path / "a")["net.safetensors"]


def test_weight_decay_is_the_c_of_the_loss(dataset: Path, tmp_path: Path) -> None:
    def norm(weight_decay: float) -> float:
        run(dataset, tmp_path / "m", weight_decay=weight_decay, epochs=4)
        filters = [p.detach() for p in load_net(tmp_path / "m").parameters() if p.dim() == 4]
        return sum(float(p.square().sum()) for p in filters)

    assert norm(1) < 0.8 * norm(0)


def test_a_killed_run_leaves_the_old_net_whole(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    run(dataset, out)
    before = files(out)

    def stop(epoch: Epoch) -> None:
        if epoch.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(dataset, tmp_path, out, 4, params(seed=9), "data" * 16, stop)
    after = files(out)
    assert sorted(after) == sorted(before)
    assert after["net.safetensors"] == before["net.safetensors"]
    load_net(out)


@pytest.mark.parametrize("empty", ["train", "validation"])
def test_a_split_without_rows_touches_nothing(dataset: Path, tmp_path: Path, empty: str) -> None:
    out = tmp_path / "model"
    run(dataset, out)
    before = files(out)
    write_dataset(dataset, 4, **{empty: []})
    with pytest.raises(BadFile, match=f"the {empty} split has no rows"):
        run(dataset, out)
    assert files(out) == before


def test_a_loss_that_is_no_number_is_refused_and_the_old_net_stays(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    run(dataset, out)
    before = files(out)
    with pytest.raises(BadParams, match=r"train\.learning_rate: 1e\+20 made the validation loss nan in epoch 1"):
        run(dataset, out, learning_rate=1e20)
    assert files(out) == before


def test_global_settings_are_put_back(dataset: Path, tmp_path: Path) -> None:
    threads, state = torch.get_num_threads(), torch.random.get_rng_state()
    run(dataset, tmp_path / "m", epochs=1, threads=threads + 1)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not torch.are_deterministic_algorithms_enabled()


def test_unpinned_kernels_are_refused(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATEN_CPU_CAPABILITY")
    with pytest.raises(RuntimeError, match="pin_kernels"):
        run(dataset, tmp_path / "m")
    with pytest.raises(RuntimeError, match="too late"):
        kernels.pin_kernels()
    assert not (tmp_path / "m").exists()
