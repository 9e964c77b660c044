"""The host's end of the wire: a ROUTER for one simulator, on which every wait ends.

A simulator that is gone is noticed by the loss of its connection, one that is frozen by ZeroMQ's heartbeats, one that
is stuck by the deadline. Strangers, who lack the run's token, are answered with Reject and change nothing.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import TypeVar

import zmq
from google.protobuf.message import DecodeError
from zmq.utils.monitor import recv_monitor_message

from roambus.bridge.backends.castalia.curve import admit_only_client
from roambus.bridge.backends.castalia.endpoint import Endpoint
from roambus.bridge.errors import BackendError, UserError
from roambus.bridge.interrupts import interrupts_postponed
from roambus.bridge.wire.conversion import MAX_FRAME_BYTES
from roambus.bridge.wire.wire_pb2 import FromSimulator, Reject, ToSimulator

TICK_MS = 100
"""A wait looks so often whether the simulator is still there."""
BEATS, MISSED = 8, 6
"""So many heartbeats are in one deadline, and so many without an answer end the connection, for some may be late."""
SOURCE_DESCRIPTOR = 2
"""The option ZMQ_SRCFD: it names the connection that a message came by, as the monitor's events do."""
MAX_HELLO_BYTES = 4 * 2**20
"""A Hello of as many nodes as there are addresses has this length. Parsed, a message can take 40 times of it."""
STRANGER = "this run has another token: its simulator reads the token from .roambus/session beside the run's ini"

MORE = int(zmq.SNDMORE)
"""A plain number is used, and frames one by one: send_multipart and recv_multipart cost more than reading a Step."""

T = TypeVar("T", bytes, zmq.Frame)


class Connection:
    """Is bound at once; `receive` and `send` speak with the one peer that said Hello with the run's token."""

    def __init__(self, endpoint: Endpoint, deadline_s: float, ended: Callable[[], str | None]) -> None:
        """Binds the socket; `ended` says how the simulator ended. Raises UserError if the address cannot be had."""
        self.token = endpoint.token
        self._deadline_s = deadline_s
        self._ended = ended
        self._peer: bytes | None = None
        self._descriptor: object = None
        self._left = False
        with ExitStack() as stack:
            self._open(stack, endpoint)
            self._resources = stack.pop_all()

    def _open(self, stack: ExitStack, endpoint: Endpoint) -> None:
        context = stack.enter_context(zmq.Context(1))
        self._socket = stack.enter_context(context.socket(zmq.ROUTER))
        _configure(self._socket, self._deadline_s)
        if endpoint.keys is not None:
            stack.callback(admit_only_client(context, self._socket, endpoint.keys).stop)
        self._monitor = stack.enter_context(self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED))
        stack.callback(self._socket.disable_monitor)
        try:
            self._socket.bind(endpoint.address)
        except zmq.ZMQError as error:
            raise UserError(f"{endpoint.address}: cannot listen there: {error}") from None

    def receive_hello(self, within_s: float) -> bytes:
        """The first message of a peer with the run's token, whatever strangers say before; raises BackendError."""
        give_up = time.monotonic() + within_s
        while True:
            frames = self._wait(self._receive_frames, give_up, f"no simulator said hello within {within_s:g} s")
            with interrupts_postponed():  # pyzmq swallows the exception if it comes while a frame is freed
                identity, hello, descriptor = frames[0].bytes, frames[-1].bytes, frames[-1].get(SOURCE_DESCRIPTOR)
                frames.clear()
            if hmac.compare_digest(_token(hello), self.token.encode()):
                while self._monitor.poll(0):  # a stranger before may have had the same descriptor
                    recv_monitor_message(self._monitor)
                self._peer, self._descriptor = identity, descriptor
                return hello
            self._reject(identity)

    def receive(self) -> bytes:
        """The peer's next message; raises BackendError when it is gone, frozen, or silent beyond the deadline."""
        give_up = time.monotonic() + self._deadline_s
        silence = f"the simulator did not answer within {self._deadline_s:g} s"
        while True:
            sender, *parts = self._wait(self._receive_parts, give_up, silence)
            if sender == self._peer:
                return b"".join(parts)
            self._reject(sender)

    def send(self, message: ToSimulator) -> None:
        """Hands a message to the peer's connection; raises BackendError if that is lost."""
        if self._peer is None:
            raise BackendError("there is nobody to speak to")
        try:
            self._socket.send(self._peer, MORE)
            self._socket.send(message.SerializeToString())
        except zmq.ZMQError:
            raise BackendError(self._lost()) from None
        except KeyboardInterrupt:  # maybe between address and message: what is sent next would be a part of it
            self._peer = None
            raise

    def wait_until_left(self, within_s: float) -> None:
        """Waits until the peer has closed its end, so that it has read what was said last, but not longer than told."""
        give_up = time.monotonic() + within_s
        while self._peer is not None and not self._has_left() and time.monotonic() < give_up:
            self._monitor.poll(TICK_MS)

    def close(self) -> None:
        """Ends the connection; what was sent last still goes out, if the peer takes it at once."""
        self._resources.close()

    def _wait(self, receive: Callable[[], list[T]], give_up: float, silence: str) -> list[T]:
        """The parts of the next message, of which the first is the sender's identity."""
        while time.monotonic() <= give_up:
            try:
                return receive()
            except zmq.Again:
                self._check_alive()
        raise BackendError(silence)

    def _receive_parts(self) -> list[bytes]:
        # As bytes: frames swallow Ctrl-C now and then.
        parts = [self._socket.recv(), self._socket.recv()]
        while self._socket.getsockopt(zmq.RCVMORE):
            parts.append(self._socket.recv())
        return parts

    def _receive_frames(self) -> list[zmq.Frame]:
        return self._socket.recv_multipart(copy=False)

    def _check_alive(self) -> None:
        if self._has_left():
            raise BackendError(self._lost())
        if (end := self._ended()) is not None and not self._socket.poll(0):
            raise BackendError(end)

    def _has_left(self) -> bool:
        while self._monitor.poll(0):
            self._left |= recv_monitor_message(self._monitor)["value"] == self._descriptor
        return self._left

    def _lost(self) -> str:
        """An error that says why there is no connection; a simulator that ends closes it a moment before."""
        time.sleep(TICK_MS / 1000)
        return self._ended() or "the connection to the simulator is lost: it is frozen, or has closed its socket"

    def _reject(self, stranger: bytes) -> None:
        with suppress(zmq.ZMQError):
            answer = ToSimulator(reject=Reject(reason=STRANGER))
            self._socket.send_multipart([stranger, answer.SerializeToString()], zmq.DONTWAIT)


def _configure(socket: zmq.Socket[bytes], deadline_s: float) -> None:
    beat = max(1, round(deadline_s * 1000 / BEATS))
    socket.setsockopt(zmq.LINGER, TICK_MS)
    socket.setsockopt(zmq.RCVTIMEO, TICK_MS)
    socket.setsockopt(zmq.SNDTIMEO, round(deadline_s * 1000))  # for a peer that speaks on, and does not listen
    socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
    socket.setsockopt(zmq.MAXMSGSIZE, MAX_FRAME_BYTES)
    socket.setsockopt(zmq.HEARTBEAT_IVL, beat)
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, MISSED * beat)


def _token(frame: bytes) -> bytes:
    """The token in a Hello, or nothing if the frame is something else or longer than a stranger's may be."""
    if len(frame) > MAX_HELLO_BYTES:
        return b""
    try:
        return FromSimulator.FromString(frame).hello.token.encode()
    except DecodeError:
        return b""
