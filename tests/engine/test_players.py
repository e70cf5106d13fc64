"""The players that search with knowledge: legal games, the same for a seed, and proofs that the solver confirms."""

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hexdata.board import Position
from hexdata.engine import Board, play_games, search, solve

PLAYERS = [
    "mohex:playouts=40-60",
    "mohex-2011:playouts=40-60",
    "mohex-2011:playouts=60,rave=off,reuse=off,early=off,extend=off,knowledge=16,expand=2,noise=0.25,noise_shape=0.1",
    "resistance",
    "resistance-4ply:width=3",
    "solver:nodes=20",
]
Games = dict[str, NDArray[Any]]


def self_play(player: str, size: int, openings: list[list[int]], seeds: list[int]) -> Games:
    return play_games(size, player, player, openings, seeds, dither_moves=3, temperature=1.0)


def moves_of(games: Games, game: int) -> list[int]:
    return games["moves"][games["offsets"][game] : games["offsets"][game + 1]].tolist()


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_games_are_legal_and_the_winner_is_right(player: str, size: int) -> None:
    openings = [[cell] for cell in random.Random(size).sample(range(size * size), 3)]
    games = self_play(player, size, openings, [1, 2, 3])
    for game in range(3):
        moves = moves_of(games, game)
        # Position.after refuses a taken cell and a move after the end
        assert Position.after(size, moves[:-1]).winner() is None
        assert Position.after(size, moves).winner() == ("black", "white")[games["winner"][game]]


def check_self_play(size: int, count: int, player: str, seed: int) -> None:
    openings = [[cell % size**2] for cell in range(seed, seed + count)]
    games = play_games(size, player, "mohex-2011:playouts=300", openings, range(count), dither_moves=4, temperature=1.0)
    for game in range(count):
        moves = moves_of(games, game)
        assert Position.after(size, moves[:-1]).winner() is None
        assert Position.after(size, moves).winner() == ("black", "white")[games["winner"][game]]


def test_subtrees_are_kept_through_whole_games() -> None:
    """Proved nodes have no children; a subtree below one was once read past its end."""
    check_self_play(7, 40, "mohex:playouts=500", 0)
    check_self_play(9, 6, "mohex:playouts=500,knowledge=20,expand=1", 40)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "count"), [(5, 250), (6, 250), (7, 200), (8, 100), (9, 100), (10, 50), (11, 50)])
def test_a_thousand_games(size: int, count: int) -> None:
    check_self_play(size, count, "mohex:playouts=500-1000,noise=0.25", 0)


@pytest.mark.parametrize("player", PLAYERS)
def test_a_game_depends_on_its_seed_alone(player: str) -> None:
    openings = [[], [7], [12, 3], [7]]
    together = self_play(player, 5, openings, [1, 2, 3, 4])
    for game in range(4):
        alone = self_play(player, 5, [openings[game]], [game + 1])
        assert moves_of(together, game) == moves_of(alone, 0)
        first, last = together["offsets"][game], together["offsets"][game + 1]
        for name in ("budget", "root_value", "sampled"):
            assert (together[name][first:last] == alone[name]).all()
        visits = slice(together["visit_offsets"][first], together["visit_offsets"][last])
        assert (together["visit_counts"][visits] == alone["visit_counts"]).all()


def test_seeds_differ() -> None:
    games = self_play("mohex-2011:playouts=60", 8, [[]] * 8, list(range(8)))
    assert len({tuple(moves_of(games, game)) for game in range(8)}) > 4


def random_board(size: int, stones: int, seed: str) -> Board:
    rng = random.Random(seed)
    while True:
        board = Board(size)
        for cell in rng.sample(range(size * size), stones):
            if board.winner() is None:
                board.play(cell)
        if board.winner() is None:
            return board


@pytest.mark.parametrize(
    "player", ["mohex:playouts=400", "mohex-2011:playouts=400,knowledge=0", "resistance-4ply:width=2"]
)
@pytest.mark.parametrize(("size", "stones"), [(3, 1), (4, 4), (5, 6), (6, 10), (6, 15)])
def test_what_is_claimed_as_proved_is_right(player: str, size: int, stones: int) -> None:
    claims = 0
    for number in range(12):
        board = random_board(size, stones, f"{size} {stones} {number}")
        thought = search(board, player, number)
        if abs(thought["value"]) < 1:
            continue
        claims += 1
        truth = solve(size, board.black(), board.white(), board.to_move, all_moves=True)
        assert (truth.winner == board.to_move) == (thought["value"] == 1)
        if thought["value"] == 1:
            assert thought["best"] in truth.winning_moves
    assert claims > 0


@pytest.mark.parametrize("player", ["mohex:playouts=200", "mohex-2011:playouts=200", "solver:nodes=100000"])
@pytest.mark.parametrize("size", [4, 5])
def test_a_proved_opening_is_won(player: str, size: int) -> None:
    """The side that the solver says wins does win, from every opening of one stone, against a player of chance."""
    for cell in range(size * size):
        winner = solve(size, [cell], [], "white").winner
        sides = (player, "random") if winner == "black" else ("random", player)
        games = play_games(size, *sides, [[cell]] * 3, [1, 2, 3], dither_moves=0, temperature=0.0)
        assert ["black", "white"][games["winner"][0]] == winner
        assert len(set(games["winner"].tolist())) == 1


def draw(drawing: str, to_move: str) -> Board:
    cells = [stone for line in drawing.strip().splitlines() for stone in line.split()]
    board = Board(int(len(cells) ** 0.5))
    other = "white" if to_move == "black" else "black"
    for colour in (to_move, other):
        for cell, stone in enumerate(cells):
            if stone == colour[0].upper():
                board.play(cell, colour)
    assert board.to_move == to_move
    return board


