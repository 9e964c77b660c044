"""Random trees of brokers, whose links take from 1 ms to 2 s."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from roambus.bridge.scenario.plans import LinkDelay
from roambus.python_protocol.vocabulary import MILLISECOND, SECOND, NodeId, SimTime

LONGEST = 2 * SECOND
"""Of the delays that links have."""


def draw_brokers(random: Random, most: int) -> dict[NodeId, NodeId]:
    """The parents of brokers 1, 2, ..., of up to so many; deep trees, and bushy ones."""
    return {
        child: random.randrange(max(0, child - random.choice((1, 2, most))), child)
        for child in range(1, random.randint(1, most))
    }


def draw_delays(random: Random, parents: dict[NodeId, NodeId], brokers: int, count: int) -> tuple[LinkDelay, ...]:
    """All links alike, or each with a delay of its own; those of clients to every broker to which they may come."""
    typical, is_mixed = _delay(random), random.random() < 0.5
    links = [(child, parents[child]) for child in range(1, brokers)]
    links += [(client, broker) for client in range(brokers, count) for broker in range(brokers)]
    return tuple(LinkDelay(a, b, _delay(random) if is_mixed else typical) for a, b in links)


def of_links(delays: Iterable[LinkDelay]) -> dict[tuple[NodeId, NodeId], SimTime]:
    """The delays by the ends of their links."""
    return {(one.a, one.b): one.delay for one in delays}


def _delay(random: Random) -> SimTime:
    times: float = (LONGEST / MILLISECOND) ** random.random()
    return round(MILLISECOND * times)
