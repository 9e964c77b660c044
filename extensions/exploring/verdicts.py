"""Verdicts of an exploration, as data and as text.

- *holds in all N states*: no bound was met, no value stood for others, no option merged or left out states.
- *holds within*: each bound, by name.
- *does not hold*: with the counterexample.
- *not decided*: the search was cut, or no state could show the property; with the line or option to add.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import NamedTuple

from roambus.bridge.transcript.commands import Arrive
from roambus.extensions.exploring.checker import INTERRUPTED, RAISES, REPEATS, Checker, Figures
from roambus.extensions.exploring.copies import parts
from roambus.extensions.exploring.properties import EVENTUALLY_QUIET, Property
from roambus.extensions.exploring.steps import TIME

HOLDS, WITHIN, VIOLATED, UNDECIDED = "holds in all", "holds within", "does not hold", "not decided"
_MOMENTS = "commands and arrivals at the moments of other events, and commands halfway between them"
_REMEDIES = {
    r"the bound of \d+ states": "give a greater --states",
    r"the bound of [\d.e+]+ s": "give more --seconds",
    r"the bound of \d+ MiB": "give more --memory",
    INTERRUPTED: "run it again",
    r"the first violation": "add --keep-on",
    r"\d+ outcomes of chance.*": "have it draw from fewer values",
    r".*": "ask for less",
}
_MEASURABLE_S = 0.1
_LEAST_GROWTH = 6
"""From so many different states of a node on, an attribute counts as growing for ever."""


class Counterexample(NamedTuple):
    """A violated property, the reason, and a transcript."""

    name: str
    text: str
    steps: int
    transcript: str


@dataclass(kw_only=True)
class Report(Figures):
    """A network's figures, verdicts and counterexamples."""

    name: str
    bounds: tuple[str, ...]
    """The bounds of the verdicts; empty for an unbounded search."""
    verdicts: dict[str, str]
    counterexamples: tuple[Counterexample, ...]
    never: tuple[str, ...]
    """The `may` lines of which nothing was possible in any state, if all were explored."""

    def has(self, kind: str) -> bool:
        """Whether a property has such a verdict."""
        return any(verdict.startswith(kind) for verdict in self.verdicts.values())

    def lines(self) -> Iterator[str]:
        """Return the report for a person."""
        rate = f" ({self.states / self.cpu_seconds:.0f} states a second)" if self.cpu_seconds > _MEASURABLE_S else ""
        yield f"{self.name}: {self}"
        yield f"  {self.quiet_states} quiet states, {self.node_states} states of nodes"
        yield f"  {self.seconds:.1f} s, {self.cpu_seconds:.1f} s of the processor{rate}, {self.memory_mib} MiB"
        yield f"  {self.walks} fresh runs repeated {self.walked_steps} steps, and {self.real_runs} others were judged"
        yield from (f"  {name}: {verdict}" for name, verdict in self.verdicts.items())
        yield from (f"  may {line}: says nothing: it was possible in no state" for line in self.never)
        if all(verdict.startswith(HOLDS) for verdict in self.verdicts.values()):
            yield "  everything was explored"


def report(name: str, checker: Checker, counterexamples: Iterable[Counterexample]) -> Report:
    """Return the report of an exploration that has ended."""
    bounds, shown = tuple(bounds_of(checker)), tuple(counterexamples)
    holds = f"{WITHIN}: {'; '.join(bounds)}" if bounds else f"{HOLDS} {len(checker)} states"
    verdicts = {
        property_.name: _undecided(property_, checker) or holds for property_ in checker.model.rules.question.must
    }
    verdicts |= {violated.name: f"{VIOLATED}: {violated.text}" for violated in shown}
    return Report(
        name=name,
        bounds=bounds,
        verdicts=verdicts,
        counterexamples=shown,
        never=tuple(_never(checker)),
        **asdict(checker.figures),
    )


def _never(checker: Checker) -> Iterator[str]:
    """Yield the lines that allow nothing in any state; a loss is possible wherever a message arrives."""
    model = checker.model
    steps = list(map(model.steps.__getitem__, range(len(model.steps))))
    done, arrive = {step.may for step in steps}, any(isinstance(step.command, Arrive) for step in steps)
    for place, may in enumerate(model.rules.may if checker.is_over and not model.nodes.cuts else ()):
        if place not in done and not (may.is_loss and arrive):
            yield may.text


