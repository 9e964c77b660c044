"""Leader election, and the tree of brokers that the leader's heartbeat spans (003, section 2.5, figure 2.4).

Every round the leader broadcasts a heartbeat; each node that hears the round's first copy broadcasts it on, once,
after a random delay. The sender of the first copy is the way to the leader: the parent. Each copy tells its
sender's own parent, so that a node knows its children too. How what the thesis leaves open is settled:

- *Brokers make the tree; clients hang on it.* Only brokers lead and only a broker's copy makes it a parent. Clients
  broadcast the heartbeat on as figure 2.4 has every node do, but theirs only announces them to their broker.
- *Which leader.* A leadership is named by its start and its leader; where two meet the smaller name wins, so a
  stable leader stays. Nodes order the names alike whatever their clocks show; clocks decide only how old "older" is.
- *When a leader is lost.* After a time-out that adapts to the gaps between rounds, a broker follows another leader
  that it has heard meanwhile, or begins a leadership of its own, the youngest, which any other it meets will end.
- *Which parent.* Without `sticky_parent` each round's first sender. With it a parent is kept while its copies come
  at no more hops than the round's best; the choice is made half a round after the first copy, when all are there.
- *When to pass a round on.* With `sticky_parent` after the parent's copy, if that comes soon: what a node tells of its
  hops then depends on its place in the tree, not on which copy happened to be first. Else after the first copy.
- *Weak copies* travel far and so come first and with few hops, over links that lose the longer messages. They make a
  parent only where there is no other, and whoever has heard no other waits longer before it passes the round on.

Nobody takes a new parent at as many hops as it has told itself, so the hops fall from node to node towards the leader.

It is an `Overlay`, and whatever has that interface can take its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from struct import Struct
from typing import ClassVar, NamedTuple, Self

from python_protocol.actions import Action, CancelTimer, Send, SetTimer
from python_protocol.codec import Message, Reader, Writer
from python_protocol.delay import DelayEstimate
from python_protocol.events import Rewired
from python_protocol.overlay import NOTHING, Change, NeighbourAppeared, NeighbourGone, Outcome, ParentChanged
from python_protocol.parameters import parameter
from python_protocol.roles import BROADCAST, NodeId
from python_protocol.simtime import MILLISECOND, SECOND, SimTime

_NO_PARENT = 0xFFFE
_MAX_HOPS = 0xFF
_TIME_OUT_SPREAD = 1 / 4


@dataclass(frozen=True)
class ElectionParameters:
    """What an agent's parameters inherit if it uses the election (not slotted, so that several can be inherited)."""

    heartbeat_interval: SimTime = parameter(
        SECOND,
        unit="s",
        source="reasoned: changes must be noticed quickly (003, section 4.5), as quickly as by the hellos of AODV",
        doc="time from one round to the next",
    )
    relay_jitter: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="reasoned: room for 25 neighbours' frames of 1.3 ms at a third of the channel",
        doc="a heartbeat is broadcast on after a delay drawn uniformly up to this",
    )
    sticky_parent: bool = parameter(
        True,
        source="reasoned: on a contended channel the first copy's sender changes without any movement",
        doc="keep a parent whose copies come at no more hops than the best; false is the letter of the thesis",
    )
    weak_signal_dbm: float = parameter(
        -87.0,
        unit="dBm",
        source="reasoned: a CC2420 loses a tenth of the frames of 127 bytes at 9.5 dB over its noise floor; 3 dB for "
        "interference (compare the gray zones of Lundgren et al., 2002)",
        doc="a weaker copy makes its sender a parent only if there is no stronger one; a parent may grow weaker",
    )
    parent_window: SimTime = parameter(
        SECOND // 2,
        unit="s",
        source="reasoned: half a round, five relays deep",
        doc="time after a round's first copy at which a sticky parent is compared with the round's best",
    )
    allowed_heartbeat_loss: int = parameter(
        2,
        source="RFC 3561, section 10, ALLOWED_HELLO_LOSS",
        doc="rounds in a row without a copy from a neighbour before it counts as gone",
    )
    leader_time_out_min: SimTime = parameter(
        2500 * MILLISECOND,
        unit="s",
        source="reasoned: two rounds lost, and half a round for relays",
        doc="lower bound of the adaptive time-out for the leader, and its first value",
    )
    leader_time_out_max: SimTime = parameter(
        5 * SECOND,
        unit="s",
        source="reasoned: twice the lower bound",
        doc="upper bound of the adaptive time-out for the leader",
    )
    exclusion: SimTime = parameter(
        3 * SECOND,
        unit="s",
        source="reasoned: three rounds, as for a neighbour that is silent (compare the blacklist of RFC 3561, 6.8)",
        doc="time for which a neighbour that the link layer gave up is not made a parent",
    )


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


@dataclass(frozen=True, slots=True)
class ElectionTimer:
    """The key of a timer of the election: "lead", "relay", "choose" or "time-out"."""

    name: str


_LEAD, _RELAY, _CHOOSE, _TIME_OUT = map(ElectionTimer, ("lead", "relay", "choose", "time-out"))


