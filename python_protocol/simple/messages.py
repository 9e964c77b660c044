"""The messages of Simple Routing (the thesis, table 2.1), beside the PUB of the family."""

from __future__ import annotations

from roambus.python_protocol.filters import Filter
from roambus.python_protocol.messages.message import Message


class Sub(Message, tag=1, notation="{filter}"):
    """(SUB, f): somebody subscribes to f."""

    filter: Filter


class Uns(Message, tag=2, notation="{filter}"):
    """(UNS, f): somebody unsubscribes from f."""

    filter: Filter
