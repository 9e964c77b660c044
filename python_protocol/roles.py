"""Nodes, and the roles that a node can take on in any combination (the thesis, section 2.2).

A node with several roles has a process for each. A message tells which of them it speaks of by the type of its field,
so that a transcript can call each process by its own name.

Sites: groups of three brokers with their clients, in a tree (the paper on replicated brokers, section 2).

The scenario gives them in the key `SN.sites`, as in `a: 0 1 2 | 6, b < a: 3 4 5 | 7`: the site b is below the site a
and has the brokers 3, 4 and 5, and the client 7. Whoever makes a `Sites` gets an error that names the site or the node
if these are no tree of sites.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Flag
from functools import cached_property
from itertools import combinations
from typing import Annotated, NamedTuple

from roambus.python_protocol.messages.fields import Integer
from roambus.python_protocol.settings import unknown

NodeId = Annotated[int, Integer("H", lambda node, names: str(names.node(node)))]
"""Index of a node, 0 to 65533, which also is its address on the network."""

SubscriberId = Annotated[int, Integer("H", lambda node, names: str(names.subscriber(node)))]
"""The node of a subscriber, in a message that speaks of the subscriber."""

BrokerId = Annotated[int, Integer("H", lambda node, names: str(names.broker(node)))]
"""The node of a broker, in a message that speaks of the broker."""

BROADCAST: NodeId = 65535
"""The destination that every node in range receives."""


class Role(Flag):
    """What a node does in the publish/subscribe system."""

    NONE = 0
    PUBLISHER = 1
    SUBSCRIBER = 2
    BROKER = 4


def parse_roles(text: str) -> Role:
    """Reads role names separated by blanks or commas; raises ValueError naming the unknown one."""
    roles = Role.NONE
    for word in text.replace(",", " ").split():
        try:
            roles |= Role[word.upper()]
        except KeyError:
            raise ValueError(f"{word!r} is no role; the roles are publisher, subscriber, broker") from None
    return roles


def format_roles(roles: Role) -> str:
    """The text that `parse_roles` reads back: "publisher broker"."""
    return " ".join(role.name.lower() for role in Role if role in roles and role.name)


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
        for site in self.sites:
            if len(site.brokers) != BROKERS_A_SITE:
                raise ValueError(f"site {site.name} has {len(site.brokers)} brokers; each has {BROKERS_A_SITE}")
        nodes = [node for site in self.sites for node in (*site.brokers, *site.clients)]
        if twice := [node for node in nodes if nodes.count(node) > 1]:
            raise ValueError(f"node {twice[0]} stands twice; a node is in one site, and broker or client there")
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
    """Reads "b < a: 3 4 5 | 7" as name, parent, brokers and clients; raises ValueError for other texts."""
    match = _LINE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text.strip()!r} is no site; write them as in {EXAMPLE!r}")
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
