"""The network of a transcript, which its head draws.

A name is a letter and a number: b a broker, s a subscriber, p a publisher, n a node that may be both. Processes on one
node are joined by slashes, b3/s3. Nodes are numbered in the order of their names, b1, b2, b10, n1, p1, s1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from roambus.bridge.limits import NODES
from roambus.bridge.transcript.document import Place, parse_place
from roambus.python_protocol.roles import NodeId, Role, SiteLine, Sites, make_sites, split_line
from roambus.python_protocol.settings import unknown

PROCESSES = "/"
_NAME = re.compile(r"([bspn])(\d+)")
_RANGE = re.compile(r"([bspn])(\d+)\.\.\1(\d+)")
_ROLES = {"b": Role.BROKER, "s": Role.SUBSCRIBER, "p": Role.PUBLISHER, "n": Role.PUBLISHER | Role.SUBSCRIBER}


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes 0, 1, ... with the names of their processes, and a tree of parents, or links, or sites, or places."""

    processes: tuple[tuple[str, ...], ...]
    parents: Mapping[NodeId, NodeId | None]
    """The tree, which is empty if agents are to make their own."""
    links: tuple[tuple[NodeId, NodeId], ...]
    sites: Sites | None = None
    places: Mapping[NodeId, Place] = field(default_factory=dict)
    """The places of all nodes, if their links follow from where they are."""

    @property
    def is_tree(self) -> bool:
        """Whether the tree is given."""
        return bool(self.parents)

    def node(self, name: str) -> NodeId:
        """The node on which a process is; raises ValueError."""
        nodes = {process: node for node, names in enumerate(self.processes) for process in names}
        if name not in nodes:
            raise ValueError(unknown("node", name, nodes))
        return nodes[name]

    def roles(self, node: NodeId) -> Role:
        """The roles of a node, which its processes have together."""
        roles = Role.NONE
        for name in self.processes[node]:
            roles |= _ROLES[name[0]]
        return roles

    def is_broker(self, node: NodeId) -> bool:
        """Whether others can connect to it."""
        return Role.BROKER in self.roles(node)

    def node_name(self, node: NodeId) -> str:
        """The name of the node as a whole, which is that of its broker if it has one."""
        return self.processes[node][0]

    def subscriber_name(self, node: NodeId) -> str:
        """The name of its subscriber, or without one the last of its names."""
        return self.processes[node][-1]


class Drawing:
    """Collects what the head says of the network; every method raises ValueError for what makes no sense."""

    def __init__(self) -> None:
        self._processes: list[tuple[str, ...]] = []
        self._parents: dict[str, str | None] = {}
        """The tree by the first process of each node, as everywhere here."""
        self._links: list[tuple[str, str]] = []
        self._sites: list[SiteLine] = []
        self._places: dict[str, Place] = {}
        self._branch: list[tuple[int, str]] = []
        """The depth and the name of each node on the branch that leads to the node of the last line."""

    def draw_tree_line(self, text: str) -> None:
        """Takes a node of the tree; what is indented deeper below it is connected to it."""
        depth = len(text) - len(text.lstrip())
        while self._branch and self._branch[-1][0] >= depth:
            self._branch.pop()
        parent = self._branch[-1][1] if self._branch else None
        node = self._connect(text.strip(), parent)
        self._branch.append((depth, node))

    def draw_client(self, text: str) -> None:
        """Takes a client on a node of its own, "s1@b1", or "s1" if it has no broker."""
        name, at, broker = text.partition("@")
        if name.startswith("b"):
            raise ValueError(f"{name} is a broker; draw it in the tree")
        self._connect(name, self._find(broker) if at else None)

    def draw_link(self, text: str) -> None:
        """Takes a link, "n1-n2"."""
        ends = [end if self._is_known(end) else self._add(end) for end in text.split("-")]
        if len(ends) != 2 or ends[0] == ends[1]:
            raise ValueError(f"{text!r} is no link such as n1-n2")
        self._links.append((ends[0], ends[1]))

    def draw_site(self, text: str) -> None:
        """Takes a site with its brokers and clients, "a: b1 b2 b3 | p1", or below another, "b < a: b4 b5 | s1 s2"."""
        line = split_line(text)
        for name in (*line.brokers.split(), *line.clients.split()):
            if name.startswith("b") != (name in line.brokers.split()):
                raise ValueError(f"{text.strip()}: before the | stand brokers (b1), behind it clients (s1, p1, n1)")
            self._add(name)
        self._sites.append(line)

    def draw_place(self, text: str) -> None:
        """Takes a node on a field, "n1 at 0,20"."""
        name, _, place = text.strip().partition(" at ")
        where = parse_place(place.strip())
        self._places[self._add(name.strip())] = where

    def finish(self) -> Network:
        """Numbers the nodes, and returns the network."""
        if [bool(kind) for kind in (self._parents, self._links, self._sites, self._places)].count(True) > 1:
            raise ValueError("give a tree, or links, or sites, or a field: one of them")
        if not self._processes:
            raise ValueError("there is no network; draw a tree, or list links")
        processes = tuple(sorted(self._processes, key=lambda names: _order(names[0])))
        number = {names[0]: node for node, names in enumerate(processes)}
        parents = {number[name]: None if its is None else number[its] for name, its in self._parents.items()}
        links = tuple((number[a], number[b]) for a, b in self._links)
        places = {number[name]: place for name, place in self._places.items()}
        return Network(processes, dict(sorted(parents.items())), links, _sites(self._sites, number), places)

    def _connect(self, text: str, parent: str | None) -> str:
        if parent is not None and not parent.startswith("b"):
            raise ValueError(f"{text} is connected to {parent}, which is no broker")
        node = self._add(text)
        self._parents[node] = parent
        return node

    def _add(self, text: str) -> str:
        names = tuple(text.split(PROCESSES))
        for name in names:
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name such as b1 (broker), s1 (subscriber), p1 (publisher) or n1")
            if self._is_known(name):
                raise ValueError(f"{name} occurs twice")
        if sorted(names, key=_order) != list(names) or len([name for name in names if name.startswith("b")]) > 1:
            raise ValueError(f"{text}: write one node's broker first, then its clients, such as b3/p3/s3")
        self._processes.append(names)
        return names[0]

    def _is_known(self, name: str) -> bool:
        return any(name in names for names in self._processes)

    def _find(self, name: str) -> str:
        for names in self._processes:
            if name in names:
                return names[0]
        raise ValueError(unknown("node", name, dict.fromkeys(_flat(self._processes))))


def expand_names(text: str) -> list[str]:
    """Reads "n1", or "n1..n16" for all between; raises ValueError."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return [text]
    letter, first, last = match[1], int(match[2]), int(match[3])
    if first > last:
        raise ValueError(f"{text!r} counts down; write the lower number first")
    NODES.check(last - first + 1)
    return [f"{letter}{number}" for number in range(first, last + 1)]


def _sites(lines: Iterable[SiteLine], number: Mapping[str, NodeId]) -> Sites | None:
    def nodes(names: str) -> tuple[NodeId, ...]:
        return tuple(number[name] for name in names.split())

    placed = [(line.name, line.parent, nodes(line.brokers), nodes(line.clients)) for line in lines]
    return make_sites(placed) if placed else None


def _flat(processes: Iterable[tuple[str, ...]]) -> list[str]:
    return [name for names in processes for name in names]


def _order(name: str) -> tuple[str, int]:
    return name[0], int(name[1:])
