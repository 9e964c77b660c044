"""Baselines: well-known protocols to compare others with, and the traffic of the radio's measurements.

- *Flooding*: every node repeats the first copy once, after a jitter.
- *Gossip* (Ni, Tseng, Chen and Sheu, MobiCom 1999, counter-based): a node counts copies during a random assessment
  delay, and repeats unless they reach the threshold.
- *Gossip with repair* adds anti-entropy (Demers et al., PODC 1987): nodes broadcast summaries (`parts.digest`), more
  rarely while no neighbour differs (Trickle: RFC 6206, section 4.2), and missing notifications after a random time,
  unless another does.
- *Beacon* broadcasts at random times: the smallest agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from roambus.python_protocol.agent import Agent, Brokerless, Jitter, Recent, on, on_timer
from roambus.python_protocol.events import Publish, Recovered, SendFailed, Started
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.fields import U8, By
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.messages.octets import Reader, Writer
from roambus.python_protocol.parts.digest import Digest, Held, beyond, exceeds, holds
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime, from_seconds
from roambus.python_protocol.trace_rows import DROP, KEEP, RELEASE, ROUTE, node_list

HEADER_BYTES = 3
"""Tag and length: no beacon is smaller."""


TIMER = "beacon"


# What flooding and gossip share


class FloodParameters(Parameters):
    """Parameters of the spread; raises ValueError for impossible values."""

    ttl: int = parameter(
        35,
        unit="hops",
        source="RFC 3561, section 10: NET_DIAMETER",
        at_least=1,
        at_most=255,
        doc="radio hops of a flood",
    )
    memory: int = parameter(
        1024, source="reasoned: minutes of traffic", at_least=1, doc="notifications recognised as duplicates"
    )


class Flood(Message, tag=0x02):
    """A copy of a notification, after `hop_count` hops, with at most `ttl` to go."""

    ttl: U8
    hop_count: U8
    notification: Notification


class Broadcasting(Brokerless):
    """Delivers first copies, whatever the node's roles."""

    parameters: FloodParameters

    def forget(self) -> None:
        """Start with nothing seen."""
        self._seen = Recent(self.parameters.memory)

    def hear_first(self, copy: Flood) -> None:
        """Take the first copy; `copy` is the one to repeat, with hops left."""

    def hear_again(self, flood: Flood) -> None:
        """Take another copy of a notification."""

    @on(Flood)
    def receive(self, flood: Flood, _: NodeId, __: SimTime) -> None:
        """Deliver the first copy; the protocol decides about repeating it."""
        if not self._seen.add(flood.notification.id):
            self.hear_again(flood)
            return
        hops = flood.hop_count + 1
        self._deliver_if_wanted(flood.notification, hops)
        if flood.ttl > 1:
            self.hear_first(Flood(flood.ttl - 1, hops, flood.notification))

    @on(Publish)
    def publish(self, event: Publish, _: SimTime) -> None:
        """Start a flood for all subscribers."""
        notification = event.notification
        self._seen.add(notification.id)
        self.note(ROUTE, notification_id=str(notification.id), detail=node_list(event.subscribers))
        self._deliver_if_wanted(notification, 0)
        self.send(BROADCAST, Flood(self.parameters.ttl, 0, notification))

    def _deliver_if_wanted(self, notification: Notification, hops: int) -> None:
        if self.subscriptions.match(notification):
            self.deliver(notification, hops)


# Flooding


class FloodingParameters(FloodParameters):
    """Parameters of flooding; raises ValueError for impossible values."""

    jitter: SimTime = parameter(
        10 * MILLISECOND,
        unit="s",
        source="reasoned: the air time of three notifications; RFC 5148 for its kind",
        at_least=0,
        doc="longest wait before a copy is repeated",
    )


class Flooding(Broadcasting):
    """Repeats the first copy of everything."""

    parameters: FloodingParameters

    def forget(self) -> None:
        """Start with nothing seen."""
        super().forget()
        self._jitter = Jitter(self.parameters.jitter, self.random)

    def hear_first(self, copy: Flood) -> None:
        """Repeat it after a jitter: other nodes repeat the same frame."""
        self.send(BROADCAST, copy, self._jitter.delay())


# Gossip


class GossipParameters(FloodParameters):
    """Parameters of gossip; raises ValueError for impossible values."""

    counter_threshold: int = parameter(
        3,
        unit="copies",
        source="Ni et al. (1999), counter-based scheme: C of 3 or 4; the smaller saves more",
        at_least=2,
        doc="a node that has heard this number of copies does not repeat the notification",
    )
    assessment_delay: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="Ni et al. (1999): 0 to 31 slots; here a slot is the air time of a notification, 3.3 ms as in flooding",
        at_least=0,
        doc="longest random assessment delay, in which copies are counted",
    )


@dataclass(frozen=True, slots=True)
class AssessmentTimer:
    """The timer key of a notification's assessment delay."""

    notification: NotificationId


