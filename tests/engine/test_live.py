"""A player in a live game: the same moves as in `play_games`, through undo, threads and interrupts."""

import sys
import threading
from contextlib import suppress

import pytest

from hexdata.engine import Board, Player, play_games, player_settings, search

PLAYERS = [
    "random",
    "uct:playouts=50-90",
    "mohex:playouts=200",
    "mohex-2011:playouts=200",
    "resistance",
    "solver:nodes=9",
]


def play_live(size: int, players: tuple[Player, Player], opening: list[int], draw: int = 0) -> Board:
    board = Board(size)
    for cell in opening:
        board.play(cell)
    while board.winner() is None:
        ply = len(board.moves) - len(opening)
        choice = players[len(board.moves) % 2].choose(board, temperature=1.0 if ply < draw else 0.0)
        board.play(choice["move"])
    return board


@pytest.mark.parametrize("name", PLAYERS)
def test_a_seed_gives_the_game_of_play_games(name: str) -> None:
    rival = "mohex-2011:playouts=60"
    games = play_games(6, name, rival, [[3], []], [5, 6], dither_moves=3, temperature=1.0)
    players = Player(name, 5), Player(rival, 5)
    first = play_live(6, players, [3], draw=3)
    for player in players:
        player.new_game(6)
    second = play_live(6, players, [], draw=3)
    assert first.moves + second.moves == games["moves"].tolist()


def test_a_kept_subtree_is_of_the_position_on_the_board() -> None:
    """After other moves than the player expects, undo and stones out of turn it still thinks of what it sees."""
    player = Player("mohex:playouts=300", 1)
    board = Board(5)
    first = player.choose(board)
    board.play(first["move"])
    board.play(0)
    player.choose(board)
    board.undo()
    board.undo()
    assert player.choose(board)["move"] == first["move"] == search(board, "mohex:playouts=300", 1)["best"]
    board.play(12, "black")
    board.play(11, "black")
    board.give_turn("black")
    choice = player.choose(board)
    fresh = search(board, "mohex:playouts=300", 1)
    assert (choice["best"], choice["value"]) == (fresh["best"], 1.0)


def test_the_turn_can_be_given() -> None:
    board = Board(3)
    empty = board.key()
    board.give_turn("white")
    assert board.to_move == "white"
    assert board.key() != empty
    board.play(4)
    assert (board.white(), board.to_move) == ([4], "black")
    board.undo()
    assert board.to_move == "white"
    board.give_turn("black")
    assert board.key() == empty
    with pytest.raises(ValueError, match="a colour must be 'black' or 'white', not 'red'"):
        board.give_turn("red")


def test_two_threads_do_not_share_a_thought() -> None:
    player = Player("uct:playouts=200000", 1)
    thinking = threading.Thread(target=player.choose, args=(Board(11),), daemon=True)
    thinking.start()
    refusals = []
    while thinking.is_alive() and not refusals:
        try:
            player.new_game(2)
        except ValueError as error:
            refusals.append(str(error))
    assert refusals == ["the player is already thinking"]
    thinking.join()
    player.new_game(2)


def test_a_search_does_not_see_what_another_thread_plays() -> None:
    """One that did read past the end of the list of legal moves."""
    current, ended = Board(3), threading.Event()

    def play() -> None:
        nonlocal current
        while not ended.is_set():
            current = board = Board(3)
            for cell in (4, 0, 1, 2, 7):
                board.play(cell)

    playing = threading.Thread(target=play)
    playing.start()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for seed in range(400_000):
            with suppress(ValueError):  # there is nothing to search: black has won
                assert search(current, "random", seed)["best"] < 9
    finally:
        sys.setswitchinterval(before)
        ended.set()
        playing.join()


def test_a_decided_game_has_no_move() -> None:
    board = Board(2)
    for cell in (0, 1, 2):
        board.play(cell)
    with pytest.raises(ValueError, match="there is nothing to search: black has won"):
        Player("random", 1).choose(board)


def test_seconds_are_a_budget_of_every_searcher() -> None:
    for player in ("uct:seconds=0.01", "mohex:seconds=0.01"):
        assert 0 < search(Board(9), player, 1)["budget"] < 100_000


def test_settings_are_those_of_the_player() -> None:
    assert player_settings("random") == []
    assert player_settings("uct:playouts=20-40") == [("playouts", "20-40", False), ("exploration", "0.25", False)]
    settings = {name: (value, switch) for name, value, switch in player_settings("mohex:seconds=0.5,rave=off")}
    assert settings["seconds"] == ("0.5", False)
    assert settings["rave"] == ("off", True)
    assert settings["reuse"] == ("on", True)
    assert "playouts" not in settings
    # said back, they make the same player
    text = ",".join(f"{name}={value}" for name, (value, _) in settings.items())
    assert {name: (value, switch) for name, value, switch in player_settings(f"mohex:{text}")} == settings
    with pytest.raises(ValueError, match="unknown player 'alice'"):
        player_settings("alice")
