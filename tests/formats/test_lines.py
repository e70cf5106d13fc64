"""neurobenzene lines, HexWorld links and plain move lists: read right, refused with the place, and read back."""

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexdata.board import Colour, Position, cell_name
from hexdata.errors import BadInput
from hexdata.formats import FORMATS, Format, format_of, read_games, write_games
from hexdata.formats.game import SHARE_UNITS, Game, Move
from hexdata.formats.hexworld import parse_hexworld, write_hexworld
from hexdata.formats.moves import parse_move_lists, write_move_lists
from hexdata.formats.neurobenzene import parse_neurobenzene, write_neurobenzene

Reader = Callable[[str, str, int | None], Iterator[Game | BadInput]]
READERS: dict[str, Reader] = {
    "neurobenzene": parse_neurobenzene,
    "hexworld": parse_hexworld,
    "moves": parse_move_lists,
}


def shown(game: Game | BadInput) -> str:
    """`5: B a1, W resign; B+Resign`, or the reason why not."""
    if isinstance(game, BadInput):
        return str(game)
    words = [
        f"{colour[0].upper()} {move if isinstance(move, str) else cell_name(move, game.size)}"
        for colour, move in game.moves
    ]
    return f"{game.size}: {', '.join(words)}" + (f"; {game.result}" if game.result else "")


READ = [
    ("neurobenzene", "# 5 x 5 Hex Mon\nB[b3] W[d4][d4:0.37;c3:0.06;] -1.000000", "5: B b3, W d4; W+Proof"),
    (
        "neurobenzene",
        "#5 x 5 Hex\nB[a1] W[c2][a3 0.5; c2 0.5;] B[b3][b3 0.2; a5 0.8;] -1.0",
        "5: B a1, W c2, B b3; B+Proof",
    ),
    ("neurobenzene", "# 2x2\n  B[a1]  W[b1] B[a2] -1", "2: B a1, W b1, B a2; B+"),
    ("neurobenzene", "# 5 x 5\n# a remark\n\nb[B3] w[D4] 1.0\r\n", "5: B b3, W d4; B+Proof"),
    ("hexworld", "https://hexworld.org/board/#5r9c1,a3:sd4:rw", "5: B a3, W swap-pieces, B d4, W resign"),
    ("hexworld", "https://hexworld.org/board/#5x5nc1,a3:Sd4e5:fb", "5: B a3, W swap-sides, W d4, B e5, B forfeit"),
    ("hexworld", "hexworld.org/board/#11r10mn,c2d10,k11", "11: B c2, W d10, B k11"),
    ("hexworld", "9,e5g6", "9: B e5, W g6"),
    ("hexworld", "  https://hexworld.org/board/%235c1,a1", "5: B a1"),
    ("hexworld", "hexworld.org/board/#,a1k11", "11: B a1, W k11"),
    ("hexworld", "https://hexworld.org/board/#5c1", "5: "),
    ("hexworld", "https://hexworld.org/board/#5c1%2Ca3%3Ase5", "5: B a3, W swap-pieces, B e5"),
    ("moves", "# 5 x 5\nd4 e5", "5: B d4, W e5"),
    ("moves", "# 5x5 club evening\n1. d4 2. swap 3.e5, A1;W+Resign", "5: B d4, W swap-pieces, B e5, W a1; W+Resign"),
    ("moves", "# 5 x 5, copied from hexworld.org\na1 b2", "5: B a1, W b2"),
    ("moves", " # see https://hexworld.org/board/#5,a1\n# 5 x 5\na1 b2", "5: B a1, W b2"),
    ("moves", "# 5x5\na3 swap-sides d4 resign", "5: B a3, W swap-sides, W d4, B resign"),
]


@pytest.mark.parametrize(("form", "text", "expected"), READ)
def test_reads(form: Format, text: str, expected: str) -> None:
    assert [shown(game) for game in READERS[form](text, "f", None)] == [expected]
    assert format_of(text) == form


