"""The parameters of the skip ring: who the supervisor is, how long a round lasts, and what is done to the letter."""

from __future__ import annotations

from roambus.python_protocol.parameters import Parameters, parameter
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

MAX_KEY_BITS = 128
"""A key is cut from a hash of so many bits."""


class SkipRingParameters(Parameters):
    """What can be set."""

    supervisor: NodeId = parameter(
        0,
        source="the skip ring's paper, section 1.1: every node knows the supervisor, and that is read-only",
        at_least=0,
        at_most=BROADCAST - 2,
        doc="the node of the supervisor; it has the role broker",
    )
    round: SimTime = parameter(
        SECOND,
        unit="s",
        source="the skip ring's paper, section 1.1: Timeout is periodic; no value",
        above=0,
        doc="between two calls of Timeout",
    )
    jitter: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="the skip ring's paper, section 1.1: asynchronous computations",
        at_least=0,
        doc="a round lasts between half of it less and half of it more, uniformly; below twice the round",
    )
    sparse_requests: bool = parameter(
        True,
        source="the skip ring's paper, lemma of section 3.2.1, which the letter misses: two labels have one bit",
        doc="action (ii) counts a bit more than the label has; false: to the letter",
    )
    check_labels: bool = parameter(
        True,
        source="the skip ring's paper, sections 2.2 and 3.2.2, by which false labels go to and fro",
        doc="labels are checked whenever references are delegated; false: to the letter, at introductions only",
    )
    ask_first: bool = parameter(
        True,
        source="mends the skip ring's paper, section 3.2.1, action (iii), and section 4.1, lemma on unsubscribe",
        doc="the supervisor records nobody for another's request, but asks whether it wants to be in the ring; false: "
        "to the letter, by which who has left can be recorded again for ever",
    )
    doubt_silence: bool = parameter(
        True,
        source="mends the skip ring's paper, section 3.3, by which one failure detector is enough",
        doc="action (iv) is also for who has not heard from its left neighbour for some rounds; false: to the letter, "
        "by which who is not recorded may never ask if that neighbour has crashed",
    )
    probe_ends: bool = parameter(
        False,
        source="mends the skip ring's paper, lemma of section 2.2, where there is no supervisor",
        doc="the first of a list introduces itself along the list each round, too: a ring that winds twice about the "
        "circle opens without a supervisor",
    )
    one_topic: bool = parameter(
        False,
        source="the skip ring's paper, section 4, has topics; the scenarios of other agents have any filter",
        doc="one ring for everybody, whatever the filter; each subscriber delivers what it wants",
    )
    flooding: bool = parameter(True, source="the skip ring's paper, section 4.3", doc="new publications are flooded")
    flood_shortcuts: bool = parameter(
        True, source="the skip ring's paper, section 4.3", doc="flooding takes shortcuts, not the ring alone"
    )
    key_bits: int = parameter(
        64,
        unit="bit",
        source="reasoned: no collisions; the skip ring's paper, section 4.2, has m",
        at_least=1,
        at_most=MAX_KEY_BITS,
        doc="length of a publication's key",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.jitter >= 2 * self.round:
            raise ValueError("parameter jitter: it is not below twice the round")
