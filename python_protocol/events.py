"""The events of an agent: from the radio, its timers, the scenario and the application.

There is a class for each kind of event. Nearly all are frozen; the two of which a run makes millions are not, because a
frozen object takes four times as long to make, and each is made for one agent alone.

A scenario can give more than single events say: the tree of brokers (`Rewired`), and sites (`Sited`), which are groups
of three brokers with their clients, in a tree (the paper on replicated brokers, section 2). Sites are written as in
`a: 0 1 2 | 6, b < a: 3 4 5 | 7`: the site b is below the site a and has the brokers 3, 4 and 5, and the client 7.
Whoever makes a `Sites` gets an error that names the site or the node if these are no tree of sites.

What an agent is told, it is told at an instant, and before the next event it has reacted. Events of one instant come in
the order in which the host has arranged them, which is the same in each run. Nothing tells an agent that a frame has
arrived elsewhere, where a node is, or who is in range: as on a real radio it can only ask.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.settings import unknown
from roambus.python_protocol.vocabulary import NodeId

TimerKey = Hashable
"""What names one of an agent's timers: a string, a tuple such as ("retransmit", 7), or an object of a class of keys."""


@dataclass(frozen=True, slots=True)
class Started:
    """The node has booted; this is the first event of every agent."""


@dataclass(slots=True)  # not frozen, so that it is made quickly
class Received:
    """A frame addressed to this node, or to all, has arrived from a neighbour."""

    sender: NodeId
    message: Message
    rssi_dbm: float
    lqi_db: float


@dataclass(slots=True)  # not frozen, so that it is made quickly
class TimerFired:
    """A timer that this agent set has run out; it is no longer set."""

    key: TimerKey


NO_LINK = "no link"
"""Why a frame over ideal links failed: there is no link to its destination, or it broke with the frame under way."""


