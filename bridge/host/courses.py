"""The ways of nodes that their agents move: the host alone decides where such a node is, and back-ends follow.

A command takes effect after the processing delay, as a frame that is sent. Between two commands a node goes straight at
constant speed, or rests. Its arrival is a timer in simulator time, with the key `Arriving`. So a crash cancels it, and
a frozen node hears of its arrival when it recovers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import dist
from typing import Any

from roambus.bridge.backend import Course, Hello, Move
from roambus.bridge.host.event_queue import EventQueue
from roambus.bridge.keys import path_of
from roambus.bridge.mobility.model import WayPoint
from roambus.bridge.mobility.paths import Path, motion, moves_until, paths_of, steered, turn
from roambus.bridge.mobility.registry import MANAGER
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.definition import Scenario, Workload
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.actions import GoTo, Halt, in_full
from roambus.python_protocol.events import Subscribe
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SECOND, SimTime

NAME = '"AgentMobilityManager"'


@dataclass(frozen=True, slots=True)
class Arriving:
    """The key of the timer of a node's arrival at (x, y) metres; a node has one."""

    x: float = field(compare=False)
    y: float = field(compare=False)


class Courses:
    """Carries out `GoTo` and `Halt` of the nodes that their agents move."""

    def __init__(self, scenario: Scenario, queue: EventQueue, down: set[NodeId]) -> None:
        self._queue, self._down = queue, down
        self._field_m = scenario.field_m
        self._limits = {node: settings.max_speed_mps for node, settings in steered(scenario).items()}
        """m/s of each such node."""
        self._planned = _planned(scenario.workload)
        paths = paths_of(scenario) if self._limits else []
        self._paths: dict[NodeId, list[WayPoint]] = {node: list(paths[node]) for node in self._limits}
        self._fixes: dict[NodeId, tuple[float, float]] = {}
        """Where a live node's receiver has shown it last."""
        self._followers: list[Callable[[NodeId, Path], None]] = []
        self._delay: SimTime = 0
        self._limit: SimTime = 0
        self._steer: Callable[[Course], None]
        self.executing: dict[type[Any], Callable[[NodeId, Any], None]] = {GoTo: self.go_to, Halt: self.halt}
        """The function for each action; it raises TypeError, ValueError."""

    def follow(self, follower: Callable[[NodeId, Path], None]) -> None:
        """Give a follower each such node's way, now and after each change."""
        self._followers.append(follower)
        for node, path in self._paths.items():
            follower(node, path)

    def begin(self, hello: Hello) -> None:
        """Take the back-end's steering; raise UserError if it has none and a node needs it."""
        self._delay, self._limit = hello.processing_delay, hello.time_limit
        if hello.steer is not None:
            self._steer = hello.steer
        elif self._limits:
            raise UserError(
                f"{hello.simulator} cannot move nodes by their agents: {_key(min(self._limits))} = {NAME} is not for it"
            )
        if hello.own is not None:  # other nodes' hosts tell of theirs
            self._paths = {node: path for node, path in self._paths.items() if node == hello.own.node}

    def learn(self, moves: Iterable[Move]) -> None:
        """Take the place of a live node from its receiver: it need not be where its commands lead."""
        for time, node, x, y in moves:
            if node in self._paths and time <= self._queue.now:
                self._fixes[node] = x, y

    def go_to(self, node: NodeId, action: GoTo) -> None:
        """Send the node to a place; raise TypeError or ValueError for one that it cannot go to."""
        action.check()  # an action can be changed after it was made
        to, speed_mps = (float(action.x_m), float(action.y_m)), float(action.speed_mps)
        limit = self._limit_of(node, "go_to")
        if not all(0 <= value <= side for value, side in zip(to, self._field_m, strict=True)):
            width, height = map(in_full, self._field_m)
            raise ValueError(f"it goes to {_place(to)}, out of the field: x is 0 to {width} m, y 0 to {height} m")
        if node in self._planned:
            raise ValueError(f"{self._planned[node]}, which was planned by its place before the run: it cannot move")
        if speed_mps > limit:
            raise ValueError(
                f"it goes at {in_full(speed_mps)} m/s, more than {_SPEED} of node {node}, {in_full(limit)}: "
                f"raise that (template field: --set max_speed={in_full(speed_mps)})"
            )
        self._set_out(node, to, speed_mps)

    def halt(self, node: NodeId, action: Halt) -> None:
        """Stop the node; raise ValueError if its agent does not move it."""
        del action
        self._limit_of(node, "halt")
        self._queue.cancel_timer(node, _ARRIVING)
        self.stop(node)

    def stop(self, node: NodeId) -> None:
        """Stop the node if it is under way, as at a crash."""
        at = self._queue.now + self._delay
        if node in self._paths and self._paths[node][-1].time_s > at / SECOND:
            place = self._place(node, at)
            self._take(Course(node, at, *place, at, *place))

    def moves(self, end: SimTime) -> list[Move]:
        """Return the way-points of these nodes up to `end`; those with receivers have rows of their fixes."""
        return moves_until({node: path for node, path in self._paths.items() if node not in self._fixes}, end)

    def _set_out(self, node: NodeId, to: tuple[float, float], speed_mps: float) -> None:
        at = self._queue.now + self._delay
        place = self._place(node, at)
        course = Course(node, at, *place, at + round(dist(place, to) / speed_mps * SECOND), *to)
        self._take(course)
        self._queue.set_timer(node, Arriving(*to), course.until)

    def _take(self, course: Course) -> None:
        if course.at >= self._limit:
            return
        path = self._paths[course.node]
        turn(path, course)
        self._steer(course)
        for follower in self._followers:
            follower(course.node, path)

    def _place(self, node: NodeId, at: SimTime) -> tuple[float, float]:
        return self._fixes.get(node) or motion(self._paths[node], at / SECOND)[0]

    def _limit_of(self, node: NodeId, what: str) -> float:
        """Return the node's greatest speed; raise ValueError if its agent cannot move it."""
        if node in self._down:
            raise ValueError(f"a {what} of a node that is down")
        if node not in self._limits:
            raise ValueError(f"a {what} of a node that its agent does not move: {_HINT.format(_key(node))}")
        return self._limits[node]


_HINT = f"set {{}} = {NAME} (template field: --set mobility=agent; in a transcript: draw a field)"
_ARRIVING = Arriving(0, 0)
_SPEED = path_of(Steered, "max_speed_mps").rpartition("node[*].")[2]


def _planned(workload: Workload) -> dict[NodeId, str]:
    """Return the nodes whose places say who is to deliver, as the plan of commands has it; each with the reason."""
    wishes = [(wish.node, wish.filter) for wish in workload.subscriptions]
    wishes += [(node, it.filter) for _, node, it in workload.commands if isinstance(it, Subscribe)]
    planned = {node: "its node subscribes to an area around itself" for node, wanted in wishes if wanted.is_moving}
    return planned | {it.node: "its node publishes where it is" for it in workload.publications if it.placed}


def _key(node: NodeId) -> str:
    return MANAGER.name.replace("*", str(node))


def _place(place: tuple[float, float]) -> str:
    return f"({in_full(place[0])}, {in_full(place[1])})"