REFUSED = [
    ("neurobenzene", "B[a1] 1.0", "f:1:1: the board size is unknown"),
    ("neurobenzene", "# 5 x 6 Hex", "f:1: a 5x6 board, expected a square"),
    ("neurobenzene", "# 99 x 99 Hex", "f:1: board size 99 is out of range"),
    ("neurobenzene", "# 5 x 5\nB[a1] W[b1]", "f:2:12: found '', expected a move or the game's result"),
    ("neurobenzene", "# 5 x 5\nB[a1] W[b1] 0.33", "f:2:13: found '0.33', expected a move or the game's result"),
    ("neurobenzene", "# 5 x 5\nB[a1] B[b1] 1.0", "f:2:7: move 2: B plays, expected W"),
    ("neurobenzene", "# 5 x 5\nB[a1] W[a1] 1.0", "f:2:7: move 2: a1 is already taken"),
    ("neurobenzene", "# 5 x 5\nB[a1] W[f1] 1.0", "f:2:7: move 2: 'f1' is not a cell of a 5x5 board"),
    ("neurobenzene", "# 5 x 5\nB[a1] W[b1][a1:0.5;] 1.0", "f:2:7: move 2: the policy has a1, which is taken"),
    ("neurobenzene", "# 5 x 5\nB[a1][b1:1.5;] 1.0", "f:2:1: move 1: the policy has a share of 1.5"),
    ("neurobenzene", "# 5 x 5\nB[a1][b1] 1.0", "f:2:1: move 1: the policy has 'b1', expected a cell and its share"),
    ("neurobenzene", "# 5 x 5\nB[a1][b1:.5;b1:.5] 1.0", "f:2:1: move 1: the policy names b1 twice"),
    ("neurobenzene", "# 2 x 2\nB[a1] W[b1] B[a2] 1.0", "f:2:19: the result 1.0 says that white won, but the stones"),
    ("neurobenzene", "# 5 x 5\n-1.0", "f:2:1: found '-1.0', expected a move such as B[b3]"),
    ("hexworld", "https://hexworld.org/board/#5x6,a1", "f:1: a 5x6 board, expected a square"),
    ("hexworld", "https://hexworld.org/board/#25,a1", "f:1: board size 25 is out of range"),
    ("hexworld", "https://hexworld.org/board/#5q,a1", "f:1: 'https://hexworld.org/board/#5q,a1' is no HexWorld link"),
    ("hexworld", "https://hexworld.org/board/#5,a1:p", "f:1: move 2: a pass, which Hex does not have"),
    ("hexworld", "https://hexworld.org/board/#5,a1a1", "f:1: move 2: a1 is already taken"),
    ("hexworld", "https://hexworld.org/board/#5,a1f9", "f:1: move 2: 'f9' is not a cell of a 5x5 board"),
    ("hexworld", "https://hexworld.org/board/#5,a1b2:s", "f:1: move 3: swap-pieces is only legal"),
    ("hexworld", "https://hexworld.org/board/#5,a1!", "f:1: move 2: found '!', expected a cell"),
    ("hexworld", "https://hexworld.org/board/#5,a1:rwb2", "f:1: move 3: white has resigned"),
    ("moves", "d4 e5", "f:1:1: the board size is unknown"),
    ("moves", "# 5x5\nd4 d4", "f:2:4: move 2: d4 is already taken"),
    ("moves", "# 5x5\nd4 z9", "f:2:4: move 2: 'z9' is not a cell"),
    ("moves", "# 5x5\nd4 B+ e5", "f:2:7: found 'e5' after the result B+"),
    ("moves", "# 2x2\na1 b1 a2 b2", "f:2:10: move 4: b2 comes after black has won"),
]


