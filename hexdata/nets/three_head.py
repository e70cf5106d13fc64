"""The three-head residual network of gao-2020 section 4.4: a policy p, action values q and a state value v.

No weight depends on the board size, so one network reads every board.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from hexdata.features import PLANES


class Heads(NamedTuple):
    """Taken cells are not masked here. v is for the side to move, q(s,a) for the side to move after a."""

    policy_logits_ba: Tensor
    q_ba: Tensor
    v_b: Tensor


class Block(nn.Module):
    """Pre-activation: (batch norm, ReLU, 3x3 convolution) twice, plus the identity."""

    def __init__(self, filters: int) -> None:
        super().__init__()
        self.norm1 = _norm(filters)
        self.conv1 = nn.Conv2d(filters, filters, 3, padding=1, bias=False)
        self.norm2 = _norm(filters)
        self.conv2 = nn.Conv2d(filters, filters, 3, padding=1, bias=False)

    def forward(self, x_bchw: Tensor) -> Tensor:
        y_bchw: Tensor = self.conv1(functional.relu(self.norm1(x_bchw)))
        y_bchw = self.conv2(functional.relu(self.norm2(y_bchw)))
        return x_bchw + y_bchw


class ThreeHeadNet(nn.Module):
    """p and q are one 1x1 filter each, the transferable form of gao-2020 section 4.5.

    v is one layer over the mean and the maximum of each filter, where the thesis has an N^2 -> 1 layer over q's filter,
    which fits the trained size only. On 53,240 rows of 6x6 (4 blocks x 32 filters, 3 epochs, two seeds) the best
    epoch's validation error of v was 0.330 and 0.320 this way, 0.341 and 0.343 the other.
    """

    def __init__(self, blocks: int, filters: int) -> None:
        super().__init__()
        # "valid": it eats the border of the padded planes
        self.stem = nn.Conv2d(len(PLANES), filters, 3)
        self.tower = nn.Sequential(*(Block(filters) for _ in range(blocks)))
        self.norm = _norm(filters)
        self.p_head = nn.Conv2d(filters, 1, 1)
        self.q_head = nn.Conv2d(filters, 1, 1)
        self.v_head = nn.Linear(2 * filters, 1)

    def forward(self, planes_bchw: Tensor) -> Heads:
        x_bchw = functional.relu(self.norm(self.tower(self.stem(planes_bchw))))
        pooled_bc = torch.cat([x_bchw.mean((2, 3)), x_bchw.amax((2, 3))], dim=1)
        return Heads(
            self.p_head(x_bchw).flatten(1),
            torch.tanh(self.q_head(x_bchw).flatten(1)),
            torch.tanh(self.v_head(pooled_bc).squeeze(1)),
        )


def _norm(filters: int) -> nn.BatchNorm2d:
    # epsilon as in the thesis' code; its momentum (0.999 kept per step) is for 100 epochs, ours forgets faster
    return nn.BatchNorm2d(filters, eps=1e-3, momentum=0.1)
