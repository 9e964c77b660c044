"""Links without a channel model: ideal links, and links measured on a testbed.

Papers often assume ideal links, and transcripts run over them. Measured links replace the embedded radio's channel
model by recorded link quality over time. Castalia never asks for these keys, listed in docs/reference/ini-keys.md;
`roambus.bridge.backends.ideal` implements them.
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge import keys
from roambus.bridge.formats.recordings import EVERY_CHANNEL, MOST_CHANNEL, Excerpt, Recording, choose
from roambus.bridge.keys import OPTIONAL_FILE, TIME, TRUTH, key, keys_of, quoted
from roambus.bridge.scenario import plans
from roambus.bridge.scenario.plans import LinkChange, LinkDelay, LinkLoss, Partition
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import NUMBER, Range, Setting
from roambus.python_protocol.simtime import SimTime

_IDEAL = "SN.ideal."

CONTACTS_FILE = Setting(
    _IDEAL + "contacts",
    OPTIONAL_FILE,
    '""',
    "a file of contacts, the times at which links are up: CONN events of the ONE, or CSV with the columns start, end, "
    "a and b",
)
COMPLETE = Setting(_IDEAL + "complete", TRUTH, "false", "every pair of nodes is linked, as over the Internet")


@dataclass(frozen=True, slots=True)
class IdealLinks:
    """The links of the ideal back-end, which other back-ends ignore.

    A scenario's tree defines them, otherwise `links` and `changes`, or else `range_m` between moving nodes.
    """

    delay: SimTime = key(
        _IDEAL + "delay",
        TIME,
        "1ms",
        "from sender to receiver, on links without a delay of their own",
        within=Range(above=0),
    )
    delays: tuple[LinkDelay, ...] = key(
        _IDEAL + "delays", quoted("delays", plans.link_delays), '""', 'delays of single links: "0-1 1-2 5ms, 2-3 20ms"'
    )
    loss: float = key(
        _IDEAL + "loss",
        NUMBER,
        "0",
        "the share of frames that a link loses without informing anybody",
        within=Range(0, 1),
    )
    losses: tuple[LinkLoss, ...] = key(
        _IDEAL + "losses",
        quoted("losses", plans.link_losses),
        '""',
        'losses of single links, 2>3 one way only: "0-1 1-2 0.1, 2>3 0.5"',
    )
    links: tuple[tuple[NodeId, NodeId], ...] = key(
        _IDEAL + "links", quoted("links", plans.links), '""', 'the links of a given graph, such as "0-1 1-2"'
    )
    changes: tuple[LinkChange, ...] = key(
        _IDEAL + "changes",
        quoted("plan of links", plans.link_changes),
        '""',
        'changes of a given graph, 0>1 one way only, such as "12s 0-1 1-2 down, 15s 0-1 up, 17s 0>1 down"',
    )
    partitions: tuple[Partition, ...] = key(
        _IDEAL + "partitions",
        quoted("plan of partitions", plans.partitions),
        '""',
        'groups without links between them, such as "12s 0..2 | 3 4, 20s merge"; a given tree can have none',
    )
    range_m: float = key(
        _IDEAL + "range",
        NUMBER,
        "0",
        "nodes within it are linked; 0: where a signal with mean path loss has the radio's sensitivity",
        "m",
        Range(0, 1e6),
    )
    passing: int = 0
    """Contacts of the file that ended when they began, and are left out."""


KEYS = (*keys_of(IdealLinks), COMPLETE, CONTACTS_FILE)


LINKS = "SN.links."

FIRST, MEAN = "first", "mean"


def _channel(text: str) -> int | None:
    """Read "first", "mean" or "15"; None is the first."""
    name = keys.string(text)
    if name in (FIRST, MEAN):
        return EVERY_CHANNEL if name == MEAN else None
    if not name.isdecimal() or len(name) > 3 or int(name) > MOST_CHANNEL:
        raise ValueError(f'{text} is not a channel such as "15", and neither "{FIRST}" nor "{MEAN}"')
    return int(name)


LINKS_FILE = Setting(
    LINKS + "file",
    OPTIONAL_FILE,
    '""',
    "a recorded testbed in the K7 format, whose links replace the channel; Castalia ignores it",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLinks:
    """The part of a recording that a run plays; node i is the recording's i-th."""

    recording: Recording
    channel: int | None = key(
        LINKS + "channel",
        quoted("text with a channel", _channel),
        f'"{FIRST}"',
        f'channel of the recording: a number, "{FIRST}" for its first, "{MEAN}" for rows that are means over all',
    )
    start: SimTime = key(LINKS + "start", TIME, "0s", "time in the recording at which the run begins", within=Range(0))
    pace: float = key(
        LINKS + "pace", NUMBER, "1", "seconds of the recording that pass in a second of the run", within=Range(0, 1e6)
    )

    def excerpt(self, nodes: int, lasting: SimTime) -> Excerpt:
        """The links of so many nodes and a duration in ns; raises ValueError if there are none."""
        return Excerpt(choose(self.recording, self.channel, nodes), nodes, self.start, self.pace, lasting)


MEASURED_KEYS = (LINKS_FILE, *keys_of(MeasuredLinks))
