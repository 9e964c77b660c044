"""A page that looks at a recorded testbed: map of links, delivery over strength, change over time, and gaps.

The page is one HTML file that needs nothing else, and runs no script. A recording can be a stranger's, so what is
written into the pictures are numbers and titles of our own; names from the file go through Jinja, which escapes them.

A K7 file does not say where nodes are. The map guesses it by classical multidimensional scaling of signal strengths,
which falls short where walls are, but puts nodes that hear each other well side by side.

What one looks for in such a recording, before running protocols on it: links that are neither good nor dead (gray),
because protocols differ most on them; links that hear better in one direction than in the other; delivery that changes
in the course of a day, because then a mean over all of it describes no hour; and gaps, in which nothing was recorded.

Pictures are written as SVG here and not by Matplotlib: each square of the matrix has a title that a browser shows, by
which one reads the numbers of a single link among thousands without any script.

1. A row of a recording is a burst of frames from one node to another: how much of it was delivered, and how strong it
   was. A burst of which nothing was heard has no strength, and counts for delivery alone.
2. Everything is of one channel, because a link is another one on each of them. It is the first, unless another is asked
   for: the mean over all channels, where the file has it.
3. Bands show percentiles beside the mean. A mean of links that deliver everything and of others that deliver nothing
   describes none of them.
4. A part of the time, or a strength, with too few bursts is left out and not drawn uncertainly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.errors import UserError
from roambus.bridge.recordings import EVERY_CHANNEL, Choice, Recording, choose, gaps
from roambus.experiments.page_policy import page_template, source_hash
from roambus.python_protocol.vocabulary import SECOND

PARTS_OF_TIME = 48
"""Of a recording of a day each is half an hour."""
LEAST_BURSTS = 5
"""A strength, or a part of the time, with fewer bursts is left out."""
GRAY = (0.2, 0.8)
"""The delivery of a link that is called gray: between them, neither good nor dead."""
MOST_GRAY_LINKS = 12
"""No more are shown: those with the most bursts."""


class Links(NamedTuple):
    """Tables[source, target], NaN where there is no row."""

    delivery: NDArray[np.float64]
    strength: NDArray[np.float64]
    bursts: NDArray[np.int64]


class Band(NamedTuple):
    """Delivery at each of some places on an axis: 10th percentile, median, mean and 90th percentile."""

    at: NDArray[np.float64]
    low: NDArray[np.float64]
    median: NDArray[np.float64]
    mean: NDArray[np.float64]
    high: NDArray[np.float64]


class GrayLink(NamedTuple):
    """A link that is neither good nor dead, from burst to burst."""

    source: int
    target: int
    hours: NDArray[np.float64]
    delivery: NDArray[np.float64]

    @property
    def name(self) -> str:
        """What the page calls it."""
        return f"{self.source} to {self.target}"


class Numbers(NamedTuple):
    """All that the page shows; `channel` is that of the file, of which `rows` rows were read."""

    channel: int
    rows: int
    links: Links
    over_strength: Band
    over_time: Band
    gray: list[GrayLink]
    gaps: list[str]


def numbers_of(recording: Recording, channel: int | None) -> Numbers:
    """Of one channel, None for the first; raises UserError if there is no such channel."""
    nodes = len(recording.ids)
    try:
        rows = choose(recording, channel, nodes)
    except ValueError as error:
        raise UserError(f"{recording.name}: channel {channel}: {error}") from None
    heard = rows[np.isfinite(rows["rssi_dbm"])]
    hours = heard["at"] / SECOND / 3600
    part = np.floor(hours / max(recording.lasting / SECOND / 3600, 1e-9) * (PARTS_OF_TIME - 1))
    links = links_of(rows, nodes)
    return Numbers(
        channel=int(rows["channel"][0]),
        rows=len(rows),
        links=links,
        over_strength=_band(np.round(heard["rssi_dbm"]), heard["delivery"], np.round(heard["rssi_dbm"])),
        over_time=_band(part, heard["delivery"], hours),
        gray=_gray_links(recording, rows, links),
        gaps=list(gaps(Choice(rows, nodes, 0, 1.0, int(rows["at"][-1])))),
    )


def links_of(rows: NDArray[Any], nodes: int) -> Links:
    """The mean of each link over its bursts; of strength, over those that were heard."""
    link = rows["source"] * nodes + rows["target"]
    bursts = np.bincount(link, minlength=nodes * nodes)
    heard = np.isfinite(rows["rssi_dbm"])
    with np.errstate(invalid="ignore", divide="ignore"):  # a pair without bursts has no mean, which is NaN
        delivery = np.bincount(link, rows["delivery"], nodes * nodes) / bursts
        counted = np.bincount(link[heard], minlength=nodes * nodes)
        strength = np.bincount(link[heard], rows["rssi_dbm"][heard], nodes * nodes) / counted
    shape = (nodes, nodes)
    return Links(delivery.reshape(shape), strength.reshape(shape), bursts.reshape(shape))


def _band(part: NDArray[np.float64], delivery: NDArray[np.float64], at: NDArray[np.float64]) -> Band:
    """Of each part that has enough bursts, at the mean of their places.

    Percentiles and not a deviation: a delivery is at most 1, beyond which a mean plus a deviation could reach.
    """
    chosen = [
        part == one for one, bursts in zip(*np.unique(part, return_counts=True), strict=True) if bursts >= LEAST_BURSTS
    ]
    rows = [
        (at[own].mean(), *np.quantile(delivery[own], (0.1, 0.5)), delivery[own].mean(), np.quantile(delivery[own], 0.9))
        for own in chosen
    ]
    return Band(*np.array(rows, np.float64).reshape(-1, 5).T)


def _gray_links(recording: Recording, rows: NDArray[Any], links: Links) -> list[GrayLink]:
    """Those with the most bursts: of them the course over time says most."""
    with np.errstate(invalid="ignore"):
        is_gray = (links.delivery >= GRAY[0]) & (links.delivery <= GRAY[1])
    found = sorted(zip(*np.nonzero(is_gray), strict=True), key=lambda link: -links.bursts[link])
    own = ((link, rows[(rows["source"] == link[0]) & (rows["target"] == link[1])]) for link in found[:MOST_GRAY_LINKS])
    return [
        GrayLink(recording.ids[source], recording.ids[target], one["at"] / SECOND / 3600, one["delivery"])
        for (source, target), one in own
    ]


LOSS_EXPONENT = 2.4
"""Strength falls with 24 dB a decade, as in the channel's model; only proportions matter."""


