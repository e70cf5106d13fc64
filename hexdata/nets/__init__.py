"""Networks on disk and in use: a folder holds `net.safetensors` (weights) and `net.json` (what they are).

Both files appear by rename; `net.json` comes last and holds the hash of the weights, so a mixed pair is noticed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch

from hexdata.arrays import Floats, Positions
from hexdata.board import MAX_SIZE, MIN_SIZE
from hexdata.features import PLANES, Boards, planes, unpack_stones
from hexdata.nets.three_head import Heads, ThreeHeadNet
from hexdata.records import BadFile, write_json, write_whole

__all__ = [
    "NET_FILES",
    "Heads",
    "NetCard",
    "Predictions",
    "ThreeHeadNet",
    "load_net",
    "net_hash",
    "predict",
    "read_card",
    "save_net",
    "training_device",
    "weights_bytes",
]

FORMAT_VERSION = 1
ARCHITECTURE = "three-head"
NET_FILES = ("net.safetensors", "net.json")


@dataclass(frozen=True)
class NetCard:
    """What `net.json` says."""

    format_version: int
    architecture: str
    blocks: int
    filters: int
    planes: tuple[str, ...]
    board_size: int
    """The size that it was trained on."""
    data_hash: str
    net_hash: str
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Predictions:
    """What a network says of each position: the best legal move is `log_policy.argmax(1)` or `q.argmin(1)`."""

    log_policy: Floats
    """f32[P, cells], -inf on taken cells."""
    q: Floats
    """f32[P, cells], for the side to move after the move; +inf on taken cells."""
    v: Floats
    """f32[P], for the side to move."""


def training_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def weights_bytes(net: ThreeHeadNet) -> bytes:
    """The safetensors file of a network. No metadata: its order in the file would vary."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    return safetensors.torch.save(weights)


def save_net(
    folder: Path, weights: bytes, *, size: int, blocks: int, filters: int, data_hash: str, metrics: Mapping[str, float]
) -> NetCard:
    card = NetCard(
        format_version=FORMAT_VERSION,
        architecture=ARCHITECTURE,
        blocks=blocks,
        filters=filters,
        planes=PLANES,
        board_size=size,
        data_hash=data_hash,
        net_hash=hashlib.sha256(weights).hexdigest(),
        metrics=dict(metrics),
    )
    write_whole(folder / "net.safetensors", weights)
    write_json(folder / "net.json", asdict(card))
    return card


def net_hash(folder: Path) -> str:
    """The name of a network: the sha256 of its weights."""
    return hashlib.sha256(_read(folder / "net.safetensors")).hexdigest()


def read_card(folder: Path) -> NetCard:
    path = folder / "net.json"
    try:
        raw = json.loads(_read(path))
    except ValueError as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"{path}: not JSON ({error})") from None
    if not isinstance(raw, dict) or set(raw) != set(NetCard.__dataclass_fields__):
        raise BadFile(f"{path}: expected the fields {', '.join(NetCard.__dataclass_fields__)}")
    if raw["format_version"] != FORMAT_VERSION:
        raise BadFile(f"{path}: format_version is {raw['format_version']!r}, expected {FORMAT_VERSION}")
    if raw["architecture"] != ARCHITECTURE:
        raise BadFile(f"{path}: architecture is {raw['architecture']!r}, expected {ARCHITECTURE}")
    if raw["planes"] != list(PLANES):
        raise BadFile(f"{path}: planes are {raw['planes']!r}, expected {', '.join(PLANES)}")
    for field, low, high in (("blocks", 1, None), ("filters", 1, None), ("board_size", MIN_SIZE, MAX_SIZE)):
        value = raw[field]
        if type(value) is not int or value < low or (high is not None and value > high):
            raise BadFile(f"{path}: {field} is {value!r}, expected a number from {low}{f' to {high}' if high else ''}")
    return NetCard(**{**raw, "planes": tuple(raw["planes"])})


def load_net(folder: Path) -> ThreeHeadNet:
    """The network of a folder, on the training device, ready to predict."""
    card = read_card(folder)
    path = folder / "net.safetensors"
    content = _read(path)
    if hashlib.sha256(content).hexdigest() != card.net_hash:
        raise BadFile(f"{path}: its sha256 is not the net_hash of net.json beside it; train it again")
    net = ThreeHeadNet(card.blocks, card.filters)
    try:
        net.load_state_dict(safetensors.torch.load(content))
    except (RuntimeError, safetensors.SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadFile(f"{path}: not the weights that net.json describes ({reason})") from None
    return net.to(training_device(), memory_format=torch.channels_last).eval()  # type: ignore[call-overload, no-any-return]


@torch.inference_mode()
def predict(net: ThreeHeadNet, positions: Positions, batch: int = 1024) -> Predictions:
    """The network's opinion of many positions, of any board size."""
    net.eval()
    device = next(net.parameters()).device
    size = positions.size
    cells = size * size
    log_policy = np.empty((len(positions), cells), dtype=np.float32)
    q = np.empty((len(positions), cells), dtype=np.float32)
    v = np.empty(len(positions), dtype=np.float32)
    for start in range(0, len(positions), batch):
        rows = slice(start, start + batch)
        black, white, to_move = (
            torch.from_numpy(array[rows].copy()).to(device)
            for array in (positions.black, positions.white, positions.to_move)
        )
        boards = Boards(unpack_stones(black, size), unpack_stones(white, size), to_move)
        legal_ba = boards.legal_ba()
        heads: Heads = net(planes(boards, size))
        masked_ba = heads.policy_logits_ba.masked_fill(~legal_ba, -torch.inf)
        log_policy[rows] = masked_ba.log_softmax(1).cpu().numpy()
        q[rows] = heads.q_ba.masked_fill(~legal_ba, torch.inf).cpu().numpy()
        v[rows] = heads.v_b.cpu().numpy()
    return Predictions(log_policy, q, v)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BadFile(f"{path}: no such file") from None
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror})") from None