@pytest.mark.parametrize(("form", "text", "expected"), REFUSED)
def test_refuses_with_the_place_and_the_reason(form: str, text: str, expected: str) -> None:
    found = [shown(game) for game in READERS[form](text, "f", None)]
    assert len(found) == 1
    assert found[0].startswith(expected)


@pytest.mark.parametrize("form", READERS)
def test_a_size_that_is_asked_for_must_agree(form: str) -> None:
    text = {"neurobenzene": "# 5x5\nB[a1] 1.0", "hexworld": "5,a1", "moves": "# 5x5\na1"}[form]
    assert [isinstance(game, Game) for game in READERS[form](text, "f", 5)][-1]
    assert "a 5x5 board" in shown(next(READERS[form](text, "f", 7)))


def test_a_bad_line_does_not_hide_the_others() -> None:
    games = list(parse_move_lists("# 5x5\na1\na1 a1\n# 4x4\nd4\n", "f"))
    assert [isinstance(game, Game) for game in games] == [True, False, True]
    assert [game.size for game in games if isinstance(game, Game)] == [5, 4]


def test_shares_are_exact_and_the_sign_is_the_next_players() -> None:
    (game,) = parse_neurobenzene("# 5 x 5\nB[b3] W[d4][d4:0.37;c3:0.0604;e5:0.00001] B[a1] 1.0", "f")
    assert isinstance(game, Game)
    cells = {cell_name(cell, 5): share for cell, share in game.policies[1]}
    assert cells == {"c3": 604, "d4": 3700}
    assert game.policies[0] == game.policies[2] == ()
    assert game.winner() == "white", "White is to move after three moves, and +1 is White's"


@st.composite
def games(draw: st.DrawFn) -> Game:
    """Games from the empty board, ended or not, with swaps, and with policies where there is no swap."""
    size = draw(st.integers(2, 19))
    order = random.Random(draw(st.integers(0, 2**32))).sample(range(size * size), size * size)
    position = Position.empty(size)
    moves: list[tuple[Colour, Move]] = []
    swap = draw(st.sampled_from((None, "swap-pieces", "swap-sides")))
    if swap:
        moves = [("black", order[0]), ("white", swap)]
        position = position.play(order[0])
        position = position.transform(2) if swap == "swap-pieces" else position
    for cell in order[: draw(st.integers(1, 40))]:
        if position.winner() is None and position.empties() >> cell & 1:
            moves.append((position.to_move, cell))
            position = position.play(cell)
    winner = position.winner()
    result = f"{winner[0].upper()}+" if winner else None
    if winner is None:
        end = draw(st.sampled_from(("resign", "forfeit", None)))
        if end:
            moves.append((position.to_move, end))
        else:
            result = draw(st.sampled_from(("B+Proof", "W+Proof")))
    policies = []
    for number, (_, move) in enumerate(moves):
        free = sorted(set(range(size * size)) - {m for _, m in moves[:number]})
        weighed = draw(st.lists(st.sampled_from(free), unique=True, max_size=3)) if isinstance(move, int) else []
        policies.append(tuple((cell, draw(st.integers(1, SHARE_UNITS))) for cell in sorted(weighed)))
    use = draw(st.booleans()) and any(policies) and not swap
    return Game(size, moves=tuple(moves), result=result, policies=tuple(policies) if use else ())


def is_swapped(game: Game) -> bool:
    return any(move in ("swap-pieces", "swap-sides") for _, move in game.moves)


def one(found: Iterator[Game | BadInput]) -> Game:
    (game,) = found
    assert isinstance(game, Game), game
    return game


