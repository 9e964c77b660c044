"""The publications of a publisher, whose topics are drawn by Zipf's law."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from random import Random

from roambus.bridge.scenario.definition import TOPIC, Publication, Publications


def drawn_publications(publications: Publications, seed: int) -> Iterator[Publication]:
    """A publisher's endless publications; topics have a stream of their own."""
    attributes, payload = dict(publications.attributes), publications.payload
    made = [
        Publication(tuple(sorted({**attributes, **drawn}.items())), payload)
        for drawn in ([{TOPIC: f"t{number}"} for number in range(publications.topics)] or [{}])
    ]
    weights = list(accumulate((1 + number) ** -publications.popularity for number in range(len(made))))
    random = Random(f"topics/{seed}/{publications.node}")
    while True:
        yield random.choices(made, cum_weights=weights)[0] if len(made) > 1 else made[0]
