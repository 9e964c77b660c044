"""Nodes' own positions, for agents that declare `needs_position`: the last fix of each node's receiver.

A fix depends on seed, node and time alone, so that every back-end, a rerun and another order of events give the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf
from random import Random
from typing import cast

from roambus.bridge.backend import Move
from roambus.bridge.host.agents import Handle
from roambus.bridge.keys import path_of
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.mobility.paths import Pair, Path, motion, paths_of, steered
from roambus.bridge.scenario.definition import Command, Follow, Publication, Scenario, Workload
from roambus.bridge.scenario.nodes import Handling, NodeSettings, X, Y
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.actions import Action, GoTo, Halt
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Event, Publish, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Value
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime


class Receivers:
    """The position receivers of a run, whose `wrap` is a host's wrapper."""

    def __init__(self, scenario: Scenario, farthest_m: float = inf) -> None:
        """Raise UserError for a node without a place, or farther than `farthest_m` in x or y."""
        paths = located(scenario)
        _check_reach(scenario, paths, farthest_m)
        self._receivers = [Receiver(node, scenario.nodes[node], path, scenario.seed) for node, path in enumerate(paths)]

    def learn(self, moves: Iterable[Move]) -> None:
        """Replace the scenario's ways by the simulator's."""
        for time, node, x, y in moves:
            self._receivers[node].learn(WayPoint(time / SECOND, x, y))

    def follow(self, node: NodeId, path: Path) -> None:
        """Take the way of a node that its agent moves; called again after each change."""
        self._receivers[node].follow(path)

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Give the agent its position and velocity before each event."""
        fix, is_told = self._receivers[agent.node].fix, agent.oracle_positions

        def handle_located(event: Event, now: SimTime) -> Iterable[Action]:
            at = getattr(now, "at", now)  # of an exploration's moment
            agent.position, agent.velocity = fix(at)
            if is_told and isinstance(event, Publish):
                event = replace(event, places=tuple(self._receivers[node].place(at) for node in event.subscribers))
            return handle(event, now)

        return handle_located


class Receiver:
    """One node's receiver: a constant offset, noise from fix to fix, and an interval between fixes."""

    def __init__(self, node: NodeId, settings: NodeSettings, path: Path, seed: int) -> None:
        self._settings, self._path = settings, path
        self._points: list[WayPoint] = []
        self._stream = f"position/{seed}/{node}"
        self._offset = self._error(settings.position_offset_m, "offset")
        self._fixed: SimTime | None = None
        """When the last fix was."""
        self._last: tuple[Pair | None, Pair | None] = None, None

    def learn(self, point: WayPoint) -> None:
        """Add a point, in place of later ones."""
        while self._points and self._points[-1].time_s > point.time_s:
            self._points.pop()
        self._points.append(point)
        self._path = self._points

    def follow(self, path: Path) -> None:
        """Take the node's way, which may have changed from now on, unless a real receiver shows where it is."""
        if not self._points:
            self._path, self._fixed = path, None

    def fix(self, now: SimTime) -> tuple[Pair | None, Pair | None]:
        """Return position (m) and velocity (m/s) of the last fix; None twice without a receiver."""
        settings = self._settings
        if not settings.has_receiver:
            return None, None
        at = now - now % settings.fix_interval if settings.fix_interval else now
        if at != self._fixed:
            (x, y), velocity = motion(self._path, at / SECOND)
            (dx, dy), (nx, ny) = self._offset, self._error(settings.position_noise_m, at)
            self._fixed, self._last = at, ((sum((x, dx, nx)), sum((y, dy, ny))), velocity)
        return self._last

    def place(self, now: SimTime) -> Pair:
        """Return the true place of the node (m)."""
        return motion(self._path, now / SECOND)[0]

    def _error(self, sigma_m: float, of: object) -> Pair:
        """Draw an error; its own generator makes it independent of all others."""
        if not sigma_m:
            return 0.0, 0.0
        random = Random(f"{self._stream}/{of}")
        return random.gauss(0, sigma_m), random.gauss(0, sigma_m)


