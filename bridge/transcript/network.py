"""The network of a transcript's head: a tree, links, or a field on which nodes walk.

A name is a letter and a number: b a broker, s a subscriber, p a publisher, n a node that may be both. Slashes join
processes on one node, b3/s3. Nodes are numbered by name, b1, b2, b10, n1, p1, s1, independent of line order, because
agents break ties by number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from math import dist
from operator import or_
from typing import NamedTuple

from roambus.bridge.keys import matched
from roambus.bridge.mobility.given_way import GivenWay
from roambus.bridge.mobility.model import Mobility, WayPoint
from roambus.bridge.mobility.static import Static
from roambus.bridge.system.limits import NODES
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.settings import unknown
from roambus.python_protocol.simtime import SECOND, SimTime

PROCESSES = "/"
_NAME = re.compile(r"([bspn])(\d+)")
_RANGE = re.compile(r"([bspn])(\d+)\.\.\1(\d+)")
_PLACE = re.compile(r"(\d{1,7}(?:\.\d{1,9})?),(\d{1,7}(?:\.\d{1,9})?)")
_MEASURE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)(m|m/s)")
_ROLES = {"b": Role.BROKER, "s": Role.SUBSCRIBER, "p": Role.PUBLISHER, "n": Role.PUBLISHER | Role.SUBSCRIBER}


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes 0, 1, ... with process names, and a tree of parents, links or places."""

    processes: tuple[tuple[str, ...], ...]
    parents: Mapping[NodeId, NodeId | None]
    """The tree; empty if agents make their own."""
    links: tuple[tuple[NodeId, NodeId], ...]
    places: Mapping[NodeId, Place] = field(default_factory=dict)
    """All nodes' places, if links follow from them."""

    @property
    def is_tree(self) -> bool:
        """Whether the tree is given."""
        return bool(self.parents)

    def node(self, name: str) -> NodeId:
        """The node of a process; raises ValueError."""
        nodes = {process: node for node, names in enumerate(self.processes) for process in names}
        if name not in nodes:
            raise ValueError(unknown("node", name, nodes))
        return nodes[name]

    def link(self, text: str) -> tuple[NodeId, NodeId, bool]:
        """The ends of "n1-n2" or "n1->n2", and whether it is one-way; raises ValueError."""
        a, way, b = (text if ">" in text else text.replace("-", "->", 1)).partition("->")
        if not way or a == b:
            raise ValueError(f"{text!r} is not a link such as n1-n2")
        return self.node(a), self.node(b), ">" in text

    def roles(self, node: NodeId) -> Role:
        """The roles of a node's processes together."""
        return reduce(or_, (_ROLES[name[0]] for name in self.processes[node]), Role.NONE)

    def is_broker(self, node: NodeId) -> bool:
        """Whether others can connect to it."""
        return Role.BROKER in self.roles(node)

    def node_name(self, node: NodeId) -> str:
        """The node's name: its broker's if it has one."""
        return self.processes[node][0]

    def subscriber_name(self, node: NodeId) -> str:
        """The subscriber's name, or the last one without a subscriber."""
        return self.processes[node][-1]


class Drawing:
    """Collects the head's network; every method raises ValueError for contradictions.

    Nodes go by their first process until all are numbered.
    """

    def __init__(self) -> None:
        self._processes: list[tuple[str, ...]] = []
        self._nodes: dict[str, str] = {}
        """The first process of the node of each process."""
        self._parents: dict[str, str | None] = {}
        """The tree, by each node's first process."""
        self._links: list[tuple[str, str]] = []
        self._places: dict[str, Place] = {}
        self._has_lone_nodes = False
        self._branch: list[tuple[int, str]] = []
        """Depth and name of each node on the branch to the last line."""

    def draw_tree_line(self, text: str) -> None:
        """Add a node of the tree; deeper lines below connect to it."""
        depth = len(text) - len(text.lstrip())
        while self._branch and self._branch[-1][0] >= depth:
            self._branch.pop()
        node = self._connect(text.strip(), self._branch[-1][1] if self._branch else None)
        self._branch.append((depth, node))

    def draw_client(self, text: str) -> None:
        """Add a client on its own node, "s1@b1", or "s1" without a broker."""
        name, at, broker = text.partition("@")
        if name.startswith("b"):
            raise ValueError(f"{name} is a broker; draw it in the tree")
        if at and broker not in self._nodes:
            raise ValueError(unknown("node", broker, dict.fromkeys(self._nodes)))
        self._connect(name, self._nodes[broker] if at else None)

    def draw_link(self, text: str) -> None:
        """Takes a link, "n1-n2"."""
        ends = [end if end in self._nodes else self._add(end) for end in text.split("-")]
        if len(ends) != 2 or ends[0] == ends[1]:
            raise ValueError(f"{text!r} is not a link such as n1-n2")
        self._links.append((ends[0], ends[1]))

    def draw_node(self, name: str) -> None:
        """Add a node without links, "n7", unless it is drawn already."""
        if name not in self._nodes:
            self._add(name)
        self._has_lone_nodes = True

    def draw_place(self, text: str) -> None:
        """Add a node on a field, "n1 at 0,20"."""
        name, _, place = text.strip().partition(" at ")
        self._places[self._add(name.strip())] = parse_place(place.strip())

    def finish(self) -> Network:
        """Number the nodes; return the network."""
        if [bool(kind) for kind in (self._parents, self._links, self._places)].count(True) > 1:
            raise ValueError("give a tree, or links, or a field: one of them")
        if self._has_lone_nodes and (self._parents or self._places):
            raise ValueError("nodes without links stand beside links: in a tree or a field each node has its place")
        if not self._processes:
            raise ValueError("there is no network; draw a tree, or list links")
        processes = tuple(sorted(self._processes, key=lambda names: _order(names[0])))
        number = {names[0]: node for node, names in enumerate(processes)}
        parents = {number[name]: None if its is None else number[its] for name, its in self._parents.items()}
        links = tuple((number[a], number[b]) for a, b in self._links)
        places = {number[name]: place for name, place in self._places.items()}
        return Network(processes, dict(sorted(parents.items())), links, places)

    def _connect(self, text: str, parent: str | None) -> str:
        """Add a node of the tree; only brokers have children."""
        if parent is not None and not parent.startswith("b"):
            raise ValueError(f"{text} is connected to {parent}, which is not a broker")
        node = self._add(text)
        self._parents[node] = parent
        return node

    def _add(self, text: str) -> str:
        """Add a node by its process names, the broker's first; return the first."""
        names = tuple(text.split(PROCESSES))
        for name in names:
            matched(_NAME, name, "name such as b1 (broker), s1 (subscriber), p1 (publisher) or n1")
            if name in self._nodes:
                raise ValueError(f"{name} occurs twice")
        if sorted(names, key=_order) != list(names) or len([name for name in names if name.startswith("b")]) > 1:
            raise ValueError(f"{text}: write one node's broker first, then its clients, such as b3/p3/s3")
        self._processes.append(names)
        self._nodes |= dict.fromkeys(names, names[0])
        return names[0]


