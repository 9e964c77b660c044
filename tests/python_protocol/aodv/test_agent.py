"""Publish/subscribe over AODV (the thesis, section 4.5)."""

from roambus.python_protocol.actions import Deliver, Note
from roambus.python_protocol.baselines import BeaconMessage
from roambus.python_protocol.events import Attach, Detach, Received, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, parse_filter
from roambus.python_protocol.parts.unicast import DataPacket
from tests.python_protocol.aodv.bench import ME, NEWS, Bench, deliveries, packet, rrep, sent

MINE = DataPacket(2, 30, 5, ME, NEWS)


def receive(bench: Bench, message: DataPacket) -> list[Deliver]:
    return deliveries(bench.handle(Received(3, message, -70.0, 20.0)))


def test_a_publisher_unicasts_to_every_subscriber_named() -> None:
    """One packet each; the note lists them all, reachable or not."""
    bench = Bench()
    for destination in (8, 9):
        bench.receive(7, rrep(destination, 90))
    actions = bench.publish(8, 9, 10)
    assert actions[0] == Note("route", notification_id="0.1", detail="8 9 10")
    assert [message.destination for message in sent(actions, DataPacket)] == [8, 9]


def test_a_subscriber_delivers_what_matches_with_its_hops() -> None:
    """The packet counted two hops before the last one."""
    bench = Bench()
    bench.handle(Subscribe(parse_filter("topic = 'news'")))
    assert receive(bench, MINE) == [Deliver(NEWS, 3)]


def test_what_no_filter_matches_is_not_delivered() -> None:
    """Another topic, and a filter taken back."""
    bench = Bench()
    bench.handle(Subscribe(parse_filter("topic = 'sports'")))
    bench.handle(Subscribe(Filter()))
    bench.handle(Unsubscribe(Filter()))
    assert receive(bench, MINE) == []


def test_a_second_copy_is_not_delivered() -> None:
    """A packet can be routed twice if only its acknowledgement was lost."""
    bench = Bench()
    bench.handle(Subscribe(Filter()))
    assert [len(receive(bench, MINE)) for _ in range(2)] == [1, 0]


def test_a_publisher_that_subscribes_delivers_to_itself() -> None:
    """Without any packet, after zero hops."""
    bench = Bench()
    bench.handle(Subscribe(Filter()))
    actions = bench.publish(ME)
    assert deliveries(actions) == [Deliver(NEWS, 0)]
    assert sent(actions, DataPacket) == []


def test_events_and_messages_of_others_are_ignored() -> None:
    """Nothing happens, nothing breaks."""
    bench = Bench()
    assert bench.handle(Detach()) == bench.handle(Attach()) == []
    assert bench.receive(3, BeaconMessage(10)) == []


def test_data_for_another_node_is_not_delivered_here() -> None:
    """A subscriber on the way only routes."""
    bench = Bench()
    bench.handle(Subscribe(Filter()))
    assert receive(bench, packet(5, 9)) == []
