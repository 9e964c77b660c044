"""The event queue of a run, the plan of its commands, and the fault injector.

Events due at one instant are in the order of their nodes, and for one node in the order of scheduling. A replaced or
cancelled timer stays in the heap, marked by its number, because skipping it later is faster than finding it.

All commands are planned before the run, so that every protocol gets the same ones; each `Publish` names the nodes that
want it. A command waits until its node has booted. A crashed node publishes nothing and loses its timers; its other
commands wait until it recovers.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from random import Random
from typing import NamedTuple, cast

from roambus.bridge.backend import NodeInfo
from roambus.bridge.scenario.definition import TOPIC, Command, Publication, Publications, Scenario
from roambus.bridge.scenario.faults import OutagesByNode, outage_at, outages
from roambus.bridge.scenario.nodes import Handling
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import TraceRow
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
    TimerFired,
    TimerKey,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.vocabulary import (
    ATTACH,
    DETACH,
    PUBLISH,
    ROLE,
    SUBSCRIBE,
    UNSUBSCRIBE,
    NodeId,
    Role,
    SimTime,
    format_roles,
    node_list,
)

Due = tuple[SimTime, NodeId, int, Event]
"""When something is due, at which node, its number in the order of scheduling, and what it is."""


class EventQueue:
    """What is due at `nodes` nodes; `now` is the time of the step that is being handled."""

    def __init__(self, nodes: int) -> None:
        self.now: SimTime = 0
        self._due: list[Due] = []
        self._timers: list[dict[TimerKey, int]] = [{} for _ in range(nodes)]
        """The number of each timer that is set."""
        self._dead: set[int] = set()
        """The numbers of what is still in the heap, but was replaced or cancelled."""
        self._last = 0

    def next_number(self) -> int:
        """A number for what comes after everything that has one."""
        self._last += 1
        return self._last

    def schedule(self, time: SimTime, node: NodeId, event: Event) -> int:
        """Schedules the event for the node at that time; returns its number."""
        self._last += 1
        heappush(self._due, (time, node, self._last, event))
        return self._last

    def next_time(self) -> SimTime | None:
        """When the next thing is due."""
        due, dead = self._due, self._dead
        while due and due[0][2] in dead:
            dead.remove(heappop(due)[2])
        return due[0][0] if due else None

    def take(self) -> Due:
        """Takes off what is due next; there must be something, by `next_time`."""
        return heappop(self._due)

    def set_timer(self, node: NodeId, key: TimerKey, time: SimTime) -> None:
        """Has the node's timer fire at that time, and not when it was to fire before."""
        timers = self._timers[node]
        replaced = timers.get(key)
        if replaced is not None:
            self._dead.add(replaced)
        timers[key] = self.schedule(time, node, TimerFired(key))

    def cancel_timer(self, node: NodeId, key: TimerKey) -> None:
        """Has the node's timer not fire, if it is set."""
        cancelled = self._timers[node].pop(key, None)
        if cancelled is not None:
            self._dead.add(cancelled)

    def forget_timer(self, node: NodeId, key: TimerKey) -> None:
        """The node's timer has fired."""
        del self._timers[node][key]

    def cancel_timers(self, node: NodeId) -> None:
        """Has no timer of the node fire."""
        self._dead.update(self._timers[node].values())
        self._timers[node].clear()

    def still_alive(self, waiting: Iterable[tuple[int, Event]]) -> Iterable[Event]:
        """The events that waited outside the heap, each when its turn comes: unless it was cancelled by then."""
        for number, event in waiting:
            if number in self._dead:
                self._dead.remove(number)
            else:
                yield event


TimedEvent = tuple[SimTime, NodeId, Event]


class _Planned(NamedTuple):
    """A command that falls `due` at its node, and is carried out then, or when the node recovers."""

    carried_out: SimTime
    due: SimTime
    node: NodeId
    command: Subscribe | Unsubscribe | Detach | Attach | Publication | Handling


