"""A link layer that sends in bundles: reliable, in-order messages to neighbours, many of them in one broadcast frame.

The link layer of `parts.link` takes two frames for every message to every neighbour. Here all that a node has to say
within `bundle_delay` shares a frame: messages to several neighbours (one message to several of them is in it once),
acknowledgements, the heartbeat, and what is for everybody. Where links lose nothing and frames come in their order,
it does what that one does:

- Each direction between two neighbours is numbered from 0 in a *session*. A receiver takes the next number only; it
  acknowledges the last one that it has taken, and with it all before. A session that it does not know begins with
  number 0, so that nothing can be missed at its head; to a receiver that has rebooted the sender begins another one.
- An acknowledgement waits up to `ack_delay` for a frame that goes anyway, and else for one of its own. What is not
  acknowledged in time is sent again, all of it (go-back-N); pauses are those of `parts.link`, longer by `ack_delay`.
- After `link_retry_limit` retransmissions without any progress the neighbour is given up.

What is *spread* is for everybody who hears it. It is sent once, and nobody acknowledges it here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from roambus.python_protocol.actions import Action, CancelTimer, Send, SetTimer
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.bundle import Bundle, BundleParameters, Parcel, Place, add, split
from roambus.python_protocol.parts.digest import Held
from roambus.python_protocol.parts.link import LinkBroken, LinkTimer, Outbound, Streams, dropped, link_timer
from roambus.python_protocol.vocabulary import BROADCAST, NodeId, SimTime

_SEQUENCES = 1 << 16
_NOTHING = _SEQUENCES - 1
"""The number before the first: who acknowledges it has taken nothing of a session."""
FLUSH = LinkTimer(BROADCAST)
"""The key of the timer after which a bundle is sent."""


@dataclass(slots=True)
class _Outbound(Outbound):
    """The stream to one neighbour: of the messages in the queue the first `sent` are under way."""

    sent: int = 0
    began: SimTime | None = None
    """When the first message was sent, if it was sent once."""


class Opened(NamedTuple):
    """What comes of a bundle."""

    actions: list[Action]
    payloads: list[Message]
    """The messages that are for this node and whose turn it is, in order."""
    overheard: list[Message]
    """All other messages."""
    is_progress: bool
    """Whether it has acknowledged something of this node's."""


