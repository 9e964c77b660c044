"""The subscription table ST of a broker, coverage, and messages (sections 3.1, 3.2 and 4).

Constraints are compared in pairs; unsure answers cost a needless message. Forwarded filters are stored: derived again,
they could differ. SUB and UNS are those of Simple Routing. A REQUEST's route grows by each broker; a RESPONSE's loses
each node. The client comes last.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from math import dist
from typing import Annotated, Any

from roambus.python_protocol.agent import Listing, by_first_column
from roambus.python_protocol.brokers.broker import Hops
from roambus.python_protocol.filters import Constraint, Filter, Notification, NotificationId, Operator, Value, circle
from roambus.python_protocol.messages.fields import U16, Integer, LongTuple, Maybe, Names, Repeated, listed
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId

_Compare = Callable[[Any, Any], bool]
_UPPER = {Operator.LESS, Operator.LESS_OR_EQUAL}
_LOWER = {Operator.GREATER, Operator.GREATER_OR_EQUAL}
_STRICT = {Operator.LESS, Operator.GREATER}
_IMPLIED: dict[tuple[Operator, Operator], _Compare] = {
    (Operator.NOT_EQUAL, Operator.NOT_EQUAL): operator.eq,
    (Operator.LESS, Operator.NOT_EQUAL): operator.le,
    (Operator.LESS_OR_EQUAL, Operator.NOT_EQUAL): operator.lt,
    (Operator.GREATER, Operator.NOT_EQUAL): operator.ge,
    (Operator.GREATER_OR_EQUAL, Operator.NOT_EQUAL): operator.gt,
    (Operator.LESS, Operator.LESS): operator.le,
    (Operator.LESS_OR_EQUAL, Operator.LESS): operator.lt,
    (Operator.LESS, Operator.LESS_OR_EQUAL): operator.le,
    (Operator.LESS_OR_EQUAL, Operator.LESS_OR_EQUAL): operator.le,
    (Operator.GREATER, Operator.GREATER): operator.ge,
    (Operator.GREATER_OR_EQUAL, Operator.GREATER): operator.gt,
    (Operator.GREATER, Operator.GREATER_OR_EQUAL): operator.ge,
    (Operator.GREATER_OR_EQUAL, Operator.GREATER_OR_EQUAL): operator.ge,
}
"""A constraint of the first kind implies the second if operands compare so."""


class SubscriptionTable:
    """ST: distinct (f, z), z a client or broker."""

    def __init__(self) -> None:
        self._interfaces: dict[Filter, dict[NodeId, None]] = {}
        self._sent: dict[NodeId, dict[Filter, None]] = {}
        """The filters forwarded to each neighbour."""

    def __iter__(self) -> Iterator[tuple[Filter, NodeId]]:
        return ((wanted, z) for wanted, interfaces in self._interfaces.items() for z in interfaces)

    def add(self, wanted: Filter, interface: NodeId) -> None:
        """Enters (f, z), unless it is there."""
        self._interfaces.setdefault(wanted, {})[interface] = None

    def remove(self, unwanted: Filter, interface: NodeId) -> None:
        """Removes (f, z), if it is there."""
        interfaces = self._interfaces.get(unwanted, {})
        interfaces.pop(interface, None)
        if not interfaces:
            self._interfaces.pop(unwanted, None)

    def remove_interface(self, interface: NodeId) -> None:
        """Remove an interface's (f, z) and forwarded filters."""
        for wanted in [wanted for wanted, z in self if z == interface]:
            self.remove(wanted, interface)
        self._sent.pop(interface, None)

    def matching(self, notification: Notification) -> list[NodeId]:
        """The different z of each (f, z) with f(e)."""
        return list(dict.fromkeys(self.wanting(notification)))

    def wanting(self, notification: Notification) -> Iterator[NodeId]:
        """Iterate over the z of each (f, z) with f(e)."""
        for wanted, interfaces in self._interfaces.items():
            if wanted.matches(notification):
                yield from interfaces

    def overlapping(self, filters: Iterable[Filter]) -> list[NodeId]:
        """Return the different z with filters that may overlap `filters`."""
        asked = tuple(filters)
        found = (its for wanted, its in self._interfaces.items() if any(overlap(wanted, filter_) for filter_ in asked))
        return list(dict.fromkeys(itertools.chain.from_iterable(found)))

    def tell(self, neighbour: NodeId) -> tuple[tuple[Filter, ...], tuple[Filter, ...]]:
        """Return and record filters to forward to a neighbour and to withdraw, in this order.

        It must know a cover of every other filter; needless ones stay until unsubscribed.
        """
        # It needs to know of what anybody else wants, and of its own subscriptions only through others that have them.
        sent = self._sent.setdefault(neighbour, {})
        needed = [wanted for wanted, interfaces in self._interfaces.items() if interfaces.keys() != {neighbour}]
        withdrawn = tuple(filter_ for filter_ in sent if filter_ not in needed)
        for filter_ in withdrawn:
            del sent[filter_]
        new = tuple(widest(filter_ for filter_ in needed if not any(covers(known, filter_) for known in sent)))
        sent.update(dict.fromkeys(new))
        return new, withdrawn

    def listing(self, broker: NodeId, names: Names) -> Listing:
        """ST of a broker, as in figure 1."""
        rows = ((names.filter(wanted), names.interface(z, broker)) for wanted, z in self)
        return by_first_column(("Filter", "Interface"), rows)


