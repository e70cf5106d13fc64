"""The report's page: sections of plain sentences, cards and charts around the figures of one campaign.

Every sentence that counts or compares is written from the figures, so the page never claims what they do not say.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from hexdata.engine import ENGINE_VERSION
from hexdata.params import BadParams, ImportedGames, read_campaign
from hexdata.records import SCHEMA_VERSION, params_hash, write_folder
from hexdata.report import figures as fig
from hexdata.report.hexboard import Tile, draw_board, heat, heat_scale, is_dark
from hexdata.report.svg import Frame, element, padded, path, percent, picture, text, ticks, title, whole_ticks


@dataclass(frozen=True)
class Campaign:
    """All that the page shows."""

    name: str
    size: int
    imported: bool
    """Others played the games."""
    openings_kind: str
    split: str
    """`games` or `pairs`."""
    params_hash: str
    games: fig.Games
    examples: fig.Examples
    plies: list[fig.Ply]
    results: list[fig.AgainstProof]
    dataset: fig.Dataset
    suite: fig.Suite
    train: fig.Train
    learning: list[fig.Epoch]
    evaluation: fig.Evaluation
    topk: list[fig.TopK]
    openings: list[fig.Opening]

    @property
    def visited(self) -> bool:
        """Every unique position was searched. Where one was not, the moves played there stand in for visits."""
        return all(ply.policies == ply.unique for ply in self.plies)


def build_report(campaign: str, size: int, metrics: Path, out: Path, params: Path = Path("params.yaml")) -> None:
    """Write out/index.html from the files of metrics/`campaign`."""
    page = render(read_figures(campaign, size, metrics / campaign, params))
    write_folder(out, {"index.html": page.encode()})


def read_figures(campaign: str, size: int, folder: Path, params: Path) -> Campaign:
    wanted = read_campaign(campaign, params)
    if wanted.size != size:
        raise BadParams(f"{params}: campaigns.{campaign}.size is {wanted.size}, not {size} as the report needs")
    return Campaign(
        name=campaign,
        size=size,
        imported=isinstance(wanted.games, ImportedGames),
        openings_kind=wanted.games.openings,
        split=wanted.dataset.split,
        params_hash=params_hash(wanted.model_dump(mode="json")),
        games=fig.read_json(folder / "games.json", fig.Games),
        examples=fig.read_json(folder / "examples.json", fig.Examples),
        plies=fig.read_csv(folder / "plies.csv", fig.Ply),
        results=fig.read_csv(folder / "results.csv", fig.AgainstProof),
        dataset=fig.read_json(folder / "dataset.json", fig.Dataset),
        suite=fig.read_json(folder / "suite.json", fig.Suite),
        train=fig.read_json(folder / "train.json", fig.Train),
        learning=fig.read_csv(folder / "learning.csv", fig.Epoch),
        evaluation=fig.read_json(folder / "evaluate.json", fig.Evaluation),
        topk=fig.read_csv(folder / "topk.csv", fig.TopK),
        openings=fig.read_openings(folder / "openings.csv", size),
    )


def render(campaign: Campaign) -> str:
    name = f"Hex {campaign.size}×{campaign.size}"
    style = files("hexdata.report").joinpath("style.css").read_text(encoding="utf-8")
    body = "\n".join(
        [
            _header(campaign, name),
            _openings(campaign),
            _positions(campaign),
            _learning(campaign),
            _strength(campaign),
            _trust(campaign),
            _footer(campaign),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(campaign.name)}: {name}, hexdata report</title>\n"
        f"<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


NO_BREAK = "\u00a0"
"""Between a number and its sign: no line breaks there."""


def count(value: int) -> str:
    return f"{value:,}"


def share(value: float) -> str:
    return f"{100 * value:.1f}{NO_BREAK}%" if math.isfinite(value) else "no data"


def interval(low: float, high: float) -> str:
    return (
        f"{100 * low:.1f} to {100 * high:.1f}{NO_BREAK}%"
        if math.isfinite(low) and math.isfinite(high)
        else "no interval"
    )


def rate(of: fig.Rate) -> str:
    """`61.0 % (59.2 to 62.7 %)`."""
    return f"{share(of.rate)} ({interval(of.low, of.high)})" if of.of else "no data"


def many(value: int, noun: str) -> str:
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def _section(heading: str, words: str, *parts: str) -> str:
    return f"<section>\n<h2>{heading}</h2>\n<p>{words}</p>\n" + "\n".join(parts) + "\n</section>"


def _figure(heading: str, drawing: str, caption: str, legend: str = "") -> str:
    shown = f'<div class="legend">{legend}</div>' if legend else ""
    return f"<figure>\n<h3>{heading}</h3>\n{drawing}\n<figcaption>{shown}{caption}</figcaption>\n</figure>"


def _grid(columns: str, *parts: str) -> str:
    return f'<div class="grid {columns}">\n' + "\n".join(parts) + "\n</div>"


def _key(class_: str, label: str) -> str:
    return f'<span><span class="key {class_}"></span>{label}</span>'


OUTCOME = "the proved value, else the mean result"
"""What v learns and is tested against on rows of the dataset."""

TRAIN_KEYS = _key("a", "validation") + _key("b", "training")
STONE_KEYS = "".join(
    _key(f"stone-key {winner}", label)
    for winner, label in (("black", "Black wins"), ("white", "White wins"), ("unknown", "unknown"))
)


def _header(c: Campaign, name: str) -> str:
    hexagon = path([(12, 1), (21.5, 6.5), (21.5, 17.5), (12, 23), (2.5, 17.5), (2.5, 6.5)], closed=True)
    stone = element("circle", cx=12, cy=12, r=5, class_="stone white")
    logo = picture(24, 24, "hexdata", element("path", d=hexagon, class_="unique"), stone)
    e, d, s = c.evaluation, c.dataset, c.suite
    top1 = e.policy.top1
    rows = d.train.rows + d.validation.rows + d.test.rows
    played = "played by others and imported" if c.imported else "played by programs"
    cards = [
        _card(
            "games",
            count(c.games.games),
            _bar((c.games.black_wins, "black"), (c.games.white_wins, "white")),
            f"{_key('stone-key black', f'won by Black {count(c.games.black_wins)}')} "
            f"{_key('stone-key white', f'by White {count(c.games.white_wins)}')}",
        ),
        _card(
            "unique positions",
            count(c.examples.unique),
            _bar((c.examples.unique, "a"), (max(c.examples.raw - c.examples.unique, 0), "d")),
            f"of {count(c.examples.raw)} raw ones, up to symmetry",
        ),
        _card(
            "dataset rows",
            count(rows),
            _bar((d.train.rows, "a"), (d.validation.rows, "b"), (d.test.rows, "c")),
            f"{_key('a', f'train {count(d.train.rows)}')} {_key('b', f'validation {count(d.validation.rows)}')} "
            f"{_key('c', f'test {count(d.test.rows)}')}",
        ),
        _card(
            "proved suite positions",
            count(s.proved),
            _bar((s.wins, "a"), (s.losses, "b"), (s.unknown, "d")),
            f"{_key('a', f'wins {count(s.wins)}')} {_key('b', f'losses {count(s.losses)}')} "
            f"{_key('d', f'unknown {count(s.unknown)}')}",
        ),
        _card(
            "network parameters",
            count(c.train.parameters),
            _bar((c.train.best_epoch, "a"), (max(c.train.epochs - c.train.best_epoch, 0), "d")),
            f"trained for {many(c.train.epochs, 'epoch')}, epoch {c.train.best_epoch} kept",
        ),
        _card(
            "top-1 accuracy",
            share(top1.rate),
            f'<div class="strip">{_track(top1, e.policy.uniform_top1, rate(top1))}</div>',
            f"{interval(top1.low, top1.high)}; {e.policy.times_uniform:.1f} times uniform",
        ),
    ]
    return (
        f'<header>\n<div class="brand">{logo}hexdata</div>\n<h1>{name}</h1>\n'
        f"<p>Campaign <strong>{html.escape(c.name)}</strong>: games {played}, every position up to symmetry, a "
        "three-head network trained on them, and positions whose winner is proved. Estimates come with their "
        "<strong>95 % interval</strong>; all else here is counted, not estimated.</p>\n"
        f'<div class="cards">\n' + "\n".join(cards) + "\n</div>\n</header>"
    )


def _card(name: str, figure: str, drawing: str, note: str) -> str:
    return (
        f'<div class="card"><div class="name">{name}</div><div class="figure">{figure}</div>{drawing}'
        f'<div class="note">{note}</div></div>'
    )


def _bar(*parts: tuple[int, str]) -> str:
    """A bar in proportion to whole numbers, each part with its class."""
    drawn = "".join(f'<span class="{class_}" style="flex:{value}"></span>' for value, class_ in parts if value)
    return f'<div class="bar">{drawn}</div>'


def _openings(c: Campaign) -> str:
    def told(cell: int) -> str:
        o = c.openings[cell]
        if not o.games:
            return f"{o.name}: no games; proved winner: {o.proved}"
        return (
            f"{o.name}: Black won {share(o.rate)} of {many(o.games, 'game')} (95 % interval "
            f"{interval(o.low, o.high)}); proved winner: {o.proved}"
        )

    def rate_tile(cell: int) -> Tile:
        o = c.openings[cell]
        if not o.games:
            return Tile(told(cell), label="–")
        colour = heat(o.rate)
        ink = "on-dark" if is_dark(colour) else "on-light"
        return Tile(told(cell), "cell hot", colour, f"{100 * o.rate:.0f}", f"cell-label {ink}")

    def proof_tile(cell: int) -> Tile:
        winner = c.openings[cell].proved
        if winner == "unknown":
            return Tile(told(cell), "cell hatched")
        return Tile(told(cell), stone=winner)

    lines = element("line", x1=0, y1=0, x2=0, y2=7, class_="hatch")
    ground = element("rect", width=7, height=7, class_="ground")
    hatch = element(
        "pattern",
        ground,
        lines,
        id="hatch",
        width=7,
        height=7,
        patternUnits="userSpaceOnUse",
        patternTransform="rotate(45)",
    )
    proved = [sum(o.proved == winner for o in c.openings) for winner in ("black", "white", "unknown")]
    limit = f"after {proved[2]} the node budget ran out" if proved[2] else "none is left open"
    first = "Every cell is a first move of Black."
    return _section(
        "Openings",
        _opening_words(c),
        _grid(
            "two",
            _figure(
                "How often Black won",
                draw_board(c.size, "Board of Black's win rate after each first move", rate_tile),
                f"{first} The number is the percentage of its games that Black won, over {_games_an_opening(c)} an "
                "opening; hover for the interval. Black owns the top and the bottom, White the left and the right.",
                heat_scale(),
            ),
            _figure(
                "Who wins with perfect play",
                draw_board(
                    c.size, "Board of the proved winner after each first move", proof_tile, element("defs", hatch)
                ),
                f"{first} The stone is the colour that is proved to win after it: Black after {proved[0]}, White "
                f"after {proved[1]}; {limit}. The solver searched {many(c.suite.openings.nodes, 'node')} for this.",
                STONE_KEYS,
            ),
        ),
        _figure(
            "Every opening with its interval",
            _opening_intervals(c),
            "First moves from worst to best for Black. The line is the Wilson 95 % interval of Black's win rate, the "
            "stone on it the proved winner. Where games and proof agree, white stones lie below the dashed line and "
            "black ones above.",
            STONE_KEYS,
        ),
    )


def _games_an_opening(c: Campaign) -> str:
    fewest, most = min(o.games for o in c.openings), max(o.games for o in c.openings)
    return many(most, "game") if fewest == most else f"{count(fewest)} to {many(most, 'game')}"


def _opening_words(c: Campaign) -> str:
    """How well the games' winners agree with the proofs."""
    known = [o for o in c.openings if o.proved != "unknown" and o.games]
    if not known:
        return "No first move has both games and a proof, so win rates and proofs cannot be compared yet."
    right = sum((o.rate > 0.5) == (o.proved == "black") and o.rate != 0.5 for o in known)
    sure = sum(o.high < 0.5 if o.proved == "black" else o.low > 0.5 for o in known)
    against = (
        "no interval contradicts a proof"
        if not sure
        else f"{many(sure, 'interval')} {'lies' if sure == 1 else 'lie'} wholly on the wrong side: the players do "
        "not yet find that win"
    )
    return (
        f"Of {many(len(known), 'first move')} with games and a proof, the colour that wins with perfect play also won "
        f"most games after <strong>{count(right)}</strong>; {against}."
    )


