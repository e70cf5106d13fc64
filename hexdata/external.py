"""Other people's engines as players: `gtp:COMMAND…` runs COMMAND and asks it for moves in the Go Text Protocol for Hex.

    with ExternalPlayer("gtp:timeout=60 mohex --seed 1", size=9) as player:
        move = player.choose([40, 41])  # a cell, "resign" or "swap-pieces"

An engine that dies, hangs, answers with an error or plays an illegal move raises `EngineFailed` and is killed: the game
is lost, the player is not. The next `choose` starts the command again. A command that cannot be run at all is bad
input, because every game would fail the same way.
"""

from __future__ import annotations

import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Literal, TypeAlias

from hexdata.board import COLOURS, Cell, Colour, cell_name, check_size, parse_cell
from hexdata.errors import BadInput

PREFIX = "gtp:"
TIMEOUT_SECONDS = 300.0
"""For each answer, unless the player's text begins with `timeout=SECONDS`."""
QUIT_SECONDS = 2.0
LOOK_SECONDS = 0.5
"""How often a silent engine is looked at: has it ended?"""
MOST_ANSWER_BYTES = 1 << 20
"""An engine that prints without end has failed too."""

_REPLY = re.compile(rb"^[=?][\w\s]", re.MULTILINE)
_EMPTY_LINE = re.compile(rb"\n[ \t]*\n")

Answer: TypeAlias = Cell | Literal["resign", "swap-pieces"]


class EngineFailed(Exception):
    """An external engine did not do its part; the message names its command and what it did instead."""


@dataclass(frozen=True)
class ExternalSpec:
    """`gtp:timeout=60 COMMAND…`, taken apart."""

    command: tuple[str, ...]
    timeout: float


def is_external(player: str) -> bool:
    return player.startswith(PREFIX)


def parse_external(player: str) -> ExternalSpec:
    """Raises BadInput unless the text names a program that can be run here."""
    try:
        words = shlex.split(player.removeprefix(PREFIX))
    except ValueError as error:
        raise BadInput(f"player {player!r}: {str(error).lower()}: expected gtp: and a command as for a shell") from None
    timeout = TIMEOUT_SECONDS
    if words and (given := re.fullmatch(r"timeout=(.*)", words[0])):
        if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", given[1]) or float(given[1]) == 0:
            raise BadInput(f"player {player!r}: timeout must be a positive number of seconds, not {given[1]!r}")
        timeout = float(given[1])
        words = words[1:]
    if not words:
        raise BadInput(f"player {player!r} names no command: expected one such as gtp:mohex or gtp:timeout=60 mohex")
    if shutil.which(words[0]) is None:
        raise BadInput(f"player {player!r}: there is no program {words[0]!r} here that can be run")
    return ExternalSpec(tuple(words), timeout)


