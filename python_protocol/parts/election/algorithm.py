"""One node's part in the election: rounds, leaders, the parent and the children.

A node follows the newest round of one leadership. Its first copy starts three timers: "relay" passes it on, "choose"
compares senders, "time-out" waits for the next round; "lead" is the leader's. Later copies only enter the comparison,
so most messages cost little. An agent sees an `Overlay`: parent, children, and `changes` after each event.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from roambus.python_protocol.agent import Process, on, on_timer
from roambus.python_protocol.events import Received, Recovered, Started
from roambus.python_protocol.parts.election.heartbeat import (
    MAX_HOPS,
    NO_LEADERSHIP,
    ElectionParameters,
    GapEstimate,
    Heartbeat,
    Leadership,
)
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SimTime


@dataclass(frozen=True, slots=True)
class ElectionTimer:
    """The key of an election timer: "lead", "relay", "choose" or "time-out"."""

    name: str


LEAD, RELAY, CHOOSE, TIME_OUT = map(ElectionTimer, ("lead", "relay", "choose", "time-out"))


@dataclass(frozen=True, slots=True)
class ParentChanged:
    """The way to the leader begins at `parent`: None without a way, or at the leader."""

    parent: NodeId | None


@dataclass(frozen=True, slots=True)
class NeighbourAppeared:
    """`neighbour` has this node as its parent."""

    neighbour: NodeId
    is_broker: bool


@dataclass(frozen=True, slots=True)
class NeighbourGone:
    """A child has `moved` to another parent or is out of reach."""

    neighbour: NodeId
    moved: bool


Change = ParentChanged | NeighbourAppeared | NeighbourGone


class Overlay(Process):
    """The interface of an algorithm that keeps its node in a tree."""

    parent: NodeId | None
    """The next node towards the root; None at the root or without a way."""
    children: Mapping[NodeId, object]
    """Nodes, brokers and clients, with this parent."""

    def __init__(self, of: Process | None = None) -> None:
        """Begin alone; `of` is the agent."""
        super().__init__(of)
        self.parent = None
        self.changes: list[Change] = []
        """Changes since the last `take_changes`, in order."""

    def take_changes(self) -> list[Change]:
        """Return the changes since the last call."""
        changes, self.changes = self.changes, []
        return changes

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """Take a message; an algorithm without messages ignores it."""

    def adopt(self, neighbour: NodeId, now: SimTime) -> None:
        """Take a child seen by other means."""

    @abstractmethod
    def give_up(self, neighbour: NodeId, now: SimTime) -> None:
        """Drop a neighbour that the link layer gave up, also as a parent for some time."""

    def _set_parent(self, parent: NodeId | None) -> None:
        if parent != self.parent:
            self.parent = parent
            self.changes.append(ParentChanged(parent))


class Copy(NamedTuple):
    """A heartbeat's copy in the choice of a parent; the smaller is better."""

    is_weak: bool
    hops: int
    sender: NodeId


class _Other(NamedTuple):
    """A heartbeat of a younger leadership."""

    heard: SimTime
    copy: Copy
    message: Heartbeat


