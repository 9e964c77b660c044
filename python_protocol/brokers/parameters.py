"""What can be set for every protocol of the broker family; the thesis gives no values."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.parts.election import ElectionParameters
from roambus.python_protocol.parts.link import LinkParameters

TREES = ("election", "given")


@dataclass(frozen=True)
class BrokerParameters(LinkParameters, ElectionParameters):
    """Raises ValueError, naming the parameter, for values that make no sense."""

    tree: str = parameter(
        "election",
        source="003, section 2.5",
        doc="who makes the tree: the brokers elect a leader, or the scenario has given it",
    )
    link_layer: bool = parameter(
        True,
        source="003, section 2.2: reliable FIFO channels, which a radio has not",
        doc="messages go over the shared link layer; false: bare, for links that are reliable by themselves",
    )
    publisher_buffer: int = parameter(
        64,
        source="reasoned: a minute of the thesis' publishers",
        doc="notifications that a publisher keeps while it has no broker",
    )

    def __post_init__(self) -> None:
        if self.tree not in TREES:
            raise ValueError(f"parameter tree: {self.tree!r} is none of {', '.join(TREES)}")


@dataclass(frozen=True)
class StorageParameters(BrokerParameters):
    """For the protocols whose brokers store notifications."""

    storage_limit: int = parameter(
        16384,
        source="reasoned: 1 MiB, the flash of a TelosB, in notifications of 64 bytes",
        doc="notifications that a broker stores, all subscribers together",
    )
