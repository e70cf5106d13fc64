"""The report says what the figures say, needs nothing else, and is the same bytes for the same figures."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from hexdata import examples
from hexdata.board import neighbours
from hexdata.errors import BadInput
from hexdata.generate import games_metrics
from hexdata.params import read_campaign
from hexdata.records import read_folder, write_json
from hexdata.report import build_report
from hexdata.report.hexboard import HALF_WIDTH, HEAT, centre, corners, heat, is_dark, side_lines
from hexdata.report.svg import Frame, element, number, padded, path, short, ticks, whole_ticks
from tests.clusters import games, run
from tests.invented import write_metrics

PARAMS = Path(__file__).parents[1] / "params.yaml"


class Page(HTMLParser):
    """Tags that open and close in order, the text between them, and every attribute."""

    VOID = ("meta", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attributes]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attributes]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    write_metrics(tmp_path / "metrics" / "hex6")
    return tmp_path / "metrics"


def build(metrics: Path, out: Path) -> str:
    build_report("hex6", 6, metrics, out, PARAMS)
    return (out / "index.html").read_text().replace("\u00a0", " ")


def change(metrics: Path, name: str, **changes: object) -> None:
    file = metrics / "hex6" / name
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_the_page_is_whole_and_needs_nothing_else(metrics: Path, tmp_path: Path) -> None:
    page = build(metrics, tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["index.html"]
    parsed = Page(page)
    assert not [tag for tag, _, _ in parsed.attributes if tag in ("script", "link", "img", "iframe")]
    assert "<script" not in page
    assert not re.search(r"https?://|@import|url\((?!#)", page)
    used = set(re.findall(r"url\(#(\w+)\)", page))
    assert used == {value for _, name, value in parsed.attributes if name == "id"}


def test_the_same_figures_give_the_same_bytes(metrics: Path, tmp_path: Path) -> None:
    assert build(metrics, tmp_path / "one") == build(metrics, tmp_path / "two")


def test_the_page_is_the_same_whatever_the_locale(metrics: Path, tmp_path: Path) -> None:
    results = metrics / "hex6" / "results.csv"
    results.write_bytes(results.read_bytes().replace(b"mohex", "gtp:Müller".encode()))
    build_it = (
        "from pathlib import Path; from hexdata.report import build_report as build; "
        f"build('hex6', 6, Path('metrics'), Path('plain'), Path({str(PARAMS)!r}))"
    )
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", build_it], cwd=tmp_path, env=plain, check=True)
    build(metrics, tmp_path / "out")
    page = (tmp_path / "plain" / "index.html").read_bytes()
    assert page == (tmp_path / "out" / "index.html").read_bytes()
    assert "gtp:Müller".encode() in page


def test_headline_figures_are_those_of_the_metrics(metrics: Path, tmp_path: Path) -> None:
    words = Page(build(metrics, tmp_path / "out")).text
    read = {
        name: json.loads((metrics / "hex6" / f"{name}.json").read_text()) for name in ("games", "examples", "train")
    }
    for value in (
        read["games"]["games"],
        read["examples"]["raw"],
        read["examples"]["unique"],
        read["train"]["parameters"],
    ):
        assert f"{value:,}" in words
    evaluation = json.loads((metrics / "hex6" / "evaluate.json").read_text())
    for of in (
        evaluation["policy"]["top1"],
        evaluation["policy"]["top5"],
        evaluation["value"]["suite"]["sign_right"],
        evaluation["value"]["test"]["sign_right"],
        evaluation["suite_policy"]["top1_wins"],
        evaluation["games"]["black_wins"],
    ):
        assert f"{100 * of['rate']:.1f} %" in words
        assert f"{100 * of['low']:.1f} to {100 * of['high']:.1f} %" in words
    for mean in (evaluation["value"]["suite"]["mse"], evaluation["value"]["test"]["mse"]):
        assert f"{mean['mean']:.3f}" in words
        assert f"{mean['low']:.3f} to {mean['high']:.3f}" in words


def test_the_statistics_of_a_tournament_stand_in_a_table(metrics: Path, tmp_path: Path) -> None:
    read = json.loads((metrics / "hex6" / "games.json").read_text())
    unique = json.loads((metrics / "hex6" / "examples.json").read_text())["unique"]

    def rows() -> list[list[str]]:
        table = re.search(r'<table class="games">.*?</table>', build(metrics, tmp_path / "out"))
        assert table
        return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", table[0])][1:]

    figures = [f"{read[name]:,}" for name in ("games", "black_wins", "white_wins", "plies")]
    total = ["all", "all", *figures, f"{read['plies'] / read['games']:.1f}", f"{unique:,}"]
    assert rows() == [total]
    pairing = {"black": "a<b", "white": "uct", "games": 20, "black_wins": 15, "plies": 500}
    change(metrics, "games.json", pairings=[pairing])
    assert rows() == [["a&lt;b", "uct", "20", "15", "5", "500", "25.0", ""], total]


def test_games_through_proved_positions_count_once_a_position(metrics: Path, tmp_path: Path) -> None:
    (metrics / "hex6" / "results.csv").write_text("ply,player,games,wrong\n12,uct,3000,60\n13,uct,2000,40\n12,x,1,0\n")
    said = "Of the passages of games through them the wrong side won, with this player to move: "
    assert f"{said}uct 2.0 % of 5,000; x 0.0 % of 1." in Page(build(metrics, tmp_path / "out")).text


def test_the_losses_are_told_as_they_are_computed(metrics: Path, tmp_path: Path) -> None:
    """As `hexdata.losses` and `hexdata.arrays.Examples.value` have it."""
    words = Page(build(metrics, tmp_path / "out")).text
    outcome = "against the proved value, else the mean result"
    assert "eq. 4.5 of Gao (2020) without weight decay, the policy loss in the place of −log p." in words
    assert f"Squared error of v {outcome}." in words
    assert f"sign of v {outcome}" in words
    assert f"Test splitv {outcome}" in words
    assert "Squared error of q of the moves played against a proved loss, else the mean result." in words


SEARCHED = ("visit shares of the search", "most visited move")


def test_games_of_others_are_not_called_searched(metrics: Path, tmp_path: Path) -> None:
    words = Page(build(metrics, tmp_path / "out")).text
    assert "games played by programs," in words
    assert all(said in words for said in SEARCHED)

    plies = metrics / "hex6" / "plies.csv"
    header, *lines = plies.read_text().splitlines()
    unsearched = [",".join([*line.split(",")[:6], "0", "0.0"]) for line in lines]
    plies.write_text("\n".join([header, *unsearched]) + "\n")
    changed = yaml.safe_load(PARAMS.read_text())
    changed["campaigns"]["hex6"]["games"] = {"imported": "0" * 64}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(changed))
    build_report("hex6", 6, metrics, tmp_path / "theirs", tmp_path / "params.yaml")
    theirs = Page((tmp_path / "theirs" / "index.html").read_text()).text
    assert "games played by others and imported," in theirs
    assert "Cross-entropy against shares of visits, else of the moves played." in theirs
    assert "first choice is the most visited (else most played) move in " in theirs
    for said in (*SEARCHED, "by search", "searched position", "search's own favourite", "most visits"):
        assert said not in theirs


@pytest.mark.slow
def test_the_hundredth_of_d8_from_params_alone_is_in_the_table(metrics: Path, tmp_path: Path) -> None:
    """gao-2020 section 6 at 1/100: three players, each with each in both colours, and what became of their games."""
    shutil.copy(PARAMS, tmp_path)
    done = run(tmp_path, "generate", "d8_hundredth", "--workers", "2")
    assert done.returncode == 0, done.stderr
    played = games(tmp_path, "d8_hundredth")
    unique = examples.build(played, tmp_path / "examples").unique
    rows = read_folder(played, "games").to_pylist()
    write_json(metrics / "hex6" / "games.json", games_metrics([read_folder(played, "games")]))
    change(metrics, "examples.json", unique=unique)
    table = re.search(r'<table class="games">.*?</table>', build(metrics, tmp_path / "out"))
    assert table
    *pairings, total = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", table[0])][1:]
    players = read_campaign("d8_hundredth", PARAMS).games.players
    assert sorted(tuple(line[:2]) for line in pairings) == sorted(itertools.permutations(players, 2))
    for black, white, count, wins, losses, plies, *_ in pairings:
        mine = [row for row in rows if (row["black"], row["white"]) == (black, white)]
        assert [count, wins, losses, plies] == [
            f"{figure:,}"
            for figure in (
                105,
                sum(row["winner"] == "black" for row in mine),
                sum(row["winner"] == "white" for row in mine),
                sum(len(row["moves"]) for row in mine),
            )
        ]
    assert total[2] == "630"
    assert total[-1] == f"{unique:,}"
    searched = sum(len(row["moves"]) - row["opening_length"] for row in rows)
    assert 0.5 * searched < unique <= searched


def test_every_opening_is_drawn_with_its_interval_and_its_proof(metrics: Path, tmp_path: Path) -> None:
    page = build(metrics, tmp_path / "out")
    lines = (metrics / "hex6" / "openings.csv").read_text().splitlines()[1:]
    for line in lines:
        name, _, _, games, _, rate, low, high, proved = line.split(",")
        told = (
            f"{name}: Black won {100 * float(rate):.1f} % of {games} games (95 % interval "
            f"{100 * float(low):.1f} to {100 * float(high):.1f} %); proved winner: {proved}"
        )
        assert page.count(f"<title>{told}</title>") == 2
    board = page[page.index("Who wins with perfect play") : page.index("Every opening with its interval")]
    stones = board[: board.index("</svg>")]
    for winner in ("black", "white"):
        assert stones.count(f'class="stone {winner}"') == sum(line.endswith(winner) for line in lines)
    assert stones.count('class="cell hatched"') == sum(line.endswith("unknown") for line in lines) == 2


def test_a_leak_is_said_loudly(metrics: Path, tmp_path: Path) -> None:
    assert "No leak was found" in Page(build(metrics, tmp_path / "out")).text
    change(metrics, "dataset.json", leaks={"orbits": 3, "suite": 0})
    words = Page(build(metrics, tmp_path / "out")).text
    assert "No leak was found" not in words
    assert "3 leaks found: results on the test split are not to be trusted." in words


def test_pairs_at_random_are_not_called_whole_games(metrics: Path, tmp_path: Path) -> None:
    assert "A game goes to a split as a whole" in Page(build(metrics, tmp_path / "out")).text
    changed = yaml.safe_load(PARAMS.read_text())
    changed["campaigns"]["hex6"]["dataset"]["split"] = "pairs"
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(changed))
    build_report("hex6", 6, metrics, tmp_path / "pairs", tmp_path / "params.yaml")
    page = Page((tmp_path / "pairs" / "index.html").read_text()).text
    assert "as a whole" not in page
    assert "Pairs of a position and a move go to splits at random" in page


def test_an_opening_without_games_has_no_rate(metrics: Path, tmp_path: Path) -> None:
    file = metrics / "hex6" / "openings.csv"
    lines = file.read_text().splitlines()
    lines[1] = "a1,0,0,0,0,0.0,0.0,1.0,white"
    lines[2] = "b1,0,1,0,0,,,,unknown"
    file.write_text("\n".join(lines) + "\n")
    page = build(metrics, tmp_path / "out")
    assert "a1: no games; proved winner: white" in page
    assert "b1: no games; proved winner: unknown" in page
    assert "nan" not in Page(page).text


def test_nothing_learned_or_played_yet_still_makes_a_page(metrics: Path, tmp_path: Path) -> None:
    for name in ("learning.csv", "topk.csv", "plies.csv"):
        file = metrics / "hex6" / name
        file.write_text(file.read_text().splitlines()[0] + "\n")
    page = build(metrics, tmp_path / "out")
    Page(page)
    assert "nan" not in re.sub(r"<style>.*</style>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("games.json", None, "games.json: no such file"),
        ("games.json", "{}", "games.json: games: field required"),
        ("games.json", "[", "games.json: invalid JSON"),
        ("topk.csv", "k,rate,low,high\nx,0,0,0\n", "topk.csv: row 1: k: "),
        (
            "openings.csv",
            "name,row,column,games,black_wins,rate,low,high,proved\n",
            "expected each of the 36 first moves",
        ),
    ],
)
def test_bad_figures_are_named_and_the_last_page_stays(
    metrics: Path, tmp_path: Path, name: str, content: str | None, complaint: str
) -> None:
    before = build(metrics, tmp_path / "out")
    file = metrics / "hex6" / name
    file.unlink() if content is None else file.write_text(content)
    with pytest.raises(BadInput, match=re.escape(complaint)):
        build(metrics, tmp_path / "out")
    assert (tmp_path / "out" / "index.html").read_text().replace("\u00a0", " ") == before


def test_hexagons_touch_exactly_where_cells_do() -> None:
    size = 5
    for cell, touching in enumerate(neighbours(size)):
        x, y = centre(cell, size)
        near = {
            other
            for other in range(size * size)
            if other != cell and math.dist((x, y), centre(other, size)) < 2 * HALF_WIDTH * 1.01
        }
        assert near == set(touching)


def test_the_four_sides_make_one_closed_outline() -> None:
    """Every outer hexagon side is walked once: 6 a cell less 2 for each pair of cells that touch."""
    for size in (2, 3, 6, 19):
        lines = side_lines(size)
        order = ("top", "right", "bottom", "left")
        for one, next_one in zip(order, order[1:] + order[:1], strict=True):
            assert lines[one][-1] == pytest.approx(lines[next_one][0])
        walked = sum(math.dist(a, b) for line in lines.values() for a, b in itertools.pairwise(line))
        side = math.dist(*corners(0, 0)[:2])
        outer = 6 * size * size - sum(len(touching) for touching in neighbours(size))
        assert walked == pytest.approx(outer * side)
        assert math.dist(lines["top"][0], lines["top"][-1]) == pytest.approx(
            math.dist(lines["bottom"][0], lines["bottom"][-1])
        )


def test_heat_runs_from_white_wins_through_even_to_black_wins() -> None:
    for share, colour in HEAT:
        assert heat(share) == colour
    assert heat(0.125) == "#d0743c"
    assert [is_dark(heat(share)) for share in (0.0, 0.5, 1.0)] == [True, False, True]


def test_numbers_and_ticks() -> None:
    assert [number(value) for value in (3.10, -0.001, 2.0, 1.239)] == ["3.1", "0", "2", "1.24"]
    assert ticks(0, 1, 4) == [0, 0.5, 1]
    assert ticks(0, 3000, 5) == [0, 1000, 2000, 3000]
    assert whole_ticks(1, 3) == [1, 2, 3]
    assert [short(value) for value in (0, 0.25, 1500)] == ["0", "0.25", "1.5k"]
    assert padded([math.nan]) == (0, 1)
    low, high = padded([2.0, 2.0])
    assert low < 2 < high


def test_elements_escape_what_they_are_told() -> None:
    assert element("a", class_='x"y', font_size=3.0) == '<a class="x&quot;y" font-size="3"/>'
    assert path([(0, 0), (1, 2)], closed=True) == "M0 0L1 2Z"


def test_a_frame_maps_corners_to_corners() -> None:
    frame = Frame(100, 50, (0, 10), (-1, 1), left=10, right=10, top=5, bottom=5)
    assert (frame.x(0), frame.x(10)) == (10, 90)
    assert (frame.y(-1), frame.y(1)) == (45, 5)
    assert frame.points([(0, math.nan), (10, 1)]) == [(90, 5)]
