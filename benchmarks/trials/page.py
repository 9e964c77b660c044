"""Requests of all kinds to the server of a page, while others only sit there.

python -m benchmarks.trials page --trials 20000

A real `roambus play` serves a session. Every request that knows the page's address must be answered by HTTP, whatever
is in it; nobody else may be told the page. Meanwhile strangers connect and say nothing, or a byte now and then: the
page must come all the same, threads and file descriptors must stay within their bounds, and nothing may be on stderr.
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from benchmarks.trials.harness import Asked, Chapter, Outcome
from benchmarks.trials.processes import Command, use_of, wait_for
from roambus.experiments.viewer.server import MOST_GUESTS, MOST_STRANGERS

SCENARIO = "agent mft\ntree\n  b1\n    b2\n    b3/s3\nclients s2@b2 p2@b2\n"
STATUS = re.compile(rb"HTTP/1\.[01] [2-5][0-9][0-9] ")
ANSWER_S = 60.0
IDLE = 200
"""So many strangers sit there at a time."""
OTHERS = 16
"""Threads and descriptors that the server has for itself."""
KNOWN_SHARE = 0.3
WATCHED = 50
"""Every so many requests the server is looked at."""
METHODS = ("PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "PATCH", "get", "\x00", "X" * 300)
COMMANDS = (
    "b3 crashes", "b3 recovers", "b2 freezes", "p2 publishes e1", "s3 subscribes f1", "b3 moves to b2", "b3 is cut off",
    "wait 5s", "after 3ms b3 crashes", "show table b1 b2", "s3 detaches", "link b1-b2 down", "b9 dances",
    "f9: price < 10",
)  # fmt: skip
STRANGE_WORDS = ("-1s", "9" * 400 + "s", "1e300", "\ud800", "\0", "é" * 50, "b1" * 1000)
NUMBERS = ("NaN", "-Infinity", "1e999", "-0", *(digits * "9" for digits in (4000, 4300, 50_000)), f"0.{'9' * 4000}")
STRANGE_TIMES: tuple[object, ...] = (-1, 1e300, 86400, True, None, "5", [])


@dataclass(frozen=True, slots=True)
class Request:
    """Bytes, and whether they hold the page's address, so that they must be answered."""

    kind: str
    content: bytes
    is_known: bool


def questions(random: Random) -> bytes:
    """The body of a question: what the page asks, mutated commands, and JSON at its worst."""
    return random.choice((_sensible, _mutated, _nonsense))(random).encode(errors="surrogatepass")


def _sensible(random: Random) -> str:
    return json.dumps({"at": random.uniform(1, 60), "do": random.choice(COMMANDS)})


def _mutated(random: Random) -> str:
    words = [*random.choice(COMMANDS).split(), random.choice(STRANGE_WORDS)]
    random.shuffle(words)
    texts = (
        json.dumps({"at": random.uniform(1, 60), "do": " ".join(words)}),
        json.dumps({"at": random.choice(STRANGE_TIMES), "do": random.choice(("b3 crashes", 1, None, [], ""))}),
        f'{{"at": {random.choice(NUMBERS)}, "do": "b3 crashes"}}',
    )
    return random.choice(texts)


def _nonsense(random: Random) -> str:
    texts = (
        random.choice(("[", '{"a":', "[[{")) * random.randrange(1, 16_000),
        "[" * 30_000 + "]" * 30_000,
        random.choice(('{"undo": true}', "{}", '{"undo": 1}', "null", '""', "", "{", '{"undo": true, "at": 1}')),
        json.dumps({"x" * 30_000: "y" * 30_000}),
    )
    return random.choice(texts)


