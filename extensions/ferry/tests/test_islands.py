"""Places of islands, and the need that is learnt."""

from __future__ import annotations

import pytest

from roambus.extensions.ferry.dweller import FerryParameters
from roambus.extensions.ferry.islands import MOST_ISLANDS, Dwelling, Need, parse_places
from roambus.python_protocol.simtime import SECOND


def test_places_are_pairs_of_metres() -> None:
    """None are no islands."""
    assert parse_places("40,40/160.5,0") == ((40, 40), (160.5, 0))
    assert parse_places("") == ()


@pytest.mark.parametrize("text", ["40", "40,40,40", "40,x", "40,40/", "40;40"])
def test_a_wrong_place_is_refused_by_name(text: str) -> None:
    """Before the run, as a wrong parameter."""
    with pytest.raises(ValueError, match="is no place: write x,y in metres"):
        FerryParameters(islands=text)


def test_more_islands_than_a_here_can_number_are_refused() -> None:
    """Its field has one byte."""
    assert len(parse_places("/".join(["1,1"] * MOST_ISLANDS))) == MOST_ISLANDS
    with pytest.raises(ValueError, match="there are 256 islands"):
        parse_places("/".join(["1,1"] * 256))


def test_what_waits_at_an_island_grows_by_the_rate_of_its_nodes() -> None:
    """A node with four publications in 20 s has two more after 10 s."""
    need = Need()
    need.hear(1, Dwelling(0, 20 * SECOND, 3, 4))
    need.hear(2, Dwelling(0, 20 * SECOND, 1, 0))
    need.hear(3, Dwelling(1, 20 * SECOND, 7, 0))
    assert need.waiting_at(0, 20 * SECOND) == 4
    assert need.waiting_at(0, 30 * SECOND) == 6
    assert need.nodes_of(0) == [1, 2]
    assert (need.island_of(3), need.island_of(4)) == (1, None)


def test_what_a_node_hands_over_no_longer_waits() -> None:
    """Nor does it count below none, or for a node that was never heard."""
    need = Need()
    need.hear(1, Dwelling(0, SECOND, 1, 0))
    for node in (1, 1, 9):
        need.take(node)
    assert need.waiting_at(0, SECOND) == 0


def test_a_node_that_is_heard_at_once_has_no_rate() -> None:
    """Time 0 divides nothing."""
    assert Dwelling(0, 0, 2, 0).expected(SECOND) == 2
