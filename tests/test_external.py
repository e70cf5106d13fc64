"""External engines as players: real processes that play, die, hang, refuse and cheat."""

import os
import sys
import time
from pathlib import Path

import pytest

from hexdata.errors import BadInput
from hexdata.external import EngineFailed, ExternalPlayer, is_external, parse_external

ENGINE = """
import os, sys, time
for line in sys.stdin:
    command, *words = line.split()
    with open({log!r}, "a") as log:
        log.write(line)
    {body}
    print("= \\n")
    sys.stdout.flush()
"""


def engine(folder: Path, body: str = "pass", *, timeout: float = 20) -> str:
    """An engine that answers every command with nothing, but for what `body` does."""
    program = folder / "engine.py"
    program.write_text(ENGINE.format(log=str(folder / "log"), body=body.replace("\n", "\n    ")))
    return f"gtp:timeout={timeout} '{sys.executable}' -u '{program}'"


def genmove(*answers: str) -> str:
    return f"""if command == "genmove":
    answers = globals().setdefault("answers", list({answers!r}))
    print("=", answers.pop(0), "\\n", flush=True)
    continue"""


START = ["boardsize 3", "clear_board", "param_game allow_swap 0"]
START_WITH_SWAP = ["boardsize 3", "clear_board", "param_game allow_swap 1"]


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def test_only_what_is_new_is_told(tmp_path: Path) -> None:
    with ExternalPlayer(engine(tmp_path, genmove("A2", "c3", "swap-pieces")), 3) as player:
        assert player.choose([0]) == 3
        assert player.choose([0, 3, 1]) == 8
        assert player.choose([5], swap=True) == "swap-pieces"
    assert log(tmp_path) == [
        *START, "play black a1", "genmove white", "play black b1", "genmove white",
        *START_WITH_SWAP, "play black c2", "genmove white", "quit",
    ]  # fmt: skip


def test_a_new_game_is_a_new_process(tmp_path: Path) -> None:
    """Nothing that the engine remembers of the games before, such as how many they were, can show in its moves."""
    with ExternalPlayer(engine(tmp_path, genmove("a1", "b2")), 3) as player:
        assert player.choose([]) == 0
        player.new_game()
        assert player.choose([]) == 0
        player.new_game()
        player.new_game()
    assert log(tmp_path) == [*START, "genmove black", "quit"] * 2


def test_after_its_swap_an_engine_is_told_the_position(tmp_path: Path) -> None:
    """Whatever a swap does to its own board: the stone stays Black's here, and the engine goes on as Black."""
    with ExternalPlayer(engine(tmp_path, genmove("swap-pieces", "b1", "resign")), 3) as player:
        assert player.choose([2], swap=True) == "swap-pieces"
        assert player.choose([2, 3]) == 1
        assert player.choose([2, 3, 1, 4]) == "resign"
    assert log(tmp_path)[:-1] == [
        *START_WITH_SWAP, "play black c1", "genmove white",
        *START, "play black c1", "play white a2", "genmove black", "play white b2", "genmove black",
    ]  # fmt: skip


def test_an_engine_may_know_nothing_of_swaps(tmp_path: Path) -> None:
    body = 'if command == "param_game": print("? unknown command\\n", flush=True); continue'
    with ExternalPlayer(engine(tmp_path, body + "\n" + genmove("b2")), 3) as player:
        assert player.choose([2], swap=True) == 4


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("sys.exit('out of memory')", "ended instead of answering `boardsize 3`, saying 'out of memory'"),
        ("os.kill(os.getpid(), 9)", "ended instead of answering `boardsize 3`"),
        ("time.sleep(1000)", "gave no answer to `boardsize 3` within 0.5 s"),
        ("os.close(1); time.sleep(1000)", "ended instead of answering `boardsize 3`"),
        ("while True: print('= ' * 1000)", "answered `boardsize 3` with more than 1,048,576 bytes"),
        ("print('? no such size\\n'); sys.stdout.flush(); continue", "refused `boardsize 3`: no such size"),
        (genmove("a1"), "played a1 as white, where a stone lies"),
        (genmove("d1"), "answered 'd1' to `genmove white`: expected a cell"),
        (genmove(""), "answered '' to `genmove white`: expected a cell"),
        (genmove("pass"), "answered 'pass' to `genmove white`: expected a cell"),
        (genmove("swap-pieces"), "answered 'swap-pieces' to `genmove white`, where it may not swap"),
    ],
)
def test_what_an_engine_does_wrong_is_said(tmp_path: Path, body: str, sentence: str) -> None:
    hangs = "within" in sentence
    with (
        ExternalPlayer(engine(tmp_path, body, timeout=0.5 if hangs else 20), 3) as player,
        pytest.raises(EngineFailed) as caught,
    ):
        player.choose([0])
    assert str(caught.value).endswith(sentence)
    assert "engine.py" in str(caught.value)


def test_a_failed_engine_is_started_again(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    body = f"""if command == "genmove" and not os.path.exists({str(flag)!r}):
    open({str(flag)!r}, "w").close()
    os._exit(1)
{genmove("b2")}"""
    with ExternalPlayer(engine(tmp_path, body), 3) as player:
        with pytest.raises(EngineFailed):
            player.choose([0])
        assert player.choose([0]) == 4


def test_noise_before_an_answer_is_skipped(tmp_path: Path) -> None:
    noise = "\\n=====\\n\\n===== thinking\\r\\n?!\\n\\n"
    body = f'if command == "genmove": print("{noise}=  c3\\r\\n\\r\\n", end="", flush=True); continue'
    with ExternalPlayer(engine(tmp_path, body), 3) as player:
        assert player.choose([]) == 8


def test_nothing_is_left_running(tmp_path: Path) -> None:
    """An engine's child goes with it."""
    pid_file = tmp_path / "pid"
    body = f"""import subprocess
child = subprocess.Popen(["sleep", "1000"])
open({str(pid_file)!r}, "w").write(str(child.pid))
sys.exit("forgot a child")"""
    with ExternalPlayer(engine(tmp_path, body), 3) as player, pytest.raises(EngineFailed, match="ended instead"):
        player.choose([])  # the child holds the engine's output open
    process = Path(f"/proc/{pid_file.read_text()}/stat")
    for _ in range(200):
        # an orphan may stay a zombie until init collects it
        if not process.exists() or process.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the child is still there")


def test_an_engine_that_ignores_quit_is_killed(tmp_path: Path) -> None:
    body = 'if command == "quit": time.sleep(1000)'
    player = ExternalPlayer(engine(tmp_path, body + "\n" + genmove("a1")), 3)
    player.choose([])
    assert player._process is not None
    pid = player._process.pid
    player.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("player", "sentence"),
    [
        ("gtp:", "names no command"),
        ("gtp:timeout=5", "names no command"),
        ("gtp:timeout=0 cat", "timeout must be a positive number of seconds, not '0'"),
        ("gtp:timeout=nan cat", "timeout must be a positive number of seconds, not 'nan'"),
        ("gtp:no-such-engine --fast", "there is no program 'no-such-engine' here"),
        ("gtp:'unclosed", "no closing quotation"),
    ],
)
def test_a_command_that_cannot_run_is_bad_input(player: str, sentence: str) -> None:
    assert is_external(player)
    with pytest.raises(BadInput, match=sentence):
        parse_external(player)
