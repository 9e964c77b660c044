"""The plain Unix socket keeps the promises of the connection, with a simulator that says what each test wants."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Timer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.backends.castalia.local import MOST_VISITORS, FrameReader, LocalConnection, framed
from roambus.bridge.backends.castalia.zeromq import Endpoint
from roambus.bridge.errors import BackendError, ProtocolError
from roambus.bridge.wire.wire_pb2 import FromSimulator, Goodbye, Hello, ToSimulator

DEADLINE_S = 0.5


@contextmanager
def listening() -> Iterator[tuple[LocalConnection, Endpoint]]:
    with (
        Endpoint.private("local") as endpoint,
        closing(LocalConnection(endpoint, DEADLINE_S, lambda: None)) as connection,
    ):
        yield connection, endpoint


def visitor(endpoint: Endpoint, saying: bytes = b"") -> socket.socket:
    """Somebody who connects and says something."""
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(5)
    one.connect(endpoint.path)
    one.sendall(saying)
    return one


def hello(token: str) -> bytes:
    return FromSimulator(hello=Hello(token=token)).SerializeToString()


@contextmanager
def acquainted() -> Iterator[tuple[LocalConnection, socket.socket]]:
    """A connection after the hello, and the simulator's end."""
    with listening() as (connection, endpoint), visitor(endpoint, framed(hello(endpoint.token))) as simulator:
        assert connection.receive_hello(5) == hello(endpoint.token)
        yield connection, simulator


@given(st.lists(st.binary(max_size=300)), st.data())
def test_messages_come_whole_however_their_bytes_come(messages: list[bytes], data: st.DataObject) -> None:
    """And in their order."""
    stream, reader, read = b"".join(map(framed, messages)), FrameReader(300), []
    while stream:
        count = data.draw(st.integers(1, len(stream)))
        reader.add(stream[:count])
        stream = stream[count:]
        while (message := reader.take()) is not None:
            read.append(message)
    assert read == messages


def test_a_message_that_would_be_too_long_is_refused_by_its_length() -> None:
    """Nobody waits for the rest of it."""
    reader = FrameReader(10)
    reader.add((11).to_bytes(4, "little"))
    with pytest.raises(ProtocolError, match="a message of 11 bytes: at most 10"):
        reader.take()


def test_both_sides_hear_each_other() -> None:
    """A message in two pieces, and two messages in one."""
    with acquainted() as (connection, simulator):
        simulator.sendall(framed(b"first") + framed(b"second")[:3])
        assert connection.receive() == b"first"
        simulator.sendall(framed(b"second")[3:])
        assert connection.receive() == b"second"
        connection.send(ToSimulator(goodbye=Goodbye()))
        assert simulator.recv(100) == framed(ToSimulator(goodbye=Goodbye()).SerializeToString())


def test_only_the_user_can_reach_the_socket() -> None:
    """As with ZeroMQ's."""
    with listening() as (_, endpoint):
        assert Path(endpoint.path).parent.stat().st_mode & 0o777 == 0o700


def test_strangers_change_nothing() -> None:
    """Who lacks the token is told so; garbage, silence and a long hello are borne; then the simulator is heard."""
    with listening() as (connection, endpoint):
        liar = visitor(endpoint, framed(hello("guessed")))
        others = [visitor(endpoint), visitor(endpoint, framed(b"garbage")), visitor(endpoint, b"\xff" * 100)]
        with visitor(endpoint, framed(hello(endpoint.token))) as simulator:
            assert connection.receive_hello(5) == hello(endpoint.token)
            with socket.socket(socket.AF_UNIX) as late, pytest.raises(ConnectionRefusedError):
                late.connect(endpoint.path)
            simulator.sendall(framed(b"said"))
            assert connection.receive() == b"said"
        reject = FrameReader(1000)
        reject.add(liar.recv(1000))
        assert "another token" in ToSimulator.FromString(reject.take() or b"").reject.reason
        for one in (liar, *others):
            one.close()


def test_visitors_cannot_use_the_descriptors_up() -> None:
    """Whoever waits longest is shown out."""
    with listening() as (connection, endpoint):
        crowd = [visitor(endpoint) for _ in range(MOST_VISITORS // 2)]
        with pytest.raises(BackendError, match="no simulator said hello within"):
            connection.receive_hello(0.2)
        crowd += [visitor(endpoint) for _ in range(MOST_VISITORS // 2)]
        with visitor(endpoint, framed(hello(endpoint.token))):
            connection.receive_hello(5)
        assert crowd[0].recv(1) == b""
        for one in crowd:
            one.close()


def test_a_simulator_that_is_gone_is_noticed_at_once() -> None:
    """Before its deadline."""
    with acquainted() as (connection, simulator):
        Timer(0.1, simulator.close).start()
        with pytest.raises(BackendError, match="it has closed its socket"):
            connection.receive()


def test_a_simulator_that_says_nothing_is_waited_for_until_the_deadline() -> None:
    """Frozen, or stuck."""
    with acquainted() as (connection, _), pytest.raises(BackendError, match=r"did not answer within 0\.5 s"):
        connection.receive()


def test_a_simulator_that_does_not_listen_is_given_up() -> None:
    """Once its buffer is full."""
    message = ToSimulator()
    message.failed.reason = "x" * 10_000_000
    with acquainted() as (connection, _), pytest.raises(BackendError, match="lost"):
        connection.send(message)
