"""What protocols share that broadcast every notification through the whole network: flooding and gossip.

Who publishes broadcasts, and whoever hears the first copy of a notification delivers it and may repeat it. A protocol
says whether and when a copy is repeated, in `hear_first` and `hear_again`.

Jitter: sends that wait for a random time, because two nodes that answer the same frame at once collide.

RFC 5148 explains this, and draws the delay uniformly between 0 and a maximum.

A bounded memory of what was seen, for recognising duplicates.

It is bounded because a node has little memory; a duplicate that comes after as many other keys as the limit allows
counts as new.

How long to wait for something whose delay varies, estimated as RFC 6298 estimates round-trip times.

Mean and mean deviation follow the samples, each at its own pace; what is waited for hardly ever takes longer than the
mean and four deviations.

Heartbeats that become rare while nothing changes, as the timers of Trickle do (RFC 6206).

The interval between two heartbeats is counted in rounds. It begins with one, doubles with each heartbeat up to a
bound, and goes back to one as soon as something is inconsistent. What is inconsistent is the user's to say.
"""

from __future__ import annotations

from collections.abc import Hashable
from random import Random

from roambus.python_protocol.actions import ROUTE, node_list
from roambus.python_protocol.agent import Agent, on
from roambus.python_protocol.events import Crashed, Publish, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parameters import Parameters, parameter
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import SimTime


class Jitter:
    """Draws the delays of one node's sends."""

    def __init__(self, longest: SimTime, random: Random) -> None:
        """Delays are uniform between 0 and `longest` ns."""
        self._choices = longest + 1
        self._random = random

    def delay(self) -> SimTime:
        """The time in ns for which the next send is to wait."""
        return self._random.randrange(self._choices)


class Recent:
    """Remembers the last `limit` different keys; the oldest is forgotten first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._keys: dict[Hashable, None] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._keys

    def add(self, key: Hashable) -> bool:
        """Remembers `key`; False if it was known already."""
        if key in self._keys:
            return False
        if len(self._keys) >= self._limit:
            del self._keys[next(iter(self._keys))]
        self._keys[key] = None
        return True


class FloodParameters(Parameters):
    """How far a notification spreads; raises ValueError for values that make no sense."""

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
    """A copy of a notification; `hop_count` hops lie behind it when it is sent, at most `ttl` before it."""

    ttl: U8
    hop_count: U8
    notification: Notification


class Broadcasting(Agent):
    """Delivers the first copy of everything, whatever the node's roles."""

    parameters: FloodParameters

    def __init__(self, node: NodeId, roles: Role, parameters: FloodParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self._filters: list[Filter] = []
        self.forget()

    def forget(self) -> None:
        """Starts with nothing seen. The filters are in stable storage, because the application subscribes once only."""
        self._seen = Recent(self.parameters.memory)

    def hear_first(self, copy: Flood) -> None:
        """The first copy of a notification has come; `copy` is what this node would repeat, and has hops left."""

    def hear_again(self, flood: Flood) -> None:
        """Another copy of a notification has come."""

    @on(Flood)
    def receive(self, flood: Flood, _: NodeId, __: SimTime) -> None:
        """Delivers the first copy, and lets the protocol decide about repeating it."""
        if not self._seen.add(flood.notification.id):
            self.hear_again(flood)
            return
        hops = flood.hop_count + 1
        self._deliver_if_wanted(flood.notification, hops)
        if flood.ttl > 1:
            self.hear_first(Flood(flood.ttl - 1, hops, flood.notification))

    @on(Publish)
    def publish(self, event: Publish, _: SimTime) -> None:
        """Starts a flood, for all subscribers that there are."""
        notification = event.notification
        self._seen.add(notification.id)
        self.note(ROUTE, notification_id=str(notification.id), detail=node_list(event.subscribers))
        self._deliver_if_wanted(notification, 0)
        self.send(BROADCAST, Flood(self.parameters.ttl, 0, notification))

    @on(Subscribe)
    def subscribe(self, event: Subscribe, _: SimTime) -> None:
        """Delivers what matches from now on."""
        self._filters.append(event.filter)

    @on(Unsubscribe)
    def unsubscribe(self, event: Unsubscribe, _: SimTime) -> None:
        """Takes one subscription back."""
        if event.filter in self._filters:
            self._filters.remove(event.filter)

    @on(Crashed)
    def crash(self, _: Crashed, __: SimTime) -> None:
        """Forgets what was seen."""
        self.forget()

    def _deliver_if_wanted(self, notification: Notification, hops: int) -> None:
        if any(entry.matches(notification) for entry in self._filters):
            self.deliver(notification, hops)


_MEAN_GAIN, _DEVIATION_GAIN, _DEVIATIONS = 1 / 8, 1 / 4, 4


class DelayEstimate:
    """Mean and mean deviation of a delay in ns, each following its samples (RFC 6298, section 2.3)."""

    def __init__(self, mean: float, deviation: float) -> None:
        self._mean = mean
        self._deviation = deviation

    def sample(self, delay: SimTime) -> None:
        """The delay was measured once more."""
        error = delay - self._mean
        self._mean += _MEAN_GAIN * error
        self._deviation += _DEVIATION_GAIN * (abs(error) - self._deviation)

    def bound(self) -> float:
        """The time that the delay will hardly exceed: mean plus four deviations."""
        return self._mean + _DEVIATIONS * self._deviation


class Trickle:
    """When one node beats."""

    def __init__(self, longest: int) -> None:
        """At first it beats every round; `longest` is the bound in rounds, I_max of RFC 6206, section 4.1."""
        self._longest = longest
        self._interval = 1
        self._waited = 0

    def reset(self) -> None:
        """Something is inconsistent: the next round is due."""
        self._interval = 1
        self._waited = self._longest

    def is_due(self) -> bool:
        """Whether this round is one in which to beat; it is called once a round."""
        self._waited += 1
        if self._waited < self._interval:
            return False
        self._waited = 0
        self._interval = min(2 * self._interval, self._longest)
        return True
