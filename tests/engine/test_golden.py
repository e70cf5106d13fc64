"""The engine's bytes, pinned to its version: data sets and locks trust VERSION to say when games or proofs change.

After a wanted change raise the number in hexdata/engine/VERSION and run `python -m tests.engine.test_golden --write`.
"""

import hashlib
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hexdata.engine import ENGINE_VERSION, play_games, solve_batch

GOLDEN = Path(__file__).parent / "golden.json"
# Size, games and temperature of each part of a player's 50 games.
PARTS = ((3, 10, 1.0), (6, 20, 0.5), (9, 15, 1.0), (13, 5, 2.0))
# For players whose moves cost tens of milliseconds on larger boards.
SMALL_PARTS = ((3, 10, 1.0), (4, 20, 1.0), (5, 15, 1.0), (6, 5, 1.0))
PLAYERS = {
    "random": PARTS,
    "uct:playouts=200-400": PARTS,
    "mohex:playouts=100-200": PARTS,
    "mohex:playouts=100,rave=off,reuse=off,early=off,extend=off,knowledge=0,noise=0.25": PARTS,
    "mohex-2011:playouts=100-200": PARTS,
    "resistance": SMALL_PARTS,
    "resistance-4ply:width=4": SMALL_PARTS,
    "solver:nodes=100": SMALL_PARTS,
}


def games_hash(player: str) -> str:
    """50 games, over several sizes, openings and temperatures, and every column that they have."""
    digest = hashlib.sha256()
    for size, count, temperature in PLAYERS[player]:
        openings = [[game % (size * size)] if game % 2 else [] for game in range(count)]
        games = play_games(size, player, player, openings, range(count), dither_moves=4, temperature=temperature)
        for name in sorted(games):
            digest.update(name.encode() + games[name].tobytes())
    return digest.hexdigest()


def proofs_hash(size: int, stones: int, count: int) -> str:
    """Random positions with every move labelled: answers, lines and the work behind them."""
    rng = random.Random(f"golden {size} {stones}")
    positions = []
    for _ in range(count):
        drawn = rng.sample(range(size * size), stones)
        positions.append((drawn[::2], drawn[1::2], "black" if stones % 2 == 0 else "white"))
    digest = hashlib.sha256()
    for found in solve_batch(size, positions, all_moves=True, limit_nodes=20_000):
        lists = (found.winning_moves, found.losing_moves, found.unknown_moves, found.line)
        digest.update(repr((found.winner, lists, found.nodes, found.expansions)).encode())
    return digest.hexdigest()


# Boards of one, two and three words.
PROOFS = ((4, 3, 10), (5, 4, 15), (6, 9, 15), (7, 20, 10), (9, 20, 4), (13, 86, 4))

# Each section is computed whole: {name of the section: {name of the entry: hash}}.
SECTIONS: dict[str, Callable[[], dict[str, str]]] = {
    "games": lambda: {player: games_hash(player) for player in PLAYERS},
    "proofs": lambda: {f"{size}x{size}": proofs_hash(size, stones, count) for size, stones, count in PROOFS},
}


def complaint(golden: dict[str, Any], version: int, section: str, found: dict[str, str]) -> str | None:
    """What is wrong with the pinned file, in one sentence; None if nothing is."""
    pinned = golden.get(section, {})
    changed = sorted(name for name in pinned.keys() | found.keys() if pinned.get(name) != found.get(name))
    if golden["version"] != version:
        return (
            f"golden.json is of engine version {golden['version']} but VERSION says {version}: "
            "run `python -m tests.engine.test_golden --write`"
        )
    if changed:
        return (
            f"{section} of {', '.join(changed)} changed but VERSION is still {version}: if the change is wanted, raise "
            "hexdata/engine/VERSION and run `python -m tests.engine.test_golden --write`"
        )
    return None


@pytest.mark.parametrize("section", SECTIONS)
def test_bytes_change_only_with_the_version(section: str) -> None:
    sentence = complaint(json.loads(GOLDEN.read_text()), ENGINE_VERSION, section, SECTIONS[section]())
    assert sentence is None, sentence


def test_a_silent_change_is_noticed() -> None:
    golden = {"version": 3, "games": {"uct": "aa"}}
    assert complaint(golden, 3, "games", {"uct": "aa"}) is None
    assert "games of uct changed but VERSION is still 3" in str(complaint(golden, 3, "games", {"uct": "bb"}))
    assert "games of mohex changed" in str(complaint(golden, 3, "games", {"uct": "aa", "mohex": "cc"}))
    assert "of engine version 3 but VERSION says 4" in str(complaint(golden, 4, "games", {"uct": "aa"}))


def rewritten(golden: dict[str, Any], version: int, found: dict[str, dict[str, str]]) -> dict[str, Any]:
    """The new contents of golden.json. New entries may join a version, but ValueError if one of its entries changed."""
    for section, entries in found.items():
        pinned = golden.get(section, {})
        changed = sorted(name for name in pinned if pinned[name] != entries.get(name))
        if golden.get("version") == version and changed:
            raise ValueError(
                f"{section} of {', '.join(changed)} changed: raise hexdata/engine/VERSION above {version} first"
            )
    return {"version": version} | found


def test_a_version_is_never_rewritten() -> None:
    golden = {"version": 3, "games": {"uct": "aa"}}
    added = {"games": {"uct": "aa", "mohex": "cc"}, "proofs": {"6x6": "dd"}}
    assert rewritten(golden, 3, added) == {"version": 3} | added
    assert rewritten(golden, 4, {"games": {"uct": "bb"}}) == {"version": 4, "games": {"uct": "bb"}}
    with pytest.raises(ValueError, match="games of uct changed: raise hexdata/engine/VERSION above 3 first"):
        rewritten(golden, 3, {"games": {"uct": "bb"}})


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.engine.test_golden --write")
    old = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    try:
        new = rewritten(old, ENGINE_VERSION, {section: compute() for section, compute in SECTIONS.items()})
    except ValueError as error:
        sys.exit(str(error))
    GOLDEN.write_text(json.dumps(new, indent=2) + "\n")
