"""The host's end of ZeroMQ: a ROUTER for one simulator, on which every wait ends, and which no stranger can disturb.

A simulator that is gone is noticed by the loss of its connection, one that is frozen by ZeroMQ's heartbeats, one that
is stuck by the deadline. Strangers, who lack the run's token, are answered with Reject and change nothing; once the
simulator has said hello, they are not even heard.
"""

from __future__ import annotations

import ctypes
import hmac
import os
import resource
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from threading import Event, Thread
from typing import Any

import zmq
from google.protobuf.message import DecodeError
from zmq.utils import z85
from zmq.utils.monitor import recv_monitor_message

from roambus.bridge.backends.castalia.endpoint import CurveKeys, Endpoint
from roambus.bridge.errors import BackendError, UserError, peak_memory_mib
from roambus.bridge.process import interrupts_postponed
from roambus.bridge.wire.conversion import MAX_FRAME_BYTES
from roambus.bridge.wire.wire_pb2 import FromSimulator, Reject, ToSimulator

TICK_MS = 100
"""Milliseconds between two looks of a wait whether something has changed."""

SHARE = 4
"""One of this number of the process' file descriptors is for connections that wait."""

FLOOD_MIB = 512
"""Memory for their messages, which libzmq keeps until a message is complete, in bytes."""

_EVENTS = zmq.EVENT_LISTENING | zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_MONITOR_STOPPED

ZAP = "inproc://zeromq.zap.01"

WELCOME, REFUSED = (b"200", b"the run's simulator"), (b"400", b"another's key")

BEATS, MISSED = 8, 6
"""Heartbeats in one deadline; the same number without an answer ends the connection, because some may be late."""

SOURCE_DESCRIPTOR = 2
"""The option ZMQ_SRCFD: it names the connection that a message came by, as the monitor's events do."""

MAX_HELLO_BYTES = 4 * 2**20
"""A Hello of as many nodes as there are addresses has this length. Parsed, a message can take 40 times of it."""

STRANGER = "this run has another token: its simulator reads the token from .roambus/session beside the run's ini"
REJECTION = ToSimulator(reject=Reject(reason=STRANGER)).SerializeToString()
"""What whoever lacks the token is answered with."""

MORE = int(zmq.SNDMORE)
"""A plain number is used, and frames one by one: send_multipart and recv_multipart cost more than reading a Step."""