def known(url: str, random: Random) -> Request:
    """A request with the page's address."""
    parts = urlsplit(url)
    body = questions(random)
    if random.random() < 0.1:
        body = random.choice((b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\xef\xbb\xbf{}")) + body
    headers = {"Host": parts.netloc, "Origin": f"http://{parts.netloc}", "Content-Type": "application/json"}
    length = str(len(body))
    match random.randrange(8):
        case 0:
            return Request("page", _request("GET", parts.path, headers), is_known=True)
        case 1:
            return Request("method", _request(random.choice(METHODS), parts.path, headers), is_known=True)
        case 2:
            lengths = ("-1", "9" * 5000, "1e3", "", "0x10", str(1 << 40), "²", "12 12", "5, 5")
            return Request(
                "length",
                _request("POST", parts.path, {**headers, "Content-Length": random.choice(lengths)}, body),
                True,
            )
        case 3:
            changes = random.choice(
                ({"Origin": "http://evil.example"}, {"Content-Type": "text/plain"}, {"Host": "evil"})
            )
            return Request(
                "headers", _request("POST", parts.path, {**headers, **changes, "Content-Length": length}, body), True
            )
        case _:
            return Request("question", _request("POST", parts.path, {**headers, "Content-Length": length}, body), True)


def unknown(url: str, random: Random) -> Request:
    """Bytes of a stranger, who can guess host and port."""
    netloc = urlsplit(url).netloc
    texts = (
        _request("GET", "/", {"Host": netloc}),
        _request("POST", f"/{random.randbytes(32).hex()}/", {"Host": netloc, "Content-Length": "9" * 4400}),
        _request("GET", "/../../etc/passwd", {"Host": netloc, "X": "y" * random.choice((10, 70_000))}),
        _request("GET", "/", {f"H{number}": "v" for number in range(random.choice((5, 99, 101, 500)))}),
        b"GET /" + random.randbytes(random.randrange(3000)) + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/" + random.choice((b"9.9", b"1.1.1", b"\xb2.0", b"-1.0", b"1" * 5000)) + b"\r\n\r\n",
        b"\x16\x03\x01" + random.randbytes(200),
        random.randbytes(random.randrange(100_000)),
        b"\r\n" * random.randrange(1, 100),
        b"",
    )
    return Request("stranger", random.choice(texts), is_known=False)


def _request(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


class Visits:
    """The requests of one server, and those who sit there."""

    def __init__(self, server: Command, url: str, random: Random) -> None:
        self.statuses: Counter[str] = Counter()
        self.most_threads = self.most_descriptors = 0
        self._server = server
        self._url = url
        self._random = random
        self._idle: deque[socket.socket] = deque()

    def visit(self) -> Outcome:
        """Sends one random request and checks the answer."""
        outcome = self.ask((known if self._random.random() < KNOWN_SHARE else unknown)(self._url, self._random))
        self._sit()
        return outcome

    def ask(self, request: Request) -> Outcome:
        """Sends it; a stranger does not always wait for the answer."""
        start = time.monotonic()
        with self._connected() as connection:
            with suppress(OSError):
                connection.sendall(request.content)
                if "length" in request.kind or not request.is_known:
                    connection.shutdown(socket.SHUT_WR)
            heard = _heard(connection) if request.is_known or self._random.random() < 0.2 else b""
        self.statuses[heard[9:12].decode(errors="replace") or "none heard"] += 1
        complaints = list(_wrong_answer(request, heard))
        return Outcome("play", request.kind, "answered", complaints, took_s=time.monotonic() - start)

    def watch(self) -> list[str]:
        """What is wrong with the server now."""
        if self._server.host.poll() is not None:
            return [f"the server has ended with {self._server.host.returncode}"]
        use = use_of(self._server.host.pid)
        self.most_threads = max(self.most_threads, use.threads)
        self.most_descriptors = max(self.most_descriptors, use.descriptors)
        too_many = use.descriptors > MOST_STRANGERS + MOST_GUESTS + OTHERS
        return [f"{use.descriptors} descriptors"] if too_many else []

    def leave(self) -> None:
        """All go who sit there."""
        while self._idle:
            self._idle.popleft().close()

    def _sit(self) -> None:
        """One more sits there, and another one says a byte."""
        if self._random.random() < 0.2:
            self._idle.append(self._connected())
        if len(self._idle) > IDLE:
            self._idle.popleft().close()
        if self._idle:
            with suppress(OSError):
                self._random.choice(self._idle).send(b"G", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)

    def _connected(self) -> socket.socket:
        parts = urlsplit(self._url)
        return socket.create_connection((parts.hostname or "", parts.port or 0), ANSWER_S)


def _heard(connection: socket.socket) -> bytes:
    heard = b""
    with suppress(OSError):
        while more := connection.recv(1 << 16):
            heard += more
    return heard


def _wrong_answer(request: Request, heard: bytes) -> Iterator[str]:
    if request.is_known and not STATUS.match(heard):
        yield f"no answer to {request.content[:300]!r}: {heard[:100]!r}"
    if request.is_known and heard[9:12] == b"500":
        yield f"{request.content[:600]!r}: {heard[:100]!r}"
    if not request.is_known and b'class="film"' in heard:
        yield f"was shown the page for {request.content[:300]!r}"


def trials(folder: Path, number: int, random: Random, notes: list[str]) -> Iterator[Outcome]:
    """So many requests of both kinds, while others sit there; then one for the page, and the server itself."""
    (folder / "scenario.txt").write_text(SCENARIO, encoding="utf-8")
    with Command(["play", str(folder / "scenario.txt")], folder / "play") as server:
        wait_for(lambda: "\n" in server.output() or server.host.poll() is not None, ANSWER_S)
        url = server.output().strip()
        visits, wrong = Visits(server, url, random), []
        for count in range(number):
            yield visits.visit()
            if count % WATCHED == 0:
                wrong += visits.watch()
        wrong += visits.watch()
        parts = urlsplit(url)
        content = f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()
        yield visits.ask(Request("page at the end", content, is_known=True))
        visits.leave()
        errors = server.errors()
    yield Outcome("play", "all of it", complaints=[*wrong, *([f"stderr: {errors[:3000]}"] if errors else [])])
    notes.append(f"answers: {', '.join(f'{status} {count:,}' for status, count in sorted(visits.statuses.items()))}")
    notes.append(f"at most {visits.most_threads} threads and {visits.most_descriptors} descriptors")


def _run_chapter(asked: Asked) -> Iterator[Outcome]:
    yield from trials(asked.folder, asked.trials, asked.random(), asked.notes)


CHAPTER = Chapter(
    _run_chapter, ("play",), ("page", "method", "length", "headers", "question", "stranger"), trials=20_000
)
