"""The host's ZeroMQ end: its address, and a ROUTER for one simulator, with bounded waits, safe from strangers.

Connection loss reveals an ended simulator, heartbeats a frozen one, the deadline a stuck one. Peers without the run's
token get Reject; after the simulator's hello they are closed.
"""

from __future__ import annotations

import ctypes
import hmac
import ipaddress
import os
import resource
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import zmq
from google.protobuf.message import DecodeError
from zmq.utils import z85
from zmq.utils.monitor import recv_monitor_message

from roambus.bridge.system.errors import BackendError, UserError, peak_memory_mib
from roambus.bridge.system.interrupts import interrupts_postponed
from roambus.bridge.system.private_folder import BRIDGE, private_folder
from roambus.bridge.wire.conversion import MAX_FRAME_BYTES
from roambus.bridge.wire.wire_pb2 import FromSimulator, Reject, ToSimulator

SOCKET = "bridge"


@dataclass(frozen=True, slots=True)
class CurveKeys:
    """Both sides' keys in Z85, made for one run."""

    server_public: str
    server_secret: str
    client_public: str
    client_secret: str

    @classmethod
    def fresh(cls) -> CurveKeys:
        """New key pairs for both sides of a run's connection."""
        (server_public, server_secret), (client_public, client_secret) = zmq.curve_keypair(), zmq.curve_keypair()
        return cls(*(key.decode() for key in (server_public, server_secret, client_public, client_secret)))


@dataclass(slots=True)
class Endpoint:
    """An address with access; the context manager cleans up."""

    address: str
    keys: CurveKeys | None = None
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    folder: Path | None = None
    resources: ExitStack = field(default_factory=ExitStack)
    """It removes the folder."""

    @classmethod
    def private(cls) -> Endpoint:
        """Return a socket in a new folder that only the user can enter."""
        resources = ExitStack()
        folder = resources.enter_context(private_folder(BRIDGE))
        return cls(f"ipc://{folder / SOCKET}", folder=folder, resources=resources)

    @classmethod
    def tcp(cls, address: str) -> Endpoint:
        """Return `tcp://HOST:PORT` with CURVE against other users; raise UserError."""
        parts = urlsplit(address)
        try:
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if parts.scheme != "tcp" or host is None or port is None or parts.path:
            raise UserError(f"--endpoint {address}: write tcp://ADDRESS:PORT")
        try:
            parsed = ipaddress.ip_address(host)
        except ValueError:
            raise UserError(f"--endpoint {address}: write an address of this machine in numbers, not a name") from None
        if parsed.is_unspecified:
            raise UserError(f"--endpoint {address}: write the address at which the simulator reaches this machine")
        return cls(address, CurveKeys.fresh())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.resources.close()


# The address


TICK_MS = 100
"""Milliseconds between two looks of a wait whether something has changed."""

SHARE = 4
"""Waiting connections may use one in this many file descriptors."""

FLOOD_MIB = 512
"""MiB of memory for their incomplete messages, which libzmq keeps."""

_EVENTS = zmq.EVENT_LISTENING | zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_MONITOR_STOPPED

ZAP = "inproc://zeromq.zap.01"

WELCOME, REFUSED = (b"200", b"the run's simulator"), (b"400", b"another's key")

BEATS, MISSED = 8, 6
"""Heartbeats per deadline; as many missed end the connection, since some may be late."""

SOURCE_DESCRIPTOR = 2
"""The option ZMQ_SRCFD: a message's connection, as in the monitor's events."""

MAX_HELLO_BYTES = 4 * 2**20
"""A Hello with a node per address; parsing takes 40 times the memory."""

STRANGER = "this run has another token: its simulator reads the token from .roambus/session beside the run's ini"
REJECTION = ToSimulator(reject=Reject(reason=STRANGER)).SerializeToString()
"""The answer to peers without the token."""

MORE = int(zmq.SNDMORE)
"""A plain number with single frames: multipart calls cost more than reading a Step."""


