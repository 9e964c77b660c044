"""The parameters of MFT-PubSub, those of election and link included."""

from __future__ import annotations

from dataclasses import dataclass

from python_protocol.brokers.parameters import StorageParameters
from python_protocol.parameters import parameter


@dataclass(frozen=True)
class MftParameters(StorageParameters):
    """What can be set for MFT-PubSub; the thesis gives no values."""

    replay_bytes: int = parameter(
        96,
        unit="B",
        source="IEEE 802.15.4: a frame of 127 bytes, less the headers of MAC, network, link and REP",
        doc="notifications are grouped in one REP up to this size, one at least",
    )
    remembered: int = parameter(
        1024,
        source="reasoned: longer than a notification is under way, at a hundred a second",
        doc="notifications that a broker remembers to have handled",
    )
    max_hops: int = parameter(
        32,
        source="reasoned: the number of brokers in C32, the longest path there can be",
        doc="brokers that pass a BMIG, BSUB or REP on before it is taken to go in circles",
    )