def _opening_intervals(c: Campaign) -> str:
    shown = sorted((o for o in c.openings if o.games), key=lambda o: (o.rate, o.row, o.column))
    width = 1040.0
    frame = Frame(width, 250, (-0.6, max(len(shown) - 0.4, 0.6)), (0, 1), bottom=26)
    parts = [frame.axes([], [0, 0.25, 0.5, 0.75, 1], "", y_text=percent)]
    half = frame.y(0.5)
    parts.append(element("line", x1=frame.left, x2=width - frame.right, y1=half, y2=half, class_="chance"))
    step = frame.x(1) - frame.x(0)
    every = math.ceil(24 / step)
    for index, o in enumerate(shown):
        x = frame.x(index)
        words = f"{o.name}: {share(o.rate)} ({interval(o.low, o.high)}) of {many(o.games, 'game')}; proved: {o.proved}"
        parts.append(
            element(
                "g",
                title(words),
                element("line", x1=x, x2=x, y1=frame.y(o.low), y2=frame.y(o.high), class_="whisker"),
                element("circle", cx=x, cy=frame.y(o.rate), r=min(6.0, step * 0.36), class_=f"stone {o.proved}"),
                text(o.name, x, 242, "tick", text_anchor="middle") if index % every == 0 else "",
            )
        )
    drawing = picture(width, 250, "Black's win rate after every first move with its interval", *parts)
    return f'<div class="scroll">{drawing}</div>'