class BundlingLink(Streams[_Outbound]):
    """All links of one node."""

    def __init__(
        self,
        node: NodeId,
        parameters: BundleParameters,
        random: Random,
        held: Callable[[], tuple[Held, ...]] = tuple,
    ) -> None:
        """`random` is the agent's; `held` gives what every bundle is to tell of the notifications that are here."""
        super().__init__(_Outbound, parameters, random, parameters.ack_delay)
        self._node = node
        self._parameters = parameters
        self._held = held
        self._inbound: dict[NodeId, tuple[int, int]] = {}
        """The session from each neighbour, and the last number taken of it."""
        self._owed: dict[NodeId, None] = {}
        """To whom acknowledgements are owed."""
        self._spreads: list[Message] = []
        self._due: SimTime | None = None
        """When the next bundle is to be sent."""

    # What is to be sent

    def send(self, neighbour: NodeId, message: Message, now: SimTime) -> list[Action]:
        """Has `message` go with the next bundle; if too much waits already it is dropped, and noted in the trace."""
        if neighbour == BROADCAST:
            self._spreads.append(message)
            return self._flush_within(self._random.randrange(self._parameters.spread_delay + 1), now)
        if self._queue(neighbour, message) is None:
            return dropped(neighbour, message)
        return self._flush_soon(now)

    def beat(self, heartbeat: Message, now: SimTime) -> list[Action]:
        """Sends a heartbeat at once, and with it all that waits."""
        return self._flush(now, heartbeat)

    # What arrives

    def receive(
        self, sender: NodeId, message: Message, now: SimTime
    ) -> tuple[list[Action], list[Message]]:  # as Link's
        """Takes what is for this node alone; an agent that can use the rest calls `open`."""
        if not isinstance(message, Bundle):
            return [], []
        opened = self.open(sender, message, now)
        return opened.actions, opened.payloads

    def open(self, sender: NodeId, bundle: Bundle, now: SimTime) -> Opened:
        """Takes acknowledgements and parcels of a neighbour's bundle."""
        acks = [ack for ack in bundle.acks if ack.node == self._node]
        actions = [action for ack in acks for action in self._take_ack(sender, ack, now)]
        payloads: list[Message] = []
        overheard: list[Message] = []
        for parcel in bundle.parcels:
            mine = next((place for place in parcel.receivers if place.node == self._node), None)
            is_next = mine is not None and self._take_place(sender, mine)
            (payloads if is_next else overheard).append(parcel.payload)
            if mine is not None:
                self._owed[sender] = None
        if sender in self._owed:
            actions += self._flush_within(self._parameters.ack_delay, now)
        return Opened(actions, payloads, overheard, bool(acks))

    def _take_place(self, sender: NodeId, place: Place) -> bool:
        """Whether it is the next place in the stream from a neighbour."""
        session, last = self._inbound.get(sender, (place.session, _NOTHING))
        if session != place.session:
            last = _NOTHING
        following = (last + 1) % _SEQUENCES
        self._inbound[sender] = (place.session, following if place.sequence == following else last)
        return place.sequence == following

    def _take_ack(self, sender: NodeId, ack: Place, now: SimTime) -> list[Action]:
        outbound = self._outbound.get(sender)
        if outbound is None or ack.session != outbound.session:
            return []
        if ack.sequence == _NOTHING and outbound.sequence != 0:
            # The receiver has rebooted: what it has not acknowledged goes to it in a new session.
            self._begin_stream(sender).queue = outbound.queue
            return [CancelTimer(link_timer(sender)), *self._flush_soon(now)]
        count = (ack.sequence - outbound.sequence) % _SEQUENCES + 1
        if count > outbound.sent:
            return []
        if outbound.began is not None:
            self._delay.sample(now - outbound.began)
        for _ in range(count):
            outbound.queue.popleft()
        outbound.sequence = (outbound.sequence + count) % _SEQUENCES
        outbound.sent -= count
        outbound.retries, outbound.began = 0, None
        waiting = self._flush_soon(now) if outbound.sent < len(outbound.queue) else []
        return [*waiting, self._watch(sender, outbound) if outbound.sent else CancelTimer(link_timer(sender))]

    # Timers

    def timer(self, key: LinkTimer, now: SimTime) -> tuple[list[Action], list[LinkBroken]]:
        """A timer of the link ran out: a bundle is due, or a neighbour has not acknowledged."""
        if key == FLUSH:
            return self._flush(now, None), []
        neighbour = key.neighbour
        outbound = self._outbound.get(neighbour)
        if outbound is None or not outbound.sent:
            return [], []
        if outbound.retries >= self._parameters.link_retry_limit:
            return [], [self._give_up(neighbour, outbound)]
        outbound.retries += 1
        outbound.sent, outbound.began = 0, None
        return self._flush_soon(now), []

    def _watch(self, neighbour: NodeId, outbound: _Outbound) -> Action:
        """The timer after which what is under way is sent again."""
        return SetTimer(link_timer(neighbour), self._pause(outbound.retries))

    # Bundles

    def _flush_soon(self, now: SimTime) -> list[Action]:
        longest = self._parameters.bundle_delay
        return self._flush_within(longest - self._random.randrange(longest // 2 + 1), now)

    def _flush_within(self, pause: SimTime, now: SimTime) -> list[Action]:
        if self._due is not None and self._due <= now + pause:
            return []
        self._due = now + pause
        return [SetTimer(FLUSH, pause)]

    def _flush(self, now: SimTime, beat: Message | None) -> list[Action]:
        """Sends everything that waits, in as many frames as it takes, and starts the timers of what was sent."""
        timers: list[Action] = [] if self._due is None else [CancelTimer(FLUSH)]
        self._due = None
        parcels = [Parcel((), message) for message in self._spreads]
        self._spreads = []
        for neighbour, outbound in self._outbound.items():
            if outbound.sent < self._window(outbound):
                timers += self._pack(neighbour, outbound, parcels, now)
        return [*self._frames(beat, parcels), *timers]

    def _pack(self, neighbour: NodeId, outbound: _Outbound, parcels: list[Parcel], now: SimTime) -> list[Action]:
        """Adds what waits for one neighbour to the parcels; a message that is there already gets a receiver more."""
        is_quiet = not outbound.sent
        earliest = 0
        for offset in range(outbound.sent, self._window(outbound)):
            place = Place(neighbour, outbound.session, (outbound.sequence + offset) % _SEQUENCES)
            earliest = add(parcels, outbound.queue[offset], place, earliest)
            outbound.sent += 1
        if not is_quiet:
            return []
        outbound.began = now if not outbound.retries else None
        return [self._watch(neighbour, outbound)]

    def _window(self, outbound: _Outbound) -> int:
        """How many messages may be under way to a neighbour: as many as one bundle takes, and one at least."""
        room = self._parameters.bundle_bytes
        for count, message in enumerate(outbound.queue):
            room -= Parcel((), message).size()
            if room < 0:
                return max(count, 1)
        return len(outbound.queue)

    def _frames(self, beat: Message | None, parcels: list[Parcel]) -> list[Action]:
        acks = tuple(Place(neighbour, *self._inbound[neighbour]) for neighbour in self._owed)
        self._owed.clear()
        if beat is None and not acks and not parcels:
            return []
        first, *others = split(parcels, self._parameters.bundle_bytes) or [()]
        held = self._held()
        return [
            Send(BROADCAST, Bundle(beat, held, acks, first)),
            *(Send(BROADCAST, Bundle(None, held, (), group)) for group in others),
        ]
