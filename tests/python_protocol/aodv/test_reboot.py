"""What a node does after it has lost its memory (RFC 3561, section 6.13)."""

from roambus.python_protocol.actions import Note, Send
from roambus.python_protocol.aodv.agent import HELLO_TIMER, REBOOT_TIMER
from roambus.python_protocol.aodv.messages import Hello, RouteError, RouteReply, RouteRequest, Unreachable
from roambus.python_protocol.events import Crashed, Received, Recovered, Started, Stopped, Subscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.simtime import SECOND
from tests.python_protocol.aodv.bench import ME, Bench, deliveries, hello, packet, rrep, rreq, sent

DELETE_PERIOD = 15 * SECOND


def rebooted(**parameters: object) -> Bench:
    """A node that knew a route, crashed, and is back at 0."""
    bench = Bench(**parameters)
    bench.handle(Started())
    bench.handle(Subscribe(Filter()))
    bench.receive(7, rrep(9, 90))
    bench.handle(Crashed())
    bench.timers.clear()
    bench.handle(Recovered())
    return bench


def test_a_crash_loses_routes() -> None:
    """They were in memory only."""
    assert rebooted().agent.table.get(9) is None


def test_a_crash_names_the_packets_that_waited() -> None:
    """For a route, for a jitter, and for an acknowledgement of the link layer."""
    bench = Bench(link_layer=True)
    bench.handle(Started())
    bench.publish(8)
    bench.receive(7, rrep(9, 90))
    bench.publish(9)
    bench.agent.frames.unicast_later(7, packet(destination=6))
    lost = [(row.peer, row.detail) for row in bench.handle(Crashed()) if isinstance(row, Note)]
    assert sorted(lost) == [(6, "crash"), (8, "crash"), (9, "crash")]


def test_a_rebooted_node_learns_routes_but_passes_nothing_on() -> None:
    """Until DELETE_PERIOD is over: neither RREQ nor RREP nor RERR."""
    bench = rebooted()
    assert bench.receive(3, rreq(9, 0, originator=5)) == []
    assert bench.is_active(5)
    assert bench.receive(7, rrep(9, 90, originator=5)) == []
    assert bench.is_active(9)
    assert bench.receive(7, RouteError((Unreachable(9, 91),))) == []
    assert bench.receive(3, rreq(ME, 0, rreq_id=2)) == []


def test_a_rebooted_node_says_no_hello() -> None:
    """Nobody shall route through it yet."""
    bench = rebooted(profile="thesis")
    assert sent(bench.fire(HELLO_TIMER), Hello) == []


def test_after_delete_period_a_rebooted_node_takes_part_again() -> None:
    """Everybody has forgotten the routes over it by then."""
    bench = rebooted(profile="thesis")
    bench.fire(REBOOT_TIMER)
    assert bench.now == DELETE_PERIOD
    assert len(bench.receive(3, rreq(9, 0))) == 1


def test_what_was_published_in_the_meantime_is_searched_then() -> None:
    """No route discovery before; the packet waits."""
    bench = rebooted()
    assert sent(bench.publish(9), RouteRequest) == []
    assert len(sent(bench.fire(REBOOT_TIMER), RouteRequest)) == 1


def test_data_for_others_is_refused_and_restarts_the_wait() -> None:
    """Somebody still routes over this node."""
    bench = rebooted()
    assert bench.receive(3, packet(5, 9), SECOND) == [Send(3, RouteError((Unreachable(9, 0),)))]
    assert bench.timers[REBOOT_TIMER] == SECOND + DELETE_PERIOD


def test_data_for_others_is_refused_although_a_route_was_learned_meanwhile() -> None:
    """Section 6.13: the sender's own route may lead over this node, so the two could send to each other for ever."""
    bench = rebooted()
    bench.receive(7, rrep(9, 90, originator=5))
    assert bench.receive(3, packet(5, 9), SECOND) == [Send(3, RouteError((Unreachable(9, 91),)))]
    assert not bench.is_active(9)
    assert bench.timers[REBOOT_TIMER] == SECOND + DELETE_PERIOD


def test_a_rebooted_node_learns_its_own_number_from_requests() -> None:
    """Section 6.13: a request for it carries the newest number on its way; else the number is 0."""
    bench = rebooted()
    bench.receive(3, rreq(ME, 40))
    bench.fire(REBOOT_TIMER)
    (reply,) = sent(bench.receive(3, rreq(ME, 0, rreq_id=2, originator_sequence=60)), RouteReply)
    assert reply.destination_sequence == 40


def test_a_rebooted_node_that_is_not_asked_for_starts_from_zero() -> None:
    """Section 6.13: the number it had before the crash is lost."""
    bench = rebooted()
    bench.publish(9)
    (request,) = sent(bench.fire(REBOOT_TIMER), RouteRequest)
    assert request.originator_sequence == 1


def test_the_application_stays_subscribed() -> None:
    """Its filters are not the router's memory."""
    assert len(deliveries(rebooted().handle(Received(3, packet(5, ME), -70.0, 20.0)))) == 1


def test_a_frozen_node_keeps_its_routes_and_goes_on_at_once() -> None:
    """Only a crash loses memory."""
    bench = Bench(profile="thesis")
    bench.handle(Started())
    bench.receive(7, hello(7, lifetime_ms=9000))
    bench.handle(Stopped())
    bench.timers.clear()
    bench.handle(Recovered(), SECOND)
    assert bench.is_active(7)
    assert REBOOT_TIMER not in bench.timers
    assert len(sent(bench.fire(HELLO_TIMER), Hello)) == 1