def _positions(c: Campaign) -> str:
    e = c.examples
    kept = e.unique / e.raw if e.raw else math.nan
    balance = c.evaluation.games.black_wins
    length = f", {c.games.plies / c.games.games:.1f} moves long on average," if c.games.games else ""
    endings = ", ".join(f"{many(n, 'game')} by {html.escape(how)}" for how, n in sorted(c.games.ended_by.items()) if n)
    spread = (
        " Openings are spread over the board, good and bad ones alike, so this is not the strength of moving first."
        if c.openings_kind != "empty"
        else ""
    )
    return _section(
        "Games and positions",
        f"{many(c.games.games, 'game')}{length} hold {many(e.raw, 'position')} whose move a player chose. Positions "
        "that are the same up to the four symmetries become one row, which leaves "
        f"<strong>{count(e.unique)}</strong>, {share(kept)} of them.",
        _grid(
            "two",
            _figure(
                "Positions by ply",
                _ply_chart(c.plies),
                "Where raw stands above unique, games repeat each other. A position counts at its number of stones. "
                f"Not counted: {many(e.forced, 'position')} whose move the opening prescribed, so that nobody chose "
                "it.",
                _key("d", "raw") + _key("a", "unique up to symmetry"),
            ),
            _figure(
                "Colour balance",
                _share_bar(balance),
                f"Black won {count(balance.hits)} of {many(balance.of, 'game')}: {rate(balance)}.{spread} How games "
                f"ended: {endings or 'there are none'}.",
                _key("stone-key black", "Black won") + _key("stone-key white", "White won"),
            ),
        ),
        _figure("Statistics", _games_table(c), "Plies count every stone, those of the opening too."),
        _grid(
            "three",
            _figure(
                "Met again",
                _ply_shares(
                    c,
                    "Share of positions met by several games, and of those with both results",
                    [(p.ply, _part(p.repeated, p.unique)) for p in c.plies],
                    [(p.ply, _part(p.disagreeing, p.unique)) for p in c.plies],
                ),
                "Unique positions that more than one game met, and those whose games were won by either side. "
                f"{_coverage(e)}",
                _key("a", "met by several games") + _key("b", "won by either side"),
            ),
            _figure(
                "Entropy of the policy",
                _entropy_chart(c),
                "How many bits the search's visits leave open, on average over the unique positions that have a "
                "policy: 0 is one move, 3 as good as eight equal ones.",
            ),
            _figure(
                "Results against proofs",
                _ply_shares(
                    c,
                    "Share of positions that are proved, and of games that ended against the proof",
                    [(p.ply, _part(p.proved, p.unique)) for p in c.plies],
                    _wrong_by_ply(c.results),
                ),
                _proof_words(c),
                _key("a", "positions proved") + _key("b", "games that went wrong from there"),
            ),
        ),
    )


