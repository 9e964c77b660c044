"""MFT-PubSub without its tree: directed forwarding to few subscribers, gossip with repair to many.

There is no leader, parent, order or reliable link.

- The publisher compares the cost of PUBs, each subscriber's mean distance and half a frame for the ACK, with a
  counter-based broadcast's.
- A PUB lists subscribers with the sender's distances. A node nearer by `progress` forwards it, the sooner the nearer,
  until it hears an ACK or a nearer PUB. Bystanders repeat a missed ACK.
- After its tries a node drops it; the publisher first sends it to all.
- Heartbeats carry distances during PUBs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from roambus.extensions.lean.distances import (
    FARTHEST,
    LEVEL,
    UNKNOWN,
    Distances,
    level_of,
    pack_levels,
    unpack_levels,
)
from roambus.extensions.lean.interests import MESSAGE_BYTES, Interest, Interests, Wants, in_parts, wants
from roambus.extensions.lean.messages import (
    BEAT_BYTES,
    HELD_BYTES,
    LAST_EFFORT,
    TARGET_BYTES,
    Ack,
    Beat,
    LeanParameters,
    Pub,
    Target,
)
from roambus.python_protocol.actions import Action
from roambus.python_protocol.agent import on, on_timer
from roambus.python_protocol.baselines import SUMMARY_TIMER, Flood, RepairingGossip, Summary
from roambus.python_protocol.events import Event, Publish, Received, Recovered, Started, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from roambus.python_protocol.trace_rows import DROP, ROUTE, node_list

LAST_NUMBER = 0xFFFF
"""Changes of filters are numbered from 1 to this, then from 1 again."""
_ACK_FRAMES = 0.5
"""An acknowledgement in frames of a notification, with their headers."""
_ECHOES = 2
"""Acknowledgements of a notification that a node repeats at most."""
_MEMORY = 64
"""Notifications of which only acknowledgements have been heard."""
_INTERESTS = "interests"


@dataclass(frozen=True, slots=True)
class ForwardTimer:
    """The timer key of a notification's forwarding."""

    notification: NotificationId


@dataclass(frozen=True, slots=True)
class AnswerTimer:
    """The timer key of a missing acknowledgement."""

    notification: NotificationId


@dataclass(frozen=True, slots=True)
class EchoTimer:
    """The timer key of a repeated acknowledgement."""

    acknowledged: Ack


@dataclass(slots=True)
class Journey:
    """A notification on its way to few."""

    notification: Notification
    hops: int
    heard: SimTime
    todo: set[NodeId] = field(default_factory=set)
    """Subscribers to which this node is about to send it."""
    duty: dict[NodeId, float] = field(default_factory=dict)
    """Subscribers for whom it was sent, with their distances: it waits for a sign of a nearer node."""
    done: set[NodeId] = field(default_factory=set)
    witnessed: set[NodeId] = field(default_factory=set)
    """Those of `done` heard to say so."""
    served: set[NodeId] = field(default_factory=set)
    """Subscribers to which this node ever sent it."""
    unheard: set[NodeId] = field(default_factory=set)
    """Subscribers without acknowledgement of the last effort."""
    tries: int = 0
    echoes: int = 0
    broadcasts: int = 0
    """PUBs of the last effort heard or sent."""

    def is_at(self, subscriber: NodeId) -> None:
        """The subscriber has it."""
        self.done.add(subscriber)
        self.todo.discard(subscriber)
        self.unheard.discard(subscriber)
        self.duty.pop(subscriber, None)


