"""Tournaments with an external engine, a real child process: it plays, dies, hangs, and its games end all the same."""

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hexdata import engine, generate
from hexdata.board import Position
from hexdata.external import EngineFailed
from hexdata.params import BadParams, GamesParams
from hexdata.validate import validate

# Plays the last empty cell of the board. `mishap` is Python that may end or stop the process before a move.
ENGINE = """
import pathlib, sys, time
stones, size = set(), 0
for line in sys.stdin:
    command, *words = line.split()
    answer = ""
    if command == "boardsize":
        size = int(words[0])
    elif command == "clear_board":
        stones = set()
    elif command == "play":
        stones.add(words[1])
    elif command == "genmove":
        {mishap}
        names = [chr(97 + column) + str(row + 1) for row in range(size) for column in range(size)]
        answer = [name for name in names if name not in stones][-1]
        stones.add(answer)
    print("=", answer, "\\n", flush=True)
"""
ONCE = """
        marker = pathlib.Path({marker!r})
        if len(stones) > 5 and not marker.exists():
            marker.touch()
            {act}
"""


def outsider(folder: Path, mishap: str = "pass", timeout: float = 60) -> str:
    """The command is the same whatever the mishap: the records name it."""
    program = folder / "engine.py"
    program.write_text(ENGINE.format(mishap=mishap))
    return f"gtp:timeout={timeout} '{sys.executable}' '{program}'"


def cup(player: str, **change: Any) -> GamesParams:
    knobs = {"shards": 1, "per_shard": 8, "openings": "one-stone", "dither_moves": 2, "temperature": 1.0, "seed": 3}
    return GamesParams(player=("uct:playouts=30-60", player), **(knobs | change))


def play(params: GamesParams) -> tuple[bytes, dict[str, int]]:
    made = generate.play_shard(generate.shards("cup", 5, params)[0])
    return made.content, dict(made.notes)


def test_an_external_engine_plays_a_tournament_like_any_player(tmp_path: Path) -> None:
    params = cup(outsider(tmp_path))
    generate.check_games(5, params)
    content, notes = play(params)
    assert content == play(params)[0]
    assert notes["games"] == 8
    assert notes["discarded"] == 0
    (tmp_path / "x.parquet").write_bytes(content)
    assert validate(tmp_path).problems == []
    for number, row in enumerate(pq.read_table(pa.BufferReader(content)).to_pylist()):
        players = (row["black"], row["white"])
        assert players == (params.players if number % 2 == 0 else params.players[::-1])
        assert row["moves"][0] == number // 2, "each opening with both colours"
        assert Position.after(5, row["moves"]).winner() == row["winner"]
        assert row["ended_by"] == "chain"
        for ply, cell in enumerate(row["moves"][1:], start=1):
            empty = set(range(25)) - set(row["moves"][:ply])
            if players[ply % 2] == params.players[1]:
                assert cell == max(empty)
                assert (row["budget"][ply], row["visits"][ply]["cells"], row["sampled"][ply]) == (0, [], False)
            else:
                assert 30 <= row["budget"][ply] <= 60
                assert cell in row["visits"][ply]["cells"]
                assert row["sampled"][ply] == (ply < 3)


@pytest.mark.parametrize("act", ["sys.exit(1)", "time.sleep(1000)", 'print("= z99\\n", flush=True); continue'])
def test_a_game_whose_engine_dies_hangs_or_cheats_is_discarded_counted_and_played_again(
    tmp_path: Path, act: str
) -> None:
    undisturbed, _ = play(cup(outsider(tmp_path, timeout=2)))
    mishap = ONCE.format(marker=str(tmp_path / "marker"), act=act)
    content, notes = play(cup(outsider(tmp_path, mishap, timeout=2)))
    assert (tmp_path / "marker").exists(), "nothing happened"
    assert notes["discarded"] == 1
    assert content == undisturbed


# `hexdata gtp --player uct:playouts=5 --seed 3`, which gives each game of a process another seed. The file `games`
# counts its games over all processes; with the file `deadly` it ends in the second one.
OURS = """
import os, pathlib, sys
from hexdata.gtp import Session, serve

here = pathlib.Path(__file__).parent

class Lines:
    moves = 0

    def readline(self):
        line = sys.stdin.buffer.readline()
        if line.startswith(b"clear_board"):
            self.moves = 0
            (here / "games").open("a").write("x")
        self.moves += line.startswith(b"genmove")
        if self.moves == 3 and (here / "games").stat().st_size == 2 and (here / "deadly").exists():
            os._exit(1)
        return line

serve(Session("uct:playouts=5", 5, 3), Lines(), sys.stdout.buffer)
"""


def test_our_own_engine_replays_the_game_in_which_it_died_to_the_same_bytes(tmp_path: Path) -> None:
    program, counted = tmp_path / "ours.py", tmp_path / "games"
    program.write_text(OURS)
    params = cup(f"gtp:timeout=60 '{sys.executable}' '{program}'", per_shard=4)
    undisturbed, _ = play(params)
    assert len(counted.read_text()) == 4
    counted.unlink()
    (tmp_path / "deadly").touch()
    content, notes = play(params)
    assert len(counted.read_text()) == 5, "nothing happened"
    assert notes["discarded"] == 1
    assert content == undisturbed


def test_an_engine_that_always_fails_fails_the_shard(tmp_path: Path) -> None:
    with pytest.raises(EngineFailed, match=r"engine\.py.* ended instead of answering `genmove"):
        play(cup(outsider(tmp_path, "sys.exit(1)")))


def test_resignations_and_proofs_end_games(tmp_path: Path) -> None:
    resigns = outsider(tmp_path, 'if len(stones) > 4: print("= resign\\n", flush=True); continue')
    content, _ = play(cup(resigns))
    (tmp_path / "x.parquet").write_bytes(content)
    assert validate(tmp_path).problems == []
    rows = pq.read_table(pa.BufferReader(content)).to_pylist()
    for row in rows:
        mover = (row["black"], row["white"])[len(row["moves"]) % 2]
        assert (row["ended_by"], mover) == ("resign", resigns)
        assert row["winner"] == ("white", "black")[len(row["moves"]) % 2]
    content, notes = play(cup(outsider(tmp_path), end_nodes=10_000, openings="empty"))
    assert notes["proof"] == 8
    rows = pq.read_table(pa.BufferReader(content)).to_pylist()
    assert {(row["winner"], len(row["moves"])) for row in rows} == {("black", 0)}, "Black wins on the empty board"


def test_our_own_engine_as_a_child_plays_what_it_plays_here() -> None:
    """Against a built-in player, through `hexdata gtp`: the same moves as the two would make in the engine alone."""
    child, here = "mohex:playouts=60", "uct:playouts=30-60"
    seed = generate.game_seeds(3, 0, 1)[0]
    player = f"gtp:timeout=60 '{sys.executable}' -m hexdata.cli gtp --player {child} --seed {seed}"
    rows = pq.read_table(pa.BufferReader(play(cup(player, per_shard=4, dither_moves=0))[0])).to_pylist()
    for row in rows:
        assert row["ended_by"] == "chain"
        assert Position.after(5, row["moves"]).winner() == row["winner"]
    alone = engine.play_games(5, here, child, [[0]], [seed], dither_moves=0, temperature=1.0)
    assert rows[0]["moves"] == alone["moves"].tolist()


def test_a_program_that_is_not_there_is_bad_input() -> None:
    with pytest.raises(BadParams, match=r"games\.player: .*no program 'no-such-engine' here"):
        generate.check_games(5, cup("gtp:no-such-engine"))