def covers(wide: Filter, narrow: Filter) -> bool:
    """Whether `wide` surely matches all of `narrow` (section 3.1)."""
    return all(any(_implies(known, asked) for known in narrow.constraints) for asked in wide.constraints)


def overlap(left: Filter, right: Filter) -> bool:
    """Whether a notification may match both; False only if surely none does."""
    return not any(_exclude(a, b) for a in left.constraints for b in right.constraints)


def widest(filters: Iterable[Filter]) -> list[Filter]:
    """Return the uncovered filters, of equivalent ones the first."""
    found: list[Filter] = []
    for candidate in filters:
        if not any(covers(wider, candidate) for wider in found):
            found = [wider for wider in found if not covers(candidate, wider)]
            found.append(candidate)
    return found


def _implies(known: Constraint, asked: Constraint) -> bool:
    """Whether one constraint implies the other, by these two alone."""
    if known.attribute != asked.attribute:
        return False
    is_implied = _are_alike(known.operand, asked.operand) and _implies_alike(known, asked)
    return asked.operator is Operator.EXISTS or is_implied


def _implies_alike(known: Constraint, asked: Constraint) -> bool:
    """Whether a constraint implies another of texts or of numbers."""
    if Operator.PREFIX in (known.operator, asked.operator) and not isinstance(known.operand, str):
        return False
    if known.operator is Operator.EQUAL:
        return asked.matches({asked.attribute: known.operand})
    if known.operator is Operator.PREFIX:
        return _prefix_implies(str(known.operand), asked)
    if known.operator is asked.operator is Operator.WITHIN:
        return _contains(circle(asked.operand), circle(known.operand))
    compare = _IMPLIED.get((known.operator, asked.operator))
    return compare is not None and compare(known.operand, asked.operand)


def _contains(outer: tuple[float, float, float] | None, inner: tuple[float, float, float] | None) -> bool:
    """Whether every place of the second circle is in the first; without a circle there is none."""
    return inner is None or (outer is not None and dist(outer[1:], inner[1:]) + inner[0] <= outer[0])


def _prefix_implies(prefix: str, asked: Constraint) -> bool:
    other = str(asked.operand)
    if asked.operator is Operator.NOT_EQUAL:
        return not other.startswith(prefix)
    return asked.operator is Operator.PREFIX and prefix.startswith(other)


