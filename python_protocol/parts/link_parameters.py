"""The parameters of the link layer."""

from __future__ import annotations

from roambus.python_protocol.parameters import Parameters, parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime


class LinkParameters(Parameters):
    """What the parameters of an agent inherit if it uses the link layer."""

    link_time_out: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="reasoned: 4 ms on the air, and CSMA back-offs of at most 16 and 32 ms for each of the two frames",
        above=0,
        doc="pause before the first retransmission, until delays have been measured",
    )
    link_time_out_min: SimTime = parameter(
        40 * MILLISECOND,
        unit="s",
        source="reasoned: 4 ms on the air, and one CSMA back-off of at most 16 ms for each of the two frames",
        above=0,
        doc="shortest pause before a retransmission",
    )
    link_time_out_max: SimTime = parameter(
        1 * SECOND,
        unit="s",
        source="reasoned: what has not arrived within a second will find its neighbour gone",
        above=0,
        doc="longest pause before a retransmission, without its jitter",
    )
    link_jitter: float = parameter(
        0.5,
        source="reasoned: two senders that collided draw from pauses several frames apart",
        at_least=0,
        doc="a pause is stretched by a factor drawn uniformly from 1 to 1 + jitter",
    )
    link_retry_limit: int = parameter(
        3,
        source="IEEE 802.15.4, macMaxFrameRetries",
        at_least=0,
        doc="retransmissions of a message before its neighbour is given up",
    )
    link_queue_limit: int = parameter(
        64,
        source="reasoned: twice the 32 frames of the MAC's queue",
        at_least=1,
        doc="messages that may wait for one neighbour",
    )