class Connection:
    """Is bound at once; `receive` and `send` speak with the one peer that said Hello with the run's token."""

    def __init__(self, endpoint: Endpoint, deadline_s: float, ended: Callable[[], str | None]) -> None:
        """Binds the socket; `ended` says how the simulator ended. Raises UserError if the address cannot be had."""
        self.token = endpoint.token
        self._deadline_s = deadline_s
        self._ended = ended
        self._peer: bytes | None = None
        self._admission: Admission | None = None
        with ExitStack() as stack:
            self._open(stack, endpoint)
            self._resources = stack.pop_all()

    def _open(self, stack: ExitStack, endpoint: Endpoint) -> None:
        make_identities_unpredictable()
        context = stack.enter_context(zmq.Context(1))
        self._socket = stack.enter_context(context.socket(zmq.ROUTER))
        _configure(self._socket, self._deadline_s)
        if endpoint.keys is not None:
            self._socket.curve_secretkey = endpoint.keys.server_secret.encode()
            self._socket.curve_publickey = endpoint.keys.server_public.encode()
            self._socket.curve_server = True
            self._admission = Admission(context, endpoint.keys)
            stack.callback(self._admission.questions.close)
        self._guard = Guard(self._socket)
        stack.callback(self._guard.close)
        try:
            self._socket.bind(endpoint.address)
        except zmq.ZMQError as error:
            raise UserError(f"{endpoint.address}: cannot listen there: {error}") from None

    def receive_hello(self, within_s: float) -> bytes:
        """The first message of a peer with the run's token, whatever strangers say before; raises BackendError."""
        give_up = time.monotonic() + within_s
        while time.monotonic() <= give_up:
            happened = self._await_anybody()
            if self._socket not in happened:
                if not happened:  # whoever connects may be the simulator, whose hello is still to come
                    self._check_alive()
                continue
            with interrupts_postponed():  # pyzmq swallows the exception if it comes while a frame is freed
                identity, hello, descriptor = self._take_hello()
            if hmac.compare_digest(token_in(hello), self.token.encode()):
                self._guard.keep_only(descriptor)
                self._peer = identity
                return hello
            with suppress(zmq.ZMQError):
                self._socket.send_multipart([identity, REJECTION], zmq.DONTWAIT)
        raise BackendError(f"no simulator said hello within {within_s:g} s")

    def _await_anybody(self) -> dict[Any, int]:
        """The sockets on which something has happened, after a moment at most; keys and strangers are seen to."""
        poller = zmq.Poller()
        for heard in (self._socket, self._guard.monitor, *([self._admission.questions] if self._admission else [])):
            poller.register(heard, zmq.POLLIN)
        asked = dict(poller.poll(TICK_MS))
        if self._admission is not None and self._admission.questions in asked:
            self._admission.answer()
        self._guard.look()
        return asked

    def _take_hello(self) -> tuple[bytes, bytes, int]:
        """Who has said something, what, and by which connection."""
        frames = self._socket.recv_multipart(copy=False)
        try:
            return frames[0].bytes, frames[-1].bytes, int(frames[-1].get(SOURCE_DESCRIPTOR))
        finally:
            frames.clear()

    def receive(self) -> bytes:
        """The peer's next message; raises BackendError when it is gone, frozen, or silent beyond the deadline."""
        give_up = time.monotonic() + self._deadline_s
        while time.monotonic() <= give_up:
            try:
                sender, *parts = self._receive_parts()
            except zmq.Again:
                self._check_alive()
            else:
                if sender == self._peer:  # else a stranger had said it before it was shown out
                    return b"".join(parts)
        raise BackendError(f"the simulator did not answer within {self._deadline_s:g} s")

    def send(self, message: ToSimulator) -> None:
        """Hands a message to the peer's connection; raises BackendError if that is lost."""
        if self._peer is None:
            raise BackendError("no simulator is connected")
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
        if self._peer is not None:
            self._guard.left.wait(within_s)

    def close(self) -> None:
        """Ends the connection; what was sent last still goes out, if the peer takes it at once."""
        self._resources.close()

    def _receive_parts(self) -> list[bytes]:
        # As bytes: frames swallow Ctrl-C now and then.
        parts = [self._socket.recv(), self._socket.recv()]
        while self._socket.getsockopt(zmq.RCVMORE):
            parts.append(self._socket.recv())
        return parts

    def _check_alive(self) -> None:
        """A connection can last a moment longer than its process, and what it had sent before is still to be read."""
        if self._guard.left.is_set():
            raise BackendError(self._lost())
        if (end := self._ended()) is not None and not self._socket.poll(0):
            raise BackendError(end)

    def _lost(self) -> str:
        """An error that says why there is no connection; a simulator that ends closes it a moment before."""
        time.sleep(TICK_MS / 1000)
        return self._ended() or "the connection to the simulator is lost: it is frozen, or has closed its socket"


def make_identities_unpredictable() -> None:
    """Draws from where libzmq begins to number the peers.

    It takes the number from C's `rand`, which nobody has seeded, and ends the process when the next number is an
    identity that another peer has claimed. So a stranger who knew the number could end the run.
    """
    ctypes.CDLL(None).srand(secrets.randbits(32))


def _configure(socket: zmq.Socket[bytes], deadline_s: float) -> None:
    """Heartbeats find a frozen peer within a deadline; MANDATORY makes a send to one that is gone an error."""
    beat = max(1, round(deadline_s * 1000 / BEATS))
    socket.setsockopt(zmq.LINGER, TICK_MS)
    socket.setsockopt(zmq.RCVTIMEO, TICK_MS)
    socket.setsockopt(zmq.SNDTIMEO, round(deadline_s * 1000))  # for a peer that speaks on, and does not listen
    socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
    socket.setsockopt(zmq.ZAP_DOMAIN, b"roambus")  # with one, nobody is heard who speaks the old ZMTP 1 or 2
    socket.setsockopt(zmq.MAXMSGSIZE, MAX_FRAME_BYTES)
    socket.setsockopt(zmq.HEARTBEAT_IVL, beat)
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, MISSED * beat)


