"""Feeds frames to the host's real code, from memory or through a socket, and says what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from enum import Enum
from typing import cast

import zmq

from benchmarks.fuzz.recordings import Conversation
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.connection import Connection
from roambus.bridge.backends.castalia.endpoint import Endpoint
from roambus.bridge.errors import BackendError, ProtocolError
from roambus.bridge.wire.wire_pb2 import ToSimulator
from roambus.python_protocol.simtime import SimTime

MOST_STEPS = 1_000_000
"""A host that is told more Steps than this by a short conversation never ends."""
SILENCE = "everything is said"
DEADLINE_S = 5.0


class Result(Enum):
    """What a host can make of a conversation."""

    HANDLED = "handled to the end"
    REJECTED = "rejected: a rule is broken"
    FAILED = "the simulator is gone, or gave up"


class FramesInMemory:
    """A simulator, and the connection to it, that says these frames and then nothing."""

    run = "run of the fuzzer"
    hello_within_s = DEADLINE_S

    def __init__(self, frames: Sequence[bytes], token: str) -> None:
        self.token = token
        self._frames = iter(frames)

    def connect(self) -> Connection:
        """See `Simulator`."""
        return cast("Connection", self)  # it has all that a back-end uses of one

    def last_lines(self) -> str:
        """See `Simulator`."""
        return ""

    def end(self, *, in_order: bool) -> None:
        """See `Simulator`."""

    def receive_hello(self, within_s: float) -> bytes:  # noqa: ARG002  # as Connection has it
        """The first frame, whatever it is: a connection would pass on none without the token."""
        return self.receive()

    def receive(self) -> bytes:
        """The next frame."""
        frame = next(self._frames, None)
        if frame is None:
            raise BackendError(SILENCE)
        return frame

    def send(self, message: ToSimulator) -> None:
        """Nobody listens, but it must be possible to send."""
        message.SerializeToString()


class FramesOnSocket:
    """A simulator at the other end of a real socket, that says all frames at once and then nothing."""

    run = "run of the fuzzer"
    hello_within_s = DEADLINE_S

    def __init__(self, frames: Sequence[bytes], token: str) -> None:
        self._frames = frames
        self._token = token
        self._resources = ExitStack()

    def connect(self) -> Connection:
        """See `Simulator`."""
        endpoint = self._resources.enter_context(Endpoint.private())
        endpoint.token = self._token
        connection = Connection(endpoint, DEADLINE_S, lambda: SILENCE)
        self._resources.callback(connection.close)
        context = self._resources.enter_context(zmq.Context())
        dealer = self._resources.enter_context(context.socket(zmq.DEALER))
        dealer.setsockopt(zmq.LINGER, 0)
        dealer.connect(endpoint.address)
        for frame in self._frames:
            dealer.send(frame)
        return connection

    def last_lines(self) -> str:
        """See `Simulator`."""
        return ""

    def end(self, *, in_order: bool) -> None:  # noqa: ARG002  # as Simulator has it
        """See `Simulator`."""
        self._resources.close()


Feeder = Callable[[Sequence[bytes], str], FramesInMemory | FramesOnSocket]


def feed(conversation: Conversation, frames: Sequence[bytes], feeder: Feeder) -> Result:
    """Plays a host without agents to the frames. Raises whatever the host's code should not."""
    simulator = feeder(frames, conversation.token)
    backend = CastaliaBackend(conversation.scenario, conversation.messages, simulator, lookahead=False)
    try:
        _advance_to_the_end(backend, conversation.wake_ups)
    except BackendError as error:
        if feeder is FramesOnSocket:  # from memory nobody would hear it, and its traceback takes half of the time
            backend.fail(error)
        if not str(error).startswith(simulator.run):
            raise AssertionError(f"the error does not name the run: {error}") from error
        return Result.REJECTED if isinstance(error, ProtocolError) else Result.FAILED
    finally:
        backend.close()
    return Result.HANDLED


def _advance_to_the_end(backend: CastaliaBackend, wake_ups: Sequence[SimTime | None]) -> None:
    backend.open()
    now = -1
    for _ in range(MOST_STEPS):
        asked = wake_ups[backend.round_trips] if backend.round_trips < len(wake_ups) else None
        step = backend.advance((), None if asked is None or asked <= now else asked)
        if step is None:
            return
        now = step.now
    raise AssertionError(f"the host was told more than {MOST_STEPS} Steps")
