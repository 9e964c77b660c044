"""An HTTP server of which strangers can take only so much: connections, threads, time.

Every connection is one request, in a thread of its own. Until it has proved that it knows the page's address it is a
stranger's: there may be so many of these at a time, and whoever has been there longest makes room for the next, so that
nobody who is silent, or speaks a byte now and then, keeps others out. A request has to be there within some seconds,
and an answer that nobody takes is given up.
"""

from __future__ import annotations

import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from threading import Lock
from typing import Any

import click

MOST_STRANGERS = 32
MOST_GUESTS = 32
"""So many may be answered at a time. A browser opens six connections."""
REQUEST_S = 10.0
"""A request has to be there whole within this."""
SILENCE_S = 30.0
"""Who takes nothing of an answer for so long does not want it."""
FAREWELL_S, FAREWELL_BYTES = 1.0, 1 << 20
"""What is still sent to a refusal is read for so long, or the refusal would be lost with the connection."""


@dataclass(slots=True)
class Doorway:
    """Who is there: strangers by when they came, and guests, who know the page's address."""

    strangers: dict[socket.socket, float] = field(default_factory=dict)
    guests: set[socket.socket] = field(default_factory=set)
    unread: dict[socket.socket, float] = field(default_factory=dict)
    """Those whose request is not there yet, by when it has to be."""
    lock: Lock = field(default_factory=Lock)

    def enter(self, connection: socket.socket) -> None:
        """One more has come; whoever has been a stranger for longest goes if there are too many."""
        with self.lock:
            now = time.monotonic()
            self.strangers[connection], self.unread[connection] = now, now + REQUEST_S
            if len(self.strangers) > MOST_STRANGERS:
                oldest = next(iter(self.strangers))
                del self.strangers[oldest]
                _stop(oldest, socket.SHUT_RDWR)

    def welcome(self, connection: socket.socket) -> bool:
        """Whether there is room for another guest, which this one then is."""
        with self.lock:
            self.strangers.pop(connection, None)
            if len(self.guests) >= MOST_GUESTS:
                return False
            self.guests.add(connection)
            return True

    def has_asked(self, connection: socket.socket) -> None:
        """The request is there whole."""
        with self.lock:
            self.unread.pop(connection, None)

    def leave(self, connection: socket.socket) -> None:
        """The connection has ended."""
        with self.lock:
            self.strangers.pop(connection, None)
            self.unread.pop(connection, None)
            self.guests.discard(connection)

    def stop_waiting(self) -> None:
        """Nothing more is read from those whose time is up; guests are still told so."""
        with self.lock:
            now = time.monotonic()
            for connection in [one for one, end in self.unread.items() if end < now]:
                del self.unread[connection]
                _stop(connection, socket.SHUT_RD)


def _stop(connection: socket.socket, how: int) -> None:
    with suppress(OSError):  # it has ended by itself
        connection.shutdown(how)


class BoundedServer(ThreadingHTTPServer):
    """Keeps the bounds; a handler calls `doorway.welcome` and `doorway.has_asked`."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], handler: Any) -> None:
        self.doorway = Doorway()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Takes note of the connection, and starts its thread."""
        request.settimeout(SILENCE_S)
        self.doorway.enter(request)
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Is called about twice a second, and after each connection."""
        self.doorway.stop_waiting()

    def shutdown_request(self, request: Any) -> None:
        """Ends the connection in such a way that the last answer arrives."""
        _stop(request, socket.SHUT_WR)
        with suppress(OSError):
            _read_to_the_end(request)
        self.doorway.leave(request)
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002  # the server's interface
        """Says in a line what went wrong, unless it is only that somebody has gone."""
        error = sys.exception()
        if not isinstance(error, OSError):
            with suppress(ValueError):  # there is nowhere to say it once the program ends
                click.echo(f"the page's server: {type(error).__name__}: {error}", err=True)


def _read_to_the_end(connection: socket.socket) -> None:
    give_up, read = time.monotonic() + FAREWELL_S, 0
    while read < FAREWELL_BYTES and (left := give_up - time.monotonic()) > 0:
        connection.settimeout(left)
        if not (more := len(connection.recv(1 << 16))):
            return
        read += more
