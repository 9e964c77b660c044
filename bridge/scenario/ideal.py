"""The links of the ideal back-end; other back-ends have a channel, and Castalia never asks for these keys."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge.keys import (
    TIME,
    TRUTH,
    key,
    keys_of,
    quoted,
)
from roambus.bridge.scenario import plans
from roambus.bridge.scenario.happenings import LinkChange, LinkDelay, Partition
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import NUMBER, Range, Setting
from roambus.python_protocol.simtime import SimTime

_IDEAL = "SN.ideal."

COMPLETE = Setting(_IDEAL + "complete", TRUTH, "false", "every pair of nodes is linked, as over the Internet")


@dataclass(frozen=True, slots=True)
class IdealLinks:
    """The links of the ideal back-end, which other back-ends ignore.

    A scenario with a tree has the edges of the tree as its links. One with sites has the links of the sites, and what
    `changes` makes of them. Otherwise `links` and `changes` say what the links are. If there are none of these either,
    every pair of nodes is linked that is within `range_m` of each other, wherever the mobility takes them.
    """

    delay: SimTime = key(
        _IDEAL + "delay",
        TIME,
        "1ms",
        "from sender to receiver, on links that have no other delay",
        within=Range(above=0),
    )
    delays: tuple[LinkDelay, ...] = key(
        _IDEAL + "delays", quoted("delays", plans.link_delays), '""', 'delays of single links: "0-1 1-2 5ms, 2-3 20ms"'
    )
    links: tuple[tuple[NodeId, NodeId], ...] = key(
        _IDEAL + "links", quoted("links", plans.links), '""', 'the links of a given graph, such as "0-1 1-2"'
    )
    changes: tuple[LinkChange, ...] = key(
        _IDEAL + "changes",
        quoted("plan of links", plans.link_changes),
        '""',
        'changes of a given graph, such as "12s 0-1 1-2 down, 15s 0-1 up"',
    )
    partitions: tuple[Partition, ...] = key(
        _IDEAL + "partitions",
        quoted("plan of partitions", plans.partitions),
        '""',
        'groups without links between them, such as "12s 0..2 | 3 4, 20s merge"; a given tree can have none',
    )
    range_m: float = key(
        _IDEAL + "range",
        NUMBER,
        "0",
        "nodes within it are linked; 0 means the distance at which the mean path loss leaves the radio's sensitivity",
        "m",
        Range(0, 1e6),
    )


KEYS = (*keys_of(IdealLinks), COMPLETE)
