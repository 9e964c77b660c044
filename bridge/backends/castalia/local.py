"""The host's end of a plain Unix socket, for a simulator on the same machine.

It keeps the promises of ZeroMQ's connection with one system call per message and no threads: in small networks the
exchange dominates a run. A message follows its length, four bytes, lowest first. Without heartbeats, only the deadline
reveals a frozen simulator.
"""

from __future__ import annotations

import hmac
import selectors
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress

from roambus.bridge.backends.castalia.zeromq import MAX_HELLO_BYTES, REJECTION, TICK_MS, Endpoint, token_in
from roambus.bridge.errors import BackendError, ProtocolError, UserError
from roambus.bridge.wire.conversion import MAX_FRAME_BYTES
from roambus.bridge.wire.wire_pb2 import ToSimulator

LENGTH_BYTES = 4


def framed(message: bytes) -> bytes:
    """The message behind its length."""
    return len(message).to_bytes(LENGTH_BYTES, "little") + message


class FrameReader:
    """Splits bytes into messages; `most_bytes` is lower before the hello."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        """No message may be longer."""
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """Takes what has come."""
        self._bytes += data

    def take(self) -> bytes | None:
        """Return the next whole message or None; raise ProtocolError if too long."""
        data = self._bytes
        if len(data) < LENGTH_BYTES:
            return None
        end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
        if end - LENGTH_BYTES > self.most_bytes:
            raise ProtocolError(f"a message of {end - LENGTH_BYTES} bytes: at most {self.most_bytes} are allowed")
        if len(data) < end:
            return None
        message = bytes(data[LENGTH_BYTES:end])
        del data[:end]
        return message


CHUNK_BYTES = 2**18
"""Exceeds a Unix socket's default buffer: mostly one call per message."""
MOST_VISITORS = 64
"""Waiting connections before the hello; the oldest makes room."""


class LocalConnection:
    """Listens at once, with the methods and promises of `zeromq.Connection`."""

    def __init__(self, endpoint: Endpoint, deadline_s: float, ended: Callable[[], str | None]) -> None:
        """Listen; raise UserError if the address is unavailable."""
        self.token = endpoint.token
        self._deadline_s = deadline_s
        self._ended = ended
        self._peer: socket.socket | None = None
        self._frames = FrameReader(MAX_FRAME_BYTES)
        self._visitors: dict[socket.socket, FrameReader] = {}
        self._selector = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listener.bind(endpoint.path)
        except OSError as error:
            raise UserError(f"{endpoint.address}: cannot listen there: {error.strerror}") from None
        # The backlog is as long as there may be visitors; whoever finds it full waits in `connect`.
        self._listener.listen(MOST_VISITORS)
        self._selector.register(self._listener, selectors.EVENT_READ)

    def receive_hello(self, within_s: float) -> bytes:
        """Return the first message with the run's token; raise BackendError."""
        give_up = time.monotonic() + within_s
        while time.monotonic() <= give_up:
            happened = [key.fileobj for key, _ in self._selector.select(TICK_MS / 1000)]
            if not happened:
                self._check_alive()
            for one in happened:
                if one is self._listener:
                    self._let_in(self._listener.accept()[0])
                elif isinstance(one, socket.socket) and (hello := self._hear(one)) is not None:
                    return hello
        raise BackendError(f"no simulator said hello within {within_s:g} s")

    def receive(self) -> bytes:
        """Return the next message; raise BackendError if gone or overdue."""
        peer, frames = self._present(), self._frames
        give_up = time.monotonic() + self._deadline_s
        while (frame := frames.take()) is None:
            try:
                data = peer.recv(CHUNK_BYTES)
            # The kernel's timeout of a tick, in which nothing has come: time to see whether the simulator lives.
            except BlockingIOError:
                self._check_alive()
                if time.monotonic() > give_up:
                    raise BackendError(f"the simulator did not answer within {self._deadline_s:g} s") from None
            except OSError:
                raise BackendError(self._lost()) from None
            else:
                if not data:
                    raise BackendError(self._lost())
                frames.add(data)
        return frame

    def send(self, message: ToSimulator) -> None:
        """Send a message to the peer; raise BackendError if disconnected."""
        peer = self._present()
        try:
            peer.sendall(framed(message.SerializeToString()))
        except OSError:
            raise BackendError(self._lost()) from None
        except KeyboardInterrupt:  # maybe in the middle of a frame: what is sent next would be a part of it
            self._peer = None
            self._visitors[peer] = self._frames  # it is still to be closed
            raise

    def wait_until_left(self, within_s: float) -> None:
        """Wait, within a limit, until the peer has closed."""
        if self._peer is None:
            return
        self._peer.settimeout(within_s)
        with suppress(OSError):
            while self._peer.recv(CHUNK_BYTES):
                pass

    def close(self) -> None:
        """Close the listening socket and all connections."""
        self._selector.close()
        for one in (self._listener, *self._visitors, *([self._peer] if self._peer else [])):
            one.close()

    def _let_in(self, visitor: socket.socket) -> None:
        if len(self._visitors) == MOST_VISITORS:
            self._show_out(next(iter(self._visitors)))
        visitor.setblocking(False)
        self._visitors[visitor] = FrameReader(MAX_HELLO_BYTES)
        self._selector.register(visitor, selectors.EVENT_READ)

    def _hear(self, visitor: socket.socket) -> bytes | None:
        if visitor not in self._visitors:  # it was shown out a moment ago
            return None
        try:
            data = visitor.recv(CHUNK_BYTES)
            self._visitors[visitor].add(data)
            frame = self._visitors[visitor].take()
        except (OSError, BackendError):
            data, frame = b"", None
        if frame is not None and hmac.compare_digest(token_in(frame), self.token.encode()):
            self._keep_only(visitor)
            return frame
        if frame is not None:
            with suppress(OSError):
                visitor.sendall(framed(REJECTION))
        if frame is not None or not data:
            self._show_out(visitor)
        return None

    def _keep_only(self, simulator: socket.socket) -> None:
        """Shows everybody out but the simulator, now and from now on."""
        self._frames = self._visitors.pop(simulator)
        self._frames.most_bytes = MAX_FRAME_BYTES
        for visitor in list(self._visitors):
            self._show_out(visitor)
        self._listener.close()
        simulator.setblocking(True)
        _set_timeout(simulator, socket.SO_RCVTIMEO, TICK_MS / 1000)
        _set_timeout(simulator, socket.SO_SNDTIMEO, self._deadline_s)  # for a peer that speaks on, and does not listen
        self._peer = simulator

    def _show_out(self, visitor: socket.socket) -> None:
        del self._visitors[visitor]
        self._selector.unregister(visitor)
        visitor.close()

    def _present(self) -> socket.socket:
        if self._peer is None:
            raise BackendError("no simulator is connected")
        return self._peer

    def _check_alive(self) -> None:
        if (end := self._ended()) is not None:
            raise BackendError(end)

    def _lost(self) -> str:
        """Return the disconnection's error, after a moment for the simulator to end."""
        time.sleep(TICK_MS / 1000)
        return self._ended() or "the connection to the simulator is lost: it has closed its socket"


def _set_timeout(peer: socket.socket, option: int, seconds: float) -> None:
    """Set the socket timeouts once: `settimeout` costs a system call per message."""
    whole, rest = divmod(seconds, 1)
    peer.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", int(whole), int(rest * 1e6)))
