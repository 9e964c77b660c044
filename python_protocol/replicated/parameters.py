"""The parameters of the replicated brokers; their paper gives no values."""

from __future__ import annotations

from roambus.python_protocol.parameters import Parameters, parameter
from roambus.python_protocol.simtime import MILLISECOND, SimTime

FLOODING, FILTERING = "flooding", "filtering"
NONE, FIFO, TOTAL = "none", "fifo", "total"


class ReplicatedParameters(Parameters):
    """What can be set for brokers and clients."""

    routing: str = parameter(
        FILTERING,
        choices=(FLOODING, FILTERING),
        source="the paper on replicated brokers, section 4",
        doc="flooding: events go to every site; filtering: only towards sites with a subscriber for them",
    )
    order: str = parameter(
        FIFO,
        choices=(NONE, FIFO, TOTAL),
        source="the paper on replicated brokers, section 5",
        doc="in which order subscribers get events: none, fifo (that of each publisher) or total (the root's)",
    )
    renumber: bool = parameter(
        True,
        source="the paper on replicated brokers, section 5.1; section 7 has the implementation without",
        doc="events are numbered for each neighbour; false: sites that an event does not go to get an UPDATE",
    )
    time_out: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        above=0,
        source="reasoned: far above the few ms that a reply takes over links of 1 ms",
        doc="shortest wait for a reply before the question whether the other is alive; for its answer twice as long",
    )
    piece_size: int = parameter(
        60_000,
        unit="bytes",
        at_least=1,
        at_most=65_000,
        source="reasoned: a message has at most 65535 bytes",
        doc="longest part of a copy of a site's state that goes in one message",
    )
    follow_delays: bool = parameter(
        True,
        source='the paper on replicated brokers, section 8: "an infinite loop of message exchanging"',
        doc="waits grow with the delays that a node measures; false: each is time_out, which may be below the delay",
    )
