"""The event queue of a run, the plan of its commands, and the fault injector.

Events of one instant are ordered by node, then by scheduling. Replaced or cancelled timers stay in the heap, marked by
number: skipping is faster than finding them. Commands are planned before the run, equally for every protocol; each
`Publish` names the interested nodes. Commands wait for boot. A crashed node publishes nothing and loses its timers;
other commands wait for recovery.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from random import Random
from typing import NamedTuple, cast

from roambus.bridge.backend import NodeInfo
from roambus.bridge.host.positions import Areas, follow, located, motion
from roambus.bridge.scenario.definition import TOPIC, Command, Follow, Publication, Publications, Scenario
from roambus.bridge.scenario.nodes import Handling
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.bridge.scenario.tree import OutagesByNode, outage_at, outages
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
    Sent,
    Started,
    Stopped,
    Subscribe,
    TimerFired,
    TimerKey,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.roles import NodeId, Role, format_roles
from roambus.python_protocol.simtime import SECOND, SimTime
from roambus.python_protocol.trace_rows import ATTACH, DETACH, PUBLISH, ROLE, SUBSCRIBE, UNSUBSCRIBE, node_list

Due = tuple[SimTime, NodeId, int, Event]
"""Time, node, scheduling number, and event."""


class EventQueue:
    """Due events of `nodes` nodes; `now` is the time of the current step."""

    def __init__(self, nodes: int) -> None:
        self.now: SimTime = 0
        self._due: list[Due] = []
        self._timers: list[dict[TimerKey, int]] = [{} for _ in range(nodes)]
        """The numbers of set timers."""
        self._dead: set[int] = set()
        """Numbers of replaced or cancelled events still in the heap."""
        self._last = 0

    def next_number(self) -> int:
        """The next scheduling number."""
        self._last += 1
        return self._last

    def schedule(self, time: SimTime, node: NodeId, event: Event) -> int:
        """Schedule the event for the node; return its number."""
        self._last += 1
        heappush(self._due, (time, node, self._last, event))
        return self._last

    def next_time(self) -> SimTime | None:
        """The time of the next event."""
        due, dead = self._due, self._dead
        while due and due[0][2] in dead:
            dead.remove(heappop(due)[2])
        return due[0][0] if due else None

    def take(self) -> Due:
        """Take the next event; `next_time` says if there is one."""
        return heappop(self._due)

    def set_timer(self, node: NodeId, key: TimerKey, time: SimTime) -> None:
        """Set the node's timer, replacing its earlier time."""
        timers = self._timers[node]
        replaced = timers.get(key)
        if replaced is not None:
            self._dead.add(replaced)
        timers[key] = self.schedule(time, node, TimerFired(key))

    def cancel_timer(self, node: NodeId, key: TimerKey) -> None:
        """Cancel the node's timer, if set."""
        cancelled = self._timers[node].pop(key, None)
        if cancelled is not None:
            self._dead.add(cancelled)

    def forget_timer(self, node: NodeId, key: TimerKey) -> None:
        """Forget the node's fired timer."""
        del self._timers[node][key]

    def cancel_timers(self, node: NodeId) -> None:
        """Cancel all timers of the node."""
        self._dead.update(self._timers[node].values())
        self._timers[node].clear()

    def still_alive(self, waiting: Iterable[tuple[int, Event]]) -> Iterable[Event]:
        """The events that waited outside the heap, each in turn, unless cancelled."""
        for number, event in waiting:
            if number in self._dead:
                self._dead.remove(number)
            else:
                yield event


TimedEvent = tuple[SimTime, NodeId, Event]


class _Planned(NamedTuple):
    """A command `due` at its node, executed then or on recovery."""

    carried_out: SimTime
    due: SimTime
    node: NodeId
    command: Subscribe | Unsubscribe | Detach | Attach | Publication | Handling | Follow


def commands(scenario: Scenario, nodes: Sequence[NodeInfo]) -> list[TimedEvent]:
    """Every command executed before the time limit, with its due time and node.

    A frozen node's command falls due, and waits on the event queue.
    """
    down = outages(scenario.faults)
    booted = (
        command
        for entry in _commands(scenario, nodes)
        for command in follow(scenario, entry._replace(at=max(entry.at, nodes[entry.node].start)))
    )
    planned = [plan for entry in booted if (plan := _plan(entry, down)) and plan.carried_out < scenario.time_limit]
    # In the order in which they are carried out: a publication is wanted by those who have subscribed by then.
    return list(_events(scenario, sorted(planned, key=lambda entry: entry[:3])))


def own_part(plan: Iterable[TimedEvent], node: NodeId, since: SimTime) -> Iterator[TimedEvent]:
    """The plan of one node, whose host started at `since`: later than the run after a death.

    A restarted agent gets all again but publishes nothing twice.
    """
    for due, whose, event in plan:
        if whose == node and (due >= since or not isinstance(event, Publish)):
            yield max(due, since), node, event


def _commands(scenario: Scenario, nodes: Sequence[NodeInfo]) -> Iterator[Command]:
    workload = scenario.workload
    for entry in workload.subscriptions:
        yield Command(entry.at, entry.node, Subscribe(entry.filter))
    for publications in workload.publications:
        drawn = _publications(publications, scenario.seed)
        placed = _placer(scenario, publications.node) if publications.placed else lambda publish, _: publish
        for at in _times(publications, scenario, nodes[publications.node].start):
            yield from (Command(at, publications.node, placed(next(drawn), at)) for _ in range(publications.burst))
    yield from workload.commands


