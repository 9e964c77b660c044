"""The workload of a scenario: what the applications subscribe to, what they publish, and what they do besides."""

from __future__ import annotations

from collections.abc import Sequence

from roambus.bridge.ini.links import read_absences
from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.ini.orders import ordered_commands, ordered_subscribers
from roambus.bridge.scenario.absences import absence_commands
from roambus.bridge.scenario.application import ApplicationSettings
from roambus.bridge.scenario.node import NodeSettings
from roambus.bridge.scenario.scenario import Publications, Subscription, Workload
from roambus.python_protocol.filters import addressed_to
from roambus.python_protocol.roles import NodeId, Role


def read_workload(keys: Lookup, nodes: Sequence[NodeSettings]) -> Workload:
    """What the applications do, by the roles of their nodes; raises UserError."""
    applications = {node: keys.build(ApplicationSettings, node) for node in keys.nodes}
    ordered = ordered_subscribers(keys)
    subscribing = {
        node: one for node, one in applications.items() if Role.SUBSCRIBER in nodes[node].roles and node not in ordered
    }
    publishing = {
        node: one for node, one in applications.items() if Role.PUBLISHER in nodes[node].roles and one.publish_interval
    }
    subscriptions = [
        Subscription(node, one.subscribe_at, wanted) for node, one in subscribing.items() for wanted in one.filters
    ]
    subscriptions += [
        Subscription(node, one.subscribe_at, addressed_to(node)) for node, one in applications.items() if one.unicast
    ]
    commands = (*ordered_commands(keys), *absence_commands(read_absences(keys)))
    return Workload(tuple(subscriptions), tuple(_publications(*one) for one in publishing.items()), commands)


def _publications(node: NodeId, application: ApplicationSettings) -> Publications:
    return Publications(
        node=node,
        start=application.publish_start,
        until=application.publish_until,
        interval=application.publish_interval,
        attributes=application.attributes,
        payload=application.payload,
    )
