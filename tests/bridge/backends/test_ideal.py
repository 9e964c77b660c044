"""Ideal links are reliable and FIFO while they stand; what is under way on one that falls is lost."""

from roambus.bridge.backend import Failure, Transmission
from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.scenario.plans import LinkChange
from roambus.python_protocol.events import NO_LINK
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MILLISECOND, SECOND


class Number(Message, tag=1):
    value: U8


def send(node: int, destination: int, value: int, at: int = 0) -> Transmission:
    return Transmission(node, at, destination, Number(value), 2)


def opened(changes: list[LinkChange] | None = None) -> IdealBackend:
    backend = IdealBackend(4, [(0, 1), (0, 2), (2, 3)], SECOND, changes or [])
    backend.open()
    return backend


def test_a_broadcast_reaches_the_neighbours_at_once() -> None:
    """All neighbours hear it in one step, in the order of their ids; others do not."""
    step = opened().advance([send(0, BROADCAST, 7)], None)
    assert step is not None
    assert step.now == MILLISECOND
    assert [delivery.receiver for delivery in step.deliveries] == [1, 2]


def test_unicast_reaches_its_addressee_only() -> None:
    """A frame for one neighbour is for no other; of one for a stranger the sender is told at once."""
    backend = opened()
    refused = backend.advance([send(0, 2, 7), send(0, 3, 8)], None)
    step = backend.advance([], None)
    assert refused is not None
    assert (refused.now, refused.failures) == (0, [Failure(0, 3, Number(8), NO_LINK)])
    assert step is not None
    assert [(delivery.receiver, delivery.message) for delivery in step.deliveries] == [(2, Number(7))]


def test_links_are_fifo() -> None:
    """What was sent first arrives first, at one instant and over time."""
    backend = opened()
    step = backend.advance([send(0, 1, 1), send(0, 1, 2), send(0, 1, 3, at=1)], None)
    later = backend.advance([], None)
    assert step is not None
    assert later is not None
    assert [delivery.message for delivery in (*step.deliveries, *later.deliveries)] == [Number(1), Number(2), Number(3)]


def test_a_wake_up_comes_before_a_later_delivery() -> None:
    """The host gets control at its wake-up, and the delivery afterwards."""
    backend = opened()
    step = backend.advance([send(0, 1, 1)], MILLISECOND // 2)
    assert step is not None
    assert (step.now, list(step.deliveries)) == (MILLISECOND // 2, [])
    step = backend.advance([], 2 * MILLISECOND)
    assert step is not None
    assert (step.now, len(step.deliveries)) == (MILLISECOND, 1)


def test_a_falling_link_loses_what_is_under_way() -> None:
    """A frame on a link that goes down does not arrive, even if the link comes back at once; its sender is told."""
    changes = [LinkChange(MILLISECOND // 2, 0, 1, False), LinkChange(MILLISECOND // 2, 0, 1, True)]
    backend = opened(changes)
    step = backend.advance([send(0, 1, 1), send(0, BROADCAST, 2)], None)
    assert step is not None
    assert (step.now, step.failures) == (MILLISECOND // 2, [Failure(0, 1, Number(1), NO_LINK)])
    step = backend.advance([], None)
    assert step is not None
    assert [delivery.receiver for delivery in step.deliveries] == [2]


def test_a_new_link_carries() -> None:
    """A link that comes up carries frames sent from then on."""
    backend = opened([LinkChange(5 * MILLISECOND, 1, 3, True)])
    refused = backend.advance([send(1, 3, 1, at=4 * MILLISECOND), send(1, 3, 2, at=5 * MILLISECOND)], None)
    step = backend.advance([], None)
    assert refused is not None
    assert [failure.message for failure in refused.failures] == [Number(1)]
    assert step is not None
    assert [delivery.message for delivery in step.deliveries] == [Number(2)]


def test_nothing_happens_at_the_time_limit() -> None:
    """The run ends at its limit; a wake-up there is not served."""
    assert opened().advance([], SECOND) is None
