"""Who is not the run's simulator is shown out: when too many wait, and always once it has said hello."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import zmq

from roambus.bridge.backends.castalia.zeromq import Connection, Endpoint, Guard
from roambus.bridge.system.errors import BackendError
from roambus.bridge.wire.wire_pb2 import FromSimulator, Hello

FIVE_BYTES = b"\x01\x00\x02\x00a"
"""A greeting of ZMTP 1, and a message: libzmq gives such a message no metadata."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint.private() as endpoint:
        yield endpoint


@pytest.fixture
def host(endpoint: Endpoint) -> Iterator[Connection]:
    connection = Connection(endpoint, 2.0, lambda: None)
    yield connection
    connection.close()


def come(endpoint: Endpoint, said: bytes = b"") -> socket.socket:
    """A raw connection."""
    stranger = socket.socket(socket.AF_UNIX)
    stranger.connect(endpoint.address.removeprefix("ipc://"))
    stranger.settimeout(2)
    if said:
        stranger.sendall(said)
    return stranger


def is_out(stranger: socket.socket) -> bool:
    """Whether the host has ended the connection; what it said before is read."""
    try:
        while stranger.recv(1000):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def test_the_old_zmtp_is_not_heard(host: Connection, endpoint: Endpoint) -> None:
    """Its messages have no metadata, by which the host could tell their connection."""
    with come(endpoint, FIVE_BYTES) as stranger:
        with pytest.raises(BackendError, match="no simulator said hello"):
            host.receive_hello(0.3)
        assert is_out(stranger)


def test_the_simulator_alone_stays(host: Connection, endpoint: Endpoint) -> None:
    """Whoever came before it is shown out with its hello, and whoever comes later at once."""
    hello = FromSimulator(hello=Hello(token=endpoint.token)).SerializeToString()
    with ExitStack() as stack:
        early = stack.enter_context(come(endpoint))
        context = stack.enter_context(zmq.Context())
        simulator = stack.enter_context(context.socket(zmq.DEALER))
        simulator.connect(endpoint.address)
        simulator.send(hello)
        assert host.receive_hello(2) == hello
        assert is_out(early)
        assert is_out(stack.enter_context(come(endpoint)))
        simulator.send(b"a step")
        assert host.receive() == b"a step"


def test_who_waits_longest_makes_room(endpoint: Endpoint) -> None:
    """The others may stay."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router, ExitStack() as stack:
        guard = Guard(router, most=3)
        stack.callback(guard.close)
        router.bind(endpoint.address)
        waiting = [stack.enter_context(come(endpoint)) for _ in range(5)]
        time.sleep(0.1)
        guard.look()
        for stranger in waiting:
            stranger.settimeout(0.2)
        assert [is_out(stranger) for stranger in waiting] == [True, True, False, False, False]


def test_who_fills_the_memory_is_shown_out(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can tell who of those who wait it is, so all are."""
    memory = 100
    monkeypatch.setattr("roambus.bridge.backends.castalia.zeromq.peak_memory_mib", lambda: memory)
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router, ExitStack() as stack:
        guard = Guard(router)
        stack.callback(guard.close)
        router.bind(endpoint.address)
        stranger = stack.enter_context(come(endpoint))
        time.sleep(0.1)
        guard.look()
        stranger.settimeout(0.1)
        assert not is_out(stranger)
        memory = 1000
        guard.look()
        assert is_out(stranger)
