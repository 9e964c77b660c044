"""A site's state as bytes: a broker that gets a copy goes on from just the same state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.extensions.replicated import site_state
from roambus.extensions.replicated.messages import (
    NONE,
    NOTHING,
    SUBSCRIPTIONS,
    TOTAL,
    Accepted,
    Event,
    Key,
    Numbered,
    ReplicatedParameters,
    Sub,
    Uns,
    Update,
)
from roambus.extensions.replicated.site_state import Place, SiteState, decode_state, encode_state
from roambus.python_protocol.filters import Notification, NotificationId, parse_filter
from roambus.python_protocol.messages.octets import DecodeError

PLACE = Place(parent=None, sites=(3,), clients=(9, 10))
FILTER = parse_filter("topic = 1")
NOTIFICATION = Notification(NotificationId(9, 2), (("topic", 1),))

GOLDEN = {
    TOTAL: (
        "0000000100000002fffe00000001000100000002000102000000020105746f706963000000000000000000010009000000020001000000"
        "03000103000900000003010009000000020105746f706963000000000000000001000000000000000000010105746f7069630000000000"
        "000000000100010001fffe0000000200000001ffff000000010002000700000001000900000002000900000005000900000002000103ff"
        "ff00000001020009000000020105746f706963000000000000000001000000010105746f7069630000000000000000000100020002fffe"
        "0000000300000007000000010001000000020001040007000000020002fffe00000001ffff000000010000000103ffff00000001020009"
        "000000020105746f7069630000000000000000010000"
    ),
    NONE: (
        "0000000000000002fffe00000001000100000002000102000000020105746f706963000000000000000000010009000000020001000000"
        "03000000000000000000010105746f7069630000000000000000000100010001fffe000000020000000100090000000200020007000000"
        "01000900000002000900000005000900000002000203000900000001020009000000020105746f70696300000000000000000100000300"
        "0900000002020009000000020105746f706963000000000000000001000000010105746f7069630000000000000000000100020002fffe"
        "00000003000000070000000100010000000200000002000900000002fffe00000001000000020300090000000102000900000002010574"
        "6f706963000000000000000001000003000900000002020009000000020105746f7069630000000000000000010000"
    ),
}


def new(order: str) -> SiteState:
    return SiteState(PLACE, ReplicatedParameters(order=order))


def state(order: str) -> SiteState:
    """A state in which something waits, is unaccepted, and was accepted too early."""
    made = new(order)
    made.take_in(10, Sub(1, FILTER))
    made.take_in(3, Sub(1, FILTER))
    made.take_in(3, Sub(2, FILTER))
    made.take_in(9, Uns(2, FILTER))
    made.take_in(9, Event(9, 1, 1, NOTIFICATION))
    made.take_in(9, Event(9, 3, 1, NOTIFICATION))
    made.take_in(3, Update(7, 2))
    for peer, key in ((10, Key(9, 5)), (10, Key(7, 1)), (3, Key(SUBSCRIPTIONS, 1))):
        made.outgoing[peer].accept(Accepted(*key, NOTHING if key.stream == SUBSCRIPTIONS else NOTIFICATION.id))
    return made


@pytest.mark.parametrize("order", [TOTAL, NONE])
def test_the_bytes_of_a_state_stay_as_they_are(order: str) -> None:
    """A change of the layout is made on purpose."""
    assert encode_state(state(order)).hex() == GOLDEN[order]


messages = st.tuples(
    st.sampled_from(PLACE.peers),
    st.one_of(
        st.builds(Sub, st.integers(1, 4), st.just(FILTER)),
        st.builds(Event, st.sampled_from((9, 10)), st.integers(1, 4), st.just(1), st.just(NOTIFICATION)),
        st.builds(Update, st.sampled_from((9, 10)), st.integers(1, 4)),
    ),
)
keys = st.tuples(st.sampled_from(PLACE.peers), st.builds(Key, st.sampled_from((9, 10)), st.integers(1, 4)))


@given(st.sampled_from([TOTAL, NONE]), st.lists(messages, max_size=12), st.lists(keys, max_size=6), messages)
def test_a_copy_goes_on_as_the_original_does(
    order: str, taken: list[tuple[int, Numbered]], accepted: list[tuple[int, Key]], following: tuple[int, Numbered]
) -> None:
    """It has the same bytes again, and the next message makes it send the same."""
    original = new(order)
    for peer, message in taken:
        original.take_in(peer, message)
    for peer, key in accepted:
        original.outgoing[peer].accept(Accepted(*key, NOTIFICATION.id))
    copied = decode_state(encode_state(original), new(order))
    assert encode_state(copied) == encode_state(original)
    assert copied.take_in(*following) == original.take_in(*following)


@pytest.mark.parametrize("count", [0, 2, 3, 4, 6])
def test_more_can_be_kept_than_a_count_tells(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches, here of three, follow each other until one is not full."""
    monkeypatch.setattr(site_state, "_BATCH", 3)
    original = new(NONE)
    original.outgoing[10].early.update({Key(9, number): NOTIFICATION.id for number in range(1, count + 1)})
    assert decode_state(encode_state(original), new(NONE)).outgoing[10].early == original.outgoing[10].early


@pytest.mark.parametrize("data", [b"", b"\0" * 7, encode_state(state(TOTAL)) + b"!"], ids=["none", "few", "many"])
def test_bytes_that_are_no_state_are_refused(data: bytes) -> None:
    """Too few and too many bytes are found."""
    with pytest.raises(DecodeError):
        decode_state(data, new(TOTAL))
