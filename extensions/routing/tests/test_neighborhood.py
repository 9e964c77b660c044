"""OLSR's neighbourhood: its sets to the instant at which their tuples expire (RFC 3626, sections 4, 7 and 8)."""

from __future__ import annotations

from roambus.extensions.routing.olsr.neighborhood import Neighborhood, select_mprs
from roambus.extensions.routing.tests.bench import ME
from roambus.extensions.routing.tests.test_olsr import ASYM, LOST, MPR, SYM, hello
from roambus.python_protocol.simtime import SECOND

HOLD = 6 * SECOND


def heard(*hellos: tuple[int, int, tuple[tuple[int, tuple[int, ...]], ...]]) -> Neighborhood:
    """A neighbourhood after HELLOs of 6 s, each with its time, its sender and its links."""
    neighborhood = Neighborhood(ME, HOLD)
    for now, sender, links in hellos:
        neighborhood.hear(sender, hello(*links), now)
    return neighborhood


def codes(neighborhood: Neighborhood, now: int) -> dict[int, int]:
    """The link code of each neighbour at a time."""
    return {neighbor: link.link_code for link in neighborhood.hello_links(now) for neighbor in link.neighbors}


def test_a_link_is_asymmetric_from_its_first_hello_to_the_end_of_the_last() -> None:
    """It is announced as lost from then on, and deleted at the end of its time."""
    one = heard((0, 1, ()))
    assert [codes(one, now) for now in (0, HOLD - 1, HOLD)] == [{1: ASYM}, {1: ASYM}, {1: LOST}]
    one.expire(HOLD - 1)
    assert set(one.links) == {1}
    one.expire(HOLD)
    assert one.links == {}


def test_a_link_that_the_link_layer_has_lost_is_lost_for_its_hold_time() -> None:
    """HELLOs count again after that."""
    for links, code in (((), ASYM), (((SYM, (ME,)),), SYM)):
        one = heard((0, 1, ((SYM, (ME,)),)))
        one.lose(1, SECOND)
        one.hear(1, hello(*links), 2 * SECOND)
        assert [codes(one, now) for now in (SECOND + HOLD - 1, SECOND + HOLD)] == [{1: LOST}, {1: code}]


def test_a_two_hop_neighbour_lasts_as_long_as_its_hello() -> None:
    """A later HELLO that does not name it keeps the link alone; one that names it as no neighbour deletes it."""
    one = heard((0, 1, ((SYM, (ME, 9)),)), (3 * SECOND, 1, ((SYM, (ME,)),)))
    assert [one.second(now) for now in (HOLD - 1, HOLD)] == [{9: [1]}, {}]
    one.expire(HOLD)
    assert one.two_hop == {1: {}}
    assert heard((0, 1, ((SYM, (ME, 9)),)), (1, 1, ((SYM, (ME,)), (LOST, (9,))))).second(1) == {}


def test_a_neighbour_is_no_two_hop_neighbour_and_this_node_neither() -> None:
    """A way over two hops to a neighbour needs no relay."""
    one = heard((0, 1, ((SYM, (ME, 9)),)), (0, 9, ((SYM, (ME, 1)),)))
    assert one.second(0) == {}


def test_a_selector_lasts_as_long_as_its_hello_and_its_link() -> None:
    """A later HELLO without a selection keeps the link alone."""
    one = heard((0, 1, ((MPR, (ME,)),)), (3 * SECOND, 1, ((SYM, (ME,)),)))
    assert [one.selectors(now) for now in (HOLD - 1, HOLD)] == [(1,), ()]
    one = heard((0, 1, ((MPR, (ME,)),)))
    one.lose(1, SECOND)
    assert one.selectors(SECOND) == ()
    one.links.clear()
    assert one.selectors(SECOND) == ()


def test_the_only_relay_to_a_node_is_chosen_first_however_unwilling() -> None:
    """Section 8.3.1, step 3: what it covers decides between the others."""
    second = {11: [3], 12: [1, 3], 13: [1, 3], 14: [1, 2], 15: [1, 2], 16: [2, 3]}
    assert select_mprs({1: 3, 2: 3, 3: 1}, second) == {1, 3}