@dataclass(slots=True)
class Assessment:
    """A copy that waits to be repeated, and the copies heard."""

    copy: Flood
    heard: int = 1


class Gossip(Broadcasting):
    """Repeats the first copy unless enough others did."""

    parameters: GossipParameters

    def forget(self) -> None:
        """Start with nothing seen, and nothing to repeat."""
        super().forget()
        self._delay = Jitter(self.parameters.assessment_delay, self.random)
        self._assessed: dict[NotificationId, Assessment] = {}

    def hear_first(self, copy: Flood) -> None:
        """Begin to count (step S1 of the paper)."""
        notification = copy.notification.id
        self._assessed[notification] = Assessment(copy)
        self.set_timer(AssessmentTimer(notification), self._delay.delay())

    def hear_again(self, flood: Flood) -> None:
        """Count the copy; give up repeating at the threshold (steps S4 and S5)."""
        notification = flood.notification.id
        assessment = self._assessed.get(notification)
        if assessment is None:
            return
        assessment.heard += 1
        if assessment.heard >= self.parameters.counter_threshold:
            del self._assessed[notification]
            self.cancel_timer(AssessmentTimer(notification))

    @on_timer(AssessmentTimer)
    def repeat(self, key: AssessmentTimer, _: SimTime) -> None:
        """Repeat a notification not heard often enough (steps S2 and S3)."""
        assessment = self._assessed.pop(key.notification, None)
        if assessment is not None:
            self.send(BROADCAST, assessment.copy)


# Gossip with repair


class RepairParameters(GossipParameters):
    """Parameters of gossip with repair; raises ValueError for impossible values."""

    shortest_interval: SimTime = parameter(
        SECOND,
        unit="s",
        source="RFC 6206, I_min: reasoned, as the publishers' interval in the thesis",
        above=0,
        doc="time between two summaries of a node while a neighbour differs",
    )
    longest_interval: SimTime = parameter(
        16 * SECOND,
        unit="s",
        source="RFC 6206, I_max: four doublings, so that what is lost last is missed for half of a digest at most",
        above=0,
        doc="time between two summaries of a node while no neighbour differs",
    )
    patience: SimTime = parameter(
        SECOND // 2,
        unit="s",
        source="reasoned: five assessment delays, within which nearly all floods are over",
        at_least=0,
        doc="a node that lacks a notification sent within this time may still hear it",
    )
    summary_publishers: int = parameter(
        7,
        source="IEEE 802.15.4: the number that fits into a frame of 127 bytes after its headers",
        at_least=1,
        at_most=255,
        doc="publishers in a summary; more take turns",
    )


class Summary(Message, tag=0x03, notation="{held}"):
    """The newest notifications of a node."""

    held: tuple[Held, ...]


@dataclass(frozen=True, slots=True)
class RepairTimer:
    """The timer key of a notification's repetition."""

    notification: NotificationId


SUMMARY_TIMER = "summary"


