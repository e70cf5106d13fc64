"""Changed game records and move lists: each is read into a legal position or refused with one sentence.

`python -m tests.formats.fuzz SEED SECONDS` runs as long as that; the tests run a fixed number of inputs.
"""

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from hexdata.board import MAX_SIZE, MIN_SIZE, Position, cell_name, parse_moves
from hexdata.errors import BadInput
from hexdata.formats import FORMATS, format_of, parse_games, write_games
from hexdata.formats.game import Game
from hexdata.formats.sgf import BadSgf, parse_sgf, read_sgf, write_sgf

RECORDS = (
    b"(;FF[4]GM[11]SZ[5]AB[a1][b2]AW[c3:d4]PL[W]C[set up];W[e5]C[one\\]two];B[e1])",
    b"(;GM[11]SZ[11]PB[x]PW[y]SO[http://www.littlegolem.com];W[bb];B[swap];W[cc];B[resign])",
    b"(;SZ[13:13];B[a1];W[swap-sides](;B[c3];W[d4])(;B[e5]))",
    "\ufeff(;GM[11]SZ[4]PB[J\u00f6rg]AE[a1];B[d4]\r\n;W[a1])".encode(),
    "(;GM[11]SZ[3];B[b2];W[swap-pieces];W[c3])".encode("utf-16"),
    "(;SZ[6]PB[Ren\u00e9];B[f6];W[a6];B[F1])".encode("latin-1"),
)
PIECES = (
    *(
        b"(;",
        b")",
        b";",
        b"[",
        b"]",
        b"\\",
        b":",
        b"\r",
        b"\n",
        b"\x00",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\xc3",
    ),
    *(
        b"SZ[19]",
        b"SZ[2:2]",
        b"SZ[-1]",
        b"SZ[99999]",
        b"GM[1]",
        b"AB[a1:s19]",
        b"AW[]",
        b"AE[b2]",
        b"PL[B]",
        b"PL[]",
        b"RE[W+]",
    ),
    *(
        b"B[a1]",
        b"W[c1]",
        b"B[swap]",
        b"W[resign]",
        b"B[]",
        b"W[tt]",
        b"B[pass]",
        b"C[\\]]",
        b"BlacK[a2]",
        b"\xef\xbc\x91",
    ),
)


def changed(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.randint(1, 3)):
        at = rng.randint(0, len(data))
        to = min(len(data), at + rng.randint(0, 8))
        match rng.randint(0, 4):
            case 0:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[to:]
            case 2:
                data = data[:at] + rng.choice(PIECES) + data[at:]
            case 3:
                data = data[:to] + data[at:]
            case _:
                other = rng.choice(RECORDS)
                data = data[:at] + other[rng.randint(0, len(other)) :]
    return data[:4000]


def random_game(rng: random.Random) -> Game:
    size = rng.randint(MIN_SIZE, MAX_SIZE)
    moves, position = [], Position.empty(size)
    for cell in rng.sample(range(size * size), rng.randint(0, min(30, size * size))):
        if position.winner():
            break
        moves.append((position.to_move, cell))
        position = position.play(cell)
    return Game(size, moves=tuple(moves), result=f"{(position.winner() or 'white')[0].upper()}+")


def random_record(rng: random.Random) -> bytes:
    return write_sgf(random_game(rng)).encode()


def random_lines(rng: random.Random) -> bytes:
    games = [random_game(rng) for _ in range(rng.randint(1, 3))]
    form = rng.choice(FORMATS)
    return write_games([game for game in games if game.moves], form).encode()


def refused(error: ValueError) -> str:
    assert str(error).strip()
    assert "\n" not in str(error)
    return "refused"


def check_record(path: Path, size: int | None) -> str:
    try:
        game = read_sgf(path, size)
    except BadSgf as error:
        return refused(error)
    for position in game.positions():
        assert not position.black & position.white
    again = parse_sgf(write_sgf(game))
    assert (again.size, again.moves, again.to_move) == (game.size, game.moves, game.to_move)
    assert again.position() == game.position()
    return "read"


def check_lines(text: str) -> str:
    """Whatever format it is taken for now."""
    found = "nothing"
    for game in parse_games(text, "f", None):
        if isinstance(game, BadInput):
            found = refused(game)
        else:
            again = write_games([game], "sgf")
            assert parse_sgf(again).position() == game.position()
            found = "read"
    assert found != "nothing" or format_of(text) != "sgf"
    return found


def check_moves(text: str, size: int) -> str:
    try:
        moves = parse_moves(text, size)
        position = Position.after(size, moves)
    except ValueError as error:
        return refused(error)
    assert position.ply == len(moves) == len(set(moves))
    return "read"


def fuzz(seed: int, count: int = 0, seconds: float = 0.0) -> Counter[str]:
    """At least that many inputs and seconds; what was read and refused. The input at fault is in the error."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.sgf"
        while found.total() < 3 * count or time.monotonic() < until:
            data = changed(rng, rng.choice(RECORDS) if rng.random() < 0.7 else random_record(rng))
            size = rng.choice((None, rng.randint(MIN_SIZE, MAX_SIZE)))
            path.write_bytes(data)
            board = rng.randint(MIN_SIZE, MAX_SIZE)
            names = " ".join(cell_name(c, board) for c in rng.choices(range(board * board), k=rng.randint(0, 6)))
            text = changed(rng, names.encode()).decode("utf-8", "replace") if rng.random() < 0.8 else names
            lines = changed(rng, random_lines(rng)).decode("utf-8", "replace")
            try:
                found[f"lines {check_lines(lines)}"] += 1
                found[f"records {check_record(path, size)}"] += 1
                found[f"move lists {check_moves(text, board)}"] += 1
            except Exception as error:
                raise AssertionError(
                    f"record {data!r} with size {size}, or moves {text!r} on size {board}, or {lines!r}"
                ) from error
    return found


if __name__ == "__main__":
    print(dict(fuzz(int(sys.argv[1]), seconds=float(sys.argv[2]))))
