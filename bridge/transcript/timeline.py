"""Commands to one scenario: each line of them gets a slot, a stretch of time for what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from bridge.scenario import (
    ChannelParameters,
    Command,
    Fault,
    IdealLinks,
    LinkChange,
    MacParameters,
    NodeSettings,
    ParentChange,
    Publication,
    RadioParameters,
    Scenario,
    Workload,
)
from bridge.transcript import commands
from bridge.transcript.commands import Apply, Fail, Move, PublishEvent, Relink, Show, Start, Timed, Wait
from bridge.transcript.head import Head
from bridge.transcript.network import Network
from python_protocol.filters import NotificationId
from python_protocol.roles import NodeId, Role
from python_protocol.simtime import NANOSECOND, SimTime

NO_RADIO = RadioParameters(0, 0, 0.0, 0.0, 0.0, 0.0, ())
"""Ideal links have none."""


@dataclass(slots=True)
class Slot:
    """What happens from `start` up to `end` follows from the line `number`; None: from what is not shown."""

    number: int | None
    start: SimTime
    end: SimTime
    is_cut_short: bool = False
    """The next command was not to wait until all is quiet."""


@dataclass(frozen=True, slots=True)
class Look:
    """At `at`, before anything else of that instant, a listing is shown below the line `number`."""

    at: SimTime
    number: int | None
    show: Show


@dataclass(slots=True)
class Timeline:
    """Grows line by line; methods raise ValueError for what cannot be done at that time."""

    head: Head
    network: Network
    slots: list[Slot] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    events: dict[str, str] = field(default_factory=dict)
    """The name of each notification by its identifier."""
    _now: SimTime = 0
    _parents: dict[NodeId, NodeId | None] = field(default_factory=dict)
    _tree: list[ParentChange] = field(default_factory=list)
    _links: list[LinkChange] = field(default_factory=list)
    _faults: list[Fault] = field(default_factory=list)
    _commands: list[Command] = field(default_factory=list)
    _publishers: set[NodeId] = field(default_factory=set)
    _subscribers: set[NodeId] = field(default_factory=set)
    _published: Counter[NodeId] = field(default_factory=Counter)
    _called: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._parents = dict(self.network.parents)
        self._tree = [ParentChange(0, node, parent) for node, parent in self._parents.items()]
        self.slots.append(Slot(None, 0, self.head.slot))

    def add(self, number: int | None, line: Iterable[Timed]) -> None:
        """A line of commands: the first when the line before has had its time, or so long after that line's last."""
        first, *others = line
        if isinstance(first.command, Start):
            self._show_start(number)
            return
        last = self.slots[-1]
        if first.after is not None:
            last.end, last.is_cut_short = self._now + first.after, True
        self._now = last.end
        slot = Slot(number, self._now, self._now)
        self.slots.append(slot)
        for timed in (first, *others):
            self._now += (timed.after or 0) if timed is not first else 0
            slot.end = max(slot.end, self._now + self._do(number, timed.command))

    def scenario(self, agent: str, parameters: dict[str, str]) -> Scenario:
        """All of it, up to the end of the last slot."""
        links = IdealLinks(self.head.delay, links=self.network.links, changes=tuple(self._links))
        return Scenario(
            seed=self.head.seed,
            time_limit=self.slots[-1].end + NANOSECOND,
            field_m=(0.0, 0.0),
            channel=ChannelParameters(),
            radio=NO_RADIO,
            mac=MacParameters(),
            nodes=tuple(NodeSettings(roles=self._roles(node)) for node in range(len(self.network.processes))),
            workload=Workload(commands=tuple(self._commands)),
            agent=agent,
            agent_parameters=parameters,
            tree=tuple(self._tree),
            faults=tuple(self._faults),
            ideal=links,
        )

    def _roles(self, node: NodeId) -> Role:
        """Those of its names, and those that its client takes on."""
        roles = self.network.roles(node)
        roles |= Role.PUBLISHER if node in self._publishers else Role.NONE
        return roles | (Role.SUBSCRIBER if node in self._subscribers else Role.NONE)

    def _show_start(self, number: int | None) -> None:
        if len(self.slots) > 1 or number is None:
            raise ValueError("'start' can only be the first command, without a setup before it")
        self.slots[0].number = number

    def _do(self, number: int | None, command: commands.Command) -> SimTime:
        """Returns how long what follows may take."""
        match command:
            case Wait(time):
                return time
            case Show():
                self.looks.append(Look(self._now, number, command))
                return 0
        _DO[type(command)](self, command)
        return self.head.slot

    def _apply(self, apply: Apply) -> None:
        self._subscribers.add(apply.node)
        self._commands.append(Command(self._now, apply.node, apply.command))

    def _publish(self, publish: PublishEvent) -> None:
        self._publishers.add(publish.node)
        self._commands.append(Command(self._now, publish.node, Publication(publish.attributes)))
        identifier = NotificationId(publish.node, self._published[publish.node])
        self._published[publish.node] += 1
        self._called[publish.name] += 1
        times = self._called[publish.name]
        self.events[str(identifier)] = publish.name if times == 1 else f"{publish.name}#{times}"

    def _move(self, move: Move) -> None:
        name = self.network.node_name
        old = self._parents[move.node]
        if move.joins and old is not None:
            raise ValueError(f"{name(move.node)} is connected to {name(old)}; write 'moves to' instead of 'joins'")
        if old == move.parent:
            place = f"connected to {name(old)}" if old is not None else "cut off"
            raise ValueError(f"{name(move.node)} already is {place}")
        self._refuse_cycle(move.node, move.parent)
        self._parents[move.node] = move.parent
        self._tree.append(ParentChange(self._now, move.node, move.parent))

    def _refuse_cycle(self, node: NodeId, parent: NodeId | None) -> None:
        above = parent
        while above is not None:
            if above == node:
                name = self.network.node_name
                text = f"{name(node)} cannot connect to {name(parent or 0)}, which is below it: that makes a cycle"
                raise ValueError(text)
            above = self._parents[above]

    def _relink(self, relink: Relink) -> None:
        self._links.append(LinkChange(self._now, relink.a, relink.b, relink.up))

    def _fail(self, fail: Fail) -> None:
        self._faults.append(Fault(self._now, fail.node, fail.kind))


_DO: dict[type[Any], Callable[[Timeline, Any], None]] = {
    Apply: Timeline._apply,
    PublishEvent: Timeline._publish,
    Move: Timeline._move,
    Relink: Timeline._relink,
    Fail: Timeline._fail,
}
