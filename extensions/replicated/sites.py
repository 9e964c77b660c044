"""Sites: groups of three brokers with their clients, in a tree (section 2).

One parameter, equal at all nodes, replaces the paper's `config.txt`. In `a:0..2/6;b@a:3..5/7+8` the site b is below a,
has the brokers 3 to 5, and the clients 7 and 8. There are no spaces, because an ini and a transcript write parameters
as words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.settings import unknown

BROKERS_A_SITE = 3
EXAMPLE = "a:0..2/6;b@a:3..5/7+8"
MOST_NODES = 65_534
"""Node numbers have two bytes, and 65535 is the broadcast address."""

SiteId = int
"""The index of a site in the parameter."""

_SITE = re.compile(r"([\w.-]+)(?:@([\w.-]+))?:([\d.+]+)(?:/([\d.+]+))?")
_NODES = re.compile(r"(\d{1,5})(?:\.\.(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class Site:
    """One site: `brokers` in order of leadership, and `parent`, None for the root."""

    name: str
    parent: SiteId | None
    brokers: tuple[NodeId, ...]
    clients: tuple[NodeId, ...] = ()


@dataclass(frozen=True)
class Sites:
    """All sites; raises ValueError unless a tree with three brokers each."""

    sites: tuple[Site, ...]

    def __post_init__(self) -> None:
        # The number is the paper's (section 2): of two brokers, one would have no other to inform once the other fails.
        for site in self.sites:
            if len(site.brokers) != BROKERS_A_SITE:
                raise ValueError(f"site {site.name} has {len(site.brokers)} brokers; each has {BROKERS_A_SITE}")
        nodes = [node for site in self.sites for node in (*site.brokers, *site.clients)]
        if len(self.of_node) < len(nodes):
            twice = next(node for node in nodes if nodes.count(node) > 1)
            raise ValueError(f"node {twice} is named twice; a node is in one site, and broker or client there")
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
        """The parent of a site, if any, then its children."""
        parent = self.sites[site].parent
        children = [number for number, other in enumerate(self.sites) if other.parent == site]
        return tuple(children if parent is None else [parent, *children])

    def site_of(self, node: NodeId, roles: Role) -> Site:
        """Return a node's site; raise ValueError without one, or with two roles."""
        if node not in self.of_node:
            raise ValueError(f"parameter sites: node {node} is in no site")
        site = self.sites[self.of_node[node]]
        if node in site.brokers and roles != Role.BROKER:
            raise ValueError(f"parameter sites: node {node} is a broker of a site: its role must be broker")
        if node in site.clients and Role.BROKER in roles:
            raise ValueError(f"parameter sites: node {node} is a client of a site, so it cannot have the role broker")
        return site

    def _check_tree(self) -> None:
        roots = [site.name for site in self.sites if site.parent is None]
        if len(roots) > 1:
            raise ValueError(f"sites {' and '.join(roots)} have no parent; there is one root")
        for site in self.sites:
            self._check_way_up(site)

    def _check_way_up(self, site: Site) -> None:
        # Each site has one parent, so only a circle can keep a way up from ending.
        way = [site.name]
        parent = site.parent
        while parent is not None:
            above = self.sites[parent]
            if above.name in way:
                raise ValueError(f"the parents make a circle: {' < '.join([*way, above.name])}")
            way.append(above.name)
            parent = above.parent


@cache  # all nodes have the same text
def parse_sites(text: str) -> Sites:
    """Read sites as in `EXAMPLE`; raise ValueError naming parameter and fault."""
    try:
        return _parse(text)
    except ValueError as error:
        raise ValueError(f"parameter sites: {error}") from None


def _parse(text: str) -> Sites:
    matches = [_match(part) for part in text.split(";")]
    numbers: dict[str, SiteId] = {}
    for match in matches:
        if match[1] in numbers:
            raise ValueError(f"there are two sites {match[1]}")
        numbers[match[1]] = len(numbers)
    return Sites(tuple(_site(match, numbers) for match in matches))


def _match(part: str) -> re.Match[str]:
    match = _SITE.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} is not a site; write them as in {EXAMPLE}")
    return match


def _site(match: re.Match[str], numbers: dict[str, SiteId]) -> Site:
    name, parent, brokers, clients = match.groups()
    if parent is not None and parent not in numbers:
        raise ValueError(unknown("site", parent, numbers))
    return Site(name, None if parent is None else numbers[parent], _nodes(brokers), _nodes(clients))


def _nodes(text: str | None) -> tuple[NodeId, ...]:
    """Read "0..2" or "6+9", which can be mixed."""
    found: list[NodeId] = []
    for part in text.split("+") if text else ():
        match = _NODES.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last <= MOST_NODES:
            raise ValueError(f"{part!r} is not a node, nor a range of nodes such as 3..5; write them as in {EXAMPLE}")
        found += range(first, last + 1)
    return tuple(found)