class _GapEstimate:
    """The adaptive time-out: what the gaps between rounds will hardly exceed, within bounds."""

    def __init__(self, parameters: ElectionParameters) -> None:
        self._parameters = parameters
        self._gap = DelayEstimate(parameters.heartbeat_interval, 0)
        self._last: SimTime | None = None

    def heard(self, now: SimTime) -> None:
        """A round's first copy has arrived."""
        if self._last is not None:
            self._gap.sample(now - self._last)
        self._last = now

    def interrupted(self) -> None:
        """The next gap is that of another leader, or of a partition, and no sample."""
        self._last = None

    def time_out(self) -> float:
        """In ns."""
        return min(max(self._gap.bound(), self._parameters.leader_time_out_min), self._parameters.leader_time_out_max)


class _Copy(NamedTuple):
    """A copy of a heartbeat as the choice of a parent sees it: the smaller one is better."""

    is_weak: bool
    hops: int
    sender: NodeId


class Election:
    """One node's part in the election."""

    def __init__(self, node: NodeId, is_broker: bool, parameters: ElectionParameters, random: Random) -> None:
        """`random` is the agent's; a node that reboots makes a new Election."""
        self._node = node
        self._is_broker = is_broker
        self._parameters = parameters
        self._random = random
        self.parent: NodeId | None = None
        self.children: dict[NodeId, SimTime] = {}
        """When each child was last heard."""
        self.leadership = NO_LEADERSHIP
        self._round = 0
        self._best: _Copy | None = None
        """The round's best copy so far."""
        self._parent_copy: _Copy | None = None
        """The parent's copy in this round, once it has arrived."""
        self._told_hops = _MAX_HOPS
        """The hops that this node has told in this round, once it has."""
        self._parent_missed = 0
        self._excluded: dict[NodeId, SimTime] = {}
        self._other: tuple[SimTime, _Copy, Heartbeat] | None = None
        """When, how and what was last heard of a younger leadership."""
        self._gap = _GapEstimate(parameters)

    @property
    def is_leader(self) -> bool:
        """Whether this node leads."""
        return self.leadership.leader == self._node

    def start(self, now: SimTime) -> Outcome:  # noqa: ARG002  # the interface's
        """See `Overlay`: listens for a leader first."""
        return [self._time_out()], ()

    # Heartbeats

    def receive(self, sender: NodeId, message: Heartbeat, rssi_dbm: float, now: SimTime) -> Outcome:
        """See `Overlay`: nearly all calls are for a round's later copies, and return NOTHING."""
        changes = self._follow_child(sender, message, now)
        if not message.is_broker:
            return ((), changes) if changes else NOTHING
        if message.leadership == self.leadership and message.round <= self._round:
            actions = self._receive_again(sender, message, rssi_dbm) if message.round == self._round else ()
            return (actions, changes) if actions or changes else NOTHING
        copy = _Copy(rssi_dbm < self._parameters.weak_signal_dbm, message.hops, sender)
        actions, more = self._receive_news(copy, message, now)
        return actions, (*changes, *more)

    def _receive_again(self, sender: NodeId, message: Heartbeat, rssi_dbm: float) -> Sequence[Action]:
        """A later copy of the round; the parent's is what the round was held back for."""
        self._compare(_Copy(rssi_dbm < self._parameters.weak_signal_dbm, message.hops, sender))
        is_awaited = sender == self.parent and self._told_hops == _MAX_HOPS and self._parameters.sticky_parent
        return [self._relay_after(0)] if is_awaited else ()

    def _follow_child(self, sender: NodeId, message: Heartbeat, now: SimTime) -> Sequence[Change]:
        children = self.children
        if message.parent == self._node:
            is_new = sender not in children
            children[sender] = now
            return (NeighbourAppeared(sender, message.is_broker),) if is_new else ()
        if sender in children:
            del children[sender]
            return (NeighbourGone(sender, moved=True),)
        return ()

    def _receive_news(self, copy: _Copy, message: Heartbeat, now: SimTime) -> Outcome:
        """Another leadership, or a new round of our leader's."""
        if message.leadership == self.leadership:
            return self._begin_round(copy, message, now)
        if message.leadership < self.leadership:
            return self._follow(copy, message, now)
        self._other = (now, copy, message)
        return NOTHING

    def _follow(self, copy: _Copy, message: Heartbeat, now: SimTime) -> Outcome:
        """Changes to another leadership; what is known of the parent is of no use there."""
        self.leadership = message.leadership
        self._other = None
        self._gap.interrupted()
        actions, changes = self._begin_round(copy, message, now)
        changes = (*changes, *self._set_parent(copy if self._is_fit_at_once(copy) else None))
        return [CancelTimer(_LEAD), *actions], changes

    def _begin_round(self, copy: _Copy, message: Heartbeat, now: SimTime) -> Outcome:
        self._round = message.round
        self._best = self._parent_copy = None
        self._told_hops = _MAX_HOPS
        self._gap.heard(now)
        self._excluded = {node: until for node, until in self._excluded.items() if now < until}
        changes: Sequence[Change] = ()
        self._compare(copy)
        is_early = self._parameters.sticky_parent and self.parent not in (None, copy.sender)
        relay = self._relay_after(self._parameters.relay_jitter if is_early or copy.is_weak else 0)
        if self._is_fit_at_once(copy) and (self.parent is None or not self._parameters.sticky_parent):
            changes = self._set_parent(copy)
        return [relay, SetTimer(_CHOOSE, self._parameters.parent_window), self._time_out()], changes

    def _is_fit_at_once(self, copy: _Copy) -> bool:
        """Whether a round's first copy can make a parent before the choice; with `sticky_parent` a weak one waits."""
        if copy.sender in self._excluded:
            return False
        return not (copy.is_weak and self._parameters.sticky_parent) or copy.sender == self.parent

    def _relay_after(self, pause: SimTime) -> SetTimer:
        return SetTimer(_RELAY, pause + self._random.randrange(self._parameters.relay_jitter + 1))

    def _compare(self, copy: _Copy) -> None:
        if copy.sender == self.parent:
            self._parent_copy = copy
        elif copy.hops >= self._told_hops:
            return
        if (self._best is None or copy[:2] < self._best[:2]) and copy.sender not in self._excluded:
            self._best = copy

    # The parent

    def _choose(self) -> Sequence[Change]:
        """All of the round's copies have arrived: keeps a sticky parent, or takes the best."""
        if self._best is None or (self.parent is not None and self._keep_parent(self._best)):
            return ()
        return self._set_parent(self._best)

    def _keep_parent(self, best: _Copy) -> bool:
        if not self._parameters.sticky_parent:
            return True
        if self._parent_copy is not None:
            self._parent_missed = 0
            return self._parent_copy.hops <= best.hops
        self._parent_missed += 1
        return self._parent_missed <= self._parameters.allowed_heartbeat_loss

    def _set_parent(self, copy: _Copy | None) -> Sequence[Change]:
        self._parent_copy = copy
        self._parent_missed = 0
        parent = None if copy is None else copy.sender
        if parent == self.parent:
            return ()
        self.parent = parent
        return (ParentChanged(parent),)

    def rewire(self, tree: Rewired) -> Outcome:  # noqa: ARG002  # the interface's
        """See `Overlay`: this tree makes itself."""
        return NOTHING

    def adopt(self, neighbour: NodeId, now: SimTime) -> None:
        """See `Overlay`."""
        self.children[neighbour] = now

    def give_up(self, neighbour: NodeId, now: SimTime) -> Outcome:
        """See `Overlay`."""
        self._excluded[neighbour] = now + self._parameters.exclusion
        self.children.pop(neighbour, None)
        if self._best is not None and self._best.sender == neighbour:
            self._best = None
        return ((), self._set_parent(None)) if neighbour == self.parent else NOTHING

    # Timers

    def timer(self, key: ElectionTimer, now: SimTime) -> Outcome:
        """See `Overlay`."""
        if key == _RELAY:
            return self._relay(), self._age(now)
        if key == _CHOOSE:
            return (), self._choose()
        if key == _LEAD:
            return self._lead(now)
        return self._lose_leader(now)

    def _relay(self) -> Sequence[Action]:
        """Nothing, if the only copies are from neighbours that cannot be a parent: there is no way here."""
        heard = self._parent_copy if self._parameters.sticky_parent and self._parent_copy else self._best
        if heard is None:
            return ()
        self._told_hops = min(heard.hops + 1, _MAX_HOPS)
        return [self._heartbeat(self._told_hops)]

    def _lead(self, now: SimTime) -> Outcome:
        self._round += 1
        return [self._heartbeat(0), SetTimer(_LEAD, self._parameters.heartbeat_interval)], self._age(now)

    def _lose_leader(self, now: SimTime) -> Outcome:
        self._gap.interrupted()
        self.leadership, other = NO_LEADERSHIP, self._other
        changes = self._set_parent(None)
        if other is not None and now - other[0] < self._parameters.leader_time_out_min:
            actions, more = self._follow(other[1], other[2], now)
        elif self._is_broker:
            self.leadership, self._round = Leadership(now // MILLISECOND, self._node), 0
            actions, more = self._lead(now)
        else:
            actions, more = (), self._age(now)
        return actions, (*changes, *more)

    def _heartbeat(self, hops: int) -> Send:
        heartbeat = Heartbeat(self.leadership, self._round, hops, self.parent, self._is_broker)
        return Send(BROADCAST, heartbeat)

    def _age(self, now: SimTime) -> Sequence[Change]:
        """Forgets the children that have not been heard for too many rounds."""
        patience = (self._parameters.allowed_heartbeat_loss + 1) * self._parameters.heartbeat_interval
        gone = [child for child, heard in self.children.items() if now - heard > patience]
        for child in gone:
            del self.children[child]
        return [NeighbourGone(child, moved=False) for child in gone]

    def _time_out(self) -> SetTimer:
        stretch = 1 + _TIME_OUT_SPREAD * self._random.random()
        return SetTimer(_TIME_OUT, round(self._gap.time_out() * stretch))
