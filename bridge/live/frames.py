"""Frames on the air: what a live node puts into a datagram, and which datagrams it takes.

A datagram can come from anybody who reaches the port. A frame is taken if its run's key has made its tag, if it is new,
and if it was sent since the receiver was started. All else is counted and dropped, before anything of it is decoded.

| bytes | field         | what for                                                                          |
|-------|---------------|-----------------------------------------------------------------------------------|
| 3     | version       | "ra" and the number of this format; another version's frames are strangers        |
| 8     | run           | runs on one network do not hear each other                                        |
| 2     | node          | who sends                                                                         |
| 2     | destination   | the node that is meant, or 65535 for all: by multicast everybody hears everything |
| 4     | incarnation   | how often the node was started: one that was killed and returns is no replay      |
| 8     | sequence      | the number of the frame among those of the incarnation                            |
| 8     | sent          | nanoseconds since the start of the run, by the sender's clock                     |
| any   | payload       | the message's bytes                                                               |
| 16    | tag           | HMAC-SHA-256 of all that comes before, cut off as RFC 2104 (section 5) allows it  |

A replay is told by its sequence number, of which a window of the last ones is remembered for each node, as IPsec does
it (RFC 4303, section 3.4.3): datagrams may overtake each other, and what is older than the window is taken for a
replay. A receiver that was started again has an empty window. So it takes nothing that was sent before its own start.

Frames are authentic and not secret: whoever is on the way can read them, as anybody can read a frame on the radio.
"""

from __future__ import annotations

import hmac
from collections import Counter
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from roambus.python_protocol.vocabulary import BROADCAST, NodeId, SimTime

FORMAT = b"ra\x01"
HEADER = Struct("!3s8sHHIQq")
RUN_BYTES, KEY_BYTES, TAG_BYTES = 8, 32, 16
OVERHEAD = HEADER.size + TAG_BYTES
LONGEST_DATAGRAM = 65507
"""What UDP over IPv4 carries (RFC 768)."""
LONGEST_PAYLOAD = LONGEST_DATAGRAM - OVERHEAD
WINDOW = 1024
"""Sequence numbers that are remembered of each node: a second of the most frames that a node may send."""

STRANGERS, REPLAYS, NOT_OURS = "frames_of_strangers", "frames_replayed", "frames_for_others"
"""The names under which dropped datagrams are counted."""


class Frame(NamedTuple):
    """What a datagram of the run carries."""

    node: NodeId
    destination: NodeId
    incarnation: int
    sequence: int
    sent: SimTime
    payload: bytes


@dataclass(frozen=True, slots=True)
class Seal:
    """The number and the key of a run: with them frames are made and checked."""

    run: bytes
    key: bytes

    def write(self, frame: Frame) -> bytes:
        """The datagram of a frame, whose payload has at most `LONGEST_PAYLOAD` bytes."""
        *fields, payload = frame
        text = HEADER.pack(FORMAT, self.run, *fields) + payload
        return text + self._tag(text)

    def read(self, datagram: bytes) -> Frame | None:
        """The frame in a datagram; None if the run's key did not make it. A stranger's costs one hash at most."""
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
    """The sequence numbers that one node's frames had lately."""

    def __init__(self) -> None:
        self._incarnation = self._highest = -1
        self._seen = 0
        """Bit i says that the number `_highest` - i was there."""

    def take(self, incarnation: int, sequence: int) -> bool:
        """Whether the frame is new; then it is remembered."""
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
    """Takes the frames that are for `node` and counts all other datagrams."""

    def __init__(self, seal: Seal, node: NodeId, nodes: int, since: SimTime) -> None:
        """`nodes` is the number of nodes in the run, and this node was started at `since`."""
        self.dropped: Counter[str] = Counter()
        self._seal, self._node, self._since = seal, node, since
        self._windows = [Window() for _ in range(nodes)]

    def take(self, datagram: bytes) -> Frame | None:
        """The frame in the datagram, if there is one for this node; its own come back by multicast and are no news."""
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