def _part(of: int, whole: int) -> float:
    return of / whole if whole else math.nan


def _coverage(e: fig.Examples) -> str:
    """How much of the first plies the games have seen."""
    said = [
        f"{count(seen.met)} of the {count(seen.of)} with {many(int(stones), 'stone')}"
        for stones, seen in sorted(e.openings.items(), key=lambda item: int(item[0]))
    ]
    return f"Of all positions up to the half-turn, games met {', '.join(said)}." if said else ""


def _wrong_by_ply(results: Sequence[fig.AgainstProof]) -> list[tuple[float, float]]:
    games: dict[int, list[int]] = {}
    for line in results:
        both = games.setdefault(line.ply, [0, 0])
        both[0], both[1] = both[0] + line.wrong, both[1] + line.games
    return [(ply, _part(wrong, all_)) for ply, (wrong, all_) in sorted(games.items())]


def _proof_words(c: Campaign) -> str:
    """How much is proved, and how often each player's games ended otherwise."""
    e = c.examples
    if not e.proved:
        return "No position of the games is proved."
    players: dict[str, list[int]] = {}
    for line in c.results:
        both = players.setdefault(line.player, [0, 0])
        both[0], both[1] = both[0] + line.wrong, both[1] + line.games
    said = "; ".join(
        f"<code>{html.escape(name)}</code> {share(_part(wrong, games))} of {count(games)}"
        for name, (wrong, games) in sorted(players.items())
    )
    return (
        f"{count(e.proved)} unique positions ({share(e.proved / e.unique)}) are proved, and carry the proved value. "
        f"Of the passages of games through them the wrong side won, with this player to move: {said}."
    )


