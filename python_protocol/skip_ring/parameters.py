"""The parameters of the skip ring."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

MAX_KEY_BITS = 128


@dataclass(frozen=True)
class SkipRingParameters:
    """What can be set; raises ValueError, naming the parameter, for values that make no sense."""

    supervisor: NodeId = parameter(
        0,
        source="004, section 1.1: every node knows the supervisor, and that is read-only",
        doc="the node of the supervisor; it has the role broker",
    )
    round: SimTime = parameter(
        SECOND, unit="s", source="004, section 1.1: Timeout is periodic; no value", doc="between two calls of Timeout"
    )
    jitter: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="004, section 1.1: asynchronous computations",
        doc="a round lasts between half of it less and half of it more, uniformly",
    )
    sparse_requests: bool = parameter(
        True,
        source="004, lemma of section 3.2.1, which the letter misses: there are two labels of one bit",
        doc="action (ii) counts a bit more than the label has; false: to the letter",
    )
    check_labels: bool = parameter(
        True,
        source="004, sections 2.2 and 3.2.2, by which false labels go to and fro (see roambus.python_protocol.skip_ring)",
        doc="labels are checked whenever references are delegated; false: to the letter, at introductions only",
    )
    one_topic: bool = parameter(
        False,
        source="004, section 4, has topics; the scenarios of other agents have any filter",
        doc="one ring for everybody, whatever the filter; each subscriber delivers what it wants",
    )
    flooding: bool = parameter(True, source="004, section 4.3", doc="new publications are flooded")
    flood_shortcuts: bool = parameter(
        True, source="004, section 4.3", doc="flooding takes shortcuts, not the ring alone"
    )
    key_bits: int = parameter(
        64, unit="bit", source="reasoned: no collisions; 004, section 4.2, has m", doc="length of a publication's key"
    )

    def __post_init__(self) -> None:
        if not 1 <= self.key_bits <= MAX_KEY_BITS:
            raise ValueError(f"parameter key_bits: {self.key_bits} is not between 1 and {MAX_KEY_BITS}")
        if self.round <= 0:
            raise ValueError("parameter round: it must be above 0")
        if not 0 <= self.jitter < 2 * self.round:
            raise ValueError("parameter jitter: it must be at least 0 and below twice the round")
