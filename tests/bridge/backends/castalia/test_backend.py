"""The host's side of the phases, with a simulator that says what each test's script says."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest
import zmq

from roambus.bridge.backend import Failure, Step, Totals, Transmission
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.system.errors import AgentError, BackendError, ProtocolError
from roambus.bridge.wire.wire_pb2 import Arrival, Finished, FromSimulator, ToSimulator
from roambus.bridge.wire.wire_pb2 import Failed as WireFailed
from roambus.bridge.wire.wire_pb2 import Failure as WireFailure
from roambus.bridge.wire.wire_pb2 import Step as WireStep
from roambus.python_protocol.baselines import Beacon, BeaconMessage
from roambus.python_protocol.roles import BROADCAST, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.scenarios import scenario
from tests.support.simulators import PATIENCE_MS, Script, ScriptedSimulator, Wire

LIMIT = 10 * SECOND
NODES = 3
BEACON = BeaconMessage(10)


def opened(simulator: ScriptedSimulator, processing_delay: SimTime = 0) -> CastaliaBackend:
    """A back-end after the handshake."""
    run = replace(scenario([Role.NONE] * NODES, time_limit=LIMIT), processing_delay=processing_delay)
    backend = CastaliaBackend(run, Beacon.messages, simulator)
    backend.open()
    return backend


def step(now: SimTime, *arrivals: Arrival, failures: tuple[WireFailure, ...] = ()) -> FromSimulator:
    return FromSimulator(step=WireStep(now=now, arrivals=arrivals, failures=failures))


def arrival(at: SimTime, *receivers: int) -> Arrival:
    levels = [-60.0] * len(receivers)
    return Arrival(
        time=at, sender=0, payload=BEACON.encode(), receivers=receivers, rssi_dbm=levels, lqi_db=levels
    )  # fmt: skip


def greeting(then: Script, processing_delay: SimTime = 0) -> Script:
    """A script that begins with the handshake."""

    def script(wire: Wire) -> None:
        welcome = wire.ask(wire.hello(NODES, LIMIT, processing_delay=processing_delay))
        assert welcome.WhichOneof("body") == "welcome"
        then(wire)

    return script


def ends(wire: Wire) -> None:
    assert wire.ask(FromSimulator(finished=Finished())).WhichOneof("body") == "goodbye"


def test_a_run_without_events_ends_in_order() -> None:
    """Hello, Welcome, Finished, Goodbye."""
    with ScriptedSimulator(greeting(ends)) as simulator:
        backend = opened(simulator)
        assert backend.advance((), None) is None
        assert backend.close() == Totals({}, [], [])
    assert simulator.ended_in_order


def test_welcome_tells_the_first_wake_up() -> None:
    """And a Step at it comes back as one."""

    def script(wire: Wire) -> None:
        assert wire.ask(wire.hello(NODES, LIMIT)).welcome.wake_up == 5
        assert wire.ask(step(5)).reply.wake_up == 7
        ends(wire)

    with ScriptedSimulator(script) as simulator:
        backend = opened(simulator)
        assert backend.advance((), 5) == Step(5)
        assert backend.advance((), 7) is None
        backend.close()


def test_a_reply_carries_the_transmissions_and_a_step_the_deliveries() -> None:
    """Both as bytes, decoded by the agent's own messages."""
    said: list[ToSimulator] = []

    def script(wire: Wire) -> None:
        said.append(wire.ask(step(5)))
        said.append(wire.ask(step(9, arrival(9, 2, 1))))
        assert wire.ask(FromSimulator(finished=Finished(sends=1, deliveries=2))).WhichOneof("body") == "goodbye"

    with ScriptedSimulator(greeting(script)) as simulator:
        backend = opened(simulator)
        backend.advance((), 5)
        heard = backend.advance([Transmission(0, 5, BROADCAST, BEACON, 10)], 9)
        assert heard is not None
        assert [(delivery.receiver, delivery.sender, delivery.message) for delivery in heard.deliveries] == [
            (1, 0, BEACON),
            (2, 0, BEACON),
        ]
        assert backend.advance((), None) is None
        backend.close()
    (send,) = said[0].reply.sends
    assert (send.time, send.node, send.destination, send.payload) == (5, 0, BROADCAST, BEACON.encode())
    assert not said[1].reply.sends


