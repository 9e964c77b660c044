"""The plan of a run's commands, made before it and equal for every protocol.

Each `Publish` names the interested nodes. Commands wait for boot. A crashed node publishes nothing; its other commands
wait for recovery.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple, cast

from roambus.bridge.backend import NodeInfo
from roambus.bridge.host.positions import Areas, follow, located
from roambus.bridge.host.topics import drawn_publications
from roambus.bridge.mobility.paths import motion
from roambus.bridge.scenario.definition import Command, Follow, Publication, Publications, Scenario
from roambus.bridge.scenario.nodes import Handling
from roambus.bridge.scenario.tree import OutagesByNode, outage_at, outages
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.python_protocol.actions import GoTo, Halt
from roambus.python_protocol.events import (
    Attach,
    Detach,
    Event,
    Publish,
    Started,
    Subscribe,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.roles import NodeId, Role, format_roles
from roambus.python_protocol.simtime import SECOND, SimTime
from roambus.python_protocol.trace_rows import ATTACH, DETACH, PUBLISH, ROLE, SUBSCRIBE, UNSUBSCRIBE, node_list

TimedEvent = tuple[SimTime, NodeId, Event]


class _Planned(NamedTuple):
    """A command `due` at its node, executed then or on recovery."""

    carried_out: SimTime
    due: SimTime
    node: NodeId
    command: Subscribe | Unsubscribe | Detach | Attach | Publication | Handling | Follow | GoTo | Halt


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
        drawn = drawn_publications(publications, scenario.seed)
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
