"""Packets wait for a route in a bounded queue."""

from roambus.python_protocol.parts.unicast import PacketQueue
from tests.python_protocol.aodv.bench import packet


def test_packets_of_one_destination_leave_in_their_order() -> None:
    """First in, first out; the others stay."""
    queue = PacketQueue(10, 100)
    packets = [packet(number=number, destination=9 - number % 2) for number in range(5)]
    for entry in packets:
        assert queue.add(entry, 0) is None
    assert queue.destinations() == [9, 8]
    assert list(queue) == packets
    assert queue.take(9) == packets[0::2]
    assert queue.take(9) == []
    assert queue.take(8) == packets[1::2]


def test_a_full_queue_drops_the_oldest_packet() -> None:
    """The newest packet is the most worth."""
    queue = PacketQueue(2, 100)
    queue.add(packet(number=1), 0)
    queue.add(packet(number=2), 0)
    assert queue.add(packet(number=3), 0) == packet(number=1)
    assert queue.take(9) == [packet(number=2), packet(number=3)]


def test_packets_that_waited_too_long_come_out() -> None:
    """Each waits for the time-out and no longer."""
    queue = PacketQueue(10, 100)
    queue.add(packet(number=1), 0)
    queue.add(packet(number=2), 50)
    assert queue.sweep(99) == []
    assert queue.sweep(100) == [packet(number=1)]
    assert len(queue) == 1
