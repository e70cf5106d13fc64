"""SGF files as programs and people write them: read right, or refused with the place and the reason."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexdata.board import COLOURS, Colour, Position, bits, cell_map, cells, other, parse_cell, parse_moves
from hexdata.formats.game import Game, Special
from hexdata.formats.sgf import BadSgf, parse_sgf, parse_sgf_games, read_sgf, write_sgf


def stones(text: str, size: int | None = None) -> str:
    """What a record leaves on the board: size, black stones, white stones, side to move."""
    position = parse_sgf(text, size=size).position()
    black, white = (
        " ".join(f"{chr(97 + cell % position.size)}{cell // position.size + 1}" for cell in cells(mask))
        for mask in (position.black, position.white)
    )
    return f"{position.size}: {black} / {white} / {position.to_move}"


READ = {
    "HexGui": ("(;FF[4]AP[HexGui:0.9]GM[11]SZ[5];B[a1];W[b2];B[c3])", "5: a1 c3 / b2 / white"),
    "no moves": ("(;GM[11]SZ[7])", "7:  /  / black"),
    "no GM": ("(;SZ[5];B[a1])", "5: a1 /  / white"),
    "no SZ is 11x11": ("(;GM[11];B[k11])", "11: k11 /  / white"),
    "square SZ with a colon": ("(;SZ[5:5];B[a1])", "5: a1 /  / white"),
    "SZ with spaces": ("(;SZ[ 5 ];B[a1])", "5: a1 /  / white"),
    "smallest board": ("(;SZ[2];B[a2])", "2: a2 /  / white"),
    "largest board": ("(;SZ[19];B[s19])", "19: s19 /  / white"),
    "upper-case cells": ("(;SZ[5];B[A1];W[E5])", "5: a1 / e5 / black"),
    "letter pairs": ("(;SZ[5];B[ab];W[ba])", "5: a2 / b1 / black"),
    "upper-case letter pairs": ("(;SZ[5];B[AB];W[BA])", "5: a2 / b1 / black"),
    "lower-case properties": ("(;gm[11]sz[5];b[a1];w[b2])", "5: a1 / b2 / black"),
    "long FF[3] property names": ("(;GaMe[11]SiZe[5];Black[a1];White[b2])", "5: a1 / b2 / black"),
    "spaces in cells": ("(;SZ[5];B[ a1 ];W[b2\n])", "5: a1 / b2 / black"),
    "spaces between everything": ("( ; SZ [5]\n ; B [a1]\t; W [b2] )", "5: a1 / b2 / black"),
    "CRLF": ("(;SZ[5]\r\n;B[a1]\r\n;W[b2])\r\n", "5: a1 / b2 / black"),
    "old Mac line ends": ("(;SZ[5]\r;B[a1]\r;W[b2])\r", "5: a1 / b2 / black"),
    "byte order mark": ("\ufeff(;SZ[5];B[a1])", "5: a1 /  / white"),
    "mail headers before": ("From: me\nGame (of today):\n\n(;SZ[5];B[a1])", "5: a1 /  / white"),
    "text after": ("(;SZ[5];B[a1])\n-- \nregards", "5: a1 /  / white"),
    "first game of two": ("(;SZ[5];B[a1])(;SZ[6];B[f6])", "5: a1 /  / white"),
    "main line of variations": ("(;SZ[5];B[a1](;W[b2];B[c3])(;W[e5];B[e4]))", "5: a1 c3 / b2 / white"),
    "nested variations": ("(;SZ[5](;B[a1](;W[b2](;B[c3])(;B[d4]))(;W[c1]))(;B[e5]))", "5: a1 c3 / b2 / white"),
    "illegal moves in a variation": ("(;SZ[5];B[a1](;W[b2])(;W[a1]))", "5: a1 / b2 / black"),
    "all in one more bracket": ("(;SZ[5](;B[a1];W[b2]))", "5: a1 / b2 / black"),
    "empty nodes": ("(;;SZ[5];;B[a1];;;W[b2];)", "5: a1 / b2 / black"),
    "size in the second node": ("(;FF[4];SZ[5];B[a1])", "5: a1 /  / white"),
    "first move in the root": ("(;SZ[5]B[a1];W[b2])", "5: a1 / b2 / black"),
    "brackets in comments": ("(;SZ[5]C[(;B[a1\\] :-\\)];B[c3]C[best ; move])", "5: c3 /  / white"),
    "escapes": ("(;SZ[5]C[a \\] b \\\\];B[c3]C[x\\\ny])", "5: c3 /  / white"),
    "unknown properties": ("(;SZ[5]XY[1][2]KM[0.5];B[a1]BL[12.5]LB[b2:1])", "5: a1 /  / white"),
    "set-up": ("(;SZ[5]AB[a1][b2]AW[c3]PL[W])", "5: a1 b2 / c3 / white"),
    "set-up, Black to move": ("(;SZ[5]AB[a1]AW[c3]PL[B];B[d4])", "5: a1 d4 / c3 / white"),
    "set-up without PL, even": ("(;SZ[5]AB[a1]AW[c3])", "5: a1 / c3 / black"),
    "set-up without PL, Black ahead": ("(;SZ[5]AB[a1])", "5: a1 /  / white"),
    "set-up without PL, a move tells": ("(;SZ[5]AB[a1][b2]AW[c3];B[d4])", "5: a1 b2 d4 / c3 / white"),
    "set-up and move in one node": ("(;SZ[5]AB[a1]W[b2])", "5: a1 / b2 / black"),
    "set-up in the second node": ("(;SZ[5];AB[a1]AW[b2]PL[white];W[c3])", "5: a1 / b2 c3 / black"),
    "set-up rectangle": ("(;SZ[5]AB[b2:c3])", "5: b2 c2 b3 c3 /  / white"),
    "set-up rectangle of letter pairs": ("(;SZ[5]AW[bb:cc]PL[b])", "5:  / b2 c2 b3 c3 / black"),
    "set-up taken away again": ("(;SZ[5]AB[a1][b2];AE[a1];AW[b2]PL[B])", "5:  / b2 / black"),
    "empty set-up": ("(;SZ[5]AB[]AW[];B[a1])", "5: a1 /  / white"),
    "PL in lower case": ("(;SZ[5]AB[a1]PL[black])", "5: a1 /  / black"),
    "White first by PL": ("(;SZ[5]PL[W];W[a1];B[b2])", "5: b2 / a1 / white"),
    "White first by names": ("(;SZ[5];W[a1];B[b2])", "5: b2 / a1 / white"),
    "swap-pieces": ("(;SZ[5];B[a3];W[swap-pieces];B[d4])", "5: d4 / c1 / white"),
    "swap-pieces in capitals": ("(;SZ[5];B[a3];W[SWAP-PIECES])", "5:  / c1 / black"),
    "swap-pieces by Black": ("(;SZ[5]PL[W];W[a3];B[swap-pieces];W[d4])", "5: c1 / d4 / black"),
    "swap-sides": ("(;SZ[5];B[a3];W[swap-sides];W[d4];B[e5])", "5: a3 e5 / d4 / white"),
    "resign": ("(;SZ[5]RE[B+Resign];B[c3];W[resign])", "5: c3 /  / white"),
    "forfeit": ("(;SZ[5];B[c3];W[forfeit])", "5: c3 /  / white"),
    # Little Golem tags the first player W, though PB is the first player
    "Little Golem": (
        "(;FF[4]EV[hex.ld.1]PB[ann]PW[bob]SZ[5]RE[B]SO[https://www.littlegolem.net];W[ac];B[dd];W[be];B[resign])",
        "5: a3 b5 / d4 / white",
    ),
    "Little Golem with swap": ("(;FF[4]EV[null]PB[ann]PW[bob]SZ[5]RE[W];W[ac];B[swap];W[dd])", "5: d4 / c1 / white"),
    "Little Golem, 13x13": (
        "(;FF[4]EV[hex.ch.23.1.1]PB[ann]PW[bob]SZ[13]RE[W]GC[ game #1139802]SO[http://www.littlegolem.com]"
        ";W[mf];B[swap];W[kj];B[ie];W[resign])",
        "13: k10 / i5 f13 / black",
    ),
    "Little Golem without moves": ("(;FF[4]EV[null]PB[ann]PW[bob]SZ[13]RE[W]GC[game #2]SO[x])", "13:  /  / black"),
    # up to 0.9 HexGui left the stone where it was and let the same colour move again, and called it swap-pieces
    "swap-pieces of HexGui 0.9": (
        "(;AP[HexGui:0.9.GIT]FF[4]GM[11]SZ[5];B[a3];W[swap-pieces];W[d4])",
        "5: a3 / d4 / black",
    ),
    "swap-pieces of HexGui 0.10": ("(;AP[HexGui:0.10]SZ[5];B[a3];W[swap-pieces];B[d4])", "5: d4 / c1 / white"),
    "swap-sides of HexGui": ("(;AP[HexGui:1.0.0]GM[11]SZ[5];B[a3];W[swap-sides];W[d4])", "5: a3 / d4 / black"),
    "HexGui's lines and escapes": (
        "(;FF[4]AP[HexGui:1.0]GM[11]SZ[5]C[a\\: b \\[c\\]];B[a1];W[b2]\n;B[c3])\n",
        "5: a1 c3 / b2 / white",
    ),
    "PlayHex": (
        "(;FF[4]GM[11]AP[PlayHex:0.0.0]PL[B]SZ[5]DT[2024-01-31]PB[ann]PW[bob]RE[W+Resign];B[a2];W[swap-pieces];B[c3])",
        "5: c3 / b1 / white",
    ),
    "swap": ("(;SZ[5];B[a3];W[swap])", "5:  / c1 / black"),
    "swap_pieces": ("(;SZ[5];B[a3];W[swap_pieces])", "5:  / c1 / black"),
    "resigning out of turn": ("(;SZ[5];B[c3];B[resign])", "5: c3 /  / white"),
    "won by the last move": ("(;SZ[2];B[a1];W[b1];B[a2])", "2: a1 a2 / b1 / white"),
}


@pytest.mark.parametrize("name", READ)
def test_reads(name: str) -> None:
    text, expected = READ[name]
    assert stones(text) == expected


@pytest.mark.parametrize("name", READ)
def test_writes_what_it_reads_back(name: str) -> None:
    game = parse_sgf(READ[name][0])
    assert parse_sgf(write_sgf(game)) == game


REFUSED = {
    "empty": ("", "1:1: expected a game that begins with `(;`"),
    "not SGF": ("hello", "1:1: expected a game"),
    "no node": ("()", "1:1: expected a game"),
    "truncated after a move": ("(;SZ[5];B[a1]", "1:14: the file ends inside the game"),
    "truncated in a value": ("(;SZ[5]\n;B[a", "2:3: the file ends inside the value of B"),
    "truncated in a comment": ("(;SZ[5]C[so\nlong", "1:9: the file ends inside the value of C"),
    "truncated in an escape": ("(;SZ[5]C[so\\", "1:9: the file ends inside the value of C"),
    "truncated after a property": ("(;SZ[5];B", "1:10: the file ends after B"),
    "truncated in a variation": ("(;SZ[5](;B[a1])(;B[b2]", "1:23: the file ends inside the game"),
    "property without value": ("(;SZ;B[a1])", "1:5: found ';' after SZ"),
    "value without property": ("(;SZ[5];[a1])", "1:9: found '[', expected a property"),
    "property outside a node": ("(;SZ[5](B[a1]))", "1:9: found 'B', expected `;`"),
    "unescaped bracket": ("(;PB[x]]SZ[5])", "1:8: found ']'"),
    "another game": ("(;GM[1]SZ[5];B[aa])", "1:5: GM[1] is another game"),
    "size 1": ("(;SZ[1])", "1:5: SZ[1] is out of range: expected 2 to 19"),
    "size 20": ("(;SZ[20])", "1:5: SZ[20] is out of range"),
    "no number for size": ("(;SZ[big])", "1:5: SZ[big] is no board size"),
    "oblong board": ("(;SZ[5:6])", "1:5: SZ[5:6] is no board size"),
    "two sizes": ("(;SZ[5][6])", "1:3: SZ has 2 values, expected one"),
    "size twice": ("(;SZ[5]SZ[6])", "1:8: SZ is given twice in one node"),
    "cell off the board": ("(;SZ[5];B[a1];W[f1])", "1:16: move 2: 'f1' is no cell of a 5x5 board: expected a1 to e5"),
    "letter pair off the board": ("(;SZ[5];B[af])", "1:10: move 1: 'af' is no cell"),
    "no cell at all": ("(;SZ[5];B[a1];W[?])", "1:16: move 2: '?' is no cell"),
    "row 0": ("(;SZ[5];B[a0])", "1:10: move 1: 'a0' is no cell"),
    "cell taken": ("(;SZ[5];B[a1];W[b2];\nB[b2])", "2:2: move 3: b2 is already taken"),
    "cell taken by set-up": ("(;SZ[5]AB[a1]PL[W];W[a1])", "1:21: move 1: a1 is already taken"),
    "out of turn": ("(;SZ[5];B[a1];B[b2])", "1:16: move 2: black plays, expected white"),
    "against PL": ("(;SZ[5]PL[W];B[a1])", "1:15: move 1: black plays, expected white"),
    "pass": ("(;SZ[5];B[])", "1:10: move 1: a pass"),
    "pass by name": ("(;SZ[5];B[pass])", "1:10: move 1: a pass"),
    "two moves in a node": ("(;SZ[5];B[a1]W[b2])", "1:14: move 1: B and W in one node"),
    "two cells for a move": ("(;SZ[5];B[a1][b2])", "1:9: B has 2 values"),
    "move after the end": ("(;SZ[2];B[a1];W[b1];B[a2];W[b2])", "1:28: move 4: b2 comes after black has won"),
    "Little Golem's bracket in a name": ("(;FF[4]PB[x]PW[Y;]]SZ[11];W[ad])", "1:19: found ']'"),
    "HexGui 0.9, swapped back": (
        "(;AP[HexGui:0.9]SZ[5];B[a3];W[swap-pieces];B[d4])",
        "1:45: move 3: black plays, expected white",
    ),
    "move after forfeiting": ("(;SZ[5];B[a1];W[forfeit];B[b2])", "1:27: move 3: white has forfeited"),
    "move after resigning": ("(;SZ[5];B[a1];W[resign];B[b2])", "1:26: move 3: white has resigned"),
    "resigning after the end": ("(;SZ[2];B[a1];W[b1];B[a2];W[resign])", "1:28: move 4: white resigns after black"),
    "swap as first move": ("(;SZ[5];B[swap-pieces])", "1:10: move 1: swap-pieces is only legal as the second"),
    "swap as third move": ("(;SZ[5];B[a1];W[b2];B[swap-pieces])", "1:22: move 3: swap-pieces is only legal"),
    "swap after set-up": ("(;SZ[5]AB[e5];W[a1];B[swap-sides])", "1:22: move 2: swap-sides is only legal"),
    "set-up after a move": ("(;SZ[5];B[a1];AW[b2])", "1:15: AW comes after move 1"),
    "two colours on a cell": ("(;SZ[5]AB[a1]AW[a1])", "1:14: a1 is in both AB and AW of one node"),
    "set-up twice on a cell": ("(;SZ[5]AB[a1][a1])", "1:14: AB names a1 twice"),
    "set-up off the board": ("(;SZ[5]AB[a1][z9])", "1:14: AB: 'z9' is no cell"),
    "odd rectangle": ("(;SZ[5]AB[a1:b2:c3])", "1:10: AB[a1:b2:c3] is no list of cells"),
    "PL of nobody": ("(;SZ[5]PL[red])", "1:10: PL[red] is no side to move"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_with_the_place_and_the_reason(name: str) -> None:
    text, expected = REFUSED[name]
    with pytest.raises(BadSgf) as caught:
        parse_sgf(text, "game.sgf")
    assert str(caught.value).startswith(f"game.sgf:{expected}")
    assert "\n" not in str(caught.value)


def test_every_truncation_of_a_record_is_refused() -> None:
    text = "(;SZ[5]C[a\\]b];B[a1](;W[b2];B[c3])(;W[c3]))"
    for length in range(len(text)):
        with pytest.raises(BadSgf):
            parse_sgf(text[:length])


def test_every_game_of_a_collection_and_what_is_wrong_with_the_others() -> None:
    text = (
        "my games\n(;SZ[5];B[a1])(;SZ[6];B[f6](;W[a1])(;W[b1]))\n\n(;SZ[5];B[a1];W[a1])\n"
        "(;SZ[7];B[a1]\n(;SZ[5]C[(; in a comment];B[b2])\n(;GM[1]SZ[9])\n  (;SZ[4];B[d4])\n"
    )
    found = [str(g) if isinstance(g, BadSgf) else (g.size, len(g.moves)) for g in parse_sgf_games(text, "all.sgf")]
    assert found == [
        (5, 1),
        (6, 2),
        "all.sgf:4:16: move 2: a1 is already taken",
        "all.sgf:9:1: the file ends inside the game: expected 1 more closing `)`",
        (5, 1),
        "all.sgf:7:5: GM[1] is another game: expected GM[11], Hex",
        (4, 1),
    ]


def test_a_refused_game_takes_its_variations_along_and_no_other_game() -> None:
    text = (
        "(;SZ[5];B[a1];W[pass]\n(;W[d4];B[e5])\n(;W[b2];B[c4];W[resign]))(;SZ[4];B[d4])\n"
        "(;SZ[5];B[z9])(;GM[1])(;SZ[6];B[f6])"
    )
    found = [str(g) if isinstance(g, BadSgf) else (g.size, len(g.moves)) for g in parse_sgf_games(text, "all.sgf")]
    assert found == [
        "all.sgf:1:16: move 2: a pass, which Hex does not have: expected a cell",
        (4, 1),
        "all.sgf:4:10: move 1: 'z9' is no cell of a 5x5 board: expected a1 to e5",
        "all.sgf:4:19: GM[1] is another game: expected GM[11], Hex",
        (6, 1),
    ]


def test_size_for_a_file_without_one() -> None:
    assert stones("(;B[a1])", size=7) == "7: a1 /  / white"
    assert stones("(;SZ[7];B[a1])", size=7) == "7: a1 /  / white"
    with pytest.raises(BadSgf, match=r"SGF:1:5: SZ\[7\] differs from the size 5"):
        parse_sgf("(;SZ[7])", size=5)


@pytest.mark.parametrize(
    ("content", "player"),
    [
        ("(;SZ[5]PB[Jürgen])".encode(), "Jürgen"),
        ("(;SZ[5]PB[Jürgen])".encode("utf-8-sig"), "Jürgen"),
        ("(;SZ[5]PB[Jürgen])".encode("latin-1"), "Jürgen"),
        ("(;SZ[5]PB[Jürgen])".encode("utf-16"), "Jürgen"),
        ("(;CA[UTF-8]SZ[5]PB[Jürgen])".encode("latin-1"), "Jürgen"),
        ("(;CA[ iso-8859-2 ]SZ[5]PB[Łukasz])".encode("iso-8859-2"), "Łukasz"),
        # the second byte of 表, 乗 and 功 is a backslash
        ("(;CA[Shift_JIS]SZ[5]PB[表])".encode("shift_jis"), "表"),
        ("(;CA[Shift_JIS]SZ[5]PB[①表])".encode("cp932"), "①表"),
        ("(;CA[gb2312]SZ[5]PB[乗])".encode("gbk"), "乗"),
        ("(;SZ[5]PB[功]CA[Big5])".encode("big5"), "功"),
    ],
)
def test_encodings(tmp_path: Path, content: bytes, player: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(content)
    assert dict(read_sgf(path).info)["PB"] == player


def test_broken_utf_16_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes("(;SZ[5])".encode("utf-16")[:-1])
    with pytest.raises(BadSgf, match=r"game\.sgf: the UTF-16 text is broken at byte"):
        read_sgf(path)


@pytest.mark.parametrize("encoding", ["martian", "hex", "idna", "euc_jp"])
def test_an_encoding_that_is_not_the_texts_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(f"(;CA[{encoding}]PB[".encode() + b"\xff\xff])")
    with pytest.raises(BadSgf, match=rf"game\.sgf: not a text in {encoding}: expected CA to name the encoding"):
        read_sgf(path)


def test_what_is_known_of_a_game() -> None:
    game = parse_sgf("(;SZ[5]RE[W+R]PW[Wolve]PB[Mo\nHex]C[one];C[two];B[c3];W[b3]C[three\nlines])")
    assert game.result == "W+R"
    assert game.info == (("PB", "Mo Hex"), ("PW", "Wolve"))
    assert game.comments == ((0, "one\ntwo"), (2, "three\nlines"))


@pytest.mark.parametrize(
    ("text", "winner"),
    [
        ("(;SZ[2];B[a1];W[b1];B[a2])", "black"),
        ("(;SZ[5];B[a1];W[resign])", "black"),
        ("(;SZ[5];B[a1];W[forfeit])", "black"),
        ("(;SZ[5];B[a1];B[resign])", "white"),
        ("(;SZ[5]RE[W+Time];B[a1])", "white"),
        ("(;SZ[5]RE[?];B[a1])", None),
        ("(;SZ[5]RE[Black];B[a1])", "black"),
        ("(;SZ[5]RE[w + resign];B[a1])", "white"),
        ("(;SZ[5]RE[Bob wins];B[a1])", None),
        ("(;SZ[5]RE[Void];B[a1])", None),
        ("(;SZ[5];B[a1])", None),
        ("(;SZ[5]RE[B];W[ac];B[dd];W[be];B[resign])", "black"),
        ("(;SZ[5]RE[B]SO[https://www.littlegolem.net];W[ac];B[dd])", "black"),
    ],
)
def test_winner(text: str, winner: str | None) -> None:
    assert parse_sgf(text).winner() == winner


def test_position_stops_early() -> None:
    game = parse_sgf("(;SZ[5]AW[e5];B[a3];W[b2];B[c3];W[resign])")
    setup = Position(5, 0, bits(parse_moves("e5", 5)), "black")
    assert game.position(0) == setup
    assert game.position(2) == setup.play(parse_cell("a3", 5)).play(parse_cell("b2", 5))
    assert game.position(4) == game.position(3) == game.position()
    assert game.last_cell(0) is None
    assert game.last_cell(2) == parse_cell("b2", 5)
    assert game.last_cell() == parse_cell("c3", 5)
    for number in (-1, 5):
        with pytest.raises(ValueError, match=f"move number {number} is out of range: the game has 4 moves"):
            game.position(number)


def test_last_cell_after_a_swap_is_where_the_stone_lies() -> None:
    assert parse_sgf("(;SZ[5];B[a3];W[swap-pieces])").last_cell() == parse_cell("c1", 5)
    assert parse_sgf("(;SZ[5];B[a3];W[swap-sides])").last_cell() == parse_cell("a3", 5)


def test_writer_refuses_what_no_reader_should_see() -> None:
    with pytest.raises(ValueError, match="move 2: a1 is already taken"):
        write_sgf(Game(5, moves=(("black", 0), ("white", 0))))
    with pytest.raises(ValueError, match="XX is not a game information property"):
        write_sgf(Game(5, info=(("XX", "1"),)))


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("[]\\:;()"), max_size=20)


@st.composite
def games(draw: st.DrawFn) -> Game:
    size = draw(st.integers(2, 19))
    order = random.Random(draw(st.integers(0, 2**32))).sample(range(size * size), size * size)
    setup = draw(st.integers(0, min(6, size * size // 2)))
    black, white = tuple(sorted(order[: setup // 2])), tuple(sorted(order[setup // 2 : setup]))
    to_move = draw(st.sampled_from(COLOURS))
    position = Position(size, bits(black), bits(white), to_move)
    moves: list[tuple[Colour, int | Special]] = []
    if setup == 0 and draw(st.booleans()):
        moves = [(to_move, order[0]), (other(to_move), "swap-pieces")]
        position = position.play(order[0]).transform(2)
        assert next(cells(position.black | position.white)) == cell_map(size, 2)[order[0]]
    for cell in order[setup : setup + draw(st.integers(0, 30))]:
        if position.winner() is None and position.empties() >> cell & 1:
            moves.append((position.to_move, cell))
            position = position.play(cell)
    if position.winner() is None and draw(st.booleans()):
        moves.append((position.to_move, "resign"))
    return Game(
        size,
        black,
        white,
        to_move,
        tuple(moves),
        result=draw(st.none() | words),
        info=draw(st.just(()) | st.builds(lambda a, b: (("PB", a), ("PW", b)), words, words)),
        comments=draw(st.just(()) | st.builds(lambda text: ((0, text + "."),), words)),
    )


@settings(max_examples=150, deadline=None)
@given(games())
def test_round_trip(game: Game) -> None:
    assert parse_sgf(write_sgf(game)) == game


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("();[]\\BWASZPL a1b25:\n"), max_size=40))
def test_any_text_is_read_or_refused_in_one_sentence(text: str) -> None:
    reason = ""
    try:
        parse_sgf(text).position()
    except BadSgf as error:
        reason = str(error)
    assert "\n" not in reason