@dataclass(frozen=True, slots=True)
class SendFailed:
    """A frame of this node was not sent, because the MAC's buffer was full or an ideal link is not there."""

    destination: NodeId
    message: Message
    reason: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The node is frozen: until it recovers it neither receives nor sends, but it keeps its state.

    Timers and commands that fall due meanwhile come right after `Recovered`.
    """


@dataclass(frozen=True, slots=True)
class Crashed:
    """The node has failed: its timers are cancelled, and what it does not keep in stable storage is lost."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """The node is back after having been stopped or crashed."""


@dataclass(frozen=True, slots=True)
class Rewired:
    """The scenario gives the tree of brokers, and tells the node its parent and children from now on.

    `brokers` are those of the `children` that are brokers. Agents that make their own tree ignore the event.
    """

    parent: NodeId | None
    children: tuple[NodeId, ...]
    brokers: frozenset[NodeId]


@dataclass(frozen=True, slots=True)
class Sited:
    """The scenario gives sites; each node is told once, after `Started`, and keeps them through a crash."""

    sites: Sites


@dataclass(frozen=True, slots=True)
class Subscribe:
    """The application wants every notification that matches the filter."""

    filter: Filter


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """The application no longer wants what the filter matches."""

    filter: Filter


@dataclass(frozen=True, slots=True)
class Publish:
    """The application publishes.

    `subscribers` are the nodes whose filters match, as the scenario knows them. Publish/subscribe agents ignore
    them; an agent that can only unicast addresses them one by one (the thesis, section 4.5.2), and says so by
    `Agent.oracle_subscribers`.
    """

    notification: Notification
    subscribers: tuple[NodeId, ...] = ()


@dataclass(frozen=True, slots=True)
class Detach:
    """The application leaves its broker on purpose, and will come back."""


@dataclass(frozen=True, slots=True)
class Attach:
    """The application comes back, to whatever broker is near."""


Event = (
    Started
    | Received
    | TimerFired
    | SendFailed
    | Stopped
    | Crashed
    | Recovered
    | Rewired
    | Sited
    | Subscribe
    | Unsubscribe
    | Publish
    | Detach
    | Attach
)
"""Anything that `Agent.handle` can be given."""


# Sites


BROKERS_A_SITE = 3


EXAMPLE = "a: 0 1 2 | 6, b < a: 3 4 5 | 7"


SiteId = int
"""The place of a site in the order in which they are given, from 0."""


_LINE = re.compile(r"\s*([\w.-]+)\s*(?:<\s*([\w.-]+)\s*)?:([^:|<]+)(?:\|([^:|<]*))?")


@dataclass(frozen=True, slots=True)
class Site:
    """One site: its `brokers` are in the order in which they become leaders, and `parent` is None for the root."""

    name: str
    parent: SiteId | None
    brokers: tuple[NodeId, ...]
    clients: tuple[NodeId, ...] = ()


@dataclass(frozen=True)
class Sites:
    """All sites of a scenario; raises ValueError unless they are a tree of sites with three brokers each."""

    sites: tuple[Site, ...]

    def __post_init__(self) -> None:
        # The number is the paper's (section 2). With two brokers nobody could be informed once one of them has failed.
        for site in self.sites:
            if len(site.brokers) != BROKERS_A_SITE:
                raise ValueError(f"site {site.name} has {len(site.brokers)} brokers; each has {BROKERS_A_SITE}")
        nodes = [node for site in self.sites for node in (*site.brokers, *site.clients)]
        if twice := [node for node in nodes if nodes.count(node) > 1]:
            raise ValueError(f"node {twice[0]} is named twice; a node is in one site, and broker or client there")
        self._check_tree()

    def __iter__(self) -> Iterator[Site]:
        return iter(self.sites)

    def __getitem__(self, site: SiteId) -> Site:
        return self.sites[site]

    @cached_property
    def of_node(self) -> dict[NodeId, SiteId]:
        """The site of each node."""
        return {node: number for number, site in enumerate(self.sites) for node in (*site.brokers, *site.clients)}

    def neighbours(self, site: SiteId) -> tuple[SiteId, ...]:
        """The parent of a site, if there is one, then its children."""
        parent = self.sites[site].parent
        children = [number for number, other in enumerate(self.sites) if other.parent == site]
        return tuple(children if parent is None else [parent, *children])

    def links(self) -> Iterator[tuple[NodeId, NodeId]]:
        """Links between the brokers of a site, brokers of neighbouring sites, and clients and their site's brokers."""
        for site in self.sites:
            yield from combinations(site.brokers, 2)
            others = site.clients if site.parent is None else (*site.clients, *self.sites[site.parent].brokers)
            yield from ((broker, other) for broker in site.brokers for other in others)

    def _check_tree(self) -> None:
        roots = [site.name for site in self.sites if site.parent is None]
        if len(roots) > 1:
            raise ValueError(f"sites {' and '.join(roots)} have no parent; there is one root")
        for site in self.sites:
            self._check_way_up(site)

    def _check_way_up(self, site: Site) -> None:
        # Each site has one parent, so a circle is the only thing that can keep a way up from ending.
        way = [site.name]
        parent = site.parent
        while parent is not None:
            above = self.sites[parent]
            if above.name in way:
                raise ValueError(f"the parents make a circle: {' < '.join([*way, above.name])}")
            way.append(above.name)
            parent = above.parent


class SiteLine(NamedTuple):
    """A site as it is written, its nodes still as texts."""

    name: str
    parent: str | None
    brokers: str
    clients: str


def split_line(text: str) -> SiteLine:
    """Reads "b < a: 3 4 5 | 7" as name, parent, brokers and clients; raises ValueError for other texts.

    The nodes stay texts, because a transcript has names for them, and an ini file numbers.
    """
    match = _LINE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text.strip()!r} is not a site; write them as in {EXAMPLE!r}")
    return SiteLine(match[1], match[2], match[3], match[4] or "")


def make_sites(lines: Iterable[tuple[str, str | None, tuple[NodeId, ...], tuple[NodeId, ...]]]) -> Sites:
    """Makes sites from (name, parent's name or None, brokers, clients) of each; raises ValueError naming the site."""
    listed = list(lines)
    numbers: dict[str, SiteId] = {}
    for name, *_ in listed:
        if name in numbers:
            raise ValueError(f"there are two sites {name}")
        numbers[name] = len(numbers)
    for _, parent, *_ in listed:
        if parent is not None and parent not in numbers:
            raise ValueError(unknown("site", parent, numbers))
    return Sites(
        tuple(
            Site(name, None if parent is None else numbers[parent], brokers, clients)
            for name, parent, brokers, clients in listed
        )
    )
