"""Measured links: a recorded testbed stands in for the channel's model, and says who hears whom, how well, and when."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge import keys
from roambus.bridge.k7.choice import Choice, choose
from roambus.bridge.k7.recording import EVERY_CHANNEL, Recording
from roambus.bridge.keys import (
    OPTIONAL_FILE,
    TIME,
    key,
    keys_of,
    quoted,
)
from roambus.python_protocol.settings import NUMBER, Range, Setting
from roambus.python_protocol.simtime import SimTime

LINKS = "SN.links."

FIRST, MEAN = "first", "mean"
MOST_CHANNEL = 255


def _channel(text: str) -> int | None:
    """Reads "first", "mean" or "15"; None is the first."""
    name = keys.string(text)
    if name in (FIRST, MEAN):
        return EVERY_CHANNEL if name == MEAN else None
    if not name.isdecimal() or len(name) > 3 or int(name) > MOST_CHANNEL:
        raise ValueError(f'{text} is no channel such as "15", and neither "{FIRST}" nor "{MEAN}"')
    return int(name)


LINKS_FILE = Setting(
    LINKS + "file",
    OPTIONAL_FILE,
    '""',
    "a recorded testbed in the K7 format, whose links stand in for the channel; Castalia never asks for it",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLinks:
    """What of a recording a run plays. Node i of the scenario is the i-th node of the recording."""

    recording: Recording
    channel: int | None = key(
        LINKS + "channel",
        quoted("text with a channel", _channel),
        f'"{FIRST}"',
        f'channel of the recording: a number, "{FIRST}" for its first, "{MEAN}" for rows that are means over all',
    )
    start: SimTime = key(LINKS + "start", TIME, "0s", "how far into the recording the run begins", within=Range(0))
    pace: float = key(
        LINKS + "pace", NUMBER, "1", "seconds of the recording that a second of the run plays", within=Range(0, 1e6)
    )

    def choice(self, nodes: int, lasting: SimTime) -> Choice:
        """What so many nodes play in a run of so many ns; raises ValueError if there is nothing."""
        return Choice(choose(self.recording, self.channel, nodes), nodes, self.start, self.pace, lasting)


KEYS = (LINKS_FILE, *keys_of(MeasuredLinks))
