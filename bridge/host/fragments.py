"""Messages longer than a frame: senders fragment, receivers join them (RFC 4944, section 5.3).

Agents exchange whole messages. With Application.fragments the host is an adaptation layer between agents and any
back-end; otherwise the MAC or radio refuses a long message, and the trace says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from roambus.bridge.backend import SENT, Delivery, Failure
from roambus.bridge.system.errors import UserError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.python_protocol.messages.message import Fragment, Message, MessageSet
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import DROP

_HEADER = Fragment(0, 0, 0, b"").encoded_size()
_MOST = 255
"""The most payload bytes of a fragment, whatever the frame allows."""
_DATAGRAMS = 1 << 16


class Piece(NamedTuple):
    """A fragment, and its size."""

    message: Fragment
    size: int


@dataclass(slots=True)
class _Partial:
    """A receiver's part of a neighbour's message; the joined bytes begin where no fragment is missing before."""

    datagram: int
    data: bytearray = field(default_factory=bytearray)
    is_over: bool = False
    """Whether it is complete and delivered, or lacks a fragment."""


class Fragments:
    """The fragments of all nodes of a run."""

    def __init__(self, messages: MessageSet, trace: TraceWriter) -> None:
        """Raise UserError if one of the agent's messages looks like a fragment."""
        if any(cls.tag == Fragment.tag for cls in messages):
            raise UserError(f"tag {Fragment.tag} is that of fragments: give the agent's message another one")
        self._room, self._messages, self._trace = _MOST, messages, trace
        self._datagrams: dict[NodeId, int] = {}
        self._sent: dict[tuple[NodeId, int], Message] = {}
        """Messages that could still fail, by sender and number.

        A queue can hold any number of them, and not every MAC reports its success: each stays until its number is used
        again, unless its outcome comes first.
        """
        self._partial: dict[tuple[NodeId, NodeId], _Partial] = {}
        """Each receiver's part of each sender's last message."""

    def fit(self, longest: float) -> None:
        """Set the longest message of a frame, in bytes; raises UserError if no fragment fits."""
        room = min(longest - _HEADER, _MOST)
        if room < 1:
            raise UserError(f"a frame has room for {max(0, int(longest))} bytes, which is none for a fragment")
        self._room = int(room)

    def split(self, node: NodeId, message: Message) -> Iterator[Piece]:
        """The pieces of a node's message, in order."""
        data, datagram = message.encode(), self._datagrams.get(node, 0)
        self._datagrams[node] = (datagram + 1) % _DATAGRAMS
        self._sent[node, datagram] = message
        for offset in range(0, len(data), self._room):
            piece = data[offset : offset + self._room]
            yield Piece(Fragment(datagram, len(data), offset, piece), _HEADER + len(piece))

    def join(self, deliveries: Iterable[Delivery], now: SimTime) -> Sequence[Delivery]:
        """The deliveries with whole messages in place of their last fragments."""
        whole = []
        for delivery in deliveries:
            if not isinstance(delivery.message, Fragment):
                whole.append(delivery)
            elif (message := self._take(delivery, delivery.message, now)) is not None:
                whole.append(delivery._replace(message=message))
        return whole

    def _take(self, delivery: Delivery, fragment: Fragment, now: SimTime) -> Message | None:
        """The whole message, if this fragment completes it."""
        ends = delivery.receiver, delivery.sender
        partial = self._partial.get(ends)
        if partial is None or partial.datagram != fragment.datagram:
            if partial is not None and not partial.is_over:
                self._lose(delivery, partial, now)
            partial = self._partial[ends] = _Partial(fragment.datagram)
        if partial.is_over:
            return None
        if fragment.offset != len(partial.data):
            self._lose(delivery, partial, now)
            return None
        partial.data += fragment.piece
        if len(partial.data) < fragment.size:
            return None
        partial.is_over = True
        return self._messages.decode(bytes(partial.data))

    def _lose(self, delivery: Delivery, partial: _Partial, now: SimTime) -> None:
        partial.is_over = True
        self._trace.add(
            TraceRow(
                now,
                delivery.receiver,
                DROP,
                Fragment.message_type,
                peer=delivery.sender,
                detail="a fragment is missing",
            )
        )

    def outcome(self, failure: Failure) -> Failure | None:
        """The agent's one report of a message: at its first failed fragment, or when the last one was sent."""
        fragment = failure.message
        if not isinstance(fragment, Fragment):
            return failure
        if failure.reason == SENT and fragment.offset + len(fragment.piece) < fragment.size:
            return None
        message = self._sent.pop((failure.node, fragment.datagram), None)
        return None if message is None else failure._replace(message=message)
