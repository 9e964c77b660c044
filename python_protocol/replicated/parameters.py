"""The parameters of the replicated brokers; the paper gives no values."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.simtime import MILLISECOND, SimTime

FLOODING, FILTERING = "flooding", "filtering"
NONE, FIFO, TOTAL = "none", "fifo", "total"

_CHOICES = {"routing": (FLOODING, FILTERING), "order": (NONE, FIFO, TOTAL)}


@dataclass(frozen=True, slots=True)
class ReplicatedParameters:
    """What can be set; raises ValueError, naming the parameter, for values that make no sense."""

    routing: str = parameter(
        FILTERING,
        source="002, section 4",
        doc="flooding: events go to every site; filtering: only towards sites with a subscriber for them",
    )
    order: str = parameter(
        FIFO,
        source="002, section 5",
        doc="in which order subscribers get events: none, fifo (that of each publisher) or total (the root's)",
    )
    renumber: bool = parameter(
        True,
        source="002, section 5.1; section 7 has the implementation without",
        doc="events are numbered for each neighbour; false: sites that an event does not go to get an UPDATE",
    )
    time_out: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="reasoned: far above the few ms that a reply takes over links of 1 ms",
        doc="longest wait for a reply before the question whether the other is alive; for its answer twice as long",
    )

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"parameter {name}: {getattr(self, name)!r} is none of {', '.join(choices)}")
        if self.time_out <= 0:
            raise ValueError(f"parameter time_out: {self.time_out} ns is no time to wait")
