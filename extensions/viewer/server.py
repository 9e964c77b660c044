"""Serves a page to the browsers of this machine only.

Other users, programs and pages can send requests to the port. So the one page's path holds a token, there are no files
and no log, a request must name this server as its host, and a POST must come from the page's origin. A connection is
one request in a thread of its own, and ends if it is silent.
"""

from __future__ import annotations

import hmac
import json
import re
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs, urlsplit

import click

from roambus.bridge.system.errors import RoambusError, UserError

SILENCE_S = 10.0
"""A client that neither sends nor reads anything for this long is dropped."""
REQUEST_S = 10.0
"""A client that has not said its whole request after this is dropped, however often it sends a byte."""
MOST_CONNECTIONS = 32
"""Of more the oldest one that has not said its request is dropped: a process has few descriptors."""
FAREWELL_S, FAREWELL_BYTES = 1.0, 1 << 20
"""Limits for reading a refused request, so that the refusal arrives."""

HOST = "127.0.0.1"
_HEADERS = {
    # The token in the address would end up in a cache, or be told to whatever a link leads to.
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    # No other page may show this one in a frame, where its user could be led to click, nor load it as something else.
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


MAX_QUESTION_BYTES = 1 << 16
"""A question is a few settings, read as a whole."""
_JSON = "application/json"
_PIECE = 1 << 16
_LENGTH = re.compile(r"[0-9]{1,10}")

Answer = Callable[[Any], Any]
"""Maps a question of the page to its reply, both JSON values."""
Films = Callable[[str], str | None]
"""Maps a run that the page names to the page with its film."""


class PageServer(ThreadingHTTPServer):
    """Serve a page at `url`, which holds a token; `answer` handles JSON by POST, `films` a run behind `?film=`."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, page: str, port: int = 0, answer: Answer | None = None, films: Films | None = None) -> None:
        """Bind the port, or a free one for 0; raise UserError if it is taken."""
        self.page = page.encode()
        self.answer = answer
        self.films = films
        self.path = f"/{token_urlsafe()}/"
        self._reading: dict[Any, float] = {}
        """When each connection was made that has not said its request, the oldest first."""
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise UserError(f"port {port}: {error.strerror}; choose another --port, or leave it out") from None

    @property
    def authority(self) -> str:
        """Host and port, as a browser names them."""
        return f"{HOST}:{self.server_port}"

    @property
    def url(self) -> str:
        """The page's address."""
        return f"http://{self.authority}{self.path}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start the connection's thread."""
        request.settimeout(SILENCE_S)
        while len(self._reading) >= MOST_CONNECTIONS:
            self._drop(next(iter(self._reading)))
        self._reading[request] = time.monotonic()
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Drop whoever takes too long to say a request."""
        late = time.monotonic() - REQUEST_S
        for request in [request for request, since in list(self._reading.items()) if since < late]:
            self._drop(request)

    def has_said(self, request: Any) -> None:
        """Take note that a connection has said its whole request."""
        self._reading.pop(request, None)

    def _drop(self, request: Any) -> None:
        self.has_said(request)
        with suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)  # its thread, which waits for it, then ends

    def shutdown_request(self, request: Any) -> None:
        """Close the connection so that the last answer arrives."""
        self.has_said(request)
        # To close a connection with something unread in it resets it, and its last answer can be lost.
        with suppress(OSError):
            request.shutdown(socket.SHUT_WR)
            _read_to_the_end(request)
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # the server's interface
        """Print one line about the error, unless the client merely left."""
        error = sys.exception()
        if not isinstance(error, OSError):
            with suppress(ValueError):  # there is nowhere to say it once the program ends
                click.echo(f"the page's server: {type(error).__name__}: {error}", err=True)


def _read_to_the_end(connection: socket.socket) -> None:
    """Read the rest of a request within bounds, so no sender holds the thread."""
    give_up, read = time.monotonic() + FAREWELL_S, 0
    while read < FAREWELL_BYTES and (left := give_up - time.monotonic()) > 0:
        connection.settimeout(left)
        if not (more := len(connection.recv(1 << 16))):
            return
        read += more


class _Handler(BaseHTTPRequestHandler):
    """One request, refused at its first mistake, before its body is read."""

    server: PageServer

    def do_GET(self) -> None:
        """Send the page, or the film of a run that it names, if the path is right."""
        self.server.has_said(self.connection)
        if not self._is_allowed():
            return
        page, asked = self.server.page, parse_qs(urlsplit(self.path).query).get("film", [])
        if asked and self.server.films:
            try:
                film = self.server.films(asked[0])
            except (RoambusError, OSError) as error:
                film = f"<!DOCTYPE html><meta charset=utf-8><title>roambus</title><p>{escape(str(error))}"
            if film is None:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            page = film.encode()
        self._send(page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """Answer the page's own question."""
        if not self._is_allowed():
            return
        said = (self._only("Origin"), self._only("Content-Type"))
        if self.server.answer is None or said != (f"http://{self.server.authority}", _JSON):
            self.send_error(HTTPStatus.FORBIDDEN)
        elif not _LENGTH.fullmatch(length := self._only("Content-Length")):
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
        elif int(length) > MAX_QUESTION_BYTES:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            self._answer(self.server.answer, int(length))

    def _answer(self, answer: Answer, length: int) -> None:
        text = b""
        with suppress(TimeoutError):
            text = self.rfile.read(length)
        self.server.has_said(self.connection)
        if len(text) < length:
            self.send_error(HTTPStatus.REQUEST_TIMEOUT)
            return
        try:
            # Every number is a float: an integer of many digits would take a time that grows with their square.
            question = json.loads(text, parse_int=float, parse_constant=_refuse)
        except (ValueError, RecursionError):
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        try:
            said = json.dumps(answer(question)).encode()
        except Exception as error:  # whatever it is, the page is told, and the server goes on
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, f"an error in roambus: {type(error).__name__}")
            raise
        self._send(said, _JSON)

    def _is_allowed(self) -> bool:
        """Return whether the request names host and token; refuse it otherwise."""
        if self._only("Host") != self.server.authority:
            self.send_error(HTTPStatus.FORBIDDEN)
        # It takes as long for any path: otherwise the time would tell how much of a guess is right.
        elif not hmac.compare_digest(self.path.partition("?")[0].encode(), self.server.path.encode()):
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            return True
        return False

    def _only(self, name: str) -> str:
        """Return this header; empty unless there is exactly one."""
        values = self.headers.get_all(name, [])
        return str(values[0]) if len(values) == 1 else ""

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        for start in range(0, len(content), _PIECE):  # each of them may take as long as the server allows
            self.wfile.write(content[start : start + _PIECE])

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the handler's interface
        """Log nothing: it would contain the token."""


def _refuse(name: str) -> Any:
    """Refuse NaN and Infinity, which Python reads but JSON forbids."""
    raise ValueError(f"{name} is not JSON")


def serve(
    page: str, port: int, say: Callable[[str], None], answer: Answer | None = None, films: Films | None = None
) -> None:
    """Print the address and serve until Ctrl-C; raise UserError if the port is taken."""
    with PageServer(page, port, answer, films) as server:
        say(server.url)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
