"""What a user should know of a run that went well: where a recording does not say how the links were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from roambus.bridge.k7.gaps import gaps
from roambus.bridge.k7.recording import EVERY_CHANNEL, Recording
from roambus.bridge.scenario.scenario import Scenario

MARK = "note: "
"""Such a line of the log is a remark."""


def remarks(scenario: Scenario) -> Iterator[str]:
    """Whole sentences, each of which names the file that it is about."""
    links = scenario.measured
    if links is None:
        return
    choice = links.choice(len(scenario.nodes), scenario.time_limit)
    name = Path(links.recording.name).name
    channel = int(choice.rows["channel"][0])
    named = "the mean over all channels" if channel == EVERY_CHANNEL else f"channel {channel}"
    yield f"{name}: the links are those of {named}"
    yield from (f"{name}: {gap}" for gap in (*_left_out(links.recording), *gaps(choice)))


def _left_out(recording: Recording) -> Iterator[str]:
    lines = recording.left_out
    if lines:
        yield f"{len(lines)} rows tell of a node that hears itself, the first in line {lines[0]}: they are left out"


def remarks_in(log: str) -> list[str]:
    """The remarks in the text of a run's log."""
    return [line.removeprefix(MARK) for line in log.splitlines() if line.startswith(MARK)]
