"""What is known of the time after a Step: until when the host may handle what is due without asking."""

from __future__ import annotations

import pytest

from roambus.bridge.backend import Step, Transmission
from roambus.bridge.backends.castalia.backend import Lookahead
from roambus.bridge.system.errors import ProtocolError
from roambus.bridge.wire.wire_pb2 import Arrival, Finished, FromSimulator, Hello, Quiet, ToSimulator
from roambus.bridge.wire.wire_pb2 import Step as WireStep
from roambus.python_protocol.baselines import BeaconMessage
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime
from tests.bridge.backends.castalia.test_backend import arrival, greeting, opened
from tests.support.simulators import ScriptedSimulator, Wire

BEACON = BeaconMessage(10)


def started(until: SimTime, room: int, delay: SimTime = 0) -> Lookahead:
    lookahead = Lookahead(Hello(least_delay=100, delay_per_byte=10, most_bytes=10, processing_delay=delay))
    lookahead.start(WireStep(now=5, quiet=Quiet(until=until, room=room)))
    return lookahead


def sent(at: SimTime, node: NodeId = 0, size: int = 10) -> Transmission:
    return Transmission(node, at, BROADCAST, BEACON, size)


def test_without_a_word_of_the_simulator_nothing_after_a_step_is_known() -> None:
    """It says nothing if it was not asked, or does not know."""
    lookahead = Lookahead(Hello())
    lookahead.start(WireStep(now=5))
    assert lookahead.until == 5


def test_the_instant_at_which_something_may_arrive_is_not_known() -> None:
    """All before it is."""
    assert started(until=900, room=3).until == 899


def test_a_packet_can_arrive_after_its_time_on_the_air() -> None:
    """Its bytes count; what the simulator said still holds."""
    lookahead = started(until=900, room=3)
    lookahead.sent([sent(50)])
    assert lookahead.until == 50 + 100 + 10 * 10 - 1
    lookahead.sent([sent(240)])
    assert lookahead.until == 249


@pytest.mark.parametrize(("delay", "known"), [(0, 52), (7, 51)])
def test_nothing_is_known_after_a_packet_for_which_there_may_be_no_room(delay: SimTime, known: SimTime) -> None:
    """Of one node; without processing delay it is refused after the timers of its instant, with one before them."""
    lookahead = started(900, 2, delay)
    lookahead.sent([sent(50), sent(50, node=1), sent(51), sent(52)])
    assert lookahead.until == known


def test_nothing_is_known_after_a_packet_that_may_be_too_long() -> None:
    """However much room there is."""
    lookahead = started(until=900, room=30)
    lookahead.sent([sent(50, size=11)])
    assert lookahead.until == 50


def test_a_new_step_says_anew_what_is_known() -> None:
    """Also how much room there is."""
    lookahead = started(until=900, room=1)
    lookahead.sent([sent(50)])
    lookahead.start(WireStep(now=200, quiet=Quiet(until=400, room=1)))
    lookahead.sent([sent(210)])
    assert lookahead.until == 399


def quiet_step(now: SimTime, until: SimTime, *arrivals: Arrival) -> FromSimulator:
    return FromSimulator(step=WireStep(now=now, arrivals=arrivals, quiet=Quiet(until=until, room=9)))


def test_wake_ups_in_quiet_time_need_no_exchange() -> None:
    """What is sent meanwhile travels with the next answer, whose wake-up lies behind the quiet time."""
    said: list[ToSimulator] = []

    def script(wire: Wire) -> None:
        said.append(wire.ask(quiet_step(5, 50)))
        assert wire.ask(FromSimulator(finished=Finished(sends=1))).WhichOneof("body") == "goodbye"

    with ScriptedSimulator(greeting(script)) as simulator:
        backend = opened(simulator)
        assert [backend.advance((), 5), backend.advance((), 20)] == [Step(5), Step(20)]
        assert backend.advance([sent(20, node=1)], 60) is None
        backend.close()
    assert [(send.time, send.node) for send in said[0].reply.sends] == [(20, 1)]
    assert said[0].reply.wake_up == 60
    assert backend.round_trips == 1


def test_an_arrival_in_quiet_time_is_a_violation() -> None:
    """The agents have gone on already."""

    def script(wire: Wire) -> None:
        wire.ask(quiet_step(5, 50))
        wire.say(quiet_step(20, 50, arrival(20, 1)))

    with ScriptedSimulator(greeting(script)) as simulator:
        backend = opened(simulator)
        assert [backend.advance((), 5), backend.advance((), 20)] == [Step(5), Step(20)]
        with pytest.raises(ProtocolError, match="comes after"):
            backend.advance((), 60)
        backend.close()
