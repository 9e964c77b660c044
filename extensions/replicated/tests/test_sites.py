"""Sites: how they are written, and which are neighbours."""

from __future__ import annotations

import re

import pytest

from roambus.extensions.replicated.sites import Site, Sites, parse_sites

THREE = parse_sites("root:0..2/9;left@root:3..5;right@root:6..8/10+11")


def test_sites_have_brokers_clients_and_parents() -> None:
    """Nodes are written one by one or as ranges, in the order in which brokers lead."""
    assert parse_sites("home:2+0..1/4+3;b@home:5..7") == Sites(
        (Site("home", None, (2, 0, 1), (4, 3)), Site("b", 0, (5, 6, 7)))
    )


def test_neighbours_are_the_parent_and_the_children() -> None:
    """The parent comes first."""
    assert [THREE.neighbours(site) for site in range(3)] == [(1, 2), (0,), (0,)]


def test_each_node_has_a_site() -> None:
    """Brokers and clients."""
    assert [THREE.of_node[node] for node in (0, 5, 8, 9, 11)] == [0, 1, 2, 0, 2]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a:0..1/4", "site a has 2 brokers; each has 3"),
        ("a:0..2/2+4", "node 2 is named twice"),
        ("a:0..2/x", "'a:0..2/x' is not a site; write them as in a:0..2/6"),
        ("a:0..2/4..3", "'4..3' is not a node, nor a range of nodes such as 3..5"),
        ("a:0..99999", "'0..99999' is not a node"),
        ("a:0..2/3++4", "'' is not a node"),
        ("a", "'a' is not a site"),
        ("a:0..2;", "'' is not a site"),
        ("a:0..2;a:3..5", "there are two sites a"),
        ("a:0..2;b@c:3..5", "unknown site 'c': there is a, b"),
        ("a:0..2;b:3..5", "sites a and b have no parent; there is one root"),
        ("a:0..2;b@c:3..5;c@b:6..8", "the parents make a circle: b < c < b"),
    ],
)
def test_mistakes_are_named(text: str, problem: str) -> None:
    """By the site or the node."""
    with pytest.raises(ValueError, match=f"^parameter sites: {re.escape(problem)}"):
        parse_sites(text)
