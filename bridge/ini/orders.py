"""Reads SN.commands: what single applications do at some times, beside what the keys of their nodes say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby

from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.keys.key import declared_keys, path_of
from roambus.bridge.scenario.absences import Absence
from roambus.bridge.scenario.application import ApplicationSettings
from roambus.bridge.scenario.network import NetworkSettings
from roambus.bridge.scenario.node import NodeSettings
from roambus.bridge.scenario.plans import Order, away
from roambus.bridge.scenario.scenario import Command, Publication
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.roles import NodeId, Role

Done = Subscribe | Unsubscribe | Publication

_KEY = path_of(NetworkSettings, "commands")
_ROLES_KEY = declared_keys(NodeSettings)["roles"]
_FILTERS: dict[str, type[Subscribe | Unsubscribe]] = {"subscribe": Subscribe, "unsubscribe": Unsubscribe}
_ROLES = {"subscribe": Role.SUBSCRIBER, "publish": Role.PUBLISHER}
"""The role that a node must have for an order, because the trace tells roles at the start."""


def ordered_commands(keys: Lookup) -> list[Command]:
    """The commands of applications: filters, attributes and payload are the node's own. Raises UserError."""

    @cache  # a few nodes publish over and over
    def done(node: NodeId, verb: str) -> tuple[Done, ...]:
        return tuple(_done(keys, node, verb))

    orders = _orders(keys)
    return [Command(at, node, what) for at, node, (verb, *_) in orders for what in done(node, verb)]


def ordered_subscribers(keys: Lookup) -> set[NodeId]:
    """The nodes that subscribe when they are told, and not at Application.subscribeAt."""
    return {order.node for order in _orders(keys) if order.words[0] == "subscribe"}


def ordered_absences(keys: Lookup) -> list[Absence]:
    """The absences of all nodes, those of each in the order of time; raises UserError."""
    moving = [order for order in _orders(keys) if order.words[0] in ("detach", "attach")]
    found: list[Absence] = []
    for node, own in groupby(sorted(moving, key=lambda order: order.node), key=lambda order: order.node):
        try:
            found += [Absence(node, *one) for one in away((order.at, order.words) for order in own)]
        except ValueError as error:
            raise keys.error(_KEY, f"node {node}: {error}") from None
    return found


def _orders(keys: Lookup) -> tuple[Order, ...]:
    orders: tuple[Order, ...] = keys.network.commands
    for node, verb in dict.fromkeys((order.node, order.words[0]) for order in orders):
        if node not in keys.nodes:
            raise keys.error(_KEY, f"node {node} is none of the {len(keys.nodes)} nodes")
        role = _ROLES.get(verb, Role.NONE)
        if role not in keys.value(_ROLES_KEY, node):
            raise keys.error(_KEY, f"node {node} is no {(role.name or '').lower()}: give it that role")
    return orders


def _done(keys: Lookup, node: NodeId, verb: str) -> Iterator[Done]:
    """What a verb of an order is to the application of a node."""
    application = keys.build(ApplicationSettings, node)
    if verb == "publish":
        yield Publication(application.attributes, application.payload)
    elif verb in _FILTERS:
        yield from map(_FILTERS[verb], application.filters)
