"""A simulator in a thread of the test, which says on the wire whatever its script says."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from threading import Thread
from types import TracebackType
from typing import Self

import zmq

from roambus.bridge.backends.castalia.zeromq import Connection, Endpoint
from roambus.bridge.wire.conversion import PROTOCOL_VERSION, SCHEMA_HASH
from roambus.bridge.wire.wire_pb2 import FromSimulator, Hello, Node, ToSimulator

PATIENCE_MS = 5000


class Wire:
    """The simulator's end: what it says and hears."""

    def __init__(self, socket: zmq.Socket[bytes], token: str) -> None:
        self.socket = socket
        self.token = token

    def say(self, message: FromSimulator) -> None:
        """Sends a message."""
        self.socket.send(message.SerializeToString())

    def hear(self) -> ToSimulator:
        """The host's next message."""
        return ToSimulator.FromString(self.socket.recv())

    def ask(self, message: FromSimulator) -> ToSimulator:
        """Sends a message and takes the answer."""
        self.say(message)
        return self.hear()

    def hello(self, nodes: int, time_limit: int, /, **changes: object) -> FromSimulator:
        """A Hello that the host of a run with these nodes accepts, but for the changes."""
        fields = {
            "protocol_version": PROTOCOL_VERSION,
            "schema_hash": SCHEMA_HASH,
            "token": self.token,
            "simulator": "script",
        }
        fields |= {"time_resolution": -9, "time_limit": time_limit, "nodes": [Node(clock_rate=1)] * nodes, **changes}
        return FromSimulator(hello=Hello(**fields))  # type: ignore[arg-type]  # the changes are the test's


Script = Callable[[Wire], None]


class ScriptedSimulator:
    """Stands for a started simulator; its script runs in a thread, and what it raises is raised again at the end."""

    run = "run of the test"
    hello_within_s = 2.0

    def __init__(self, script: Script, deadline_s: float = 1.0) -> None:
        self._script = script
        self._deadline_s = deadline_s
        self._resources = ExitStack()
        self._thread: Thread | None = None
        self._error: BaseException | None = None
        self.ended_in_order: bool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises what the script raised."""
        if self._thread is not None:
            self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def connect(self) -> Connection:
        """See `Simulator`."""
        endpoint = self._resources.enter_context(Endpoint.private())
        connection = Connection(endpoint, self._deadline_s, lambda: None)
        self._resources.callback(connection.close)
        self._thread = Thread(target=self._play, args=(endpoint,))
        self._thread.start()
        return connection

    def last_lines(self) -> str:
        """It has no log."""
        return ""

    def end(self, *, in_order: bool) -> None:
        """See `Simulator`."""
        self.ended_in_order = in_order
        self._resources.close()

    def _play(self, endpoint: Endpoint) -> None:
        with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
            socket.setsockopt(zmq.RCVTIMEO, PATIENCE_MS)
            socket.setsockopt(zmq.SNDTIMEO, PATIENCE_MS)
            socket.setsockopt(zmq.LINGER, 0)
            socket.connect(endpoint.address)
            try:
                self._script(Wire(socket, endpoint.token))
            except BaseException as error:  # raised again in the test's own thread
                self._error = error
