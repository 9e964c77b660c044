"""Draws clients that arrive, move and leave, and publications, for an ini (caching paper, section 6).

At each broker clients are born at a constant rate, live for an exponential time, go mobile at a constant rate, are away
for an exponential time, and return to another broker. A run starts in the steady state. Draws follow the seed in time
order, so all agents get the same.

A simulator needs all nodes at the start, so a node is one client after another: after a death it rests, then moves in
the tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple

from roambus.python_protocol.roles import NodeId

_START_S = 1.0
"""The first clients' birth, after all nodes have booted."""
_REST_S = 1.0
"""The rest of a node between two clients."""
_DEPARTURE_S = 0.02
"""`SN.departure`, from a goodbye to the link's end (s). The shortest absence is 1.5 times as long."""
_SHORTEST_S = 1.5 * _DEPARTURE_S


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of the processes, times in s: `life` is 1/mu_c, `load` lambda_c/mu_c, `absence` a mean."""

    load: float
    life: float
    move_rate: float
    absence: float
    publish_rate: float

    def __post_init__(self) -> None:
        """Raise ValueError for impossible rates."""
        for name in ("load", "life", "move_rate", "publish_rate"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} {getattr(self, name)} is not above 0")
        if self.absence <= _SHORTEST_S:
            raise ValueError(f"absence {self.absence} is not above {_SHORTEST_S}: it takes that long to leave")


class _Due(NamedTuple):
    """A birth, death, departure or return; `order` is unique, so actions are never compared."""

    at: float
    order: int
    do: Callable[[_Due], None]
    node: NodeId
    broker: NodeId


@dataclass(frozen=True, slots=True)
class Population:
    """Values of keys: `tree` for SN.tree, `commands` for SN.commands; `nodes` is their number.

    Brokers 0 to n - 1 form a balanced binary tree with root 0; then come a publisher each, then the clients.
    """

    tree: str
    commands: str
    nodes: int


class _Draw:
    """Draws the processes of one seed."""

    def __init__(self, seed: int, brokers: int, duration: float, rates: Rates) -> None:
        self._random = Random(f"population/{seed}/{brokers}/{duration}/{rates}")
        self._brokers, self._duration, self._rates = brokers, duration, rates
        self._nodes = 2 * brokers
        self._due: list[_Due] = []
        self._order = 0
        self._resting: list[tuple[float, NodeId, NodeId]] = []
        """Each resting node: end of rest, node, last broker."""
        self._commands: list[tuple[float, str]] = []
        self._places: list[tuple[float, str]] = []

    def population(self) -> Population:
        """Draw everything up to the end of the run."""
        self._let_live()
        self._publish()
        parents = [f"{node}:{(node - 1) // 2}" for node in range(1, self._brokers)]
        parents += [f"{self._brokers + broker}:{broker}" for broker in range(self._brokers)]
        tree = ", ".join([" ".join(parents), *_in_order(self._places)])
        return Population(tree, ", ".join(_in_order(self._commands)), self._nodes)

    def _let_live(self) -> None:
        """Carry out what is due until the run ends."""
        for broker in range(self._brokers):
            for _ in range(_poisson(self._rates.load, self._random)):
                self._plan(_START_S, self._bear, broker=broker)
            self._plan_birth(_START_S, broker)
        while self._due and self._due[0].at < self._duration:
            due = heappop(self._due)
            due.do(due)

    def _plan(self, at: float, do: Callable[[_Due], None], node: NodeId = 0, broker: NodeId = 0) -> None:
        """Plan an action. At equal times the first planned is first, so a seed has one course."""
        self._order += 1
        heappush(self._due, _Due(at, self._order, do, node, broker))

    def _plan_birth(self, now: float, broker: NodeId) -> None:
        self._plan(now + self._exponential(self._rates.life / self._rates.load), self._bear_next, broker=broker)

    def _bear_next(self, due: _Due) -> None:
        self._bear(due)
        self._plan_birth(due.at, due.broker)

    def _bear(self, due: _Due) -> None:
        node = self._free_node(due)
        self._commands.append((due.at, f"{node} subscribe"))
        self._settle(due._replace(node=node))

    def _free_node(self, due: _Due) -> NodeId:
        """Return a node that has rested, or a new one, at this broker."""
        if self._resting and self._resting[0][0] <= due.at:
            _, node, last = heappop(self._resting)
            if last == due.broker:
                return node
        else:
            node, self._nodes = self._nodes, self._nodes + 1
        self._places.append((due.at - _SHORTEST_S, f"{node}:{due.broker}"))
        return node

    def _settle(self, due: _Due) -> None:
        """Plan a client's death or move, whichever comes first."""
        dies = due.at + self._exponential(self._rates.life)
        moves = due.at + self._exponential(1 / self._rates.move_rate)
        self._plan(min(dies, moves), self._die if dies < moves else self._leave, due.node, due.broker)

    def _die(self, due: _Due) -> None:
        self._commands.append((due.at, f"{due.node} unsubscribe"))
        heappush(self._resting, (due.at + _REST_S, due.node, due.broker))

    def _leave(self, due: _Due) -> None:
        """Send a client away; it lives meanwhile, and returns to any other broker."""
        self._commands.append((due.at, f"{due.node} detach"))
        back = due.at + _SHORTEST_S + self._exponential(self._rates.absence - _SHORTEST_S)
        broker = self._random.choice([number for number in range(self._brokers) if number != due.broker])
        if back < self._duration:
            self._commands.append((back, f"{due.node} attach {broker}"))
        self._plan(back, self._settle, due.node, broker)

    def _publish(self) -> None:
        """Publish at random publishers, at a constant total rate."""
        for at in self._arrivals():
            self._commands.append((at, f"{self._brokers + self._random.randrange(self._brokers)} publish"))

    def _arrivals(self) -> Iterator[float]:
        at = _START_S + self._exponential(1 / self._rates.publish_rate)
        while at < self._duration:
            yield at
            at += self._exponential(1 / self._rates.publish_rate)

    def _exponential(self, mean: float) -> float:
        return self._random.expovariate(1 / mean)


@lru_cache(maxsize=128)  # the agents of a sweep, one after the other, have the same populations
def population(  # noqa: PLR0913, PLR0917  # a template names them all
    seed: int,
    brokers: int,
    duration: float,
    load: float,
    life: float,
    move_rate: float,
    absence: float,
    publish_rate: float,
) -> Population:
    """Return the population for a template; raises ValueError."""
    return _Draw(seed, brokers, duration, Rates(load, life, move_rate, absence, publish_rate)).population()


def _in_order(planned: list[tuple[float, str]]) -> list[str]:
    """Order the plan by time; equal times keep their order."""
    return [f"{at:.6f}s {what}" for at, what in sorted(planned, key=lambda entry: entry[0])]


def _poisson(mean: float, random: Random) -> int:
    """Draw from the Poisson distribution, by arrivals in unit time."""
    count, at = 0, -math.log(1 - random.random()) / mean
    while at < 1:
        count, at = count + 1, at - math.log(1 - random.random()) / mean
    return count


TEMPLATE_FUNCTIONS = (population,)
