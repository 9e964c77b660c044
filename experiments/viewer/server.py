"""Shows a page to the browsers of this machine, and to nobody else."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import Any

from roambus.bridge.errors import UserError

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

Answer = Callable[[Any], Any]
"""What becomes of a question of the page; both are what JSON can hold."""


class PageServer(ThreadingHTTPServer):
    """Serves one page at `url`, which holds a token; there is no other path, and no file behind any.

    With an `answer` the page, and no other, can also ask: by POST, in JSON.

    A request must name this server as its host: a page of somebody else's that resolves its own name to this machine
    does not.
    """

    daemon_threads = True

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
            self._send(self.server.page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """The answer to a question of the page itself."""
        if not self._is_allowed():
            return
        length = self.headers.get("Content-Length", "")
        origin, kind = self.headers.get("Origin"), self.headers.get("Content-Type")
        if self.server.answer is None or origin != f"http://{self.server.authority}" or kind != _JSON:
            self.send_error(HTTPStatus.FORBIDDEN)
        elif not length.isdecimal() or int(length) > MAX_QUESTION_BYTES:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            self._answer(self.server.answer, self.rfile.read(int(length)))

    def _answer(self, answer: Answer, text: bytes) -> None:
        try:
            question = json.loads(text)
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        self._send(json.dumps(answer(question)).encode(), _JSON)

    def _is_allowed(self) -> bool:
        """Whether the request names host and token; refuses it otherwise."""
        if self.headers.get("Host") != self.server.authority:
            self.send_error(HTTPStatus.FORBIDDEN)
        elif not hmac.compare_digest(self.path.encode(), self.server.path.encode()):
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            return True
        return False

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the handler's interface
        """Says nothing: the token would be in it."""
