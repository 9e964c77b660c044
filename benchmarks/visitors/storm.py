"""Strangers come by the thousand: some speak and go, some listen, some stay and are silent, some speak very slowly."""

from __future__ import annotations

import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import zmq

from benchmarks.visitors.sayings import SAYINGS

WRONG_KEYS = "CURVE, wrong keys"
"""Strangers who are whole clients of ZeroMQ, and have keys of their own making."""
SHARE_OF_CLIENTS = 0.005
"""A client of ZeroMQ costs as much as a hundred of the others."""
STAYING = 600
"""So many stay at a time; the one that came first then makes room."""
MOST_HEARD = 1 << 16
"""Nobody is told more than a greeting, and a Reject for each message."""
CONNECT_S = 5.0
RESET = struct.pack("ii", 1, 0)

Opened = Callable[[], socket.socket]


@dataclass(slots=True)
class Storm:
    """Visits to one address; `open` connects to it."""

    open: Opened
    endpoint: str
    server_key: bytes | None
    secret: bytes
    """What no stranger may be told: the run's token."""
    random: Random
    visits: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    _staying: deque[socket.socket] = field(default_factory=deque)
    _context: zmq.Context[zmq.Socket[bytes]] = field(default_factory=zmq.Context)

    def visit(self) -> None:
        """One stranger comes."""
        if self.server_key is not None and self.random.random() < SHARE_OF_CLIENTS:
            self._come_as_client(self.server_key)
            return
        kind = self.random.choice(list(SAYINGS))
        self.visits[kind] += 1
        try:
            stranger = self._connected()
        except OSError as error:
            self.faults.append(f"{kind}: nobody listens: {error}")
            return
        with suppress(OSError):  # shown out
            for piece in SAYINGS[kind](self.random):
                stranger.sendall(piece)
        self._leave(stranger, kind)

    def leave(self) -> None:
        """Those who stayed go."""
        while self._staying:
            self._staying.popleft().close()

    def end(self) -> None:
        """All go, for ever."""
        self.leave()
        self._context.destroy(linger=0)

    def _connected(self) -> socket.socket:
        give_up = time.monotonic() + CONNECT_S
        while True:
            try:
                return self.open()
            except (BlockingIOError, TimeoutError, ConnectionResetError):  # many others wait for the host to accept
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.001)

    def _leave(self, stranger: socket.socket, kind: str) -> None:
        how = self.random.random()
        if how < 0.1:
            self._listen(stranger, kind)
        with suppress(OSError):
            if how < 0.3:
                stranger.shutdown(socket.SHUT_WR)
            elif how < 0.5:
                stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        if how < 0.7:
            stranger.close()
            return
        self._staying.append(stranger)
        self._speak_slowly()
        if len(self._staying) > STAYING:
            self._staying.popleft().close()

    def _listen(self, stranger: socket.socket, kind: str) -> None:
        stranger.settimeout(0.02)
        heard = b""
        with suppress(OSError):
            while len(heard) <= MOST_HEARD and (more := stranger.recv(MOST_HEARD)):
                heard += more
        stranger.settimeout(CONNECT_S)
        if self.secret in heard or len(heard) > MOST_HEARD:
            self.faults.append(f"{kind}: was told {heard[:200]!r}")

    def _speak_slowly(self) -> None:
        """One of those who stay says another byte."""
        with suppress(OSError):
            self.random.choice(self._staying).send(self.random.randbytes(1), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)

    def _come_as_client(self, server_key: bytes) -> None:
        self.visits[WRONG_KEYS] += 1
        (public, secret), (other, _) = zmq.curve_keypair(), zmq.curve_keypair()
        with self._context.socket(zmq.DEALER) as dealer:
            dealer.setsockopt(zmq.LINGER, 0)
            dealer.setsockopt(zmq.RECONNECT_IVL, -1)
            dealer.curve_publickey, dealer.curve_secretkey = self.random.choice(((public, secret), (other, secret)))
            dealer.curve_serverkey = self.random.choice((server_key, other))
            dealer.connect(self.endpoint)
            with suppress(zmq.Again):  # shown out already
                dealer.send(b"hello", zmq.DONTWAIT)
            if dealer.poll(5):
                self.faults.append(f"{WRONG_KEYS}: was answered {dealer.recv()[:200]!r}")