def test_the_wake_ups_within_a_window_come_between_its_instants() -> None:
    """One round trip for a whole window: what the host sends meanwhile waits for its end."""
    said: list[ToSimulator] = []

    def script(wire: Wire) -> None:
        start, end = 10 * MILLISECOND, 11 * MILLISECOND - 1
        said.append(wire.ask(step(end, arrival(start, 1), arrival(start + 500, 2))))
        assert wire.ask(FromSimulator(finished=Finished(sends=1, deliveries=2))).WhichOneof("body") == "goodbye"

    with ScriptedSimulator(greeting(script, MILLISECOND)) as simulator:
        backend = opened(simulator, MILLISECOND)
        start = 10 * MILLISECOND
        steps = [backend.advance((), SECOND), backend.advance((), start + 200)]
        steps.append(backend.advance([Transmission(1, start + 200 + MILLISECOND, 2, BEACON, 10)], start + 900))
        steps += [backend.advance((), start + 900), backend.advance((), 2 * SECOND)]
        backend.close()
    assert [(reply.now - start, len(reply.deliveries)) for reply in steps if reply] == [
        (0, 1),
        (200, 0),
        (500, 1),
        (900, 0),
    ]
    (reply,) = (answer.reply for answer in said)
    assert [send.time for send in reply.sends] == [start + 200 + MILLISECOND]
    assert reply.wake_up == 2 * SECOND


def test_a_failure_is_reported_with_its_message() -> None:
    """What the MAC did not take comes back as the object that it was."""

    def script(wire: Wire) -> None:
        refused = WireFailure(time=5, node=1, destination=2, payload=BEACON.encode(), reason="MAC queue full")
        wire.ask(step(5, failures=(refused,)))
        ends(wire)

    with ScriptedSimulator(greeting(script)) as simulator:
        backend = opened(simulator)
        assert backend.advance((), 5) == Step(5, [], [Failure(1, 2, BEACON, "MAC queue full")])
        assert backend.advance((), None) is None
        backend.close()


def rejected(**changes: object) -> str:
    """The reason that a simulator with this Hello is told, and the host raises."""
    reasons: list[str] = []

    def script(wire: Wire) -> None:
        reasons.append(wire.ask(wire.hello(NODES, LIMIT, **changes)).reject.reason)

    with ScriptedSimulator(script) as simulator:
        backend = CastaliaBackend(scenario([Role.NONE] * NODES, time_limit=LIMIT), Beacon.messages, simulator)
        with pytest.raises(BackendError) as caught:
            backend.open()
        backend.close()
    assert reasons[0] in str(caught.value)
    assert "run of the test, before the start" in str(caught.value)
    return reasons[0]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"protocol_version": 1}, "version 1 of the protocol"),
        ({"schema_hash": b"x" * 32}, "made from another wire.proto"),
        ({"time_resolution": -12}, "simtime-resolution = ns"),
        ({"seed": 3}, "seed 3"),
        ({"time_limit": 5}, "time limit 5ns"),
        ({"nodes": []}, "number of nodes 0"),
    ],
)
def test_a_simulator_of_another_kind_or_run_is_rejected(changes: dict[str, object], reason: str) -> None:
    """Both sides are told the reason."""
    assert reason in rejected(**changes)


def test_a_stranger_is_rejected_and_changes_nothing() -> None:
    """Whoever lacks the token is told so; the run's own simulator is still welcome."""

    def script(wire: Wire) -> None:
        assert "token" in wire.ask(wire.hello(NODES, LIMIT, token="guessed")).reject.reason  # noqa: S106  # a wrong one
        greeting(ends)(wire)

    with ScriptedSimulator(script) as simulator:
        backend = opened(simulator)
        assert backend.advance((), None) is None
        backend.close()


def test_what_is_no_peer_changes_nothing() -> None:
    """Bytes that are not even ZeroMQ's."""

    def script(wire: Wire) -> None:
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(wire.socket.get_string(zmq.LAST_ENDPOINT).removeprefix("ipc://"))
            other.sendall(b"\xff" * 100_000)
        greeting(ends)(wire)

    with ScriptedSimulator(script) as simulator:
        backend = opened(simulator)
        assert backend.advance((), None) is None
        backend.close()


def test_a_stranger_that_left_is_not_taken_for_the_simulator() -> None:
    """Although the system gives the simulator the descriptor that the stranger had."""

    def script(first: Wire) -> None:
        with connected_like(first) as stranger:
            stranger.ask(stranger.hello(NODES, LIMIT, token="guessed"))  # noqa: S106  # a wrong one
        time.sleep(0.02)
        with connected_like(first) as wire:
            wire.ask(wire.hello(NODES, LIMIT))
            time.sleep(0.5)  # the host looks around meanwhile
            ends(wire)

    with ScriptedSimulator(script, deadline_s=5) as simulator:
        backend = opened(simulator)
        assert backend.advance((), None) is None
        backend.close()


@contextmanager
def connected_like(wire: Wire) -> Iterator[Wire]:
    """Another connection to the same host."""
    with wire.socket.context.socket(zmq.DEALER) as another:
        another.setsockopt(zmq.LINGER, 0)
        another.setsockopt(zmq.RCVTIMEO, PATIENCE_MS)
        another.connect(wire.socket.get_string(zmq.LAST_ENDPOINT))
        yield Wire(another, wire.token)


