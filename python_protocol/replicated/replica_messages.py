"""What the brokers of one site say to each other, so that all have the same state.

The paper on replicated brokers has this in sections 6 to 6.7. A step is told by the message that it takes in, because
every broker makes the same of it. A broker that has missed steps gets a copy of the whole state (`snapshot`).
"""

from __future__ import annotations

from typing import Annotated

from roambus.python_protocol.messages.bytes import Reader, Writer
from roambus.python_protocol.messages.fields import U32, By, LongBytes
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.shapes import TWO_BYTES, Blob
from roambus.python_protocol.replicated.failure_messages import OfPoint, Point
from roambus.python_protocol.replicated.messages import Numbered
from roambus.python_protocol.roles import NodeId

_LONG = Blob(TWO_BYTES)
Copy = Annotated[
    bytes, By(Writer.long_blob, Reader.long_blob, lambda data, _: f"{len(data)} bytes" if data else "the pieces", _LONG)
]
"""A site's state as bytes; no bytes if it has come in pieces."""
MaybeCopy = Annotated[
    bytes,
    By(Writer.long_blob, Reader.long_blob, lambda data, _: f"with a copy of {len(data)} bytes" if data else "", _LONG),
]
"""The same; no bytes also if there is no copy."""


class Inform(Message, tag=11, notation="{point} {peer}: {message}"):
    """The leader has come to the point by a step: `message` of `peer` has changed its state (section 6)."""

    point: Point
    peer: NodeId
    message: Numbered


class Informed(Message, tag=12, notation="{point}"):
    """The sender's copy has come to this point."""

    point: Point


class HandOver(Message, tag=13, name="HAND_OVER", notation="{peer}: {message}"):
    """To a new leader: a message of a client that the old one may not have taken in (section 6.6)."""

    peer: NodeId
    message: Numbered


class TakeOver(OfPoint, tag=14, name="TAKE_OVER"):
    """The sender wants to lead from `term` on; its copy has come to the point."""


class Yield(OfPoint, tag=15, notation="term={term} from {point} {snapshot}"):
    """The answer: the sender follows no earlier leader any more. `snapshot` is its copy if that is the newer one."""

    snapshot: MaybeCopy


class CatchUp(Message, tag=16, name="CATCH_UP"):
    """The sender's copy is lost or of no use: it wants the leader's."""


class Piece(Message, tag=18, notation="{point} {number} of {count}"):
    """A part of a copy that is too long for one message, at this point; the first has number 0."""

    point: Point
    number: U32
    count: U32
    data: LongBytes


class State(Message, tag=17, notation="{point} of {snapshot}"):
    """The leader's copy, at this point."""

    point: Point
    snapshot: Copy