def _placer(scenario: Scenario, node: NodeId) -> Callable[[Publication, SimTime], Publication]:
    """Return a function that adds the node's place (m) to a publication's attributes."""
    path = located(scenario)[node]

    def placed(publication: Publication, at: SimTime) -> Publication:
        (x, y), _ = motion(path, at / SECOND)
        attributes = {**dict(publication.attributes), "x": round(float(x), 1), "y": round(float(y), 1)}
        return Publication(tuple(sorted(attributes.items())), publication.payload)

    return placed


def _publications(publications: Publications, seed: int) -> Iterator[Publication]:
    """A publisher's endless publications; topics have a stream of their own."""
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
    """Publishing times: at the interval from the start or from the node's boot."""
    # Publishers that all start at once would collide forever: a phase of their own keeps them apart.
    phase = Random(f"publications/{scenario.seed}/{publications.node}").randrange(publications.interval)
    first = max(publications.start, boot) + phase
    return range(first, min(publications.until, scenario.time_limit), publications.interval)


def _plan(entry: Command, down: OutagesByNode) -> _Planned | None:
    at, node, command = entry
    outage = outage_at(down, node, at)
    if outage is None:
        return _Planned(at, at, node, command)
    if outage.end is None or (outage.crashed and isinstance(command, Publication)):
        return None
    return _Planned(outage.end, outage.end if outage.crashed else at, node, command)


def _events(scenario: Scenario, planned: Sequence[_Planned]) -> Iterator[TimedEvent]:
    """Number the publications and address them to the nodes interested at that time."""
    areas = Areas(scenario) if any(isinstance(entry.command, Follow) for entry in planned) else None
    wanted: dict[NodeId, dict[Filter, None]] = {}
    published: Counter[NodeId] = Counter()
    for at, due, node, command in planned:
        if isinstance(command, Publication):
            judged = areas.judged(wanted, at) if areas else wanted
            yield due, node, published_by(node, published[node], command, judged)
            published[node] += 1
            continue
        if isinstance(command, Subscribe):
            wanted.setdefault(node, {})[command.filter] = None
        elif isinstance(command, Unsubscribe):
            wanted.setdefault(node, {}).pop(command.filter, None)
        events = areas.events(at, node, command) if areas else (cast("Event", command),)
        yield from ((due, node, event) for event in events)  # whoever plans a `Handling` has an agent that takes it


def published_by(
    node: NodeId, sequence: int, publication: Publication, wanted: Mapping[NodeId, Iterable[Filter]]
) -> Publish:
    """A publisher's events, with the intended receivers, by which metrics count losses."""
    notification = Notification(NotificationId(node, sequence), publication.attributes, publication.payload)
    wanting = (
        subscriber
        for subscriber, filters in wanted.items()
        if any(filter_.matches(notification) for filter_ in filters)
    )
    return Publish(notification, tuple(sorted(wanting)))


_TRACED: dict[type[Event], str] = {
    Subscribe: SUBSCRIBE,
    Unsubscribe: UNSUBSCRIBE,
    Detach: DETACH,
    Attach: ATTACH,
}
"""The row name of each command."""


def trace_command(trace: TraceWriter, now: SimTime, node: NodeId, event: Event, roles: Role) -> None:
    """A row for the node's boot, with its roles, or for a command."""
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
"""The agent's event for each fault, first at its instant. Then come deliveries, losses and due events: tree places,
commands, timers."""

Handle = Callable[[NodeId, Event], None]


class FaultInjector:
    """Coming faults and nodes that are down; `call` runs the agent's handler, `handle` the host's.

    Unused in runs without faults.
    """

    def __init__(
        self, faults: Sequence[Fault], queue: EventQueue, trace: TraceWriter, call: Handle, handle: Handle
    ) -> None:
        self.down: set[NodeId] = set()
        """Crashed or frozen nodes."""
        self.waiting: dict[NodeId, list[tuple[int, Event]]] = {}
        """Each frozen node's due events, with their numbers."""
        self.dead: set[NodeId] = set()
        """Nodes with empty batteries, which never recover."""
        self._to_come = deque(faults)
        self._queue = queue
        self._trace = trace
        self._call = call
        self._handle = handle

    def next_time(self) -> SimTime | None:
        """The time of the next fault."""
        return self._to_come[0].at if self._to_come else None

    def happen(self) -> None:
        """Apply this instant's faults."""
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
        """Stop the agent and application of a node without energy, as at a crash."""
        if node in self.dead:
            return
        self.dead.add(node)
        if node not in self.down:
            self._fail(node, crashed=True)
        self.waiting.pop(node, None)
        self._queue.cancel_timers(node)

    def report(self, node: NodeId, outcome: SendFailed | Sent) -> None:
        """Report to the node now or on recovery; a crashed one never learns it."""
        if node not in self.down:
            self._call(node, outcome)
        elif node in self.waiting:
            self.waiting[node].append((self._queue.next_number(), outcome))

    def _fail(self, node: NodeId, *, crashed: bool) -> None:
        """Call the agent, which can no longer send, before a crash loses its state."""
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