def bounds_of(checker: Checker) -> Iterator[str]:
    """Yield each bound of a search by its name."""
    nodes, question = checker.model.nodes, checker.model.rules.question
    possible = {
        f"{checker.depth_bound} steps": checker.depth_bound is not None,
        "relative time": nodes.relative,
        "nodes alike": question.alike,
        _MOMENTS: nodes.is_timed,
        "messages faster than timers": nodes.is_timed and question.fast_messages,
        "the calm of the line 'calm'": question.calm is not None,
    }
    yield from (name for name, applies in possible.items() if applies)
    yield from sorted(nodes.narrowed)


def _undecided(property_: Property, checker: Checker) -> str:
    """Return why a property is not decided and the remedy, else empty."""
    figures, nodes = checker.figures, checker.model.nodes
    if any(it.name == RAISES for it in checker.violations):
        return f"{UNDECIDED}: an agent raised an error, after which nothing was explored: handle it"
    if any(it.name == REPEATS for it in checker.violations):
        return f"{UNDECIDED}: a fresh run differs from the search: keep the state of agents in their attributes"
    cuts = sorted(nodes.cuts)
    if not (checker.is_over or checker.depth_bound is not None):
        cuts.insert(0, figures.ended_by or "the first violation")
    if cuts:
        remedy = next(add for pattern, add in _REMEDIES.items() if re.fullmatch(pattern, cuts[0]))
        verdict = f"{UNDECIDED}: the search was cut at {', and at '.join(cuts)}: {remedy}"
        return "; ".join((verdict, *growing(checker)))
    # Endless runs were found as cycles if no run was cut in its course.
    is_whole = checker.is_over and not any("the line 'for" in reason for reason in nodes.narrowed)
    if property_.waits_for_quiet and (unquiet := _unquiet(checker)) and not (property_.lives and is_whole):
        add = ": add the line 'relative time'" if nodes.is_timed and not nodes.relative else ""
        return f"{UNDECIDED}: {unquiet}{add}"
    if property_.name not in checker.properties.seen and property_.name != EVENTUALLY_QUIET and property_.blind:
        return f"{UNDECIDED}: {property_.blind}"
    return ""


def _unquiet(checker: Checker) -> str:
    """Return the text for a search without a quiet state; a single state needs no step."""
    quiet, begins = checker.properties.quiet, checker.properties.is_quiet(checker.initial)
    if not quiet:
        return "no quiet state was reached"
    return "no quiet state was reached but the first" if quiet == begins and len(checker) > 1 else ""


def growing(checker: Checker) -> Iterator[str]:
    """Yield the parts that differ in every state on the path, so that the search may never end."""
    if checker.figures.ended_by is None or checker.is_enough:
        return
    path = list(map(checker.state, checker.ancestors(len(checker) - 1)))
    model = checker.model
    if model.nodes.is_timed and not model.nodes.relative and len({state[TIME] for state in path}) >= _LEAST_GROWTH:
        is_bounded = model.rules.question.time_limit is not None
        limit = "give a shorter 'for'" if is_bounded else "timers run out for ever: give 'for 10s'"
        yield f"{limit}, or 'relative time'"
    for node in range(model.size):
        states = {state[node]: model.now(state) for state in path}
        values: defaultdict[str, set[bytes]] = defaultdict(set)
        for number, now in states.items():
            for name, value in _attributes(model.nodes.agent(number)):
                values[name].add(model.nodes.copier.encode(value, now))
        least = max(_LEAST_GROWTH, len(states) // 2)
        grown = [name for name, its in values.items() if len(its) >= least]
        if grown:
            name, whose = grown[0].removeprefix("."), checker.properties.names[node]
            yield f"attribute `{name}` of node {whose} differs in every state: bound it"
            return


def _attributes(agent: object) -> Iterator[tuple[str, object]]:
    """Yield the state's attributes of an agent, and in place of its parts those of the parts."""
    for name, value in parts(agent):
        if name.startswith("._") or name in (".random", ".parameters"):
            continue
        inner = parts(value) if hasattr(value, "__dict__") else [("", value)]
        yield from ((name + step, part) for step, part in inner if not hasattr(part, "__dict__"))


def file_name(text: str) -> str:
    """Return the name of a network or property as part of a file name."""
    return re.sub(r"[^\w.-]", lambda match: "_" if match[0] == " " else "-", text)