def located(scenario: Scenario) -> list[Path]:
    """Return all nodes' paths; raise UserError if nodes have no places, as in most given graphs."""
    paths, nodes = paths_of(scenario), scenario.nodes
    placeless = [node for node, settings in enumerate(nodes) if settings.position is None and not any(scenario.field_m)]
    # Without keys, the nodes of an ini are at (0, 0): where each of several is, nobody has said where any is.
    if placeless or (len(paths) > 1 and set(map(tuple, paths)) == {(WayPoint(0.0, 0.0, 0.0),)}):
        node = placeless[0] if placeless else 0
        raise UserError(
            f"agent {scenario.agent} or its workload needs positions, and node {node} has no place of its own: "
            f"set {X.name} and {Y.name} (in a transcript: n1 is at 40,20)"
        )
    return paths


def _check_reach(scenario: Scenario, paths: Iterable[Path], farthest_m: float) -> None:
    """Refuse nodes and notifications at places that the agent's messages cannot carry; raises UserError."""
    told = f"which the messages of agent {scenario.agent} cannot carry: they reach {farthest_m} m from (0, 0)"
    own = steered(scenario)
    for node, path in enumerate(paths):
        corners = [WayPoint(0.0, *scenario.field_m)] if node in own else []  # its agent can send it anywhere there
        for point in (*path, *corners):
            if max(abs(point.x), abs(point.y)) > farthest_m:
                raise UserError(f"node {node} comes to ({point.x}, {point.y}), {told}")
    for node, attributes in _published(scenario.workload):
        for axis in ("x", "y"):
            if isinstance(value := attributes.get(axis), int | float) and abs(value) > farthest_m:
                raise UserError(f"node {node} publishes with {axis} = {value}, {told}")


def _published(workload: Workload) -> Iterator[tuple[NodeId, dict[str, Value]]]:
    """Yield the publishers with what they publish."""
    for publications in workload.publications:
        yield publications.node, dict(publications.attributes)
    for _, node, command in workload.commands:
        if isinstance(command, Publication):
            yield node, dict(command.attributes)


# For receivers without an interval between fixes.
AREA_INTERVAL = SECOND
_DIGITS = 1
"""Of the area that a node subscribes to: less than 0.1 m is no reason for a new subscription."""


class Areas:
    """Areas around subscribers: subscribed to by their fixes, judged by their true places."""

    def __init__(self, scenario: Scenario) -> None:
        self._nodes, self._paths, self._seed = scenario.nodes, located(scenario), scenario.seed
        self._areas: dict[tuple[NodeId, Filter], Filter] = {}

    def judged(self, wanted: Mapping[NodeId, Iterable[Filter]], at: SimTime) -> dict[NodeId, list[Filter]]:
        """Return the filters at a time."""
        return {
            node: [wanted.around(motion(self._paths[node], at / SECOND)[0]) for wanted in filters]
            for node, filters in wanted.items()
        }

    def events(self, at: SimTime, node: NodeId, command: Event | Handling | Follow | GoTo | Halt) -> Iterator[Event]:
        """Yield the agent's events of a command."""
        if not isinstance(command, Subscribe | Unsubscribe | Follow) or not command.filter.is_moving:
            yield cast("Event", command)
            return
        key, area = (node, command.filter), None
        old = self._areas.pop(key, None)
        if not isinstance(command, Unsubscribe) and (old or isinstance(command, Subscribe)):
            area = self._areas[key] = command.filter.around(self._fix(node, at))
            if area != old:
                yield Subscribe(area)
        if old and area != old:
            yield Unsubscribe(old)

    def _fix(self, node: NodeId, at: SimTime) -> Pair:
        place, _ = Receiver(node, self._nodes[node], self._paths[node], self._seed).fix(at)
        if place is None:
            raise UserError(
                f"node {node} subscribes to an area around itself, and has no receiver: "
                f"set {path_of(NodeSettings, 'has_receiver')} = true"
            )
        return round(place[0], _DIGITS), round(place[1], _DIGITS)


def follow(scenario: Scenario, entry: Command) -> Iterator[Command]:
    """Yield a command, and those by which a subscription's area follows."""
    yield entry
    at, node, command = entry
    if isinstance(command, Subscribe) and command.filter.is_moving:
        interval = scenario.nodes[node].fix_interval or AREA_INTERVAL
        for later in range(at + interval, scenario.time_limit, interval):
            yield Command(later, node, Follow(command.filter))
