"""The message of the election, and the name of the leadership that it carries."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from roambus.python_protocol.messages.fields import U8, U32, Integer, Maybe
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId

MAX_HOPS = 0xFF
"""The most hops that a heartbeat can tell."""

_NO_PARENT = 0xFFFE


class Leadership(NamedTuple):
    """The name of a leadership, of which the smaller one wins; `started` is in ms by the leader's clock."""

    started: U32
    leader: NodeId


NO_LEADERSHIP = Leadership(0xFFFFFFFF, 0xFFFF)
"""What a node follows while it knows no leader; every other leadership is older."""


class Heartbeat(Message, tag=0x42):
    """One copy of a round's heartbeat; it tells the hops from leader to sender, and the sender's parent and role."""

    leadership: Leadership
    round: U32
    hops: U8
    parent: Annotated[NodeId | None, Maybe(Integer("H"), _NO_PARENT)]
    is_broker: bool

    def describe(self, names: Names) -> str:
        """The heartbeat as in "HEARTBEAT leader=b1 since=2839ms round=4 hops=1 parent=b1 broker"."""
        leader = f"leader={names.node(self.leadership.leader)} since={self.leadership.started}ms"
        place = f"round={self.round} hops={self.hops} parent={names.node(self.parent)}"
        return f"HEARTBEAT {leader} {place}{' broker' if self.is_broker else ''}"