def _ply_shares(c: Campaign, label: str, *lines: Sequence[tuple[float, float]]) -> str:
    last = max((p.ply for p in c.plies), default=1)
    frame = Frame(340, 210, (0, last), (0, 1), left=46)
    parts = [frame.axes(whole_ticks(0, last), [0, 0.25, 0.5, 0.75, 1], "stones on the board", y_text=percent)]
    parts += [frame.line(line, class_) for line, class_ in zip(lines, ("one", "other"), strict=False)]
    return picture(340, 210, label, *parts)


def _entropy_chart(c: Campaign) -> str:
    last = max((p.ply for p in c.plies), default=1)
    points = [(p.ply, p.entropy) for p in c.plies if p.policies]
    most = max((entropy for _, entropy in points), default=1.0) * 1.08 or 1.0
    frame = Frame(340, 210, (0, last), (0, most), left=46)
    axes = frame.axes(whole_ticks(0, last), ticks(0, most, 4), "stones on the board")
    return picture(340, 210, "Mean entropy of the policy by number of stones", axes, frame.line(points, "one"))


def _games_table(c: Campaign) -> str:
    """Games, wins by colour, plies and unique positions; of a tournament by pairing too."""

    def row(cells: Sequence[str], kind: str = "td") -> str:
        return "<tr>" + "".join(f"<{kind}>{cell}</{kind}>" for cell in cells) + "</tr>"

    def line(names: Sequence[str], games: int, black: int, white: int, plies: int) -> list[str]:
        mean = f"{plies / games:.1f}" if games else "–"
        return [*(html.escape(name) for name in names), *map(count, (games, black, white, plies)), mean]

    heads = ("games", "Black won", "White won", "plies", "a game", "unique positions")
    lines = [row(("Black", "White", *heads), "th")]
    for p in c.games.pairings:
        lines.append(row([*line((p.black, p.white), p.games, p.black_wins, p.games - p.black_wins, p.plies), ""]))
    g = c.games
    lines.append(row([*line(("all", "all"), g.games, g.black_wins, g.white_wins, g.plies), count(c.examples.unique)]))
    return f'<div class="scroll"><table class="games">{"".join(lines)}</table></div>'


def _ply_chart(plies: Sequence[fig.Ply]) -> str:
    last = max((p.ply for p in plies), default=1)
    most = max((p.raw for p in plies), default=1)
    frame = Frame(480, 240, (-0.7, last + 0.7), (0, most * 1.05), left=44)
    bars = [frame.axes(whole_ticks(0, last), ticks(0, most), "stones on the board")]
    wide = max((frame.x(1) - frame.x(0)) * 0.78, 0.8)
    for p in plies:
        left, floor = frame.x(p.ply) - wide / 2, frame.y(0)
        bars.append(
            element(
                "g",
                title(f"{many(p.ply, 'stone')}: {count(p.raw)} raw, {count(p.unique)} unique"),
                *(
                    element("rect", x=left, y=frame.y(n), width=wide, height=floor - frame.y(n), rx=1.5, class_=kind)
                    for kind, n in (("raw", p.raw), ("unique", p.unique))
                ),
            )
        )
    return picture(480, 240, "Raw and unique positions by number of stones", *bars)


def _share_bar(of: fig.Rate) -> str:
    """Black's share as a bar of stones' colours; the interval as a bracket below."""
    if not of.of:
        return "<p>No games.</p>"
    frame = Frame(480, 240, (0, 1), (0, 1), left=14, right=14)
    x, left, right = frame.x(of.rate), frame.x(0), frame.x(1)
    parts = [
        element("rect", x=left, y=64, width=right - left, height=58, rx=10, class_="stone white"),
        element("path", d=_left_round(left, x, 64, 58, 10), class_="stone black"),
        text(f"{100 * of.rate:.1f} %", left + 16, 100, "label big on-dark"),
        text(f"{100 * (1 - of.rate):.1f} %", right - 16, 100, "label big on-light", text_anchor="end"),
        element("line", x1=frame.x(0.5), x2=frame.x(0.5), y1=50, y2=152, class_="chance"),
        text("even", frame.x(0.5), 44, "tick", text_anchor="middle"),
    ]
    low, high = frame.x(of.low), frame.x(of.high)
    parts.append(element("path", d=path([(low, 132), (low, 140), (high, 140), (high, 132)]), class_="bracket"))
    near = min(max((low + high) / 2, left + 90), right - 90)
    parts.append(text(f"95 % interval {interval(of.low, of.high)}", near, 170, "tick", text_anchor="middle"))
    for tick in (0, 0.25, 0.5, 0.75, 1):
        anchor = "start" if tick == 0 else "end" if tick == 1 else "middle"
        parts.append(text(percent(tick), frame.x(tick), 214, "tick", text_anchor=anchor))
    parts.append(element("line", x1=left, x2=right, y1=198, y2=198, class_="axis"))
    return picture(480, 240, f"Black won {share(of.rate)} of the games", *parts)


