"""Sites: who is whose neighbour, and which links they need."""

from __future__ import annotations

from roambus.python_protocol.events import Site, Sites

THREE = Sites(
    (
        Site("root", None, (0, 1, 2), (9,)),
        Site("left", 0, (3, 4, 5)),
        Site("right", 0, (6, 7, 8), (10, 11)),
    )
)


def test_neighbours_are_the_parent_and_the_children() -> None:
    """The parent comes first."""
    assert [THREE.neighbours(site) for site in range(3)] == [(1, 2), (0,), (0,)]


def test_links_are_those_that_the_brokers_and_clients_need() -> None:
    """Within a site, between all brokers of neighbouring sites, and of a client to its three brokers; no others."""
    links = {frozenset(link) for link in THREE.links()}
    assert {frozenset((0, 1)), frozenset((3, 5)), frozenset((0, 8)), frozenset((10, 6))} <= links
    assert not {frozenset((3, 6)), frozenset((9, 3)), frozenset((10, 11))} & links
    assert len(links) == 3 * 3 + 2 * 9 + 3 * 3


def test_each_node_has_a_site() -> None:
    """Brokers and clients."""
    assert [THREE.of_node[node] for node in (0, 5, 8, 9, 11)] == [0, 1, 2, 0, 2]
