"""The messages of Phoenix (the thesis, tables 2.1 and 2.4; algorithms 2.2 and 2.3); SUB and UNS are the family's.

`hops` of PUB and REP counts radio hops, and includes the one that the message itself makes.
"""

from __future__ import annotations

from typing import NamedTuple

from roambus.python_protocol.brokers.messages import Hops
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U16, U32, LongTuple, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BrokerId, SubscriberId

Stay = U16
"""The number of a migration, and of the stay that it begins (see `numbered_broker`); to the letter it is always 0."""


class Stamp(NamedTuple):
    """ts, of which a later one is greater: that of one broker or, with numbered migrations, of one subscriber."""

    stay: Stay
    tick: U32
    """The broker's clock, which counts what it stamps, from 1."""

    def __str__(self) -> str:
        return f"{self.stay}.{self.tick}" if self.stay else str(self.tick)

    def describe(self, _: Names) -> str:
        """As transcripts write it: "3", or with the stay "5.7"."""
        return str(self)


NEVER = Stamp(0, 0)
"""Before any other: the ts of what nobody has stamped yet, and the ts_last of who has received nothing."""


class Pub(Message, tag=3, notation="{notification} ts={stamp} hops={hops} S={subscribers}?"):
    """(PUB, e, ts): e is published.

    `subscribers` are those for whom it goes this way (see `numbered_broker`); to the letter there are none.
    """

    stamp: Stamp
    hops: Hops
    subscribers: LongTuple[SubscriberId]
    notification: Notification


class Mig(Message, tag=4, notation="{subscriber} b={broker} ts_last={last} stay={stay}?"):
    """(MIG, s, b, ts_last): s, whose last broker was b, has a new one, and received all up to ts_last."""

    subscriber: SubscriberId
    broker: BrokerId
    last: Stamp
    stay: Stay = 0


class Rep(Message, tag=5, notation="{notification} {subscriber} ts={stamp} hops={hops}"):
    """(REP, e, s, ts): e is replayed towards s."""

    subscriber: SubscriberId
    stamp: Stamp
    hops: Hops
    notification: Notification


class Turn(Message, tag=12, notation="{subscriber} ts={stamp} n={following} {over}"):
    """(TURN, s, ts, n): after ts it is the turn of stay n. This is not in the thesis (see `numbered_broker`)."""

    subscriber: SubscriberId
    stamp: Stamp
    following: Stay
    over: bool
    """Whether ts is the last of its stay; otherwise there can be more, later."""
