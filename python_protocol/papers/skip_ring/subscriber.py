"""A subscriber's part of BuildSR, for one topic (the skip ring's paper, sections 3.2 and 4.1).

A subscriber gets its label by the four actions of section 3.2.1, which ask the supervisor for a configuration: (i) if
it has no label, (ii) at random, the more seldom the longer its label is, (iii) for a former neighbour that is nearer
than those of a configuration, (iv) at random if it has no left neighbour. It makes the ring by the extended BuildRing
(`build_ring`), and the shortcuts out of the ring (`shortcuts`).

The text leaves some things open:

- *Who has asked for itself is recorded.* To the letter, action (iii) records the neighbour that is asked for. If that
  has just left, it is recorded, introduced to others, and asked for again by them: with delays longer than a round for
  ever. By `ask_first` the supervisor asks it first, and it answers by asking for itself.
- *A left neighbour that is silent* counts as none for action (iv), by `doubt_silence` (`silence`).
- *Probabilities*, which it lost: (ii) has 1 / (2^k k^2) for a label of k bits, (iv) has 1/2. There are two labels of
  one bit, so that (ii) alone comes to 1.3 requests a round among many, though the lemma of section 3.2.1 says below 1;
  `sparse_requests` takes k + 1 for k.
- *A configuration replaces the neighbours.* A former neighbour that is nearer than the new one, or has its label, is
  what action (iii) asks the supervisor for; one that is farther is placed by BuildRing. So nobody is lost, and a node
  that has crashed does not stay.
- *A reference that comes to a node without a label* goes to the supervisor, by a request for its configuration; the
  node itself answers by RemoveConnections (`refusal`).

What a node answers to messages about a ring in which it has no place (the skip ring's paper, section 4.1).

The lemma on unsubscribe says that whoever has a connection to such a node is to delete it, and so it is told. Two more
things are ours: a reference that was handed over is not lost, because it goes to the supervisor; and a supervisor that
sends a configuration has the node recorded, and is asked to remove it.

BuildRing alone, without a supervisor, for tests and experiments (the skip ring's paper, section 2.2).

The lemma says that the extended BuildRing is self-stabilising by itself. Here each node has its label for good, and
does nothing else; the parameter `start` says what the nodes store at first, which can be anything.

How long the left neighbour of a subscriber has been silent (the skip ring's paper, sections 3.2.1 and 3.3).

Action (iv) has whoever takes itself for the first of its list ask the supervisor. If the left neighbour has crashed,
the subscriber behind it is the first, and does not know. If it is not recorded either, and has a long label, it asks
by none of the four actions, whatever the supervisor's failure detector says: nobody tells the supervisor of it. But
each neighbour introduces itself once a round. So who hears nothing from its left neighbour for some rounds counts as
the first. That it can be mistaken does no harm: it asks for a configuration that it has already.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from roambus.python_protocol.agent import Agent, Listing, Process, on, on_timer
from roambus.python_protocol.events import Started, TimerKey
from roambus.python_protocol.messages.fields import NOBODY
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.papers.skip_ring.labels import (
    CIRCLE,
    Label,
    Reference,
    describe_reference,
    is_label,
    position,
)
from roambus.python_protocol.papers.skip_ring.messages import (
    CheckAndPublish,
    CheckTrie,
    GetConfiguration,
    Introduce,
    IntroduceShortcut,
    Linearize,
    Publish,
    PublishNew,
    RemoveConnections,
    SetData,
    SkipRingParameters,
    Subscribe,
    Topic,
    TopicMessage,
    Unsubscribe,
)
from roambus.python_protocol.papers.skip_ring.ring import BuildRing, Shortcuts
from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime


class Outsider(Process):
    """A node outside the ring; it does not answer a RemoveConnections, which concerns those inside only."""

    def __init__(self, node: NodeId, supervisor: NodeId, of: Process | None = None) -> None:
        super().__init__(of)
        self.node = node
        self.supervisor = supervisor

    @on(SetData)
    def configured(self, message: SetData, sender: NodeId, now: SimTime) -> None:
        """Asks the supervisor to remove it, unless the message is the permission to go."""
        if message.label is not None:
            self.send(self.supervisor, Unsubscribe(message.topic, self.node))

    @on(Introduce)
    def introduced(self, message: Introduce, sender: NodeId, now: SimTime) -> None:
        """Has the node that introduced itself delete its connection."""
        self._disconnect(message.reference.node, message)

    @on(Linearize)
    def delegated(self, message: Linearize, sender: NodeId, now: SimTime) -> None:
        """Has the sender delete its connection, and the supervisor configure the node that was delegated."""
        self._disconnect(sender, message)
        self.send(self.supervisor, GetConfiguration(message.topic, message.reference.node))

    @on(IntroduceShortcut, CheckTrie, CheckAndPublish, Publish, PublishNew)
    def addressed(self, message: TopicMessage, sender: NodeId, now: SimTime) -> None:
        """Has the sender delete its connection."""
        self._disconnect(sender, message)

    def _disconnect(self, node: NodeId, message: TopicMessage) -> None:
        self.send(node, RemoveConnections(message.topic, self.node))


TOPIC = 1
_TIMEOUT = "timeout"
_PLACES = 3


class Stored(NamedTuple):
    """What a node stores at first: its own label, and the nodes in its three places, whose labels it knows."""

    label: Label
    left: NodeId | None
    right: NodeId | None
    ring: NodeId | None


class AloneParameters(SkipRingParameters):
    """Where the nodes begin."""

    start: str = parameter(
        "0:-,1,1+1:0,-,0",
        source="the scenario's",
        doc="of each node label:left,right,ring, + between them; the last three are numbers of nodes, or -",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_start(self.start)


class BuildRingAlone(Agent):
    """A node that is to come to its place in the sorted ring of all."""

    parameters: AloneParameters

    def __init__(self, node: NodeId, roles: Role, parameters: AloneParameters, random: Random) -> None:
        """Raises ValueError if the start does not say anything of this node."""
        super().__init__(node, roles, parameters, random)
        stored = parse_start(parameters.start)
        if node >= len(stored):
            raise ValueError(f"parameter start: it has {len(stored)} nodes, and none with the number {node}")
        self.own = Reference(node, stored[node].label)
        self.ring = BuildRing(
            node, TOPIC, check_labels=parameters.check_labels, probe_ends=parameters.probe_ends, of=self
        )
        self.ring.label = self.own.label
        self.ring.left, self.ring.right, self.ring.ring = (
            None if other is None else Reference(other, stored[other].label) for other in stored[node][1:]
        )

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        """Begins the rounds, at a time of its own."""
        self.set_timer(_TIMEOUT, self.random.randrange(self.parameters.round))

    @on_timer(_TIMEOUT)
    def timeout(self, key: TimerKey, now: SimTime) -> None:
        """Carries out Timeout; the next is a round away."""
        self.set_timer(_TIMEOUT, self.parameters.round)
        self.ring.timeout(self.own)

    @on(Introduce)
    def introduced(self, message: Introduce, sender: NodeId, now: SimTime) -> None:
        """Gives the ring a node that has introduced itself."""
        self.ring.introduced(self.own, message)

    @on(Linearize)
    def delegated(self, message: Linearize, sender: NodeId, now: SimTime) -> None:
        """Gives the ring a node that another has delegated."""
        self.ring.delegated(self.own, message)

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """Label and edges."""
        edges = (describe_reference(one, names) for one in (self.ring.left, self.ring.right, self.ring.ring))
        return {"ring": Listing(("Label", "Left", "Right", "Ring"), ((self.own.label, *edges),))}


def parse_start(text: str) -> list[Stored]:
    """What each node stores; raises ValueError that names what cannot be read."""
    stored = [_parse(entry) for entry in text.split("+")]
    for entry, one in zip(text.split("+"), stored, strict=True):
        for other in one[1:]:
            if other is not None and other >= len(stored):
                raise ValueError(f"parameter start: {entry!r} names node {other}, and there are {len(stored)}")
    if len({one.label for one in stored}) < len(stored):
        raise ValueError(f"parameter start: {text!r} has one label twice")
    return stored


def _parse(entry: str) -> Stored:
    label, _, others = entry.partition(":")
    places = others.split(",")
    if not is_label(label) or len(places) != _PLACES or not all(one == NOBODY or one.isdecimal() for one in places):
        raise ValueError(f"parameter start: {entry!r} is not of the form label:left,right,ring, such as 01:0,-,2")
    return Stored(label, *(None if one == NOBODY else int(one) for one in places))


PATIENCE = 3
"""Rounds in which a neighbour that is there introduces itself at least once, if messages take about the same time."""


class Silence:
    """The rounds since the left neighbour was last heard, or since there is another one."""

    def __init__(self) -> None:
        self.neighbour: NodeId | None = None
        self.rounds = 0

    def count(self, neighbour: NodeId | None) -> None:
        """Counts a round, at the end of which this is the left neighbour."""
        self.rounds = self.rounds + 1 if neighbour == self.neighbour else 0
        self.neighbour = neighbour

    def hear(self, node: NodeId) -> None:
        """A node has introduced itself."""
        if node == self.neighbour:
            self.rounds = 0

    @property
    def is_long(self) -> bool:
        """Whether the left neighbour may have crashed."""
        return self.neighbour is not None and self.rounds > PATIENCE


MINIMAL = 0.5
"""The probability of action (iv)."""


class Subscriber(Process):
    """v, or rather its part in the ring of one topic."""

    def __init__(
        self,
        node: NodeId,
        topic: Topic,
        parameters: SkipRingParameters,
        random: Random,
        of: Process | None = None,
    ) -> None:
        super().__init__(of)
        self.ring = BuildRing(
            node, topic, check_labels=parameters.check_labels, probe_ends=parameters.probe_ends, of=self
        )
        self.shortcuts = Shortcuts(self.ring, of=self)
        self.is_leaving = False
        self._silence = Silence()
        self._outsider = Outsider(node, parameters.supervisor, of=self)
        self._parameters = parameters
        self._random = random

    @property
    def own(self) -> Reference | None:
        """The node with its label, if it has one."""
        return None if self.ring.label is None else Reference(self.ring.node, self.ring.label)

    def ring_neighbours(self) -> list[NodeId]:
        """Both direct ring neighbours; if there is only one, it is there twice."""
        direct = (self.ring.predecessor, self.ring.successor)
        return [one.node for one in direct if one is not None]

    def clear(self) -> None:
        """Deletes all connections."""
        self.ring.clear()
        self.shortcuts.nodes.clear()

    # Requests

    def join(self) -> None:
        """Asks to be integrated (section 4.1; action (i))."""
        self.is_leaving = False
        self._ask(Subscribe(self.ring.topic, self.ring.node))

    def leave(self) -> None:
        """Asks to be removed, and stays in the ring until that is permitted."""
        self.is_leaving = True
        self._ask(Unsubscribe(self.ring.topic, self.ring.node))

    def confirm(self) -> None:
        """Asks for its configuration, because the supervisor, which another has asked for it, wants to know."""
        if not self.is_leaving:
            self._request(self.ring.node)

    def timeout(self) -> None:
        """Carries out Timeout: actions (i), (ii) and (iv), and the rounds of ring and shortcuts."""
        own = self.own
        if self.is_leaving:
            self.leave()
        elif own is None:
            self.join()
        else:
            self.ring.timeout(own)
            self._silence.count(None if self.ring.left is None else self.ring.left.node)
            self.shortcuts.timeout(own)
            self._request_at_random(own)

    # Messages

    def configure(self, message: SetData) -> None:
        """Takes label and direct neighbours from a configuration; a former neighbour is replaced, and not forgotten."""
        if message.label is None:
            self.clear()
            return
        own = Reference(self.ring.node, message.label)
        old = [one for one in self.ring.neighbours() if one.node != own.node]
        self.ring.clear()
        self.ring.label = message.label
        self._adopt(own, message)
        adopted = {one.node for one in self.ring.neighbours()}
        for one in dict.fromkeys(old):
            if one.node not in adopted:
                self._replace(own, one)

    @on(Introduce)
    def introduced(self, message: Introduce, sender: NodeId, now: SimTime) -> None:
        """Gives the ring a node that has introduced itself (section 2.2)."""
        self._silence.hear(message.reference.node)
        own = self.own
        if own is None:
            self._outsider.hear(message, sender, now)
        else:
            self.ring.introduced(own, message)

    @on(Linearize)
    def delegated(self, message: Linearize, sender: NodeId, now: SimTime) -> None:
        """Gives the ring a node that another has delegated (section 2.2)."""
        own = self.own
        if own is None:
            self._outsider.hear(message, sender, now)
        else:
            self.ring.delegated(own, message)

    @on(IntroduceShortcut)
    def shortcut_introduced(self, message: IntroduceShortcut, sender: NodeId, now: SimTime) -> None:
        """Gives the shortcuts a node (section 3.2.2)."""
        own = self.own
        if own is None:
            self._outsider.hear(message, sender, now)
        else:
            self.shortcuts.introduced(own, message.reference)

    @on(RemoveConnections)
    def remove_connections(self, message: RemoveConnections, sender: NodeId, now: SimTime) -> None:
        """Forgets a node that is not in the ring (section 4.1, lemma on unsubscribe)."""
        self.ring.remove(message.subscriber)
        self.shortcuts.remove(message.subscriber)

    # Helpers

    def _adopt(self, own: Reference, message: SetData) -> None:
        """Stores the neighbours of a configuration; one that is on the wrong side is the other end of the list."""
        for one, is_predecessor in ((message.predecessor, True), (message.successor, False)):
            if one is None or one.node == own.node:
                continue
            if (one.key < own.key) != is_predecessor:
                self.ring.ring = one
            elif is_predecessor:
                self.ring.left = one
            else:
                self.ring.right = one

    def _replace(self, own: Reference, old: Reference) -> None:
        """Action (iii) for a former neighbour that is nearer than those of the configuration, BuildRing for others."""
        before, after = self.ring.predecessor, self.ring.successor
        if before is None or after is None or _is_between(before, old, after):
            self._request(old.node)
        else:
            self.ring.place(own, old)

    def _request_at_random(self, own: Reference) -> None:
        """Actions (ii) and (iv)."""
        if self._random.random() < request_probability(own.label, sparse=self._parameters.sparse_requests):
            self._request(own.node)
        if self._may_be_first() and self._random.random() < MINIMAL:
            self._request(own.node)

    def _may_be_first(self) -> bool:
        """Whether there is no left neighbour, or, by `doubt_silence`, none that is heard."""
        return self.ring.left is None or (self._parameters.doubt_silence and self._silence.is_long)

    def _request(self, subscriber: NodeId) -> None:
        self._ask(GetConfiguration(self.ring.topic, subscriber))

    def _ask(self, message: Subscribe | Unsubscribe | GetConfiguration) -> None:
        self.send(self._parameters.supervisor, message)


def request_probability(label: Label, *, sparse: bool) -> float:
    """The probability of action (ii)."""
    bits = len(label) + sparse
    return 1 / ((1 << bits) * bits**2)


def _is_between(start: Reference, middle: Reference, end: Reference) -> bool:
    """On the way from `start` to `end`, both included, which is all the way round if they are the same."""
    way, whole = ((position(one.label) - position(start.label)) % CIRCLE for one in (middle, end))
    return way <= (whole or CIRCLE)
