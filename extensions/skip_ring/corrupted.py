"""The skip ring from corrupted states, and as section 2.1 defines it, for tests and experiments.

`CorruptedSkipRing` starts with random variables and false messages (`KINDS`), but only of existing nodes and
publications (section 1.1). Four of five labels are in use or near: uniform ones would nearly all be unused. Nodes have
their own generators, so a seed keeps its meaning. `skip_ring` shares no code with the protocol. K_i are the nodes with
labels of at most i bits; edges over the greatest are ring edges, others shortcuts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from random import Random

from roambus.extensions.skip_ring.agent import SkipRing
from roambus.extensions.skip_ring.labels import Label, Reference, label_of
from roambus.extensions.skip_ring.messages import (
    HASH_BYTES,
    CheckAndPublish,
    CheckTrie,
    GetConfiguration,
    Introduce,
    IntroduceShortcut,
    Linearize,
    RemoveConnections,
    SetData,
    SkipRingParameters,
    Subscribe,
    Summary,
    TopicMessage,
    Unsubscribe,
)
from roambus.python_protocol.agent import on
from roambus.python_protocol.events import Started
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.settings import parameter, unknown
from roambus.python_protocol.simtime import SimTime

ISLANDS = 4
"""The number of rings in such states."""
MESSAGES = 5
"""Each node's mean number of false messages."""
EARLIER = 1 << 31
"""The first number of corrupted publications."""


