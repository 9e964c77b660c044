"""The heartbeat of the election: the message, the parameters, time-outs, and the time to settle.

The smaller, older leadership wins. The time-out adapts within bounds to the gaps between rounds, and is random, so that
not all brokers lead at once.
"""

from __future__ import annotations

from random import Random
from typing import Annotated, NamedTuple

from roambus.python_protocol.messages.fields import U8, U32, Integer, Maybe, Names
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import DelayEstimate
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

MAX_HOPS = 0xFF
"""The greatest number of hops in a heartbeat."""


_NO_PARENT = 0xFFFE


_SPREAD = 1 / 4
"""The random share of a time-out, so that not all brokers lead at once."""


class Leadership(NamedTuple):
    """The name of a leadership; `started` is in ms by the leader's clock."""

    started: U32
    leader: NodeId


NO_LEADERSHIP = Leadership(0xFFFFFFFF, 0xFFFF)
"""The leadership of a node without a leader; every other is older."""


class Heartbeat(Message, tag=0x42):
    """A round's heartbeat: hops from the leader to the sender, the sender's parent and role."""

    leadership: Leadership
    round: U32
    hops: U8
    parent: Annotated[NodeId | None, Maybe(Integer("H"), _NO_PARENT)]
    is_broker: bool

    def describe(self, names: Names) -> str:
        """The heartbeat as in "HEARTBEAT leader=b1 since=2839ms round=4 hops=1 parent=b1 broker"."""
        leader = f"leader={names.node(self.leadership.leader)} since={self.leadership.started}ms"
        place = f"round={self.round} hops={self.hops} parent={names.node(self.parent)}"
        return f"HEARTBEAT {leader} {place}{' broker' if self.is_broker else ''}"


class ElectionParameters(Parameters):
    """Parameters of an agent that uses the election."""

    heartbeat_interval: SimTime = parameter(
        SECOND,
        unit="s",
        source="reasoned: changes must be noticed quickly (the thesis, section 4.5), as by the hellos of AODV",
        above=0,
        doc="time from one round to the next",
    )
    relay_jitter: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="reasoned: room for 25 neighbours' frames of 1.3 ms at a third of the channel",
        at_least=0,
        doc="a heartbeat is broadcast on after a delay drawn uniformly up to this",
    )
    sticky_parent: bool = parameter(
        True,
        source="reasoned: on a contended channel the first copy's sender changes without any movement",
        doc="keep a parent whose copies have no more hops than the best; the thesis' text does not",
    )
    weak_signal_dbm: float = parameter(
        -87.0,
        unit="dBm",
        source="reasoned: a CC2420 loses a tenth of the frames of 127 bytes at 9.5 dB over its noise floor; 3 dB for "
        "interference (compare the gray zones of Lundgren et al., 2002)",
        doc="a weaker copy makes its sender a parent only if there is no stronger one; a parent may become weaker",
    )
    parent_window: SimTime = parameter(
        SECOND // 2,
        unit="s",
        source="reasoned: half a round, five relays deep",
        at_least=0,
        doc="time after a round's first copy at which a sticky parent is compared with the best of the round",
    )
    allowed_heartbeat_loss: int = parameter(
        2,
        source="RFC 3561, section 10, ALLOWED_HELLO_LOSS",
        at_least=0,
        doc="rounds in a row that a neighbour may miss; with one more it counts as gone",
    )
    leader_time_out_min: SimTime = parameter(
        2500 * MILLISECOND,
        unit="s",
        source="reasoned: two rounds lost, and half a round for relays",
        above=0,
        doc="lower bound of the adaptive time-out for the leader, and its first value",
    )
    leader_time_out_max: SimTime = parameter(
        5 * SECOND,
        unit="s",
        source="reasoned: twice the lower bound",
        above=0,
        doc="upper bound of the adaptive time-out for the leader",
    )
    exclusion: SimTime = parameter(
        3 * SECOND,
        unit="s",
        source="reasoned: three rounds, as for a neighbour that is silent (compare the blacklist of RFC 3561, 6.8)",
        at_least=0,
        doc="time for which a neighbour that the link layer gave up cannot become a parent",
    )


class GapEstimate:
    """A bound of the gaps between rounds: the adaptive time-out."""

    def __init__(self, parameters: ElectionParameters) -> None:
        self._parameters = parameters
        self._gap = DelayEstimate(parameters.heartbeat_interval, 0)
        self._last: SimTime | None = None

    def heard(self, now: SimTime) -> None:
        """Take the time of a round's first copy."""
        if self._last is not None:
            self._gap.sample(now - self._last)
        self._last = now

    def interrupted(self) -> None:
        """Omit the time until another leader's first round."""
        self._last = None

    def time_out(self, random: Random) -> SimTime:
        """Draw the time-out to set now."""
        bound = max(self._gap.bound(), self._parameters.leader_time_out_min)
        return round(min(bound, self._parameters.leader_time_out_max) * (1 + _SPREAD * random.random()))
