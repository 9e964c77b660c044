"""Links of live nodes: which received datagrams a node accepts, and when.

On one machine every datagram arrives at once, so the receiver computes the frame's fate by the back-ends' functions: a
seed means the same places.

- `ideal`: the ideal back-end's delays and losses, unreported. The link must carry from sending until arrival.
- `radio`: the embedded radio's path loss, bit errors over noise, and time on the air; no carrier sense, interference or
  collisions.
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

import numpy as np

from roambus.bridge.backends.ideal.backend import given_graph
from roambus.bridge.backends.ideal.graph import Graph, Span, disk_changes, reach_m
from roambus.bridge.backends.radio import setup
from roambus.bridge.backends.radio.backend import REASONS
from roambus.bridge.backends.radio.radio import PROCESSING_DELAY
from roambus.bridge.backends.radio.receiver import HIGHEST_DB, bit_error_rate
from roambus.bridge.backends.radio.state import MODELLED, TAKEN
from roambus.bridge.errors import UserError
from roambus.bridge.mobility import paths_of
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import LinkChange, Partition
from roambus.python_protocol.vocabulary import NodeId, SimTime

IDEAL, RADIO, ALL = KINDS = ("ideal", "radio", "all")
"""The kinds of links."""


class Links(Protocol):
    """The links to one node."""

    def arrival(self, sender: NodeId, sent: SimTime, size: int) -> SimTime | None:
        """The arrival of `size` bytes sent at `sent`; None if lost."""

    def refusal(self, size: int) -> str | None:
        """Why the node cannot send this length; None if it can."""


def links_of(kind: str, scenario: Scenario, node: NodeId) -> Links:
    """The links to the node; raises UserError for an unsupported scenario."""
    if kind == ALL:
        return AllLinks()
    return IdealLinksTo(scenario, node) if kind == IDEAL else RadioLinksTo(scenario, node)


class AllLinks:
    """The network's own links, unknown here."""

    def arrival(self, sender: NodeId, sent: SimTime, size: int) -> SimTime | None:  # noqa: ARG002  # the interface
        """At once: `sent` itself."""
        return sent

    def refusal(self, size: int) -> None:
        """None: only the datagram limits a message."""


class IdealLinksTo:
    """Ideal links to one node, with their spans of time.

    Crashes need nothing here: a dead process receives nothing.
    """

    def __init__(self, scenario: Scenario, node: NodeId) -> None:
        """Compute all spans of the run; raises UserError for measured links."""
        if scenario.measured is not None:
            raise UserError("ideal links cannot play measured links: leave SN.links.file out, or give --links radio")
        ideal = scenario.ideal
        self._random = Random(f"live links/{scenario.seed}/{node}")
        self._loss, self._delay = ideal.loss, ideal.delay
        self._losses = {one.sender: one.share for one in ideal.losses if one.receiver == node}
        self._delays = {one.b if one.a == node else one.a: one.delay for one in ideal.delays if node in (one.a, one.b)}
        self._spans = spans_to(node, scenario)

    def arrival(self, sender: NodeId, sent: SimTime, size: int) -> SimTime | None:  # noqa: ARG002  # the interface
        """After the link's delay, if it carries until then."""
        arrives = sent + self._delays.get(sender, self._delay)
        spans = self._spans[sender]
        place = bisect_right(spans, (sent, math.inf)) - 1
        if place < 0 or arrives >= spans[place][1] or self._random.random() < self._losses.get(sender, self._loss):
            return None
        return arrives

    def refusal(self, size: int) -> None:
        """No frame is too long."""


def spans_to(node: NodeId, scenario: Scenario) -> list[list[Span]]:
    """For each sender the half-open spans in which its link carries."""
    nodes = len(scenario.nodes)
    given = given_graph(scenario)
    links, changes = ((), _disk_changes_at(node, scenario)) if given is None else given[:2]
    graph, spans = Graph.of(nodes, links), [list[Span]() for _ in range(nodes)]
    up: dict[NodeId, SimTime] = {sender: 0 for sender in range(nodes) if graph.carries(sender, node)}
    happenings: list[LinkChange | Partition] = [*changes, *scenario.ideal.partitions]
    for change in sorted(happenings, key=lambda one: one.at):
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
            changes += (LinkChange(one.at, node, other, one.up) for one in pair)
    return changes