class ExternalPlayer:
    """An external engine, one process for each game."""

    def __init__(self, player: str, size: int) -> None:
        self.size = check_size(size)
        self._spec = parse_external(player)
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._unread = b""
        self._told: list[str] | None = None
        """The `play` arguments that the engine's board stands for; None if it must be cleared."""
        self._may_swap = False
        """What it was told of the rules when its board was cleared."""

    def __enter__(self) -> ExternalPlayer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def new_game(self) -> None:
        """The next choice starts the command again: what a process has played before would show in its moves, and a
        game that is played again must end as it did the first time.
        """
        self.close()

    def choose(self, moves: Sequence[Cell], *, swap: bool = False) -> Answer:
        """The engine's move after these, Black's first. `swap`: White may take over the first stone in this game, and
        nobody has.

        What `swap-pieces` does to the board differs from program to program, so none is told of one: after a swap, the
        moves go on as they would without, and the engine is asked for those of the other colour.
        """
        try:
            return self._choose(moves, swap)
        except EngineFailed:
            self.kill()
            raise

    def _choose(self, moves: Sequence[Cell], swap: bool) -> Answer:
        if self._process is None:
            self._start()
        game = [f"{COLOURS[ply % 2]} {cell_name(cell, self.size)}" for ply, cell in enumerate(moves)]
        if self._told is None or self._told != game[: len(self._told)] or self._may_swap != swap:
            self.ask(f"boardsize {self.size}")
            self.ask("clear_board")
            self._exchange(f"param_game allow_swap {int(swap)}")  # Benzene's programs know it; others may refuse
            self._told, self._may_swap = [], swap
        for move in game[len(self._told) :]:
            self.ask(f"play {move}")
            self._told.append(move)
        colour: Colour = COLOURS[len(game) % 2]
        command = f"genmove {colour}"
        answer = self.ask(command).strip().lower()
        if answer == "resign":
            self._told = None
            return "resign"
        if answer == "swap-pieces" or answer == "swap":
            if not swap or len(game) != 1:
                raise self._failure(f"answered {answer!r} to `{command}`, where it may not swap")
            self._told = None
            return "swap-pieces"
        try:
            cell = parse_cell(answer, self.size)
        except ValueError:
            raise self._failure(f"answered {answer[:40]!r} to `{command}`: expected a cell") from None
        self._told.append(f"{colour} {answer}")
        if cell in moves:
            raise self._failure(f"played {answer} as {colour}, where a stone lies")
        return cell

    def start(self) -> None:
        """Have the engine running and answering, so that its start is no part of the time of its first move."""
        if self._process is not None:
            return
        self._start()
        try:
            self._exchange("name")  # a refusal is an answer too
        except EngineFailed:
            self.kill()
            raise

    def ask(self, command: str) -> str:
        """Send one command and return its answer without the `=`; EngineFailed if it is an error or none comes."""
        answer = self._exchange(command)
        if answer.startswith("?"):
            raise self._failure(f"refused `{command}`: {' '.join(answer[1:].split())[:200]}")
        return answer[1:]

    def _exchange(self, command: str) -> str:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{command}\n".encode())
            self._process.stdin.flush()
        except OSError:
            raise self._failure(f"was gone when `{command}` was sent{self._last_words()}") from None
        return self._read_answer(command)

    def _start(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115, it lives as long as the process
        try:
            self._process = subprocess.Popen(
                self._spec.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # a pipe that nobody reads would stop an engine that logs much
                stderr=self._errors,
                # with its children it forms a group, which is killed as one and hears no Ctrl-C of ours
                start_new_session=True,
            )
        except OSError as error:
            raise BadInput(f"{self._spec.command[0]}: {(error.strerror or str(error)).lower()}") from None
        self._unread, self._told = b"", None

    def _read_answer(self, command: str) -> str:
        """From the line that begins with `=` or `?` and then a number, a word or a space, to the empty line; what an
        engine prints before, such as a banner of `=====`, is skipped.
        """
        assert self._process is not None
        assert self._process.stdout is not None
        source = self._process.stdout.fileno()
        deadline = time.monotonic() + self._spec.timeout
        with selectors.DefaultSelector() as selector:
            selector.register(source, selectors.EVENT_READ)
            while True:
                begins = _REPLY.search(self._unread)
                if begins and (ends := _EMPTY_LINE.search(self._unread, begins.start())):
                    answer = self._unread[begins.start() : ends.start()]
                    self._unread = self._unread[ends.end() :]
                    return answer.decode("utf-8", "replace")
                left = deadline - time.monotonic()
                if left <= 0:
                    raise self._failure(f"gave no answer to `{command}` within {self._spec.timeout:g} s")
                # a child may keep the pipe of a dead engine open
                ended = self._process.poll() is not None
                if not selector.select(0 if ended else min(left, LOOK_SECONDS)):
                    if ended:
                        raise self._failure(f"ended instead of answering `{command}`{self._last_words()}")
                    continue
                chunk = os.read(source, 1 << 16)
                if not chunk:
                    raise self._failure(f"ended instead of answering `{command}`{self._last_words()}")
                self._unread += chunk.replace(b"\r", b"")
                if len(self._unread) > MOST_ANSWER_BYTES:
                    raise self._failure(f"answered `{command}` with more than {MOST_ANSWER_BYTES:,} bytes")

    def _failure(self, what: str) -> EngineFailed:
        return EngineFailed(f"the engine `{shlex.join(self._spec.command)}` {what}")

    def _last_words(self) -> str:
        if self._errors is None:
            return ""
        self._errors.seek(0)
        lines = [line for line in self._errors.read().decode("utf-8", "replace").splitlines() if line.strip()]
        return f", saying {lines[-1].strip()[:200]!r}" if lines else ""

    def kill(self) -> None:
        """End the process and its children at once."""
        if self._process is None:
            return
        process, self._process = self._process, None
        with suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, self._errors):
            assert stream is not None
            with suppress(OSError):  # what was never sent to a dead engine
                stream.close()
        self._errors = None

    def close(self) -> None:
        """Ask the engine to quit; kill it if it does not."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        with suppress(OSError, subprocess.TimeoutExpired):  # it is killed either way
            self._process.stdin.write(b"quit\n")
            self._process.stdin.close()
            self._process.wait(QUIT_SECONDS)
        self.kill()