def places_of(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places[node, 2] from 0 to 1, from dBm[source, target] with NaN for pairs that never heard each other.

    These count as somewhat farther away than the weakest that did.
    """
    # Distances are the same in both directions, strengths are not: the mean of the directions that were heard.
    both = np.stack([strengths, strengths.T])
    heard = np.isfinite(both)
    mean = np.where(heard, both, 0.0).sum(axis=0) / np.maximum(heard.sum(axis=0), 1)
    mean = np.where(heard.any(axis=0), mean, np.nanmin(strengths) - 5.0)
    distance = 10 ** ((np.nanmax(strengths) - mean) / (10 * LOSS_EXPONENT))
    np.fill_diagonal(distance, 0.0)
    # Classical scaling: of the centred squares, the two directions in which places are farthest apart.
    centre = np.eye(len(distance)) - 1 / len(distance)
    values, vectors = np.linalg.eigh(-0.5 * centre @ (distance**2) @ centre)
    places = np.asarray(vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0)))
    # By rank in each direction half of the way, so that nodes that stand close can be told apart.
    ranks = places.argsort(axis=0).argsort(axis=0) / max(len(places) - 1, 1)
    extent = np.ptp(places, axis=0)
    return np.asarray((ranks + (places - places.min(axis=0)) / np.where(extent > 0, extent, 1.0)) / 2)


DEAD, GOOD = 0.1, 0.9
"""Links that deliver less are not drawn on the map; those that deliver more are drawn thin, so that the others stand
out.
"""
WIDTH, HEIGHT, MARGIN = 640, 360, 46


def colour(delivery: float) -> str:
    """From orange, which nothing passes, by gray to blue, which everything passes."""
    hue, light = (28, 56) if delivery < 0.5 else (208, 46)
    return f"hsl({hue} {round(abs(delivery - 0.5) * 180)}% {light}%)"


def matrix(links: Links, ids: Sequence[int]) -> str:
    """A square for each link: rows send, columns hear."""
    nodes = len(ids)
    cell = 560 / nodes
    squares = [
        f'<rect x="{40 + target * cell:.1f}" y="{30 + source * cell:.1f}" width="{cell:.1f}" height="{cell:.1f}" '
        f'fill="{colour(links.delivery[source, target])}"><title>{ids[source]} to {ids[target]}: '
        f"delivery {links.delivery[source, target]:.2f}, {links.strength[source, target]:.1f} dBm, "
        f"{links.bursts[source, target]} bursts</title></rect>"
        for source, target in zip(*np.nonzero(links.bursts), strict=True)
    ]
    marks = [
        f'<text x="36" y="{30 + (node + 0.7) * cell:.1f}" text-anchor="end">{ids[node]}</text>'
        f'<text x="{40 + (node + 0.5) * cell:.1f}" y="25" text-anchor="middle">{ids[node]}</text>'
        for node in range(0, nodes, math.ceil(nodes / 25))
    ]
    return _svg(610, 600, "Delivery of each link", [*squares, *marks])


def link_map(links: Links, places: NDArray[np.float64], ids: Sequence[int]) -> str:
    """Nodes where they are guessed to be, and a line for each pair, coloured by its worse direction."""
    at = 30 + places * np.array([WIDTH - 60, 500 - 60])
    delivery = np.nan_to_num(links.delivery)
    worse = np.minimum(delivery, delivery.T)
    lines = [
        f'<line x1="{at[a, 0]:.1f}" y1="{at[a, 1]:.1f}" x2="{at[b, 0]:.1f}" y2="{at[b, 1]:.1f}" '
        f'stroke="{colour(worse[a, b])}" stroke-width="{0.5 if worse[a, b] > GOOD else 1.3}" '
        f'stroke-opacity="{0.35 if worse[a, b] > GOOD else 0.9}"/>'
        for a, b in sorted(zip(*np.nonzero(np.triu(worse >= DEAD, 1)), strict=True), key=lambda pair: -worse[pair])
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
    low, high, median, mean = (
        _points(x, _height(share)) for share in (found.low, found.high, found.median, found.mean)
    )
    area = f'<polygon class="area" points="{" ".join([*low, *reversed(high)])}"/>'
    lines = [_line("median", median), _line("mean", mean), *_dots(mean)]
    return _svg(WIDTH, HEIGHT, title, [*_axes(found.at, x, title), area, *lines])


def sparkline(link: GrayLink) -> str:
    """Delivery of one link from burst to burst."""
    width, height = 200, 60
    points = _points(_scale(link.hours, 6, width - 6), height - 6 - link.delivery * (height - 12))
    frame = f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" class="frame"/>'
    return _svg(width, height, link.name, [frame, _line("mean", points), *_dots(points)])


def _line(kind: str, points: Sequence[str]) -> str:
    return f'<polyline class="{kind}" points="{" ".join(points)}"/>'


def _scale(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """The values as places from `low` to `high`; if all are the same, they lie at `low`."""
    return np.asarray(low + (values - values.min()) / (float(np.ptp(values)) or 1.0) * (high - low))


def _points(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[str]:
    return [f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]


def _dots(points: Sequence[str]) -> list[str]:
    return [f'<circle cx="{x}" cy="{y}" r="2" class="dot"/>' for x, y in (point.split(",") for point in points)]


def _height(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """The place of a share of 0 to 1 in a band; SVG counts downwards."""
    return np.asarray(HEIGHT - 34 - np.asarray(share) * (HEIGHT - 54))


def _axes(at: NDArray[np.float64], x: NDArray[np.float64], title: str) -> Iterator[str]:
    """Quarters of delivery as lines across the band, and round numbers below it."""
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = float(_height(np.array(share)))
        yield f'<line x1="{MARGIN}" x2="{WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
        yield f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{share:g}</text>'
    low, high = float(at.min()), float(at.max())
    steps = (digit * 10.0**power for power in range(-3, 7) for digit in (1, 2, 5))
    # At most eight round numbers: more could not be read side by side.
    step = next(step for step in steps if (high - low) / step <= 8)
    for value in np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step:
        yield f'<text x="{np.interp(value, at, x):.1f}" y="{HEIGHT - 16}" text-anchor="middle">{value:.3g}</text>'
    yield f'<text x="{WIDTH - 10}" y="{HEIGHT - 2}" text-anchor="end" class="title">{title}</text>'


def _svg(width: int, height: int, name: str, parts: Sequence[str]) -> str:
    head = f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{name}">'
    return f"{head}{''.join(parts)}</svg>"


_PAGE = Path(__file__).with_name("page")


def page_of(recording: Recording, channel: int | None) -> str:
    """The page as text; raises UserError if there is no such channel."""
    numbers = numbers_of(recording, channel)
    nodes, style = len(recording.ids), (_PAGE / "testbed.css").read_text(encoding="utf-8")
    shown = "mean over all" if numbers.channel == EVERY_CHANNEL else numbers.channel
    return page_template(_PAGE / "testbed.html.j2").render(
        style=style,
        style_hash=source_hash(style),
        file=Path(recording.name).name,
        location=recording.location,
        facts=[
            ("File", Path(recording.name).name),
            ("Nodes", str(nodes)),
            ("Begins", recording.start),
            ("Lasts", f"{recording.lasting / SECOND / 3600:.1f} h"),
            ("Channel shown", f"{shown}, of {len(recording.channels)}"),
            ("Rows of it", f"{numbers.rows:,}"),
            ("Links with rows", f"{(numbers.links.bursts > 0).sum():,} of {nodes * (nodes - 1):,}"),
        ],
        gaps=numbers.gaps,
        map=link_map(numbers.links, places_of(numbers.links.strength), recording.ids),
        matrix=matrix(numbers.links, recording.ids),
        over_strength=band(numbers.over_strength, "signal strength, dBm"),
        over_time=band(numbers.over_time, "hours since the first row"),
        gray=[(link.name, sparkline(link)) for link in numbers.gray],
    )
