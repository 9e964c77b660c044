"""Configuration requests in a legitimate state, which as published are too many (its paper, section 3.2.1)."""

from __future__ import annotations

import pytest

from roambus.extensions.skip_ring.corrupted import skip_ring
from roambus.extensions.skip_ring.subscriber import MINIMAL, request_probability


def expected_requests(nodes: int, *, sparse_requests: bool) -> float:
    """A round, of all subscribers together: action (ii), and (iv) at the one without a left neighbour."""
    return MINIMAL + sum(request_probability(label, sparse=sparse_requests) for label in skip_ring(nodes))


@pytest.mark.parametrize("nodes", [1, 2, 3, 16, 256, 1024])
def test_fewer_than_one_request_a_round(nodes: int) -> None:
    """However many subscribers there are."""
    assert expected_requests(nodes, sparse_requests=True) < 1


def test_as_published_two_subscribers_make_one_and_a_half() -> None:
    """The smallest counterexample to the lemma: even without action (iv) they make one, by two labels of one bit."""
    assert expected_requests(2, sparse_requests=False) == 1.5
    assert sum(request_probability(label, sparse=False) for label in skip_ring(2)) == 1
