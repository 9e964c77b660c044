"""What the server of a page does with requests of all kinds, and with those who only sit there.

python -m benchmarks.page_strangers --requests 20000

A real `roambus play` serves a session. Every request that knows the page's address must be answered by HTTP, whatever
is in it; nobody else may be told the page. Meanwhile strangers connect and say nothing, or a byte now and then: the
page must come all the same, threads and file descriptors must stay within their bounds, and nothing may be on stderr.
"""

from __future__ import annotations

import argparse
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from benchmarks.visitors.requests import Request, known, unknown
from benchmarks.visitors.served import ROAMBUS
from roambus.experiments.viewer.bounded_server import MOST_GUESTS, MOST_STRANGERS

SCENARIO = "agent mft\ntree\n  b1\n    b2\n    b3/s3\nclients s2@b2 p2@b2\n"
STATUS = re.compile(rb"HTTP/1\.[01] [2-5][0-9][0-9] ")
ANSWER_S = 60.0
IDLE = 200
"""So many strangers sit there at a time."""
OTHERS = 16
"""Threads and descriptors that the server has for itself."""
KNOWN_SHARE = 0.3


@dataclass(slots=True)
class Findings:
    """What came of the requests."""

    tried: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    most_threads: int = 0
    most_descriptors: int = 0
    slowest_s: float = 0.0


@contextmanager
def playing(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A session that is served, and its address."""
    scenario = folder / "scenario.txt"
    scenario.write_text(SCENARIO, encoding="utf-8")
    with (folder / "errors").open("w", encoding="utf-8") as errors:
        server = subprocess.Popen([*ROAMBUS, "play", scenario], stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        url = server.stdout.readline().strip() if server.stdout else ""
        yield server, url
    finally:
        server.kill()
        server.communicate()


def try_requests(folder: Path, number: int, seed: int) -> Findings:
    """Sends so many requests of both kinds, while others sit there."""
    findings, random, idle = Findings(), Random(seed), deque[socket.socket]()
    with playing(folder) as (server, url):
        for count in range(number):
            request = (known if random.random() < KNOWN_SHARE else unknown)(url, random)
            findings.tried[request.kind] += 1
            _try(url, request, random, findings)
            _sit(url, idle, random)
            if count % 50 == 0:
                _watch(server.pid, findings)
        if server.poll() is not None:
            findings.faults.append(f"the server has ended with {server.returncode}")
        _ask_for_the_page(url, findings)
        while idle:
            idle.popleft().close()
    errors = (folder / "errors").read_text(encoding="utf-8")
    return findings if not errors else _with_fault(findings, f"stderr: {errors[:3000]}")


def _try(url: str, request: Request, random: Random, findings: Findings) -> None:
    """A stranger does not always wait for the answer."""
    start = time.monotonic()
    connection = _connected(url)
    with connection:
        with suppress(OSError):
            connection.sendall(request.content)
            if "length" in request.kind or not request.is_known:
                connection.shutdown(socket.SHUT_WR)
        heard = _heard(connection) if request.is_known or random.random() < 0.2 else b""
    findings.slowest_s = max(findings.slowest_s, time.monotonic() - start)
    findings.statuses[heard[9:12].decode(errors="replace")] += 1
    if request.is_known and not STATUS.match(heard):
        findings.faults.append(f"{request.kind}: no answer to {request.content[:300]!r}: {heard[:100]!r}")
    if request.is_known and heard[9:12] == b"500":
        findings.faults.append(f"{request.kind}: {request.content[:600]!r}: {heard[:100]!r}")
    if not request.is_known and b'class="film"' in heard:
        findings.faults.append(f"{request.kind}: was shown the page for {request.content[:300]!r}")


def _sit(url: str, idle: deque[socket.socket], random: Random) -> None:
    """One more sits there, and another one says a byte."""
    if random.random() < 0.2:
        idle.append(_connected(url))
    if len(idle) > IDLE:
        idle.popleft().close()
    if idle:
        with suppress(OSError):
            random.choice(idle).send(b"G", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)


def _connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname or "", parts.port or 0), ANSWER_S)


def _heard(connection: socket.socket) -> bytes:
    heard = b""
    with suppress(OSError):
        while more := connection.recv(1 << 16):
            heard += more
    return heard


def _ask_for_the_page(url: str, findings: Findings) -> None:
    parts = urlsplit(url)
    content = f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()
    _try(url, Request("page at the end", content, is_known=True), Random(0), findings)


def _watch(process: int, findings: Findings) -> None:
    threads, descriptors = (len(list(Path(f"/proc/{process}/{name}").iterdir())) for name in ("task", "fd"))
    findings.most_threads = max(findings.most_threads, threads)
    findings.most_descriptors = max(findings.most_descriptors, descriptors)
    if descriptors > MOST_STRANGERS + MOST_GUESTS + OTHERS:
        findings.faults.append(f"{descriptors} descriptors")


def _with_fault(findings: Findings, fault: str) -> Findings:
    findings.faults.append(fault)
    return findings


def report(findings: Findings, seconds: float) -> int:
    """Prints all of it; returns the exit code: 0, or 1 if a promise was broken."""
    for fault in findings.faults:
        print(fault)
    for kind, number in sorted(findings.tried.items()):
        print(f"{number:10,}  {kind}")
    print(f"{findings.tried.total():,} requests, {len(findings.faults)} not as promised, {seconds:.0f} s; answers:")
    print(
        "  " + ", ".join(f"{status or 'none heard'} {number:,}" for status, number in sorted(findings.statuses.items()))
    )
    print(f"at most {findings.most_threads} threads and {findings.most_descriptors} descriptors;", end=" ")
    print(f"the slowest answer took {findings.slowest_s:.2f} s")
    return 1 if findings.faults else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, or 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page_strangers")
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="page-") as folder:
        findings = try_requests(Path(folder), asked.requests, asked.seed)
    return report(findings, time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())
