"""Draws clients that leave and return from the run's seed: one plan, written for each kind of network.

Clients are the nodes 0, 1, ..., and brokers those behind them, in whatever network, so that every agent gets the same
workload. Times have whole milliseconds.

The same absence is four things to four kinds of network, and `Returning` writes each from the one plan:

- to applications, that they detach and attach, if absences are announced;
- to a given tree, that a client has no broker and then another one, if they are not;
- to links that anybody can use, that the client is alone for a while (a partition);
- to a node that cannot be cut off, that it has crashed and recovers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from roambus.experiments.random_scenarios import random_tree
from roambus.python_protocol.vocabulary import NodeId

START_S = 25.0
"""Nobody leaves before this time: networks that build themselves need time."""
SHORTEST_S = 0.5
"""Neither an absence nor a stay is shorter: a client that detaches still has its link for a moment."""
DEPARTURE_S = 0.1
"""How long that moment is in networks without a given tree; with one the scenario says so (`SN.departure`)."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A client is away from `leaves` to `returns` (s), and then comes to `broker`."""

    client: NodeId
    leaves: float
    returns: float
    broker: int


@dataclass(frozen=True, slots=True)
class Returning:
    """A tree of brokers, the broker at which each client is at first (both counted from 0), and who leaves when."""

    clients: int
    parents: dict[int, int]
    homes: tuple[int, ...]
    visits: tuple[Visit, ...]

    def tree(self, announced: bool) -> str:
        """A value of `SN.tree`: the broker of each client, with the absences of clients that do not announce them."""
        edges = [f"{self._broker(child)}:{self._broker(parent)}" for child, parent in sorted(self.parents.items())]
        edges += [f"{client}:{self._broker(home)}" for client, home in enumerate(self.homes)]
        changes = [] if announced else sorted(self._changes())
        return ", ".join([" ".join(edges), *(f"{at:.3f}s {change}" for at, change in changes)])

    def absences(self, client: NodeId, *, moving: bool) -> str:
        """A value of `Application.absences`; `moving` is for a given tree, in which clients return to other brokers."""
        own = [visit for visit in self.visits if visit.client == client]
        return ", ".join(
            f"{one.leaves:.3f}s detach, {one.returns:.3f}s attach{f' {self._broker(one.broker)}' if moving else ''}"
            for one in own
        )

    def partitions(self, announced: bool) -> str:
        """A value of `SN.ideal.partitions`: a client that is away is alone."""
        moment = DEPARTURE_S if announced else 0.0
        times = sorted({at for one in self.visits for at in (one.leaves + moment, one.returns)})
        return ", ".join(f"{at:.3f}s {self._groups(at, moment)}" for at in times)

    def faults(self, client: NodeId) -> str:
        """A value of `faults`: a client that is away has crashed."""
        own = [visit for visit in self.visits if visit.client == client]
        return ", ".join(f"{one.leaves:.3f}s crash, {one.returns:.3f}s recover" for one in own)

    def sites(self) -> str:
        """The parameter `sites`: three brokers in place of each, and the clients where they are at first."""
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
    """The plan: the first nodes publish, the others leave, with exponential stays and absences of these means (s).

    A client that is away at `until` returns then. It comes back to any other broker, each as likely. With longer stays
    or absences the same numbers are drawn, so that runs of one seed are alike.
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