BRIDGES = """
    . . . . .
     . . B . .
      . . . W .
       . B . . .
        . . W . .
    """


@pytest.mark.parametrize(
    "player", ["mohex:playouts=1000000", "mohex-2011:playouts=1000000", "resistance", "solver:nodes=10"]
)
def test_a_win_by_connections_is_played_at_once(player: str) -> None:
    """Black's stones are joined to each other and to both edges by bridges; White cannot break them."""
    board = draw(BRIDGES, "white")
    thought = search(board, player, 0)
    assert thought["value"] == -1
    assert thought["budget"] <= 10
    board.play(thought["best"])
    reply = search(board, player, 0)
    assert (reply["value"], len(reply["visit_cells"])) == (1, 0)
    board.play(reply["best"])
    assert search(board, player, 0)["value"] == -1


def test_the_budget_is_what_was_spent() -> None:
    board = Board(7)
    fixed = search(board, "mohex-2011:playouts=500,early=off,extend=off", 1)
    assert fixed["budget"] == 500 == fixed["visit_counts"].sum()
    early = search(draw(BRIDGES.replace("W", "."), "white"), "mohex-2011:playouts=3000,knowledge=0", 1)
    assert early["budget"] == early["visit_counts"].sum()
    assert early["budget"] < 4500
    assert search(board, "mohex-2011:seconds=0.01", 1)["budget"] > 0


def test_a_reused_subtree_saves_playouts() -> None:
    fresh, kept = (
        play_games(9, player, player, [[0]], [5], dither_moves=0, temperature=0.0)
        for player in (f"mohex-2011:playouts=4000,early=off,extend=off,reuse={reuse}" for reuse in ("off", "on"))
    )
    assert fresh["budget"][:4].tolist() == [0, 4000, 4000, 4000]
    assert kept["budget"][:3].tolist() == [0, 4000, 4000]
    assert 0 < kept["budget"][3] < 4000
    visits = kept["visit_counts"][kept["visit_offsets"][3] : kept["visit_offsets"][4]].sum()
    # the node was visited ten times before it had children
    assert visits == 3990


def test_root_noise_spreads_the_first_visits() -> None:
    plain = search(Board(9), "mohex-2011:playouts=200", 3)
    noisy = search(Board(9), "mohex-2011:playouts=200,noise=1,noise_shape=0.03", 3)
    assert plain["visit_cells"].tolist() != noisy["visit_cells"].tolist()


@pytest.mark.parametrize("player", ["mohex:playouts=200", "mohex-2011:playouts=200", "resistance"])
def test_knowledge_beats_plain_search(player: str) -> None:
    wins = 0
    for swap in (False, True):
        sides = ("uct:playouts=200", player) if swap else (player, "uct:playouts=200")
        openings = [[cell] for cell in range(0, 49, 4)]
        games = play_games(7, *sides, openings, list(range(13)), dither_moves=0, temperature=0.0)
        wins += int((games["winner"] == int(swap)).sum())
    assert wins >= 20


@pytest.mark.parametrize(
    ("player", "sentence"),
    [
        ("mohex-2011", "player 'mohex-2011': give either 'playouts' or 'seconds'"),
        ("mohex-2011:playouts=5,seconds=1", "give either 'playouts' or 'seconds'"),
        ("mohex-2011:seconds=0", "parameter 'seconds' must be a number from 0.001 to 1e.?05, not '0'"),
        ("mohex-2011:playouts=5,rave=yes", "parameter 'rave' must be on or off, not 'yes'"),
        ("mohex-2011:playouts=5,expand=0", "parameter 'expand' must be a whole number from 1 to 10000000, not '0'"),
        ("mohex-2011:playouts=5,expand=2.5", "parameter 'expand' must be a whole number .* not '2.5'"),
        ("mohex-2011:playouts=5,noise=2", "parameter 'noise' must be a number from 0 to 1, not '2'"),
        ("mohex:playouts=5,bias=0", "parameter 'bias' must be a number from 0.001 to 1000, not '0'"),
        ("mohex:playouts=5,bias=9,rave=off", "'bias' is part of RAVE's formula: expected it without rave=off"),
        ("mohex-2011:playouts=5,width=3", r"unknown parameter 'width' \(expected: seconds, playouts, rave, bias, "),
        ("resistance:width=3", r"unknown parameter 'width' \(expected: none\)"),
        ("resistance-4ply:width=0", "parameter 'width' must be a whole number from 1 to 1000, not '0'"),
        ("solver", "player 'solver': give either 'nodes' or 'seconds'"),
        ("solver:nodes=5,seconds=1", "give either 'nodes' or 'seconds'"),
        ("solver:nodes=0", "parameter 'nodes' must be a whole number from 1 to 1000000000, not '0'"),
    ],
)
def test_bad_players_are_refused_in_one_sentence(player: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        search(Board(5), player, 0)
    assert "\n" not in str(caught.value)


def test_every_move_of_a_long_search_is_counted_once() -> None:
    """No visits on stones, none twice, and the value is a mean of wins."""
    board = random_board(7, 6, "counted")
    thought = search(board, "mohex-2011:playouts=3000", 9)
    cells = thought["visit_cells"]
    assert (np.diff(cells.astype(int)) > 0).all()
    assert set(cells.tolist()) <= set(board.legal())
    assert -1 <= thought["value"] <= 1
