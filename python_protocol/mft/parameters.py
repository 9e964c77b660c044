"""The parameters of MFT-PubSub, those of election and link included; the thesis gives no values.

The last ones correct the published algorithms; tests/scenarios shows each fault. Profile `as_published` has none of
them, and each round's first sender as parent; `thesis` has all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from roambus.python_protocol.brokers.broker import StorageParameters
from roambus.python_protocol.settings import parameter

_AS_PUBLISHED: Mapping[str, Any] = {
    "sticky_parent": False,
    "home_decides": False,
    "correct_old": False,
    "forget_ways": False,
    "replay_always": False,
    "greet_back": False,
    "tell_turns": False,
    "ask_gaps": False,
}


class MftParameters(StorageParameters):
    """Parameters of MFT-PubSub."""

    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"as_published": _AS_PUBLISHED, "thesis": {}}
    profile: str = parameter(
        "thesis",
        source="the thesis, chapter 4",
        choices=("as_published", "thesis"),
        doc="defaults of the others: as_published without corrections, thesis with them",
    )
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
        doc="brokers that may pass a BMIG, BSUB or REP on; beyond this it counts as going in circles",
    )
    home_decides: bool = parameter(
        True,
        source="corrects the thesis,  algorithm 4.3, line 12",
        doc="at equal timestamps only the subscriber's own broker contradicts; false: any broker with fewer hops",
    )
    correct_old: bool = parameter(
        True,
        source="corrects the thesis,  algorithms 4.1 and 4.4, line 1",
        doc="an outdated SUB, UNS, MIG or BSUB is answered with a BSUB; false: it is ignored",
    )
    forget_ways: bool = parameter(
        True,
        source="corrects the thesis,  algorithms 4.2 and 4.4, line 12",
        doc="a broker that announces a way makes sure that two brokers do not point at each other",
    )
    replay_always: bool = parameter(
        True,
        source="corrects the thesis,  algorithms 3.2, line 23, and 4.1, lines 1 to 6",
        doc="a SUB also triggers the replay, and replays follow a subscriber that has no filters at the moment",
    )
    greet_back: bool = parameter(
        True,
        source="for a loss of a link that only one end has noticed",
        doc="a lost neighbour that is back gets a BMIG, as after a migration",
    )
    tell_turns: bool = parameter(
        True,
        source="corrects the thesis,  algorithms 4.1 and 4.4, line 1",
        doc="a former next hop gets a BSUB in place of a SUB, UNS or MIG that it would treat as outdated",
    )
    ask_gaps: bool = parameter(
        True,
        source="corrects the thesis,  algorithm 4.1, lines 1, 7 and 13",
        doc="a SUB, UNS or MIG whose number leaves a gap is not carried out: the broker asks the neighbour",
    )
