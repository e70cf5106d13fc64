"""The one training loop: a dataset folder in, a network folder out. It reads top to bottom.

Same dataset, same params, same kind of machine: same bytes of `net.safetensors`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils import deterministic as memory

from hexdata.arrays import Examples, read_examples
from hexdata.features import Boards, apply_symmetry, planes, unpack_stones
from hexdata.kernels import kernels_pinned
from hexdata.losses import Losses, Targets, make_targets, three_head_loss
from hexdata.nets import NET_FILES, ThreeHeadNet, save_net, training_device, weights_bytes
from hexdata.params import BadParams, TrainParams
from hexdata.records import BadFile, remove_others, write_whole

VALIDATION_BATCH = 1024


class LearningRow(NamedTuple):
    """One line of learning.csv. Training figures are running means over the epoch, on rotated or augmented rows."""

    epoch: int
    split: str
    loss: float
    policy: float
    value: float
    q: float
    top1: float


@dataclass(frozen=True)
class Epoch:
    """What `progress` is told after each epoch."""

    number: int
    of: int
    train: LearningRow
    validation: LearningRow

    def __str__(self) -> str:
        return (
            f"epoch {self.number}/{self.of}: loss {self.train.loss:.4f}, validation {self.validation.loss:.4f}, "
            f"value error {self.validation.value:.4f}, top-1 {self.validation.top1:.1%}"
        )


@dataclass(frozen=True)
class TrainResult:
    parameters: int
    epochs: int
    best_epoch: int
    train_rows: int
    validation_rows: int
    learning: tuple[LearningRow, ...]

    def summary(self) -> dict[str, int]:
        """The content of metrics train.json; `learning` is that of learning.csv."""
        return {
            "parameters": self.parameters,
            "epochs": self.epochs,
            "best_epoch": self.best_epoch,
            "train_rows": self.train_rows,
            "validation_rows": self.validation_rows,
        }


def train(
    dataset: Path,
    augmented: Path,
    out: Path,
    size: int,
    params: TrainParams,
    data_hash: str,
    progress: Callable[[Epoch], None],
) -> TrainResult:
    """Train on `train-*` of the source that the params name, choose the epoch with the smallest loss on the dataset's
    `validation-*`, write it to `out/net.safetensors`.

    A checkpoint appears after each epoch. What an earlier run left is replaced file by file, and the rest of it is
    removed only when the new network is in place.
    """
    if not kernels_pinned():
        raise RuntimeError("call hexdata.kernels.pin_kernels() before torch is imported: a model depends on it")
    on_the_fly = params.source == "dataset"
    sources = {"train": dataset if on_the_fly else augmented, "validation": dataset}
    examples = {
        "train": read_examples(sources["train"], "train", size, params.source),
        "validation": read_examples(dataset, "validation", size),
    }
    for split, rows in examples.items():
        if not len(rows):
            raise BadFile(
                f"{sources[split]}: the {split} split has no rows; training needs some of both train and validation"
            )

    with _repeatable(params.threads, params.seed):
        device = training_device()
        training, validation = (Rows.on_device(examples[split], device) for split in ("train", "validation"))
        net = ThreeHeadNet(params.blocks, params.filters)
        # channels_last: a step of 4 blocks x 32 filters on 6x6 takes 41 ms of one core instead of 52
        net = net.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        # the gradient of c ||theta||^2 (gao-2020 eq. 4.5) is 2 c theta
        decay = 2 * params.weight_decay
        optimiser = torch.optim.Adam(net.parameters(), params.learning_rate, weight_decay=decay, fused=True)
        # the thesis keeps the rate fixed; falling along a cosine to 0, the best of 4 epochs on 53,240 rows of 6x6 had a
        # validation loss of 2.957 instead of 2.972 (one seed)
        steps = params.epochs * math.ceil(len(training) / params.batch)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
        # on the CPU whatever the device, so that every machine sees the same order and the same rotations
        generator = torch.Generator().manual_seed(params.seed)

        learning: list[LearningRow] = []
        checkpoints: list[str] = []
        best: LearningRow | None = None
        best_weights = b""
        for epoch in range(1, params.epochs + 1):
            net.train()
            sums = RunningMean()
            for index in torch.split(torch.randperm(len(training), generator=generator), params.batch):
                rotated = (
                    torch.randint(2, (len(index),), generator=generator) if on_the_fly else torch.zeros_like(index)
                )
                boards, targets = training.batch(index.to(device), rotated.to(device))
                losses = three_head_loss(net(planes(boards, size)), targets, params.value_weight)
                optimiser.zero_grad()
                losses.loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                schedule.step()
                sums.add(losses, targets)
            trained = sums.row(epoch, "train")
            validated = _validate(net, validation, params.value_weight, epoch)
            if not math.isfinite(validated.loss):
                raise BadParams(
                    f"train.learning_rate: {params.learning_rate:g} made the validation loss {validated.loss} in epoch "
                    f"{epoch}: expected a smaller rate"
                )
            learning += [trained, validated]

            weights = weights_bytes(net)
            checkpoints.append(f"checkpoints/epoch-{epoch:03}.safetensors")
            write_whole(out / checkpoints[-1], weights)
            if best is None or validated.loss < best.loss:
                best, best_weights = validated, weights
            progress(Epoch(epoch, params.epochs, trained, validated))

    assert best is not None  # params.epochs is at least 1
    figures = {name: value for name, value in best._asdict().items() if name != "split"}
    save_net(
        out,
        best_weights,
        size=size,
        blocks=params.blocks,
        filters=params.filters,
        data_hash=data_hash,
        metrics=figures,
    )
    remove_others(out, [*NET_FILES, *checkpoints])
    return TrainResult(
        parameters=sum(p.numel() for p in net.parameters()),
        epochs=params.epochs,
        best_epoch=best.epoch,
        train_rows=len(training),
        validation_rows=len(validation),
        learning=tuple(learning),
    )


class Rows(NamedTuple):
    """All rows of a split on the training device. Stones stay packed: 13x13 takes 44 bytes a row for them."""

    size: int
    black_bp: Tensor
    white_bp: Tensor
    to_move_b: Tensor
    policy_ba: Tensor
    played_ba: Tensor
    z_b: Tensor
    proved_b: Tensor
    undithered_b: Tensor
    weight_b: Tensor

    @classmethod
    def on_device(cls, examples: Examples, device: torch.device) -> Rows:
        positions = examples.positions
        arrays = (
            *(positions.black, positions.white, positions.to_move),
            *(examples.policy, examples.played, examples.z, examples.proved, examples.undithered, examples.weight),
        )
        # torch.tensor copies: torch warns about arrays that it may not write to
        return cls(positions.size, *(torch.tensor(array, device=device) for array in arrays))

    def __len__(self) -> int:
        return len(self.to_move_b)

    def batch(self, index: Tensor, symmetry_b: Tensor) -> tuple[Boards, Targets]:
        boards = Boards(
            unpack_stones(self.black_bp[index], self.size),
            unpack_stones(self.white_bp[index], self.size),
            self.to_move_b[index],
        )
        boards, (policy_ba, played_ba) = apply_symmetry(
            self.size, symmetry_b, boards, self.policy_ba[index], self.played_ba[index]
        )
        targets = make_targets(
            boards.legal_ba(),
            policy_ba,
            played_ba,
            self.z_b[index],
            self.proved_b[index],
            self.undithered_b[index],
            self.weight_b[index],
        )
        return boards, targets


class RunningMean:
    """Weighted means of a split's losses, summed on the device in float64 and read once at the end."""

    def __init__(self) -> None:
        self.total: Tensor | None = None

    def add(self, losses: Losses, targets: Targets) -> None:
        weight = targets.weight_b.double().sum()
        parts = torch.stack([losses.loss, losses.policy, losses.value, losses.q, losses.top1]).detach().double()
        sums = torch.cat([parts * weight, weight[None]])
        self.total = sums if self.total is None else self.total + sums

    def row(self, epoch: int, split: str) -> LearningRow:
        assert self.total is not None
        *sums, weight = self.total.tolist()
        return LearningRow(epoch, split, *(value / weight for value in sums))


@torch.inference_mode()
def _validate(net: ThreeHeadNet, rows: Rows, value_weight: float, epoch: int) -> LearningRow:
    net.eval()
    sums = RunningMean()
    for index in torch.split(torch.arange(len(rows), device=rows.to_move_b.device), VALIDATION_BATCH):
        boards, targets = rows.batch(index, torch.zeros_like(index))
        sums.add(three_head_loss(net(planes(boards, rows.size)), targets, value_weight), targets)
    return sums.row(epoch, "validation")


@contextmanager
def _repeatable(threads: int, seed: int) -> Iterator[None]:
    """Fixed threads, seed and algorithms inside; what was set before, afterwards."""
    threads_before, deterministic_before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    fill_before = memory.fill_uninitialized_memory  # type: ignore[attr-defined]
    with torch.random.fork_rng():
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(True)
        # a guard against reading memory that was never written; 9 % of a step
        memory.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        torch.manual_seed(seed)
        try:
            yield
        finally:
            torch.set_num_threads(threads_before)
            torch.use_deterministic_algorithms(deterministic_before)
            memory.fill_uninitialized_memory = fill_before  # type: ignore[attr-defined]
