"""Commands become one scenario: each line gets a slot, a time in which its effects end.

The scenario runs as any other. A line comes at the end of the slot before, unless `after` cuts that slot short. A slot
has the head's length, plus the time of walks and departures; `show` takes no time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from roambus.bridge.mobility.model import Mobility
from roambus.bridge.mobility.steered import Steered
from roambus.bridge.scenario.definition import DEPARTURE, Command, Scenario, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.mac import TunableMacSettings
from roambus.bridge.scenario.nodes import ExpireTimer, ManualTimers, NodeSettings
from roambus.bridge.scenario.plans import Fault, LinkChange, LinkDelay, LinkLoss, ParentChange
from roambus.bridge.scenario.radio import ChannelSettings, RadioSettings
from roambus.bridge.transcript import commands
from roambus.bridge.transcript.commands import (
    Apply,
    Arrive,
    Draw,
    Fail,
    Go,
    Leave,
    Locate,
    ManualCommand,
    Move,
    PublishEvent,
    Relink,
    Return,
    RunOut,
    Show,
    Start,
    Stop,
    Timed,
    Wait,
    Walk,
    planned,
    refusal,
)
from roambus.bridge.transcript.head import Head
from roambus.bridge.transcript.network import Network, Ways
from roambus.python_protocol.actions import GoTo, Halt
from roambus.python_protocol.events import Attach, Detach
from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import NANOSECOND, SECOND, SimTime, format_time

_FASTEST_MPS = 1e4
"""Transcripts have no limit of their own to the speed of nodes."""
NO_RADIO = RadioSettings(0, 0, 0.0, 0.0, 0.0, 0.0, ())
"""Unused settings: ideal links have no radio, but a scenario requires one."""


@dataclass(slots=True)
class Slot:
    """From `start` up to `end`, effects belong to the line `number` (None: not shown)."""

    number: int | None
    start: SimTime
    end: SimTime
    is_cut_short: bool = False
    """Whether the next command does not wait for quiet."""


@dataclass(frozen=True, slots=True)
class PlannedShow:
    """At `at`, before all else of that instant, a listing for the line `number`."""

    at: SimTime
    number: int | None
    show: Show


class Timeline:
    """Grows line by line; methods raise ValueError for an impossible command.

    The explorer starts from its end.
    """

    def __init__(self, head: Head, network: Network) -> None:
        """Begin with the start of the agents, which is not shown."""
        self.head = head
        self.network = network
        self.slots = [Slot(None, 0, head.slot)]
        self.shows: list[PlannedShow] = []
        self.events: dict[str, str] = {}
        """Notifications' names by identifier."""
        self.now: SimTime = 0
        """The last command's time."""
        self.parents = dict(network.parents)
        """The given tree after the last command."""
        self._tree = [ParentChange(0, node, parent) for node, parent in self.parents.items()]
        self._away: dict[NodeId, tuple[SimTime, NodeId | None]] = {}
        """Detached clients' departure times and old places."""
        self._links: list[LinkChange] = []
        self.manual_from: SimTime | None = None
        """The start of work by hand."""
        self.orders: list[tuple[SimTime, Arrive | Draw]] = []
        """Its arrivals and draws, by time."""
        self._ties: list[SimTime] = []
        """Times that are later than the one before only to keep the order."""
        self._ways = Ways(network.places, head.speed_mps)
        self._movers: dict[NodeId, type[Walk | Go]] = {}
        """The nodes that commands move: by walks of the scenario, or as their agents do."""
        self._faults: list[Fault] = []
        self._commands: list[Command] = []
        self._roles: dict[NodeId, Role] = {node: network.roles(node) for node in range(len(network.processes))}
        """Roles by names and by actions: a client that publishes is a publisher."""
        self._published: Counter[NodeId] = Counter()
        self._called: Counter[str] = Counter()

    def add(self, number: int | None, line: Iterable[Timed]) -> None:
        """Add a line of commands, after the slot before unless it gives a time.

        Each command counts from the one before; the slot fits the longest.
        """
        first, *others = line
        if any(isinstance(entry.command, Start) for entry in (first, *others)):
            if len(self.slots) > 1 or number is None or others:
                raise ValueError("'start' can only be the first command, without a setup before it")
            self.slots[0].number = number
            return
        last = self.slots[-1]
        if first.after is not None:
            last.end, last.is_cut_short = self._later(first.after), True
        self.now = last.end
        if number is not None and self.head.driver and self.manual_from is None:
            self.manual_from = self.now
            self._commands += [Command(self.now, node, ManualTimers()) for node in self._roles]
        slot = Slot(number, self.now, self.now, is_cut_short=self.manual_from is not None)
        self.slots.append(slot)
        slot.end += self._do(number, first.command)
        for timed in others:
            self.now = self.now if timed.at_once else self._later(timed.after or 0)
            slot.end = max(slot.end, self.now + self._do(number, timed.command))

    def _later(self, after: SimTime) -> SimTime:
        """The time of a command so long after the last; by hand no two are equal.

        At one instant a run orders links, arrivals, timers, so commands by hand differ by a nanosecond, which agents do
        not see (`moment`): simultaneous timers would differ.
        """
        if after or self.manual_from is None:
            return self.now + after
        self._ties.append(self.now + NANOSECOND)
        return self._ties[-1]

    def moment(self, now: SimTime) -> SimTime:
        """The agents' time at a time of the run."""
        return now - bisect_right(self._ties, now) * NANOSECOND

    def losses(self) -> Iterator[LinkLoss]:
        """Links with their own loss."""
        for link, share in self.head.losses.items():
            a, b, one_way = self.network.link(link)
            yield LinkLoss(a, b, share)
            if not one_way:
                yield LinkLoss(b, a, share)

    def scenario(self, agent: str, parameters: dict[str, str]) -> Scenario:
        """The scenario of all lines, up to the last slot's end."""
        range_m = self.head.range_m if self.network.places else 0.0
        return Scenario(
            seed=self.head.seed,
            time_limit=self.slots[-1].end + NANOSECOND,
            field_m=self._ways.field_m(range_m) if self.network.places else (0.0, 0.0),
            channel=ChannelSettings(),
            radio=NO_RADIO,
            mac=TunableMacSettings(),
            nodes=tuple(
                NodeSettings(self._ways.start(node), self._mobility(node), roles=roles)
                for node, roles in self._roles.items()
            ),
            workload=Workload(commands=tuple(self._commands)),
            agent=agent,
            agent_parameters=parameters,
            tree=tuple(sorted(self._tree, key=lambda change: change.at)),
            faults=tuple(self._faults),
            ideal=IdealLinks(
                self.head.delay,
                tuple(LinkDelay(*self.network.link(link)[:2], delay) for link, delay in self.head.delays.items()),
                self.head.loss,
                tuple(self.losses()),
                links=self.network.links,
                changes=tuple(self._links),
                range_m=range_m,
            ),
        )

    def _mobility(self, node: NodeId) -> Mobility:
        """On a field agents move the nodes that no scenario's walk moves."""
        is_agents = self.network.places and self._movers.get(node) is not Walk
        return Steered(_FASTEST_MPS) if is_agents else self._ways.mobility(node)

    def _set_out(self, command: Walk | Go | Stop) -> SimTime:
        """Move a node, by the scenario or by its agent; return how long it takes."""
        node, kind = command.node, Walk if isinstance(command, Walk) else Go
        if self._movers.setdefault(node, kind) is not kind:
            name = self.network.node_name(node)
            raise ValueError(f"{name} moves by 'moves to' and by its agent: write one of 'moves to' and 'goes to' only")
        place = self._ways.place(node, self.now / SECOND) if isinstance(command, Stop) else command.place
        if isinstance(command, Walk):
            return self._ways.walk(node, place, self.now)
        action = Halt() if isinstance(command, Stop) else GoTo(*place, command.speed_mps)
        self._commands.append(Command(self.now, node, action))
        return self._ways.walk(node, place, self.now, getattr(action, "speed_mps", None))

    def _do(self, number: int | None, command: commands.Command) -> SimTime:
        if isinstance(command, Move) and command.node in self._away and not self.network.is_broker(command.node):
            raise ValueError(f"{(name := self.network.node_name(command.node))} is away; write '{name} attaches to b1'")
        if text := refusal(command, self.parents, {fault.node: fault.kind for fault in self._faults}, self.network):
            raise ValueError(text)
        match command:
            case Wait(time):
                return time
            case Show():
                self.shows.append(PlannedShow(self.now, number, command))
                return 0
            case Walk() | Go() | Stop():
                return self.head.slot + self._set_out(command)
            case Locate(node, place):
                self._ways.put(node, place, self.now)
                return 0
            case Apply() | PublishEvent() | Move() | Relink() | Fail():
                self._plan(command)
            case _:
                _DO[type(command)](self, command)
        return self.head.slot + (DEPARTURE if isinstance(command, Leave) else 0)

    def _plan(self, command: commands.Command) -> None:
        match plan := planned(command, self.now):
            case ParentChange(_, node, parent):
                self.parents[node] = parent
                self._tree.append(plan)
            case LinkChange():
                self._links.append(plan)
            case Fault():
                self._faults.append(plan)
            case Command(_, node):
                self._roles[node] |= Role.PUBLISHER if isinstance(command, PublishEvent) else Role.SUBSCRIBER
                self._commands.append(plan)
        if isinstance(command, PublishEvent):
            self._name(command)

    def _name(self, publish: PublishEvent) -> None:
        """The event's name, with a number from the second use on: e1, e1#2."""
        node, name = publish.node, publish.name
        self._called[name] += 1
        number = self._called[name]
        self.events[str(NotificationId(node, self._published[node]))] = name if number == 1 else f"{name}#{number}"
        self._published[node] += 1

    def _leave(self, leave: Leave) -> None:
        """A detaching client notifies its broker before it leaves the tree."""
        node = leave.node
        if node in self._away:
            raise ValueError(f"{self.network.subscriber_name(node)} is away already")
        self._away[node] = self.now, self.parents.get(node)
        self._commands.append(Command(self.now, node, Detach()))
        self._take_place(node, None, self.now + DEPARTURE)

    def _return(self, back: Return) -> None:
        node, name = back.node, self.network.subscriber_name(back.node)
        if node not in self._away:
            raise ValueError(f"{name} is not away; write '{name} detaches' before")
        since, old = self._away.pop(node)
        if self.now <= since + DEPARTURE:
            raise ValueError(f"{name} has not left yet; wait more than {format_time(DEPARTURE)} after it detaches")
        self._take_place(node, old if back.broker is None else back.broker, self.now)
        self._commands.append(Command(self.now, node, Attach()))

    def _take_place(self, node: NodeId, parent: NodeId | None, at: SimTime) -> None:
        """A client on a broker's node stays with it."""
        if self.network.is_tree and not self.network.is_broker(node):
            self.parents[node] = parent
            self._tree.append(ParentChange(at, node, parent))

    def _order(self, command: ManualCommand) -> None:
        if self.manual_from is None:
            raise ValueError("this needs a line 'by hand' in the head, and must come after the setup")
        if isinstance(command, RunOut):
            self._commands.append(Command(self.now, command.node, ExpireTimer(command.number)))
        else:
            self.orders.append((self.now, command))


# Commands that are more than one thing in a scenario.
_DO: dict[type[Any], Callable[[Timeline, Any], None]] = {
    Leave: Timeline._leave,
    Return: Timeline._return,
    Arrive: Timeline._order,
    RunOut: Timeline._order,
    Draw: Timeline._order,
}
