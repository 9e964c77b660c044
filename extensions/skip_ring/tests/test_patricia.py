"""Patricia tries tell by their hashes what subscribers have (the skip ring's paper, section 4.2)."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.skip_ring.publications import Inner, PatriciaTrie, publication_key
from roambus.python_protocol.filters import Notification, NotificationId

BITS = 12
publications = st.builds(
    Notification, st.builds(NotificationId, st.integers(0, 9), st.integers(0, 99)), st.just((("topic", 1),))
)
several = st.lists(publications, max_size=20, unique_by=lambda publication: publication_key(publication, BITS))


def trie_of(entries: list[Notification]) -> PatriciaTrie:
    trie = PatriciaTrie(BITS)
    for entry in entries:
        trie.insert(entry)
    return trie


@given(several)
def test_what_is_inserted_is_there_once_in_the_order_of_keys(entries: list[Notification]) -> None:
    """A second time it is not new."""
    trie = trie_of(entries)
    assert not any(trie.insert(entry) for entry in entries)
    assert list(trie.publications()) == sorted(entries, key=lambda publication: publication_key(publication, BITS))


@given(several, st.randoms())
def test_hashes_tell_sets_apart_whatever_the_order_of_insertion(entries: list[Notification], order: Random) -> None:
    """Equal sets have equal roots, and one publication less gives another."""
    shuffled = list(entries)
    order.shuffle(shuffled)
    assert trie_of(shuffled).root == trie_of(entries).root
    if entries:
        assert trie_of(entries[1:]).root != trie_of(entries).root


@given(several)
def test_an_inner_node_has_two_children_that_go_on_with_0_and_1(entries: list[Notification]) -> None:
    """Its label is their longest common prefix."""
    for node in trie_of(entries).nodes():
        if isinstance(node, Inner):
            zero, one = node.children
            assert zero.label.startswith(node.label + "0")
            assert one.label.startswith(node.label + "1")


@given(several, st.text("01", max_size=BITS))
def test_a_prefix_leads_to_the_node_with_the_shortest_label_and_all_below(
    entries: list[Notification], prefix: str
) -> None:
    """As a search among all nodes does."""
    trie = trie_of(entries)
    below = [node for node in trie.nodes() if node.label.startswith(prefix)]
    assert trie.first_below(prefix) == min(below, key=lambda node: len(node.label), default=None)
    assert trie.find(prefix) == next((node for node in below if node.label == prefix), None)
    keys = [publication_key(publication, BITS) for publication in trie.publications(prefix)]
    assert keys == sorted(key for entry in entries if (key := publication_key(entry, BITS)).startswith(prefix))
