"""One exploration, from its file to its report.

Each network is explored in a child process, so an agent that exits or hangs ends one exploration only, and Ctrl-C
always works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial

from roambus.bridge.host.event_loop import collector_paused
from roambus.bridge.system.child_process import EndedError, run_in_child
from roambus.bridge.system.errors import AgentError
from roambus.bridge.transcript.transcript import Overrides, plan
from roambus.extensions.exploring.checker import INTERRUPTED, RAISES, REPEATS, Bounds, Checker, Violation, Visitor
from roambus.extensions.exploring.counterexamples import Writer
from roambus.extensions.exploring.fair_cycles import find_fair_cycle
from roambus.extensions.exploring.fresh_runs import FreshProcesses, carry_out
from roambus.extensions.exploring.initial_state import begin, document_of
from roambus.extensions.exploring.nodes import ENDLESS
from roambus.extensions.exploring.properties import EVENTUALLY_QUIET, PROPERTIES
from roambus.extensions.exploring.property_checker import PropertyChecker
from roambus.extensions.exploring.real_runs import Judge
from roambus.extensions.exploring.repetition import Repetition, states_on, walks_of
from roambus.extensions.exploring.scenario_file import Question
from roambus.extensions.exploring.steps import State, Step
from roambus.extensions.exploring.verdicts import Counterexample, Report, report

_NO_BOUNDS = Bounds()
_SHOWN = ("table", "stored")
"""The listings at the end of a counterexample, if the agent has them."""
_RUNS_A_WALK = 2
_LONGEST_SHOWN = 30
"""Shown steps of a probe, which may never end."""


class Exploration:
    """The search about one question, and its counterexamples."""

    def __init__(self, question: Question, overrides: Overrides, keep_on: bool = False) -> None:
        """Carry out the setup; raises UserError, AgentError."""
        self.question, self.overrides, self._keep_on = question, overrides, keep_on
        self.counterexamples: list[Counterexample] = []
        plan(document_of(question), overrides)  # loads the agents' code
        self._fresh = FreshProcesses(partial(carry_out, question))
        self._prepare(is_timed=False)

    def _prepare(self, *, is_timed: bool) -> None:
        self.initial = begin(self.question, self.overrides, is_timed=is_timed)
        model, state = self.initial.model, self.initial.state
        properties = PropertyChecker(model, self.question.must, self.initial.names, self.question.calm)
        self.checker = Checker(model, state, properties, keep_on=self._keep_on)

    def run(self, bounds: Bounds = _NO_BOUNDS, visitor: Visitor = lambda _: None) -> None:
        """Search and write the counterexamples; raises UserError for an unsuitable agent."""
        with collector_paused():
            self.checker.run(bounds, visitor)
            model = self.initial.model
            if model.nodes.is_timed and not model.rules.is_timed and not self.checker.violations:
                # An agent first read the clock after states were expanded without other moments.
                self._prepare(is_timed=True)
                self.checker.run(bounds, visitor)
            self._find_fair_cycles()
            self._repeat()
        self.counterexamples = [self._describe(violation) for violation in self.checker.violations]

    def report(self, name: str) -> Report:
        """Return the report under the name of the network."""
        return report(name, self.checker, self.counterexamples)

    def _find_fair_cycles(self) -> None:
        """Report fair runs that never end: of arrivals alone, and without a delivery."""
        checker, model = self.checker, self.checker.model
        for property_ in self.question.must:
            if property_.name != EVENTUALLY_QUIET and not property_.lives:
                continue
            lacks: Callable[[State], bool] = (
                partial(checker.properties.is_violated, property_)
                if property_.lives
                else lambda state: not model.is_idle(state)
            )
            cycle = find_fair_cycle(checker, lacks, with_timers=property_.lives)
            if cycle:
                lacking = property_.evaluate(checker.properties.view(cycle.state))
                text = lacking if property_.lives else "messages go to and fro for ever"
                checker.report(Violation(property_.name, f"{text}: the last steps repeat for ever", cycle.path))
        checker.count()

    def _repeat(self) -> None:
        """Compare the search with fresh runs; if one differs, the agent's violations say nothing."""
        checker, writer = self.checker, Writer(self.initial)
        if checker.figures.ended_by == INTERRUPTED:
            return
        repetition, judge = Repetition(checker, writer, self._fresh), Judge(checker, writer, self._fresh)
        known = [(found.path, self._probe_of(found)) for found in checker.violations if found.name != RAISES]
        different = repetition.check(known) or self._unrepeated_error(writer)
        checker.figures.walks, checker.figures.walked_steps = repetition.walks, repetition.steps
        if different:
            checker.violations = [different]
        elif not checker.violations and (checker.is_over or checker.depth_bound is not None):
            checker.violations += filter(None, [judge.judge(_RUNS_A_WALK * walks_of(checker))])
        checker.figures.real_runs = judge.runs

    def _unrepeated_error(self, writer: Writer) -> Violation | None:
        """Return the first error that a fresh run does not raise: it comes of a copy, or of a moment's type."""
        for found in self.checker.violations:
            if found.name == RAISES and ENDLESS not in found.text:
                with suppress(AgentError, EndedError):
                    self._fresh.call(writer.transcript(found.path))
                    text = f"a fresh run does not raise the error of the search: {found.text}"
                    return Violation(REPEATS, text, found.path)
        return None

    def _describe(self, violation: Violation) -> Counterexample:
        name, text, path = violation.name, violation.text, violation.path
        how = "a run with times" if violation.transcript else f"{len(path)} steps"
        about = [f"{name}: {text}.", f"Found by roambus explore in {how}."]
        agents, names = self.checker.properties.view(self.initial.state).agents, self.initial.plan.names
        known = {listing for agent in agents.values() for listing in agent.listings(names)}
        shows = [listing for listing in _SHOWN if listing in known]
        shown = "".join(map("# {}\n".format, about)) + violation.transcript
        if not violation.transcript:
            shown = Writer(self.initial).transcript((*path, *self._probe_of(violation)), about, shows)
        if name != RAISES:
            with suppress(AgentError, EndedError):  # the transcript of an error ends in the error, too
                shown = self._fresh.call(shown)
        return Counterexample(name, text, len(path), shown)

    def _probe_of(self, violation: Violation) -> tuple[Step, ...]:
        """Return the steps of the probe that shows a violation, up to the end of an instant."""
        if violation.name != PROPERTIES["probes arrive"].name or violation.transcript:
            return ()
        *_, state = states_on(self.initial.model, self.initial.state, violation.path)
        steps = self.checker.properties.failed_probe(state)[1][:_LONGEST_SHOWN]
        last = next((place for place, step in enumerate(reversed(steps)) if not step.is_open), 0)
        return steps[: len(steps) - last]


def search(
    question: Question,
    overrides: Overrides,
    bounds: Bounds = _NO_BOUNDS,
    visitor: Visitor = lambda _: None,
    keep_on: bool = False,
) -> Exploration:
    """Return an exploration after its search; raises UserError, AgentError."""
    exploration = Exploration(question, overrides, keep_on)
    exploration.run(bounds, visitor)
    return exploration


def explore_all(
    networks: Iterable[tuple[str, Question]], explore_one: Callable[[Question], Exploration]
) -> Iterator[Report]:
    """Explore each network in a child process, and yield its report; after Ctrl-C it is the last."""
    for name, question in networks:

        def make(name: str = name, question: Question = question) -> Report:
            found = explore_one(question).report(name)
            if found.ended_by == INTERRUPTED:
                raise KeyboardInterrupt(found)
            return found

        try:
            yield run_in_child(make)
        except KeyboardInterrupt as interruption:
            if not interruption.args or not isinstance(interruption.args[0], Report):
                raise
            yield interruption.args[0]
            return
