"""Shows a page to the browsers of this machine, and to nobody else."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from secrets import token_urlsafe
from typing import Any

from roambus.bridge.errors import UserError
from roambus.experiments.viewer.bounded_server import BoundedServer

HOST = "127.0.0.1"
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


MAX_QUESTION_BYTES = 1 << 16
_JSON = "application/json"
_PIECE = 1 << 16
_LENGTH = re.compile(r"[0-9]{1,10}")

Answer = Callable[[Any], Any]
"""What becomes of a question of the page; both are what JSON can hold."""


class PageServer(BoundedServer):
    """Serves one page at `url`, which holds a token; there is no other path, and no file behind any.

    With an `answer` the page, and no other, can also ask: by POST, in JSON.

    A request must name this server as its host: a page of somebody else's that resolves its own name to this machine
    does not.
    """

    def __init__(self, page: str, port: int = 0, answer: Answer | None = None) -> None:
        """Takes the port, or a free one for 0. Raises UserError if the port is taken."""
        self.page = page.encode()
        self.answer = answer
        self.path = f"/{token_urlsafe()}/"
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
        """Where the page is."""
        return f"http://{self.authority}{self.path}"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        """The page, for who knows where it is."""
        if self._is_allowed():
            self.server.doorway.has_asked(self.request)
            self._send(self.server.page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """The answer to a question of the page itself."""
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
        if len(text) < length:
            self.send_error(HTTPStatus.REQUEST_TIMEOUT)
            return
        self.server.doorway.has_asked(self.request)
        try:
            question = _parsed(text)
        except (ValueError, RecursionError):
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        try:
            said = json.dumps(answer(question)).encode()
        except Exception as error:  # whatever it is, the page is told, and the server goes on
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, f"a mistake of roambus: {type(error).__name__}")
            raise
        self._send(said, _JSON)

    def _is_allowed(self) -> bool:
        """Whether the request names host and token; refuses it otherwise."""
        if self._only("Host") != self.server.authority:
            self.send_error(HTTPStatus.FORBIDDEN)
        elif not hmac.compare_digest(self.path.encode(), self.server.path.encode()):
            self.send_error(HTTPStatus.NOT_FOUND)
        elif not self.server.doorway.welcome(self.request):
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            return True
        return False

    def _only(self, name: str) -> str:
        """The header of this name; empty unless there is exactly one."""
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
        """Says nothing: the token would be in it."""


def _parsed(text: bytes) -> Any:
    """JSON as its standard has it, in numbers of which there may be no more digits than one can hold."""
    return json.loads(text, parse_int=float, parse_constant=_refuse)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
