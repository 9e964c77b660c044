"""What the reader of a report can choose: agents, verdicts and values of axes.

Parts of the page say which of these they belong to. Every value has a number, and a part of the page names the numbers
that it belongs to: names from results are never looked for in the page, and never code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.evidence.claim import Claim
from roambus.experiments.evidence.rule import Verdict
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.measurements.names import agent_name, axis_heading

VERDICT = "claims-that"
"""No axis can be called so: axes are variables of templates, which have no hyphens."""


@dataclass(frozen=True, slots=True)
class Option:
    """A value that can be chosen: `name` stands in the address of a filtered view, `label` on the page."""

    number: int
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Values of which one or more can be chosen; `key` stands in the address."""

    key: str
    title: str
    options: tuple[Option, ...]


class Filters:
    """The choices of a report; where there is a single value, there is nothing to choose."""

    def __init__(self, sweeps: Sequence[Measurements], claims: Sequence[Claim]) -> None:
        verdicts = {claim.verdict for claim in claims}
        found = {AGENT: _united(measured.agents for measured in sweeps)}
        found[VERDICT] = [verdict.value for verdict in Verdict if verdict in verdicts]
        for axis in _united(measured.axes for measured in sweeps):
            found[axis] = _united(measured.values(axis) for measured in sweeps if axis in measured.axes)
        chosen = {key: names for key, names in found.items() if len(names) > 1}
        numbers = ((key, name) for key, names in chosen.items() for name in names)
        self._numbers = {place: number for number, place in enumerate(numbers)}
        self.choices = [Choice(key, _title(key), self._options(key, names)) for key, names in chosen.items()]

    def at(self, place: Mapping[str, str]) -> str:
        """The numbers of the values at a place, with blanks between them; a value that cannot be chosen has none."""
        numbers = (self._numbers.get(one) for one in place.items())
        return " ".join(str(number) for number in numbers if number is not None)

    def _options(self, key: str, names: Sequence[str]) -> tuple[Option, ...]:
        label = agent_name if key == AGENT else str
        return tuple(Option(self._numbers[key, name], name, label(name)) for name in names)


def common_place(measured: Measurements) -> dict[str, str]:
    """What all points of a sweep share, whether a figure says so or not: its only agent, the only value of an axis."""
    values = {AGENT: measured.agents, **{axis: measured.values(axis) for axis in measured.axes}}
    return {axis: found[0] for axis, found in values.items() if len(found) == 1}


def _united(lists: Iterable[Iterable[str]]) -> list[str]:
    """Every text once, in the order in which they come."""
    return list(dict.fromkeys(text for texts in lists for text in texts))


def _title(key: str) -> str:
    return "verdict" if key == VERDICT else axis_heading(key)
