"""The compiled core. Arrays are numpy's; all errors in arguments are ValueErrors of one sentence."""

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

BUILT_VERSION: int

class Board:
    """A game in progress: the rules, one move at a time."""

    def __init__(self, size: int) -> None:
        """An empty board of size 2 to 19, Black to move."""

    @property
    def size(self) -> int: ...
    @property
    def to_move(self) -> str: ...
    @property
    def moves(self) -> list[int]: ...
    def play(self, cell: int, colour: str | None = None) -> None:
        """Put a stone of ``colour`` (the side to move if None); the turn passes to the other side of that colour.

        ValueError off the board, on a stone, and once somebody has won.
        """

    def undo(self) -> None:
        """Take back the last stone; ValueError if there is none."""

    def give_turn(self, colour: str) -> None:
        """Let ``colour`` move next, when sides do not alternate. Taking back the stone before takes this back too."""

    def winner(self) -> str | None: ...
    def legal(self) -> list[int]:
        """The empty cells in order; none once somebody has won."""

    def black(self) -> list[int]: ...
    def white(self) -> list[int]: ...
    def key(self) -> bytes:
        """The 128-bit key of size, stones and side to move: 16 bytes, big-endian."""

    def orbit_key(self) -> bytes:
        """The smallest key over the four symmetries."""

