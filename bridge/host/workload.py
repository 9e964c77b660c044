"""What a scenario does to the nodes of a run: commands of their applications, and faults.

Every protocol gets the same commands at the same times. A command waits until its node has booted. While the node has
crashed nothing is published, and all other commands wait until it recovers, in their order.

A node that has crashed has no timers any more, and hears nothing of its transmissions; frames that its MAC had taken
may still leave. What falls due at a frozen node waits until it recovers, and is handled at once then, in the order in
which it fell due. What arrives at a node that is down is lost.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple, cast

from roambus.bridge.backends.interface import NodeInfo
from roambus.bridge.host.agenda import Agenda
from roambus.bridge.scenario.definition import Command, Publication, Publications, Scenario
from roambus.bridge.scenario.faults import Outages as PlannedOutages
from roambus.bridge.scenario.faults import outage_at, outages
from roambus.bridge.scenario.nodes import Handling
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.actions import (
    ATTACH,
    CRASH,
    DETACH,
    FREEZE,
    PUBLISH,
    RECOVER,
    ROLE,
    SUBSCRIBE,
    UNSUBSCRIBE,
    node_list,
)
from roambus.python_protocol.events import (
    Attach,
    Crashed,
    Detach,
    Event,
    Publish,
    Recovered,
    SendFailed,
    Started,
    Stopped,
    Subscribe,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.roles import NodeId, Role, format_roles
from roambus.python_protocol.simtime import SimTime

TimedEvent = tuple[SimTime, NodeId, Event]


class _Planned(NamedTuple):
    """A command that falls `due` at its node, and is carried out then, or when the node thaws."""

    carried_out: SimTime
    due: SimTime
    node: NodeId
    command: Subscribe | Unsubscribe | Detach | Attach | Publication | Handling


def commands(scenario: Scenario, nodes: Sequence[NodeInfo]) -> list[TimedEvent]:
    """Every command that is carried out before the time limit, with the time at which it falls due, and its node."""
    down = outages(scenario.faults)
    booted = (entry._replace(at=max(entry.at, nodes[entry.node].start)) for entry in _commands(scenario, nodes))
    planned = [one for entry in booted if (one := _plan(entry, down)) and one.carried_out < scenario.time_limit]
    return list(_events(sorted(planned, key=lambda one: one[:3])))


def _commands(scenario: Scenario, nodes: Sequence[NodeInfo]) -> Iterator[Command]:
    workload = scenario.workload
    for entry in workload.subscriptions:
        yield Command(entry.at, entry.node, Subscribe(entry.filter))
    for publications in workload.publications:
        yield from _publish_commands(publications, scenario, nodes[publications.node].start)
    yield from workload.commands


def _publish_commands(publications: Publications, scenario: Scenario, boot: SimTime) -> Iterator[Command]:
    publication = Publication(publications.attributes, publications.payload)
    for at in _times(publications, scenario.seed, boot, min(publications.until, scenario.time_limit)):
        yield Command(at, publications.node, publication)


def _times(publications: Publications, seed: int, boot: SimTime, until: SimTime) -> Iterator[SimTime]:
    # Publishers that all start at once would collide for ever: a phase of their own keeps them apart.
    phase = Random(f"publications/{seed}/{publications.node}").randrange(publications.interval)
    at = max(publications.start, boot) + phase
    while at < until:
        yield at
        at += publications.interval


def _plan(entry: Command, down: PlannedOutages) -> _Planned | None:
    """None for a command that is never carried out."""
    at, node, command = entry
    outage = outage_at(down, node, at)
    if outage is None:
        return _Planned(at, at, node, command)
    if outage.end is None or (outage.crashed and isinstance(command, Publication)):
        return None
    return _Planned(outage.end, outage.end if outage.crashed else at, node, command)


def _events(planned: Iterable[_Planned]) -> Iterator[TimedEvent]:
    """Numbers the publications, and addresses them to those who want them at that time, wherever they are."""
    wanted: dict[NodeId, dict[Filter, None]] = {}
    published: Counter[NodeId] = Counter()
    for _, due, node, command in planned:
        if isinstance(command, Publication):
            identifier = NotificationId(node, published[node])
            published[node] += 1
            notification = Notification(identifier, command.attributes, command.payload)
            yield due, node, Publish(notification, _subscribers(notification, wanted))
            continue
        if isinstance(command, Subscribe):
            wanted.setdefault(node, {})[command.filter] = None
        elif isinstance(command, Unsubscribe):
            wanted.setdefault(node, {}).pop(command.filter, None)
        yield due, node, cast("Event", command)  # whoever plans a `Handling` has an agent that takes it


def _subscribers(notification: Notification, wanted: Mapping[NodeId, Mapping[Filter, None]]) -> tuple[NodeId, ...]:
    return tuple(sorted(node for node, filters in wanted.items() if any(one.matches(notification) for one in filters)))


def trace_command(trace: TraceWriter, now: SimTime, node: NodeId, event: Event, roles: Role) -> None:
    """A row for the boot of the node, which has these roles, or for a command of its application."""
    match event:
        case Started():
            trace.add(now, node, ROLE, detail=format_roles(roles))
        case Subscribe():
            trace.add(now, node, SUBSCRIBE, detail=str(event.filter))
        case Unsubscribe():
            trace.add(now, node, UNSUBSCRIBE, detail=str(event.filter))
        case Detach():
            trace.add(now, node, DETACH)
        case Attach():
            trace.add(now, node, ATTACH)
        case Publish():
            subscribers = node_list(event.subscribers)
            trace.add(now, node, PUBLISH, notification_id=str(event.notification.id), detail=subscribers)


# Faults

Handle = Callable[[NodeId, Event], None]


class Outages:
    """The faults to come, and the nodes that are down; `tell` and `handle` are what the host does with an event."""

    def __init__(
        self, faults: Sequence[Fault], agenda: Agenda, trace: TraceWriter, tell: Handle, handle: Handle
    ) -> None:
        self.down: set[NodeId] = set()
        """The nodes that have crashed or are frozen."""
        self.waiting: dict[NodeId, list[tuple[int, Event]]] = {}
        """What fell due at each frozen node, with its number."""
        self._to_come = deque(faults)
        self._agenda = agenda
        self._trace = trace
        self._tell = tell
        self._handle = handle
        self._do = {FaultKind.CRASH: self._crash, FaultKind.FREEZE: self._freeze, FaultKind.RECOVER: self._recover}

    def next_time(self) -> SimTime | None:
        """When the next fault is planned."""
        return self._to_come[0].at if self._to_come else None

    def happen(self) -> None:
        """Does what is planned for this instant."""
        while self._to_come and self._to_come[0].at == self._agenda.now:
            fault = self._to_come.popleft()
            self._do[fault.kind](fault.node)

    def tell_failure(self, node: NodeId, failed: SendFailed) -> None:
        """The node is told, now or when it thaws; one that has crashed never is."""
        if node not in self.down:
            self._tell(node, failed)
        elif node in self.waiting:
            self.waiting[node].append((self._agenda.next_number(), failed))

    def _crash(self, node: NodeId) -> None:
        self._trace.add(self._agenda.now, node, CRASH)
        self.down.add(node)
        self._tell(node, Crashed())
        self.waiting.pop(node, None)
        self._agenda.cancel_timers(node)

    def _freeze(self, node: NodeId) -> None:
        self._trace.add(self._agenda.now, node, FREEZE)
        self.down.add(node)
        self._tell(node, Stopped())
        self.waiting[node] = []

    def _recover(self, node: NodeId) -> None:
        self._trace.add(self._agenda.now, node, RECOVER)
        self.down.remove(node)
        waiting = self.waiting.pop(node, ())
        self._tell(node, Recovered())
        for event in self._agenda.still_alive(waiting):
            self._handle(node, event)
