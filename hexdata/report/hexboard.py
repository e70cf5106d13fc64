"""Hex boards drawn as SVG: pointed hexagons in the rhombic layout, each side in the colour of its owner.

         a   b   c
       1 / \\ / \\ / \\      Black owns the top and the bottom,
        2 / \\ / \\ / \\     White the left and the right.
         3 / \\ / \\ / \\
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from hexdata.board import cell_name
from hexdata.report.svg import Point, element, number, path, picture, text, title

RADIUS = 26.0
HALF_WIDTH = RADIUS * math.sqrt(3) / 2
MARGIN = 34.0

# diverging and readable without red-green vision: orange where White wins, blue where Black wins
HEAT = ((0.0, "#b5480f"), (0.25, "#ec9f68"), (0.5, "#f7f2e8"), (0.75, "#7ea8d3"), (1.0, "#173d73"))


@dataclass(frozen=True)
class Tile:
    """How one cell looks: a class or a fill for the hexagon, what lies on it, and what hovering tells."""

    told: str
    class_: str = "cell"
    fill: str = ""
    label: str = ""
    label_class: str = "cell-label"
    stone: str = ""


def draw_board(size: int, label: str, tile: Callable[[int], Tile], definitions: str = "") -> str:
    width = 2 * HALF_WIDTH * (size + (size - 1) / 2) + 2 * MARGIN
    height = RADIUS * (1.5 * size + 0.5) + 2 * MARGIN
    parts = [definitions, _sides(size), _coordinates(size)]
    for cell in range(size * size):
        x, y = centre(cell, size)
        look = tile(cell)
        marks = [title(look.told)]
        hexagon = path(corners(x, y), closed=True)
        if look.fill:
            marks.append(element("path", d=hexagon, class_=look.class_, style=f"fill:{look.fill}"))
        else:
            marks.append(element("path", d=hexagon, class_=look.class_))
        if look.stone:
            marks.append(element("circle", cx=x, cy=y, r=RADIUS * 0.56, class_=f"stone {look.stone}"))
        if look.label:
            marks.append(text(look.label, x, y + 4.8, look.label_class, text_anchor="middle"))
        parts.append(element("g", *marks))
    return picture(width, height, label, *parts, class_="board")


def centre(cell: int, size: int) -> Point:
    """Each row lies half a cell further right than the one above."""
    row, column = divmod(cell, size)
    return MARGIN + HALF_WIDTH * (2 * column + row + 1), MARGIN + RADIUS * (1.5 * row + 1)


def corners(x: float, y: float) -> list[Point]:
    """Clockwise from the top: 0 top, 1 upper right, 2 lower right, 3 bottom, 4 lower left, 5 upper left."""
    half = RADIUS / 2
    return [
        (x, y - RADIUS),
        (x + HALF_WIDTH, y - half),
        (x + HALF_WIDTH, y + half),
        (x, y + RADIUS),
        (x - HALF_WIDTH, y + half),
        (x - HALF_WIDTH, y - half),
    ]


def side_lines(size: int) -> dict[str, list[Point]]:
    """The outline of the board in four parts.

    The two acute corner cells have one hexagon side that borders both owners; it is shared at its middle.
    """
    last = size - 1

    def at(row: int, column: int) -> list[Point]:
        return corners(*centre(row * size + column, size))

    right_top, left_bottom = at(0, last), at(last, 0)
    top_shared = _middle(right_top[0], right_top[1])
    bottom_shared = _middle(left_bottom[3], left_bottom[4])
    top = [point for column in range(size) for point in (at(0, column)[5], at(0, column)[0])] + [top_shared]
    right = [top_shared, right_top[1], right_top[2]]
    right += [point for row in range(1, size) for point in (at(row, last)[1], at(row, last)[2])]
    bottom = [point for column in range(last, -1, -1) for point in (at(last, column)[2], at(last, column)[3])]
    bottom += [bottom_shared]
    left = [bottom_shared, left_bottom[4], left_bottom[5]]
    left += [point for row in range(last - 1, -1, -1) for point in (at(row, 0)[4], at(row, 0)[5])]
    return {"top": top, "right": right, "bottom": bottom, "left": left}


def _middle(a: Point, b: Point) -> Point:
    return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2


def _sides(size: int) -> str:
    """Wide lines below the cells, which cover their inner half. White's round ends fill the corners below Black's."""
    lines = side_lines(size)
    outline = [point for name in ("top", "right", "bottom", "left") for point in lines[name]]
    parts = [element("path", d=path(outline, closed=True), class_="rim")]
    for name, owner in (("left", "white"), ("right", "white"), ("top", "black"), ("bottom", "black")):
        parts.append(element("path", d=path(lines[name]), class_=f"side {owner}"))
    return "".join(parts)


def _coordinates(size: int) -> str:
    parts = []
    for index in range(size):
        x, y = centre(index, size)
        letter = cell_name(index, size)[0]
        parts.append(text(letter, x - HALF_WIDTH * 0.62, y - RADIUS * 1.28, "coordinate", text_anchor="middle"))
        x, y = centre(index * size, size)
        parts.append(text(str(index + 1), x - HALF_WIDTH - 12, y + 4.5, "coordinate", text_anchor="end"))
    return "".join(parts)


def heat(rate: float) -> str:
    """The colour of a win rate, straight lines between the anchors of `HEAT`."""
    for (low, start), (high, end) in itertools.pairwise(HEAT):
        if rate <= high:
            share = (rate - low) / (high - low)
            mixed = (round(a + share * (b - a)) for a, b in zip(_rgb(start), _rgb(end), strict=True))
            return "#" + "".join(f"{channel:02x}" for channel in mixed)
    return HEAT[-1][1]


def is_dark(colour: str) -> bool:
    """Does white text read better on it than black? (WCAG 2 relative luminance)"""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _rgb(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.179


def heat_scale() -> str:
    stops = [element("stop", offset=percentage(share), stop_color=colour) for share, colour in HEAT]
    gradient = element("linearGradient", *stops, id="heat")
    bar = element("rect", x=1, y=1, width=238, height=10, rx=5, fill="url(#heat)", class_="scale")
    marks = [
        text(label, x, 26, "tick", text_anchor=anchor)
        for label, x, anchor in (("0%", 1, "start"), ("50%", 120, "middle"), ("100%", 239, "end"))
    ]
    label = "Colour scale of Black's win rate from 0 to 100 percent"
    return picture(240, 30, label, element("defs", gradient), bar, *marks, class_="scale-bar")


def percentage(share: float) -> str:
    return f"{number(100 * share)}%"


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