def failing(script: Script, error: type[BackendError] = BackendError) -> str:
    """What the host says of a simulator that does this after the handshake."""
    with ScriptedSimulator(greeting(script), deadline_s=1) as simulator:
        backend = opened(simulator)
        with pytest.raises(error) as caught:
            backend.advance((), SECOND)
        backend.fail(caught.value)
        backend.close()
    assert simulator.ended_in_order is False
    return str(caught.value)


def saying(frame: bytes) -> Script:
    def script(wire: Wire) -> None:
        wire.socket.send(frame)
        assert wire.hear().WhichOneof("body") == "failed"

    return script


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"\xff\xff", "not a message of the bridge's protocol"),
        (b"", "an empty message"),
        (FromSimulator(hello={}).SerializeToString(), "hello came"),
        (step(2 * SECOND).SerializeToString(), "too late"),
        (step(5, arrival(5, NODES)).SerializeToString(), "the nodes are 0 to 2"),
    ],
)
def test_what_breaks_a_rule_ends_the_run_and_is_answered_with_failed(frame: bytes, reason: str) -> None:
    """The error names the run, the simulation time and the rule."""
    message = failing(saying(frame), ProtocolError)
    assert reason in message
    assert message.startswith("run of the test, after simulation time 0")


def test_a_simulator_that_gives_up_is_quoted() -> None:
    """Its Failed is the host's error."""

    def script(wire: Wire) -> None:
        wire.say(FromSimulator(failed=WireFailed(reason="the battery exploded")))

    assert "the simulator gave up: the battery exploded" in failing(script)


def test_a_silent_simulator_is_given_up_at_the_deadline() -> None:
    """It still beats, so it is the deadline that ends the wait."""

    def script(wire: Wire) -> None:
        assert wire.hear().WhichOneof("body") == "failed"

    assert "did not answer within 1 s" in failing(script)


def test_a_stranger_that_speaks_on_and_on_does_not_put_the_deadline_off() -> None:
    """The wait is for the run's own simulator."""

    def script(wire: Wire) -> None:
        with connected_like(wire) as stranger:
            for _ in range(300):
                stranger.say(FromSimulator())
                if wire.socket.poll(10):
                    break
        assert wire.socket.poll(0), "the host still waits"
        assert wire.hear().WhichOneof("body") == "failed"

    assert "did not answer within 1 s" in failing(script)


def test_a_closed_socket_is_noticed_long_before_the_deadline() -> None:
    """The loss of the connection is told as such."""

    def script(wire: Wire) -> None:
        wire.socket.close(0)

    assert "the connection to the simulator is lost" in failing(script)


def test_a_simulator_that_does_not_listen_is_given_up_at_the_deadline() -> None:
    """It speaks on and on, and the answers pile up until no more go out."""

    def script(wire: Wire) -> None:
        with suppress(zmq.Again):
            for now in range(20_000):
                wire.socket.send(step(now, arrival(now, 1)).SerializeToString())

    with ScriptedSimulator(greeting(script)) as simulator:
        backend = opened(simulator)
        with pytest.raises(BackendError, match="the connection to the simulator is lost"):
            deque(iter(lambda: backend.advance((), None), None), 0)
        backend.close()


def test_no_simulator_is_an_error_within_its_time() -> None:
    """Nobody says hello."""

    def script(_: Wire) -> None:
        pass

    with ScriptedSimulator(script) as simulator:
        simulator.hello_within_s = 0.3
        backend = CastaliaBackend(scenario([Role.NONE] * NODES), Beacon.messages, simulator)
        with pytest.raises(BackendError, match=r"no simulator said hello within 0\.3 s"):
            backend.open()
        backend.close()


def test_the_simulator_is_told_where_an_agent_raised() -> None:
    """Node, time, event and traceback, for its own log."""
    said: list[ToSimulator] = []

    def script(wire: Wire) -> None:
        said.append(wire.ask(step(5)))

    with ScriptedSimulator(greeting(script)) as simulator:
        backend = opened(simulator)
        backend.advance((), 5)
        backend.fail(AgentError("node 2, simulation time 5 ns: boom", 2, 5, "Started()"))
        backend.close()
    failed = said[0].failed
    assert (failed.node, failed.time, failed.event) == (2, 5, "Started()")
    assert "boom" in failed.reason
    assert "AgentError" in failed.traceback


@pytest.mark.parametrize("wrong", [Finished(sends=1), Finished(deliveries=1)])
def test_totals_that_do_not_agree_are_an_error(wrong: Finished) -> None:
    """Something was lost on the way, or made up."""

    def script(wire: Wire) -> None:
        wire.say(FromSimulator(finished=wrong))

    assert "the simulator counts 1" in failing(script)