def _left_round(left: float, right: float, top: float, height: float, radius: float) -> str:
    """A rectangle with round corners on its left only."""
    r = min(radius, right - left)
    arc = [(r * math.sin(i * math.pi / 12), r * math.cos(i * math.pi / 12)) for i in range(7)]
    upper = [(left + r - sine, top + r - cosine) for sine, cosine in arc]
    lower = [(left + r - cosine, top + height - r + sine) for sine, cosine in arc]
    return path([(right, top), *upper, *lower, (right, top + height)], closed=True)


def _favourite(c: Campaign) -> str:
    return "most visited move" if c.visited else "most visited (else most played) move"


def _learning(c: Campaign) -> str:
    shares = "the visit shares of the search" if c.visited else "shares of visits, else of the moves played"
    charts: tuple[tuple[str, str, Callable[[fig.Epoch], float], Callable[[float], str] | None], ...] = (
        (
            "Whole loss",
            "what is minimised: eq. 4.5 of Gao (2020) without weight decay, the policy loss in the place of −log p",
            lambda e: e.loss,
            None,
        ),
        ("Policy loss", f"cross-entropy against {shares}", lambda e: e.policy, None),
        ("Value loss", f"squared error of v against {OUTCOME}", lambda e: e.value, None),
        (
            "Action-value loss",
            "squared error of q of the moves played against a proved loss, else the mean result",
            lambda e: e.q,
            None,
        ),
        ("Top-1", f"share of rows whose {_favourite(c)} the policy ranks first", lambda e: e.top1, percent),
    )
    t = c.train
    drawn = [
        _figure(name, _curves(c, name, of, y_text), caption[0].upper() + caption[1:] + ".")
        for name, caption, of, y_text in charts
    ]
    drawn.append(
        '<figure class="words"><h3>How to read them</h3>'
        f'<figcaption><div class="legend">{TRAIN_KEYS}</div>'
        "Each point is the mean over all rows of its split: training rows while the weights still moved, validation "
        "rows after the epoch. It is exact for these rows and has no interval; how the network does on rows that "
        f"chose nothing is the next section. The dotted line marks epoch {t.best_epoch}: the lowest validation loss, "
        "kept.</figcaption></figure>"
    )
    return _section(
        "Learning",
        f"The network has <strong>{count(t.parameters)}</strong> parameters and learned for {many(t.epochs, 'epoch')} "
        f"from {many(t.train_rows, 'row')}; {many(t.validation_rows, 'row')} that it never learned from chose the "
        "epoch.",
        _grid("three", *drawn),
    )


def _curves(c: Campaign, name: str, of: Callable[[fig.Epoch], float], y_text: Callable[[float], str] | None) -> str:
    epochs = [e.epoch for e in c.learning]
    first, last = min(epochs, default=0), max(epochs, default=1)
    frame = Frame(340, 210, (first, last), padded(of(e) for e in c.learning), left=46)
    x_ticks, y_ticks = whole_ticks(first, last), ticks(*frame.ys, 4)
    axes = frame.axes(x_ticks, y_ticks, "epoch", y_text=y_text) if y_text else frame.axes(x_ticks, y_ticks, "epoch")
    parts = [axes]
    if first <= c.train.best_epoch <= last:
        x = frame.x(c.train.best_epoch)
        parts.append(element("line", x1=x, x2=x, y1=frame.top, y2=210 - frame.bottom, class_="marker"))
    for split, class_ in (("train", "other"), ("validation", "one")):
        parts.append(frame.line(((e.epoch, of(e)) for e in c.learning if e.split == split), class_))
    return picture(340, 210, f"{name} by epoch, training and validation", *parts)