def expand_names(text: str) -> list[str]:
    """Read "n1", or "n1..n16" for a range; raises ValueError."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return [text]
    letter, first, last = match[1], int(match[2]), int(match[3])
    if first > last:
        raise ValueError(f"{text!r} counts down; write the lower number first")
    NODES.check(last - first + 1)
    return [f"{letter}{number}" for number in range(first, last + 1)]


def _order(name: str) -> tuple[str, int]:
    """By numeric value: b2 before b10."""
    return name[0], int(name[1:])


class Place(NamedTuple):
    """A place in metres."""

    x: float
    y: float


def parse_place(text: str) -> Place:
    """Read a place such as 20,7.5; raises ValueError."""
    return Place(*map(float, matched(_PLACE, text, "place such as 20,7.5 (metres)").groups()))


def parse_measure(text: str, unit: str) -> float:
    """Read a measure above 0, such as 30m or 1.5m/s; raises ValueError."""
    match = _MEASURE.fullmatch(text)
    if match is None or match[2] != unit or float(match[1]) == 0:
        raise ValueError(f"{text!r} is not a measure such as 30{unit}")
    return float(match[1])


class Ways:
    """The growing paths of all nodes: straight from place to place, at one speed."""

    def __init__(self, places: Mapping[NodeId, Place], speed_mps: float) -> None:
        """Put every node at its place at time 0."""
        self._speed_mps = speed_mps
        self._points = {node: [WayPoint(0.0, *place)] for node, place in places.items()}

    def walk(self, node: NodeId, place: Place, now: SimTime, speed_mps: float | None = None) -> SimTime:
        """Send a node to a place from `now`, ending its earlier walk; return the duration."""
        begin = now / SECOND
        here = self.place(node, begin)
        lasts = dist(here, place) / (speed_mps or self._speed_mps)
        points = [point for point in self._points[node] if point.time_s < begin]
        points += [WayPoint(begin, *here), *([WayPoint(begin + lasts, *place)] if lasts else ())]
        self._points[node] = points
        return round(lasts * SECOND)

    def put(self, node: NodeId, place: Place, now: SimTime) -> None:
        """Place a node from `now`, its first time from the start on."""
        if points := self._points.setdefault(node, []):
            points.append(WayPoint(now / SECOND, *points[-1][1:]))
        points.append(WayPoint(now / SECOND if points else 0.0, *place))

    def start(self, node: NodeId) -> Place | None:
        """A node's place at the start, if known."""
        return Place(*self._points[node][0][1:]) if node in self._points else None

    def place(self, node: NodeId, at_s: float) -> Place:
        """A node's place at a time (s)."""
        points = self._points[node]
        behind = [point for point in points if point.time_s <= at_s][-1]
        ahead = next((point for point in points if point.time_s > at_s), behind)
        share = (at_s - behind.time_s) / (ahead.time_s - behind.time_s) if ahead is not behind else 0.0
        return Place(behind.x + share * (ahead.x - behind.x), behind.y + share * (ahead.y - behind.y))

    def field_m(self, margin_m: float) -> tuple[float, float]:
        """Width and height of a field around all paths, with a margin."""
        points = [point for way in self._points.values() for point in way]
        return max(point.x for point in points) + margin_m, max(point.y for point in points) + margin_m

    def mobility(self, node: NodeId) -> Mobility:
        """A node's path for the scenario; without a field, nodes stay."""
        return GivenWay(tuple(self._points[node])) if node in self._points else Static()