@settings(max_examples=40)
@given(games())
def test_round_trips(game: Game) -> None:
    """Each format keeps what it can say."""
    plain = Game(game.size, moves=game.moves)
    assert one(parse_hexworld(write_hexworld([game]))) == plain
    assert one(parse_move_lists(write_move_lists([game]))) == Game(game.size, moves=game.moves, result=game.result)
    forfeited = game.moves[-1][1] == "forfeit"
    if forfeited or is_swapped(game):
        with pytest.raises(ValueError, match="lost by .* forfeit" if forfeited else "neurobenzene lines have no swap"):
            write_neurobenzene([game])
        return
    back = one(parse_neurobenzene(write_neurobenzene([game])))
    stones = tuple((colour, move) for colour, move in game.moves if isinstance(move, int))
    assert back.moves == stones
    assert back.policies == game.policies[: len(stones)] or not any(game.policies[: len(stones)])
    assert back.winner() == game.winner()


@settings(max_examples=10)
@given(st.lists(games(), min_size=1, max_size=4))
def test_files_of_many_games_are_recognised_and_read_back(many: list[Game]) -> None:
    for form in FORMATS:
        kept = [game for game in many if form != "neurobenzene" or not (is_swapped(game) or game.lost_by_time())]
        if kept:
            assert format_of(write_games(kept, form)) == form
    again = list(parse_hexworld(write_games(many, "hexworld")))
    assert [shown(game) for game in again] == [shown(Game(game.size, moves=game.moves)) for game in many]


def test_read_games_knows_each_file(tmp_path: Path) -> None:
    game = Game(5, moves=(("black", 0), ("white", 24), ("black", 12)), result="B+Proof")
    for form in FORMATS:
        path = tmp_path / form
        path.write_bytes(b"\xef\xbb\xbf" + write_games([game], form).replace("\n", "\r\n").encode())
        read = one(read_games(path))
        assert read.moves == game.moves
        assert read.result == (None if form == "hexworld" else game.result)


def test_writers_refuse_what_their_format_cannot_say() -> None:
    white_first = Game(5, to_move="white", moves=(("white", 0),), result="B+")
    set_up = Game(5, black_setup=(3,), to_move="white", moves=(("white", 0),), result="B+")
    for form, game in itertools.product(("neurobenzene", "hexworld", "moves"), (white_first, set_up)):
        with pytest.raises(ValueError, match="Black move first on the empty board"):
            write_games([game], form)
    with pytest.raises(ValueError, match="does not tell who won"):
        write_neurobenzene([Game(5, moves=(("black", 0),))])
    for lost in ("W+Time", "white + t", "B+Forfeit"):
        with pytest.raises(ValueError, match="lost by time or forfeit, which says nothing about the position"):
            write_neurobenzene([Game(5, moves=(("black", 0),), result=lost)])
    with pytest.raises(ValueError, match="a game without moves makes an empty line"):
        write_move_lists([Game(5, result="Void")])
    with pytest.raises(ValueError, match="white resigns when it is the other side's turn"):
        write_move_lists([Game(5, moves=(("black", 0), ("white", 1), ("white", "resign")))])


@pytest.mark.parametrize(
    ("result", "written"),
    [
        ("B", "B+"),
        ("White", "W+"),
        ("B+3.5", "B+"),
        ("B+ Resign", "B+Resign"),
        ("white + Time", "W+Time"),
        ("Black wins", None),
        ("?", None),
        ("Void", None),
        ("0", None),
    ],
)
def test_move_lists_hold_results_as_their_reader_takes_them(result: str, written: str | None) -> None:
    game = Game(5, moves=(("black", 0), ("white", 6)), result=result)
    again = one(parse_move_lists(write_move_lists([game])))
    assert (again.moves, again.result) == (game.moves, written)
    assert again.lost_by_time() == game.lost_by_time()


@settings(max_examples=200)
@given(st.sampled_from(sorted(READERS)), st.text(st.sampled_from("#5x,BW[]:; a1b2.srpS-+\n"), max_size=40))
def test_any_text_is_read_or_refused_in_one_sentence(form: str, text: str) -> None:
    for game in READERS[form](text, "f", 5):
        if isinstance(game, BadInput):
            assert "\n" not in str(game)
        else:
            game.position()
