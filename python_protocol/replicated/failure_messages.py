"""Who is alive and who leads, among brokers and clients (the paper on replicated brokers, sections 6.2 to 6.9).

The leaders of a site are counted: each has a term, and a later term is a newer leader. How far a copy of the site's
state has come is told by a point, which is what brokers compare when one of them takes over.
"""

from __future__ import annotations

from typing import NamedTuple

from roambus.python_protocol.messages.fields import U32
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.roles import BrokerId

Term = U32
"""Of a leader; the broker at place t mod 3 leads in term t."""


class Point(NamedTuple):
    """How far a copy of a site's state has come: steps taken, the last of them under the leader of `term`.

    The greater of two points is the newer copy.
    """

    term: Term
    step: U32

    def describe(self, names: Names) -> str:  # it names nobody
        """The point as transcripts write it: "0.3"."""
        return f"{self.term}.{self.step}"


class AreYouAlive(Message, tag=6, name="ARE_YOU_ALIVE"):
    """A reply has not come in time (section 6.4)."""


class IAmAlive(Message, tag=7, name="I_AM_ALIVE"):
    """The answer, with the term in which the broker last took part."""

    term: Term


class AssumedDead(Message, tag=8, name="ASSUMED_DEAD", notation="{broker}"):
    """Tells the other brokers of its site that `broker` does not answer (section 6.4)."""

    broker: BrokerId


class OfPoint(Message, notation="term={term} from {point}"):
    """A term that begins, and the point of a copy."""

    term: Term
    point: Point


class IAmLeader(OfPoint, tag=9, name="I_AM_LEADER"):
    """A new leader, to the brokers of its site and to the leaders of the neighbours (sections 6.6 and 6.8).

    It goes on from the copy at the point: a replica that has come to just that point follows.
    """


class Leader(Message, tag=10, notation="{broker} term={term}"):
    """`broker` leads its site since `term`: to one's replicas (section 6.9), and to who asks the wrong broker."""

    broker: BrokerId
    term: Term
