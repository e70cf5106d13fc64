"""Matches: the games, their ends, what is kept of them, and what is said about who is stronger."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hexdata import arena, engine
from hexdata.arena import BadMatch, Match, Piece, Seat, pieces, play_game, play_match, play_piece, ratings
from hexdata.board import Position, cell_name
from hexdata.cli import main
from hexdata.errors import BadInput, Unfinished
from hexdata.external import EngineFailed
from hexdata.formats import read_games
from hexdata.import_games import black_first
from hexdata.locks import only_writer
from hexdata.records import folder_hash, read_folder
from hexdata.validate import validate

GTP = f"gtp:timeout=60 '{sys.executable}' -m hexdata.cli gtp"


def play(match: Match, **rest: Any) -> arena.Result:
    return play_match(match, workers=1, **rest)


def rows(result: arena.Result) -> list[dict[str, Any]]:
    return [row for finished in result.finished for row in finished.table.to_pylist()]


def test_every_opening_is_played_with_both_colours() -> None:
    match = Match(3, ("random", "uct:playouts=2", "uct:playouts=3"), "all", seed=4)
    found = rows(play(match))
    assert len(found) == 9 * 3 * 2
    played = [(row["moves"][0], row["black"], row["white"]) for row in found]
    assert len(set(played)) == len(played)
    assert len({row["seed"] for row in found}) == len(found)
    again = rows(play(match))
    assert [row["moves"] for row in found] == [row["moves"] for row in again]
    assert [row["moves"] for row in found] != [
        row["moves"] for row in rows(play(Match(3, match.players, "all", seed=5)))
    ]


def test_a_game_is_that_of_play_games() -> None:
    """Until it is adjudicated."""
    seats = {"black": Seat("mohex:playouts=80", 6), "white": Seat("uct:playouts=80", 6)}
    for seed in range(4):
        game = play_game(6, seats, (seed,), seed)
        whole = engine.play_games(
            6, "mohex:playouts=80", "uct:playouts=80", [[seed]], [seed], dither_moves=0, temperature=0.0
        )
        assert game.moves == whole["moves"][: len(game.moves)].tolist()
        assert game.budget == whole["budget"][: len(game.moves)].tolist()


@pytest.mark.parametrize("size", [4, 6, 8])
def test_adjudicated_games_are_won_when_they_are_played_out(size: int) -> None:
    """By the solver against the strongest defence there is and against chance."""
    match = Match(size, ("mohex:playouts=60", "uct:playouts=60"), "all", games=16)
    proved = [row for row in rows(play(match)) if row["ended_by"] == "proof"]
    assert proved
    for row in proved:
        for rival in ("solver:nodes=1000", "random"):
            board = engine.Board(size)
            for cell in row["moves"]:
                board.play(cell)
            sides = {row["winner"]: engine.Player("solver:nodes=100000", 0)}
            while board.winner() is None:
                side = sides.setdefault(board.to_move, engine.Player(rival, 1))
                board.play(side.choose(board)["move"])
            assert board.winner() == row["winner"]


def test_a_claim_that_is_not_confirmed_ends_nothing() -> None:
    """A search without knowledge that won every playout says 1 as well."""
    match = Match(5, ("uct:playouts=1", "random"), "all")
    found = rows(play(match))
    claims = [ply for row in found for ply, value in enumerate(row["root_value"]) if value == 1]
    assert len(claims) > len(found)
    for row in found:
        if row["ended_by"] == "proof":
            moves = row["moves"]
            to_move = ("black", "white")[len(moves) % 2]
            assert engine.solve(5, moves[::2], moves[1::2], to_move).winner == row["winner"]
        else:
            assert Position.after(5, row["moves"]).winner() == row["winner"]


def test_a_folder_keeps_what_is_finished_and_is_valid(tmp_path: Path) -> None:
    match = Match(4, ("mohex:playouts=20", "random"), "ring2", games=8, seed=1)
    kept: list[bool] = []
    first = play(match, folder=tmp_path / "m", done=lambda piece, fresh: kept.append(fresh))
    assert kept == [True] * 4
    report = validate(tmp_path / "m")
    assert (report.problems, report.rows) == ([], 8)
    games = list(read_games(tmp_path / "m" / "games.sgf"))
    assert len(games) == 8
    for game, row in zip(games, rows(first), strict=True):
        assert isinstance(game, arena.Game)
        assert (game.winner(), [move for _, move in game.moves]) == (row["winner"], row["moves"])
        assert dict(game.info) == {"PB": row["black"], "PW": row["white"]}
    before = {name: folder_hash(tmp_path / "m" / name) for name in ("games", "times")}
    (tmp_path / "m" / "games" / "games-00002.parquet").write_bytes(b"half a fi")
    (tmp_path / "m" / "games" / "games-00099.parquet").write_bytes(b"of another match")
    (tmp_path / "m" / "times" / "games-00001.parquet.json").write_text("broken")
    kept.clear()
    again = play(match, folder=tmp_path / "m", done=lambda piece, fresh: kept.append(fresh))
    assert sorted(kept) == [False, False, False, True]
    assert folder_hash(tmp_path / "m" / "games") == before["games"]
    assert folder_hash(tmp_path / "m" / "times") != before["times"]
    assert again.figures() == first.figures()
    assert json.loads((tmp_path / "m" / "results.json").read_text()) == json.loads(json.dumps(first.figures()))
    # the moves that were timed: of the piece whose times are broken, nothing is known
    timed = [found.notes for number, found in enumerate(again.finished) if number != 1]
    moves, spent = (sum(notes[f"second_{name}"] for notes in timed) for name in ("moves", "ns"))
    assert again.seconds("random") == spent / 1e9 / moves


def test_with_fewer_games_the_others_are_spare(tmp_path: Path) -> None:
    """On 3x3, 18 games start from all openings, 6 from three that have other numbers then."""
    folder = tmp_path / "m"
    kept: list[bool] = []

    def run(games: int | None) -> arena.Result:
        kept.clear()
        match = Match(3, ("random", "uct:playouts=5"), "all", games)
        return play(match, folder=folder, done=lambda piece, fresh: kept.append(fresh))

    first = run(None)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert len(rows(run(6))) == 6
    assert sorted(kept) == [False, True, True]
    assert len(read_folder(folder / "games", "games")) == 6
    assert run(None).figures() == first.figures()
    assert kept == [False] * 9
    assert {path: path.read_bytes() for path in before} == before
    run(6)
    assert kept == [False] * 3


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"size": 4}, "size"),
        ({"players": ("random", "uct:playouts=7"), "seed": 2}, "players and seed"),
        ({"players": ("uct:playouts=5", "random")}, "players"),
        ({"openings": "ring2"}, "openings"),
        ({"swap": True}, "swap"),
    ],
)
def test_a_folder_of_another_match_is_left_alone(tmp_path: Path, change: dict[str, Any], names: str) -> None:
    """A match that was stopped has no results yet."""
    match = Match(3, ("random", "uct:playouts=5"), "all", games=4)
    play(match, folder=tmp_path)
    (tmp_path / "results.json").unlink()
    before = folder_hash(tmp_path)
    with pytest.raises(BadMatch, match=f"holds a match with other {names}: expected the same match or a new folder"):
        play(replace(match, **change), folder=tmp_path)
    assert folder_hash(tmp_path) == before
    fresh: list[bool] = []
    play(match, folder=tmp_path, done=lambda piece, played: fresh.append(played))
    assert fresh == [False, False]


def test_a_match_that_cannot_begin_leaves_no_folder(tmp_path: Path) -> None:
    match = Match(3, ("random", "uct:playouts=1"), "all")
    with pytest.raises(BadInput, match="unknown cluster 'condor'"):
        play_match(match, tmp_path / "m", cluster="condor")
    assert not (tmp_path / "m").exists()
    with only_writer(tmp_path / "m"), pytest.raises(Unfinished, match="m: another run is writing it"):
        play_match(match, tmp_path / "m")


def test_a_damaged_match_is_refused(tmp_path: Path) -> None:
    (tmp_path / "match.json").write_text("[3]")
    with pytest.raises(BadMatch, match=r"match.json: is damaged: expected that of a match, or a new folder"):
        play(Match(3, ("random", "uct:playouts=1"), "all"), folder=tmp_path)


def test_what_a_kill_leaves_of_a_file_is_removed(tmp_path: Path) -> None:
    halves = [tmp_path / ".games.sgf.ab12cd34", tmp_path / ".match.json.__x1y2z3"]
    for path in halves:
        path.write_text("half a fi")
    play(Match(3, ("random", "uct:playouts=1"), "all", games=2), folder=tmp_path)
    assert not any(path.exists() for path in halves)


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadMatch, match=r"holds notes.txt, which is not of a match"):
        play(Match(3, ("random", "uct:playouts=1"), "all"), folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_games_are_the_same_on_a_cluster(tmp_path: Path) -> None:
    match = Match(4, ("mohex:playouts=20", "uct:playouts=20"), "all", games=12)
    play(match, folder=tmp_path / "alone")
    play_match(match, tmp_path / "cluster", workers=2)
    for name in ("games", "games.sgf", "results.json"):
        alone, cluster = tmp_path / "alone" / name, tmp_path / "cluster" / name
        if alone.is_dir():
            assert folder_hash(alone) == folder_hash(cluster)
        else:
            assert alone.read_bytes() == cluster.read_bytes()


def test_a_killed_match_goes_on(tmp_path: Path) -> None:
    words = ["match", "uct:playouts=200", "uct:playouts=100", "--size", "5", "--games", "60", "--workers", "1"]
    command = [sys.executable, "-m", "hexdata.cli", *words, "--out", str(tmp_path / "m"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while len(list((tmp_path / "m").glob("games/games-*.parquet"))) < 2:
            assert process.poll() is None
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "m" / "games").glob("games-*.parquet")}
    done = subprocess.run(command, capture_output=True, check=True)
    figures = json.loads(done.stdout)
    assert figures["played"] == 60
    for path, changed in kept.items():
        assert path.stat().st_mtime_ns == changed
    assert len(read_folder(tmp_path / "m" / "games", "games")) == 60


# ---------------------------------------------------------------------------------------------------------------- swap


def test_a_strong_opening_is_swapped_and_a_weak_one_is_not(tmp_path: Path) -> None:
    openings = tmp_path / "openings.txt"
    openings.write_text("b3\na1\n")
    match = Match(4, ("solver:nodes=10000", "mohex:playouts=100"), str(openings), swap=True)
    result = play(match, folder=tmp_path / "m")
    found = rows(result)
    assert [row["swapped"] for row in found] == [True, True, False, False]
    # who swaps plays Black from there, so each has had both
    assert [row["black"] for row in found[:2]] == ["mohex:playouts=100", "solver:nodes=10000"]
    assert [row["winner"] for row in found] == ["black", "black", "white", "white"]
    assert all(len(row["budget"]) == len(row["moves"]) for row in found)
    assert validate(tmp_path / "m").problems == []
    games = [game for game in read_games(tmp_path / "m" / "games.sgf") if isinstance(game, arena.Game)]
    assert [game.moves[1] for game in games[:2]] == [("white", "swap-pieces")] * 2
    for game, row in zip(games, found, strict=True):
        line = black_first(game)
        assert list(line.moves) == row["moves"]
        told = ("swapped", "winner", "ended_by", "black", "white")
        assert [getattr(line, name) for name in told] == [row[name] for name in told]


def test_a_move_without_thinking_may_be_lost() -> None:
    """After d1 on 4x4 White has one move that is not lost at once: mohex plays it without a search, and loses."""
    seats = {"black": Seat("random", 4), "white": Seat("mohex:playouts=10", 4)}
    assert play_game(4, seats, (3,), 1, swap=True).swapped
    assert not play_game(4, {"black": seats["white"], "white": seats["black"]}, (3,), 1, swap=True).swapped


# ------------------------------------------------------------------------------------------------------------- external


def test_an_external_engine_plays_with_and_without_a_swap(tmp_path: Path) -> None:
    """Our own engine through pipes plays what it plays without them, swapped or not; only claims no wins."""
    own = "mohex:playouts=30"
    for opening, swap in (((10,), False), ((7,), True)):
        external = f"{GTP} --player {own} --seed 5" + swap * " --swap"
        made = play_piece(Piece(0, 5, external, "solver:nodes=2000", opening, (5, 6), swap))
        alone = read_bytes(play_piece(Piece(0, 5, own, "solver:nodes=2000", opening, (5, 6), swap)).content).to_pylist()
        assert made.notes["failures"] == 0
        assert made.notes["first_ns"] > 0
        (tmp_path / "x.parquet").write_bytes(made.content)
        assert validate(tmp_path).problems == []
        found = read_bytes(made.content).to_pylist()
        # the second game of a piece has another seed, and what an engine does with it is its own affair
        assert found[0]["moves"][: len(alone[0]["moves"])] == alone[0]["moves"]
        for row in found:
            assert row["swapped"] == swap
            assert {row["black"], row["white"]} == {external, "solver:nodes=2000"}
            if row["ended_by"] == "chain":
                assert Position.after(5, row["moves"]).winner() == row["winner"]
            else:
                assert row[row["winner"]] == "solver:nodes=2000"


def test_an_engine_swaps_in_its_own_way(tmp_path: Path) -> None:
    """As Benzene's programs do: only where it is told that it may, and the stone stays Black's; it refuses to be told
    of a swap, and to go on after one as if nothing had been.
    """
    program = tmp_path / "engine.py"
    program.write_text("""
