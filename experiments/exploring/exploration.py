"""One exploration from its file to what was found, with the transcripts of what is wrong.

What an exploration found, as data and as a text.

A property holds only if all that can happen was tried, and if a state was reached in which the property is asked. What
was not seen is said of each property: "not decided" if the search was cut anywhere, and "says nothing" if all states
were explored, but none in which there was something to ask. What stood for more than itself, such as the ends of a
range from which an agent draws, is said with "holds".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from roambus.bridge.agents import Announce, announce_code, silently
from roambus.bridge.host.event_loop import collector_paused
from roambus.bridge.transcript.head import read_head
from roambus.bridge.transcript.transcript import Overrides
from roambus.experiments.exploring.livelock import find_endless
from roambus.experiments.exploring.probes import Asking, follow_probe, probes
from roambus.experiments.exploring.properties import EVENTUALLY_QUIET, PROPERTIES, Property
from roambus.experiments.exploring.rules import Step
from roambus.experiments.exploring.scenario_file import Question, read_question, variants
from roambus.experiments.exploring.search import INTERRUPTED, RAISES, Bounds, Found, Manner, Search, Violation
from roambus.experiments.exploring.transcripts import Beginning, Writer, begin, document_of

_SHOWN = ("table", "stored")
"""The listings that a transcript of what is wrong shows at its end, if the agent has them."""


class Wrong(NamedTuple):
    """A property that does not hold, how, and a transcript that shows it."""

    name: str
    text: str
    steps: int
    transcript: str


@dataclass(slots=True)
class Exploration:
    """A search about one question, and what came of it."""

    beginning: Beginning
    search: Search
    asking: Asking
    wrong: list[Wrong] = field(default_factory=list)

    @property
    def found(self) -> Found:
        """The figures of the search."""
        return self.search.found

    def run(
        self,
        bounds: Bounds,
        tell: Callable[[Found], None] = lambda _: None,
    ) -> None:
        """Searches, and writes down what is wrong; raises UserError for a state that cannot be copied."""
        with collector_paused():
            self.search.run(bounds, tell)
            self._look_for_endless_runs()
        self.describe()

    def describe(self) -> None:
        """Writes down what was found to be wrong."""
        self.wrong = [self._describe(one) for one in self.found.violations]

    def _look_for_endless_runs(self) -> None:
        """Whatever of what was found never ends though all is fair: of arrivals alone, and of what lacks something."""
        found, search = self.found, self.search
        found.endless = True
        for one in self.beginning.question.must:
            if one.name == EVENTUALLY_QUIET:
                endless = find_endless(search, lambda state: not search.network.is_idle(state), with_timers=False)
                text: str | None = "messages go to and fro for ever"
            elif one.lives and found.endless:
                endless = find_endless(search, partial(self.asking.is_wrong, one), with_timers=True)
                text = endless and one.check(self.asking.view(endless.state))
            else:
                continue
            if endless:
                found.report(Violation(one.name, f"{text}: the last steps come again and again", endless.steps))
        search.sum_up()

    def _describe(self, violation: Violation) -> Wrong:
        writer, steps = Writer(self.beginning), violation.steps
        shown = [*steps, *self._probe(violation)]
        about = [f"{violation.name}: {violation.text}.", f"Found by roambus explore in {len(steps)} steps."]
        follows = violation.name != RAISES  # the transcript of an error ends in the error, too
        text = writer.transcript(shown, about, self._shows(), follows=follows)
        return Wrong(violation.name, violation.text, len(steps), text)

    def _probe(self, violation: Violation) -> Iterator[Step]:
        """The steps of the probe that does not arrive."""
        if violation.name != PROPERTIES["probes arrive"].name:
            return
        state = self.search.state_after(violation.steps)
        for command in probes(self.beginning.network, state):
            text, steps = follow_probe(self.beginning.network, state, command, self.beginning.names)
            if text:
                yield from steps[:_LONGEST_PROBE]
                return

    def _shows(self) -> list[str]:
        names = self.beginning.plan.names
        agents = [self.asking.view(self.search.state(0)).agents[node] for node in range(self.beginning.network.size)]
        known = {name for agent in agents for name in agent.listings(names)}
        return [name for name in _SHOWN if name in known]


_LONGEST_PROBE = 30
"""Steps of a probe that are shown; a probe may go in circles."""


def explore(
    question: Question,
    overrides: Overrides | None = None,
    *,
    reduce: bool = True,
    keep_on: bool = False,
) -> Exploration:
    """Gets ready to explore a question about one network; raises UserError, AgentError."""
    beginning = begin(question, overrides or Overrides())
    asking = Asking(beginning.network, question.must, beginning.names, question.calm)
    manner = Manner(reduce and not any(one.at_any_time for one in question.must), keep_on)
    return Exploration(beginning, Search(beginning.network, beginning.first, asking, manner), asking)


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
        extent=undecided
        or ("all states were explored" if found.narrowed else "everything was explored") + _narrowed(found),
        verdicts=verdicts,
        wrong=tuple(wrong),
    )


def _verdicts(question: Question, found: Found, wrong: Sequence[Wrong], *, is_over: bool) -> tuple[dict[str, str], str]:
    """What is known of each property, and what kept the search from knowing more; empty if nothing did."""
    end = [] if is_over else [found.ended_by or "the first thing that is wrong"]
    cut, unquiet = ", at ".join((*end, *found.cuts)), _unquiet(found)
    violated = {one.name: f"does not hold: {one.text}" for one in wrong}
    holds = f"holds{_narrowed(found)}"
    unseen = {
        one.name: (one.waits_for_quiet and not (one.lives and found.endless and not cut) and unquiet)
        or ("" if cut else _unseen(one, found))
        for one in question.must
    }
    verdicts = {one.name: _verdict(cut, unseen[one.name], holds) for one in question.must} | violated
    if cut:
        return verdicts, f"cut at {cut}" if is_over else f"ended by {end[0]}"
    why = next((unseen[one.name] for one in question.must if unseen[one.name] and one.name not in violated), "")
    return verdicts, f"all states were explored, and {why}" if why else ""


def _narrowed(found: Found) -> str:
    """What stood for all that can be, if anything did."""
    return f", with {' and '.join(found.narrowed)}" if found.narrowed else ""


def _unseen(one: Property, found: Found) -> str:
    return "" if one.name in found.seen or one.name == EVENTUALLY_QUIET else one.blind


def _unquiet(found: Found) -> str:
    """What to say if no quiet state was reached by any step; nothing may happen to a network of a single state."""
    if not found.quiet:
        return "no quiet state was reached"
    return "no quiet state was reached but the first" if found.quiet == found.begins_quiet and found.states > 1 else ""


def _verdict(cut: str, unseen: str, holds: str) -> str:
    if cut:
        return ", and ".join(filter(None, (f"not decided: the search was cut at {cut}", unseen)))
    return f"says nothing: {unseen}" if unseen else holds


def file_name(text: str) -> str:
    """The name of a network, or of a property, as a file or folder can have it."""
    return re.sub(r"[^\w.-]", lambda match: "_" if match[0] == " " else "-", text)


@dataclass(frozen=True, slots=True)
class Request:
    """An exploration as the command line asks for it."""

    path: Path
    agent: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds)
    reduce: bool = True
    keep_on: bool = False


def explore_all(
    request: Request, tell: Callable[[Found], None] = lambda _: None, announce: Announce = silently
) -> Iterator[Report]:
    """Explore each network of a request in turn, and yield its report.

    `announce` is called before any code runs that a scenario or the command line names.
    """
    networks = variants(read_question(request.path, announce))
    head, _ = read_head(document_of(networks[0][1]))
    announce_code(request.agent or head.agent, announce)
    for name, question in networks:
        overrides = Overrides(request.agent, request.parameters)
        exploration = explore(question, overrides, reduce=request.reduce, keep_on=request.keep_on)
        exploration.run(request.bounds, tell)
        yield report(name, exploration)
        if exploration.found.ended_by == INTERRUPTED:
            return
