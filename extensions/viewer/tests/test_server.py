"""The page is for who knows its address, on this machine, and there is nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPConnection, HTTPResponse
from socket import create_connection
from threading import Thread
from urllib.parse import urlsplit

import pytest

from roambus.bridge.system.errors import UserError
from roambus.extensions.viewer.server import MAX_QUESTION_BYTES, MOST_CONNECTIONS, PageServer
from tests.support.documents import page


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer("<p>the page</p>") as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(server: PageServer, path: str, method: str = "GET", **headers: str) -> HTTPResponse:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection.getresponse()


def test_the_address_holds_a_token_and_leads_to_the_page(server: PageServer) -> None:
    """A new one each time, of the loopback interface; nothing may keep or frame the page."""
    assert urlsplit(server.url).hostname == "127.0.0.1"
    assert server.server_address[0] == "127.0.0.1"
    answer = get(server, urlsplit(server.url).path)
    assert (answer.status, answer.read()) == (200, b"<p>the page</p>")
    assert answer.getheader("Cache-Control") == "no-store"
    assert answer.getheader("Content-Security-Policy") == "frame-ancestors 'none'"
    with PageServer("") as other:
        assert other.path != server.path
    assert len(server.path) > 40


@pytest.mark.parametrize("path", ["/", "/index.html", "/../../etc/passwd", "/%2e%2e/pyproject.toml", "/TOKEN/"])
def test_there_is_nothing_else(server: PageServer, path: str) -> None:
    """Neither without the token nor behind it is there a file."""
    assert get(server, path).status == 404
    assert get(server, server.path + path.lstrip("/") + "x").status == 404
    assert b"the page" not in get(server, path).read()


def test_a_page_of_results_leads_to_films(server: PageServer) -> None:
    """Only of the runs that it names; what goes wrong is told on a page, as text."""

    def film(run: str) -> str | None:
        if run == "broken":
            raise UserError("<no film>")
        return {"one": "<p>its film</p>"}.get(run)

    server.films = film
    assert get(server, f"{server.path}?film=one").read() == b"<p>its film</p>"
    assert b"&lt;no film&gt;" in get(server, f"{server.path}?film=broken").read()
    assert get(server, f"{server.path}?film=other").status == 404
    assert get(server, "/?film=one").status == 404


def test_only_this_host_is_answered(server: PageServer) -> None:
    """A name that somebody else made lead here does not, even with the token; nor is PUT."""
    assert get(server, server.path, Host="evil.example").status == 403
    assert get(server, server.path, Host=f"evil.example:{server.server_port}").status == 403
    assert get(server, server.path, method="PUT").status == 501


def test_a_port_that_is_taken_is_named(server: PageServer) -> None:
    """With what to do."""
    with pytest.raises(UserError, match=rf"port {server.server_port}: .*; choose another --port, or leave it out"):
        PageServer("", server.server_port)


def ask(server: PageServer, question: bytes, **headers: str) -> HTTPResponse:
    own = {"Origin": f"http://{server.authority}", "Content-Type": "application/json"}
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request(
        "POST", server.path, question, {**own, **{name.replace("_", "-"): it for name, it in headers.items()}}
    )
    return connection.getresponse()


def test_only_its_own_page_is_answered(server: PageServer) -> None:
    """By origin and type of content; in JSON, and not at any length."""
    assert ask(server, b"[1]").status == 403
    server.answer = lambda question: [*question, 2]
    answer = ask(server, b"[1]")
    assert (answer.status, answer.read()) == (200, b"[1.0, 2]")
    assert ask(server, b"[1]", Origin="http://evil.example").status == 403
    assert ask(server, b"[1]", Content_Type="text/plain").status == 403
    assert ask(server, b"[1]", Host="evil.example").status == 403
    assert ask(server, b"[1").status == 400
    assert ask(server, b"", Content_Length=str(1 << 30)).status == 413


@pytest.mark.parametrize(
    "question", [b"[" * 60_000, b"[" * 30_000 + b"]" * 30_000, b'{"at": NaN}', b"\xff\xfe", b"\xed\xa0\x80"]
)
def test_what_is_no_json_is_refused(server: PageServer, question: bytes) -> None:
    """It is answered all the same."""
    server.answer = lambda question: question
    assert ask(server, question).status == 400


def test_a_long_number_is_only_a_number(server: PageServer) -> None:
    """Python's own would have a limit of digits."""
    server.answer = str
    answer = ask(server, b"9" * 4000)
    assert (answer.status, answer.read()) == (200, b'"inf"')


@pytest.mark.parametrize(("length", "status"), [("9" * 5000, 411), ("-1", 411), ("1e3", 411), ("9" * 9, 413)])
def test_a_strange_length_is_refused(server: PageServer, length: str, status: int) -> None:
    """However many digits it has."""
    server.answer = lambda question: question
    assert ask(server, b"[1]", Content_Length=length).status == status


def test_a_mistake_of_ours_is_answered(server: PageServer, capfd: pytest.CaptureFixture[str]) -> None:
    """The terminal has it in one line."""
    server.answer = lambda question: question["x"]
    assert ask(server, b"{}").status == 500
    assert ask(server, b'{"x": 1}').status == 200
    assert "Traceback" not in capfd.readouterr().err


def test_those_who_sit_there_keep_nobody_out(server: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """And who does not say the rest of a request is told that it takes too long."""
    monkeypatch.setattr("roambus.extensions.viewer.server.SILENCE_S", 0.2)
    server.answer = lambda question: question
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(create_connection(("127.0.0.1", server.server_port)))
        assert get(server, server.path).status == 200
        assert ask(server, b"[1]", Content_Length="10").status == 408


def test_the_page_on_trust_has_the_bound_of_a_question() -> None:
    """As the server has it."""
    said = f"The page of `roambus play` may ask for {MAX_QUESTION_BYTES // 1024} KiB at most."
    assert said in page("trust").read_text(encoding="utf-8")


def test_who_trickles_is_dropped(server: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then is no silence; the whole request has a time of its own."""
    monkeypatch.setattr("roambus.extensions.viewer.server.REQUEST_S", 0.3)
    with create_connection(("127.0.0.1", server.server_port)) as slow, suppress(BrokenPipeError, ConnectionResetError):
        began = time.monotonic()
        while time.monotonic() < began + 5:
            slow.sendall(b"x")
            time.sleep(0.02)
    assert time.monotonic() - began < 3


def test_a_server_has_so_many_connections(server: PageServer) -> None:
    """A process has few descriptors: of more the oldest are dropped, and a browser is answered."""
    with ExitStack() as stack:
        idle = [stack.enter_context(create_connection(("127.0.0.1", server.server_port))) for _ in range(60)]
        assert get(server, server.path).status == 200
        assert len(server._reading) <= MOST_CONNECTIONS
        idle[0].settimeout(2)
        assert idle[0].recv(1) == b""
