"""What of a broker's state a transcript can show."""

from __future__ import annotations

from collections.abc import Mapping

from roambus.python_protocol.listing import Listing, by_first_column
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.replicated.broker import Broker


def broker_listings(broker: Broker, names: Names) -> Mapping[str, Listing]:
    """The routing tables, who leads, and what has not been accepted yet."""
    return {"table": _table(broker, names), "leader": _leaders(broker, names), "unaccepted": _unaccepted(broker, names)}


def _table(broker: Broker, names: Names) -> Listing:
    rows = (
        (names.filter(one), names.node(peer), str(times))
        for peer, wanted in broker.replica.state.wanted.items()
        for one, times in wanted.filters.items()
    )
    return by_first_column(("Filter", "Towards", "Times"), rows)


def _leaders(broker: Broker, names: Names) -> Listing:
    own = (names.node(broker.brokers[0]), names.node(broker.replica.leader), str(broker.replica.term))
    neighbours = broker.neighbours
    others = (
        (names.node(peer), names.node(neighbours.leader(peer)), str(term)) for peer, term in neighbours.terms.items()
    )
    return Listing(("Site", "Leader", "Term"), (own, *others))


def _unaccepted(broker: Broker, names: Names) -> Listing:
    rows = (
        (names.node(peer), message.message_type, message.key.describe(names))
        for peer, message in broker.replica.state.unaccepted()
    )
    return by_first_column(("To", "Message", "Number"), rows)
