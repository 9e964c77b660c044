"""The syntax of pcapng files (the IETF's draft on the PCAP Next Generation Capture File Format).

A file is a section header, a description of each interface, and the packets. An interface stands for a node. All times
are whole nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct

LINK_TYPE = 283
"""LINKTYPE_IEEE802_15_4_TAP: frames of IEEE 802.15.4 with what their radio knows of them."""
INBOUND, OUTBOUND = 1, 2
"""The directions of a packet, which are the lowest bits of its flags."""
UNICAST, BROADCAST = 1 << 2, 3 << 2
"""Whom a packet is for, which are further bits of its flags."""

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_ORDER = 0x1A2B3C4D
_COMMENT, _NAME, _DESCRIPTION, _APPLICATION, _RESOLUTION, _FLAGS = 1, 2, 3, 4, 9, 2
_NANOSECONDS = bytes([9])
_ENDS = Struct("<II")
_OPTION = Struct("<HH")
_U32 = Struct("<I")
_SECTION_HEAD = Struct("<IHHq")
_INTERFACE_HEAD = Struct("<HHI")
_PACKET_HEAD = Struct("<IIIII")
_END_OF_OPTIONS = _OPTION.pack(0, 0)


def section(application: str, comment: str) -> bytes:
    """The block with which a file begins: who wrote it, and what it is."""
    options = [(_COMMENT, comment.encode()), (_APPLICATION, application.encode())]
    return _block(_SECTION, _SECTION_HEAD.pack(_ORDER, 1, 0, -1) + _options(options))


def interface(name: str, description: str) -> bytes:
    """The block of the next interface; interfaces are numbered from 0."""
    options = [(_NAME, name.encode()), (_DESCRIPTION, description.encode()), (_RESOLUTION, _NANOSECONDS)]
    return _block(_INTERFACE, _INTERFACE_HEAD.pack(LINK_TYPE, 0, 0) + _options(options))


def packet(number: int, time: int, data: bytes, flags: int) -> bytes:
    """The block of a packet that the interface of this number sent or received at `time` (ns)."""
    head = _PACKET_HEAD.pack(number, time >> 32, time & 0xFFFFFFFF, len(data), len(data))
    return _block(_PACKET, head + _padded(data) + _options([(_FLAGS, _U32.pack(flags))]))


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + _ENDS.size + _U32.size
    return _ENDS.pack(kind, length) + body + _U32.pack(length)


def _options(options: Iterable[tuple[int, bytes]]) -> bytes:
    return b"".join(_encoded(options)) + _END_OF_OPTIONS


def _encoded(options: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    for code, value in options:
        yield _OPTION.pack(code, len(value)) + _padded(value)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
