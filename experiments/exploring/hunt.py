"""Hunts for what is wrong in networks that are too large to explore: random histories, run one after the other.

A history is run as any transcript is. A witness sees what happens, and the properties that explorations ask are asked
here: those of deliveries at the end, those of tables before the probes, when all has had its time. Nothing is ever
proved. A hunt says how many histories it has run, of which seeds, and goes on with the next seed when it is run again.

What is wrong is made smaller while it stays wrong in the same way, and told as a transcript.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from roambus.bridge.agents import Announce, announce_code, silently
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.errors import AgentError, UserError
from roambus.bridge.host.event_loop import Host, collector_paused
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, Plan, follow, plan
from roambus.experiments.exploring.exploration import Wrong
from roambus.experiments.exploring.histories import Drawer, History, shrink
from roambus.experiments.exploring.probes import compare
from roambus.experiments.exploring.properties import EVENTUALLY_QUIET, Property, View
from roambus.experiments.exploring.scenario_file import Question, parse_question
from roambus.experiments.exploring.search import RAISES
from roambus.experiments.exploring.world import Witness, witnessed
from roambus.python_protocol.vocabulary import SimTime

_SHRINKING_S = 60
"""The longest time for making a found history smaller."""


@dataclass(frozen=True)
class Hunted:
    """What a hunt has run, and what it has found."""

    name: str
    histories: int
    seeds: str
    """As "0..99", those that were run."""
    seconds: float
    wrong: tuple[Wrong, ...] = ()
    found_at: float = 0.0
    """After how many seconds what is wrong was found, before it was made smaller."""

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        yield f"{self.name}: {self.histories} histories in {self.seconds:.0f} s, seeds {self.seeds}"
        for one in self.wrong:
            yield f"  {one.name}: does not hold: {one.text} (found after {self.found_at:.1f} s)"
        if not self.wrong:
            yield "  not decided: nothing wrong was found, which proves nothing"


class Judge:
    """Runs histories of one question, and says what is wrong with them."""

    def __init__(self, question: Question, overrides: Overrides) -> None:
        self.question = question
        self._overrides = overrides
        settings = dict(overrides.parameters)
        own = next((line for line in question.head if line.startswith("agent ")), "")
        name, *given = own.removeprefix("agent ").split() or [""]
        if overrides.agent:
            name, given = overrides.agent, []
        self.agent = name
        kept = [one for one in given if one.partition("=")[0] not in settings]
        self.drawer = Drawer(
            question, " ".join(("agent", name, *kept, *(f"{key}={it}" for key, it in settings.items())))
        )

    def plan(self, history: History) -> Plan:
        """A history as a run; raises UserError for one in which something cannot be done."""
        return plan(parse_document(self.question.path, self.drawer.text(history)))

    def wrong(self, history: History) -> dict[str, str]:
        """The properties that do not hold, and how they do not."""
        planned = self.plan(history)
        trial = _Trial(planned, self.question.must, len(history.probes))
        try:
            return trial.run()
        except AgentError as error:
            return {RAISES: str(error)}

    def is_wrong(self, history: History, name: str) -> bool:
        """Whether the same property does not hold."""
        try:
            return name in self.wrong(history)
        except UserError:  # what is left makes no sense
            return False


class _Trial:
    """One run, and what is asked of it."""

    def __init__(self, planned: Plan, must: tuple[Property, ...], probes: int) -> None:
        self._planned = planned
        self._must = must
        slots = planned.timeline.slots
        self._first, self._probed = slots[0].end, slots[len(slots) - probes].start if probes else slots[-1].end
        self._witness = Witness(planned.timeline, planned.scenario, self._look)
        self._wrong: dict[str, str] = {}
        self._has_looked = False
        drawn = planned.timeline.network
        self._names = tuple(drawn.node_name(node) for node in range(len(drawn.processes)))

    def run(self) -> dict[str, str]:
        planned, witness = self._planned, self._witness
        agent = witnessed(planned.agent, witness)
        Host(planned.scenario, agent, make_ideal(planned.scenario), TraceWriter()).run()
        self._look(planned.scenario.time_limit)
        self._ask(one for one in self._must if one.history or one.counts or one.name == "probes arrive")
        return self._wrong

    def _look(self, now: SimTime) -> None:
        """Asks what is asked of tables once, when all has had its time, and at any time what is asked then."""
        if now >= self._probed and not self._has_looked:
            self._has_looked = True
            self._witness.reach(self._probed)
            self._ask(one for one in self._must if not (one.history or one.counts or one.name == "probes arrive"))
            self._look_for_noise()
        elif any(one.at_any_time for one in self._must):
            self._ask(one for one in self._must if one.at_any_time)

    def _look_for_noise(self) -> None:
        """What is sent in the end, but never was while nothing had happened yet: heartbeats are sent then, too."""
        begin = self._probed - self._planned.head.slot // 4
        beats = {kind for at, kind in self._witness.sent if at < self._first}
        late = [kind for at, kind in self._witness.sent if begin < at < self._probed and kind not in beats]
        if late and any(one.name == EVENTUALLY_QUIET for one in self._must):
            self._wrong.setdefault(
                EVENTUALLY_QUIET, f"{len(late)} messages such as {late[-1]} are sent when all is over"
            )

    def _ask(self, properties: Any) -> None:
        view = self._view()
        for one in properties:
            if one.name not in self._wrong and (text := one.check(view)):
                self._wrong[one.name] = text

    def _view(self) -> View:
        witness = self._witness
        agents = dict(enumerate(witness.agents))
        return View(agents, witness.world, self._probed, self._names, self._probe, lambda: True)

    def _probe(self) -> str | None:
        """What is wrong with what was published in the end: it is due to those who want it and are in reach then."""
        world = self._witness.world
        probes = len(world.published) - self._witness.published_by(self._probed)
        for one in world.published[len(world.published) - probes :]:
            text = compare(one.due, world.delivered, one.notification.id, self._names)
            if text:
                return text
        return None


@dataclass(frozen=True)
class Chase:
    """What one process has to do with a hunt: run the histories of every so manieth seed, for so long."""

    path: Path
    text: str
    overrides: Overrides
    seconds: float
    seed: int = 0
    step: int = 1


@dataclass
class _Part:
    """What one process has found."""

    histories: int = 0
    last: int = -1
    wrong: Wrong | None = None
    found_at: float = 0.0
    seed: int = field(default=-1)


def chase(one: Chase) -> _Part:
    """Runs histories until one is wrong, the time is over, or another process has found something."""
    judge = Judge(parse_question(one.path, one.text), one.overrides)
    part, started = _Part(), time.monotonic()
    with collector_paused():
        seed = one.seed
        while time.monotonic() - started < one.seconds and not _is_found():
            history = judge.drawer.draw(seed)
            wrong = judge.wrong(history)
            part.histories, part.last = part.histories + 1, seed
            if wrong:
                part.found_at = time.monotonic() - started
                _tell_found()
                part.seed, part.wrong = seed, _told(judge, history, next(iter(wrong)), seed)
                break
            seed += one.step
    return part


def _told(judge: Judge, history: History, name: str, seed: int) -> Wrong:
    """What is wrong, as small as it can be made in some time, as a transcript."""
    end = time.monotonic() + _SHRINKING_S
    small = shrink(history, lambda one: judge.is_wrong(one, name), lambda: time.monotonic() > end)
    text = judge.wrong(small)[name]
    about = f"# {name}: {text}.\n# Found by roambus explore --hunt, in the history of seed {seed}.\n"
    lines = f"{about}\n{judge.drawer.text(small)}"
    shown = lines if name == RAISES else follow(parse_document(judge.question.path, lines))
    return Wrong(name, text, len(small.deeds), shown)


_shared: Any = None


def _share(event: Any) -> None:
    global _shared  # noqa: PLW0603  # the way to hand something shared to the processes of a pool
    _shared = event


def _is_found() -> bool:
    return _shared is not None and _shared.is_set()


def _tell_found() -> None:
    if _shared is not None:
        _shared.set()


def hunt(first: Chase, jobs: int, announce: Announce = silently) -> Hunted:
    """Hunts with so many processes for so long, or until something is wrong.

    `announce` is told before any code runs that a scenario or the command line names. Raises UserError, AgentError.
    """
    started, seed = time.monotonic(), first.seed
    judge = Judge(parse_question(first.path, first.text, announce), first.overrides)
    announce_code(judge.agent, announce)
    judge.plan(judge.drawer.draw(seed))  # what is wrong with the file is told before anything is started
    chases = [replace(first, seed=seed + index, step=jobs) for index in range(jobs)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _share, (context.Event(),)) as pool:
        parts = list(pool.map(chase, chases))
    found = sorted((part for part in parts if part.wrong), key=lambda part: part.found_at)[:1]
    return Hunted(
        first.path.stem,
        sum(part.histories for part in parts),
        f"{seed}..{max(part.last for part in parts)}",
        time.monotonic() - started,
        tuple(part.wrong for part in found if part.wrong),
        found[0].found_at if found else 0.0,
    )
