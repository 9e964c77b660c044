"""The order in which a subscriber delivers: stay by stay, as TURNs say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.phoenix.agent import Arrived, Sorter
from roambus.extensions.phoenix.broker import Pub, Rep, Stamp, Turn
from tests.python_protocol.brokers.network import event

S1 = 101


def item(stay: int, tick: int) -> Rep:
    """A notification with the sequence number 100 stay + tick."""
    return Rep(S1, Stamp(stay, tick), 1, event(1, 100 * stay + tick))


def end(stay: int, tick: int, following: int) -> Turn:
    """The stay is over."""
    return Turn(S1, Stamp(stay, tick), following, over=True)


def visit(stay: int, tick: int, following: int) -> Turn:
    """It is another stay's turn for a while."""
    return Turn(S1, Stamp(stay, tick), following, over=False)


def sequences(released: list[Pub | Rep]) -> list[int]:
    return [pub.notification.id.sequence for pub in released]


def feed(sorter: Sorter, *arrived: Arrived) -> list[int]:
    """All that is delivered meanwhile."""
    return [sequence for pub in arrived for sequence in sequences(sorter.add(pub))]


def test_what_comes_before_its_turn_waits() -> None:
    """By tick within a stay."""
    sorter = Sorter(10)
    assert feed(sorter, item(0, 2), item(0, 3)) == []
    assert feed(sorter, item(0, 1)) == [1, 2, 3]
    assert sorter.last == Stamp(0, 3)


def test_what_comes_again_is_left_aside() -> None:
    """The broker has sent it as a PUB, and replays it; that takes no room."""
    sorter = Sorter(1)
    assert feed(sorter, item(0, 1), item(0, 1), item(0, 3), item(0, 3)) == [1]
    assert feed(sorter, item(0, 2)) == [2, 3]


def test_the_next_stay_waits_for_the_end_of_the_last() -> None:
    """TURN takes the last tick; the stay that it names need not be the next number."""
    sorter = Sorter(10)
    assert feed(sorter, item(2, 1), end(0, 2, 2)) == []
    assert feed(sorter, item(0, 1)) == [1, 201]
    assert sorter.last == Stamp(1, 0)


def test_an_older_stay_can_come_between() -> None:
    """A visit takes a tick of the stay that is interrupted; the older stay's end leads back to it."""
    sorter = Sorter(10)
    parts = (item(2, 1), visit(2, 2, 1), item(2, 3), end(0, 1, 2), item(1, 1), end(1, 2, 2))
    assert feed(sorter, *parts) == [201, 101, 203]


def test_a_visit_to_a_stay_that_is_over_goes_to_what_follows_it() -> None:
    """Stay 1 went over into 3 at one broker; a MIG of stay 1, late, has come to that of stay 2."""
    sorter = Sorter(10)
    first = (end(0, 1, 1), end(1, 1, 3), item(3, 1), visit(3, 2, 2), item(2, 1), visit(2, 2, 1))
    assert feed(sorter, *first) == [301, 201]
    assert feed(sorter, item(3, 3), item(2, 3), end(3, 4, 2)) == [303, 203]


@given(st.permutations([item(0, 1), end(0, 2, 2), item(2, 1), visit(2, 2, 1), item(2, 3), item(1, 1), end(1, 2, 2)]))
def test_the_order_of_arrival_does_not_matter(arrived: list[Arrived]) -> None:
    """Each is delivered once, in the one order that the TURNs give."""
    assert feed(Sorter(10), *arrived) == [1, 201, 101, 203]


def test_ts_last_is_of_the_first_stay_that_is_not_over() -> None:
    """All before was delivered, so that brokers need not replay it."""
    sorter = Sorter(10)
    feed(sorter, item(0, 1), end(0, 2, 2), item(2, 1), visit(2, 2, 1), item(1, 1))
    assert sorter.last == Stamp(1, 1)
    feed(sorter, end(1, 2, 2))
    assert sorter.last == Stamp(2, 2)


def test_a_stay_of_which_no_broker_knows_is_skipped() -> None:
    """Its MIG was lost before it came to a broker."""
    sorter = Sorter(10)
    assert feed(sorter, item(1, 1)) == []
    assert sequences(sorter.cancel(0)) == [101]
    feed(sorter, end(1, 2, 3))
    sorter.cancel(2)
    assert feed(sorter, item(3, 1)) == [301]


def test_who_wants_nothing_begins_anew() -> None:
    """What is under way from earlier stays need not be waited for; if it comes, it is handed on at once."""
    sorter = Sorter(10)
    feed(sorter, item(0, 2), end(1, 1, 2))
    sorter.restart(2)
    assert feed(sorter, item(2, 1), item(0, 1), end(0, 3, 1), visit(2, 2, 1), item(2, 3)) == [201, 1, 203]


def test_with_too_much_held_back_it_waits_no_longer() -> None:
    """A queue that overflowed has dropped what it waits for; then it goes on behind what has come."""
    sorter = Sorter(3)
    assert feed(sorter, item(1, 2), item(0, 2), end(0, 4, 1)) == []
    assert feed(sorter, item(0, 3)) == [2, 3, 102]
    assert feed(sorter, item(1, 3), item(0, 1)) == [103, 1]
