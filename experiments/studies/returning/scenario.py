"""Draws clients that leave and return from the run's seed: one plan, written for each kind of network.

Clients are nodes 0, 1, ..., then brokers. Times have whole milliseconds. An absence is:

- detach and attach for applications, if announced;
- in a given tree, no broker and then another one, if unannounced;
- on links that every node can use, a partition;
- for a node that cannot be cut off, a crash and a recovery.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from roambus.python_protocol.papers.trees import random_tree
from roambus.python_protocol.vocabulary import NodeId

START_S = 25.0
"""The first departure: networks that build themselves need time."""
SHORTEST_S = 0.5
"""The shortest absence and stay: a detached client keeps its link for a moment."""
DEPARTURE_S = 0.1
"""That moment without a given tree; with one it is `SN.departure`."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A client is away from `leaves` to `returns` (s), then at `broker`."""

    client: NodeId
    leaves: float
    returns: float
    broker: int


@dataclass(frozen=True, slots=True)
class Returning:
    """A tree of brokers, each client's first broker (from 0), and the absences."""

    clients: int
    parents: dict[int, int]
    homes: tuple[int, ...]
    visits: tuple[Visit, ...]

    def tree(self, announced: bool) -> str:
        """Return `SN.tree`: the broker of each client, with absences that are not announced."""
        edges = [f"{self._broker(child)}:{self._broker(parent)}" for child, parent in sorted(self.parents.items())]
        edges += [f"{client}:{self._broker(home)}" for client, home in enumerate(self.homes)]
        changes = [] if announced else sorted(self._changes())
        return ", ".join([" ".join(edges), *(f"{at:.3f}s {change}" for at, change in changes)])

    def absences(self, client: NodeId, *, moving: bool) -> str:
        """Return `Application.absences`; with `moving` clients return to other brokers of a given tree."""
        own = [visit for visit in self.visits if visit.client == client]
        return ", ".join(
            f"{one.leaves:.3f}s detach, {one.returns:.3f}s attach{f' {self._broker(one.broker)}' if moving else ''}"
            for one in own
        )

    def partitions(self, announced: bool) -> str:
        """Return `SN.ideal.partitions`: an absent client is alone."""
        moment = DEPARTURE_S if announced else 0.0
        times = sorted({at for one in self.visits for at in (one.leaves + moment, one.returns)})
        return ", ".join(f"{at:.3f}s {self._groups(at, moment)}" for at in times)

    def faults(self, client: NodeId) -> str:
        """Return `faults`: an absent client has crashed."""
        own = [visit for visit in self.visits if visit.client == client]
        return ", ".join(f"{one.leaves:.3f}s crash, {one.returns:.3f}s recover" for one in own)

    def sites(self) -> str:
        """Return the parameter `sites`: three brokers in place of each."""
        return ";".join(map(self._site, range(len(self.parents) + 1)))

    def _changes(self) -> Iterator[tuple[float, str]]:
        for one in self.visits:
            yield one.leaves, f"{one.client}:-"
            yield one.returns, f"{one.client}:{self._broker(one.broker)}"

    def _groups(self, at: float, moment: float) -> str:
        away = sorted(one.client for one in self.visits if one.leaves + moment <= at < one.returns)
        return " | ".join(map(str, away)) or "merge"

    def _site(self, number: int) -> str:
        above = f"@s{self.parents[number]}" if number in self.parents else ""
        first = self.clients + 3 * number
        here = "+".join(str(client) for client, home in enumerate(self.homes) if home == number)
        return f"s{number}{above}:{first}..{first + 2}/{here}".rstrip("/")

    def _broker(self, number: int) -> NodeId:
        return self.clients + number


def returning(  # noqa: PLR0913, PLR0917  # what a template sets
    seed: int, publishers: int, subscribers: int, brokers: int, presence: float, absence: float, until: float
) -> Returning:
    """Draw exponential stays and absences of these means (s); the first nodes publish.

    A client away at `until` returns then. Other means use the same random numbers, so runs of one seed are alike.
    """
    random = Random(f"returning/{seed}")
    parents = random_tree(brokers, random)
    homes = tuple(random.randrange(brokers) for _ in range(publishers + subscribers))
    visits = [
        visit
        for client in range(publishers, publishers + subscribers)
        for visit in _visits(client, homes[client], brokers, presence, absence, until, Random(f"{seed}/{client}"))
    ]
    return Returning(len(homes), parents, homes, tuple(visits))


def _visits(  # noqa: PLR0913, PLR0917  # as above
    client: NodeId, home: int, brokers: int, presence: float, absence: float, until: float, random: Random
) -> Iterator[Visit]:
    at = START_S
    while True:
        leaves = at + max(SHORTEST_S, random.expovariate(1) * presence)
        returns = min(until, leaves + max(SHORTEST_S, random.expovariate(1) * absence))
        home = random.choice([broker for broker in range(brokers) if broker != home])
        if returns - leaves < SHORTEST_S:
            return
        yield Visit(client, round(leaves, 3), round(returns, 3), home)
        at = returns


TEMPLATE_FUNCTIONS = (returning,)
