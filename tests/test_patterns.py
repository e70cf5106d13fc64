"""Pattern weights: codes that agree with the board as drawn, strengths that are found again, files that are checked."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hexdata import engine
from hexdata.board import Position
from hexdata.engine import Board, load_patterns, pattern_candidates, play_games, search
from hexdata.generate import Shard, make_shard
from hexdata.params import BadParams, PatternsParams, read_patterns
from hexdata.patterns import (
    NEAR,
    NO_REPLY,
    Competitions,
    Family,
    Origin,
    competitions,
    learn,
    learning_key,
    minorise,
    playing_version,
    read_origin,
    shards,
    six_cell_replies,
)

SHIPPED = (Path(engine.__file__).parent / "patterns.bin").read_bytes()
STEPS = [(-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1), (-2, 1), (-1, 2), (1, 1), (2, -1), (1, -2), (-1, -1)]


@pytest.fixture
def weights() -> Iterator[None]:
    """Whatever a test loads, the next one plays with what is shipped."""
    yield
    load_patterns(SHIPPED)


def params(**changes: object) -> PatternsParams:
    return read_patterns(Path(__file__).parent.parent / "params.yaml").model_copy(update=changes)


def code(position: Position, cell: int) -> int:
    """The twelve cells around, read off the board: 0 empty, 1 black, 2 white, 3 beyond two edges."""
    result, size = 0, position.size
    for number, (down, right) in enumerate(STEPS):
        row, column = cell // size + down, cell % size + right
        off_rows, off_columns = not 0 <= row < size, not 0 <= column < size
        if off_rows or off_columns:
            stone = int(off_rows) + 2 * int(off_columns)
        else:
            there = row * size + column
            stone = (position.black >> there & 1) + 2 * (position.white >> there & 1)
        result |= stone << 2 * number
    return result


def reply(position: Position, last: int, cell: int) -> int:
    """The cells around the last move and the place: the smallest of the images that the mover cannot tell apart."""
    images = []
    for symmetry in (0, 1) if position.to_move == "black" else (2, 3):
        cells = engine.transform(position.size, symmetry)
        (row, column), (down, right) = (divmod(int(cells[c]), position.size) for c in (last, cell))
        step = STEPS.index((down - row, right - column))
        images.append(code(position.transform(symmetry), int(cells[last])) | step << 24)
    return min(images) + (1 << 24)


@pytest.mark.parametrize("size", [2, 3, 5, 9])
def test_codes_agree_with_the_board_and_its_symmetries(size: int) -> None:
    """White's view is Black's after the transposition that swaps the colours; a half-turn changes nothing."""
    games = play_games(size, "random", "random", [[]] * 5, range(5), dither_moves=0, temperature=0.0)
    found = pattern_candidates(size, games["moves"], games["offsets"], False)
    seen = 0
    for game in range(5):
        moves = games["moves"][games["offsets"][game] : games["offsets"][game + 1]].tolist()
        for ply in range(len(moves)):
            at = int(games["offsets"][game]) + ply
            position = Position.after(size, moves[:ply])
            last = divmod(moves[ply - 1], size) if ply else None
            for index in range(found["offsets"][at], found["offsets"][at + 1]):
                cell = int(found["cells"][index])
                images = []
                for symmetry in (0, 1) if position.to_move == "black" else (2, 3):
                    image = position.transform(symmetry)
                    images.append(code(image, int(engine.transform(size, symmetry)[cell])))
                assert found["codes"][index] & 0xFFFFFF == min(images)
                row, column = divmod(cell, size)
                near = last is not None and (row - last[0], column - last[1]) in STEPS
                assert bool(found["codes"][index] & NEAR) == near
                assert found["replies"][index] == (reply(position, moves[ply - 1], cell) if near else NO_REPLY)
                seen += 1
    assert seen > 5


def test_candidates_of_a_node_are_those_worth_trying() -> None:
    games = play_games(6, "mohex-2011:playouts=50", "random", [[]], [1], dither_moves=0, temperature=0.0)
    bare = pattern_candidates(6, games["moves"], games["offsets"], False)
    filled = pattern_candidates(6, games["moves"], games["offsets"], True)
    assert len(filled["cells"]) < len(bare["cells"])
    for at in range(len(games["moves"])):
        some, most = (set(found["cells"][found["offsets"][at] : found["offsets"][at + 1]]) for found in (filled, bare))
        assert some <= most


def test_a_cut_bridge_is_seen() -> None:
    # Black c1 and b3 are a bridge over b2 and c2; White takes one of the two
    moves = np.array([2, 24, 11, 6], np.uint16)
    found = pattern_candidates(5, np.append(moves, 7).astype(np.uint16), np.array([0, 5]), False)
    assert found["bridge"].tolist() == [0, 0, 0, 0, 1]


def test_strengths_are_found_again() -> None:
    """Two features a candidate, the second absent from half of them; what was drawn with known strengths."""
    rng = np.random.default_rng(1)
    truth, bonus = np.array([0.25, 1.0, 4.0, 16.0]), np.array([1.0, 0.5, 8.0])
    ids, seconds = rng.integers(0, 4, size=(20000, 6)), rng.choice([0, 0, 1, 2], size=(20000, 6))
    strengths = truth[ids] * bonus[seconds]
    chances = strengths / strengths.sum(axis=1, keepdims=True)
    chosen = (rng.random(20000)[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)
    wins = np.zeros(ids.shape)
    wins[np.arange(20000), chosen] = 1
    codes = ids.ravel().astype(np.uint32)
    replies = seconds.ravel().astype(np.uint32)
    # no game is held out: their numbers do not end in 9
    found = Competitions(codes, replies, np.arange(0, 120000, 6), wins.ravel(), np.zeros(20000, np.int64))
    families = (Family.of(codes), Family.of(replies, NO_REPLY))

    def likelihood(learned: list[np.ndarray]) -> float:
        product = learned[0][ids] * learned[1][seconds]
        return float((np.log(product) * wins).sum() - np.log(product.sum(axis=1)).sum())

    learned = [minorise(families, found, params(passes=passes)) for passes in (1, 3, 10, 100)]
    assert np.allclose(learned[-1][0] / learned[-1][0][1], truth, rtol=0.08)
    assert np.allclose(learned[-1][1], bonus, rtol=0.08)
    assert learned[-1][1][0] == 1
    scores = [likelihood(strengths) for strengths in learned]
    assert scores == sorted(scores)
    (replies_only,) = minorise(families[1:], found, params(passes=100), truth[ids].ravel())
    assert np.allclose(replies_only, bonus, rtol=0.08)


def test_a_reply_and_its_half_turn_have_one_ring() -> None:
    # a stone east of the last move and a reply west of it, at steps 2 and 5
    east, west = 1 << 4 | 6 << 24, 1 << 10 | 3 << 24
    assert len(set(six_cell_replies(np.array([east, west, east | 1 << 12], np.uint32)).tolist())) == 1
    assert six_cell_replies(np.array([NO_REPLY], np.uint32)).tolist() == [NO_REPLY]


def small_games() -> pa.Table:
    shard = Shard("small", 0, 7, 40, "mohex-2011:playouts=100,reuse=off", "one-stone", 4, 1.0, 3)
    return pq.read_table(pa.BufferReader(make_shard(shard)))


@pytest.mark.usefixtures("weights")
def test_weights_predict_held_out_games_and_play() -> None:
    games = small_games()
    file, metrics = learn(games, params(min_count=5, passes=15))
    for part in ("prior", "playout"):
        figures: Any = metrics[part]
        assert figures["log_likelihood"] > figures["uniform_log_likelihood"] + 0.3
    assert learn(games, params(min_count=5, passes=15))[0] == file
    before = search(Board(7), "mohex:playouts=300", 1)
    load_patterns(file)
    after = search(Board(7), "mohex:playouts=300", 1)
    assert before["visit_counts"].tolist() != after["visit_counts"].tolist()


@pytest.mark.usefixtures("weights")
def test_replies_are_played_where_they_were_learned() -> None:
    """With a strong reply at step 0, north of the last move, playouts begin there and the tree looks there first."""
    strong = (4096).to_bytes(2, "little")  # 2^16
    keys = [kind << 29 | 1 << 24 | step << 25 for kind in (2, 4) for step in (0,)]
    load_patterns(header(len(keys)) + b"".join(key.to_bytes(4, "little") + strong for key in keys))
    board = Board(9)
    board.play(40)
    found = search(board, "mohex:playouts=60,expand=1", 1)
    # White's view mirrors the step; a half-turn is the same pattern
    assert found["best"] in (39, 41)


def test_the_games_are_those_of_the_engine_before_the_promotion() -> None:
    origin = Origin(learned_by=4, promoted_as=5, params="")
    assert [playing_version(current, origin) for current in (5, 6)] == [4, 6]
    with pytest.raises(BadParams, match="expected mohex-2011, which reads no weights, not 'uct"):
        shards(params(games=params().games.model_copy(update={"player": "uct:playouts=5"})))


def test_the_shipped_weights_are_those_of_the_shipped_params() -> None:
    """Change them together: `dvc repro patterns/dvc.yaml`, then `hexdata patterns promote`."""
    assert read_origin(Path(engine.__file__).parent).params == learning_key(params())


def test_wins_are_shares_of_the_visits() -> None:
    found = competitions(small_games(), filled=True)
    assert np.allclose(np.add.reduceat(found.wins, found.starts), 1)
    assert (np.diff(found.game) >= 0).all()


def entry(key: int) -> bytes:
    return key.to_bytes(4, "little") + b"\0\0"


def header(count: int) -> bytes:
    return b"HEXPAT02" + bytes(4) + count.to_bytes(4, "little")


@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (b"", "pattern weights must begin with HEXPAT02"),
        (b"HEXPAT01" + bytes(8), "pattern weights must begin with HEXPAT02"),
        (header(2) + entry(0), "pattern weights must be 28 bytes for 2 entries, not 22"),
        (header(2) + entry(5) + entry(5), "entry 1 has the bad key 5"),
        (header(1) + entry(5 << 29), "entry 0 has the bad key 2684354560"),
        (header(1) + entry(1 << 24 | 0x1000), "entry 0 has the bad key 16781312"),
        (header(1) + entry(3 << 29 | 7), "entry 0 has the bad key 1610612743"),
        (header(1) + entry(2 << 29 | 12 << 25), "entry 0 has the bad key 1476395008"),
        (header(1) + entry(1 << 25), "entry 0 has the bad key 33554432"),
    ],
)
def test_malformed_weights_are_refused_and_change_nothing(file: bytes, sentence: str) -> None:
    before = search(Board(6), "mohex:playouts=100", 1)["visit_counts"].tolist()
    with pytest.raises(ValueError, match=sentence):
        load_patterns(file)
    assert search(Board(6), "mohex:playouts=100", 1)["visit_counts"].tolist() == before


@pytest.mark.usefixtures("weights")
def test_without_entries_every_move_is_as_strong() -> None:
    load_patterns(header(0))
    rng = random.Random(1)
    board = Board(5)
    board.play(rng.randrange(25))
    assert search(board, "mohex:playouts=50", 1)["best"] in board.legal()


def test_illegal_games_are_named() -> None:
    with pytest.raises(ValueError, match="game 0, ply 1: cell 3 already has a stone"):
        pattern_candidates(5, np.array([3, 3], np.uint16), np.array([0, 2]), True)
    with pytest.raises(ValueError, match=r"offsets must begin with 0 and end with the number of moves \(1\)"):
        pattern_candidates(5, np.array([3], np.uint16), np.array([0, 2]), True)
