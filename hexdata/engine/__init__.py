"""The C++ core: rules, keys, search, self-play and proofs, each a batch call that releases the GIL.

Cells are ``row * size + column``. In arrays 0 is Black and 1 is White. Packed stones are ``ceil(size * size / 8)``
bytes, cell ``c`` in bit ``c & 7`` of byte ``c >> 3``. The symmetries are 0 the identity, 1 the rotation by 180 degrees,
2 the transposition with colours and side to move swapped, 3 = 1 after 2.

A key is the exclusive or of 128-bit constants: of each stone, of White to move, and of the board size. Constant ``k``
is the words ``2k`` (high) and ``2k + 1`` (low) of the splitmix64 stream with seed ``KEY_SEED``; ``k`` is ``colour * 361
+ cell`` for a stone, 722 for White to move, ``723 + size`` for the size.
"""

from pathlib import Path

from hexdata.engine._core import (
    BUILT_VERSION,
    REPROVE_MOST_EMPTY,
    Board,
    Player,
    Reproof,
    Solution,
    deal,
    fold,
    keys,
    load_patterns,
    pattern_candidates,
    play_games,
    player_settings,
    replay,
    reprove,
    search,
    solve,
    solve_batch,
    transform,
    winners,
    winning_connections,
)

__all__ = [
    "ENGINE_VERSION",
    "KEY_SEED",
    "REPROVE_MOST_EMPTY",
    "Board",
    "Player",
    "Reproof",
    "Solution",
    "deal",
    "fold",
    "keys",
    "load_patterns",
    "pattern_candidates",
    "play_games",
    "player_settings",
    "replay",
    "reprove",
    "search",
    "solve",
    "solve_batch",
    "transform",
    "winners",
    "winning_connections",
]

ENGINE_VERSION = int((Path(__file__).parent / "VERSION").read_text())
"""Grows when any player or the solver would give other bytes for the same arguments."""

if BUILT_VERSION != ENGINE_VERSION:
    # its games would bear the number of an engine that did not play them
    raise ImportError(
        f"the engine was built as version {BUILT_VERSION}, its sources are version {ENGINE_VERSION}: run `make setup`"
    )

KEY_SEED = 0x4865784461746131
"""The ASCII bytes of "HexData1"."""

load_patterns((Path(__file__).parent / "patterns.bin").read_bytes())
