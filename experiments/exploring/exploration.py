"""One exploration, from its file to its report.

Each network is explored in a child process, so an agent that exits or hangs ends one exploration only, and Ctrl-C
always works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from roambus.bridge.agents import Announce, announce_code, silently
from roambus.bridge.errors import UserError
from roambus.bridge.host.event_loop import collector_paused
from roambus.bridge.process import run_in_child
from roambus.bridge.transcript.head import read_head
from roambus.bridge.transcript.transcript import Overrides
from roambus.experiments.exploring.checker import INTERRUPTED, RAISES, Bounds, Checker, Violation, Visitor
from roambus.experiments.exploring.counterexamples import Writer
from roambus.experiments.exploring.fair_cycles import find_fair_cycle
from roambus.experiments.exploring.initial_state import InitialState, begin, document_of
from roambus.experiments.exploring.probes import follow_probe, probes
from roambus.experiments.exploring.properties import EVENTUALLY_QUIET, PROPERTIES
from roambus.experiments.exploring.property_checker import PropertyChecker
from roambus.experiments.exploring.scenario_file import Question, read_question, variants
from roambus.experiments.exploring.steps import Step
from roambus.experiments.exploring.verdicts import Counterexample, Report, report

_NO_BOUNDS = Bounds()
_SHOWN = ("table", "stored")
"""The listings at the end of a counterexample, if the agent has them."""
_LONGEST_PROBE = 30
"""Shown steps of a probe, which may never end."""


@dataclass(slots=True)
class Exploration:
    """The search about one question, and its counterexamples."""

    question: Question
    overrides: Overrides
    reduce: bool = False
    keep_on: bool = False
    initial: InitialState = field(init=False)
    checker: Checker = field(init=False)
    counterexamples: list[Counterexample] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Carry out the setup; raises UserError, AgentError."""
        self._prepare(is_timed=False)

    def _prepare(self, *, is_timed: bool) -> None:
        question = self.question
        self.initial = begin(question, self.overrides, is_timed=is_timed)
        if self.reduce and (unfit := next((one.name for one in question.must if one.at_any_time), None)):
            raise UserError(f"{question.path}: --reduce leaves out states in which {unfit!r} is asked")
        model, state = self.initial.model, self.initial.state
        properties = PropertyChecker(model, question.must, self.initial.names, question.calm)
        self.checker = Checker(model, state, properties, self.reduce, self.keep_on)

    def run(self, bounds: Bounds = _NO_BOUNDS, visitor: Visitor = lambda _: None) -> None:
        """Search and write the counterexamples; raises UserError for an unsuitable agent."""
        with collector_paused():
            self.checker.run(bounds, visitor)
            if self._is_timed_since_it_began and not self.checker.violations:
                self._prepare(is_timed=True)
                self.checker.run(bounds, visitor)
            self._find_fair_cycles()
        self.counterexamples = [self._describe(one) for one in self.checker.violations]

    @property
    def _is_timed_since_it_began(self) -> bool:
        """Whether an agent first read the clock after states were expanded without other moments."""
        return self.initial.model.nodes.is_timed and not self.initial.model.rules.is_timed

    def report(self, name: str) -> Report:
        """Return the report under the name of the network."""
        return report(name, self.question, self.checker, self.counterexamples)

    def _find_fair_cycles(self) -> None:
        """Report fair runs that never end: of arrivals alone, and without a delivery."""
        checker = self.checker
        for one in self.question.must:
            if one.name == EVENTUALLY_QUIET:
                cycle = find_fair_cycle(checker, lambda state: not checker.model.is_idle(state), with_timers=False)
                text: str | None = "messages go to and fro for ever"
            elif one.lives:
                cycle = find_fair_cycle(checker, partial(checker.properties.is_violated, one), with_timers=True)
                text = cycle and one.evaluate(checker.properties.view(cycle.state))
            else:
                continue
            if cycle:
                checker.report(Violation(one.name, f"{text}: the last steps repeat for ever", cycle.path))
        checker.count()

    def _describe(self, violation: Violation) -> Counterexample:
        writer, path = Writer(self.initial), violation.path
        shown = [*path, *self._probe(violation)]
        about = [f"{violation.name}: {violation.text}.", f"Found by roambus explore in {len(path)} steps."]
        follows = violation.name != RAISES  # the transcript of an error ends in the error, too
        text = writer.transcript(shown, about, self._shows(), follows=follows)
        return Counterexample(violation.name, violation.text, len(path), text)

    def _probe(self, violation: Violation) -> Iterator[Step]:
        """Yield the steps of the failed probe."""
        if violation.name != PROPERTIES["probes arrive"].name:
            return
        model, state = self.initial.model, self.checker.state_after(violation.path)
        for command in probes(model, state):
            text, steps = follow_probe(model, state, command, self.initial.names)
            if text:
                yield from steps[:_LONGEST_PROBE]
                return

    def _shows(self) -> list[str]:
        names = self.initial.plan.names
        agents = self.checker.properties.view(self.checker.initial).agents.values()
        known = {name for agent in agents for name in agent.listings(names)}
        return [name for name in _SHOWN if name in known]


@dataclass(frozen=True, slots=True)
class Request:
    """An exploration as the command line asks for it."""

    path: Path
    agent: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds)
    reduce: bool = False
    keep_on: bool = False

    def explore(self, name: str, question: Question, visitor: Visitor = lambda _: None) -> Report:
        """Explore one network in this process; raises UserError, AgentError."""
        exploration = Exploration(question, Overrides(self.agent, self.parameters), self.reduce, self.keep_on)
        exploration.run(self.bounds, visitor)
        return exploration.report(name)


def explore_all(
    request: Request, watched: Callable[[Callable[[Visitor], Report]], Report], announce: Announce = silently
) -> Iterator[Report]:
    """Explore each network of a request in a child process, and yield its report.

    `announce` is called before any code that the scenario or command line names. After Ctrl-C the report is the last.
    """
    networks = variants(read_question(request.path, announce))
    head, _ = read_head(document_of(networks[0][1]))
    announce_code(request.agent or head.agent, announce)
    for name, question in networks:
        found = _in_child(partial(watched, partial(request.explore, name, question)))
        yield found
        if found.ended_by == INTERRUPTED:
            return


def _in_child(make: Callable[[], Report]) -> Report:
    """Return a report from a child process, also after an interruption; raises EndedError."""

    def make_or_raise() -> Report:
        made = make()
        if made.ended_by == INTERRUPTED:
            raise KeyboardInterrupt(made)
        return made

    try:
        return run_in_child(make_or_raise)
    except KeyboardInterrupt as interruption:
        if interruption.args and isinstance(interruption.args[0], Report):
            return interruption.args[0]
        raise
