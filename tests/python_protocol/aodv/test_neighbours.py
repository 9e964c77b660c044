"""Which neighbours there are (RFC 3561, section 6.9), and which are blacklisted (6.8)."""

from roambus.python_protocol.aodv.maintenance import Neighbours

TIMEOUT, WATCH, BLACKLIST = 200, 1000, 500


def test_a_neighbour_is_lost_after_a_time_of_silence() -> None:
    """Section 6.9: ALLOWED_HELLO_LOSS intervals after its last hello, once."""
    neighbours = Neighbours(TIMEOUT, WATCH, BLACKLIST)
    neighbours.hello(4, 0)
    neighbours.hello(4, 100)
    assert neighbours.lost(299) == []
    assert neighbours.lost(300) == [4]
    assert neighbours.lost(300) == []


def test_any_frame_is_a_sign_of_life_of_a_neighbour_that_said_hello() -> None:
    """Section 6.9: "hello or otherwise", but only who said hello is watched."""
    neighbours = Neighbours(TIMEOUT, WATCH, BLACKLIST)
    neighbours.hello(4, 0)
    neighbours.hear(4, 150)
    neighbours.hear(5, 150)
    assert neighbours.lost(349) == []
    assert neighbours.lost(350) == [4]


def test_a_neighbour_forgotten_is_not_lost_again() -> None:
    """A broken link is handled once."""
    neighbours = Neighbours(TIMEOUT, WATCH, BLACKLIST)
    neighbours.hello(4, 0)
    neighbours.forget(4)
    assert neighbours.lost(1000) == []


def test_a_blacklisted_neighbour_is_ignored_for_blacklist_timeout() -> None:
    """Section 6.8: then its requests count again."""
    neighbours = Neighbours(TIMEOUT, WATCH, BLACKLIST)
    neighbours.blacklist(4, 0)
    assert neighbours.blacklisted == {4: 500}


def test_only_a_neighbour_that_said_hello_lately_is_missed() -> None:
    """Section 6.9: "within the past DELETE_PERIOD"; who has stopped saying hello may just have nothing to send."""
    neighbours = Neighbours(TIMEOUT, WATCH, BLACKLIST)
    neighbours.hello(4, 0)
    neighbours.hello(5, 1)
    for node in (4, 5):
        neighbours.hear(node, 800)
    assert neighbours.lost(1000) == [5]
