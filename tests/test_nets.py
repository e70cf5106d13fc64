import json
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from hexdata.arrays import Positions
from hexdata.board import Position, pack, parse_moves
from hexdata.features import planes
from hexdata.nets import ThreeHeadNet, load_net, net_hash, predict, read_card, save_net, weights_bytes
from hexdata.records import BadFile, write_json
from tests.test_features import boards_of


def small_net() -> ThreeHeadNet:
    torch.manual_seed(1)
    return ThreeHeadNet(blocks=2, filters=8).eval()


def saved(folder: Path, net: ThreeHeadNet, size: int = 4) -> Path:
    save_net(folder, weights_bytes(net), size=size, blocks=2, filters=8, data_hash="d" * 64, metrics={"loss": 1.5})
    return folder


def positions_of(*given: Position) -> Positions:
    size = given[0].size
    black, white = (np.array([list(pack(p.stones(c), size)) for p in given], np.uint8) for c in ("black", "white"))
    return Positions(size, black, white, np.array([p.to_move == "white" for p in given], np.uint8))


POSITIONS = positions_of(*(Position.after(4, parse_moves("b2 c3 a4 d1 c1", 4)[:ply]) for ply in range(6)))


@pytest.mark.parametrize("size", [2, 5, 13])
def test_heads_have_one_value_per_cell_on_any_board(size: int) -> None:
    heads = small_net()(planes(boards_of(Position.empty(size), Position.after(size, [1])), size))
    assert heads.policy_logits_ba.shape == heads.q_ba.shape == (2, size * size)
    assert heads.v_b.shape == (2,)
    for head in (heads.q_ba, heads.v_b):
        assert head.abs().max() < 1


def test_a_saved_net_predicts_the_same(tmp_path: Path) -> None:
    net = small_net()
    loaded = load_net(saved(tmp_path, net))
    before, after = predict(net, POSITIONS), predict(loaded, POSITIONS, batch=2)
    for name in ("log_policy", "q", "v"):
        np.testing.assert_allclose(getattr(before, name), getattr(after, name), atol=1e-6)
    card = read_card(tmp_path)
    assert card.net_hash == net_hash(tmp_path)
    assert (card.board_size, card.blocks, card.filters) == (4, 2, 8)
    assert (card.data_hash, card.metrics) == ("d" * 64, {"loss": 1.5})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.json", "net.safetensors"]


def test_taken_cells_are_never_chosen() -> None:
    net = small_net()
    with torch.no_grad():
        # a net of strong opinions, of taken cells as well
        net.p_head.weight.mul_(50)
        net.q_head.weight.mul_(50)
    predictions = predict(net, POSITIONS)
    legal = POSITIONS.legal()
    assert legal.sum(axis=1).tolist() == [16, 15, 14, 13, 12, 11]
    rows = np.arange(len(POSITIONS))
    assert legal[rows, predictions.log_policy.argmax(axis=1)].all()
    assert legal[rows, predictions.q.argmin(axis=1)].all()
    np.testing.assert_array_equal(predictions.log_policy > -np.inf, legal)
    np.testing.assert_array_equal(predictions.q < np.inf, legal)
    np.testing.assert_allclose(np.exp(predictions.log_policy).sum(axis=1), 1, rtol=1e-5)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"net\.json: no such file"):
        load_net(tmp_path)
    saved(tmp_path, small_net())
    (tmp_path / "net.safetensors").unlink()
    with pytest.raises(BadFile, match=r"net\.safetensors: no such file"):
        load_net(tmp_path)


def test_cut_weights_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, small_net()) / "net.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BadFile, match=r"net\.safetensors: its sha256 is not"):
        load_net(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not weights", safetensors.torch.save({"x": torch.zeros(3)})])
def test_other_weights_are_refused_even_with_the_right_hash(tmp_path: Path, content: bytes) -> None:
    save_net(tmp_path, content, size=4, blocks=2, filters=8, data_hash="", metrics={})
    with pytest.raises(BadFile, match=r"not the weights that net\.json describes") as caught:
        load_net(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("format_version", 2, "format_version is 2, expected 1"),
        ("architecture", "linear", "architecture is 'linear'"),
        ("planes", ["black"], "expected black, white, empty, to_move"),
        ("blocks", "2", "blocks is '2', expected a number from 1"),
        ("board_size", 40, "board_size is 40, expected a number from 2 to 19"),
        ("filters", 16, "not the weights that net.json describes"),
    ],
)
def test_a_wrong_card_is_refused(tmp_path: Path, field: str, value: object, message: str) -> None:
    path = saved(tmp_path, small_net()) / "net.json"
    write_json(path, {**json.loads(path.read_text()), field: value})
    with pytest.raises(BadFile, match=message):
        load_net(tmp_path)


@pytest.mark.parametrize(("content", "message"), [("{", "not JSON"), ("[]", "expected the fields"), ("{}", "fields")])
def test_a_broken_card_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (saved(tmp_path, small_net()) / "net.json").write_text(content)
    with pytest.raises(BadFile, match=message):
        load_net(tmp_path)