def _strength(c: Campaign) -> str:
    e = c.evaluation
    p, v = e.policy, e.value
    won = e.suite_policy.top1_wins
    first = f"policy's first choice, {many(p.positions, 'test row')}"
    rates = [
        (f"The {_favourite(c)}", first, p.top1, p.uniform_top1),
        ("… among its first three", "policy's first three choices, the same rows", p.top3, math.nan),
        ("… among its first five", "policy's first five choices, the same rows", p.top5, math.nan),
        ("First choice wins, proved", "policy on suite positions that the mover wins", won, math.nan),
        ("Right winner, proved", "sign of v on suite positions", v.suite.sign_right, 0.5),
        ("Right winner, test rows", f"sign of v against {OUTCOME}", v.test.sign_right, 0.5),
    ]
    errors = [
        ("Suite", "v against the proved value, +1 or −1", v.suite.mse),
        ("Test split", f"v against {OUTCOME}", v.test.mse),
    ]
    return _section(
        "How good the network is",
        f"The policy's first choice is the {_favourite(c)} in <strong>{share(p.top1.rate)}</strong> of the "
        f"test rows, {p.times_uniform:.1f} times as often as a uniform guess. The sign of v names the proved winner "
        f"in <strong>{share(v.suite.sign_right.rate)}</strong> of the suite.",
        _grid(
            "two",
            _figure(
                "Top-k accuracy",
                _topk_chart(c),
                f"How often the {_favourite(c)} is among the policy's first k, over "
                f"{many(p.positions, 'test row')}. The band is the Wilson 95 % interval; the dashed line is k times "
                "the top-1 rate of a uniform guess, which no guess exceeds.",
            ),
            _figure(
                "Value error",
                _error_chart(errors),
                "Mean squared error with its normal 95 % interval; lower is better. The dashed line at 1 is what "
                "always answering 0 gets on proved values.",
            ),
        ),
        _figure(
            "Shares with their intervals",
            '<div class="estimates">' + "".join(_rate_row(*row) for row in rates) + "</div>",
            "The stroke is the share, the bar its Wilson 95 % interval, the dashed line a uniform guess or a coin.",
        ),
    )


def _topk_chart(c: Campaign) -> str:
    points = sorted(c.topk, key=lambda point: point.k)
    last = max((point.k for point in points), default=1)
    frame = Frame(480, 260, (1, max(last, 2)), (0, 1))
    uniform = c.evaluation.policy.uniform_top1
    parts = [frame.axes([float(k) for k in range(1, last + 1)], [0, 0.25, 0.5, 0.75, 1], "k", y_text=percent)]
    chance = frame.points((k, uniform * k) for k in range(1, last + 1) if uniform * k <= 1)
    if chance:
        parts.append(element("path", d=path(chance), class_="chance"))
    parts.append(frame.band(((point.k, point.low, point.high) for point in points), "one"))
    parts.append(frame.line(((point.k, point.rate) for point in points), "one"))
    for point in points:
        if point.k in (1, 3, 5, 10) and math.isfinite(point.rate):
            x, y = frame.x(point.k), frame.y(point.rate)
            words = f"top-{point.k}: {share(point.rate)} ({interval(point.low, point.high)})"
            anchor = "end" if point.k == last else "middle" if point.k > 1 else "start"
            label = text(f"{100 * point.rate:.1f}%", x, y + 22, "label strong", text_anchor=anchor)
            parts.append(element("g", title(words), element("circle", cx=x, cy=y, r=4, class_="one dot"), label))
    return picture(480, 260, "Top-k accuracy with its interval", *parts)


def _rate_row(name: str, how: str, of: fig.Rate, chance: float) -> str:
    value = f"<b>{share(of.rate)}</b><small>{interval(of.low, of.high)}, n = {count(of.of)}</small>"
    return (
        f'<div class="row"><div class="what">{name}<small>{how}</small></div>'
        f'<div class="track-cell">{_track(of, chance, f"{name}: {rate(of)}")}</div>'
        f'<div class="value">{value if of.of else "<b>no data</b>"}</div></div>\n'
    )


def _error_chart(errors: Sequence[tuple[str, str, fig.Mean]]) -> str:
    top = max([1.0, *(of.high for _, _, of in errors if math.isfinite(of.high))])
    frame = Frame(480, 260, (0, top), (0, 1), left=14, right=14)
    one = frame.x(1)
    parts = [frame.axes(ticks(0, top), [], "mean squared error")]
    for index, (name, how, of) in enumerate(errors):
        y = 76 + 98 * index
        parts.append(element("line", x1=one, x2=one, y1=y - 12, y2=y + 12, class_="chance"))
        parts.append(text(name, frame.left, y - 34, "label strong"))
        parts.append(text(how, frame.left, y - 18, "tick"))
        if not of.of or not math.isfinite(of.mean):
            parts.append(text("no data", 466, y - 34, "label strong", text_anchor="end"))
            continue
        limits = f"{of.low:.3f} to {of.high:.3f}, n = {count(of.of)}"
        parts.append(text(f"{of.mean:.3f}", 466, y - 34, "label strong", text_anchor="end"))
        parts.append(text(limits, 466, y - 18, "tick", text_anchor="end"))
        low, middle, high = (frame.x(max(value, 0)) for value in (of.low, of.mean, of.high))
        parts.append(
            element(
                "g",
                title(f"{name}: {of.mean:.3f} ({limits})"),
                element("rect", x=frame.left, y=y - 2, width=452, height=4, rx=2, class_="track"),
                *_interval_mark(low, middle, high, y),
            )
        )
    return picture(480, 260, "Value error on the suite and on the test split with intervals", *parts)