def _exclude(a: Constraint, b: Constraint) -> bool:
    """Whether no value satisfies both."""
    if a.attribute != b.attribute or Operator.EXISTS in (a.operator, b.operator):
        return False
    # A text satisfies `!= 3`, and nothing else about numbers.
    if not _are_alike(a.operand, b.operand):
        return Operator.NOT_EQUAL not in (a.operator, b.operator)
    if Operator.PREFIX in (a.operator, b.operator) and not isinstance(a.operand, str):
        return False
    # With an equality there is one value left to try, whatever the other asks.
    for constraint, other in ((a, b), (b, a)):
        if constraint.operator is Operator.EQUAL:
            return not other.matches({other.attribute: constraint.operand})
    return _ranges_exclude(a, b) or _ranges_exclude(b, a) or _prefixes_exclude(a, b)


def _ranges_exclude(low: Constraint, high: Constraint) -> bool:
    """Whether an upward range begins behind a downward one's end."""
    if low.operator not in _LOWER or high.operator not in _UPPER:
        return False
    compare: _Compare = operator.gt if _STRICT.isdisjoint((low.operator, high.operator)) else operator.ge
    return compare(low.operand, high.operand)


def _prefixes_exclude(a: Constraint, b: Constraint) -> bool:
    """Whether two prefixes are of different texts."""
    if not a.operator is b.operator is Operator.PREFIX:
        return False
    prefix, other_prefix = str(a.operand), str(b.operand)
    return not (prefix.startswith(other_prefix) or other_prefix.startswith(prefix))


def _are_alike(left: Value, right: Value) -> bool:
    """Whether both are texts, or both numbers."""
    return isinstance(left, str) == isinstance(right, str)


class _Path(Repeated):
    """A route: brokers, and a client at the end."""

    def show(self, value: tuple[NodeId, ...], names: Names) -> str:
        """In brackets, separated by blanks."""
        return listed([*map(names.broker, value[:-1]), *map(names.subscriber, value[-1:])])


_PATH = _Path(Integer("H"))
Route = Annotated[tuple[NodeId, ...], _PATH]
"""Nodes in the order of a message's way."""
Somebody = Annotated[NodeId | None, Maybe(Integer("H"), BROADCAST)]
"""A node, or none: a number that no node has."""
Number = U16
"""A client's count of its requests, modulo NUMBERS."""
NUMBERS = 1 << 16


class Request(Message, tag=4):
    """A client asks for old messages, detaches (`client` alone), or returns (`client` and `broker`)."""

    number: Number
    client: Somebody = None
    broker: Somebody = None
    filters: tuple[Filter, ...] = ()
    route: Route = ()
    answered: LongTuple[NotificationId] = ()
    """Identifiers responded on the way (section 5, the proactive mechanism)."""

    @property
    def is_detachment(self) -> bool:
        """Whether the client is about to leave (section 4)."""
        return self.client is not None and self.broker is None

    def describe(self, names: Names) -> str:
        """REQUEST [f1] path=[b5 s1] ids=[e1]; REQUEST s1 detaches; REQUEST [f1] s1 from b1 path=[b3 s1]."""
        if self.is_detachment:
            return f"REQUEST {names.subscriber(self.client)} detaches"
        back = f" {names.subscriber(self.client)} from {names.broker(self.broker)}" if self.client is not None else ""
        answered = f" ids={listed(event_id.describe(names) for event_id in self.answered)}" if self.answered else ""
        return f"REQUEST {names.filters(self.filters)}{back} path={_PATH.show(self.route, names)}{answered}"


class Response(Message, tag=5, notation="{notification} path={route} {kept} hops={hops}"):
    """An old message, or one `kept` for a moving client."""

    number: Number
    """That of the request."""
    kept: bool
    hops: Hops
    """Radio hops since the cache, including its own."""
    route: Route
    notification: Notification
