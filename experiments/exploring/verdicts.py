"""Verdicts of an exploration, as data and as text.

- *holds in all N states*: no bound was met, no value stood for others, no option merged or left out states.
- *holds within*: each bound, by name.
- *does not hold*: with the counterexample.
- *not decided*: the search was cut, or no state could show the property; with the line or option to add.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from roambus.experiments.exploring.checker import INTERRUPTED, RAISES, Checker
from roambus.experiments.exploring.copies import parts
from roambus.experiments.exploring.properties import EVENTUALLY_QUIET, Property
from roambus.experiments.exploring.scenario_file import Question
from roambus.experiments.exploring.steps import TIME

HOLDS, WITHIN, VIOLATED, UNDECIDED = "holds in all", "holds within", "does not hold", "not decided"
_MOMENTS = "commands at the moments of other events, and halfway between them"
_REMEDIES = (
    (r"the bound of \d+ states", "give a greater --states"),
    (r"the bound of [\d.e+]+ s", "give more --seconds"),
    (r"the bound of \d+ MiB", "give more --memory"),
    (INTERRUPTED, "run it again"),
    (r"the first violation", "add --keep-on"),
    (r"\d+ outcomes of chance.*", "have it draw from fewer values"),
)


class Counterexample(NamedTuple):
    """A property that does not hold, how, and a transcript that shows it."""

    name: str
    text: str
    steps: int
    transcript: str


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of one network, the verdict of each property, and the counterexamples."""

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
    """The bound that ended it; None if none did."""
    bounds: tuple[str, ...]
    """What the verdicts hold within; empty if nothing bounded the search."""
    verdicts: dict[str, str]
    counterexamples: tuple[Counterexample, ...]

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return self.ended_by == INTERRUPTED

    @property
    def is_decided(self) -> bool:
        """Whether every property is known to hold or not to hold."""
        return not any(one.startswith(UNDECIDED) for one in self.verdicts.values())

    @property
    def is_bounded(self) -> bool:
        """Whether any property holds within bounds only."""
        return any(one.startswith(WITHIN) for one in self.verdicts.values())

    def lines(self) -> Iterator[str]:
        """Return the report for a person."""
        yield f"{self.name}: {self.states} states, {self.transitions} transitions, depth {self.depth}"
        yield f"  {self.quiet_states} quiet states, {self.node_states} states of nodes"
        yield f"  {self.seconds:.1f} s, {self.cpu_seconds:.1f} s of the processor{self._rate()}, {self.memory_mib} MiB"
        for name, verdict in self.verdicts.items():
            yield f"  {name}: {verdict}"
        if all(one.startswith(HOLDS) for one in self.verdicts.values()):
            yield "  everything was explored"

    def _rate(self) -> str:
        if self.cpu_seconds < _MEASURABLE_S:
            return ""
        return f" ({self.states / self.cpu_seconds:.0f} states a second)"


_MEASURABLE_S = 0.1


def report(name: str, question: Question, checker: Checker, counterexamples: Iterable[Counterexample]) -> Report:
    """Return the report of an exploration that has ended."""
    found, shown = checker.figures, tuple(counterexamples)
    bounds = tuple(bounds_of(question, checker))
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
        bounds=bounds,
        verdicts=_verdicts(question, checker, shown, bounds),
        counterexamples=shown,
    )


def bounds_of(question: Question, checker: Checker) -> Iterator[str]:
    """Yield each bound of a search by its name."""
    nodes, figures = checker.model.nodes, checker.figures
    if figures.depth_bound is not None:
        yield f"{figures.depth_bound} steps"
    if checker.reduce:
        yield "one of the orders with the same result (--reduce)"
    if nodes.relative:
        yield "relative time"
    if question.alike:
        yield "nodes alike"
    if nodes.is_timed:
        yield _MOMENTS
        if checker.model.rules.fast_messages:
            yield "messages faster than timers"
    if question.calm is not None:
        yield "the calm of the line 'calm'"
    yield from sorted(nodes.narrowed)