class LeanMft(RepairingGossip):
    """Forwards to few by distance, and leaves the rest to gossip with repair."""

    parameters: LeanParameters
    messages = MessageSet([Beat, Wants, Pub, Ack, Flood])
    needs_levels = True

    def __init__(self, node: NodeId, roles: Role, parameters: LeanParameters, random: Random) -> None:
        """Keep the number and the parts of the own filters in stable storage."""
        self._number = 0
        self._parts = 1
        super().__init__(node, roles, parameters, random)

    def forget(self) -> None:
        """Start with nothing, not even a neighbour."""
        super().forget()
        self._interests = Interests(self.parameters.counter_threshold)
        self._distances = Distances(self.node, self.parameters.beat_interval)
        self._journeys: dict[NotificationId, Journey] = {}
        self._early: dict[NotificationId, dict[NodeId, bool]] = {}
        """Acknowledgements of unknown notifications, and whether the subscriber itself was heard."""
        self._directed: SimTime | None = None
        """When a PUB was last on the air."""
        self._compare_again: SimTime = 0
        self._announced: dict[NodeId, int] = {}
        self._next_announced: NodeId = 0

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        """Rate the link of every frame, and dispatch the event."""
        self._now = now
        if isinstance(event, Received):
            self._distances.hear(event.sender, event.rssi_dbm, now)
        return super().handle(event, now)

    # Interests

    @on(Started, Recovered)
    def start(self, event: Started | Recovered, now: SimTime) -> None:
        """Begin heartbeats, and after a crash send the own filters."""
        super().start(event, now)
        if self._number:
            self._learn_own()

    def change_subscriptions(self, event: Subscribe | Unsubscribe, now: SimTime) -> None:
        """Send everybody the changed filters."""
        super().change_subscriptions(event, now)
        self._number = self._number % LAST_NUMBER + 1
        self._learn_own()

    def _learn_own(self) -> None:
        parts = in_parts(self.node, self._number, self.subscriptions, self._parts)
        self._parts = len(parts)
        for interest in parts:
            self._learn(interest)

    @on(Wants)
    def take_interests(self, message: Wants, _: NodeId, __: SimTime) -> None:
        """Learn who wants what."""
        for interest in message.interests:
            self._learn(interest)

    def _learn(self, interest: Interest) -> None:
        was_pending = self._interests.is_pending
        if self._interests.learn(interest):
            self._publish_late(interest)
            self._send_interests_soon(was_pending=was_pending)

    def _send_interests_soon(self, *, was_pending: bool) -> None:
        if self._interests.is_pending and not was_pending:
            self.set_timer(_INTERESTS, self._delay.delay() // 2 + self.random.randrange(SECOND // 2))

    @on_timer(_INTERESTS)
    def send_interests(self, _: str, __: SimTime) -> None:
        """Tell on what is new."""
        for message in self._interests.pending():
            self.send(BROADCAST, message)

    def _publish_late(self, interest: Interest) -> None:
        """Send recent notifications to a late subscriber."""
        for identifier, journey in self._journeys.items():
            is_own = identifier.publisher == self.node and interest.subscriber != self.node
            is_late = self._now - journey.heard < self.parameters.subscription_delay
            is_served = interest.subscriber in journey.served or interest.subscriber in journey.done
            if is_own and is_late and not is_served and wants(interest.filters, journey.notification):
                journey.todo.add(interest.subscriber)
                self.set_timer(ForwardTimer(identifier), self._delay.delay())

    # Heartbeats

    @on_timer(SUMMARY_TIMER)
    def send_summary(self, _: str, now: SimTime) -> None:
        """Send a heartbeat: the sum of interests, distances while needed, and a digest."""
        self._distances.forget_silent(now)
        needs_distances = self._directed is not None and now - self._directed < 2 * self.parameters.beat_interval
        levels = self._distances.levels(self._interests.subscribers, now) if needs_distances else {}
        shortest = self.parameters.beat_interval if needs_distances else self.parameters.shortest_interval
        has_changed = any(abs(level - self._announced.get(node, UNKNOWN)) > 1 for node, level in levels.items())
        self._interval = shortest if has_changed else max(shortest, self._interval)
        self._announced = levels
        first, row = pack_levels(levels, self._next_announced)
        self._next_announced = first + 2 * len(row)
        held = self.some_held((MESSAGE_BYTES - BEAT_BYTES - len(row)) // HELD_BYTES)
        eighths = min(255, 8 * self._interval // SECOND)
        self.send(BROADCAST, Beat(eighths, self._interests.sum, self._interests.changes, first, row, held))
        self.set_timer(SUMMARY_TIMER, self._interval * 3 // 4 + self.random.randrange(self._interval // 4))
        self._interval = max(shortest, min(2 * self._interval, self.parameters.longest_interval))

    @on(Beat)
    def take_beat(self, beat: Beat, sender: NodeId, now: SimTime) -> None:
        """Learn distances, and compare sums and digests as gossip with repair does."""
        self._distances.learn(sender, unpack_levels(beat.first, beat.levels), beat.interval * SECOND // 8)
        if beat.interests != self._interests.sum and now >= self._compare_again and not self._interests.is_pending:
            self._compare_again = now + self.parameters.subscription_delay
            self._interests.differ(self.node, beat.changes, self.random)
            self._send_interests_soon(was_pending=False)
        self.compare(Summary(beat.held), sender, now)

    # Notifications

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Send a notification to its few subscribers, or to all."""
        notification = event.notification
        wanting = self._interests.wanting(notification) - {self.node}
        if self._are_many(notification, len(wanting), now):
            super().publish(event, now)
            return
        self._seen.add(notification.id)
        self.note(ROUTE, notification_id=str(notification.id), detail=node_list(event.subscribers))
        self._deliver_if_wanted(notification, 0)
        journey = self._begin(notification, 0, now)
        journey.todo |= wanting
        if wanting:
            self._transmit(journey, now)

    def _are_many(self, notification: Notification, count: int, now: SimTime) -> bool:
        """Whether a broadcast is cheaper than `count` PUBs, or they do not fit a frame."""
        if Pub(0, 0, (), notification).encoded_size() + count * TARGET_BYTES > MESSAGE_BYTES:
            return True
        others = [node for node in self._interests.subscribers if node != self.node]
        distances = [far for node in others if (far := self._distances.of(node, now)) < FARTHEST]
        mean = sum(distances) / len(distances) if distances else 1.0
        reached = self._distances.heard_of(others, now)
        broadcast = self.parameters.counter_threshold * (len(others) + 1) / (reached + 1)
        return count * (mean + _ACK_FRAMES) > broadcast

    def _begin(self, notification: Notification, hops: int, now: SimTime) -> Journey:
        if len(self._journeys) >= self.parameters.memory:
            oldest = self._journeys.pop(next(iter(self._journeys)))
            self._drop(oldest, oldest.todo | oldest.duty.keys() | oldest.unheard, "memory full")
        journey = self._journeys[notification.id] = Journey(notification, hops, now)
        for subscriber, is_witnessed in self._early.pop(notification.id, {}).items():
            journey.done.add(subscriber)
            if is_witnessed:
                journey.witnessed.add(subscriber)
        return journey

    def _transmit(self, journey: Journey, now: SimTime) -> None:
        """Send it for all open subscribers, and wait for a sign."""
        journey.tries += 1
        journey.duty = {node: self._distances.of(node, now) for node in sorted(journey.todo | journey.duty.keys())}
        journey.served |= journey.duty.keys()
        journey.todo.clear()
        self._directed = now
        self._send_on(journey, journey.duty, effort=min(journey.tries - 1, 1))
        wait = self.parameters.answer_delay
        self.set_timer(AnswerTimer(journey.notification.id), wait + self.random.randrange(wait // 2 + 1))

    def _send_on(self, journey: Journey, far: dict[NodeId, float], effort: int) -> None:
        targets = tuple(Target(node, level_of(distance)) for node, distance in far.items())
        self.send(BROADCAST, Pub(journey.hops, effort, targets, journey.notification))

    def _send_to_all(self, journey: Journey, subscribers: Iterable[NodeId]) -> None:
        self._send_on(journey, dict.fromkeys(sorted(subscribers), FARTHEST), LAST_EFFORT)

    def _tries_left(self, journey: Journey) -> int:
        is_own = journey.notification.id.publisher == self.node
        return (self.parameters.publisher_tries if is_own else self.parameters.forwarder_tries) - journey.tries

    @on_timer(AnswerTimer)
    def miss_answer(self, key: AnswerTimer, now: SimTime) -> None:
        """Send it again; after the last try the publisher sends it to all."""
        journey = self._journeys.get(key.notification)
        if journey is None:
            return
        self._drop(journey, journey.unheard, "no acknowledgement")
        journey.unheard.clear()
        if not journey.duty:
            return
        for subscriber in journey.duty:
            self._distances.disappoint(subscriber)
        if self._tries_left(journey) > 0:
            self._transmit(journey, now)
            return
        if key.notification.publisher == self.node and not journey.broadcasts:
            journey.broadcasts = 1
            self._send_to_all(journey, journey.duty)
            journey.unheard.update(journey.duty)
            self.set_timer(key, 2 * self.parameters.answer_delay)
        else:
            self._drop(journey, journey.duty, "no acknowledgement")
        journey.duty.clear()

    def _drop(self, journey: Journey, subscribers: Iterable[NodeId], reason: str) -> None:
        for node in sorted(subscribers):
            self.note(DROP, notification_id=str(journey.notification.id), peer=node, detail=reason)

    @on(Pub)
    def take_pub(self, pub: Pub, sender: NodeId, now: SimTime) -> None:
        """Take a notification for few."""
        notification = pub.notification
        self._directed = now
        if self._seen.add(notification.id):
            self._deliver_if_wanted(notification, pub.hops + 1)
            self._begin(notification, pub.hops + 1, now)
        journey = self._journeys.get(notification.id)
        if journey is None:  # it was sent to many before, or is forgotten
            return
        self._acknowledge(pub, journey)
        if pub.effort == LAST_EFFORT:
            self._consider_broadcast(pub, journey)
        else:
            self._distances.learn(sender, pub.targets)
            self._consider(pub, journey, now)

    def _acknowledge(self, pub: Pub, journey: Journey) -> None:
        for place, target in enumerate(pub.targets):
            if target.subscriber == self.node and (pub.effort < LAST_EFFORT or self.node not in journey.done):
                journey.done.add(self.node)
                # One after the other where several are listed: each takes a millisecond on the air.
                delay = 2 * place * MILLISECOND + self.random.randrange(2 * MILLISECOND)
                self.send(BROADCAST, Ack(pub.notification.id, self.node), delay)

    def _consider(self, pub: Pub, journey: Journey, now: SimTime) -> None:
        """Forward for subscribers nearer to this node; end the duty for those nearer to the sender."""
        need = self.parameters.progress / (1 + pub.effort)
        nearness = []
        for subscriber, level in pub.targets:
            if subscriber in journey.done:
                self._echo(journey, subscriber)
                continue
            announced, own = level * LEVEL, self._distances.of(subscriber, now)
            if announced < journey.duty.get(subscriber, 0) - LEVEL / 2:
                del journey.duty[subscriber]
            if own >= announced - need:
                journey.todo.discard(subscriber)
            elif subscriber not in journey.duty:
                journey.todo.add(subscriber)
                nearness.append(own / announced)
        if nearness and self._tries_left(journey) > 0:
            # A fifth of the wait is random, so that two who are equally near do not send at once.
            share = 0.8 * min(nearness) + 0.2 * self.random.random()
            wait = 5 * MILLISECOND + int(self.parameters.forward_delay * share)  # after the acknowledgements
            self.set_timer(ForwardTimer(pub.notification.id), wait)

    def _consider_broadcast(self, pub: Pub, journey: Journey) -> None:
        """As gossip does; all duties end, because everybody hears it now."""
        journey.broadcasts += 1
        for target in pub.targets:
            journey.duty.pop(target.subscriber, None)
        if journey.broadcasts >= self.parameters.counter_threshold:
            journey.todo.clear()
        elif journey.broadcasts == 1:
            journey.todo = {target.subscriber for target in pub.targets} - journey.done
            self.set_timer(ForwardTimer(pub.notification.id), self._delay.delay())

    @on_timer(ForwardTimer)
    def forward(self, key: ForwardTimer, now: SimTime) -> None:
        """Forward it, unless a nearer node did or the subscribers have it."""
        journey = self._journeys.get(key.notification)
        if journey is None or not journey.todo:
            return
        if journey.broadcasts:
            self._send_to_all(journey, journey.todo)
            journey.todo.clear()
        else:
            self._transmit(journey, now)

    # Acknowledgements

    @on(Ack)
    def take_ack(self, ack: Ack, sender: NodeId, now: SimTime) -> None:
        """End all duties for a served subscriber, and the repetition of its ACK."""
        self._directed = now
        is_witnessed = sender == ack.subscriber
        journey = self._journeys.get(ack.notification)
        if journey is not None:
            journey.is_at(ack.subscriber)
            if is_witnessed:
                journey.witnessed.add(ack.subscriber)
            self.cancel_timer(EchoTimer(ack))
        elif ack.notification not in self._seen:
            early = self._early.setdefault(ack.notification, {})
            early[ack.subscriber] = is_witnessed or early.get(ack.subscriber, False)
            if len(self._early) > _MEMORY:
                del self._early[next(iter(self._early))]

    def _echo(self, journey: Journey, subscriber: NodeId) -> None:
        if subscriber in journey.witnessed and journey.echoes < _ECHOES:
            ack = Ack(journey.notification.id, subscriber)
            wait = 4 * MILLISECOND + self.random.randrange(self.parameters.echo_delay + 1)
            self.set_timer(EchoTimer(ack), wait)

    @on_timer(EchoTimer)
    def echo(self, key: EchoTimer, _: SimTime) -> None:
        """Acknowledge for a subscriber that has the notification."""
        if (journey := self._journeys.get(key.acknowledged.notification)) is not None:
            journey.echoes += 1
            self.send(BROADCAST, key.acknowledged)
