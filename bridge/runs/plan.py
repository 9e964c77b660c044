"""A run as it is planned: all that is needed to make it, in any process and on any machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roambus.bridge.trace.metadata import NO_TEMPLATE
from roambus.bridge.trace.writer import TraceLevel


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the ini of a run is from, which its trace tells: name and settings of the template.

    A run that is made once more, to be compared, tells the `version` of roambus that had made it; any other this one.
    """

    template: str = NO_TEMPLATE
    settings: tuple[tuple[str, Any], ...] = ()
    version: str | None = None


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run that can be executed in any process. Its folder lies at `place` below `results`."""

    results: Path
    place: Path
    ini: str
    radio_file: Path
    agent: str
    seed: int
    level: TraceLevel = TraceLevel.APP
    record: bool = False
    """Whether to keep the frames, for `roambus rerun`; the trace is the same either way."""
    check: bool = False
    """Whether to compare every message with its bytes; the trace is the same either way."""
    files: tuple[tuple[str, Path], ...] = ()
    """The files of movements and links, under the names that the ini has for them, and what lies beside them."""

    origin: Origin = Origin()

    @property
    def folder(self) -> Path:
        """The folder into which trace, ini and log go."""
        return self.results / self.place