def _concerned(change: LinkChange | Partition, node: NodeId, nodes: int) -> Iterable[NodeId]:
    """Senders whose links to `node` a change may affect."""
    if isinstance(change, Partition):
        return range(nodes)
    return {change.a, change.b} - {node} if node in (change.a, change.b) else ()


class RadioLinksTo:
    """Links to one node with the embedded radio's quality, in steps of time.

    With a recorded testbed (`SN.links.file`): the share delivered.
    """

    def __init__(self, scenario: Scenario, node: NodeId) -> None:
        """Draw the seed's path loss; raises UserError for features that the radio lacks."""
        setup.check(scenario)
        if scenario.temporal is not None:
            raise UserError("live runs have no links that vary in time: leave SN.wirelessChannel.temporalModel... out")
        self._scenario = scenario
        self._random = Random(f"live links/{scenario.seed}/{node}")
        ground = setup.ground(scenario, paths_of(scenario), setup.seeds_of(scenario.seed))
        self._is_measured = ground.measured is not MODELLED
        steps = measured_steps(ground, node) if self._is_measured else loss_steps(ground, node)
        self._steps = [tuple(zip(*one, strict=True)) for one in steps]
        self._chances: dict[tuple[float, int], float] = {}

    def arrival(self, sender: NodeId, sent: SimTime, size: int) -> SimTime | None:
        """The time of its last bit, if none is wrong."""
        times, values = self._steps[sender]
        value = values[bisect_right(times, sent) - 1]
        chance = value if self._is_measured else self._chance(sender, value, size)
        if self._random.random() >= chance:
            return None
        return sent + setup.airtime(self._scenario, size) + PROCESSING_DELAY

    def refusal(self, size: int) -> str | None:
        """The limits of MAC and radio."""
        reason = setup.refusal(self._scenario, size)
        return None if reason == TAKEN else REASONS[reason]

    def _chance(self, sender: NodeId, loss_db: float, size: int) -> float:
        """The probability of no bit error, cached for each power and size."""
        radio, power = self._scenario.radio, self._scenario.nodes[sender].tx_power_dbm - loss_db
        if power < max(radio.sensitivity_dbm, self._scenario.channel.signal_delivery_threshold_dbm):
            return 0.0
        if (power, size) not in self._chances:
            snr = min(power - radio.noise_floor_dbm + radio.bandwidth_db, HIGHEST_DB)
            bits = 8 * setup.frame_bytes(self._scenario, size)
            self._chances[power, size] = float((1 - bit_error_rate(np.array(snr), radio.modulation)) ** bits)
        return self._chances[power, size]


Step = tuple[SimTime, float]
"""A link's value from this time on."""


def loss_steps(ground: setup.Ground, node: NodeId) -> list[list[Step]]:
    """For each sender, steps of the loss (dB) between both nodes' cells."""
    cells = ground.cells.tolist()
    found = [[(0, _loss_between(ground, cell, cells[node]))] for cell in cells]
    for time, moved, cell in ground.moves.tolist():
        cells[moved] = cell
        for sender in range(len(cells)) if moved == node else (moved,):
            found[sender].append((time, _loss_between(ground, cells[sender], cells[node])))
    return found


def _loss_between(ground: setup.Ground, source: int, target: int) -> float:
    """A full table has all pairs; a compressed row those in reach, ascending."""
    starts, towards, losses = ground.path_loss
    if not len(towards):
        return float(losses[starts[source] + target])
    row = towards[starts[source] : starts[source + 1]]
    place = int(np.searchsorted(row, target))
    return float(losses[starts[source] + place]) if place < len(row) and row[place] == target else math.inf


def measured_steps(ground: setup.Ground, node: NodeId) -> list[list[Step]]:
    """For each sender, steps of the share that its recorded link delivers."""
    nodes, (delivery, changes) = len(ground.cells), ground.measured
    found = [[(0, float(delivery[sender * nodes + node]))] for sender in range(nodes)]
    for time, way, share in zip(*(changes[name].tolist() for name in ("time", "way", "delivery")), strict=True):
        if way % nodes == node:
            found[way // nodes].append((time, share))
    return found
