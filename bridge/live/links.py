"""Links of live nodes: which frames a node accepts of all the datagrams that it receives.

On one machine every datagram arrives, and at once. So the receiving node looks up what would have become of the frame
on the air, and drops or delays it accordingly. Movement, tree and graph are known for the whole run before it starts,
as in a simulation, and every node works out for itself what they mean for the links that lead to it.

- `ideal`: the links of the ideal back-end, with their delays and their loss. A frame arrives if its link carries from
  the moment in which it was sent until that in which it arrives. Nobody learns of one that does not: the sender's
  socket has taken it, and there is no link layer that would miss an acknowledgement.
- `radio`: each link has the path loss that the embedded radio draws for the same seed, between the cells in which both
  nodes are at that moment. A frame arrives with the probability that none of its bits is wrong over noise alone. It
  takes its time on the air. There is no carrier sense and no interference: frames never collide, and a node can send
  while it hears. So what differs from a run on the embedded radio is what collisions and waiting for them do.
- `all`: who receives a datagram hears the frame, as on a real network.

For ideal links the changes of the graph are done one after the other, by the class that the ideal back-end does them
with, and what they mean for each sender is kept as spans of time, in which a frame's is found by bisection. For radio
links each sender has a row of steps: from when on which loss lies between the two cells. Both are made from the very
functions that the back-ends use, so that a seed means the same nodes at the same places.

What a link loses is drawn from a generator of the node's own, seeded from the run's seed. That does not make a live run
one that could be made again: how many frames come, and in which order, is decided by the machine.
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
"""What links can follow."""


class Links(Protocol):
    """The links that lead to one node."""

    def arrival(self, sender: NodeId, sent: SimTime, size: int) -> SimTime | None:
        """When a frame arrives that was sent at `sent` with a message of `size` bytes; None if it does not."""

    def refusal(self, size: int) -> str | None:
        """Why the node itself cannot send a message of this length; None if it can."""


def links_of(kind: str, scenario: Scenario, node: NodeId) -> Links:
    """The links that lead to the node; raises UserError for a scenario that these links cannot follow."""
    if kind == ALL:
        return AllLinks()
    return IdealLinksTo(scenario, node) if kind == IDEAL else RadioLinksTo(scenario, node)


class AllLinks:
    """The network's own links, about which nothing is known here."""

    def arrival(self, sender: NodeId, sent: SimTime, size: int) -> SimTime | None:  # noqa: ARG002  # the interface
        """The datagram is handled as soon as it arrives: `sent` itself."""
        return sent

    def refusal(self, size: int) -> None:
        """Nothing is too long that fits in a datagram."""


class IdealLinksTo:
    """Ideal links to one node, each with the spans of time in which it carries.

    Crashes are none of their business: the links of a node whose process is dead lead to nobody, and that is so without
    their doing anything.
    """

    def __init__(self, scenario: Scenario, node: NodeId) -> None:
        """Works out all spans of the run; raises UserError for measured links."""
        if scenario.measured is not None:
            raise UserError("ideal links cannot play measured links: leave SN.links.file out, or give --links radio")
        ideal = scenario.ideal
        self._random = Random(f"live links/{scenario.seed}/{node}")
        self._loss, self._delay = ideal.loss, ideal.delay
        self._losses = {one.sender: one.share for one in ideal.losses if one.receiver == node}
        self._delays = {one.b if one.a == node else one.a: one.delay for one in ideal.delays if node in (one.a, one.b)}
        self._spans = spans_to(node, scenario)

    def arrival(self, sender: NodeId, sent: SimTime, size: int) -> SimTime | None:  # noqa: ARG002  # the interface
        """After the delay of the link, if that carries until then."""
        arrives = sent + self._delays.get(sender, self._delay)
        spans = self._spans[sender]
        place = bisect_right(spans, (sent, math.inf)) - 1
        if place < 0 or arrives >= spans[place][1] or self._random.random() < self._losses.get(sender, self._loss):
            return None
        return arrives

    def refusal(self, size: int) -> None:
        """No frame is too long."""


def spans_to(node: NodeId, scenario: Scenario) -> list[list[Span]]:
    """For each sender the times, from the first until before the second, in which its link to `node` carries."""
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
    """How the node's own links of the unit disk come and go: of the others it need not know."""
    paths = paths_of(scenario)
    reaches = [reach_m(scenario, settings) for settings in scenario.nodes]
    changes: list[LinkChange] = []
    for other in range(len(paths)):
        if other != node:
            pair = disk_changes([paths[node], paths[other]], [reaches[node], reaches[other]], scenario.time_limit)
            changes += (LinkChange(one.at, node, other, one.up) for one in pair)
    return changes


