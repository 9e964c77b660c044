"""The messages of MFT-PubSub without its tree, all broadcast, and its parameters."""

from __future__ import annotations

from typing import NamedTuple

from roambus.python_protocol.baselines import RepairParameters
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.fields import U8, U16
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.digest import Held
from roambus.python_protocol.roles import NodeId, SubscriberId
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

LAST_EFFORT = 15
"""Of a PUB that is for all to repeat."""
BEAT_BYTES, HELD_BYTES, TARGET_BYTES = 10, 14, 3
"""Of a heartbeat without rows and digests, a digest's entry, and a target."""


class LeanParameters(RepairParameters):
    """Parameters of forwarding and of gossip with repair; raises ValueError for impossible values."""

    beat_interval: SimTime = parameter(
        5 * SECOND,
        unit="s",
        source="measured: interest; at 2 m/s two nodes part by half of a radio's range meanwhile",
        above=0,
        at_most=31 * SECOND,
        doc="time between two heartbeats of a node while distances are needed and change",
    )
    forward_delay: SimTime = parameter(
        250 * MILLISECOND,
        unit="s",
        source="reasoned: a quarter of the second within which a notification is to come",
        at_least=0,
        doc="longest wait of who is hardly nearer than the sender; who is very near does not wait",
    )
    answer_delay: SimTime = parameter(
        250 * MILLISECOND,
        unit="s",
        source="as forward_delay, after which somebody nearer has sent it on",
        above=0,
        doc="who has heard no sign of a notification for so long, and up to half as long again, sends it again",
    )
    echo_delay: SimTime = parameter(
        120 * MILLISECOND,
        unit="s",
        source="reasoned: half of answer_delay, so that it comes before the notification is sent again",
        at_least=0,
        doc="longest wait before an acknowledgement is repeated for somebody who has missed it",
    )
    progress: float = parameter(
        0.8,
        unit="transmissions",
        source="measured: interest; nearly the transmission that forwarding costs",
        at_least=0,
        doc="who is nearer by so much forwards; by half as much what is sent again",
    )
    publisher_tries: int = parameter(
        3,
        source="measured: interest",
        at_least=1,
        doc="times that the publisher sends before it sends to all",
    )
    forwarder_tries: int = parameter(
        2, source="measured: interest", at_least=1, doc="times that any other node sends a notification"
    )
    subscription_delay: SimTime = parameter(
        2 * SECOND,
        unit="s",
        source="reasoned: within which a subscription has come everywhere",
        at_least=0,
        doc="a subscription that the publisher learns so late is for what it has published meanwhile, too",
    )


class Target(NamedTuple):
    """A subscriber that lacks a notification, and the sender's distance to it (`lean.distances`)."""

    subscriber: SubscriberId
    level: U8


class Pub(Message, tag=0x52, notation="effort={effort} {targets} {notification} hops={hops}"):
    """A notification, which has come `hops` hops, for some subscribers."""

    hops: U8
    effort: U8
    targets: tuple[Target, ...]
    notification: Notification


class Ack(Message, tag=0x53, notation="{notification} {subscriber}"):
    """A subscriber has a notification, according to itself or a node that heard it."""

    notification: NotificationId
    subscriber: SubscriberId


class Beat(Message, tag=0x54, name="HEARTBEAT", notation="sum={interests} changes={changes} {held}"):
    """A heartbeat; the next comes within `interval` eighths of a second."""

    interval: U8
    interests: U16
    changes: U16
    first: NodeId
    levels: bytes
    held: tuple[Held, ...]