class Connection:
    """Bound at once; serves the one peer with the run's token."""

    def __init__(self, endpoint: Endpoint, deadline_s: float, ended: Callable[[], str | None]) -> None:
        """Bind; `ended` describes the simulator's end. Raise UserError if unavailable."""
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
        """Return the first message with the run's token; raise BackendError."""
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
        """Return active sockets after a moment; handle keys and strangers."""
        poller = zmq.Poller()
        for heard in (self._socket, self._guard.monitor, *([self._admission.questions] if self._admission else [])):
            poller.register(heard, zmq.POLLIN)
        asked = dict(poller.poll(TICK_MS))
        if self._admission is not None and self._admission.questions in asked:
            self._admission.answer()
        self._guard.look()
        return asked

    def _take_hello(self) -> tuple[bytes, bytes, int]:
        frames = self._socket.recv_multipart(copy=False)
        try:
            return frames[0].bytes, frames[-1].bytes, int(frames[-1].get(SOURCE_DESCRIPTOR))
        finally:
            frames.clear()

    def receive(self) -> bytes:
        """Return the next message; raise BackendError if gone, frozen, or overdue."""
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
        """Send a message to the peer; raise BackendError if disconnected."""
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
        """Wait, within a limit, until the peer has closed."""
        if self._peer is not None:
            self._guard.left.wait(within_s)

    def close(self) -> None:
        """Close; the last message still leaves if taken at once."""
        self._resources.close()

    def _receive_parts(self) -> list[bytes]:
        # As bytes: frames swallow Ctrl-C now and then.
        parts = [self._socket.recv(), self._socket.recv()]
        while self._socket.getsockopt(zmq.RCVMORE):
            parts.append(self._socket.recv())
        return parts

    def _check_alive(self) -> None:
        """Raise BackendError if the peer is gone and its messages are read."""
        if self._guard.left.is_set():
            raise BackendError(self._lost())
        if (end := self._ended()) is not None and not self._socket.poll(0):
            raise BackendError(end)

    def _lost(self) -> str:
        """Return the disconnection's error, after a moment for the simulator to end."""
        time.sleep(TICK_MS / 1000)
        return self._ended() or "the connection to the simulator is lost: it is frozen, or has closed its socket"


def make_identities_unpredictable() -> None:
    """Randomize libzmq's peer numbers, which start from C's unseeded `rand`.

    libzmq aborts when a peer has claimed the next number: a stranger could end the run.
    """
    ctypes.CDLL(None).srand(secrets.randbits(32))


def _configure(socket: zmq.Socket[bytes], deadline_s: float) -> None:
    """Set heartbeats, within a deadline, and MANDATORY, which makes lost sends fail."""
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
    """Return a Hello's token; none from other or oversized frames."""
    if len(frame) > MAX_HELLO_BYTES:
        return b""
    try:
        return FromSimulator.FromString(frame).hello.token.encode()
    except DecodeError:
        return b""


class Guard:
    """Tracks a socket's connections by its monitor; made before binding.

    libzmq limits the backlog, but neither connections nor their memory.
    """

    def __init__(self, guarded: zmq.Socket[bytes], most: int | None = None) -> None:
        """Let `most` connections wait, by default their share."""
        self.left = Event()
        """Set once the simulator's connection has ended."""
        self._guarded = guarded
        self.monitor = guarded.get_monitor_socket(_EVENTS)
        """Readable when `look` has work."""
        self._address: Any = None
        self._here: dict[int, None] = {}
        """Descriptors of all connections, oldest first."""
        self._most = most or resource.getrlimit(resource.RLIMIT_NOFILE)[0] // SHARE
        self._memory_mib = peak_memory_mib()
        self._simulator: int | None = None
        self._thread: Thread | None = None

    def look(self) -> None:
        """Track connections and close excess ones; only before `keep_only`."""
        while self.monitor.poll(0):
            self._note(recv_monitor_message(self.monitor))
        for descriptor in list(self._here)[: max(0, len(self._here) - self._most)]:
            self._show_out(descriptor)
        if peak_memory_mib() > self._memory_mib + FLOOD_MIB:
            self._memory_mib = peak_memory_mib()
            self._show_out_all()

    def keep_only(self, descriptor: int) -> None:
        """Close all connections but the simulator's, from now on."""
        self.look()
        self._simulator = descriptor
        self._here.pop(descriptor, None)
        self._show_out_all()
        self._thread = Thread(target=self._watch, name="guard", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread that guards the socket, and join it."""
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
        """Shut the connection down, unless its descriptor was closed or reused."""
        self._here.pop(descriptor, None)
        with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as connection:
            if connection.getsockname() == self._address:
                connection.shutdown(socket.SHUT_RDWR)


class Admission:
    """Admits only the simulator's key, made for the run.

    Addresses and names are ignored.
    """

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], keys: CurveKeys) -> None:
        self.questions = context.socket(zmq.REP)
        self.questions.bind(ZAP)
        self._key = z85.decode(keys.client_public)

    def answer(self) -> None:
        """Answer a waiting question."""
        version, request, *_, key = self.questions.recv_multipart()
        status, text = WELCOME if key == self._key else REFUSED
        self.questions.send_multipart([version, request, status, text, b"", b""])
