"""The unit disk: two nodes are linked while they are in range of each other, wherever their mobility takes them.

The way-points are those of the embedded radio for the same seed. Links come and go at the very nanosecond at which the
distance crosses the range; the radio's channel looks at its nodes once in an update interval only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.mobility import Path, positions
from roambus.bridge.scenario.happenings import LinkChange
from roambus.bridge.scenario.node import NodeSettings
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.simtime import SECOND, SimTime

Span = tuple[SimTime, SimTime]
"""The times of a contact: it lasts from the first until before the second."""


def reach_m(scenario: Scenario, node: NodeSettings) -> float:
    """The given range, or else the distance at which the mean path loss leaves no more than the radio's sensitivity."""
    if scenario.ideal.range_m > 0:
        return scenario.ideal.range_m
    channel = scenario.channel
    budget_db = node.tx_power_dbm - scenario.radio.sensitivity_dbm - channel.pl_d0_db
    return float(channel.d0_m * 10 ** (budget_db / (10 * channel.path_loss_exponent)))


def disk_changes(paths: Sequence[Path], reaches_m: Sequence[float], time_limit: SimTime) -> list[LinkChange]:
    """How links come and go until `time_limit`, pair by pair; a link needs both nodes to reach each other."""
    changes = []
    for a, b in combinations(range(len(paths)), 2):
        for up, down in contacts(paths[a], paths[b], min(reaches_m[a], reaches_m[b]), time_limit):
            changes.append(LinkChange(up, a, b, up=True))
            if down < time_limit:
                changes.append(LinkChange(down, a, b, up=False))
    return changes


def contacts(first: Path, second: Path, range_m: float, time_limit: SimTime) -> list[Span]:
    """When two nodes are within `range_m`, in order, with time between one contact and the next."""
    found: list[Span] = []
    for up, down in _contacts_of_legs(first, second, range_m, time_limit):
        if found and up <= found[-1][1]:
            found[-1] = found[-1][0], down
        elif up < down:
            found.append((up, down))
    return found


def _contacts_of_legs(first: Path, second: Path, range_m: float, time_limit: SimTime) -> Iterator[Span]:
    """The contacts, of which each stretch of time in which both go straight on has one at most."""
    times = np.array(sorted({point.time_s for points in (first, second) for point in points} | {time_limit / SECOND}))
    times = times[times <= time_limit / SECOND]
    apart = positions(first, times) - positions(second, times)
    enter, leave = _within(apart[:-1], np.diff(apart, axis=0), range_m)
    begins, lasts = times[:-1], np.diff(times)
    ups, downs = begins + enter * lasts, np.where(leave == 1, times[1:], begins + leave * lasts)
    touches = enter < leave
    for up, down in zip(ups[touches].tolist(), downs[touches].tolist(), strict=True):
        yield round(up * SECOND), round(down * SECOND)


def _within(
    start: NDArray[np.float64], way: NDArray[np.float64], range_m: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares[n] of each stretch between which |start + share * way| <= range; the first is greater where it never is.

    This solves a s^2 + 2 b s + c = 0; without any relative movement the sign of c alone decides.
    """
    a, b = (way * way).sum(axis=1), (start * way).sum(axis=1)
    c = (start * start).sum(axis=1) - range_m**2
    moving = a > 0
    divisor = np.where(moving, a, 1.0)
    root = np.sqrt(np.maximum(b * b - a * c, 0))
    never = np.where(moving, b * b < a * c, c > 0)
    enter = np.where(moving, np.clip((-b - root) / divisor, 0, 1), 0.0)
    leave = np.where(moving, np.clip((-b + root) / divisor, 0, 1), 1.0)
    return np.where(never, 1.0, enter), np.where(never, 0.0, leave)