def commands(scenario: Scenario, nodes: Sequence[NodeInfo]) -> list[TimedEvent]:
    """Every command that is carried out before the time limit, with the time at which it falls due, and its node.

    That both times are kept, due and carried out, has its reason in frozen nodes: the command falls due while the node
    is frozen, and waits there on the event queue like anything else that falls due.
    """
    down = outages(scenario.faults)
    booted = (entry._replace(at=max(entry.at, nodes[entry.node].start)) for entry in _commands(scenario, nodes))
    planned = [one for entry in booted if (one := _plan(entry, down)) and one.carried_out < scenario.time_limit]
    # In the order in which they are carried out: a publication is wanted by those who have subscribed by then.
    return list(_events(sorted(planned, key=lambda one: one[:3])))


def own_part(plan: Iterable[TimedEvent], node: NodeId, since: SimTime) -> Iterator[TimedEvent]:
    """What is planned for one node, whose host was started at `since`: later than the run if its process had died.

    Its agent knows nothing any more, and so it is told again what it was told before, and at once. But nothing is
    published again: whoever has heard the notification would hear it twice.
    """
    for due, whose, event in plan:
        if whose == node and (due >= since or not isinstance(event, Publish)):
            yield max(due, since), node, event


def _commands(scenario: Scenario, nodes: Sequence[NodeInfo]) -> Iterator[Command]:
    """What the applications of all nodes do, in no order."""
    workload = scenario.workload
    for entry in workload.subscriptions:
        yield Command(entry.at, entry.node, Subscribe(entry.filter))
    for publications in workload.publications:
        drawn = _publications(publications, scenario.seed)
        for at in _times(publications, scenario, nodes[publications.node].start):
            yield from (Command(at, publications.node, next(drawn)) for _ in range(publications.burst))
    yield from workload.commands


def _publications(publications: Publications, seed: int) -> Iterator[Publication]:
    """What a publisher publishes, one after the other, for ever; topics have a stream of their own."""
    attributes, payload = dict(publications.attributes), publications.payload
    made = [
        Publication(tuple(sorted({**attributes, **drawn}.items())), payload)
        for drawn in ([{TOPIC: f"t{number}"} for number in range(publications.topics)] or [{}])
    ]
    weights = list(accumulate((1 + number) ** -publications.popularity for number in range(len(made))))
    random = Random(f"topics/{seed}/{publications.node}")
    while True:
        yield random.choices(made, cum_weights=weights)[0] if len(made) > 1 else made[0]


def _times(publications: Publications, scenario: Scenario, boot: SimTime) -> Iterable[SimTime]:
    """When a publisher publishes: at its interval from its start on, or from its node's boot."""
    # Publishers that all start at once would collide forever: a phase of their own keeps them apart.
    phase = Random(f"publications/{scenario.seed}/{publications.node}").randrange(publications.interval)
    first = max(publications.start, boot) + phase
    return range(first, min(publications.until, scenario.time_limit), publications.interval)


def _plan(entry: Command, down: OutagesByNode) -> _Planned | None:
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
            yield due, node, published_by(node, published[node], command, wanted)
            published[node] += 1
            continue
        if isinstance(command, Subscribe):
            wanted.setdefault(node, {})[command.filter] = None
        elif isinstance(command, Unsubscribe):
            wanted.setdefault(node, {}).pop(command.filter, None)
        yield due, node, cast("Event", command)  # whoever plans a `Handling` has an agent that takes it


def published_by(
    node: NodeId, sequence: int, publication: Publication, wanted: Mapping[NodeId, Iterable[Filter]]
) -> Publish:
    """What a publisher is told, with the nodes that should get it: by these, metrics count what was missed."""
    notification = Notification(NotificationId(node, sequence), publication.attributes, publication.payload)
    wanting = (one for one, filters in wanted.items() if any(wish.matches(notification) for wish in filters))
    return Publish(notification, tuple(sorted(wanting)))


_TRACED: dict[type[Event], str] = {
    Subscribe: SUBSCRIBE,
    Unsubscribe: UNSUBSCRIBE,
    Detach: DETACH,
    Attach: ATTACH,
}
"""The name of each command's row."""


