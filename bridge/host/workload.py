"""The application's commands of a scenario, in the order of time: the same ones for every protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple, cast

from roambus.bridge.backends.interface import NodeInfo
from roambus.bridge.scenario.faults import Outages, outage_at, outages
from roambus.bridge.scenario.hands import Handling
from roambus.bridge.scenario.scenario import Command, Publication, Publications, Scenario
from roambus.python_protocol.events import Attach, Detach, Event, Publish, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

TimedEvent = tuple[SimTime, NodeId, Event]


class _Planned(NamedTuple):
    """A command that falls `due` at its node, and is carried out then, or when the node thaws."""

    carried_out: SimTime
    due: SimTime
    node: NodeId
    command: Subscribe | Unsubscribe | Detach | Attach | Publication | Handling


def commands(scenario: Scenario, nodes: Sequence[NodeInfo]) -> list[TimedEvent]:
    """Every command that is carried out before the time limit, with the time at which it falls due, and its node.

    A command waits until its node has booted. While the node has crashed nothing is published, and all other commands
    wait until it recovers, in their order.
    """
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


def _plan(entry: Command, down: Outages) -> _Planned | None:
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
