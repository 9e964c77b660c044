"""What the page shows of a recording: tables of links, of strengths, and of times."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.errors import UserError
from roambus.bridge.k7.choice import Choice, choose
from roambus.bridge.k7.gaps import gaps
from roambus.bridge.k7.recording import Recording
from roambus.python_protocol.simtime import SECOND

PARTS_OF_TIME = 48
LEAST_BURSTS = 5
"""A strength, or a part of the time, with fewer bursts is left out."""
GRAY = (0.2, 0.8)
MOST_GRAY_LINKS = 12


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


class Numbers(NamedTuple):
    """All that the page shows."""

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
    named = list(gaps(Choice(rows, nodes, 0, 1.0, int(rows["at"][-1]))))
    links = links_of(rows, nodes)
    return Numbers(
        channel=int(rows["channel"][0]),
        rows=len(rows),
        links=links,
        over_strength=_band(np.round(heard["rssi_dbm"]), heard["delivery"], np.round(heard["rssi_dbm"])),
        over_time=_band(part, heard["delivery"], hours),
        gray=_gray_links(recording, rows, links),
        gaps=named,
    )


def links_of(rows: NDArray[Any], nodes: int) -> Links:
    """The mean of each link over its bursts."""
    link = rows["source"] * nodes + rows["target"]
    bursts = np.bincount(link, minlength=nodes * nodes)
    heard = np.isfinite(rows["rssi_dbm"])
    with np.errstate(invalid="ignore", divide="ignore"):
        delivery = np.bincount(link, rows["delivery"], nodes * nodes) / bursts
        counted = np.bincount(link[heard], minlength=nodes * nodes)
        strength = np.bincount(link[heard], rows["rssi_dbm"][heard], nodes * nodes) / counted
    shape = (nodes, nodes)
    return Links(delivery.reshape(shape), strength.reshape(shape), bursts.reshape(shape))


def _band(part: NDArray[np.float64], delivery: NDArray[np.float64], at: NDArray[np.float64]) -> Band:
    """Of each part that has enough bursts, at the mean of their places."""
    rows = []
    for one in np.unique(part):
        chosen = part == one
        if chosen.sum() >= LEAST_BURSTS:
            values = delivery[chosen]
            rows.append((at[chosen].mean(), *np.quantile(values, (0.1, 0.5)), values.mean(), np.quantile(values, 0.9)))
    columns = np.array(rows, np.float64).reshape(-1, 5).T
    return Band(*columns)


def _gray_links(recording: Recording, rows: NDArray[Any], links: Links) -> list[GrayLink]:
    """Those with the most bursts."""
    with np.errstate(invalid="ignore"):
        is_gray = (links.delivery >= GRAY[0]) & (links.delivery <= GRAY[1])
    found = sorted(zip(*np.nonzero(is_gray), strict=True), key=lambda link: -links.bursts[link])
    return [_gray_link(recording, rows, int(source), int(target)) for source, target in found[:MOST_GRAY_LINKS]]


def _gray_link(recording: Recording, rows: NDArray[Any], source: int, target: int) -> GrayLink:
    own = rows[(rows["source"] == source) & (rows["target"] == target)]
    ids = recording.ids
    return GrayLink(ids[source], ids[target], own["at"] / SECOND / 3600, own["delivery"])
