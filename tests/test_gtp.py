"""The protocol: a recorded session, HexGui's start, whole games through pipes, and any line at all."""

import itertools
import random
import re
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from hexdata.board import Position, cell_name, parse_cell
from hexdata.cli import BROKEN_PIPE
from hexdata.engine import Player, play_games
from hexdata.errors import BadInput
from hexdata.external import ExternalPlayer
from hexdata.gtp import Clock, Session

COMMAND = [sys.executable, "-m", "hexdata.cli", "gtp"]


def talk(session: Session, script: str) -> str:
    return "".join(session.answer(line) or "" for line in script.splitlines())


def test_a_recorded_session() -> None:
    session = Session("solver:nodes=1000", 3)
    script = """
        # the first stone is swapped, and Black wins all the same
        1 boardsize 3
        2 play b a3
        3 play w swap-pieces
        4 showboard
        5 genmove b
        6 all_legal_moves
        7 play w a1
        8 final_score
        9 undo
        10 play w resign
        11 final_score
        12 genmove b
        13 undo
        14 final_score
        15 quit
    """
    assert talk(session, script) == (
        "=1 \n\n=2 \n\n=3 \n\n"
        "=4 \n   a b c\n 1 . . O\n  2 . . .\n   3 . . .\n"
        "black to move; Black (X) joins top and bottom, White (O) left and right\n\n"
        "=5 b1\n\n=6 a1 a2 b2 c2 a3 b3 c3\n\n=7 \n\n?8 cannot score: nobody has won yet\n\n"
        "=9 \n\n=10 \n\n=11 B+Resign\n\n=12 resign\n\n=13 \n\n?14 cannot score: nobody has won yet\n\n=15 \n\n"
    )
    assert session.over


def test_the_start_of_hexgui_is_answered() -> None:
    """What it sends when a program is connected, and then for a new game and a move."""
    session = Session("uct:playouts=10")
    answers = {
        line: session.answer(line)
        for line in (
            "name\n", "version\n", "hexgui-analyze_commands\n", "boardsize 11 11\n", "showboard\n",
            "play black f6\n", "genmove white\n", "undo\n", "final_score\n",
        )
    }  # fmt: skip
    assert answers["name\n"] == "= hexdata\n\n"
    assert re.fullmatch(r"= [0-9.]+\n\n", answers["version\n"] or "")
    menu = (answers["hexgui-analyze_commands\n"] or "").removeprefix("= ").strip().splitlines()
    known = (session.answer("list_commands") or "").split()[1:]
    for entry in menu:
        kind, title, command = entry.split("/")
        assert kind in ("param", "string", "plist", "pspairs")
        assert title
        assert command in known
        assert (session.answer(f"known_command {command}"), session.answer(command)[:1]) == ("= true\n\n", "=") or (
            command == "final_score"
        )
    assert re.fullmatch(r"= [a-k][0-9]+\n\n", answers["genmove white\n"] or "")
    # an empty line ends an answer, so none may hold one
    assert all("\n\n" not in (answer or "")[:-2] for answer in answers.values())


def test_a_game_is_that_of_play_games() -> None:
    session = Session("mohex:playouts=100", 6, seed=9)
    talk(session, "boardsize 6\nclear_board")
    expected = play_games(6, *["mohex:playouts=100"] * 2, [[]], [9], dither_moves=0, temperature=0.0)["moves"].tolist()
    two = [session, Session("mohex:playouts=100", 6, seed=9)]
    for ply, cell in enumerate(expected):
        colour = ("black", "white")[ply % 2]
        assert two[ply % 2].answer(f"genmove {colour}") == f"= {cell_name(cell, 6)}\n\n"
        two[1 - ply % 2].answer(f"play {colour} {cell_name(cell, 6)}")
    winner = ("black", "white")[1 - len(expected) % 2]
    assert session.answer("final_score") == f"= {winner[0].upper()}+\n\n"
    assert session.answer("play b a1") == f"? the game is over: {winner} has won\n\n"


def test_after_the_end_all_that_is_left_is_to_resign() -> None:
    """Benzene's scripts play until one side does, tell the other side, and ask both for the score."""
    session = Session("random", 2)
    talk(session, "time_settings 0 60 5\nplay b a1\nplay w b1\nplay b a2")
    asked = ("showboard", "final_score", "hexdata-value")
    before = [session.answer(line) for line in asked]
    assert before[1] == "= B+\n\n"
    script = "reg_genmove w\ngenmove w\ngenmove b\nplay w resign\nplay b resign"
    assert talk(session, script) == "= resign\n\n" * 3 + "= \n\n" * 2
    assert [session.answer(line) for line in asked] == before
    assert session._clocks
    assert session._clocks["white"].stones_left == 5
    assert talk(session, "undo\nfinal_score") == "= \n\n? cannot score: nobody has won yet\n\n"