class CorruptedParameters(SkipRingParameters):
    """The kinds of corruption, and the number of nodes."""

    corruption: str = parameter(
        "labels+neighbours+shortcuts+database+messages",
        source="the skip ring's paper, sections 1.1 and 3.1",
        doc="kinds of corruption, + between them: also islands, tries; none for no corruption",
    )
    nodes: int = parameter(
        2, source="the scenario's", at_least=2, at_most=BROADCAST - 1, doc="all nodes, the supervisor included"
    )
    topic: int = parameter(
        1, source="the scenario's", at_least=0, at_most=(1 << 63) - 1, doc="the topic whose ring is corrupted"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for kind in self.kinds:
            if kind not in KINDS:
                raise ValueError(f"parameter corruption: {unknown('kind', kind, KINDS)}, or none")

    @property
    def kinds(self) -> list[str]:
        """The kinds of corruption by their names."""
        return [] if self.corruption == "none" else self.corruption.split("+")


class CorruptedSkipRing(SkipRing):
    """The agent from a corrupted state."""

    parameters: CorruptedParameters

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        """Begin the rounds with this node corrupted."""
        super().start(event, now)
        draw = Draw(self.parameters, self.random)
        if Role.SUBSCRIBER in self.roles and self.parameters.kinds:
            self.member(draw.topic)
        for kind in self.parameters.kinds:
            KINDS[kind](self, draw)


class Draw:
    """Random variables and messages, in a fixed order."""

    def __init__(self, parameters: CorruptedParameters, random: Random) -> None:
        self.topic = parameters.topic
        self.random = random
        self._supervisor = parameters.supervisor
        self._nodes = parameters.nodes

    def subscribers(self) -> list[NodeId]:
        """All nodes but the supervisor."""
        return [node for node in range(self._nodes) if node != self._supervisor]

    def node(self) -> NodeId:
        """Any node but the supervisor."""
        return self.random.choice(self.subscribers())

    def label(self) -> Label:
        """A label, mostly in use or near."""
        return label_of(self.random.randrange(2 * self._nodes if self.random.random() < 0.8 else 1 << 20))

    def reference(self) -> Reference:
        """A reference to a node, with any label."""
        return Reference(self.node(), self.label())

    def maybe(self) -> Reference | None:
        """A reference, or none."""
        return self.reference() if self.random.random() < 0.8 else None

    def message(self) -> TopicMessage:
        """A subscriber's message, with any content (section 1.1)."""
        summary = Summary(self.label(), self.random.randbytes(HASH_BYTES))
        return self.random.choice(
            (
                SetData(self.topic, predecessor=self.maybe(), label=self.label(), successor=self.maybe()),
                SetData(self.topic, label=None, predecessor=None, successor=None),
                Introduce(self.topic, self.reference(), assumed=self.label(), cyclic=self.random.random() < 0.5),
                Linearize(self.topic, self.reference(), cyclic=self.random.random() < 0.5, check=None),
                IntroduceShortcut(self.topic, self.reference()),
                RemoveConnections(self.topic, self.node()),
                CheckTrie(self.topic, (summary,)),
                CheckAndPublish(self.topic, (summary,), self.label()),
            )
        )

    def request(self) -> TopicMessage:
        """A supervisor's message, about any node."""
        return self.random.choice((Subscribe, Unsubscribe, GetConfiguration))(self.topic, self.node())


def _corrupt_labels(agent: CorruptedSkipRing, draw: Draw) -> None:
    """Draw a label, perhaps another node's; one node of five has none."""
    for member in agent.members.values():
        member.ring.label = draw.label() if draw.random.random() < 0.8 else None


def _corrupt_neighbours(agent: CorruptedSkipRing, draw: Draw) -> None:
    """Draw BuildRing's three neighbours, on any side."""
    for ring in (member.ring for member in agent.members.values()):
        ring.left, ring.right, ring.ring = draw.maybe(), draw.maybe(), draw.maybe()


def _corrupt_shortcuts(agent: CorruptedSkipRing, draw: Draw) -> None:
    """Draw up to five shortcuts, with any labels."""
    for member in agent.members.values():
        member.shortcuts.nodes = {draw.label(): draw.node() for _ in range(draw.random.randrange(6))}


def _corrupt_database(agent: CorruptedSkipRing, draw: Draw) -> None:
    """Make all four faults of section 3.1."""
    if agent.supervisor is None:
        return
    database = agent.supervisor.database(draw.topic)
    for _ in range(draw.random.randrange(2 * len(draw.subscribers()))):
        database.entries[draw.label()] = draw.node() if draw.random.random() < 0.8 else None


def _corrupt_messages(agent: CorruptedSkipRing, draw: Draw) -> None:
    """Send false messages to subscribers and supervisor."""
    for _ in range(draw.random.randrange(2 * MESSAGES)):
        agent.send(draw.node(), draw.message())
    if draw.random.random() < 0.5:
        agent.send(agent.parameters.supervisor, draw.request())


def _make_islands(agent: CorruptedSkipRing, draw: Draw) -> None:
    """Make rings that only actions (ii) and (iv) can join."""
    island = [node for node in draw.subscribers() if node % ISLANDS == agent.node % ISLANDS]
    labelled = sorted(
        (Reference(node, label_of(x)) for x, node in enumerate(island)), key=lambda reference: reference.key
    )
    for member in agent.members.values():
        place = [reference.node for reference in labelled].index(agent.node)
        first, last = labelled[0], labelled[-1]
        ring = member.ring
        ring.label = labelled[place].label
        ring.left = labelled[place - 1] if place > 0 else None
        ring.right = labelled[place + 1] if place + 1 < len(labelled) else None
        ring.ring = {first: last, last: first}.get(labelled[place]) if first != last else None


def _fill_tries(agent: CorruptedSkipRing, draw: Draw) -> None:
    """Give each subscriber its own publications (section 4.2)."""
    for member in agent.members.values():
        for number in range(draw.random.randrange(3)):
            identifier = NotificationId(agent.node, EARLIER + number)
            member.publications.trie.insert(Notification(identifier, (("topic", draw.topic),)))


Corrupt = Callable[[CorruptedSkipRing, Draw], None]
KINDS: dict[str, Corrupt] = {
    "labels": _corrupt_labels,
    "neighbours": _corrupt_neighbours,
    "shortcuts": _corrupt_shortcuts,
    "database": _corrupt_database,
    "messages": _corrupt_messages,
    "islands": _make_islands,
    "tries": _fill_tries,
}


@dataclass(frozen=True, slots=True)
class Place:
    """The labels that a node must know; only the list's ends have a `ring`."""

    left: str | None
    right: str | None
    ring: str | None
    shortcuts: frozenset[str]


def skip_ring(nodes: int) -> dict[str, Place]:
    """Return the places of all labels of SR(n), by its definition."""
    labels = [_label(number) for number in range(nodes)]
    whole = _edges(labels)
    shortcuts: dict[str, set[str]] = {label: set() for label in labels}
    for bits in range(1, max(map(len, labels), default=0)):
        for label, neighbours in _edges([shorter for shorter in labels if len(shorter) <= bits]).items():
            shortcuts[label] |= neighbours - whole[label]
    ordered = sorted(labels, key=_value)
    return {label: _place(ordered, index, shortcuts[label]) for index, label in enumerate(ordered)}


def _label(number: int) -> str:
    """l(x): x with the leading bit at the units place (section 2.1)."""
    binary = bin(number)[2:]
    return binary[1:] + binary[:1]


@lru_cache(1 << 16)
def _value(label: str) -> Fraction:
    """r(b1 ... bd) = sum of bi / 2^i."""
    return sum((Fraction(int(bit), 2**place) for place, bit in enumerate(label, start=1)), Fraction())


def _edges(labels: list[str]) -> dict[str, set[str]]:
    """Return each label's neighbours in the sorted ring."""
    circle = sorted(labels, key=_value)
    return {label: {circle[i - 1], circle[(i + 1) % len(circle)]} - {label} for i, label in enumerate(circle)}


def _place(ordered: list[str], index: int, shortcuts: set[str]) -> Place:
    """Make a place; the ends, unless one, have each other as `ring`."""
    last = len(ordered) - 1
    return Place(
        left=ordered[index - 1] if index > 0 else None,
        right=ordered[index + 1] if index < last else None,
        ring={0: ordered[last], last: ordered[0]}.get(index) if last else None,
        shortcuts=frozenset(shortcuts),
    )
