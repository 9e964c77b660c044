"""The messages of the first approach (the thesis, tables 2.4 and 3.1); SUB, UNS, PUB and FILTERS are the family's.

`hops` of REP counts radio hops, and includes the one that the message itself makes.
"""

from __future__ import annotations

from typing import NamedTuple

from roambus.python_protocol.brokers.messages import Hops
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import LongTuple, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BrokerId, NodeId, SubscriberId


class Mig(Message, tag=4, notation="{subscriber} b={broker}"):
    """(MIG, s, b): s, whose last broker was b, has a new one (algorithm 3.2)."""

    subscriber: SubscriberId
    broker: BrokerId


class Rep(Message, tag=5, notation="{notification} {subscriber} hops={hops}"):
    """(REP, e, s): a stored notification is replayed towards s (algorithm 3.2)."""

    subscriber: SubscriberId
    hops: Hops
    notification: Notification


class Bmig(Message, tag=7, notation="C={subscribers} b={broker}"):
    """(BMIG, C_j, b_j): broker b_j has migrated with its local subscribers C_j (algorithm 3.3)."""

    broker: BrokerId
    subscribers: tuple[SubscriberId, ...]


class Row(NamedTuple):
    """(f, z, s): what a BTAB tells of an entry of the sender's table."""

    interface: NodeId
    subscriber: SubscriberId
    filter: Filter

    def describe(self, names: Names) -> str:
        """The three as transcripts write them: "(f1,b1,s1)"."""
        interface = names.node(self.interface)
        return f"({names.filter(self.filter)},{interface},{names.subscriber(self.subscriber)})"


class Btab(Message, tag=10, notation="R={rows}"):
    """(BTAB, R_j): the full routing table of the sender (algorithm 3.3)."""

    rows: LongTuple[Row]


class Fmig(Message, tag=11):
    """(FMIG): the receiver shall migrate to the sender (algorithm 3.3)."""
