"""One exploration from its file to what was found, with the transcripts of what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from roambus.bridge.host.event_loop import collector_paused
from roambus.bridge.transcript.transcript import Overrides
from roambus.experiments.exploring.asking import Asking
from roambus.experiments.exploring.beginning import Beginning, begin
from roambus.experiments.exploring.counterexample import Writer
from roambus.experiments.exploring.found import RAISES, Bounds, Found, Violation
from roambus.experiments.exploring.livelock import find_livelock
from roambus.experiments.exploring.probing import follow_probe, probes
from roambus.experiments.exploring.properties.catalogue import EVENTUALLY_QUIET, PROPERTIES
from roambus.experiments.exploring.rules import Step
from roambus.experiments.exploring.scenario_file import Question
from roambus.experiments.exploring.search import Manner, Search
from roambus.experiments.exploring.sharing import Exchange, SharedSearch

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
        keep: Callable[[], None] = lambda: None,
    ) -> None:
        """Searches, and writes down what is wrong; raises UserError for a state that cannot be copied.

        `keep` is called after each depth.
        """
        with collector_paused():
            self.search.run(bounds, tell, keep)
            self._look_for_livelocks()
        self.describe()

    def describe(self) -> None:
        """Writes down what was found to be wrong."""
        self.wrong = [self._describe(one) for one in self.found.violations]

    def _look_for_livelocks(self) -> None:
        wanted = any(one.name == EVENTUALLY_QUIET for one in self.beginning.question.must)
        if wanted and (steps := find_livelock(self.search)):
            text = "messages go to and fro for ever: the last steps come again and again"
            self.found.violations.append(Violation(EVENTUALLY_QUIET, text, steps))

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
"""So many steps of a probe are shown, which may go in circles."""


def explore(
    question: Question,
    overrides: Overrides | None = None,
    *,
    reduce: bool = True,
    keep_on: bool = False,
    exchange: Exchange | None = None,
) -> Exploration:
    """Gets ready to explore a question about one network, perhaps together with the processes of an `exchange`.

    Raises UserError, AgentError.
    """
    beginning = begin(question, overrides or Overrides())
    asking = Asking(beginning.network, question.must, beginning.names, question.calm)
    manner = Manner(reduce and not any(one.at_any_time for one in question.must), keep_on)
    if exchange is None:
        return Exploration(beginning, Search(beginning.network, beginning.first, asking, manner), asking)
    return Exploration(beginning, SharedSearch(beginning.network, beginning.first, asking, manner, exchange), asking)
