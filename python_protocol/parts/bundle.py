"""A bundle: what a node has to say to its neighbours within a short time, in one broadcast frame.

It carries the node's heartbeat, acknowledgements, a digest (`parts.digest`), and parcels. A *parcel* is a message with
its receivers; everybody else who hears it may use it, too. One without receivers is for all. `parts.bundling_link`
makes bundles.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from roambus.python_protocol.messages.fields import U16, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.digest import Held
from roambus.python_protocol.parts.link import LinkParameters
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.vocabulary import MILLISECOND, NodeId, SimTime


class BundleParameters(LinkParameters):
    """What the parameters of an agent inherit if it can send in bundles."""

    bundles: bool = parameter(
        False,
        source="aggregation of frames, as IEEE 802.11n and 6LoWPAN's implementations have it",
        doc="all messages of a node within bundle_delay share a broadcast frame, also acknowledgements",
    )
    bundle_delay: SimTime = parameter(
        50 * MILLISECOND,
        unit="s",
        source="reasoned: two CSMA back-offs of at most 16 and 32 ms, which a frame on its way may take anyway",
        at_least=0,
        doc="a message waits between half of this and all of it for others to share its frame",
    )
    spread_delay: SimTime = parameter(
        10 * MILLISECOND,
        unit="s",
        source="as broadcast_jitter of aodv: RFC 5148, section 5.4, for its kind; ns-3 AODV for its size",
        at_least=0,
        doc="broadcasts wait a random time up to this, so that two answers to one frame do not collide",
    )
    ack_delay: SimTime = parameter(
        300 * MILLISECOND,
        unit="s",
        source="reasoned: a node of the tree sends about three frames a second, a heartbeat and two notifications",
        at_least=0,
        doc="an acknowledgement waits this long for another frame",
    )
    bundle_bytes: int = parameter(
        250,
        unit="B",
        source="reasoned: a BMIG of 32 subscribers; 9 ms on the air with its headers",
        at_least=1,
        doc="parcels of one bundle, unless a single one is longer",
    )


_PLACE_BYTES = 6


class Place(NamedTuple):
    """A place in the stream from one node to another: `sequence` counts from 0 in a `session`.

    With a parcel `node` is the receiver; with an acknowledgement it is the sender of what has arrived up to here.
    """

    node: NodeId
    session: U16
    sequence: U16

    def describe(self, names: Names) -> str:
        """The node, the session and the number: "b2:4711.0"."""
        return f"{names.node(self.node)}:{self.session}.{self.sequence}"


class Parcel(NamedTuple):
    """A message, and for whom it is."""

    receivers: tuple[Place, ...]
    payload: Message

    def describe(self, names: Names) -> str:
        """The message, and its receivers behind it."""
        receivers = " ".join(one.describe(names) for one in self.receivers)
        return f"({self.payload.describe(names)} for {receivers or 'all'})"

    def size(self) -> int:
        """The bytes that it takes in a bundle."""
        return 1 + _PLACE_BYTES * len(self.receivers) + len(self.payload.encode())


class Bundle(Message, tag=0x43):
    """One frame of a node for its neighbours."""

    beat: Message | None
    held: tuple[Held, ...]
    acks: tuple[Place, ...]
    parcels: tuple[Parcel, ...]

    @property
    def message_type(self) -> str:  # type: ignore[override]  # what the trace is to tell is why the frame was sent
        """The type of what could not wait: the heartbeat, or the first parcel."""
        if self.beat is not None:
            return self.beat.message_type
        return self.parcels[0].payload.message_type if self.parcels else "ACK"

    def describe(self, names: Names) -> str:
        """Everything that is in it."""
        beat = [] if self.beat is None else [self.beat.describe(names)]
        parts = (("held", self.held), ("acks", self.acks), ("parcels", self.parcels))
        lists = [f"{name}=[{' '.join(one.describe(names) for one in ones)}]" for name, ones in parts if ones]
        return " ".join(["BUNDLE", *beat, *lists])


def split(parcels: Iterable[Parcel], size: int) -> list[tuple[Parcel, ...]]:
    """The parcels in their order, in groups of at most `size` bytes; one that is longer has a group for itself."""
    # In their order, and not so that the groups are as full as they can be: a link delivers what was said first first.
    groups: list[list[Parcel]] = []
    room = 0
    for parcel in parcels:
        if not groups or parcel.size() > room:
            groups.append([])
            room = size
        groups[-1].append(parcel)
        room -= parcel.size()
    return [tuple(group) for group in groups]


def add(parcels: list[Parcel], message: Message, place: Place, earliest: int) -> int:
    """Adds a receiver of a message to a parcel at `earliest` or behind; returns where its next message may be."""
    for position in range(earliest, len(parcels)):
        parcel = parcels[position]
        if parcel.receivers and parcel.payload == message:
            parcels[position] = parcel._replace(receivers=(*parcel.receivers, place))
            return position + 1
    parcels.append(Parcel((place,), message))
    return len(parcels)
