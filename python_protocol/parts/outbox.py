"""Flow control towards the MAC, for agents that leave acknowledgements to it: the interface of `Link`, without frames.

A message is handed over at once until the MAC has no room. From the node's first `Sent` on it is paced: a neighbour's
next message follows when the MAC is done with the last, so that it waits here, where it can still go another way.
A refused message is never lost here:

- without room: the message stays first, and is handed over again when the MAC is done with another frame, or after a
  pause;
- without a clear channel, which says nothing about the neighbour: again after growing, jittered pauses, as often as the
  link layer retransmits, and then as below. A MAC that does not report cannot be paced, so there it is a break at once;
- unacknowledged, or without a link: the neighbour is given up, with all that waits for it;
- for any other reason, such as a message too long for a frame: this message is given up, and the next one follows.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from roambus.python_protocol.actions import Action, CancelTimer, Send, SetTimer
from roambus.python_protocol.events import CHANNEL_ACCESS_FAILURE, SendFailed, Sent
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import LinkBroken, LinkParameters, LinkTimer, link_timer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Outcome(NamedTuple):
    """The consequence of a failed frame."""

    actions: list[Action]
    broken: tuple[LinkBroken, ...] = ()
    """The neighbour, if it is given up."""
    lost: tuple[Message, ...] = ()
    """The message, if it alone is given up."""


@dataclass(slots=True)
class Waiting:
    """The messages for one neighbour that the MAC has not got."""

    queue: deque[Message] = field(default_factory=deque)
    at_mac: Message | None = None
    """The one that a reporting MAC is at."""
    retries: int = 0
    """Of the first message, after busy channels."""
    pauses: bool = False
    """Whether a timer is set for the next try."""
    lacks_room: bool = False
    """Whether the pause is for room in the MAC, and can end sooner."""


class Outbox:
    """Hands messages to a MAC that acknowledges, or to reliable links."""

    def __init__(self, limits: LinkParameters, random: Random) -> None:
        self._limits = limits
        self._random = random
        self._waiting: dict[NodeId, Waiting] = {}
        self.is_paced = False
        """Whether the MAC reports the frames that it is done with."""

    def send(self, neighbour: NodeId, message: Message, now: SimTime) -> list[Action]:  # as Link's
        """Hand a message over, or queue it behind those that wait for the same neighbour."""
        if not self.is_paced and neighbour not in self._waiting:
            return [Send(neighbour, message)]
        waiting = self._waiting.setdefault(neighbour, Waiting())
        waiting.queue.append(message)
        return self._hand_over(neighbour, waiting)

    def sent(self, event: Sent) -> list[Action]:
        """The MAC is done with a frame, and has room for another."""
        self.is_paced = True
        waiting = self._waiting.get(event.destination)
        if waiting is not None and waiting.at_mac == event.message:
            waiting.at_mac, waiting.retries = None, 0
        return self._go_on()

    def failed(self, event: SendFailed) -> Outcome:
        """The MAC refused a message, or gave it up."""
        neighbour, message = event.destination, event.message
        waiting = self._waiting.setdefault(neighbour, Waiting())
        was_first = waiting.at_mac == message
        waiting.at_mac = None if was_first else waiting.at_mac
        if event.lacks_room:
            return Outcome(self._hold(neighbour, waiting, message, first=was_first, lacks_room=True))
        is_busy = self.is_paced and event.reason == CHANNEL_ACCESS_FAILURE
        if is_busy and waiting.retries < self._limits.link_retry_limit:
            waiting.retries += 1
            return Outcome(self._hold(neighbour, waiting, message, first=True, lacks_room=False))
        if event.is_break:
            waiting.queue.appendleft(message)
            actions, broken = self.reset(neighbour)
            return Outcome([*actions, *self._go_on()], tuple(broken))
        waiting.retries = 0
        return Outcome(self._go_on(), lost=(message,))

    def timer(self, key: LinkTimer) -> tuple[list[Action], list[LinkBroken]]:  # as Link's
        """Try again after a pause."""
        if (waiting := self._waiting.get(key.neighbour)) is None:
            return [], []
        waiting.pauses = waiting.lacks_room = False
        return self._hand_over(key.neighbour, waiting), []

    def reset(self, neighbour: NodeId) -> tuple[list[Action], list[LinkBroken]]:  # as Link's
        """Give a neighbour up: at most one LinkBroken, with the messages that the MAC has not got."""
        waiting = self._waiting.pop(neighbour, None)
        if waiting is None:
            return [], []
        actions: list[Action] = [CancelTimer(link_timer(neighbour))] if waiting.pauses else []
        return actions, [LinkBroken(neighbour, tuple(waiting.queue))] if waiting.queue else []

    def held(self) -> list[Message]:  # as Link's
        """The messages that wait here, or at a reporting MAC."""
        found: list[Message] = []
        for waiting in self._waiting.values():
            found += [*([] if waiting.at_mac is None else [waiting.at_mac]), *waiting.queue]
        return found

    def is_full(self, neighbour: NodeId) -> bool:  # as Link's
        """Whether as many messages wait as may."""
        waiting = self._waiting.get(neighbour)
        return waiting is not None and len(waiting.queue) >= self._limits.link_queue_limit

    def is_idle(self, neighbour: NodeId) -> bool:  # as Link's
        """Whether nothing waits, and no report of the MAC is awaited."""
        return neighbour not in self._waiting

    def receive(
        self, sender: NodeId, message: Message, now: SimTime
    ) -> tuple[list[Action], list[Message]]:  # as Link's
        """The message itself has arrived."""
        return [], [message]

    # Helpers

    def _hold(
        self, neighbour: NodeId, waiting: Waiting, message: Message, *, first: bool, lacks_room: bool
    ) -> list[Action]:
        """Keep a message in its place, and try again after a pause."""
        if first:
            waiting.queue.appendleft(message)
        else:  # of a burst the refused ones come back in their order
            waiting.queue.append(message)
        if waiting.pauses:
            return []
        waiting.pauses, waiting.lacks_room = True, lacks_room
        return [SetTimer(link_timer(neighbour), self._pause(waiting.retries))]

    def _pause(self, retries: int) -> SimTime:
        pause = min(self._limits.link_time_out_min << retries, self._limits.link_time_out_max)
        return round(pause * (1 + self._limits.link_jitter * self._random.random()))

    def _go_on(self) -> list[Action]:
        """Hand over the messages that wait for the MAC alone, to be done with another or for room."""
        actions: list[Action] = []
        for neighbour, waiting in list(self._waiting.items()):
            if waiting.lacks_room:
                waiting.pauses = waiting.lacks_room = False
                actions.append(CancelTimer(link_timer(neighbour)))
            actions += self._hand_over(neighbour, waiting)
        return actions

    def _hand_over(self, neighbour: NodeId, waiting: Waiting) -> list[Action]:
        """Hand over the first message, or without reports all; forget a neighbour for whom nothing waits."""
        if waiting.pauses or waiting.at_mac is not None:
            return []
        if self.is_paced and waiting.queue:
            waiting.at_mac = waiting.queue.popleft()
            return [Send(neighbour, waiting.at_mac)]
        del self._waiting[neighbour]
        return [Send(neighbour, message) for message in waiting.queue]