def token_in(frame: bytes) -> bytes:
    """The token in a Hello, or nothing if the frame is something else or longer than a stranger's may be."""
    if len(frame) > MAX_HELLO_BYTES:
        return b""
    try:
        return FromSimulator.FromString(frame).hello.token.encode()
    except DecodeError:
        return b""


class Guard:
    """Knows the connections of a socket by its monitor; made before the socket is bound.

    libzmq's own limits do not do: a socket has an option for how long its backlog is, and none for how many connections
    it holds, nor for how much memory their unfinished messages take.
    """

    def __init__(self, guarded: zmq.Socket[bytes], most: int | None = None) -> None:
        """`most` connections may wait; by default as many as their share of the file descriptors."""
        self.left = Event()
        """It is set as soon as the simulator's connection has ended."""
        self._guarded = guarded
        self.monitor = guarded.get_monitor_socket(_EVENTS)
        """It can be read when there is something to `look` at."""
        self._address: Any = None
        self._here: dict[int, None] = {}
        """The descriptors of all connections, in the order in which they came."""
        self._most = most or resource.getrlimit(resource.RLIMIT_NOFILE)[0] // SHARE
        self._memory_mib = peak_memory_mib()
        self._simulator: int | None = None
        self._thread: Thread | None = None

    def look(self) -> None:
        """Takes note of those who came and went, and shows out who is too many. Only before `keep_only`."""
        while self.monitor.poll(0):
            self._note(recv_monitor_message(self.monitor))
        for descriptor in list(self._here)[: max(0, len(self._here) - self._most)]:
            self._show_out(descriptor)
        if peak_memory_mib() > self._memory_mib + FLOOD_MIB:
            self._memory_mib = peak_memory_mib()
            self._show_out_all()

    def keep_only(self, descriptor: int) -> None:
        """Shows everybody out but the simulator, whose connection this is, now and from now on."""
        self.look()
        self._simulator = descriptor
        self._here.pop(descriptor, None)
        self._show_out_all()
        self._thread = Thread(target=self._watch, name="guard", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops the thread that guards the socket, and waits until it has ended."""
        self._guarded.disable_monitor()
        if self._thread is not None:
            self._thread.join()
        self.monitor.close()

    def _watch(self) -> None:
        while True:
            event = recv_monitor_message(self.monitor)
            if event["event"] == zmq.EVENT_MONITOR_STOPPED:
                return
            self._note(event)
            if event["event"] == zmq.EVENT_ACCEPTED:
                self._show_out(event["value"])
            elif event["event"] == zmq.EVENT_DISCONNECTED and event["value"] == self._simulator:
                self._simulator = None
                self.left.set()

    def _note(self, event: Any) -> None:
        descriptor = event["value"]
        match event["event"]:
            case zmq.EVENT_LISTENING:
                # The connections have the same address at our end.
                with socket.socket(fileno=os.dup(descriptor)) as listener:
                    self._address = listener.getsockname()
            case zmq.EVENT_ACCEPTED:
                self._here[descriptor] = None
            case zmq.EVENT_DISCONNECTED:
                self._here.pop(descriptor, None)

    def _show_out_all(self) -> None:
        for descriptor in list(self._here):
            self._show_out(descriptor)

    def _show_out(self, descriptor: int) -> None:
        """Shuts the connection down, unless it has ended and its descriptor is something else by now."""
        self._here.pop(descriptor, None)
        with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as connection:
            if connection.getsockname() == self._address:
                connection.shutdown(socket.SHUT_RDWR)


class Admission:
    """Answers libzmq's questions: the one key is welcome that was made for the run's simulator.

    The key is made for one run, so to know it is to be the run's simulator; addresses and names are not looked at.
    """

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], keys: CurveKeys) -> None:
        self.questions = context.socket(zmq.REP)
        self.questions.bind(ZAP)
        self._key = z85.decode(keys.client_public)

    def answer(self) -> None:
        """Answers a question that is there."""
        version, request, *_, key = self.questions.recv_multipart()
        status, text = WELCOME if key == self._key else REFUSED
        self.questions.send_multipart([version, request, status, text, b"", b""])
