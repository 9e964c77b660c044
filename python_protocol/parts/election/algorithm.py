"""One node's part in the election."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from roambus.python_protocol.actions import Action, CancelTimer, Send, SetTimer
from roambus.python_protocol.events import Rewired
from roambus.python_protocol.parts.election.heartbeat import MAX_HOPS, NO_LEADERSHIP, Heartbeat, Leadership
from roambus.python_protocol.parts.election.parameters import ElectionParameters
from roambus.python_protocol.parts.election.time_out import GapEstimate
from roambus.python_protocol.parts.overlay import (
    NOTHING,
    Change,
    NeighbourAppeared,
    NeighbourGone,
    Outcome,
    ParentChanged,
)
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SimTime


@dataclass(frozen=True, slots=True)
class ElectionTimer:
    """The key of a timer of the election: "lead", "relay", "choose" or "time-out"."""

    name: str


_LEAD, _RELAY, _CHOOSE, _TIME_OUT = map(ElectionTimer, ("lead", "relay", "choose", "time-out"))


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
        self._told_hops = MAX_HOPS
        """The hops that this node has told in this round, once it has."""
        self._parent_missed = 0
        self._excluded: dict[NodeId, SimTime] = {}
        self._other: tuple[SimTime, _Copy, Heartbeat] | None = None
        """When, how and what was last heard of a younger leadership."""
        self._left: dict[Leadership, int] = {}
        """The last round heard of each leadership that this node no longer follows: a few entries a minute at most."""
        self._gap = GapEstimate(parameters)

    @property
    def is_leader(self) -> bool:
        """Whether this node leads."""
        return self.leadership.leader == self._node

    def start(self, now: SimTime) -> Outcome:  # the interface's
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
        is_awaited = sender == self.parent and self._told_hops == MAX_HOPS and self._parameters.sticky_parent
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
        self._excluded = {node: until for node, until in self._excluded.items() if now < until}
        if message.leadership == self.leadership:
            return self._begin_round(copy, message, now), self._take_at_once(copy)
        if self._is_echo(message):
            return NOTHING
        if message.leadership < self.leadership:
            return self._follow(copy, message, now)
        self._other = (now, copy, message)
        return NOTHING

    def _is_echo(self, message: Heartbeat) -> bool:
        """Of a round heard before this node left that leadership, or of one that it led before a crash.

        Passed on again, the last round of a leader that is gone could circulate for ever.
        """
        return message.leadership.leader == self._node or message.round <= self._left.get(message.leadership, 0)

    def _follow(self, copy: _Copy, message: Heartbeat, now: SimTime) -> Outcome:
        """Changes to another leadership; what is known of the parent is of no use there."""
        self._left[self.leadership] = self._round
        self.leadership = message.leadership
        self._gap.interrupted()
        changes = self._set_parent(copy if self._is_fit_at_once(copy) else None)
        return [CancelTimer(_LEAD), *self._begin_round(copy, message, now)], changes

    def _begin_round(self, copy: _Copy, message: Heartbeat, now: SimTime) -> Sequence[Action]:
        self._round = message.round
        self._best = self._parent_copy = None
        self._told_hops = MAX_HOPS
        self._gap.heard(now)
        self._compare(copy)
        relay = self._relay_after(self._patience(copy))
        return [relay, SetTimer(_CHOOSE, self._parameters.parent_window), self._time_out()]

    def _take_at_once(self, copy: _Copy) -> Sequence[Change]:
        """A round's first sender is the parent of who has none; without `sticky_parent`, of everyone."""
        is_free = self.parent is None or not self._parameters.sticky_parent
        return self._set_parent(copy) if is_free and self._is_fit_at_once(copy) else ()

    def _patience(self, copy: _Copy) -> SimTime:
        """How long to wait for the parent's copy, which each hop's jitter makes later, or for a stronger one."""
        if self._parameters.sticky_parent and self.parent not in (None, copy.sender):
            return min(max(1, copy.hops) * self._parameters.relay_jitter, self._parameters.parent_window)
        return self._parameters.relay_jitter if copy.is_weak else 0

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

    def rewire(self, tree: Rewired) -> Outcome:  # the interface's
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
        self._told_hops = min(heard.hops + 1, MAX_HOPS)
        return [self._heartbeat(self._told_hops)]

    def _lead(self, now: SimTime) -> Outcome:
        self._round += 1
        return [self._heartbeat(0), SetTimer(_LEAD, self._parameters.heartbeat_interval)], self._age(now)

    def _lose_leader(self, now: SimTime) -> Outcome:
        self._left[self.leadership] = self._round
        self.leadership, other = NO_LEADERSHIP, self._other
        changes = self._set_parent(None)
        if other is not None and now - other[0] < self._parameters.leader_time_out_min:
            actions, more = self._follow(other[1], other[2], now)
            actions = [*actions, CancelTimer(_RELAY)]  # it is an old round, perhaps of a leader that is lost as well
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
        rounds = self._parameters.allowed_heartbeat_loss + 1
        patience = rounds * self._parameters.heartbeat_interval + self._parameters.parent_window
        gone = [child for child, heard in self.children.items() if now - heard > patience]
        for child in gone:
            del self.children[child]
        return [NeighbourGone(child, moved=False) for child in gone]

    def _time_out(self) -> SetTimer:
        return SetTimer(_TIME_OUT, self._gap.time_out(self._random))
