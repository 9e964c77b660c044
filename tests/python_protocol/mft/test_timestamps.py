"""T(s): the order that decides whose word about a subscriber counts."""

from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.brokers.broker import MAX_HOPS
from roambus.python_protocol.messages.layout import field_type
from roambus.python_protocol.messages.octets import Reader, Writer
from roambus.python_protocol.mft.messages import UNKNOWN, Timestamp, at_hops

counters = st.integers(0, 2**32 - 1)
hops = st.integers(0, MAX_HOPS)
timestamps = st.builds(Timestamp, counters, hops)


@given(counters, hops, counters, hops)
def test_a_newer_counter_is_greater_whatever_the_hops(counter: int, near: int, later: int, far: int) -> None:
    """Section 4.1: "a higher sequence number will be deemed to have the latest information"."""
    assert (Timestamp(later, far) > Timestamp(counter, near)) == ((later, near) > (counter, far))


@given(counters, hops, hops)
def test_at_one_counter_fewer_hops_are_greater(counter: int, fewer: int, more: int) -> None:
    """Section 4.1: "if the timestamps are equal the one that reports being the closest"."""
    assert (Timestamp(counter, fewer) > Timestamp(counter, more)) == (fewer < more)


@given(timestamps, timestamps)
def test_exactly_one_of_less_equal_and_greater_holds(left: Timestamp, right: Timestamp) -> None:
    """Any two can be compared, and the two operators agree."""
    assert [left < right, left == right, left > right].count(True) == 1
    assert (left < right) == (right > left)


@given(st.lists(timestamps, min_size=3, max_size=3))
def test_the_order_is_transitive(three: list[Timestamp]) -> None:
    """Sorted neighbours being in order, the ends are too."""
    least, middle, greatest = sorted(three)
    assert not least > middle
    assert not middle > greatest
    assert not least > greatest


@given(timestamps)
def test_nothing_is_less_than_unknown(known: Timestamp) -> None:
    """T = (0, infinity) of a subscriber not known: every message of one is newer (section 4.3)."""
    assert known == UNKNOWN or known > UNKNOWN


@given(counters, st.integers(0, 3 * MAX_HOPS))
def test_hops_counted_too_far_are_infinity(counter: int, counted: int) -> None:
    """What a message cannot tell is cut to what it can."""
    assert at_hops(counter, counted) == Timestamp(counter, min(counted, MAX_HOPS))


@given(timestamps)
def test_five_bytes_hold_both(known: Timestamp) -> None:
    """The encoding is short and loses nothing."""
    writer, kind = Writer(), field_type(Timestamp)
    kind.write(writer, known)
    assert len(writer.getvalue()) == 5
    assert kind.read(Reader(writer.getvalue())) == known
