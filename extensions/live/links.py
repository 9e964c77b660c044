"""Links of live nodes: which received datagrams a node accepts, and when.

On one machine every datagram arrives at once, so the receiver computes the frame's fate by the ideal back-end's
functions: a seed means the same places.

- `ideal`: the ideal back-end's delays and losses, unreported. The link must carry from sending until arrival.
- `all`: every received datagram counts.

Losses come from the node's own seeded generator, but the machine decides the order of frames: live runs do not repeat
exactly.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from random import Random
from typing import Protocol

from roambus.bridge.backends.ideal.backend import given_graph
from roambus.bridge.backends.ideal.graph import Graph, Span, disk_changes, reach_m
from roambus.bridge.mobility.paths import paths_of, steered
from roambus.bridge.mobility.registry import MANAGER
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import LinkChange, Partition
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

ALL = "all"
"""The kind without links of the template; the other is "ideal"."""


class Links(Protocol):
    """The links to one node."""

    def arrival(self, sender: NodeId, sent: SimTime) -> SimTime | None:
        """The arrival of a frame sent at `sent`; None if lost."""


def links_of(kind: str, scenario: Scenario, node: NodeId) -> Links:
    """The links to the node; raises UserError for an unsupported scenario."""
    return AllLinks() if kind == ALL else IdealLinksTo(scenario, node)


class AllLinks:
    """The network's own links, unknown here."""

    def arrival(self, sender: NodeId, sent: SimTime) -> SimTime | None:  # the interface
        """At once: `sent` itself."""
        return sent


class IdealLinksTo:
    """Ideal links to one node, with their spans of time.

    Crashes need nothing here: a dead process receives nothing.
    """

    def __init__(self, scenario: Scenario, node: NodeId) -> None:
        """Compute all spans of the run; raises UserError for measured links, and ways that no receiver knows."""
        if scenario.measured is not None:
            raise UserError("ideal links cannot play measured links: leave SN.links.file out")
        if given_graph(scenario) is None and (own := steered(scenario)):
            key = MANAGER.name.replace("*", str(min(own)))
            raise UserError(f"{key}: other live nodes do not know where an agent goes: use --links all")
        ideal = scenario.ideal
        self._random = Random(f"live links/{scenario.seed}/{node}")
        self._loss, self._delay = ideal.loss, ideal.delay
        self._losses = {loss.sender: loss.share for loss in ideal.losses if loss.receiver == node}
        self._delays = {
            delay.b if delay.a == node else delay.a: delay.delay for delay in ideal.delays if node in (delay.a, delay.b)
        }
        self._spans = spans_to(node, scenario)

    def arrival(self, sender: NodeId, sent: SimTime) -> SimTime | None:
        """After the link's delay, if it carries until then."""
        arrives = sent + self._delays.get(sender, self._delay)
        spans = self._spans[sender]
        place = bisect_right(spans, (sent, math.inf)) - 1
        if place < 0 or arrives >= spans[place][1] or self._random.random() < self._losses.get(sender, self._loss):
            return None
        return arrives


def spans_to(node: NodeId, scenario: Scenario) -> list[list[Span]]:
    """For each sender the half-open spans in which its link carries."""
    nodes = len(scenario.nodes)
    given = given_graph(scenario)
    links, changes = ((), _disk_changes_at(node, scenario)) if given is None else given[:2]
    graph, spans = Graph.of(nodes, links), [list[Span]() for _ in range(nodes)]
    up: dict[NodeId, SimTime] = {sender: 0 for sender in range(nodes) if graph.carries(sender, node)}
    happenings: list[LinkChange | Partition] = [*changes, *scenario.ideal.partitions]
    for change in sorted(happenings, key=lambda happening: happening.at):
        graph = graph.after(change)
        for sender in _concerned(change, node, nodes):
            carries = graph.carries(sender, node)
            if carries and sender not in up:
                up[sender] = change.at
            elif not carries and sender in up:
                spans[sender].append((up.pop(sender), change.at))
    for sender, since in up.items():
        spans[sender].append((since, scenario.time_limit))
    return spans


def _disk_changes_at(node: NodeId, scenario: Scenario) -> list[LinkChange]:
    """Changes of the node's own unit-disk links."""
    paths = paths_of(scenario)
    reaches = [reach_m(scenario, settings) for settings in scenario.nodes]
    changes: list[LinkChange] = []
    for other in range(len(paths)):
        if other != node:
            pair = disk_changes([paths[node], paths[other]], [reaches[node], reaches[other]], scenario.time_limit)
            changes += (LinkChange(time.at, node, other, time.up) for time in pair)
    return changes


def _concerned(change: LinkChange | Partition, node: NodeId, nodes: int) -> Iterable[NodeId]:
    """Senders whose links to `node` a change may affect."""
    if isinstance(change, Partition):
        return range(nodes)
    return {change.a, change.b} - {node} if node in (change.a, change.b) else ()
