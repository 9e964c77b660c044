"""What is sent to the server of a page: requests that know its address, well and badly made, and those of strangers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from urllib.parse import urlsplit

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
