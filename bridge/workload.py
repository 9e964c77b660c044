"""The application's commands of a scenario, in the order of time: the same ones for every protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from bridge.backends.interface import NodeInfo
from bridge.scenario import Publications, Scenario, Subscription
from python_protocol.events import Publish, Subscribe
from python_protocol.filters import Notification, NotificationId
from python_protocol.roles import NodeId
from python_protocol.simtime import SimTime

Command = tuple[SimTime, NodeId, Subscribe | Publish]


def commands(scenario: Scenario, nodes: Sequence[NodeInfo]) -> list[Command]:
    """Every command before the time limit, with its time and node. A subscription waits until its node has booted."""
    subscriptions = [
        Subscription(entry.node, max(entry.at, nodes[entry.node].start), entry.filter)
        for entry in scenario.workload.subscriptions
    ]
    found: list[Command] = [(entry.at, entry.node, Subscribe(entry.filter)) for entry in subscriptions]
    for publications in scenario.workload.publications:
        until = min(publications.until, scenario.time_limit)
        published = replace(publications, until=until)
        found.extend(_publish_commands(published, subscriptions, scenario.seed, nodes[publications.node].start))
    return sorted(found, key=lambda command: command[:2])


def _publish_commands(
    publications: Publications, subscriptions: Sequence[Subscription], seed: int, boot: SimTime
) -> Iterator[Command]:
    matching = _matching(publications, subscriptions)
    for sequence, at in enumerate(_times(publications, seed, boot)):
        notification = _notification(publications, sequence)
        subscribers = {entry.node for entry in matching if entry.at <= at}
        yield at, publications.node, Publish(notification, tuple(sorted(subscribers)))


def _notification(publications: Publications, sequence: int) -> Notification:
    identifier = NotificationId(publications.node, sequence)
    return Notification(identifier, publications.attributes, publications.payload)


def _times(publications: Publications, seed: int, boot: SimTime) -> Iterator[SimTime]:
    # Publishers that all start at once would collide for ever: a phase of their own keeps them apart.
    phase = Random(f"publications/{seed}/{publications.node}").randrange(publications.interval)
    at = max(publications.start, boot) + phase
    while at < publications.until:
        yield at
        at += publications.interval


def _matching(publications: Publications, subscriptions: Sequence[Subscription]) -> list[Subscription]:
    """Those whose filter wants the publications: filters look at attributes, which all of them share."""
    notification = _notification(publications, 0)
    return [entry for entry in subscriptions if entry.filter.matches(notification)]