def _verdicts(
    question: Question, checker: Checker, shown: tuple[Counterexample, ...], bounds: tuple[str, ...]
) -> dict[str, str]:
    holds = f"{WITHIN}: {'; '.join(bounds)}" if bounds else f"{HOLDS} {len(checker)} states"
    verdicts = {one.name: _undecided(one, checker) or holds for one in question.must}
    return verdicts | {one.name: f"{VIOLATED}: {one.text}" for one in shown}


def _undecided(one: Property, checker: Checker) -> str:
    """Return why a property is not decided and the remedy, else empty."""
    figures, nodes = checker.figures, checker.model.nodes
    if any(it.name == RAISES for it in checker.violations):
        return f"{UNDECIDED}: an agent raised an error, after which nothing was explored: handle it"
    cuts = sorted(nodes.cuts)
    if not (checker.is_over or figures.depth_bound is not None):
        cuts.insert(0, figures.ended_by or "the first violation")
    if cuts:
        told = f"{UNDECIDED}: the search was cut at {', and at '.join(cuts)}: {_remedy(cuts[0])}"
        return "; ".join((told, *growing(checker)))
    if one.waits_for_quiet and (unquiet := _unquiet(checker)) and not (one.lives and _is_whole(checker)):
        add = ": add the line 'relative time'" if nodes.is_timed and not nodes.relative else ""
        return f"{UNDECIDED}: {unquiet}{add}"
    if one.name not in checker.properties.seen and one.name != EVENTUALLY_QUIET and one.blind:
        return f"{UNDECIDED}: {one.blind}"
    return ""


def _unquiet(checker: Checker) -> str:
    """Return the text for a search without a quiet state; a single state needs no step."""
    quiet, begins = checker.figures.quiet, checker.properties.is_quiet(checker.initial)
    if not quiet:
        return "no quiet state was reached"
    return "no quiet state was reached but the first" if quiet == begins and len(checker) > 1 else ""


def _is_whole(checker: Checker) -> bool:
    """Whether no run was cut in its course, so that all endless runs were found as cycles."""
    return checker.is_over and not any("the line 'for" in one for one in checker.model.nodes.narrowed)


def _remedy(cut: str) -> str:
    return next((add for pattern, add in _REMEDIES if re.fullmatch(pattern, cut)), "ask for less")


_LEAST_GROWTH = 6
"""From so many different states of a node on, an attribute counts as growing for ever."""


def growing(checker: Checker) -> Iterator[str]:
    """Yield the parts that differ in every state on the path, so that the search may never end."""
    if checker.figures.ended_by is None or checker.is_enough:
        return
    path = checker.ancestors(len(checker) - 1)
    model, names = checker.model, checker.properties.names
    if model.nodes.is_timed and not model.nodes.relative and len({state[TIME] for state in path}) >= _LEAST_GROWTH:
        yield "timers run out for ever: give 'for 10s', or 'relative time'"
    for node in range(model.size):
        states = list(dict.fromkeys((state[node], model.now(state)) for state in path))
        numbers = {number for number, _ in states}
        if len(numbers) < _LEAST_GROWTH:
            continue
        values: dict[str, set[bytes]] = {}
        for number, now in states:
            for name, value in _attributes(model.nodes.agent(number, now)):
                values.setdefault(name, set()).add(model.nodes.copier.encode(value, now))
        least = max(_LEAST_GROWTH, len(numbers) // 2)
        grown = [name for name, its in values.items() if len(its) >= least]
        inner = [one for one in grown if not any(other.startswith((f"{one}.", f"{one}[")) for other in grown)]
        if inner:
            name = inner[0].removeprefix(".")
            yield f"attribute `{name}` of node {names[node]} differs in every state: bound it, or give 'horizon'"
            return


def _attributes(agent: object) -> Iterator[tuple[str, object]]:
    """Yield the state's attributes of an agent and of its parts."""
    for name, value in parts(agent):
        if name.startswith("._") or name in (".random", ".parameters"):
            continue
        yield name, value
        if hasattr(value, "__dict__"):
            yield from ((name + inner, one) for inner, one in parts(value) if inner not in ("._actions", ".random"))


def file_name(text: str) -> str:
    """Return the name of a network or property as part of a file name."""
    return re.sub(r"[^\w.-]", lambda match: "_" if match[0] == " " else "-", text)