def keys(
    size: int, black: NDArray[np.uint8], white: NDArray[np.uint8], to_move: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Orbit keys u8[P, 16] of packed positions and the symmetry u8[P] that maps each to the image that rows store.

    That image is, of those in which Black moved first (Black to move with equally many stones, or White to move with
    one more black stone), the one with the smallest key; of all four if there is none. Ties go to the smaller symmetry.
    """

def winners(size: int, black: NDArray[np.uint8], white: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Who joins the sides in each packed position: 0 Black, 1 White, 2 nobody."""

def transform(size: int, symmetry: int) -> NDArray[np.uint16]:
    """The cell to which each cell goes."""

def replay(size: int, moves: NDArray[np.uint16], offsets: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Every position before each move of games in which Black moves first; game g starts at ``offsets[g]``.

    ``orbit_keys`` u8[M, 16], ``symmetry`` u8[M] as of ``keys``, ``black`` and ``white`` u8[M, B] packed and ``to_move``
    u8[M], all three in the stored image, and ``winner`` u8[G] (0 Black, 1 White, 2 nobody). ValueError names the game
    and the ply of an illegal move and of a move after the game is decided.
    """

def deal(
    size: int, records: NDArray[np.uint8], cells: NDArray[np.uint16], counts: NDArray[np.uint32], bits: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Records of occurrences (see ``hexdata.occurrences``) in 2**bits partitions by the first bits of their keys.

    The records, cells and counts in the order of the partitions, and where each partition's records and visits start.
    """

def fold(
    size: int, records: NDArray[np.uint8], cells: NDArray[np.uint16], counts: NDArray[np.uint32]
) -> dict[str, NDArray[Any]]:
    """One row per key and side, ascending, with the integer sums of the records: flat columns by name.

    ValueError for a cell off the board, and if two positions share a key.
    """

def winning_connections(size: int, black: NDArray[np.uint8], white: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Whose sides are joined by a chain or by a virtual connection that holds whoever moves, in each packed position:
    0 Black's, 1 White's, 2 neither's. What the connection rules do not find is 2: they are not complete."""

class SearchResult(TypedDict):
    best: int
    budget: int
    value: float
    visit_cells: NDArray[np.uint16]
    visit_counts: NDArray[np.uint32]

def search(board: Board, player: str, seed: int) -> SearchResult:
    """What a player of ``play_games`` thinks of one position, in a dict: the same as in a game at this ply, but for a
    subtree that ``mohex`` would have kept from its move before.

    ``best`` is the move to play, ``value`` is -1 to 1 for the side to move.
    """

class Choice(SearchResult):
    move: int
    sampled: bool

class Player:
    """A player of ``play_games`` in a game that goes on elsewhere. It keeps what it searched from move to move: with
    the same seed it plays what it would play there.
    """

    def __init__(self, player: str, seed: int) -> None: ...
    def new_game(self, seed: int) -> None:
        """Forget the game before."""

    def choose(self, board: Board, *, temperature: float = 0.0) -> Choice:
        """What it thinks of the position and the ``move`` it plays: the best, or at a temperature above 0 one drawn
        from the visits as in ``play_games``, if there are any (``sampled``). Ctrl-C ends the search and the player can
        go on. ValueError if the game is decided, or if another thread has it thinking already.
        """

def player_settings(player: str) -> list[tuple[str, str, bool]]:
    """All parameters of a player as (name, value, is it on or off), the standard ones included."""

def play_games(
    size: int,
    black: str,
    white: str,
    openings: Sequence[Sequence[int]],
    seeds: Sequence[int],
    *,
    dither_moves: int,
    temperature: float,
    end_nodes: int = 0,
) -> dict[str, NDArray[Any]]:
    """One game per opening and seed (0 to 2**64 - 1) between two players, until a chain joins the sides.

    With ``end_nodes`` the solver is asked before each move, with that many nodes; a game that it decides ends there.

    Players (a range like 200-400 is drawn from for each move, one number is fixed; seconds, unlike playouts and nodes,
    do not give the same game twice; they are of the search's CPU time, but for ``solver`` on the wall):

    - ``random``
    - ``uct:playouts=200-400`` or ``seconds=0.5``, optional ``exploration``
    - ``mohex:playouts=1000`` or ``seconds=0.5``, optional ``rave`` (off: PUCT), ``reuse`` (of the subtree; counts
      as playouts), ``early`` (stop when the leader is safe), ``extend`` (an unstable search by half), each on or off;
      ``bias`` (weight of the prior), ``expand`` and ``knowledge`` (visits; 0 for no connections), ``noise`` (share of
      Dirichlet noise at the root) and ``noise_shape``
    - ``mohex-2011``: the same without pattern weights
    - ``resistance`` looks one move ahead, ``resistance-4ply`` four, optional ``width``
    - ``solver:nodes=10000`` or ``seconds=1``

    The first ``dither_moves`` searched moves after the opening are drawn with probability proportional to ``visits **
    (1 / temperature)``; the others, and all at temperature 0, are the most visited. Only players with visits are drawn
    from.

    ``moves`` u16[M] and ``offsets`` i64[G + 1], openings included; ``winner`` u8[G]; ``ended_by`` u8[G] (0 chain, 1
    proof, 2 resignation); ``budget`` u32[M] playouts or positions that were spent, 0 for opening moves and for moves
    without search; ``root_value`` f32[M] from -1 to 1 for the mover, 0 for opening moves, exactly 1 and -1 where
    there is a proof; ``sampled`` u8[M], 1 where the move was drawn; ``visit_offsets`` i64[M + 1],
    ``visit_cells`` u16[V] in rising order for each move and ``visit_counts`` u32[V].
    """

def pattern_candidates(
    size: int, moves: NDArray[np.uint16], offsets: NDArray[np.int64], filled: bool
) -> dict[str, NDArray[Any]]:
    """The candidate moves of every position before each move of games in which Black moves first, as pattern codes.

    ``offsets`` i64[M + 1]; ``cells`` u16[C], rising in each position; ``codes`` u32[C]: the twelve cells around, two
    bits each, canonical for the mover, bit 24 set near the last move; ``replies`` u32[C]: near it the same of the cells
    around the last move, with the place of the candidate among them, from 1, in bits 24-27, else 0; ``bridge`` u8[M], 1
    if the last move cut a bridge of the mover. If ``filled``, candidates and codes are those of a tree node: fill-in is
    done, and moves that need not be tried are left out. Else those of a playout: every cell that is not dead.
    ValueError names an illegal move.
    """

def load_patterns(file: bytes) -> None:
    """Give players that are made from now on these pattern weights; ValueError if they are malformed."""

class Solution:
    """What is proved of a position. Unknown is never a guess: a limit ended the search first."""

    @property
    def winner(self) -> str:
        """``black``, ``white`` or ``unknown``."""

    @property
    def winning_moves(self) -> list[int]: ...
    @property
    def losing_moves(self) -> list[int]: ...
    @property
    def unknown_moves(self) -> list[int]: ...
    @property
    def line(self) -> list[int]:
        """Best play as far as it was searched."""

    @property
    def nodes(self) -> int: ...
    @property
    def expansions(self) -> int:
        """Positions of the search that were evaluated."""

    @property
    def knowledge(self) -> int:
        """How often the connections of one colour in one position were computed."""

    @property
    def cpu_seconds(self) -> float: ...

def solve(
    size: int,
    black: Sequence[int],
    white: Sequence[int],
    to_move: str,
    *,
    all_moves: bool = False,
    limit_nodes: int = 0,
    limit_seconds: float = 0,
    table_mb: int = 64,
    threads: int = 1,
) -> Solution:
    """Prove who wins with ``to_move`` to move; with ``all_moves``, after every legal move. A limit of 0 is none.

    A position that is decided has no moves in any list. One thread gives the same answer every time unless
    ``limit_seconds`` cuts it; more may find another winning move first.
    """

def solve_batch(
    size: int,
    positions: Sequence[tuple[Sequence[int], Sequence[int], str]],
    *,
    all_moves: bool = False,
    limit_nodes: int = 0,
    limit_seconds: float = 0,
    table_mb: int = 64,
    threads: int = 1,
) -> list[Solution]:
    """``solve`` for (black, white, to_move), each from an empty table of ``table_mb`` per thread.

    Threads share out the positions; what is proved of a position is used for those one move before it.
    """

REPROVE_MOST_EMPTY: int
"""The most empty cells that ``reprove`` takes."""

class Reproof:
    """What plain search proved of a position; unknown where the node budget ran out."""

    @property
    def winner(self) -> str:
        """``black``, ``white`` or ``unknown``."""

    @property
    def winning_moves(self) -> list[int]: ...
    @property
    def losing_moves(self) -> list[int]: ...
    @property
    def unknown_moves(self) -> list[int]: ...
    @property
    def nodes(self) -> int: ...

def reprove(
    size: int,
    black: Sequence[int],
    white: Sequence[int],
    to_move: str,
    *,
    all_moves: bool = False,
    limit_nodes: int,
) -> Reproof:
    """The second path to a label: the rules and plain proof search, without any code of the solver.

    Without ``all_moves`` only the winner is proved and every legal move is unknown. ``limit_nodes`` is for the whole
    call. ValueError if more than ``REPROVE_MOST_EMPTY`` cells are empty.
    """
