"""Strangers' games as a campaign: the same game whatever the dialect, what is refused, and what stands on it."""

import json
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexdata import examples
from hexdata.board import Position, cell_map, cell_name, cells, other, parse_cell, parse_moves
from hexdata.cli import main
from hexdata.errors import BadInput
from hexdata.formats import FORMATS, Format, read_games, write_games
from hexdata.formats.game import Game
from hexdata.formats.sgf import parse_sgf
from hexdata.import_games import (
    Line,
    black_first,
    check_imported,
    game_of,
    games_from,
    import_games,
    read_lines,
)
from hexdata.params import ImportedGames, read_campaign, read_params
from hexdata.records import folder_hash, metadata_of, read_folder, read_table
from hexdata.split import build
from hexdata.validate import validate
from tests.flows.conftest import ROOT
from tests.tables import game_row
from tests.test_split import params, sides_in, write_suite

Output = pytest.CaptureFixture[str]


def line_of(text: str) -> Line:
    return black_first(parse_sgf(text))


def told(line: Line) -> str:
    names = " ".join(cell_name(cell, line.size) for cell in line.moves)
    return f"{names} / {line.winner} by {line.ended_by} / {line.black}-{line.white} / {line.opening_length} given"


PLAYERS = "PB[ann]PW[bob]"
TOLD = {
    "plain": (f"(;SZ[2]{PLAYERS};B[a1];W[b1];B[a2])", "a1 b1 a2 / black by chain / ann-bob / 0 given"),
    "resigned": (f"(;SZ[5]{PLAYERS};B[a1];W[b2];B[resign])", "a1 b2 / white by resign / ann-bob / 0 given"),
    "only the result": (f"(;SZ[5]{PLAYERS}RE[B+];B[a1];W[b2])", "a1 b2 / black by resign / ann-bob / 0 given"),
    "proved": ("(;SZ[5]RE[W+Proof];B[a1];W[b2])", "a1 b2 / white by proof / unknown-unknown / 0 given"),
    # after swap-pieces bob owns c1, the mirror image of a3; told without the swap he owns a3, and all is mirrored
    "swap-pieces": (
        f"(;SZ[5]{PLAYERS}RE[B+R];B[a3];W[swap-pieces];B[d4];W[e1])",
        "a3 d4 a5 / white by resign / bob-ann / 1 given",
    ),
    "swap-sides": (
        f"(;SZ[5]{PLAYERS};B[a3];W[swap-sides];W[d4];B[e1];W[resign])",
        "a3 d4 e1 / black by resign / bob-ann / 1 given",
    ),
    "old HexGui": (
        f"(;AP[HexGui:0.9]SZ[5]{PLAYERS};B[a3];W[swap-pieces];W[d4];B[resign])",
        "a3 d4 / white by resign / bob-ann / 1 given",
    ),
    "Little Golem": (
        f"(;FF[4]{PLAYERS}SZ[5]RE[W];W[ac];B[swap];W[dd];B[ea];W[resign])",
        "a3 d4 a5 / black by resign / bob-ann / 1 given",
    ),
    "Little Golem, played out": (
        f"(;FF[4]{PLAYERS}SZ[5]RE[B]SO[http://www.littlegolem.com]"
        ";W[aa];B[ba];W[ab];B[bb];W[ac];B[bc];W[ad];B[bd];W[ae])",
        "a1 b1 a2 b2 a3 b3 a4 b4 a5 / black by chain / ann-bob / 0 given",
    ),
    "White first": (f"(;SZ[5]{PLAYERS}PL[W];W[a3];B[b1];W[resign])", "c1 a2 / white by resign / bob-ann / 0 given"),
    "set-up": (
        f"(;SZ[5]{PLAYERS}AB[a1][b1]AW[c3]PL[W];W[d4];B[resign])",
        "a1 c3 b1 d4 / white by resign / ann-bob / 3 given",
    ),
    "set-up of White's": (
        f"(;SZ[5]{PLAYERS}AW[c1]PL[B];B[d4];W[resign])",
        "a3 d4 / white by resign / bob-ann / 1 given",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_black_first(name: str) -> None:
    text, expected = TOLD[name]
    assert told(line_of(text)) == expected


REFUSED = {
    "unfinished": ("(;SZ[5];B[a1])", "does not tell who won"),
    "no moves": ("(;SZ[5]RE[B])", "no moves"),
    "lost on time": ("(;SZ[5]RE[W+Time];B[a1])", "lost by time or forfeit"),
    "lost on time, in words": ("(;SZ[5]RE[Black+Time];B[a1])", "lost by time or forfeit"),
    "lost on time, apart": ("(;SZ[5]RE[W + Time];B[a1])", "lost by time or forfeit"),
    "lost on time, after a space": ("(;SZ[5]RE[ B+T];B[a1])", "lost by time or forfeit"),
    "lost on time, at Little Golem": (
        f"(;FF[4]EV[hex.ld.1]{PLAYERS}SZ[13]RE[B]GC[ game #1]SO[http://www.littlegolem.com];W[mf];B[gg];W[de])",
        "lost by time or forfeit",
    ),
    "lost on time, with Little Golem's tags": ("(;SZ[5]RE[W];W[ac];B[dd])", "lost by time or forfeit"),
    "forfeited, in words": ("(;SZ[5]RE[White+Forfeit];B[a1];W[b2])", "lost by time or forfeit"),
    "forfeited": ("(;SZ[5];B[a1];W[forfeit])", "lost by time or forfeit"),
    "against the stones": ("(;SZ[2]RE[W+];B[a1];W[b1];B[a2])", r"the result W\+ is not what the moves say, that black"),
    "against the resignation": ("(;SZ[5]RE[W];B[a1];W[resign])", "the result W is not what the moves say"),
    "whose result after swapped sides": ("(;SZ[5]RE[B];B[a1];W[swap-sides];W[b1])", "whose colour is that"),
    "impossible set-up": ("(;SZ[5]AB[a1][b1][c1];W[d1];B[resign])", "3 black and 0 white stones are set up with white"),
    "decided set-up": ("(;SZ[2]AB[a1][a2]AW[b1]RE[B])", "no moves"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_game_to_learn_from(name: str) -> None:
    text, reason = REFUSED[name]
    with pytest.raises(ValueError, match=reason):
        line_of(text)


def finished(seed: int, size: int) -> Game:
    rng = random.Random(seed)
    position, moves = Position.empty(size), []
    while position.winner() is None:
        cell = rng.choice(list(cells(position.empties())))
        moves.append((position.to_move, cell))
        position = position.play(cell)
    return Game(size, moves=tuple(moves), info=(("PB", f"p{rng.randrange(3)}"), ("PW", "q")))


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(2, 7))
def test_a_swap_keeps_the_position_up_to_symmetry_and_the_owner(seed: int, size: int) -> None:
    """Play the same game after a swap of pieces: every position must be the mirror image, won by the same player."""
    game = finished(seed, size)
    mirror = cell_map(size, 2)
    first, *rest = game.moves
    mirrored = tuple((other(colour), mirror[cell]) for colour, cell in rest)
    names = (("PB", "first"), ("PW", "second"))
    swapped = Game(size, moves=(first, ("white", "swap-pieces"), *mirrored), info=names)
    assert swapped.position() == game.position().transform(2)
    line = black_first(swapped)
    assert line.moves == tuple(cell for _, cell in game.moves)
    assert (line.black, line.white) == ("second", "first"), "who swapped owns the first stone"
    assert line.winner == game.winner()
    assert Position.after(size, line.moves).winner() == line.winner


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_some(folder: Path, count: int = 30, size: int = 5) -> list[Game]:
    folder.mkdir(exist_ok=True)
    games = [finished(seed, size) for seed in range(count)]
    for number, form in enumerate(FORMATS):
        (folder / f"{form}.txt").write_text(write_games(games[number :: len(FORMATS)], form))
    return games


def test_import_writes_a_sound_campaign_and_names_it_in_params(project: Path, capsys: Output) -> None:
    games = write_some(project / "theirs")
    before = read_params()
    assert main(["import", "theirs", "--as", "others5", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["games"], said["size"], said["twice"], said["left_out"]) == (len(games), 5, 0, [])

    folder = project / "data" / "games" / "others5"
    assert validate(folder).problems == []
    table = read_folder(folder, "games")
    rows = table.to_pylist()
    assert {tuple(row["moves"]) for row in rows} == {tuple(cell for _, cell in game.moves) for game in games}
    assert {row["black"] for row in rows} == {"p0", "p1", "p2", "unknown"}, "three of the four formats have no names"
    for row in rows:
        assert Position.after(5, row["moves"]).winner() == row["winner"]
        assert (row["seed"], row["engine_version"], row["ended_by"]) == (0, 0, "chain")
        assert not any(visits["cells"] for visits in row["visits"])

    after = read_params()
    assert after.campaigns["others5"].games == ImportedGames(imported=said["imported"])
    assert after.campaigns["others5"].train == before.campaigns["hex5"].train, "the knobs of the nearest size"
    assert {name: after.campaigns[name] for name in before.campaigns} == before.campaigns
    lines = [set((folder / "params.yaml").read_text().splitlines()) for folder in (project, ROOT)]
    added = lines[0] - lines[1]
    assert lines[1] < lines[0]
    assert len(added) <= 6, "the rest of the file is as it was, remarks included"


def test_the_same_games_in_other_files_are_the_same_bytes(project: Path) -> None:
    games = write_some(project / "theirs")
    first = import_games("others5", [project / "theirs"], Path("data"), Path("params.yaml"))
    there = folder_hash(Path("data/games/others5"))
    params = Path("params.yaml").read_text()
    shuffled = games[::-1] + games[:7]
    random.Random(1).shuffle(shuffled)
    named = [Game(g.size, moves=g.moves, info=g.info) for g in shuffled if g in games[0 :: len(FORMATS)]]
    rest = [Game(g.size, moves=g.moves) for g in shuffled if g not in games[0 :: len(FORMATS)]]
    Path("all.sgf").write_text(write_games(named + rest, "sgf"))
    again = import_games("others5", [Path("all.sgf")], Path("data"), Path("params.yaml"))
    assert again.sha256 == first.sha256
    assert again.twice == 7
    assert folder_hash(Path("data/games/others5")) == there
    assert Path("params.yaml").read_text() == params

    Path("fewer.sgf").write_text(write_games(named, "sgf"))
    fewer = import_games("others5", [Path("fewer.sgf")], Path("data"), Path("params.yaml"))
    assert Path("params.yaml").read_text() == params.replace(first.sha256, fewer.sha256)
    assert read_folder(Path("data/games/others5"), "games").num_rows == fewer.games < first.games


def test_the_line_ends_of_params_stay(project: Path) -> None:
    (project / "games.sgf").write_text("(;SZ[5];B[a1];W[resign])")
    params = project / "params.yaml"
    before = params.read_bytes().replace(b"\n", b"\r\n")
    params.write_bytes(before)
    import_games("others5", [Path("games.sgf")], Path("data"), params)
    after = params.read_bytes()
    assert set(before.splitlines(keepends=True)) < set(after.splitlines(keepends=True))
    assert after.count(b"\n") == after.count(b"\r\n") > before.count(b"\r\n")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("(;SZ[5];B[a1];W[a1])", [], "games.sgf:1:16: move 2: a1 is already taken (--skip leaves such games out)"),
        (
            "(;SZ[5];B[a1])(;SZ[5];B[b1])",
            [],
            "games.sgf: game 1: the record does not tell who won: expected a finished",
        ),
        ("(;SZ[5];B[a1])", ["--skip"], "no games are left to import"),
        ("# nothing", [], "there are no games in these files"),
        ("(;SZ[5];B[a1];W[resign])(;SZ[6];B[a1];W[resign])", [], "the games are on boards of 5x5 and 6x6"),
        ("(;SZ[5];B[a1];W[resign])", ["--size", "6"], "games.sgf:1:5: SZ[5] differs from the size 6"),
        ("(;SZ[5];B[a1];W[resign])", ["--as", "hex5"], "hex5 is a campaign of self-play"),
        ("(;SZ[5];B[a1];W[resign])", ["--as", "../x"], "'../x' is no name for a campaign"),
        ("(;SZ[5];B[a1];W[resign])", ["--size", "40"], "board size 40 is out of range"),
    ],
)
def test_bad_input_is_one_sentence_and_touches_nothing(
    project: Path, capsys: Output, text: str, arguments: list[str], message: str
) -> None:
    (project / "games.sgf").write_text(text)
    before = folder_hash(project)
    assert main(["import", "games.sgf", "--as", "others", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.count("\n") == 1
    assert folder_hash(project) == before


def test_games_that_were_played_here_are_not_replaced(project: Path, capsys: Output, games_folder: Path) -> None:
    (project / "games.sgf").write_text("(;SZ[5];B[a1];W[resign])")
    shutil.copytree(games_folder, project / "data" / "games" / "small")
    assert main(["import", "games.sgf", "--as", "small"]) == 2
    assert "games-00000.parquet: games of another kind are here" in capsys.readouterr().err
    assert folder_hash(project / "data" / "games" / "small") == folder_hash(games_folder)


def test_skip_leaves_out_and_names(project: Path, capsys: Output) -> None:
    (project / "games.sgf").write_text("(;SZ[5];B[a1];W[resign])\n(;SZ[5];B[a1])\n(;SZ[6];B[a1];W[resign])\n(;SZ[5];B[")
    assert main(["import", "games.sgf", "--as", "others", "--skip", "--size", "5"]) == 0
    said = capsys.readouterr().out
    assert "1 games of 5x5 are now others" in said
    assert said.count("left out: ") == 3
    assert "games.sgf:3:5: SZ[6] differs" in said
    assert "the file ends inside the value of B" in said


def test_games_in_every_dialect_and_with_every_end_are_valid(project: Path) -> None:
    for number, (text, _) in enumerate(TOLD.values()):
        (project / f"{number}.sgf").write_text(text)
    (project / "odd.sgf").write_text('(;SZ[5]PB[Jürgen "J\'"]PW[日本];B[a1];W[swap-pieces];B[resign])')
    (project / "lines.txt").write_text("# 5 x 5 Hex\nB[b3] W[d4][c3:0.06;d4:0.37;] B[a1] 1.0\n")
    files = [*sorted(project.glob("*.sgf")), project / "lines.txt"]
    done = import_games("all5", files, Path("data"), Path("params.yaml"), size=5, skip=True)
    assert (done.games, len(done.refused)) == (len(TOLD) + 1, 1), "one is on 2x2"
    assert validate(project / "data" / "games" / "all5").problems == []


def test_visits_of_neurobenzene_lines_are_kept_and_come_back(project: Path) -> None:
    text = "# 5 x 5 Hex\nB[b3] W[d4][c3:0.06;d4:0.37;] B[a1] 1.0\n"
    (project / "games.txt").write_text(text)
    done = import_games("gao5", [Path("games.txt")], Path("data"), Path("params.yaml"))
    path = project / "data" / "games" / "gao5" / "games-00000.parquet"
    (row,) = read_table(path, "games").to_pylist()
    assert row["visits"][1] == {"cells": parse_moves("c3 d4", 5), "counts": [600, 3700]}
    assert metadata_of(read_table(path))["imported"] == done.sha256
    assert (row["winner"], row["ended_by"]) == ("white", "proof")
    back = next(games_from([path]))
    assert back.policies[1] == ((parse_cell("c3", 5), 1395), (parse_cell("d4", 5), 8605)), "shares of what is told"


def test_export_of_played_games_reads_back(games_folder: Path, tmp_path: Path, capsys: Output) -> None:
    rows = read_folder(games_folder, "games").to_pylist()
    for form in FORMATS:
        out = tmp_path / f"games.{form}"
        assert main(["export", str(games_folder), "--as", form, "--out", str(out)]) == 0
        assert capsys.readouterr().out == f"{out}: {len(rows)} games\n"
        again = read_lines([out])
        assert again.refused == []
        assert {line.moves for line in again.lines.values()} == {tuple(row["moves"]) for row in rows}
        winners = {tuple(row["moves"]): row["winner"] for row in rows}
        assert all(line.winner == winners[line.moves] for line in again.lines.values())


def test_export_between_formats_and_what_it_refuses(tmp_path: Path, capsys: Output) -> None:
    game = tmp_path / "game.sgf"
    game.write_text("(;SZ[5];B[a3];W[swap-pieces];B[d4];W[resign])")
    assert main(["export", str(game), "--as", "hexworld"]) == 0
    assert capsys.readouterr().out == "https://hexworld.org/board/#5c1,a3:sd4:rw\n"
    assert main(["export", str(game), "--as", "moves", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == "# 5 x 5\na3 swap-pieces d4 resign\n"
    assert main(["export", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "all but neurobenzene have swaps" in said
    assert "HexWorld links tell who won only by a chain, a resignation or a forfeit" in said
    assert main(["export", str(game), "--as", "neurobenzene"]) == 2
    assert "neurobenzene lines have no swap-pieces" in capsys.readouterr().err
    assert main(["export", str(game), "--as", "pgn"]) == 2
    assert "--as 'pgn' is no format: expected one of sgf" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name in TOLD if name not in ("set-up", "set-up of White's")])
def test_a_row_exported_to_sgf_is_imported_as_it_was(name: str, project: Path) -> None:
    (project / "one.sgf").write_text(TOLD[name][0])
    import_games("one", [Path("one.sgf")], Path("data"), Path("params.yaml"))
    (row,) = read_folder(Path("data/games/one"), "games").to_pylist()
    (project / "again.sgf").write_text(write_games([game_of(row)], "sgf"))
    (line,) = read_lines([project / "again.sgf"]).lines.values()
    assert line == line_of(TOLD[name][0])
    (project / "plain.txt").write_text(write_games([game_of(row, swaps=False)], "neurobenzene"))
    (plain,) = read_games(project / "plain.txt")
    assert not isinstance(plain, BadInput)
    assert tuple(cell for _, cell in plain.moves) == line.moves
    assert plain.winner() == line.winner


@pytest.mark.parametrize("form", ["sgf", "moves"])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("ended_by", ["proof", "resign"])
@pytest.mark.parametrize("winner", ["black", "white"])
def test_an_end_that_no_stones_show_comes_back(
    tmp_path: Path, form: Format, swapped: bool, ended_by: str, winner: str
) -> None:
    """Swapped or not, whoever's turn it is, beside a game that ends as games do."""
    row = game_row(5, parse_moves("a3 d4 a5", 5), winner)
    row.update(swapped=swapped, opening_length=int(swapped), ended_by=ended_by, black="ann", white="bob")
    finished_too = game_row(2, parse_moves("a1 b1 a2", 2), "black")
    path = tmp_path / "games.txt"
    path.write_text(write_games([game_of(row), game_of(finished_too)], form))
    found = read_lines([path])
    assert found.refused == []
    line = next(line for line in found.lines.values() if line.size == 5)
    assert (list(line.moves), line.winner, line.ended_by) == (row["moves"], winner, ended_by)
    assert (line.swapped, line.opening_length) == (swapped, int(swapped))
    if form == "sgf":
        assert (line.black, line.white) == ("ann", "bob")


def test_policies_of_a_swapped_game_come_back_in_their_places() -> None:
    """The reader mirrors them as the moves; a move whose cells were never visited has none."""
    row = game_row(5, parse_moves("a3 d4 a5", 5), "black")
    visits = [{"cells": [], "counts": []}, {"cells": [1, 18], "counts": [1, 3]}, {"cells": [20], "counts": [0]}]
    row.update(swapped=True, opening_length=1, ended_by="resign", visits=visits)
    line = black_first(game_of(row))
    assert line.policies == ((), ((1, 2500), (18, 7500)), ())
    assert game_of({**row, "swapped": False}).policies[1:3] == (((1, 2500), (18, 7500)), ())


def test_a_grown_import_keeps_the_sides_of_what_was_released(
    project: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More games sort older ones into other shards; with `released`, orbits stay where they were all the same."""
    monkeypatch.setattr("hexdata.import_games.PER_SHARD", 40)
    write_suite(project / "suite", [Position.after(5, [12, 6, 8])])
    wanted = params(validation=0.3, test=0.3)
    released = wanted.model_copy(update={"released": (str(project / "v1"),)})
    said = []
    for name, count, version in (("v1", 150, wanted), ("free", 300, wanted), ("v2", 300, released)):
        (project / "games.sgf").write_text(write_games([finished(seed, 5) for seed in range(count)], "sgf"))
        assert main(["import", "games.sgf", "--as", "others5"]) == 0
        said.append(capsys.readouterr().out)
        build(project / "data/games/others5", None, project / "suite", project / name, project / "more", version)
    first, free, second = (sides_in(project / name) for name in ("v1", "free", "v2"))
    assert len(second) > len(first)
    assert any(free.get(key, side) != side for key, side in first.items()), "nothing would move: the test shows nothing"
    assert {key: second[key] for key in first} == first
    assert ["`dataset.released` of campaigns.others5" in text for text in said] == [False, True, False]


def test_the_fuller_record_of_a_game_is_kept_whatever_the_order(project: Path) -> None:
    (project / "a.txt").write_text("# 5 x 5\nB[b3] W[d4] B[a1] 1.0\n")
    (project / "b.txt").write_text("# 5 x 5\nB[b3] W[d4][d4:0.5;] B[a1] 1.0\n")
    hashes = set()
    for names in (["a.txt", "b.txt"], ["b.txt", "a.txt"]):
        done = import_games("gao5", [Path(name) for name in names], Path("data"), Path("params.yaml"))
        assert (done.games, done.twice) == (1, 1)
        hashes.add((done.sha256, folder_hash(Path("data/games/gao5"))))
    assert len(hashes) == 1
    (row,) = read_folder(Path("data/games/gao5"), "games").to_pylist()
    assert row["visits"][1]["counts"] == [5000]
    poorer = import_games("gao5", [Path("a.txt")], Path("data"), Path("params.yaml"))
    assert poorer.sha256 not in {sha for sha, _ in hashes}, "visits are part of what params.yaml names"


def test_imported_games_are_checked_and_become_examples(project: Path) -> None:
    write_some(project / "theirs")
    import_games("others5", [project / "theirs"], Path("data"), Path("params.yaml"))
    folder = Path("data/games/others5")
    wanted = read_campaign("others5")
    assert check_imported(folder, "others5", wanted).num_rows == 30
    examples.build(folder, Path("data/examples/others5"))
    assert validate(Path("data/examples/others5")).problems == []

    other_games = wanted.model_copy(update={"games": ImportedGames(imported="0" * 64)})
    with pytest.raises(
        BadInput, match=r"not one of the games that params\.yaml names as imported: run `hexdata import"
    ):
        check_imported(folder, "others5", other_games)
    shard = folder / "games-00000.parquet"
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 0xFF
    shard.write_bytes(content)
    with pytest.raises(BadInput, match=r"games-00000\.parquet: not one of the games"):
        check_imported(folder, "others5", wanted)