import sys
played, may_swap = [], False
for line in sys.stdin:
    command, *words = line.split()
    sign, answer = "=", ""
    if command == "clear_board": played, may_swap = [], False
    elif command == "param_game": may_swap = words == ["allow_swap", "1"]
    elif command == "play" and "swap" not in words[1] + "".join(played): played.append(words[1])
    elif command == "genmove" and "swap" not in "".join(played):
        empty = [f"{c}{r}" for c in "abcd" for r in range(1, 5) if f"{c}{r}" not in played]
        answer = "swap-pieces" if may_swap and len(played) == 1 else empty[0]
        played.append(answer)
    elif command not in ("boardsize", "name", "quit"): sign, answer = "?", "invalid"
    print(sign, answer, "\\n", flush=True)
""")
    external = f"gtp:'{sys.executable}' '{program}'"
    made = play_piece(Piece(0, 4, external, "mohex:playouts=50", (9,), (1, 2), True))
    assert made.notes["failures"] == 0
    found = read_bytes(made.content).to_pylist()
    # b3 is a strong opening: each of them swaps, and has Black then
    assert [(row["swapped"], row["black"]) for row in found] == [(True, "mohex:playouts=50"), (True, external)]
    again = play_piece(Piece(0, 4, external, "mohex:playouts=50", (9,), (1, 2), False))
    assert [row["swapped"] for row in read_bytes(again.content).to_pylist()] == [False, False]


def read_bytes(content: bytes) -> pa.Table:
    return pq.read_table(pa.BufferReader(content))


def test_a_game_with_a_failing_engine_is_played_again(tmp_path: Path) -> None:
    """It dies in its first game, answers with noise in the second, and then plays."""
    state = tmp_path / "state"
    program = tmp_path / "engine.py"
    program.write_text(f"""
