"""The ends of an expected pair of a notification and a subscriber, and the kinds of reasons for a loss.

They stand apart from what finds them in a trace, for lists of metrics import nothing slow.
"""

from __future__ import annotations

from collections.abc import Mapping

from roambus.python_protocol.events import (
    BUFFER_FULL,
    CHANNEL_ACCESS_FAILURE,
    NO_ACKNOWLEDGEMENT,
    NO_LINK,
    NOT_SENT,
    QUEUE_FULL,
)

DELIVERED, STORED, LOST = "delivered", "stored", "lost"
UNDER_WAY, UNSEEN, NOT_ATTEMPTED = "under way", "unseen", "not attempted"

CRASH = "crash"
"""The reason of what a node had stored that crashed."""
DEATH = "no energy left"
"""The reason of what a node had stored whose battery is empty."""

QUEUE, CHANNEL, SILENCE, WAY, LIMIT, OTHER = "queue", "channel", "acknowledgement", "way", "limit", "other"
GROUPS: Mapping[str, str] = {
    QUEUE_FULL: QUEUE,
    BUFFER_FULL: QUEUE,
    CHANNEL_ACCESS_FAILURE: CHANNEL,
    NO_ACKNOWLEDGEMENT: SILENCE,
    NOT_SENT: OTHER,
    NO_LINK: WAY,
    "link broken": WAY,
    "no route": WAY,
    "no route in time": WAY,
    "not on its route": WAY,
    "TTL exceeded": WAY,
    "publisher has no broker": WAY,
    CRASH: CRASH,
    DEATH: CRASH,
}
"""The kind of each reason; others are of kind LIMIT if something is full, and OTHER."""


def group_of(reason: str) -> str:
    """Return the kind of a reason."""
    return GROUPS.get(reason) or (LIMIT if reason.endswith(" full") else OTHER)
