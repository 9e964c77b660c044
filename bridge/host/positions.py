"""Nodes' own positions, for agents that declare `needs_position`: the last fix of each node's receiver.

A fix depends on seed, node and time alone, so that every back-end, a rerun and another order of events give the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from random import Random

from roambus.bridge.errors import UserError
from roambus.bridge.host.agents import Handle
from roambus.bridge.mobility import Path, paths_of
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import NodeSettings, X, Y
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event
from roambus.python_protocol.vocabulary import SECOND, NodeId, SimTime

Pair = tuple[float, float]
"""x and y, in m or m/s."""
_time = itemgetter(0)


class Receivers:
    """The position receivers of a run, whose `wrap` is a host's wrapper."""

    def __init__(self, scenario: Scenario) -> None:
        """Raise UserError for a node without a place."""
        paths = paths_of(scenario)
        _check_places(scenario, paths)
        self._receivers = [
            Receiver(node, settings, path, scenario.seed)
            for node, (settings, path) in enumerate(zip(scenario.nodes, paths, strict=True))
        ]

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Give the agent its position and velocity before each event."""
        fix = self._receivers[agent.node].fix

        def handle_located(event: Event, now: SimTime) -> Iterable[Action]:
            agent.position, agent.velocity = fix(getattr(now, "at", now))  # of an exploration's moment
            return handle(event, now)

        return handle_located


class Receiver:
    """One node's receiver: a constant offset, noise from fix to fix, and an interval between fixes."""

    def __init__(self, node: NodeId, settings: NodeSettings, path: Path, seed: int) -> None:
        self._settings, self._path = settings, path
        self._stream = f"position/{seed}/{node}"
        self._offset = self._error(settings.position_offset_m, "offset")
        self._last: tuple[SimTime, tuple[Pair | None, Pair | None]] = (-1, (None, None))

    def fix(self, now: SimTime) -> tuple[Pair | None, Pair | None]:
        """Return position (m) and velocity (m/s) of the last fix; None twice without a receiver."""
        settings = self._settings
        if not settings.has_receiver:
            return None, None
        at = now - now % settings.fix_interval if settings.fix_interval else now
        if at != self._last[0]:
            (x, y), velocity = motion(self._path, at / SECOND)
            (dx, dy), (nx, ny) = self._offset, self._error(settings.position_noise_m, at)
            self._last = at, ((x + dx + nx, y + dy + ny), velocity)
        return self._last[1]

    def _error(self, sigma_m: float, of: object) -> Pair:
        """Draw an error; its own generator makes it independent of all others."""
        if not sigma_m:
            return 0.0, 0.0
        random = Random(f"{self._stream}/{of}")
        return random.gauss(0, sigma_m), random.gauss(0, sigma_m)


def motion(path: Path, at_s: float) -> tuple[Pair, Pair]:
    """Return the place (m) and the velocity (m/s) on a path at a time."""
    index = bisect_right(path, at_s, key=_time)
    if index == len(path):
        return path[-1][1:], (0.0, 0.0)
    before, after = path[index - 1], path[index]
    lasting, passed = after.time_s - before.time_s, at_s - before.time_s
    vx, vy = (after.x - before.x) / lasting, (after.y - before.y) / lasting
    return (before.x + vx * passed, before.y + vy * passed), (vx, vy)


def _check_places(scenario: Scenario, paths: Sequence[Path]) -> None:
    """Raise UserError if nodes have no places of their own, as in most given graphs."""
    nodes = scenario.nodes
    placeless = [node for node, one in enumerate(nodes) if one.position is None and not any(scenario.field_m)]
    if placeless or (len(paths) > 1 and len(set(map(tuple, paths))) == 1):
        node = placeless[0] if placeless else 0
        raise UserError(
            f"agent {scenario.agent} needs positions, and node {node} has no place of its own: "
            f"set {X.name} and {Y.name} (in a transcript: n1 is at 40,20)"
        )
