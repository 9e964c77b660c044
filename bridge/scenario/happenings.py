"""What a scenario lets happen to links, places in a given tree, and nodes; times are SimTime."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class ParentChange:
    """From `at` on, the parent of `node` in the given tree is `parent`; None means that it has none.

    The parent of a broker or of a client is a broker.
    """

    at: SimTime
    node: NodeId
    parent: NodeId | None


class FaultKind(Enum):
    """What can be done to a node; its agent is told by `Crashed`, `Stopped` or `Recovered`."""

    CRASH = "crash"
    FREEZE = "freeze"
    RECOVER = "recover"


@dataclass(frozen=True, slots=True)
class Fault:
    """At `at`, `node` crashes, freezes or recovers."""

    at: SimTime
    node: NodeId
    kind: FaultKind


@dataclass(frozen=True, slots=True)
class LinkChange:
    """At `at`, the ideal link between `a` and `b` comes up or goes down: then what is under way on it is lost."""

    at: SimTime
    a: NodeId
    b: NodeId
    up: bool


@dataclass(frozen=True, slots=True)
class Partition:
    """From `at` on, no link carries between nodes of different groups; without groups, all are merged again.

    Nodes that no group names are a group of their own.
    """

    at: SimTime
    groups: tuple[frozenset[NodeId], ...] = ()


@dataclass(frozen=True, slots=True)
class LinkDelay:
    """The ideal link between `a` and `b` has a delay of its own, whenever it is up."""

    a: NodeId
    b: NodeId
    delay: SimTime
