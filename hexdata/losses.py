"""The three-head objective of gao-2020 eq. 4.5, with the mistakes of its published code put right.

Everything is a weighted mean over the rows of a batch; the L2 term c ||theta||^2 is left to the optimiser.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from hexdata.nets.three_head import Heads


class Targets(NamedTuple):
    """What a batch should learn.

    v learns the proved value where there is one, else the mean result z. q of the played moves learns -z, because q is
    for the side to move afterwards; a proved win says nothing of the move that was played, so q does not see it. Each
    of them learns the mean over all games of the row: examples keep no result per move, where eq. 4.5 has each game's.
    `lost_b` marks states in which every move loses: proved lost, or lost in each of its games (z = -1) with no move
    drawn at random. Dithered moves may lose a won state; gao-2020 section 5 found the AND term harmful with them.
    """

    legal_ba: Tensor
    policy_ba: Tensor
    played_ba: Tensor
    v_b: Tensor
    z_b: Tensor
    lost_b: Tensor
    weight_b: Tensor


class Losses(NamedTuple):
    """Means over a batch. `loss` is the one to minimise; the rest are its parts before the weights of eq. 4.5."""

    loss: Tensor
    policy: Tensor
    value: Tensor
    q: Tensor
    lost: Tensor
    bellman: Tensor
    top1: Tensor
    """Share of rows whose most likely legal move is the target's; not part of the loss."""


def make_targets(
    legal_ba: Tensor,
    policy_ba: Tensor,
    played_ba: Tensor,
    z_b: Tensor,
    proved_b: Tensor,
    undithered_b: Tensor,
    weight_b: Tensor,
) -> Targets:
    """`proved_b` is +1 or -1 for the side to move, 0 where nothing is proved."""
    proved_lost_b = proved_b == -1
    return Targets(
        legal_ba,
        policy_ba,
        played_ba,
        v_b=torch.where(proved_b != 0, proved_b, z_b),
        z_b=torch.where(proved_lost_b, proved_b, z_b),
        lost_b=proved_lost_b | ((proved_b == 0) & (z_b == -1) & undithered_b),
        weight_b=weight_b,
    )


def three_head_loss(heads: Heads, targets: Targets, value_weight: float) -> Losses:
    """gao-2020 eq. 4.5: -log p + w (1/2 (z-v)^2 + 1/2 (z+q)^2 + L_Q + L_P), w = `value_weight`.

    In the place of -log p of the played move stands the cross-entropy against `policy_ba`, the shares of visits.
    """
    legal_ba = targets.legal_ba
    masked_ba = heads.policy_logits_ba.masked_fill(~legal_ba, -torch.inf)
    # 0 * -inf is not a number: taken cells get 0 after the softmax
    log_p_ba = masked_ba.log_softmax(1).masked_fill(~legal_ba, 0)
    policy_b = -(targets.policy_ba * log_p_ba).sum(1)
    value_b = (targets.v_b - heads.v_b).square()
    q_b = (targets.played_ba * (targets.z_b[:, None] + heads.q_ba).square()).sum(1)

    # L_Q, the AND constraint: every legal move of a lost state leads to a state won for the other side, q = 1
    and_ba = (heads.q_ba - 1).square().masked_fill(~legal_ba, 0)
    lost_b = targets.lost_b * and_ba.sum(1) / legal_ba.sum(1)
    # L_P, Bellman: v = -min q; taken cells must never be the minimum, hence +inf
    bellman_b = (heads.q_ba.masked_fill(~legal_ba, torch.inf).amin(1) + heads.v_b).square()

    loss_b = policy_b + value_weight * (value_b / 2 + q_b / 2 + lost_b + bellman_b)
    top1_b = (masked_ba.argmax(1) == targets.policy_ba.argmax(1)).float()
    share_b = targets.weight_b / targets.weight_b.sum()
    parts = (loss_b, policy_b, value_b, q_b, lost_b, bellman_b, top1_b)
    return Losses(*((share_b * part_b).sum() for part_b in parts))
