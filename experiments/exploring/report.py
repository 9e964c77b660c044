"""What an exploration found, as data and as a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from roambus.experiments.exploring.exploration import Exploration, Wrong, verdicts
from roambus.experiments.exploring.found import Found
from roambus.experiments.exploring.scenario_file import Question


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of one network, the verdict of each property, and what is wrong."""

    name: str
    states: int
    transitions: int
    depth: int
    quiet_states: int
    node_states: int
    seconds: float
    cpu_seconds: float
    memory_mib: int
    ended_by: str | None
    """Which bound ended it; None if everything was explored, or something was wrong."""
    is_complete: bool
    verdicts: dict[str, str]
    wrong: tuple[Wrong, ...]

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        yield f"{self.name}: {self.states} states, {self.transitions} transitions, depth {self.depth}"
        yield f"  {self.quiet_states} quiet states, {self.node_states} states of nodes"
        yield f"  {self.seconds:.1f} s, {self.cpu_seconds:.1f} s of the processor{self._rate()}, {self.memory_mib} MiB"
        for name, verdict in self.verdicts.items():
            yield f"  {name}: {verdict}"
        yield f"  {self._extent()}"

    def _rate(self) -> str:
        """How many transitions a second of the processor there were, if that can be told."""
        if self.cpu_seconds < _MEASURABLE_S:
            return ""
        return f" ({self.transitions / self.cpu_seconds:.0f} transitions a second)"

    def _extent(self) -> str:
        if self.is_complete:
            return "everything was explored"
        return f"ended by {self.ended_by}" if self.ended_by else "ended by the first thing that is wrong"


_MEASURABLE_S = 0.1


def report(name: str, exploration: Exploration) -> Report:
    """What is to be told of an exploration that has ended."""
    search, question = exploration.search, exploration.beginning.question
    return report_of(name, question, search.found, exploration.wrong, is_over=search.is_over)


def report_of(name: str, question: Question, found: Found, wrong: Sequence[Wrong], *, is_over: bool) -> Report:
    """What is to be told of an exploration of which this was found."""
    is_complete = is_over and found.ended_by is None
    return Report(
        name=name,
        states=found.states,
        transitions=found.transitions,
        depth=found.depth,
        quiet_states=found.quiet,
        node_states=found.node_states,
        seconds=round(found.seconds, 3),
        cpu_seconds=round(found.cpu_seconds, 3),
        memory_mib=found.memory_bytes // 2**20,
        ended_by=found.ended_by,
        is_complete=is_over,
        verdicts=verdicts(question, wrong, is_complete=is_complete),
        wrong=tuple(wrong),
    )


def file_name(text: str) -> str:
    """The name of a network, or of a property, as a file or folder can have it."""
    return re.sub(r"[^\w.-]", lambda match: "_" if match[0] == " " else "-", text)