import os, sys
board = []
for line in sys.stdin:
    command, *words = line.split()
    if command == "clear_board": board.clear()
    if command == "play": board.append(words[1])
    answer = ""
    if command == "genmove":
        count = os.path.getsize({str(state)!r}) if os.path.exists({str(state)!r}) else 0
        open({str(state)!r}, "a").write("x")
        if count == 0: os._exit(1)
        answer = next(f"{{c}}{{r}}" for c in "abc" for r in range(1, 4) if f"{{c}}{{r}}" not in board)
        if count == 1: answer = "nonsense"
        board.append(answer)
    print("=", answer, "\\n", flush=True)
""")
    piece = Piece(0, 3, f"gtp:'{sys.executable}' '{program}'", "random", (8,), (1, 2), False)
    made = play_piece(piece)
    assert made.notes["failures"] == 2
    assert len(read_bytes(made.content)) == 2
    program.write_text("raise SystemExit('no licence')")
    with pytest.raises(EngineFailed, match="no licence"):
        play_piece(piece)


# ------------------------------------------------------------------------------------------------------------ strengths


def test_two_strengths_are_told_apart_in_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "mohex:playouts=100", "uct:playouts=20", "--size", "5", "--workers", "1"]
    assert main([*words, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    strong, weak = figures["results"]
    assert strong["elo"]["low"] > 0
    assert weak["elo"]["elo"] == 0
    assert strong["all"]["low"] > 0.5
    assert set(figures["seconds_a_move"]) == {"mohex:playouts=100", "uct:playouts=20"}
    assert main(words) == 0
    text = capsys.readouterr().out.splitlines()
    assert text[0].startswith("5x5, 50 games, 25 openings (all) with both colours, no swap, seed 0, engine")
    assert [line.split()[0] for line in text[3:]] == ["player", "mohex:playouts=100", "uct:playouts=20"]


def test_elo_of_two_players_is_their_odds() -> None:
    (a, b) = ratings(np.array([[0, 75], [25, 0]]))
    assert a.elo == pytest.approx(400 * math.log10(3), abs=0.01)
    # the likelihood-ratio interval of 75 of 100 is 66.0 % to 82.8 %
    assert 1 / (1 + 10 ** (-a.low / 400)) == pytest.approx(0.6596, abs=0.001)
    assert 1 / (1 + 10 ** (-a.high / 400)) == pytest.approx(0.8280, abs=0.001)
    assert (b.elo, b.low, b.high) == (0, 0, 0)


def test_a_player_that_won_all_has_a_lower_bound_only() -> None:
    (a, _) = ratings(np.array([[0, 20], [0, 0]]))
    assert a.elo == a.high == math.inf
    # 20 of 20: the likelihood drops by 1.92 at a chance of exp(-1.92 / 20)
    assert 1 / (1 + 10 ** (-a.low / 400)) == pytest.approx(math.exp(-1.920729 / 20), abs=1e-4)
    (c, _) = ratings(np.array([[0, 0], [20, 0]]))
    assert (c.elo, c.low) == (-math.inf, -math.inf)
    assert c.high == pytest.approx(-a.low, abs=0.1)


def test_a_chain_of_players_is_rated_through_the_middle() -> None:
    wins = np.zeros((3, 3), int)
    wins[0, 1], wins[1, 0] = 60, 40
    wins[1, 2], wins[2, 1] = 30, 70
    a, b, _ = ratings(wins)
    assert a.elo - b.elo == pytest.approx(400 * math.log10(60 / 40), abs=0.01)
    assert b.elo == pytest.approx(400 * math.log10(30 / 70), abs=0.01)
    # what is known through another is known less well
    assert a.high - a.low > b.high - b.low
    lonely = np.zeros((3, 3), int)
    lonely[1, 2], lonely[2, 1] = 5, 5
    nobody = ratings(lonely)[0]
    assert math.isnan(nobody.elo)
    assert (nobody.low, nobody.high) == (-math.inf, math.inf)


def test_ratings_do_not_depend_on_the_order_and_find_the_truth() -> None:
    rng = random.Random(3)
    truth = [120.0, -200.0, 40.0, 300.0, 0.0]
    wins = np.zeros((5, 5), int)
    for i in range(5):
        for j in range(i):
            for _ in range(400):
                won = rng.random() < 1 / (1 + 10 ** ((truth[j] - truth[i]) / 400))
                wins[(i, j) if won else (j, i)] += 1
    found = ratings(wins)
    assert all(rating.low <= elo <= rating.high for rating, elo in zip(found, truth, strict=True))
    order = [2, 0, 3, 1, 4]
    mixed = ratings(wins[np.ix_(order, order)])
    for place, player in enumerate(order):
        assert mixed[place].elo == pytest.approx(found[player].elo, abs=0.01)
        assert mixed[place].high == pytest.approx(found[player].high, abs=0.1)


def test_players_without_chance_repeat_themselves() -> None:
    result = play(Match(4, ("resistance", "solver:nodes=100"), "one-stone", games=64))
    assert result.distinct() == 32
    assert "only 32 games differ" in result.report()


# ------------------------------------------------------------------------------------------------------------ arguments


def test_fewer_games_are_spread_over_the_openings() -> None:
    starts = [piece.opening for piece in pieces(Match(5, ("random", "uct:playouts=1"), "all", games=10))]
    assert starts == [(0,), (5,), (10,), (15,), (20,)]
    more = [piece.opening for piece in pieces(Match(2, ("random", "uct:playouts=1"), "all", games=12))]
    assert more == [(0,), (1,), (2,), (3,), (0,), (1,)]
    drawn = pieces(Match(5, ("random", "uct:playouts=1"), "random:stones=3", games=6))
    assert [len(piece.opening) for piece in drawn] == [3, 3, 3]


@pytest.mark.parametrize("size", [9, 11])
def test_balanced_openings_are_those_of_the_pilot(size: int) -> None:
    pilot = arena.balanced_lists()[str(size)]
    found = {cell_name(cell, size) for (cell,) in arena.balanced_openings(size)}
    assert len(found) >= 8
    assert set(pilot["black_wins"]) == {cell_name(cell, size) for cell in range(size * size)}
    for name, wins in pilot["black_wins"].items():
        assert (name in found) == (0.2 <= wins / pilot["games"] <= 0.8)
    # a half-turn changes nothing
    last = size * size - 1
    assert all((last - cell,) in arena.balanced_openings(size) for (cell,) in arena.balanced_openings(size))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["random"], "a match needs two players at least"),
        (["random", "random"], "player 'random' is named twice"),
        (["random", "alice"], "unknown player 'alice'"),
        (["random", "gtp:no-such-engine"], "there is no program 'no-such-engine' here"),
        (["random", "uct:playouts=1", "--games", "3"], "3 games: expected an even number"),
        (["random", "uct:playouts=1", "--games", "0"], "0 games: expected an even number from 2 to 1,000,000"),
        (["random", "uct:playouts=1", "--games", "1000000000000"], "expected an even number from 2 to 1,000,000"),
        (
            ["random", "uct:playouts=1", "--openings", "no.txt"],
            "openings 'no.txt': no such file: expected all",
        ),
        (["random", "uct:playouts=1", "--size", "99"], "board size 99 is out of range"),
        (["random", "uct:playouts=1", "--openings", "nowhere"], "unknown openings 'nowhere'"),
        (["random", "uct:playouts=1", "--openings", "random:stones=3"], "expected --games to say how many"),
        (
            ["random", "uct:playouts=1", "--size", "5", "--openings", "balanced"],
            "no balanced openings are known for 5x5",
        ),
        (
            ["random", "uct:playouts=1", "--size", "4", "--openings", "two-stone", "--swap"],
            "a swap is of the first stone",
        ),
        (["random", "uct:playouts=1", "--out", "README.md"], "README.md: a file: expected a folder"),
    ],
)
def test_bad_matches_are_refused(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", *words, "--workers", "1"]) == 2
    caught = capsys.readouterr()
    assert sentence in caught.err
    assert caught.out == ""
    assert len(caught.err.splitlines()) == 1


@pytest.mark.parametrize("size", [5, pytest.param(6, marks=pytest.mark.slow)])
def test_proved_openings_are_won_against_uct(size: int) -> None:
    """From every opening whose winner is proved, the winning side beats uct in 98 % at least."""
    strong, weak = "mohex:playouts=1000", "uct:playouts=1000"
    wins = games = 0
    for cell in range(size * size):
        winner = engine.solve(size, [cell], [], "white").winner
        sides = (strong, weak) if winner == "black" else (weak, strong)
        played = engine.play_games(size, *sides, [[cell]] * 10, range(10), dither_moves=0, temperature=0.0)
        wins += int((played["winner"] == int(winner == "white")).sum())
        games += 10
    assert wins >= 0.98 * games
