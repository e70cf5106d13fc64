"""A player for other programs: the Go Text Protocol in the dialect of Hex that HexGui and tournament scripts use.

A `Session` is one conversation; `answer` turns a line into the text to send back, and whatever the line says, it comes
back. Bad commands get a `?` line.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import BinaryIO, Literal, TypeAlias

from hexdata.board import COLOURS, Cell, Colour, Position, bits, cell_map, cell_name, check_size, other, parse_cell
from hexdata.engine import Board, Player, player_settings
from hexdata.errors import BadInput
from hexdata.external import is_external
from hexdata.swap import wants_swap

Move: TypeAlias = Cell | Literal["swap-pieces", "resign"]

BUDGETS = ("playouts", "nodes", "seconds")
"""Of these a player has one."""
SHARE_OF_TIME = 0.5
"""What a search is given of the time there is for a move: mohex takes half as long again when it is not sure."""
MOST_SECONDS = 100_000.0
"""What a player may be given for a move; the engine refuses more."""
LEAST_MEASURED = 0.01
"""Seconds of a search that say how slow the machine is; a shorter one is all start and end."""

ANALYZE_COMMANDS = (
    "param/Player Parameters/param_player",
    "param/Game Parameters/param_game",
    "string/Final Score/final_score",
    "plist/All Legal Moves/all_legal_moves",
    "pspairs/Visits of the Last Search/hexdata-visits",
    "string/Value of the Last Search/hexdata-value",
)
"""What HexGui puts in its menu: type, title, command."""


class Clock:
    """The time of one side. All in seconds of the wall; the searches of uct and mohex count the processor's."""

    def __init__(self, main: float, byo: float, stones: int) -> None:
        self.main, self.byo, self.stones = main, byo, stones
        self.left, self.stones_left = (main, 0) if main > 0 else (byo, stones)

    def spend(self, seconds: float) -> None:
        self.left -= seconds
        self.stones_left = max(self.stones_left - 1, 0)
        in_byoyomi = not self.main or self.left <= 0
        if self.byo and in_byoyomi and not self.stones_left:
            self.left, self.stones_left, self.main = self.byo, self.stones, 0

    def for_a_move(self, empty: int) -> float:
        """An even share of what is left; a game fills about half of the empty cells, and the sides alternate."""
        if self.stones_left:
            return max(self.left, 0.0) / self.stones_left
        return max(self.left / (empty // 4 + 4), self.byo / max(self.stones, 1), 0.0)


class Session:
    def __init__(self, player: str, size: int = 11, seed: int = 0, allow_swap: bool = False) -> None:
        if is_external(player):
            raise BadInput(f"player {player!r} speaks GTP itself: expected one of the engine's own")
        if not 0 <= seed < 2**64:
            raise BadInput(f"seed {seed} is out of range: expected 0 to {2**64 - 1}")
        self.over = False
        self._seed, self._games = seed, 0
        self._text = player
        self._player = Player(player, seed)
        self._thinks_by = player
        self._size = check_size(size)
        self._moves: list[tuple[Colour, Move]] = []
        self._board = Board(size)
        self._resigned: Colour | None = None
        self._allow_swap = allow_swap
        self._time: tuple[float, float, int] | None = None
        self._clocks: dict[Colour, Clock] | None = None
        self._slowness = 1.0
        """Seconds of the wall for a second of the processor in the last search: more than 1 on a busy machine."""
        self._visits: list[tuple[Cell, int]] = []
        self._value: float | None = None
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "all_legal_moves": self._all_legal_moves,
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "final_score": self._final_score,
            "genmove": self._genmove,
            "hexdata-value": self._last_value,
            "hexdata-visits": self._last_visits,
            "hexgui-analyze_commands": lambda words: self._fixed(words, "\n".join(ANALYZE_COMMANDS)),
            "known_command": self._known_command,
            "list_commands": lambda words: self._fixed(words, "\n".join(sorted(self._commands))),
            "name": lambda words: self._fixed(words, "hexdata"),
            "param_game": self._param_game,
            "param_player": self._param_player,
            "play": self._play,
            "protocol_version": lambda words: self._fixed(words, "2"),
            "quit": self._quit,
            "reg_genmove": self._reg_genmove,
            "showboard": self._showboard,
            "time_left": self._time_left,
            "time_settings": self._time_settings,
            "undo": self._undo,
            "version": self._version,
        }

    def answer(self, line: str) -> str | None:
        """The reply to a line, None if it needs none: it is empty or a comment."""
        line = re.sub(r"[^\S\n]", " ", line.partition("#")[0])
        line = "".join(c for c in line if c.isprintable()).strip()
        if not line:
            return None
        words = line.split()
        number = words.pop(0) if re.fullmatch("[0-9]+", words[0]) else ""
        try:
            return f"={number} {self._run(words)}\n\n"
        except ValueError as error:
            return f"?{number} {' '.join(str(error).split())}\n\n"

    def _run(self, words: list[str]) -> str:
        if not words:
            raise ValueError("a number without a command")
        command = self._commands.get(words[0])
        if command is None:
            raise ValueError(f"unknown command {words[0][:60]!r} (see list_commands)")
        return command(words[1:])

    # ------------------------------------------------------------------------------------------------------ the board

    def _boardsize(self, words: list[str]) -> str:
        if len(words) not in (1, 2) or not all(re.fullmatch("[0-9]{1,3}", word) for word in words):
            raise ValueError("expected boardsize N or boardsize N N")
        if len(set(words)) > 1:
            raise ValueError(f"a board of {words[0]}x{words[1]} is not supported: expected as many columns as rows")
        self._size = check_size(int(words[0]))
        return self._clear_board([])

    def _clear_board(self, words: list[str]) -> str:
        self._expect(words, 0, "clear_board")
        self._games += bool(self._moves)
        self._player.new_game(self._game_seed())
        self._set_moves([])
        self._visits, self._value = [], None
        self._wind_clocks()
        return ""

    def _game_seed(self) -> int:
        """The first game has the seed itself, so that it is the game of `play_games`."""
        return (self._seed + self._games) % 2**64

    def _set_moves(self, moves: list[tuple[Colour, Move]]) -> None:
        """Replays all, because a swap changes a stone that lies."""
        board = Board(self._size)
        resigned: Colour | None = None
        for colour, move in moves:
            if move == "resign":
                resigned = colour
            elif move == "swap-pieces":
                first = board.moves[0]
                board = Board(self._size)
                board.play(cell_map(self._size, 2)[first], colour)
            else:
                board.play(move, colour)
        self._moves, self._board, self._resigned = moves, board, resigned

    def _play(self, words: list[str]) -> str:
        self._expect(words, 2, "play COLOUR CELL")
        self._make(self._colour(words[0]), self._move(words[1]))
        return ""

    def _make(self, colour: Colour, move: Move) -> None:
        if (winner := self._winner()) is not None:
            if move == "resign":  # scripts play until one side resigns, after the end too, and then ask for the score
                return
            raise ValueError(f"the game is over: {winner} has won")
        if move == "swap-pieces" and not self._may_swap(colour):
            raise ValueError(f"{colour} cannot swap: expected white, with one stone on the board, of black")
        if isinstance(move, int):
            if move in self._stones():
                raise ValueError(f"{cell_name(move, self._size)} is already taken")
            # faster than replaying all, which only a swap needs
            self._board.play(move, colour)
            self._moves.append((colour, move))
        else:
            self._set_moves([*self._moves, (colour, move)])

    def _may_swap(self, colour: Colour) -> bool:
        """A swap is White's answer to Black's first stone. The white stone that it leaves cannot be swapped back."""
        return colour == "white" and [(side, isinstance(move, int)) for side, move in self._moves] == [("black", True)]

    def _stones(self) -> set[Cell]:
        return {*self._board.black(), *self._board.white()}

    def _undo(self, words: list[str]) -> str:
        self._expect(words, 0, "undo")
        if not self._moves:
            raise ValueError("there is no move to undo")
        self._set_moves(self._moves[:-1])
        return ""

    def _winner(self) -> Colour | None:
        if self._resigned:
            return other(self._resigned)
        winner = self._board.winner()
        return next((colour for colour in COLOURS if colour == winner), None)

    def _final_score(self, words: list[str]) -> str:
        self._expect(words, 0, "final_score")
        winner = self._winner()
        if winner is None:
            raise ValueError("cannot score: nobody has won yet")
        return f"{winner[0].upper()}+{'Resign' if self._resigned else ''}"

    def _all_legal_moves(self, words: list[str]) -> str:
        self._expect(words, 0, "all_legal_moves")
        if self._winner():
            return ""
        names = [cell_name(cell, self._size) for cell in self._board.legal()]
        if self._allow_swap and any(map(self._may_swap, COLOURS)):
            names.append("swap-pieces")
        return " ".join(names)

    def _showboard(self, words: list[str]) -> str:
        self._expect(words, 0, "showboard")
        black, white = bits(self._board.black()), bits(self._board.white())
        turn: Colour = "black" if self._board.to_move == "black" else "white"
        drawn = Position(self._size, black, white, turn).draw()
        winner = self._winner()
        state = f"{winner} has won" if winner else f"{turn} to move"
        return f"\n{drawn}\n{state}; Black (X) joins top and bottom, White (O) left and right"

    # ------------------------------------------------------------------------------------------------------ the moves

    def _genmove(self, words: list[str]) -> str:
        self._expect(words, 1, "genmove COLOUR")
        colour = self._colour(words[0])
        move = self._choose(colour, on_the_clock=True)
        self._make(colour, move)
        return self._name(move)

    def _reg_genmove(self, words: list[str]) -> str:
        self._expect(words, 1, "reg_genmove COLOUR")
        return self._name(self._choose(self._colour(words[0]), on_the_clock=False))

    def _choose(self, colour: Colour, *, on_the_clock: bool) -> Move:
        if self._winner():
            return "resign"
        began, thread_began = time.monotonic(), time.thread_time()
        self._heed_the_clock(colour)
        turn = self._board.to_move
        self._board.give_turn(colour)
        thought = self._player.choose(self._board)
        self._board.give_turn(turn)
        self._visits = list(zip(thought["visit_cells"].tolist(), thought["visit_counts"].tolist(), strict=True))
        self._value = thought["value"]
        spent, worked = time.monotonic() - began, time.thread_time() - thread_began
        self._slowness = max(spent / worked, 1.0) if worked >= LEAST_MEASURED else 1.0
        if self._clocks and on_the_clock:
            self._clocks[colour].spend(spent)
        may_swap = self._allow_swap and self._may_swap(colour)
        if may_swap and wants_swap(self._thinks_by, self._board, thought["value"], thought["budget"]):
            return "swap-pieces"
        return thought["move"]

    def _name(self, move: Move) -> str:
        return cell_name(move, self._size) if isinstance(move, int) else move

    def _last_visits(self, words: list[str]) -> str:
        self._expect(words, 0, "hexdata-visits")
        return " ".join(f"{cell_name(cell, self._size)} {count}" for cell, count in self._visits)

    def _last_value(self, words: list[str]) -> str:
        self._expect(words, 0, "hexdata-value")
        return "no search yet" if self._value is None else f"{self._value:+.3f} for the side that moved"

    # ------------------------------------------------------------------------------------------------------- the time

    def _time_settings(self, words: list[str]) -> str:
        self._expect(words, 3, "time_settings MAIN_SECONDS BYOYOMI_SECONDS BYOYOMI_STONES")
        main, byo = self._seconds(words[0]), self._seconds(words[1])
        stones = self._count(words[2])
        # byo-yomi for no stones is how the protocol says that there is no limit
        unlimited = (byo > 0 and stones == 0) or (main == 0 and byo == 0)
        self._time = None if unlimited else (main, byo, stones)
        self._wind_clocks()
        return ""

    def _wind_clocks(self) -> None:
        self._clocks = {colour: Clock(*self._time) for colour in COLOURS} if self._time else None
        if self._clocks is None and self._thinks_by != self._text:
            self._think_by(self._text)

    def _time_left(self, words: list[str]) -> str:
        self._expect(words, 3, "time_left COLOUR SECONDS STONES")
        colour, left, stones = self._colour(words[0]), self._seconds(words[1]), self._count(words[2])
        if self._clocks is None:
            self._clocks = {side: Clock(left, 0, 0) for side in COLOURS}
        self._clocks[colour].left, self._clocks[colour].stones_left = left, stones
        return ""

    def _heed_the_clock(self, colour: Colour) -> None:
        """With time settings the player's own budget gives way to seconds. A new budget is a new player, which loses
        what it has searched, so one that is not far off stays.
        """
        name, own = _split(self._text)
        if self._clocks is None or not any(budget in own for budget in BUDGETS):
            return
        time_for_it = self._clocks[colour].for_a_move(len(self._board.legal()))
        allowed = min(time_for_it * SHARE_OF_TIME / self._slowness, MOST_SECONDS)
        now = _split(self._thinks_by)[1].get("seconds")
        if self._thinks_by != self._text and now and 0.5 * allowed <= float(now) <= allowed:
            return
        kept = {key: value for key, value in own.items() if key not in BUDGETS}
        self._think_by(_join(name, {"seconds": f"{max(0.8 * allowed, 0.001):.3f}", **kept}))

    def _think_by(self, text: str) -> None:
        self._player = Player(text, self._game_seed())
        self._thinks_by = text

    # -------------------------------------------------------------------------------------------------- the parameters

    def _param_player(self, words: list[str]) -> str:
        """Without arguments all parameters in the form that HexGui edits; with a name and a value, set it."""
        if not words:
            lines = [f"[string] player {self._text}"]
            for name, value, is_switch in player_settings(self._text):
                lines.append(f"[bool] {name} {int(value == 'on')}" if is_switch else f"[string] {name} {value}")
            return "\n" + "\n".join(lines)
        self._expect(words, 2, "param_player or param_player NAME VALUE")
        key, value = words
        if key == "player":
            if is_external(value):
                raise ValueError(f"player {value!r} speaks GTP itself: expected one of the engine's own")
            text = value
        else:
            switches = {name for name, _, is_switch in player_settings(self._text) if is_switch}
            if key in switches:
                value = {"0": "off", "1": "on"}.get(value, value)
            name, parameters = _split(self._text)
            if key in BUDGETS:
                parameters = {other: number for other, number in parameters.items() if other not in BUDGETS}
            text = _join(name, {**parameters, key: value})
        self._think_by(text)
        self._text = text
        return ""

    def _param_game(self, words: list[str]) -> str:
        if not words:
            return f"\n[bool] allow_swap {int(self._allow_swap)}"
        self._expect(words, 2, "param_game or param_game allow_swap 0|1")
        if words[0] != "allow_swap" or words[1] not in ("0", "1"):
            raise ValueError(f"{' '.join(words)[:60]!r} is no parameter and value: expected allow_swap 0 or 1")
        self._allow_swap = words[1] == "1"
        return ""

    # ------------------------------------------------------------------------------------------------------- the rest

    def _known_command(self, words: list[str]) -> str:
        self._expect(words, 1, "known_command NAME")
        return "true" if words[0] in self._commands else "false"

    def _quit(self, words: list[str]) -> str:
        self._expect(words, 0, "quit")
        self.over = True
        return ""

    def _version(self, words: list[str]) -> str:
        from importlib.metadata import version

        return self._fixed(words, version("hexdata"))

    def _fixed(self, words: list[str], text: str) -> str:
        if words:
            raise ValueError(f"expected no arguments, not {' '.join(words)[:60]!r}")
        return text

    def _expect(self, words: Sequence[str], count: int, form: str) -> None:
        if len(words) != count:
            raise ValueError(f"expected {form}")

    def _colour(self, word: str) -> Colour:
        for colour in COLOURS:
            if word.lower() in (colour, colour[0]):
                return colour
        raise ValueError(f"{word[:20]!r} is no colour: expected black or white")

    def _move(self, word: str) -> Move:
        word = word.lower()
        if word == "resign":
            return "resign"
        if word in ("swap-pieces", "swap"):
            return "swap-pieces"
        return parse_cell(word[:20], self._size)

    def _seconds(self, word: str) -> float:
        if not re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", word):
            raise ValueError(f"{word[:20]!r} is no number of seconds")
        # some controllers report time that is overdrawn as negative
        return max(float(word), 0.0)

    def _count(self, word: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", word):
            raise ValueError(f"{word[:20]!r} is no number of stones")
        return int(word)


def _split(text: str) -> tuple[str, dict[str, str]]:
    """A player's name and parameters; the engine has checked them."""
    name, _, rest = text.partition(":")
    pairs = (part.partition("=") for part in rest.split(",") if part)
    return name, {key: value for key, _, value in pairs}


def _join(name: str, parameters: dict[str, str]) -> str:
    return name + ":" * bool(parameters) + ",".join(f"{key}={value}" for key, value in parameters.items())


def serve(session: Session, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer line by line until `quit` or the end of the input."""
    for raw in iter(source.readline, b""):
        answer = session.answer(raw.decode("utf-8", "replace"))
        if answer is not None:
            sink.write(answer.encode())
            sink.flush()
        if session.over:
            return
