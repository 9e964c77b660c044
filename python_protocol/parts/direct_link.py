"""In place of the link layer where links are reliable and FIFO by themselves, as the papers assume: nothing is added.

What a link loses when it breaks, the back-end reports (`SendFailed`), so nothing is ever waited for.
"""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.streams import LinkBroken, LinkTimer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class DirectLink:
    """The interface of `Link`, without frames, acknowledgements and timers."""

    def send(self, neighbour: NodeId, message: Message, now: SimTime) -> list[Action]:  # as Link's
        """At once."""
        return [Send(neighbour, message)]

    def is_full(self, neighbour: NodeId) -> bool:  # as Link's
        """There is no queue."""
        return False

    def is_idle(self, neighbour: NodeId) -> bool:  # as Link's
        """There is nothing to wait for."""
        return True

    def receive(
        self, sender: NodeId, message: Message, now: SimTime
    ) -> tuple[list[Action], list[Message]]:  # as Link's
        """What arrives is the message itself."""
        return [], [message]

    def timer(self, key: LinkTimer) -> tuple[list[Action], list[LinkBroken]]:  # as Link's
        """There are none."""
        return [], []

    def reset(self, neighbour: NodeId) -> tuple[list[Action], list[LinkBroken]]:  # as Link's
        """Nothing waits."""
        return [], []
