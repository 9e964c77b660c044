"""The message of the election, and the name of the leadership that it carries."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, NamedTuple, Self

from roambus.python_protocol.messages.codec import Message, Reader, Writer
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import NodeId

MAX_HOPS = 0xFF
"""What `Heartbeat.hops` can tell at most."""

_NO_PARENT = 0xFFFE
_HEARTBEAT = Struct("!IHIBHB")


class Leadership(NamedTuple):
    """Names a leadership: the smaller one wins. `started` is in ms by the leader's clock."""

    started: int
    leader: NodeId


NO_LEADERSHIP = Leadership(0xFFFFFFFF, 0xFFFF)
"""What a node follows while it knows no leader; younger than any."""


@dataclass(frozen=True, slots=True)
class Heartbeat(Message):
    """One copy of a round's heartbeat: `hops` (at most 255) from leader to sender, the sender's parent and role."""

    tag: ClassVar[int] = 0x42
    message_type: ClassVar[str] = "HEARTBEAT"
    leadership: Leadership
    round: int
    hops: int
    parent: NodeId | None
    is_broker: bool

    def write(self, writer: Writer) -> None:
        """Start, leader, round, hops, parent, role: 14 bytes."""
        parent = _NO_PARENT if self.parent is None else self.parent
        writer.pack(_HEARTBEAT, *self.leadership, self.round, self.hops, parent, self.is_broker)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Inverse of `write`."""
        leadership = Leadership(reader.u32(), reader.u16())
        number, hops, parent = reader.u32(), reader.u8(), reader.u16()
        return cls(leadership, number, hops, None if parent == _NO_PARENT else parent, bool(reader.u8()))

    def describe(self, names: Names) -> str:
        """HEARTBEAT leader=b1 since=2839ms round=4 hops=1 parent=b1 broker."""
        leader = f"leader={names.node(self.leadership.leader)} since={self.leadership.started}ms"
        place = f"round={self.round} hops={self.hops} parent={names.node(self.parent)}"
        return f"HEARTBEAT {leader} {place}{' broker' if self.is_broker else ''}"
