"""Positions -> planes, on the training device. Symmetries act on the stones, and planes are made afterwards: the border
colours belong to the board and must not turn with it.

Axes in tensor names: b batch, a cell (action), c plane, h row, w column.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from hexdata.board import SYMMETRIES, cell_map, packed_width

PLANES = ("black", "white", "empty", "to_move")
"""The 4-plane set of gao-2020 section 4.1. Stones include the border; to_move is 0 for Black and 1 for White."""

PADDING = 1


class Boards(NamedTuple):
    """A batch of positions: bool stones per cell, and the side to move as 0 (Black) or 1 (White)."""

    black_ba: Tensor
    white_ba: Tensor
    to_move_b: Tensor

    def legal_ba(self) -> Tensor:
        return ~(self.black_ba | self.white_ba)


def unpack_stones(packed_bp: Tensor, size: int) -> Tensor:
    """bool[b, a] from packed bytes: cell c is bit c % 8 of byte c // 8."""
    if packed_bp.shape[1] != packed_width(size):
        raise ValueError(f"packed stones are {packed_bp.shape[1]} bytes wide, expected {packed_width(size)}")
    bit = torch.arange(8, dtype=torch.uint8, device=packed_bp.device)
    bits = packed_bp[:, :, None].bitwise_right_shift(bit).bitwise_and(1)
    return bits.flatten(1)[:, : size * size].bool()


def planes(boards: Boards, size: int) -> Tensor:
    """f32[b, 4, N+2, N+2], in channels_last memory.

    The border of 2x2, with B where Black's sides are and W where White's are; the corners belong to Black:

        B B B B
        W . . W
        W . . W
        B B B B
    """
    batch = len(boards.to_move_b)
    device = boards.to_move_b.device
    black, white, empty, to_move = range(len(PLANES))
    side = size + 2 * PADDING
    # made as bhwc, which is what channels_last means
    planes_bchw = torch.zeros(batch, side, side, len(PLANES), device=device).permute(0, 3, 1, 2)
    planes_bchw[:, white, :, 0] = 1
    planes_bchw[:, white, :, -1] = 1
    for row in (0, -1):
        planes_bchw[:, white, row] = 0
        planes_bchw[:, black, row] = 1
    inside = slice(PADDING, -PADDING)
    for plane, cells_ba in ((black, boards.black_ba), (white, boards.white_ba), (empty, boards.legal_ba())):
        planes_bchw[:, plane, inside, inside] = cells_ba.view(batch, size, size).float()
    planes_bchw[:, to_move] = boards.to_move_b.float()[:, None, None]
    return planes_bchw


def apply_symmetry(size: int, symmetry_b: Tensor, boards: Boards, *values_ba: Tensor) -> tuple[Boards, list[Tensor]]:
    """Each row's image under its own symmetry (0 to 3), and that of anything that has one value per cell.

    1 is the half-turn; 2 (transpose) and 3 (1 after 2) swap the colours and the side to move.
    """
    symmetry_b = symmetry_b.long()
    # each of the four maps is its own inverse, so "comes from" and "goes to" are the same table
    maps_sa = torch.tensor([cell_map(size, s) for s in SYMMETRIES], device=symmetry_b.device)
    source_ba = maps_sa[symmetry_b]
    black_ba, white_ba, *moved = (t.gather(1, source_ba) for t in (boards.black_ba, boards.white_ba, *values_ba))
    swap_b = symmetry_b >= 2
    return (
        Boards(
            torch.where(swap_b[:, None], white_ba, black_ba),
            torch.where(swap_b[:, None], black_ba, white_ba),
            torch.where(swap_b, 1 - boards.to_move_b, boards.to_move_b),
        ),
        moved,
    )