class RepairingGossip(Gossip):
    """Counter-based broadcast with repair: gossip whose nodes send each other missed notifications."""

    parameters: RepairParameters
    messages = MessageSet([Flood, Summary])

    def forget(self) -> None:
        """Start with nothing, and a summary soon."""
        super().forget()
        self._digest = Digest(self.parameters.memory)
        self._copies: dict[NotificationId, Flood] = {}
        self._on_air: dict[NotificationId, SimTime] = {}
        """When each was last heard or sent."""
        self._now: SimTime = 0
        self._interval = self.parameters.shortest_interval
        self._turn = 0

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, __: SimTime) -> None:
        """Begin to send summaries."""
        self.set_timer(SUMMARY_TIMER, self.random.randrange(self._interval))

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Start a flood, and keep it for nodes that miss it."""
        self._now = now
        super().publish(event, now)
        self._keep(Flood(self.parameters.ttl, 0, event.notification))

    @on(Flood)
    def receive(self, flood: Flood, sender: NodeId, now: SimTime) -> None:
        """Take a copy of a notification on the air."""
        self._now = self._on_air[flood.notification.id] = now
        super().receive(flood, sender, now)

    @on(SendFailed)
    def keep(self, failed: SendFailed, _: SimTime) -> None:
        """Keep what was not sent: who lacks it gets it after the next summaries."""

    def hear_first(self, copy: Flood) -> None:
        """Assess and keep it; a gap before it brings a summary soon."""
        super().hear_first(copy)
        identifier = copy.notification.id
        before = NotificationId(identifier.publisher, identifier.sequence - 1)
        if identifier.sequence and before not in self._copies and any(self._of(identifier.publisher)):
            self._summarise_soon()
        self._keep(copy)

    def hear_again(self, flood: Flood) -> None:
        """Cancel the repetition of a heard copy."""
        super().hear_again(flood)
        self.cancel_timer(RepairTimer(flood.notification.id))

    def _of(self, publisher: NodeId) -> Iterator[Held]:
        return (held for held in self._digest.summary() if held.publisher == publisher)

    def _keep(self, copy: Flood) -> None:
        identifier = copy.notification.id
        self._drop_outdated(identifier.publisher, identifier.sequence)
        self._digest.add(identifier)
        self._copies[identifier], self._on_air[identifier] = copy, self._now
        self.note(KEEP, notification_id=str(identifier))
        for old in [held for held in self._copies if not holds(self._of(held.publisher), held)]:
            self.note(RELEASE, notification_id=str(old), detail="older than the newest 64")
            del self._copies[old], self._on_air[old]

    def _drop_outdated(self, publisher: NodeId, newest: int) -> None:
        """Note notifications that digests can no longer request."""
        if count := self._digest.outdated(publisher, newest):
            self.note(
                DROP,
                message_type=Flood.message_type,
                peer=publisher,
                detail=f"{count} notifications older than the newest 64",
            )

    @on_timer(SUMMARY_TIMER)
    def send_summary(self, _: str, __: SimTime) -> None:
        """Broadcast a summary; publishers take turns if there are many."""
        self.send(BROADCAST, Summary(self.some_held(self.parameters.summary_publishers)))
        self.set_timer(SUMMARY_TIMER, self._interval // 2 + self.random.randrange(self._interval // 2))
        self._interval = min(2 * self._interval, self.parameters.longest_interval)

    def some_held(self, most: int) -> tuple[Held, ...]:
        """The digest entries of at most `most` publishers, which take turns."""
        held = self._digest.summary()
        count = min(most, len(held))
        self._turn = (self._turn + count) % max(len(held), 1)
        return (held * 2)[self._turn : self._turn + count]

    @on(Summary)
    def compare(self, summary: Summary, _: NodeId, now: SimTime) -> None:
        """Send notifications that the sender lacks, or a summary soon if this node lacks some."""
        for held in summary.held:  # whoever has nothing of a publisher says so: what is not named is not sent again
            if not any(self._of(held.publisher)):
                self._drop_outdated(held.publisher, held.newest)
            self._digest.name(held)
        own = self._digest.summary()
        if any(exceeds(held, own) for held in summary.held):
            self._summarise_soon()
        named = {held.publisher for held in summary.held}
        for lacked in (
            notification for mine in own if mine.publisher in named for notification in beyond(mine, summary.held)
        ):
            if now - self._on_air.get(lacked, now) > self.parameters.patience:
                self.set_timer(RepairTimer(lacked), self._delay.delay())

    @on_timer(RepairTimer)
    def repair(self, key: RepairTimer, now: SimTime) -> None:
        """Send a missing notification, unless another node did."""
        if key.notification in self._copies:
            self._on_air[key.notification] = now
            self.send(BROADCAST, self._copies[key.notification])

    def _summarise_soon(self) -> None:
        """Begin a shortest interval, unless it is one (RFC 6206, section 4.2, step 6)."""
        if self._interval > self.parameters.shortest_interval:
            self._interval = self.parameters.shortest_interval
            self.set_timer(SUMMARY_TIMER, self.parameters.patience + self._delay.delay())


# Beacon


class BeaconParameters(Parameters):
    """Parameters of the beacons; raises ValueError for impossible values."""

    rate: float = parameter(
        1.0,
        unit="1/s",
        source="castalia-reference",
        at_least=0,
        at_most=1e6,
        doc="mean beacons per second; 0: listen only",
    )
    payload: int = parameter(
        40,
        unit="bytes",
        source="castalia-reference",
        at_least=HEADER_BYTES,
        at_most=0xFFFF,
        doc="length of a beacon, 3 to 65535",
    )


def _write_zeros(writer: Writer, size: int) -> None:
    writer.u16(size - HEADER_BYTES)
    writer.zeros(size - HEADER_BYTES)


def _read_zeros(reader: Reader) -> int:
    rest = reader.u16()
    reader.zeros(rest)
    return rest + HEADER_BYTES


class BeaconMessage(Message, tag=0x01, name="Beacon"):
    """Zeros: the encoded message is `size` bytes long, tag and length included."""

    size: Annotated[int, By(_write_zeros, _read_zeros, shape={"kind": "padding"})]


class Beacon(Agent):
    """Poisson broadcasts with exponential gaps of mean 1/rate; the first is uniform in one mean gap."""

    parameters: BeaconParameters
    messages = MessageSet([BeaconMessage])

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, __: SimTime) -> None:
        """Set the time of the first beacon."""
        if self.parameters.rate > 0:
            self.set_timer(TIMER, from_seconds(self.random.uniform(0, 1 / self.parameters.rate)))

    @on_timer(TIMER)
    def broadcast(self, _: str, __: SimTime) -> None:
        """Send a beacon, and draw the time of the next."""
        self.send(BROADCAST, BeaconMessage(self.parameters.payload))
        self.set_timer(TIMER, from_seconds(self.random.expovariate(self.parameters.rate)))
