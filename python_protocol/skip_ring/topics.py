"""Which ring a filter or a notification belongs to (the skip ring's paper, section 4).

A topic is the x of the constraint `topic = x`. Further constraints of a filter are the subscriber's own: it delivers
what they match. With `one_topic` there is one ring for everybody, and every constraint is the subscriber's own.
"""

from __future__ import annotations

from roambus.python_protocol.filters import Filter, Notification, Operator
from roambus.python_protocol.skip_ring.messages import Topic

TOPIC = "topic"
"""The attribute that names the topic."""
EVERYTHING: Topic = ""
"""The one topic of `one_topic`."""

_HINT = "or set the parameter one_topic=true, which makes one ring for everybody"


def topic_of_filter(wanted: Filter, *, one_topic: bool) -> Topic:
    """The topic of a filter; raises ValueError for one that names none."""
    if one_topic:
        return EVERYTHING
    for constraint in wanted.constraints:
        if constraint.attribute == TOPIC and constraint.operator is Operator.EQUAL:
            return constraint.operand
    raise ValueError(f"the filter {{{wanted}}} names no topic: write one such as topic = 1, {_HINT}")


def topic_of(publication: Notification, *, one_topic: bool) -> Topic:
    """The topic of a notification; raises ValueError for one that has none."""
    if one_topic:
        return EVERYTHING
    for name, value in publication.attributes:
        if name == TOPIC:
            return value
    raise ValueError(f"notification {publication.id} has no attribute topic: give it one such as topic = 1, {_HINT}")
