"""SVG written by hand: elements, scales, axes and the few kinds of chart that the report needs.

Colours are classes, so that the page's style sheet decides them for light, dark and print; coordinates are rounded to
hundredths, so that the same figures give the same bytes.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Point = tuple[float, float]


def number(value: float) -> str:
    """At most two decimals and no trailing zeros: 3.10 is `3.1`, -0.001 is `0`."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(name: str, *children: str, **attributes: str | float) -> str:
    """`class_` and `text_anchor` become `class` and `text-anchor`. Children are markup: escape text with `text`."""
    parts = [name]
    for key, value in attributes.items():
        shown = value if isinstance(value, str) else number(value)
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{html.escape(shown)}"')
    start = " ".join(parts)
    return f"<{start}>{''.join(children)}</{name}>" if children else f"<{start}/>"


def text(content: str, x: float, y: float, class_: str = "label", **attributes: str | float) -> str:
    return element("text", html.escape(content), x=x, y=y, class_=class_, **attributes)


def title(content: str) -> str:
    """What a mouse or a screen reader is told about the element that holds it."""
    return element("title", html.escape(content))


def picture(width: float, height: float, label: str, *children: str, class_: str = "chart") -> str:
    box = f"0 0 {number(width)} {number(height)}"
    return element("svg", *children, viewBox=box, role="img", aria_label=label, class_=class_)


def path(points: Sequence[Point], closed: bool = False) -> str:
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points) + ("Z" if closed else "")


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round values (1, 2 or 5 times a power of ten apart) within the range."""
    if not high > low:
        return [low]
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def whole_ticks(low: int, high: int, wanted: int = 8) -> list[float]:
    return sorted({float(round(tick)) for tick in ticks(low, high, wanted) if low <= round(tick) <= high})


def short(value: float) -> str:
    """A tick of an axis: 12000 is `12k`, 0.250 is `0.25`."""
    if abs(value) >= 1000:
        return f"{number(value / 1000)}k"
    return f"{value:.3f}".rstrip("0").rstrip(".") if value else "0"


def percent(value: float) -> str:
    return f"{number(100 * value)}%"


@dataclass(frozen=True)
class Frame:
    """The plotting area of a chart: data coordinates in, picture coordinates out."""

    width: float
    height: float
    xs: tuple[float, float]
    ys: tuple[float, float]
    left: float = 40
    right: float = 12
    top: float = 12
    bottom: float = 34

    def x(self, value: float) -> float:
        low, high = self.xs
        share = (value - low) / (high - low) if high > low else 0.5
        return self.left + share * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        low, high = self.ys
        share = (value - low) / (high - low) if high > low else 0.5
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def points(self, values: Iterable[Point]) -> list[Point]:
        """The finite ones."""
        return [(self.x(x), self.y(y)) for x, y in values if math.isfinite(x) and math.isfinite(y)]

    def axes(
        self,
        x_ticks: Iterable[float],
        y_ticks: Iterable[float],
        x_label: str,
        x_text: Callable[[float], str] = short,
        y_text: Callable[[float], str] = short,
    ) -> str:
        right, floor = self.width - self.right, self.height - self.bottom
        parts = []
        for tick in y_ticks:
            y = self.y(tick)
            parts.append(element("line", x1=self.left, x2=right, y1=y, y2=y, class_="grid"))
            parts.append(text(y_text(tick), self.left - 7, y + 3.5, "tick", text_anchor="end"))
        for tick in x_ticks:
            parts.append(text(x_text(tick), self.x(tick), floor + 15, "tick", text_anchor="middle"))
        parts.append(element("line", x1=self.left, x2=right, y1=floor, y2=floor, class_="axis"))
        if x_label:
            parts.append(text(x_label, (self.left + right) / 2, self.height - 4, "tick", text_anchor="middle"))
        return "".join(parts)

    def line(self, values: Iterable[Point], class_: str) -> str:
        points = self.points(values)
        if not points:
            return ""
        dots = "".join(element("circle", cx=x, cy=y, r=2.4, class_=f"{class_} dot") for x, y in points)
        return element("path", d=path(points), class_=f"{class_} line") + (dots if len(points) <= 40 else "")

    def band(self, bounds: Iterable[tuple[float, float, float]], class_: str) -> str:
        """`bounds` are x, low, high."""
        finite = [bound for bound in bounds if all(math.isfinite(value) for value in bound)]
        if not finite:
            return ""
        above = self.points((x, high) for x, _, high in finite)
        below = self.points((x, low) for x, low, _ in reversed(finite))
        return element("path", d=path(above + below, closed=True), class_=f"{class_} band")


def padded(values: Iterable[float], share: float = 0.08) -> tuple[float, float]:
    """A range that leaves some air above and below the finite values; (0, 1) when there are none."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    air = (high - low) * share or abs(high) * share or 1.0
    return low - air, high + air
