"""The application's commands of a scenario, in the order of time: the same ones for every protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from bridge.backends.interface import NodeInfo
from bridge.scenario import Command, Publication, Publications, Scenario
from python_protocol.events import Publish, Subscribe, Unsubscribe
from python_protocol.filters import Filter, Notification, NotificationId
from python_protocol.roles import NodeId
from python_protocol.simtime import SimTime

TimedEvent = tuple[SimTime, NodeId, Subscribe | Unsubscribe | Publish]


def commands(scenario: Scenario, nodes: Sequence[NodeInfo]) -> list[TimedEvent]:
    """Every command before the time limit, with its time and node. A command waits until its node has booted."""
    workload = scenario.workload
    planned = [Command(entry.at, entry.node, Subscribe(entry.filter)) for entry in workload.subscriptions]
    for publications in workload.publications:
        planned += _publish_commands(publications, scenario, nodes[publications.node].start)
    booted = [(max(at, nodes[node].start), node, command) for at, node, command in (*planned, *workload.commands)]
    return list(_events(sorted((entry for entry in booted if entry[0] < scenario.time_limit), key=lambda one: one[:2])))


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


def _events(planned: Sequence[tuple[SimTime, NodeId, Subscribe | Unsubscribe | Publication]]) -> Iterator[TimedEvent]:
    """Numbers the publications, and addresses them to those who want them at that time."""
    wanted: dict[NodeId, dict[Filter, None]] = {}
    published: Counter[NodeId] = Counter()
    for at, node, command in planned:
        if isinstance(command, Publication):
            identifier = NotificationId(node, published[node])
            published[node] += 1
            notification = Notification(identifier, command.attributes, command.payload)
            yield at, node, Publish(notification, _subscribers(notification, wanted))
            continue
        filters = wanted.setdefault(node, {})
        if isinstance(command, Subscribe):
            filters[command.filter] = None
        else:
            filters.pop(command.filter, None)
        yield at, node, command


def _subscribers(notification: Notification, wanted: Mapping[NodeId, Mapping[Filter, None]]) -> tuple[NodeId, ...]:
    return tuple(sorted(node for node, filters in wanted.items() if any(one.matches(notification) for one in filters)))
