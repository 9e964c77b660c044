"""Shows a page to the browsers of this machine, and to nobody else."""

from __future__ import annotations

import hmac
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import Any

from bridge.errors import UserError

HOST = "127.0.0.1"
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageServer(ThreadingHTTPServer):
    """Serves one page at `url`, which holds a token; there is no other path, and no file behind any.

    A request must name this server as its host: a page of somebody else's that resolves its own name to this machine
    does not.
    """

    daemon_threads = True

    def __init__(self, page: str, port: int = 0) -> None:
        """Port 0: one that is free. Raises UserError if the port is taken."""
        self.page = page.encode()
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
        if self.headers.get("Host") != self.server.authority:
            self.send_error(HTTPStatus.FORBIDDEN)
        elif not hmac.compare_digest(self.path.encode(), self.server.path.encode()):
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            self._send_page()

    def _send_page(self) -> None:
        self.send_response(HTTPStatus.OK)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.page)))
        self.end_headers()
        self.wfile.write(self.server.page)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the handler's interface
        """Says nothing: the token would be in it."""