def _track(of: fig.Rate, chance: float, label: str) -> str:
    """A share on a line from 0 to 1, its interval, and a dashed mark at what chance would give."""
    frame = Frame(360, 26, (0, 1), (0, 1), left=8, right=8)
    parts = [title(label), element("rect", x=8, y=11, width=344, height=4, rx=2, class_="track")]
    if math.isfinite(chance):
        x = frame.x(chance)
        parts.append(element("line", x1=x, x2=x, y1=3, y2=23, class_="chance"))
    if of.of:
        parts += _interval_mark(frame.x(of.low), frame.x(of.rate), frame.x(of.high), 13)
    return picture(360, 26, label, *parts)


def _interval_mark(low: float, middle: float, high: float, y: float) -> list[str]:
    """The interval as a bar, the estimate as a stroke thin enough to leave a narrow interval visible."""
    return [
        element("rect", x=low, y=y - 7, width=max(high - low, 1), height=14, rx=3, class_="span"),
        element("rect", x=middle - 1.5, y=y - 9, width=3, height=18, rx=1.5, class_="spot"),
    ]


def _trust(c: Campaign) -> str:
    d, s = c.dataset, c.suite
    total = sum(d.leaks.values())
    clean = (
        "<strong>No leak was found</strong>: nothing is on both sides of a split."
        if not total
        else f"<strong>{many(total, 'leak')}</strong> found: results on the test split are not to be trusted."
    )
    found = "".join(
        _check(n, fig.LEAKS.get(kind, kind), "", "bad" if n else "good") for kind, n in sorted(d.leaks.items())
    )
    cost = "".join(
        _check(n, name, how)
        for n, name, how in (
            (d.dropped.get("train", 0), "training rows left out", "another split has the same position"),
            (d.dropped.get("validation", 0), "validation rows left out", "another split has the same position"),
            (d.dropped.get("test", 0), "test rows left out", "another split had the same position first"),
            (d.suite_dropped, "rows left out for the suite", "it has the same position"),
            (d.augmented_rows, "augmented training rows", "symmetric copies, made after the split"),
        )
    )
    parts = (("train", d.train), ("validation", d.validation), ("test", d.test))
    if c.split == "pairs":
        rows = "; ".join(f"{name} {many(part.rows, 'row')}" for name, part in parts)
        dealt = f"Pairs of a position and a move go to splits at random, so that no game is on one side alone: {rows}."
    else:
        rows = "; ".join(f"{name} {many(part.rows, 'row')} of {many(part.games, 'game')}" for name, part in parts)
        dealt = f"A game goes to a split as a whole, by a hash of its moves: {rows}."
    solved = s.proved / s.positions if s.positions else math.nan
    return _section(
        "Can one trust it?",
        f"{clean} Of {many(s.positions, 'suite position')}, {count(s.proved)} are proved ({share(solved)}) with "
        f"{many(s.nodes, 'node')} of search; where the budget ran out the label is unknown, never a guess.",
        _grid(
            "two",
            f'<figure><h3>Leaks, counted in the files as written</h3><ul class="checks">{found}</ul>'
            f"<figcaption>{dealt}</figcaption></figure>",
            f'<figure><h3>What keeping it clean cost</h3><ul class="checks">{cost}</ul></figure>',
        ),
    )


def _check(n: int, name: str, how: str, class_: str = "") -> str:
    small = f"<small>{how}</small>" if how else ""
    return f'<li><b class="{class_}">{count(n)}</b><span>{html.escape(name)}{small}</span></li>'


def _footer(c: Campaign) -> str:
    rows = (
        ("Campaign", html.escape(c.name)),
        ("Parameters", f"<code>{c.params_hash}</code> (SHA-256 of the campaign's section of params.yaml)"),
        ("Engine version", str(ENGINE_VERSION)),
        ("Schema version", str(SCHEMA_VERSION)),
    )
    items = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    return (
        f"<footer>\n<dl>{items}</dl>\n<p>Made by hexdata from metrics/{html.escape(c.name)} alone; the same figures "
        "give the "
        "same page, byte for byte. Shares have Wilson intervals, means normal ones.</p>\n</footer>"
    )
