"""The strangers' messages: ZMTP of every version, well and badly spoken, and bytes that are nothing at all.

ZMTP is ZeroMQ's RFC 23 (3.0), RFC 37 (3.1), RFC 15 (2.0) and RFC 13 (1.0).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from random import Random

from roambus.bridge.wire.conversion import SCHEMA_HASH
from roambus.bridge.wire.wire_pb2 import FromSimulator, Hello, Node

MECHANISMS = (b"NULL", b"PLAIN", b"CURVE", b"GSSAPI", b"", b"\xff" * 20)
SOCKETS = (b"DEALER", b"REQ", b"ROUTER", b"PUB", b"SUB", b"PAIR", b"STREAM", b"")
COMMANDS = (b"READY", b"ERROR", b"PING", b"PONG", b"SUBSCRIBE", b"CANCEL", b"HELLO", b"INITIATE", b"WELCOME", b"JOIN")
FIRST_IDENTITY = 0x6B8B4567
"""Where libzmq begins to number its peers unless somebody seeds C's `rand`."""
HUGE = 8 * 2**20

Saying = Iterator[bytes]
"""Pieces, each of which is sent by itself."""


def greeting(mechanism: bytes, minor: int = 0) -> bytes:
    """The first 64 bytes of ZMTP 3."""
    return b"\xff" + bytes(8) + b"\x7f\x03" + bytes([minor]) + mechanism.ljust(20, b"\0")[:20] + bytes(32)


def frame(content: bytes, flags: int = 0) -> bytes:
    """A frame of ZMTP 2 and 3; flags are 1 for more, 4 for a command."""
    if len(content) < 256:
        return bytes([flags, len(content)]) + content
    return bytes([flags | 2]) + struct.pack(">Q", len(content)) + content


def command(name: bytes, content: bytes = b"") -> bytes:
    """A command of ZMTP 3."""
    return frame(bytes([len(name)]) + name + content, 4)


def ready(random: Random) -> bytes:
    """READY, with an identity that may be one of libzmq's own, or much too long."""
    number = FIRST_IDENTITY + random.randrange(2000)
    identities = (b"", b"\0" + struct.pack(">I", number), b"me", bytes(5), random.randbytes(300))
    socket_type = SOCKETS[0] if random.random() < 0.8 else random.choice(SOCKETS)
    return command(b"READY", _property(b"Socket-Type", socket_type) + _property(b"Identity", random.choice(identities)))


def _property(name: bytes, value: bytes) -> bytes:
    return bytes([len(name)]) + name + struct.pack(">I", len(value)) + value


def hello(random: Random) -> bytes:
    """A Hello with a token that is not the run's, of any version."""
    tokens = ("", random.randbytes(16).hex(), "0" * 32, "é" * 16, random.randbytes(16).hex() * 100)
    said = Hello(
        protocol_version=random.choice((0, 2, 3, 2**32 - 1)),
        schema_hash=random.choice((SCHEMA_HASH, b"", b"x")),
        token=random.choice(tokens),
        simulator="stranger",
        nodes=[Node(clock_rate=1.0)] * random.randrange(20),
    )
    return FromSimulator(hello=said).SerializeToString()


def old_versions(random: Random) -> Saying:
    """ZMTP 1, a message without metadata among it, and ZMTP 2."""
    if random.random() < 0.5:
        yield b"\x01\x00"
        yield b"".join(bytes([len(text) + 1, 0]) + text for text in (b"a", hello(random)[:200]))
    else:
        yield b"\xff" + bytes(8) + b"\x7f" + bytes([random.choice((1, 2))]) + bytes([random.randrange(12)])
        yield frame(b"")
        yield frame(hello(random))


def well_spoken(random: Random) -> Saying:
    """ZMTP 3.0 or 3.1, a whole handshake, and frames of all kinds."""
    yield greeting(b"NULL", random.choice((0, 1)))
    yield ready(random)
    for _ in range(random.choice((1, 1, 1, 3, 100))):
        kinds = (hello(random), random.randbytes(random.randrange(400)), b"", b"\xff" * 300)
        yield frame(random.choice(kinds), random.choice((0, 0, 0, 1)))


def commands(random: Random) -> Saying:
    """A handshake, and commands that may not come there."""
    yield greeting(random.choice(MECHANISMS), random.choice((0, 1)))
    for _ in range(random.randrange(1, 8)):
        yield command(random.choice(COMMANDS), random.randbytes(random.choice((0, 2, 10, 200, 300))))


def mutated(random: Random) -> Saying:
    """A handshake and a Hello, some bytes of which are others, missing, or twice there."""
    said = bytearray(b"".join(well_spoken(random)))
    for _ in range(random.randrange(1, 6)):
        place = random.randrange(len(said))
        match random.randrange(3):
            case 0:
                said[place] = random.randrange(256)
            case 1:
                del said[place : place + random.randrange(1, 20)]
            case _:
                said[place:place] = said[place : place + random.randrange(1, 20)]
        said = said or bytearray(b"\0")
    yield bytes(said)


def oversize(random: Random) -> Saying:
    """Frames that promise more than anybody may send, and now and then megabytes that do come."""
    yield greeting(b"NULL")
    if random.random() < 0.7:
        yield ready(random)
    size = random.choice((2**63 - 1, 2**64 - 1, 2**31, 65 * 2**20))
    yield bytes([random.choice((2, 3, 6))]) + struct.pack(">Q", size) + bytes(random.randrange(1000))
    if random.random() < 0.02:
        yield bytes(HUGE)


def endless(random: Random) -> Saying:
    """One message of very many parts, which never ends."""
    yield greeting(b"NULL")
    yield ready(random)
    for _ in range(random.choice((10, 100))):
        yield frame(random.randbytes(200), 1)


def curve(random: Random) -> Saying:
    """The beginning of CURVE, with a HELLO that proves nothing."""
    yield greeting(b"CURVE")
    yield command(b"HELLO", b"\1\0" + bytes(72) + random.randbytes(random.choice((0, 32, 120, 121))))
    yield command(b"INITIATE", random.randbytes(random.choice((0, 96, 300))))


def noise(random: Random) -> Saying:
    """Random bytes that are no message."""
    yield random.choice(
        (b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00", random.randbytes(random.randrange(2000)))
    )


SAYINGS: dict[str, Callable[[Random], Saying]] = {
    "ZMTP 1 and 2": old_versions,
    "ZMTP 3, wrong tokens": well_spoken,
    "commands of ZMTP 3": commands,
    "mutated handshakes": mutated,
    "oversize frames": oversize,
    "endless messages": endless,
    "CURVE without keys": curve,
    "noise": noise,
}