def test_two_processes_play_a_whole_game_through_pipes() -> None:
    """One is spoken to by hand, the other is the player that the arena would use."""
    size = 5
    spec = " ".join([f"gtp:'{COMMAND[0]}'", *COMMAND[1:], "--player mohex:playouts=100 --seed 3"])
    with (
        subprocess.Popen(
            [*COMMAND, "--player", "uct:playouts=200", "--size", str(size)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as black,
        ExternalPlayer(spec, size) as white,
    ):  # fmt: skip
        assert black.stdin
        assert black.stdout

        def ask(command: str) -> str:
            assert black.stdin
            assert black.stdout
            black.stdin.write(command + "\n")
            black.stdin.flush()
            answer = black.stdout.readline()
            assert answer.startswith("= ")
            assert black.stdout.readline() == "\n"
            return answer[2:].strip()

        position = Position.empty(size)
        moves: list[int] = []
        while position.winner() is None:
            if position.to_move == "black":
                cell = parse_cell(ask("genmove b"), size)
            else:
                answer = white.choose(moves)
                assert isinstance(answer, int)
                cell = answer
                ask(f"play w {cell_name(cell, size)}")
            position = position.play(cell)
            moves.append(cell)
        assert ask("final_score") == {"black": "B+", "white": "W+"}[position.winner()]
        ask("quit")
        assert black.wait() == 0


def test_the_end_of_the_input_ends_the_program() -> None:
    done = subprocess.run(
        [*COMMAND, "--player", "random"], input=b"name\n\xff\xfe\x00\nboardsize 5", capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"= hexdata\n\n? unknown command")
    assert done.stdout.endswith(b"\n\n= \n\n")


def test_a_reader_that_goes_ends_the_program() -> None:
    with subprocess.Popen(
        [*COMMAND, "--player", "random"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"name\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"= hexdata\n"
        process.stdout.close()
        process.stdin.write(b"name\n")
        process.stdin.flush()
        assert (process.wait(), process.stderr.read()) == (BROKEN_PIPE, b"")


def test_swap() -> None:
    session = Session("solver:nodes=1000", 4)
    assert "swap-pieces" not in (session.answer("all_legal_moves") or "")
    talk(session, "param_game allow_swap 1\nplay b a1")
    assert (session.answer("all_legal_moves") or "").endswith(" swap-pieces\n\n")
    # a1 is a weak opening, which White need not swap
    assert session.answer("reg_genmove w") != "= swap-pieces\n\n"
    talk(session, "clear_board\nplay b b3")
    assert session.answer("genmove w") == "= swap-pieces\n\n"
    assert "2 . . O ." in (session.answer("showboard") or "")
    assert session.answer("play w swap-pieces") == (
        "? white cannot swap: expected white, with one stone on the board, of black\n\n"
    )
    talk(session, "undo")
    assert "3 . X . ." in (session.answer("showboard") or "")
    talk(session, "param_game allow_swap 0")
    assert session.answer("genmove w") != "= swap-pieces\n\n"


@pytest.mark.parametrize(
    ("script", "colour"),
    [
        ("play white b2", "black"),
        ("play black b2", "black"),
        ("play white b2", "white"),
        ("play black b2\nplay white swap-pieces", "black"),
        ("play black b2\nplay black d4", "white"),
    ],
)
def test_only_white_swaps_and_once(script: str, colour: str) -> None:
    session = Session("solver:nodes=1000", 4, allow_swap=True)
    assert "?" not in talk(session, script)
    assert ("swap-pieces" in (session.answer("all_legal_moves") or "")) == (script == "play black b2")
    assert (session.answer(f"play {colour} swap-pieces") or "").startswith(f"? {colour} cannot swap: expected white")
    assert session.answer(f"genmove {colour}") != "= swap-pieces\n\n"


@pytest.mark.parametrize("player", ["mohex:playouts=100", "mohex-2011:playouts=100"])
@pytest.mark.parametrize(("size", "names"), [(4, "d1 a4"), (5, "b2 d2 b4 d4"), (6, "e2 d3 c4 b5")])
def test_a_move_without_thinking_may_be_lost(player: str, size: int, names: str) -> None:
    """After these stones White has one move that is not lost at once, so that nothing is searched; Black wins."""
    session = Session(player, size, allow_swap=True)
    for name in names.split():
        talk(session, f"clear_board\nplay b {name}")
        assert session.answer("genmove w") == "= swap-pieces\n\n"


def test_random_never_swaps() -> None:
    session = Session("random", 4, allow_swap=True)
    assert "swap-pieces" not in talk(session, "play b b3\ngenmove w")


def test_colours_need_not_alternate() -> None:
    session = Session("solver:nodes=100", 3)
    talk(session, "genmove w\n" * 9)
    assert session.answer("final_score") == "= W+\n\n"
    assert "X" not in (session.answer("showboard") or "").partition("Black")[0]


def test_parameters_are_shown_and_set() -> None:
    session = Session("mohex:playouts=50,rave=off", 5)
    shown = session.answer("param_player") or ""
    assert "[string] player mohex:playouts=50,rave=off\n" in shown
    assert "[bool] rave 0\n" in shown
    assert "[bool] reuse 1\n" in shown
    assert talk(session, "param_player rave 1\nparam_player seconds 0.01") == "= \n\n= \n\n"
    assert "player mohex:rave=on,seconds=0.01\n" in (session.answer("param_player") or "")
    assert (session.answer("param_player seconds fast") or "").startswith(
        "? player 'mohex:rave=on,seconds=fast': parameter 'seconds' must be a number from 0.001 to 1e"
    )
    assert "seconds=0.01\n" in (session.answer("param_player") or "")
    assert talk(session, "param_player player uct:playouts=5\nparam_player playouts 7") == "= \n\n= \n\n"
    session.answer("genmove b")
    visits = (session.answer("hexdata-visits") or "").split()[1:]
    assert sum(map(int, visits[1::2])) == 7
    assert "for the side that moved" in (session.answer("hexdata-value") or "")


def test_a_clock_shares_out_its_time() -> None:
    main = Clock(100, 0, 0)
    assert main.for_a_move(64) == 5
    main.spend(60)
    assert main.for_a_move(24) == 4
    byo = Clock(0, 30, 3)
    assert byo.for_a_move(100) == 10
    byo.spend(20)
    assert byo.for_a_move(100) == 5
    byo.spend(1)
    byo.spend(1)
    assert byo.for_a_move(100) == 10
    both = Clock(10, 30, 3)
    both.spend(12)
    assert (both.left, both.stones_left) == (30, 3)


def test_time_left_is_of_one_game() -> None:
    session = Session("uct:playouts=10", 5)
    talk(session, "time_left b 1 0\ngenmove b\nclear_board\ngenmove b")
    visits = (session.answer("hexdata-visits") or "").split()[1:]
    assert sum(map(int, visits[1::2])) == 10


def test_a_move_that_is_not_made_takes_no_time() -> None:
    session = Session("uct:playouts=10", 5)
    talk(session, "time_settings 0 60 5\nreg_genmove b")
    assert session._clocks
    assert (session._clocks["black"].left, session._clocks["black"].stones_left) == (60, 5)
    session.answer("genmove b")
    assert session._clocks["black"].left < 60
    assert session._clocks["black"].stones_left == 4


def test_time_settings_give_seconds_instead_of_playouts() -> None:
    session = Session("mohex:playouts=10000000", 5)
    assert talk(session, "time_settings 2 0 0\ngenmove b\ntime_left w 1 0\ngenmove w").count("= ") == 4
    session = Session("uct:playouts=10", 5)
    talk(session, "time_settings 1 0 0\ngenmove b\ntime_settings 0 1 0\nundo\ngenmove b")
    visits = (session.answer("hexdata-visits") or "").split()[1:]
    assert sum(map(int, visits[1::2])) == 10


@pytest.mark.parametrize("settings", ["999999999 0 0", "0 900000 1"])
def test_a_clock_of_weeks_is_no_error(settings: str) -> None:
    """The engine takes no more than 100,000 seconds; on 3x3 a proof ends the search long before."""
    session = Session("mohex:playouts=10", 3)
    assert talk(session, f"time_settings {settings}") == "= \n\n"
    while session.answer("final_score") == "? cannot score: nobody has won yet\n\n":
        for colour in "bw":
            answer = session.answer(f"genmove {colour}") or ""
            assert re.fullmatch(r"= [a-c][1-3]\n\n|= resign\n\n", answer)


def test_a_busy_machine_gets_less_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search stops by the processor's time, and the last one took three times as long on the wall."""
    asked: list[str] = []

    def player(text: str, seed: int) -> Player:
        asked.append(text)
        return Player("random", seed)

    monkeypatch.setattr("hexdata.gtp.Player", player)
    walls, processors = itertools.count(0, 3), itertools.count(0, 1)
    clocks = SimpleNamespace(monotonic=lambda: next(walls), thread_time=lambda: next(processors))
    monkeypatch.setattr("hexdata.gtp.time", clocks)
    session = Session("uct:playouts=10", 5)
    talk(session, "time_settings 0 60 1\ngenmove b\ngenmove w")
    assert asked[-2:] == ["uct:seconds=24.000", "uct:seconds=8.000"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("", None),
        ("  # only a comment", None),
        ("\x00\x07\n", None),
        ("7 name # and a comment", "=7 hexdata\n\n"),
        ("name\r\n", "= hexdata\n\n"),
        ("na\x08me\t", "= hexdata\n\n"),
        ("12", "?12 a number without a command\n\n"),
        ("explode", "? unknown command 'explode' (see list_commands)\n\n"),
        ("play b", "? expected play COLOUR CELL\n\n"),
        ("play red a1", "? 'red' is no colour: expected black or white\n\n"),
        ("play b z9", "? 'z9' is not a cell of a 5x5 board: expected a1 to e5\n\n"),
        ("play b c3", "? c3 is already taken\n\n"),
        ("boardsize 5 6", "? a board of 5x6 is not supported: expected as many columns as rows\n\n"),
        ("boardsize 1", "? board size 1 is out of range: expected 2 to 19\n\n"),
        ("boardsize x", "? expected boardsize N or boardsize N N\n\n"),
        ("name me", "? expected no arguments, not 'me'\n\n"),
        ("time_left b -1 0", "= \n\n"),
        ("time_left b nan 0", "? 'nan' is no number of seconds\n\n"),
        ("param_player player gtp:cat", "? player 'gtp:cat' speaks GTP itself: expected one of the engine's own\n\n"),
        ("param_player player alice", "? unknown player 'alice' (expected: random, uct"),
        ("param_game allow_swap 2", "? 'allow_swap 2' is no parameter and value"),
    ],
)
def test_lines_good_and_bad(line: str, answer: str | None) -> None:
    session = Session("random", 5)
    session.answer("play w c3")
    found = session.answer(line)
    if answer is None or "\n" not in answer:
        assert found is None if answer is None else (found or "").startswith(answer)
    else:
        assert found == answer


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(BadInput, match=f"seed {seed} is out of range: expected 0 to 18446744073709551615"):
        Session("random", 5, seed)


def test_an_external_engine_is_not_served() -> None:
    with pytest.raises(BadInput, match="speaks GTP itself"):
        Session("gtp:cat")


SEEDS = """boardsize 5|boardsize 3 3|clear_board|play b a1|play white b2|play w swap-pieces|play b resign|genmove b
genmove white|reg_genmove w|undo|undo|showboard|final_score|all_legal_moves|name|version|protocol_version
known_command play|list_commands|hexgui-analyze_commands|hexdata-visits|hexdata-value|time_settings 0.1 0 0
time_settings 0 0.01 5|time_settings 0 0 0|time_left b 0.01 0|param_player|param_player playouts 9|param_game
param_player player uct:playouts=3|param_player player random|param_game allow_swap 1|12 name|# comment
param_player player mohex:playouts=9|param_player player mohex-2011:playouts=9|param_player bias 0|param_player bias 0.5
param_player noise 1|param_player rave off|param_player reuse 0|param_player knowledge 1|param_player expand 2
param_player player resistance|param_player player resistance-4ply:width=2|param_player player solver:nodes=5"""


def any_line(rng: random.Random) -> str:
    """A command, a mutation of one, or noise."""
    line = rng.choice(SEEDS.replace("\n", "|").split("|"))
    kind = rng.random()
    if kind < 0.5:
        return line
    if kind < 0.6:
        return "".join(chr(rng.choice((rng.randrange(128), rng.randrange(0x110000)))) for _ in range(rng.randrange(40)))
    characters = list(line)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(characters) + 1)
        piece = rng.choice((chr(rng.randrange(256)), rng.choice(" \t#=?-.:,"), rng.choice("abw019"), line, ""))
        characters[place : place + rng.randrange(3)] = piece
    return "".join(characters)


def check_any_lines(count: int, seed: int) -> None:
    rng = random.Random(seed)
    session = Session("uct:playouts=3", 5)
    games = 0
    moved: Counter[str] = Counter()
    for number in range(count):
        line = any_line(rng)
        if "param_player" in line and re.search("[0-9]{4}", line.replace("2011", "")):
            continue  # legal, and a search of minutes
        if number % 5 == 0:
            session.answer("time_settings 0 0 0")
        if number % 10 == 0:
            session.answer(f"boardsize {rng.randint(2, 6)}")
        answer = session.answer(line)
        if answer is None:
            continue
        assert re.match(r"[=?][0-9]* ", answer), (line, answer)
        assert answer.endswith("\n\n")
        assert "\n\n" not in answer[:-2]
        games += (session.answer("final_score") or "").startswith("=")
        if line.startswith("genmove") and answer.startswith("="):
            moved.update(re.findall(r"player ([a-z0-9-]+)", session.answer("param_player") or ""))
        if session.over:
            session = Session("uct:playouts=3", 5)
    assert games > 0
    assert set(moved) == {"random", "uct", "mohex", "mohex-2011", "resistance", "resistance-4ply", "solver"}


def test_no_line_kills_it() -> None:
    check_any_lines(10_000, 1)


@pytest.mark.slow
def test_no_line_of_a_hundred_thousand_kills_it() -> None:
    check_any_lines(100_000, 2)