def trace_command(trace: TraceWriter, now: SimTime, node: NodeId, event: Event, roles: Role) -> None:
    """A row for the boot of the node, which has these roles, or for a command of its application."""
    match event:
        case Started():
            trace.add(TraceRow(now, node, ROLE, detail=format_roles(roles)))
        case Subscribe() | Unsubscribe():
            trace.add(TraceRow(now, node, _TRACED[type(event)], detail=str(event.filter)))
        case Detach() | Attach():
            trace.add(TraceRow(now, node, _TRACED[type(event)]))
        case Publish(notification, subscribers):
            trace.add(TraceRow(now, node, PUBLISH, None, str(notification.id), detail=node_list(subscribers)))


EVENT_OF_FAULT: dict[FaultKind, Event] = {
    FaultKind.CRASH: Crashed(),
    FaultKind.FREEZE: Stopped(),
    FaultKind.RECOVER: Recovered(),
}
"""The event by which an agent learns of each fault: before its node's links lose frames, and first at the instant.

Then come deliveries, what links have lost, and what is due: places in a given tree, commands, and timers.
"""

Handle = Callable[[NodeId, Event], None]


class FaultInjector:
    """The faults to come, and the nodes that are down; `call` has the agent handle an event, `handle` has the host.

    No delivery of a run without faults asks it anything: the event loop leaves it out there.
    """

    def __init__(
        self, faults: Sequence[Fault], queue: EventQueue, trace: TraceWriter, call: Handle, handle: Handle
    ) -> None:
        self.down: set[NodeId] = set()
        """The nodes that have crashed or are frozen."""
        self.waiting: dict[NodeId, list[tuple[int, Event]]] = {}
        """What fell due at each frozen node, with its number."""
        self.dead: set[NodeId] = set()
        """The nodes whose batteries are empty: none recovers."""
        self._to_come = deque(faults)
        self._queue = queue
        self._trace = trace
        self._call = call
        self._handle = handle

    def next_time(self) -> SimTime | None:
        """When the next fault is planned."""
        return self._to_come[0].at if self._to_come else None

    def happen(self) -> None:
        """Does what is planned for this instant."""
        while self._to_come and self._to_come[0].at == self._queue.now:
            fault = self._to_come.popleft()
            if fault.node in self.dead:
                continue
            self._trace.add(TraceRow(self._queue.now, fault.node, fault.kind.value))
            if fault.kind is FaultKind.RECOVER:
                self._recover(fault.node)
            else:
                self._fail(fault.node, crashed=fault.kind is FaultKind.CRASH)

    def die(self, node: NodeId) -> None:
        """Stop the agent and the application of a node without energy, as at a crash."""
        if node in self.dead:
            return
        self.dead.add(node)
        if node not in self.down:
            self._fail(node, crashed=True)
        self.waiting.pop(node, None)
        self._queue.cancel_timers(node)

    def report_failed_send(self, node: NodeId, failed: SendFailed) -> None:
        """The node is told, now or when it recovers; one that has crashed never is."""
        if node not in self.down:
            self._call(node, failed)
        elif node in self.waiting:
            self.waiting[node].append((self._queue.next_number(), failed))

    def _fail(self, node: NodeId, *, crashed: bool) -> None:
        """The agent is told first, so that it can forget what a crash loses; a node that is down sends nothing."""
        self.down.add(node)
        self._call(node, EVENT_OF_FAULT[FaultKind.CRASH if crashed else FaultKind.FREEZE])
        if crashed:
            self.waiting.pop(node, None)
            self._queue.cancel_timers(node)
        else:
            self.waiting[node] = []

    def _recover(self, node: NodeId) -> None:
        self.down.remove(node)
        waiting = self.waiting.pop(node, ())
        self._call(node, EVENT_OF_FAULT[FaultKind.RECOVER])
        for event in self._queue.still_alive(waiting):
            self._handle(node, event)
