"""SN.commands: what the applications of the nodes do, one by one, beside what the keys of each node say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from bridge.absences import Absence
from bridge.ini.lookup import Lookup
from bridge.ini.plans import Order, away
from bridge.scenario import Command, Publication
from python_protocol.events import Subscribe, Unsubscribe
from python_protocol.roles import NodeId, Role

_KEY = "SN.commands"
_FILTERS: dict[str, type[Subscribe | Unsubscribe]] = {"subscribe": Subscribe, "unsubscribe": Unsubscribe}
_ROLES = {"subscribe": Role.SUBSCRIBER, "publish": Role.PUBLISHER}
"""What a node has to be for that; the trace tells roles at the start."""


def ordered_commands(keys: Lookup) -> list[Command]:
    """Subscriptions and unsubscriptions with the node's own filters, publications of its own attributes and payload.

    Raises UserError.
    """
    return [command for order in _orders(keys) for command in _commands(keys, order)]


def ordered_subscribers(keys: Lookup) -> set[NodeId]:
    """Those that subscribe when they are told, and not at Application.subscribeAt."""
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
    orders: tuple[Order, ...] = keys.network("commands")
    for order in orders:
        if order.node not in keys.nodes:
            raise keys.error(_KEY, f"node {order.node} is none of the {len(keys.nodes)} nodes")
        role = _ROLES.get(order.words[0], Role.NONE)
        if role not in keys.node(order.node, "Application.roles"):
            raise keys.error(_KEY, f"node {order.node} is no {(role.name or '').lower()}: give it that role")
    return orders


def _commands(keys: Lookup, order: Order) -> Iterator[Command]:
    at, node, (verb, *_) = order
    if verb == "publish":
        attributes, payload = (keys.node(node, f"Application.{name}") for name in ("attributes", "payload"))
        yield Command(at, node, Publication(attributes, payload))
    elif verb in _FILTERS:
        yield from (Command(at, node, _FILTERS[verb](one)) for one in keys.node(node, "Application.filter"))
