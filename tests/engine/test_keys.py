"""Keys against their definition in plain Python, symmetries against keys, and replay against Board."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hexdata.engine import KEY_SEED, Board, keys, play_games, replay, transform

MASK = 2**64 - 1


def splitmix64(seed: int, index: int) -> int:
    x = (seed + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def constant(k: int) -> int:
    return splitmix64(KEY_SEED, 2 * k) << 64 | splitmix64(KEY_SEED, 2 * k + 1)


def python_key(size: int, black: list[int], white: list[int], to_move: int) -> bytes:
    key = constant(723 + size) ^ (constant(722) if to_move else 0)
    for colour, cells in enumerate((black, white)):
        for cell in cells:
            key ^= constant(colour * 361 + cell)
    return key.to_bytes(16, "big")


def image(
    size: int, black: list[int], white: list[int], to_move: int, symmetry: int
) -> tuple[list[int], list[int], int]:
    def move(cell: int) -> int:
        r, c = divmod(cell, size)
        if symmetry >= 2:
            r, c = c, r
        if symmetry % 2:
            r, c = size - 1 - r, size - 1 - c
        return r * size + c

    black, white = sorted(map(move, black)), sorted(map(move, white))
    return (white, black, 1 - to_move) if symmetry >= 2 else (black, white, to_move)


def python_stored(size: int, black: list[int], white: list[int], to_move: int) -> tuple[bytes, int]:
    """The orbit key and the symmetry of the stored image, by the definition."""
    images = [image(size, black, white, to_move, s) for s in range(4)]
    exact = [python_key(size, *position) for position in images]
    black_first = [s for s, (b, w, side) in enumerate(images) if len(b) - len(w) == side]
    return min(exact), min(black_first or range(4), key=lambda s: (exact[s], s))


def pack(size: int, cells: list[int]) -> NDArray[np.uint8]:
    bits = np.zeros(size * size, np.uint8)
    bits[cells] = 1
    return np.packbits(bits, bitorder="little")


def unpack(size: int, packed: NDArray[np.uint8]) -> list[int]:
    return np.flatnonzero(np.unpackbits(packed, bitorder="little")[: size * size]).tolist()


@st.composite
def positions(draw: st.DrawFn) -> tuple[int, list[int], list[int], int]:
    """Any position: those of a game, of a game that White began, and handicaps."""
    size = draw(st.integers(2, 19))
    cells = draw(st.permutations(range(size * size)))[: draw(st.integers(0, min(size * size, 24)))]
    split = draw(st.one_of(st.integers(0, len(cells)), st.just(len(cells) // 2), st.just((len(cells) + 1) // 2)))
    return size, sorted(cells[:split]), sorted(cells[split:]), draw(st.integers(0, 1))


def engine_keys(size: int, black: list[int], white: list[int], to_move: int) -> tuple[bytes, int]:
    found, symmetry = keys(size, pack(size, black)[None], pack(size, white)[None], np.array([to_move], np.uint8))
    return found[0].tobytes(), int(symmetry[0])


@given(positions())
def test_keys_are_the_documented_ones(position: tuple[int, list[int], list[int], int]) -> None:
    assert engine_keys(*position) == python_stored(*position)


@given(positions(), st.integers(0, 3))
def test_an_orbit_has_one_key_and_one_stored_image(
    position: tuple[int, list[int], list[int], int], symmetry: int
) -> None:
    size = position[0]
    moved = image(*position, symmetry)
    key, stored = engine_keys(*position)
    moved_key, moved_stored = engine_keys(size, *moved)
    assert moved_key == key
    assert image(*position, stored) == image(size, *moved, moved_stored)


@pytest.mark.parametrize("size", range(2, 20))
@pytest.mark.parametrize("symmetry", range(4))
def test_transform_is_the_documented_map_and_its_own_inverse(size: int, symmetry: int) -> None:
    cells = transform(size, symmetry)
    assert cells.dtype == np.uint16
    images = (image(size, [c], [], 0, symmetry) for c in range(size * size))
    assert cells.tolist() == [(black + white)[0] for black, white, _ in images]
    assert (cells[cells] == np.arange(size * size)).all()


def test_transform_refuses_other_symmetries() -> None:
    with pytest.raises(ValueError, match="the symmetry must be 0 to 3, not 4"):
        transform(5, 4)


@given(st.integers(2, 19), st.integers(0, 2**32), st.data())
def test_undo_restores_the_key(size: int, seed: int, data: st.DataObject) -> None:
    board = Board(size)
    trail = []
    for cell in np.random.default_rng(seed).permutation(size * size).tolist():
        if board.winner() is not None:
            break
        trail.append((board.key(), board.orbit_key(), board.to_move))
        board.play(cell, data.draw(st.sampled_from([None, "black", "white"])) if len(trail) < 6 else None)
    while trail:
        board.undo()
        assert (board.key(), board.orbit_key(), board.to_move) == trail.pop()


@given(positions())
def test_board_keys_are_the_documented_ones(position: tuple[int, list[int], list[int], int]) -> None:
    size, black, white, _ = position
    board = Board(size)
    for cells, colour in ((black, "black"), (white, "white")):
        for cell in cells:
            if board.winner() is None:
                board.play(cell, colour)
    to_move = 0 if board.to_move == "black" else 1
    assert board.key() == python_key(size, board.black(), board.white(), to_move)
    assert board.orbit_key() == python_stored(size, board.black(), board.white(), to_move)[0]


@settings(max_examples=30)
@given(st.integers(2, 19), st.integers(0, 2**32))
def test_replay_is_board_step_by_step(size: int, seed: int) -> None:
    games = play_games(size, "random", "random", [[], [1], []], [seed, 1, 2], dither_moves=0, temperature=0.0)
    moves, offsets = games["moves"][:-1], games["offsets"].copy()
    offsets[-1] -= 1  # the last game is left undecided
    rows = replay(size, moves, offsets)
    winner_names = {"black": 0, "white": 1, None: 2}
    for g in range(3):
        board = Board(size)
        for m in range(offsets[g], offsets[g + 1]):
            assert rows["orbit_keys"][m].tobytes() == board.orbit_key()
            symmetry = int(rows["symmetry"][m])
            side = 0 if board.to_move == "black" else 1
            stored = image(size, board.black(), board.white(), side, symmetry)
            assert (unpack(size, rows["black"][m]), unpack(size, rows["white"][m]), rows["to_move"][m]) == stored
            assert symmetry == engine_keys(size, board.black(), board.white(), side)[1]
            board.play(int(moves[m]))
        assert rows["winner"][g] == winner_names[board.winner()]
    assert rows["winner"][2] == 2


def test_replay_of_no_games() -> None:
    rows = replay(9, np.array([], np.uint16), np.array([0], np.int64))
    assert {name: column.shape for name, column in rows.items()} == {
        "orbit_keys": (0, 16),
        "symmetry": (0,),
        "black": (0, 11),
        "white": (0, 11),
        "to_move": (0,),
        "winner": (0,),
    }


@pytest.mark.parametrize(
    ("moves", "offsets", "sentence"),
    [
        ([0, 1, 9], [0, 3], "game 0, ply 2: cell 9 is not on a board of size 3"),
        ([0, 4, 1, 4], [0, 1, 4], "game 1, ply 2: cell 4 already has a stone"),
        ([1, 0, 4, 3, 7, 8], [0, 6], "game 0, ply 5: cell 8 is played after black has won"),
        ([0, 1], [0, 1], "offsets must start with 0 and end with the number of moves, 2"),
        ([0, 1], [0, 2, 1, 2], "offsets must not fall, but do at entry 2"),
    ],
)
def test_replay_names_the_game_and_the_ply(moves: list[int], offsets: list[int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        replay(3, np.array(moves, np.uint16), np.array(offsets, np.int64))


def test_keys_checks_its_rows() -> None:
    zero = np.zeros((2, 2), np.uint8)
    with pytest.raises(ValueError, match=r"row 1: to_move must be 0 \(black\) or 1 \(white\), not 2"):
        keys(3, zero, zero, np.array([0, 2], np.uint8))
    with pytest.raises(ValueError, match=r"to_move must have one entry per position \(2\), not 1"):
        keys(3, zero, zero, np.array([0], np.uint8))
