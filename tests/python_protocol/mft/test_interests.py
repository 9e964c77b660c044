"""Sums of subscriptions: equal for the same ones in any order, and for no others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.filters import Filter
from roambus.python_protocol.mft.messages import sum_of
from roambus.python_protocol.vocabulary import NodeId
from tests.python_protocol.mft.network import topic

interests = st.dictionaries(st.integers(1, 4), st.lists(st.integers(1, 3).map(topic), unique=True))


@given(interests)
def test_the_order_does_not_matter(known: dict[NodeId, list[Filter]]) -> None:
    """Neither that of subscribers, nor that of the filters of one; who has none does not count."""
    turned = [(node, list(reversed(filters))) for node, filters in reversed(list(known.items()))]
    assert sum_of(turned) == sum_of(known.items()) == sum_of([*turned, (9, ())])


@given(interests, interests)
def test_different_subscriptions_have_different_sums(
    one: dict[NodeId, list[Filter]], other: dict[NodeId, list[Filter]]
) -> None:
    """If anybody wants anything else."""
    wanted = [{(node, each) for node, filters in known.items() for each in filters} for known in (one, other)]
    assert (sum_of(one.items()) == sum_of(other.items())) == (wanted[0] == wanted[1])
