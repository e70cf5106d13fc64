import math
from typing import Any

import pytest
import torch

from hexdata.losses import Losses, Targets, make_targets, three_head_loss
from hexdata.nets.three_head import Heads

W = 0.3


def by_hand(row: dict[str, Any]) -> dict[str, float]:
    """gao-2020 eq. 4.5 for one state, without a tensor."""
    legal = [a for a, free in enumerate(row["legal"]) if free]
    total = sum(math.exp(row["logits"][a]) for a in legal)
    policy = -sum(row["policy"][a] * math.log(math.exp(row["logits"][a]) / total) for a in legal)
    value = (row["v_target"] - row["v"]) ** 2
    q = sum(row["played"][a] * (row["z"] + row["q"][a]) ** 2 for a in legal)
    lost = sum((row["q"][a] - 1) ** 2 for a in legal) / len(legal) if row["lost"] else 0.0
    bellman = (min(row["q"][a] for a in legal) + row["v"]) ** 2
    return {"loss": policy + W * (value / 2 + q / 2 + lost + bellman), "policy": policy, "value": value, "q": q}


# cell 3 of the first state is taken and has the smallest q and the largest logit; so has cell 0 of the second
STATES: list[dict[str, Any]] = [
    {
        "legal": [1, 1, 1, 0],
        "logits": [0.5, -1.0, 0.2, 9.0],
        "q": [0.9, 0.3, 0.7, -0.95],
        "v": -0.4,
        "policy": [0.7, 0.1, 0.2, 0.0],
        "played": [1.0, 0.0, 0.0, 0.0],
        "z": -1.0,
        "v_target": -1.0,
        "lost": True,
        "weight": 1.0,
    },
    {
        "legal": [0, 1, 1, 0],
        "logits": [3.0, 0.1, 0.4, 1.0],
        "q": [-0.9, 0.2, -0.6, 0.1],
        "v": 0.8,
        "policy": [0.0, 1.0, 0.0, 0.0],
        "played": [0.0, 0.25, 0.75, 0.0],
        "z": 0.5,
        "v_target": 1.0,
        "lost": False,
        "weight": 3.0,
    },
]


def tensors(states: list[dict[str, Any]]) -> tuple[Heads, Targets]:
    def column(name: str) -> torch.Tensor:
        return torch.tensor([state[name] for state in states])

    heads = Heads(column("logits"), column("q"), column("v"))
    return heads, Targets(
        column("legal").bool(),
        column("policy"),
        column("played"),
        column("v_target"),
        column("z"),
        column("lost"),
        column("weight"),
    )


def loss_of(states: list[dict[str, Any]]) -> Losses:
    return three_head_loss(*tensors(states), value_weight=W)


@pytest.mark.parametrize("state", STATES)
def test_loss_of_one_state_by_hand(state: dict[str, Any]) -> None:
    losses = loss_of([state])
    for name, expected in by_hand(state).items():
        assert getattr(losses, name).item() == pytest.approx(expected, rel=1e-5), name


def test_rows_count_by_their_weight() -> None:
    expected = (by_hand(STATES[0])["loss"] + 3 * by_hand(STATES[1])["loss"]) / 4
    assert loss_of(STATES).loss.item() == pytest.approx(expected, rel=1e-5)


def test_top1_is_over_legal_cells() -> None:
    first, second = (loss_of([state]).top1.item() for state in STATES)
    assert (first, second) == (1.0, 0.0)


def test_taken_cells_get_no_gradient() -> None:
    heads, targets = tensors(STATES)
    heads = Heads(*(head.requires_grad_() for head in heads))
    three_head_loss(heads, targets, W).loss.backward()  # type: ignore[no-untyped-call]
    for gradient in (heads.policy_logits_ba.grad, heads.q_ba.grad):
        assert gradient is not None
        assert gradient.isfinite().all()
        assert not gradient[~targets.legal_ba].any()
        assert gradient[targets.legal_ba].any()


@pytest.mark.parametrize(
    ("z", "proved", "undithered", "v_target", "q_target_z", "lost"),
    [
        (-1.0, 0, True, -1, -1, True),  # lost each time, with moves that were meant
        (-1.0, 0, False, -1, -1, False),  # a dithered move may have lost it
        (-0.5, 0, True, -0.5, -0.5, False),  # won once
        (1.0, 0, True, 1, 1, False),
        (0.5, -1, False, -1, -1, True),  # a proof beats the games
        (-1.0, 1, True, 1, -1, False),  # won, and thrown away by the played move: q learns from the game
    ],
)
def test_targets(z: float, proved: int, undithered: bool, v_target: float, q_target_z: float, lost: bool) -> None:
    cells = torch.ones(1, 4)
    targets = make_targets(
        cells.bool(),
        cells,
        cells,
        torch.tensor([z]),
        torch.tensor([float(proved)]),
        torch.tensor([undithered]),
        cells[0],
    )
    assert (targets.v_b.item(), targets.z_b.item(), targets.lost_b.item()) == (v_target, q_target_z, lost)
