"""Draws the pictures of the page as SVG. What is written into them are numbers of ours, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from roambus.experiments.testbeds.numbers import Band, GrayLink, Links

DEAD, GOOD = 0.1, 0.9
WIDTH, HEIGHT, MARGIN = 640, 360, 46


def colour(delivery: float) -> str:
    """From orange, which nothing passes, by gray to blue, which everything passes."""
    hue, light = (28, 56) if delivery < 0.5 else (208, 46)
    return f"hsl({hue} {round(abs(delivery - 0.5) * 180)}% {light}%)"


def matrix(links: Links, ids: Sequence[int]) -> str:
    """A square for each link: rows send, columns hear."""
    nodes = len(ids)
    cell = 560 / nodes
    squares = []
    for source, target in zip(*np.nonzero(links.bursts), strict=True):
        delivery, strength = links.delivery[source, target], links.strength[source, target]
        told = f"{ids[source]} to {ids[target]}: delivery {delivery:.2f}, {strength:.1f} dBm"
        squares.append(
            f'<rect x="{40 + target * cell:.1f}" y="{30 + source * cell:.1f}" width="{cell:.1f}" height="{cell:.1f}" '
            f'fill="{colour(delivery)}"><title>{told}, {links.bursts[source, target]} bursts</title></rect>'
        )
    step = max(1, -(-nodes // 25))
    marks = [
        f'<text x="36" y="{30 + (node + 0.7) * cell:.1f}" text-anchor="end">{ids[node]}</text>'
        f'<text x="{40 + (node + 0.5) * cell:.1f}" y="25" text-anchor="middle">{ids[node]}</text>'
        for node in range(0, nodes, step)
    ]
    return _svg(610, 600, "Delivery of each link", [*squares, *marks])


def link_map(links: Links, places: NDArray[np.float64], ids: Sequence[int]) -> str:
    """Nodes where they are guessed to be, and a line for each pair, coloured by its worse direction."""
    at = 30 + places * np.array([WIDTH - 60, 500 - 60])
    delivery = np.nan_to_num(links.delivery)
    worse = np.minimum(delivery, delivery.T)
    pairs = sorted(zip(*np.nonzero(np.triu(worse >= DEAD, 1)), strict=True), key=lambda pair: -worse[pair])
    lines = [
        f'<line x1="{at[a, 0]:.1f}" y1="{at[a, 1]:.1f}" x2="{at[b, 0]:.1f}" y2="{at[b, 1]:.1f}" '
        f'stroke="{colour(worse[a, b])}" stroke-width="{0.5 if worse[a, b] > GOOD else 1.3}" '
        f'stroke-opacity="{0.35 if worse[a, b] > GOOD else 0.9}"/>'
        for a, b in pairs
    ]
    nodes = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" class="node"/>'
        f'<text x="{x:.1f}" y="{y + 3.5:.1f}" text-anchor="middle">{name}</text>'
        for (x, y), name in zip(at.tolist(), ids, strict=True)
    ]
    return _svg(WIDTH, 500, "Map of links", [*lines, *nodes])


def band(found: Band, title: str) -> str:
    """Mean and median as lines, 10th to 90th percentile as an area."""
    if len(found.at) < 2:
        return _svg(WIDTH, 60, title, ['<text x="10" y="30">There are too few bursts to show this.</text>'])
    x = _scale(found.at, MARGIN, WIDTH - 10)
    low, high = (_points(x, values) for values in (found.low, found.high))
    area = f'<polygon class="area" points="{" ".join([*low, *reversed(high)])}"/>'
    median = f'<polyline class="median" points="{" ".join(_points(x, found.median))}"/>'
    middle = _points(x, found.mean)
    mean = f'<polyline class="mean" points="{" ".join(middle)}"/>'
    dots = _dots(middle)
    return _svg(WIDTH, HEIGHT, title, [*_axes(found.at, x, title), area, median, mean, *dots])


def sparkline(link: GrayLink) -> str:
    """Delivery of one link from burst to burst."""
    width, height = 200, 60
    x = _scale(link.hours, 6, width - 6)
    y = height - 6 - link.delivery * (height - 12)
    points = [f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    dots = _dots(points)
    frame = f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" class="frame"/>'
    name = f"{link.source} to {link.target}"
    return _svg(width, height, name, [frame, f'<polyline class="mean" points="{" ".join(points)}"/>', *dots])


def _scale(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    extent = float(np.ptp(values)) or 1.0
    scaled: NDArray[np.float64] = low + (values - values.min()) / extent * (high - low)
    return scaled


def _points(x: NDArray[np.float64], share: NDArray[np.float64]) -> list[str]:
    y = _height(share)
    return [f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]


def _dots(points: Sequence[str]) -> list[str]:
    places = (point.split(",") for point in points)
    return [f'<circle cx="{x}" cy="{y}" r="2" class="dot"/>' for x, y in places]


def _height(share: NDArray[np.float64]) -> NDArray[np.float64]:
    height: NDArray[np.float64] = HEIGHT - 34 - np.asarray(share) * (HEIGHT - 54)
    return height


def _axes(at: NDArray[np.float64], x: NDArray[np.float64], title: str) -> Iterator[str]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = float(_height(np.array(share)))
        yield f'<line x1="{MARGIN}" x2="{WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
        yield f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{share:g}</text>'
    for value in _round_numbers(float(at.min()), float(at.max())):
        place = float(np.interp(value, at, x))
        yield f'<text x="{place:.1f}" y="{HEIGHT - 16}" text-anchor="middle">{value:.3g}</text>'
    yield f'<text x="{WIDTH - 10}" y="{HEIGHT - 2}" text-anchor="end" class="title">{title}</text>'


def _round_numbers(low: float, high: float) -> list[float]:
    """At most eight of them between the two."""
    steps = (digit * 10.0**power for power in range(-3, 7) for digit in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= 8)
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _svg(width: int, height: int, name: str, parts: Sequence[str]) -> str:
    head = f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{name}">'
    return f"{head}{''.join(parts)}</svg>"