class Election(Overlay):
    """One node's part in the election."""

    children: dict[NodeId, SimTime]
    """When each child was last heard."""

    def __init__(
        self,
        node: NodeId,
        is_broker: bool,
        parameters: ElectionParameters,
        random: Random,
        of: Process | None = None,
    ) -> None:
        """Take the agent's `random` and `of`; a rebooting node makes a new Election."""
        super().__init__(of)
        self._node = node
        self._is_broker = is_broker
        self._parameters = parameters
        self._random = random
        self.children = {}
        self.leadership = NO_LEADERSHIP
        self._round = 0
        self._best: Copy | None = None
        """The round's best copy so far."""
        self._parent_copy: Copy | None = None
        """The parent's copy of this round, if arrived."""
        self._announced_hops = MAX_HOPS
        """The hops that this node sent in this round."""
        self._parent_missed = 0
        self._excluded: dict[NodeId, SimTime] = {}
        self._other: _Other | None = None
        """The last heartbeat of a younger leadership."""
        self._left: dict[Leadership, int] = {}
        """The last round heard of each left leadership: a few entries a minute at most."""
        self._gap = GapEstimate(parameters)

    @property
    def is_leader(self) -> bool:
        """Whether this node leads."""
        return self.leadership.leader == self._node

    # Handlers

    @on(Started, Recovered)
    def start(self, _: Started | Recovered, now: SimTime) -> None:
        """Listen for a leader first."""
        self._await_next_round()

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """Take a heartbeat's copy; nearly all are later copies, only compared."""
        message, sender = event.message, event.sender
        if not isinstance(message, Heartbeat):
            return
        self._follow_child(sender, message, now)
        if not message.is_broker:
            return
        copy = Copy(event.rssi_dbm < self._parameters.weak_signal_dbm, message.hops, event.sender)
        if message.leadership != self.leadership or message.round > self._round:
            self._receive_news(copy, message, now)
        elif message.round == self._round:
            self._receive_again(copy)

    @on_timer(LEAD)
    def lead(self, _: ElectionTimer, now: SimTime) -> None:
        """Begin the leader's next round (the thesis, figure 2.4a)."""
        self._round += 1
        self._broadcast(0)
        self.set_timer(LEAD, self._parameters.heartbeat_interval)
        self._age(now)

    @on_timer(RELAY)
    def relay(self, _: ElectionTimer, now: SimTime) -> None:
        """Pass the round on (the thesis, figure 2.4b and c), unless only excluded neighbours sent it."""
        heard = self._parent_copy if self._parameters.sticky_parent and self._parent_copy else self._best
        if heard is not None:
            self._announced_hops = min(heard.hops + 1, MAX_HOPS)
            self._broadcast(self._announced_hops)
        self._age(now)

    @on_timer(CHOOSE)
    def choose(self, _: ElectionTimer, now: SimTime) -> None:
        """Keep a sticky parent, or take the round's best."""
        if self._best is not None and (self.parent is None or not self._keeps_parent(self._best)):
            self._take_parent(self._best)

    @on_timer(TIME_OUT)
    def lose_leader(self, _: ElectionTimer, now: SimTime) -> None:
        """Follow another leader heard lately, or lead, if this node is a broker."""
        self._left[self.leadership] = self._round
        self.leadership, other = NO_LEADERSHIP, self._heard_lately(now)
        self._take_parent(None)
        if other is not None:
            self._follow(other.copy, other.message, now)
            self.cancel_timer(RELAY)  # it is an old round, perhaps of a leader that is lost as well
        elif self._is_broker:
            self.leadership, self._round = Leadership(now // MILLISECOND, self._node), 0
            self.lead(LEAD, now)
        else:
            self._age(now)

    def _heard_lately(self, now: SimTime) -> _Other | None:
        other = self._other
        is_late = other is None or now - other.heard >= self._parameters.leader_time_out_min
        return None if is_late else other

    def adopt(self, neighbour: NodeId, now: SimTime) -> None:
        """Take a message's sender as a child before its heartbeat says so."""
        self.children[neighbour] = now

    def give_up(self, neighbour: NodeId, now: SimTime) -> None:
        """Drop a neighbour as a child, and until `exclusion` is over as a parent."""
        self._excluded[neighbour] = now + self._parameters.exclusion
        self.children.pop(neighbour, None)
        if self._best is not None and self._best.sender == neighbour:
            self._best = None
        if neighbour == self.parent:
            self._take_parent(None)

    # Senders

    def _broadcast(self, hops: int) -> None:
        self.send(BROADCAST, Heartbeat(self.leadership, self._round, hops, self.parent, self._is_broker))

    def _relay_after(self, pause: SimTime) -> None:
        self.set_timer(RELAY, pause + self._random.randrange(self._parameters.relay_jitter + 1))

    def _await_next_round(self) -> None:
        self.set_timer(TIME_OUT, self._gap.time_out(self._random))

    # Rounds and leaders

    def _receive_again(self, copy: Copy) -> None:
        """Take a later copy of the round; the relay waits for the parent's."""
        self._compare(copy)
        if copy.sender == self.parent and self._announced_hops == MAX_HOPS and self._parameters.sticky_parent:
            self._relay_after(0)

    def _receive_news(self, copy: Copy, message: Heartbeat, now: SimTime) -> None:
        """Take a copy of another leadership, or the first of a new round."""
        self._excluded = {node: until for node, until in self._excluded.items() if now < until}
        if message.leadership == self.leadership:
            self._begin_round(copy, message, now)
            # A round's first sender is the parent of who has none; without `sticky_parent`, of everyone.
            is_free = self.parent is None or not self._parameters.sticky_parent
            if is_free and self._is_fit_at_once(copy):
                self._take_parent(copy)
        elif message.leadership.leader != self._node and message.round > self._left.get(message.leadership, 0):
            # Any other is the echo of a round heard before this node left that leadership, or led by it before a crash.
            # If it were passed on again, the last round of a leader that is gone could circulate for ever.
            if message.leadership < self.leadership:
                self._follow(copy, message, now)
            else:
                self._other = _Other(now, copy, message)

    def _follow(self, copy: Copy, message: Heartbeat, now: SimTime) -> None:
        self._left[self.leadership] = self._round
        self.leadership = message.leadership
        self._gap.interrupted()
        self._take_parent(copy if self._is_fit_at_once(copy) else None)
        self.cancel_timer(LEAD)
        self._begin_round(copy, message, now)

    def _begin_round(self, copy: Copy, message: Heartbeat, now: SimTime) -> None:
        self._round = message.round
        self._best = self._parent_copy = None
        self._announced_hops = MAX_HOPS
        self._gap.heard(now)
        self._compare(copy)
        self._relay_after(self._patience(copy))
        self.set_timer(CHOOSE, self._parameters.parent_window)
        self._await_next_round()

    def _patience(self, copy: Copy) -> SimTime:
        """The wait in ns for the parent's copy, which jitters delay, or a stronger one."""
        if self._parameters.sticky_parent and self.parent not in (None, copy.sender):
            return min(max(1, copy.hops) * self._parameters.relay_jitter, self._parameters.parent_window)
        return self._parameters.relay_jitter if copy.is_weak else 0

    # The parent

    def _compare(self, copy: Copy) -> None:
        """Keep the copy if it is the parent's, or the best so far."""
        if copy.sender == self.parent:
            self._parent_copy = copy
        elif copy.hops >= self._announced_hops:
            return
        if (self._best is None or copy[:2] < self._best[:2]) and copy.sender not in self._excluded:
            self._best = copy

    def _is_fit_at_once(self, copy: Copy) -> bool:
        """Whether a first copy makes a parent at once; with `sticky_parent` a weak one waits."""
        if copy.sender in self._excluded:
            return False
        return not (copy.is_weak and self._parameters.sticky_parent) or copy.sender == self.parent

    def _keeps_parent(self, best: Copy) -> bool:
        if not self._parameters.sticky_parent:
            return True
        if self._parent_copy is not None:
            self._parent_missed = 0
            return self._parent_copy.hops <= best.hops
        self._parent_missed += 1
        return self._parent_missed <= self._parameters.allowed_heartbeat_loss

    def _take_parent(self, copy: Copy | None) -> None:
        self._parent_copy = copy
        self._parent_missed = 0
        self._set_parent(None if copy is None else copy.sender)

    # The children

    def _follow_child(self, sender: NodeId, message: Heartbeat, now: SimTime) -> None:
        """Take the sender as a child if its heartbeat names this node as parent."""
        children = self.children
        if message.parent == self._node:
            if sender not in children:
                self.changes.append(NeighbourAppeared(sender, message.is_broker))
            children[sender] = now
        elif sender in children:
            del children[sender]
            self.changes.append(NeighbourGone(sender, moved=True))

    def _age(self, now: SimTime) -> None:
        rounds = self._parameters.allowed_heartbeat_loss + 1
        patience = rounds * self._parameters.heartbeat_interval + self._parameters.parent_window
        for child in [child for child, heard in self.children.items() if now - heard > patience]:
            del self.children[child]
            self.changes.append(NeighbourGone(child, moved=False))
