"""Names what a recording does not say of the links and of the time that a run plays; nothing is filled in silence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.k7.choice import Choice
from roambus.python_protocol.simtime import SECOND

LONG = 3
"""A row that holds so many times as long as is usual in the recording is a gap."""


def gaps(choice: Choice) -> Iterator[str]:
    """A sentence for each kind of gap there is."""
    links = choice.links
    found, first = np.unique(links, return_index=True)
    possible = choice.nodes * (choice.nodes - 1)
    if len(found) < possible:
        yield f"{possible - len(found)} of {possible} links have no row: they carry nothing and do not interfere"
    unheard = int(np.isnan(choice.rows["rssi_dbm"]).sum())
    if unheard:
        yield f"{unheard} rows have no strength, for nothing was heard: their links do not interfere then"
    late = choice.rows["at"][first] - choice.start
    if (late > 0).any():
        text = f"{(late > 0).sum()} links have no row yet at the start"
        yield f"{text}: they begin as their first row says, which is up to {_duration(late.max())} later"
    yield from _long_ones(choice, links)
    yield from _after_the_end(choice)


def _long_ones(choice: Choice, links: NDArray[np.int64]) -> Iterator[str]:
    """The rows that hold for long while the run plays them."""
    order = np.argsort(links, kind="stable")
    at, same = choice.rows["at"][order], np.diff(links[order]) == 0
    lengths = np.diff(at)[same]
    if not len(lengths):
        return
    usual = float(np.median(lengths))
    begins = at[:-1][same]
    played = (begins < choice.end) & (begins + lengths > choice.start)
    long = played & (lengths > LONG * usual)
    if long.any():
        longest = _duration(lengths[long].max())
        yield (
            f"{long.sum()} rows hold for more than {LONG} times the usual {_duration(usual)} until their link's next, "
            f"up to {longest}: the link stays as it was last recorded"
        )


def _after_the_end(choice: Choice) -> Iterator[str]:
    rest = choice.end - float(choice.rows["at"][-1])
    if rest > 0:
        yield f"the recording ends {_duration(rest)} before the run does: links stay as they were last recorded"


def _duration(ns: float) -> str:
    seconds = ns / SECOND
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
