"""The parameters of MFT-PubSub, those of election and link included.

The last ones mend what the published algorithms leave wrong; each has a transcript in tests/scenarios that shows what
happens without it. With all of them false the algorithms are those of the thesis, read as the head of `mft.broker`
says.
"""

from __future__ import annotations

from roambus.python_protocol.brokers.parameters import StorageParameters
from roambus.python_protocol.parameters import parameter


class MftParameters(StorageParameters):
    """What can be set for MFT-PubSub; the thesis gives no values."""

    replay_bytes: int = parameter(
        96,
        unit="B",
        source="IEEE 802.15.4: a frame of 127 bytes, less the headers of MAC, network, link and REP",
        at_least=1,
        doc="notifications are grouped in one REP up to this size, one at least",
    )
    remembered: int = parameter(
        1024,
        source="reasoned: longer than a notification is under way, at a hundred a second",
        at_least=1,
        doc="notifications that a broker remembers to have handled",
    )
    max_hops: int = parameter(
        32,
        source="reasoned: the number of brokers in C32, the longest path there can be",
        at_least=1,
        at_most=255,
        doc="brokers that pass a BMIG, BSUB or REP on before it is taken to go in circles",
    )
    home_decides: bool = parameter(
        True,
        source="mends the thesis, algorithm 4.3, line 12",
        doc="at equal timestamps only the subscriber's own broker contradicts; false: whoever counts fewer hops",
    )
    correct_old: bool = parameter(
        True,
        source="mends the thesis, algorithms 4.1 and 4.4, line 1",
        doc="a SUB, UNS, MIG or BSUB that is older than what is known is answered with a BSUB; false: ignored",
    )
    forget_ways: bool = parameter(
        True,
        source="mends the thesis, algorithms 4.2 and 4.4, line 12",
        doc="who says that the way is here, or there, sees to it that two brokers do not point at each other",
    )
    replay_always: bool = parameter(
        True,
        source="mends the thesis, algorithms 3.2, line 23, and 4.1, lines 1 to 6",
        doc="a SUB, too, brings what is stored, and what is replayed follows a subscriber that has no filters just now",
    )
    greet_back: bool = parameter(
        True,
        source="for links that only one end has noticed to be lost",
        doc="a neighbour that was lost and is back is told what is known, as if by a migration",
    )