def _concerned(change: LinkChange | Partition, node: NodeId, nodes: int) -> Iterable[NodeId]:
    """The senders whose links to `node` a change can have changed."""
    if isinstance(change, Partition):
        return range(nodes)
    return {change.a, change.b} - {node} if node in (change.a, change.b) else ()


class RadioLinksTo:
    """Links to one node with the quality that the embedded radio finds for them, step by step in time.

    Of a recorded testbed (`SN.links.file`) it is the share that each link delivered, step by step likewise.
    """

    def __init__(self, scenario: Scenario, node: NodeId) -> None:
        """Draws the path loss of the run's seed; raises UserError for what the embedded radio does not model either."""
        setup.check(scenario)
        if scenario.temporal is not None:
            raise UserError("live runs have no links that vary in time: leave SN.wirelessChannel.temporalModel... out")
        radio = scenario.radio
        self._scenario = scenario
        self._random = Random(f"live links/{scenario.seed}/{node}")
        self._bandwidth_db = 10 * math.log10(radio.noise_bandwidth_hz / radio.data_rate_bps)
        ground = setup.ground(scenario, paths_of(scenario), setup.seeds_of(scenario.seed))
        self._is_measured = ground.measured is not MODELLED
        steps = measured_steps(ground, node) if self._is_measured else loss_steps(ground, node)
        self._steps = [tuple(zip(*one, strict=True)) for one in steps]
        self._chances: dict[tuple[float, int], float] = {}

    def arrival(self, sender: NodeId, sent: SimTime, size: int) -> SimTime | None:
        """When its last bit has come up to the node, if none is wrong."""
        times, values = self._steps[sender]
        value = values[bisect_right(times, sent) - 1]
        chance = value if self._is_measured else self._chance(sender, value, size)
        if self._random.random() >= chance:
            return None
        return sent + setup.airtime(self._scenario, size) + PROCESSING_DELAY

    def refusal(self, size: int) -> str | None:
        """The limits of MAC and radio hold here, too."""
        reason = setup.refusal(self._scenario, size)
        return None if reason == TAKEN else REASONS[reason]

    def _chance(self, sender: NodeId, loss_db: float, size: int) -> float:
        """The probability that no bit of a frame is wrong, which is worked out once for each power and size."""
        radio, power = self._scenario.radio, self._scenario.nodes[sender].tx_power_dbm - loss_db
        if power < max(radio.sensitivity_dbm, self._scenario.channel.signal_delivery_threshold_dbm):
            return 0.0
        if (power, size) not in self._chances:
            snr = min(power - radio.noise_floor_dbm + self._bandwidth_db, HIGHEST_DB)
            bits = 8 * setup.frame_bytes(self._scenario, size)
            self._chances[power, size] = float((1 - bit_error_rate(np.array(snr))) ** bits)
        return self._chances[power, size]


Step = tuple[SimTime, float]
"""From this time on a link has this value."""


def loss_steps(ground: setup.Ground, node: NodeId) -> list[list[Step]]:
    """For each sender, from when on which loss (dB) lies between its cell and that of `node`."""
    cells = ground.cells.tolist()
    found = [[(0, _loss_between(ground, cell, cells[node]))] for cell in cells]
    for time, moved, cell in ground.moves.tolist():
        cells[moved] = cell
        for sender in range(len(cells)) if moved == node else (moved,):
            found[sender].append((time, _loss_between(ground, cells[sender], cells[node])))
    return found


def _loss_between(ground: setup.Ground, source: int, target: int) -> float:
    """In a whole table every pair of places has an entry; a row of a compressed one has those in reach, ascending."""
    starts, towards, losses = ground.path_loss
    if not len(towards):
        return float(losses[starts[source] + target])
    row = towards[starts[source] : starts[source + 1]]
    place = int(np.searchsorted(row, target))
    return float(losses[starts[source] + place]) if place < len(row) and row[place] == target else math.inf


def measured_steps(ground: setup.Ground, node: NodeId) -> list[list[Step]]:
    """For each sender, from when on the recorded link to `node` delivers which share."""
    nodes, (delivery, changes) = len(ground.cells), ground.measured
    found = [[(0, float(delivery[sender * nodes + node]))] for sender in range(nodes)]
    for time, way, share in zip(*(changes[name].tolist() for name in ("time", "way", "delivery")), strict=True):
        if way % nodes == node:
            found[way // nodes].append((time, share))
    return found
