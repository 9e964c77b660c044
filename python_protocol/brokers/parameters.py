"""What can be set for every protocol of the broker family; the thesis gives no values."""

from __future__ import annotations

from roambus.python_protocol.parameters import parameter
from roambus.python_protocol.parts.election import ElectionParameters
from roambus.python_protocol.parts.link_parameters import LinkParameters

TREES = ("election", "given")


class BrokerParameters(LinkParameters, ElectionParameters):
    """What can be set for every protocol of the broker family."""

    tree: str = parameter(
        "election",
        source="the thesis, section 2.5",
        choices=TREES,
        doc="who makes the tree: the brokers elect a leader, or the scenario gives it",
    )
    link_layer: bool = parameter(
        True,
        source="the thesis, section 2.2: reliable FIFO channels, which a radio has not",
        doc="messages go over the shared link layer; they go bare over links that are reliable by themselves",
    )
    publisher_buffer: int = parameter(
        64,
        source="reasoned: a minute of the thesis' publishers",
        at_least=1,
        doc="notifications that a publisher keeps while it has no broker",
    )


class StorageParameters(BrokerParameters):
    """What can be set for the protocols whose brokers store notifications."""

    storage_limit: int = parameter(
        16384,
        source="reasoned: 1 MiB, the flash of a TelosB, in notifications of 64 bytes",
        at_least=1,
        doc="notifications that a broker stores, all subscribers together",
    )
