"""The parameters of MFT-PubSub, those of election and link included; the thesis gives no values.

The last ones correct what is wrong in the published algorithms. Each has a transcript in tests/scenarios that shows
what happens without it. With all of them false the algorithms are those of the thesis, read as `mft.broker` says. There
are three profiles, which give defaults for the other parameters:

- `letter` is the algorithms as published: no correction, and in each round the first sender is the parent.
- `thesis` has the corrections.
- `tuned` is for a channel that all share: bundles, broadcasts, and heartbeats that migrate. docs/tuned.md derives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from roambus.python_protocol.brokers.broker import StorageParameters
from roambus.python_protocol.parts.bundle import BundleParameters
from roambus.python_protocol.settings import parameter
from roambus.python_protocol.vocabulary import MILLISECOND, SECOND, SimTime

_LETTER: Mapping[str, Any] = {
    "sticky_parent": False,
    "home_decides": False,
    "correct_old": False,
    "forget_ways": False,
    "replay_always": False,
    "greet_back": False,
    "tell_turns": False,
    "ask_gaps": False,
}
_TUNED: Mapping[str, Any] = {
    "ask_after": 2 * SECOND,
    "batches": True,
    "beats_migrate": True,
    "bundle_bytes": 60,
    "bundles": True,
    "parent_by": "quality",
    "quiet_rounds": 4,
    "round_jitter": SECOND // 4,
    "spreads": True,
}


class MftParameters(BundleParameters, StorageParameters):
    """What can be set for MFT-PubSub; the thesis gives no values."""

    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"letter": _LETTER, "thesis": {}, "tuned": _TUNED}
    profile: str = parameter(
        "thesis",
        source="the thesis, chapter 4, for the first two; docs/tuned.md for tuned",
        choices=("letter", "thesis", "tuned"),
        doc="defaults of the others: letter without corrections, thesis with them, tuned for a shared channel",
    )
    batches: bool = parameter(
        False,
        source="as BMIG does: the thesis, algorithm 4.2",
        doc="BQUERYs to a neighbour at one instant are one message, and so are BSUBs with the same filters",
    )
    beats_migrate: bool = parameter(
        False,
        source="soft state, as in Clark (1988); sums, as in Demers et al. (1987)",
        doc="with bundles heartbeats carry their senders' subscribers and knowledge, in place of MIG and BMIG",
    )
    spreads: bool = parameter(
        False,
        source="implicit acknowledgements, as in flooding, and anti-entropy (Demers et al., 1987)",
        doc="with bundles notifications are broadcast, and every frame has a digest of its sender's newest ones",
    )
    spread_patience: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="as link_time_out: 4 ms on the air, and CSMA back-offs of at most 16 and 32 ms for each of two frames",
        at_least=0,
        doc="a digest that comes no later than this after a notification need not know of it; also the longest wait "
        "before one that the tree has not brought is spread",
    )
    spread_copies: int = parameter(
        3,
        source="Ni et al. (1999), section 3.2: after three copies another one covers 9 % more on average",
        at_least=1,
        doc="a node that has heard a notification this often does not spread it, and leaves the rest to digests",
    )
    ask_after: SimTime = parameter(
        0,
        unit="s",
        source="tuned: two heartbeats, after which a broker that hears its client has sent what it lacks",
        at_least=0,
        doc="with spreads a subscriber asks its neighbours for what it has lacked for this time; 0: it never does",
    )
    subscription_delay: SimTime = parameter(
        5 * SECOND,
        unit="s",
        source="as leader_time_out_max: a subscription may have to wait for a tree",
        at_least=0,
        doc="with spreads a new subscription also covers notifications that a broker has had for at most this time",
    )
    digest_publishers: int = parameter(
        64,
        source="reasoned: 900 bytes in a frame at most",
        at_least=1,
        at_most=255,
        doc="with spreads, the number of publishers in a node's digest",
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
