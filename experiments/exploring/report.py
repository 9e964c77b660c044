"""What an exploration found, as data and as a text.

A property holds only if all that can happen was tried, and if a state was reached in which the property is asked. What
was not seen is said of each property: "not decided" if the search was cut anywhere, and "says nothing" if all states
were explored, but none in which there was something to ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from roambus.experiments.exploring.exploration import Exploration, Wrong
from roambus.experiments.exploring.found import Found
from roambus.experiments.exploring.properties.property import Property
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
    """Which bound ended it; None if none did."""
    is_complete: bool
    """Whether every property is known to hold or not to hold."""
    extent: str
    """How far the search came."""
    verdicts: dict[str, str]
    wrong: tuple[Wrong, ...]

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        yield f"{self.name}: {self.states} states, {self.transitions} transitions, depth {self.depth}"
        yield f"  {self.quiet_states} quiet states, {self.node_states} states of nodes"
        yield f"  {self.seconds:.1f} s, {self.cpu_seconds:.1f} s of the processor{self._rate()}, {self.memory_mib} MiB"
        for name, verdict in self.verdicts.items():
            yield f"  {name}: {verdict}"
        yield f"  {self.extent}"

    def _rate(self) -> str:
        """How many transitions a second of the processor there were, if that can be told."""
        if self.cpu_seconds < _MEASURABLE_S:
            return ""
        return f" ({self.transitions / self.cpu_seconds:.0f} transitions a second)"


_MEASURABLE_S = 0.1


def report(name: str, exploration: Exploration) -> Report:
    """What is to be told of an exploration that has ended."""
    search, question = exploration.search, exploration.beginning.question
    return report_of(name, question, search.found, exploration.wrong, is_over=search.is_over)


def report_of(name: str, question: Question, found: Found, wrong: Sequence[Wrong], *, is_over: bool) -> Report:
    """What is to be told of an exploration of which this was found."""
    verdicts, undecided = _verdicts(question, found, wrong, is_over=is_over)
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
        is_complete=not undecided,
        extent=(undecided or "everything was explored") + (_chance(found) if is_over else ""),
        verdicts=verdicts,
        wrong=tuple(wrong),
    )


def _verdicts(question: Question, found: Found, wrong: Sequence[Wrong], *, is_over: bool) -> tuple[dict[str, str], str]:
    """What is known of each property, and what kept the search from knowing more; empty if nothing did."""
    end = [] if is_over else [found.ended_by or "the first thing that is wrong"]
    cut, unquiet = ", at ".join((*end, *found.cuts)), _unquiet(found)
    violated = {one.name: f"does not hold: {one.text}" for one in wrong}
    verdicts = {one.name: _verdict(one, cut, unquiet) for one in question.must} | violated
    if cut:
        return verdicts, f"cut at {cut}" if is_over else f"ended by {end[0]}"
    says_nothing = any(one.waits_for_quiet and one.name not in violated for one in question.must)
    return verdicts, f"all states were explored, and {unquiet}" if unquiet and says_nothing else ""


def _chance(found: Found) -> str:
    """With which values of chance all was explored, if not with each."""
    return f", with chance at {', at '.join(found.narrowed)}" if found.narrowed else ""


def _unquiet(found: Found) -> str:
    """What to say if no quiet state was reached by any step; nothing may happen to a network of a single state."""
    if not found.quiet:
        return "no quiet state was reached"
    return "no quiet state was reached but the first" if found.quiet == found.begins_quiet and found.states > 1 else ""


def _verdict(one: Property, cut: str, unquiet: str) -> str:
    unseen = unquiet if one.waits_for_quiet else ""
    if cut:
        return ", and ".join(filter(None, (f"not decided: the search was cut at {cut}", unseen)))
    return f"says nothing: {unseen}" if unseen else "holds"


def file_name(text: str) -> str:
    """The name of a network, or of a property, as a file or folder can have it."""
    return re.sub(r"[^\w.-]", lambda match: "_" if match[0] == " " else "-", text)
