"""Draws joins, departures and crashes in a legitimate skip ring from the run's seed (`SN.commands`)."""

from __future__ import annotations

from math import ceil
from random import Random

INTERVAL_S = 2
"""The time between two commands."""


def skip_ring_commands(  # noqa: PLR0913, PLR0917  # a template names them all
    seed: int, subscribers: int, start: int, publications: int, operations: int, departing: bool = True
) -> str:
    """Return the first subscribers' publications, then joins, alternating with departures if `departing`.

    Joining nodes follow after `subscribers`; leaving ones are drawn. Times are whole seconds, `INTERVAL_S` apart.
    """
    random = Random(f"skip ring/{seed}/{subscribers}")
    there = list(range(1, subscribers + 1))
    orders = [f"{random.choice(there)} publish" for _ in range(publications)]
    for number in range(1, operations + 1):
        there.append(subscribers + number)
        orders.append(f"{subscribers + number} subscribe")
        if departing:
            orders.append(f"{there.pop(random.randrange(len(there)))} unsubscribe")
    return ", ".join(f"{start + INTERVAL_S * place}s {order}" for place, order in enumerate(orders))


def skip_ring_crashes(seed: int, subscribers: int, share: float) -> list[int]:
    """Return the subscribers that crash: a share, rounded up."""
    number = ceil(share * subscribers)
    return sorted(Random(f"skip ring crashes/{seed}/{subscribers}").sample(range(1, subscribers + 1), number))


TEMPLATE_FUNCTIONS = (
    skip_ring_commands,
    skip_ring_crashes,
)
