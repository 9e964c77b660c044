"""BuildRing alone, without a supervisor, for tests and experiments (the skip ring's paper, section 2.2).

The lemma says that the extended BuildRing is self-stabilising by itself. Here each node has its label for good, and
does nothing else; the parameter `start` says what the nodes store at first, which can be anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Started, TimerKey
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.names import NOBODY, Names
from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.process import on, on_timer
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.skip_ring.build_ring import BuildRing
from roambus.python_protocol.skip_ring.labels import Label, is_label
from roambus.python_protocol.skip_ring.messages import Introduce, Linearize
from roambus.python_protocol.skip_ring.parameters import SkipRingParameters
from roambus.python_protocol.skip_ring.references import Reference, describe_reference

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
