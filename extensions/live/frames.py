"""Frames in datagrams, and the datagrams that a live node takes.

A node takes a datagram if the run's key made its tag, it is new, and it was sent after the receiver's start, because a
restarted receiver's window is empty. Others are counted and dropped undecoded.

Bytes: version 3, run 8, sender 2, destination 2 (65535: all), incarnation 4, sequence 8, sent 8 (ns since the start of
the run, sender's clock), payload, tag 16 (HMAC-SHA-256, truncated: RFC 2104, section 5).

A window of sequence numbers for each node finds replays (RFC 4303, section 3.4.3); older frames count as replays.
Frames are authentic, not secret.
"""

from __future__ import annotations

import hmac
from collections import Counter
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SimTime

FORMAT = b"ra\x01"
HEADER = Struct("!3s8sHHIQq")
RUN_BYTES, KEY_BYTES, TAG_BYTES = 8, 32, 16
OVERHEAD = HEADER.size + TAG_BYTES
LONGEST_DATAGRAM = 65507
"""The limit of UDP over IPv4 (RFC 768)."""
LONGEST_PAYLOAD = LONGEST_DATAGRAM - OVERHEAD
WINDOW = 1024
"""Sequence numbers kept for each node: a second at the rate limit."""

STRANGERS, REPLAYS, NOT_OURS = "frames_of_strangers", "frames_replayed", "frames_for_others"
"""Names of dropped datagrams' counts."""


class Frame(NamedTuple):
    """The content of a datagram."""

    node: NodeId
    destination: NodeId
    incarnation: int
    sequence: int
    sent: SimTime
    payload: bytes


@dataclass(frozen=True, slots=True)
class Seal:
    """The number and key of a run, which make and check frames."""

    run: bytes
    key: bytes

    def write(self, frame: Frame) -> bytes:
        """The datagram of a frame; the payload has at most `LONGEST_PAYLOAD` bytes."""
        *fields, payload = frame
        text = HEADER.pack(FORMAT, self.run, *fields) + payload
        return text + self._tag(text)

    def read(self, datagram: bytes) -> Frame | None:
        """The frame in a datagram; None, after one hash at most, without the run's tag."""
        if len(datagram) < OVERHEAD:
            return None
        form, run, *fields = HEADER.unpack_from(datagram)
        text, tag = datagram[:-TAG_BYTES], datagram[-TAG_BYTES:]
        if form != FORMAT or run != self.run or not hmac.compare_digest(tag, self._tag(text)):
            return None
        node, destination, incarnation, sequence, sent = fields
        return Frame(node, destination, incarnation, sequence, sent, text[HEADER.size :])

    def _tag(self, text: bytes) -> bytes:
        return hmac.digest(self.key, text, "sha256")[:TAG_BYTES]


class Window:
    """The recent sequence numbers of one node."""

    def __init__(self) -> None:
        self._incarnation = self._highest = -1
        self._seen = 0
        """Bit i stands for the number `_highest` - i."""

    def take(self, incarnation: int, sequence: int) -> bool:
        """Return whether the frame is new, and remember it."""
        if incarnation > self._incarnation:
            self._incarnation, self._highest, self._seen = incarnation, -1, 0
        age = self._highest - sequence
        if incarnation < self._incarnation or age >= WINDOW or (age >= 0 and self._seen >> age & 1):
            return False
        if age < 0:
            # The shift is bounded, for a number can be as far ahead as the header has room for.
            self._seen = (self._seen << min(-age, WINDOW)) & ((1 << WINDOW) - 1)
            self._highest, age = sequence, 0
        self._seen |= 1 << age
        return True


class Gate:
    """Takes the frames for `node` and counts all other datagrams."""

    def __init__(self, seal: Seal, node: NodeId, nodes: int, since: SimTime) -> None:
        """The run has `nodes` nodes, and this one was started at `since`."""
        self.dropped: Counter[str] = Counter()
        self._seal, self._node, self._since = seal, node, since
        self._windows = [Window() for _ in range(nodes)]

    def take(self, datagram: bytes) -> Frame | None:
        """The frame for this node, or None; drops its own."""
        frame = self._seal.read(datagram)
        if frame is None or frame.node >= len(self._windows):
            self.dropped[STRANGERS] += 1
        elif frame.node == self._node or frame.destination not in (self._node, BROADCAST):
            self.dropped[NOT_OURS] += 1
        elif frame.sent < self._since or not self._windows[frame.node].take(frame.incarnation, frame.sequence):
            self.dropped[REPLAYS] += 1
        else:
            return frame
        return None
