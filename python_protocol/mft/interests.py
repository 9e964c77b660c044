"""Sums of subscriptions: eight bytes tell two brokers that they know the same (the parameter `beats_migrate`).

A sum is the exclusive or of a hash of 64 bits for each subscriber with filters. Equal sums mean equal subscriptions,
but for one chance in 2^64.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Annotated

from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.bytes import Writer
from roambus.python_protocol.messages.fields import Integer
from roambus.python_protocol.roles import NodeId

InterestSum = Annotated[int, Integer("Q", lambda value, _: f"{value:016x}")]
"""A sum as messages carry it."""


def sum_of(interests: Iterable[tuple[NodeId, Iterable[Filter]]]) -> int:
    """The sum of what subscribers want; those without filters do not count."""
    total = 0
    for subscriber, filters in interests:
        if wanted := frozenset(filters):
            total ^= _hash(subscriber, wanted)
    return total


@lru_cache(maxsize=4096)
def _hash(subscriber: NodeId, filters: frozenset[Filter]) -> int:
    hashed = blake2b(subscriber.to_bytes(2, "big"), digest_size=8)
    for one in sorted(_bytes_of(one) for one in filters):
        hashed.update(len(one).to_bytes(2, "big") + one)
    return int.from_bytes(hashed.digest(), "big")


def _bytes_of(one: Filter) -> bytes:
    writer = Writer()
    one.write(writer)
    return writer.getvalue()
