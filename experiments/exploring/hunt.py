"""Hunts for what is wrong in networks that are too large to explore: random histories, run one after the other.

A history is run as any transcript is. A witness sees what happens, and the properties that explorations ask are asked
here: those of deliveries at the end, those of tables before the probes, when all has had its time. Nothing is ever
proved. A hunt says how many histories it has run, of which seeds, and goes on with the next seed when it is run again.

Several processes take the next seed from one counter, so all seeds up to the last one are run. A hunt ends when its
time is over, at Ctrl-C, or at the first history that is wrong; if it is to keep on, it counts those in which each
property does not hold. The first one of each is made smaller while it stays wrong in the same way, and told as a
transcript.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from roambus.bridge.agents import Announce, announce_code, silently
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.errors import AgentError, BackendError, UserError
from roambus.bridge.host.event_loop import collector_paused
from roambus.bridge.process import interrupts_noticed
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, Plan, follow, plan
from roambus.experiments.exploring.checker import RAISES
from roambus.experiments.exploring.histories import Drawer, History, shrink
from roambus.experiments.exploring.probes import compare
from roambus.experiments.exploring.properties import EVENTUALLY_QUIET, Property, View
from roambus.experiments.exploring.scenario_file import Question, parse_question
from roambus.experiments.exploring.verdicts import Counterexample
from roambus.experiments.exploring.world import Witness, witness_by
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
    counterexamples: tuple[Counterexample, ...] = ()
    found_at: tuple[float, ...] = ()
    """After how many seconds each was found, before it was made smaller."""
    counts: tuple[int, ...] = ()
    """In how many histories each property does not hold; meaningful if the hunt has kept on."""
    is_interrupted: bool = False
    blind: tuple[tuple[str, str], ...] = ()
    """The properties that had nothing to look at in any history, and what that was."""

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        yield f"{self.name}: {self.histories} histories in {self.seconds:.0f} s, seeds {self.seeds}"
        for one, at, count in zip(self.counterexamples, self.found_at, self.counts, strict=True):
            times = f", in {count} of them" if count > 1 else ""
            yield f"  {one.name}: does not hold{times}: {one.text} (found after {at:.1f} s)"
        if not self.counterexamples:
            ended = ", the hunt was cut at Ctrl-C" if self.is_interrupted else ""
            yield f"  not decided: nothing wrong was found, which proves nothing{ended}"
        yield from (f"  {name}: says nothing: {why}" for name, why in self.blind)


class Judge:
    """Runs histories of one question, and says what is wrong with them."""

    def __init__(self, question: Question, overrides: Overrides) -> None:
        self.question = question
        self.seen: set[str] = set()
        """The names of the properties that had something to look at."""
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
        return self.run(history)[0]

    def run(self, history: History) -> tuple[dict[str, str], list[object]]:
        """The same, and what has happened: what was sent and what was delivered."""
        trial = _Trial(self.plan(history), self.question.must, len(history.probes), self.seen)
        try:
            return trial.run(), trial.happened
        except AgentError as error:
            return {RAISES: str(error)}, trial.happened

    def is_wrong(self, history: History, name: str) -> bool:
        """Whether the same property does not hold."""
        try:
            return name in self.wrong(history)
        except UserError:  # what is left makes no sense
            return False


class _Trial:
    """One run, and what is asked of it."""

    def __init__(self, planned: Plan, must: tuple[Property, ...], probes: int, seen: set[str]) -> None:
        self._planned = planned
        self._seen = seen
        self._must = must
        slots = planned.timeline.slots
        self._first, self._probed = slots[0].end, slots[len(slots) - probes].start if probes else slots[-1].end
        self._witness = Witness(planned.timeline, planned.scenario, self._look, (planned.head.slot - 1, self._probed))
        self._wrong: dict[str, str] = {}
        self._has_looked = False
        drawn = planned.timeline.network
        self._names = tuple(drawn.node_name(node) for node in range(len(drawn.processes)))

    def run(self) -> dict[str, str]:
        planned, witness = self._planned, self._witness
        planned.run(make_ideal(planned.scenario), TraceWriter(), witness_by(witness))
        self._look(planned.scenario.time_limit)
        self._ask(one for one in self._must if one.history or one.counts or one.name == "probes arrive")
        return self._wrong

    @property
    def happened(self) -> list[object]:
        """The times and types of all messages, and who was given what."""
        return [*self._witness.sent, self._witness.world.delivered]

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
            if one.name not in self._seen and one.sees(view):
                self._seen.add(one.name)
            if one.name not in self._wrong and (text := one.evaluate(view)):
                self._wrong[one.name] = text

    def _view(self) -> View:
        witness = self._witness
        agents = dict(enumerate(witness.agents))
        can_probe = witness.published_by(self._probed) < len(witness.world.published)
        return View(agents, witness.world, self._probed, self._names, self._probe, lambda: can_probe)

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
    """What is hunted, from which seed on, and for how long."""

    path: Path
    text: str
    overrides: Overrides
    seconds: float
    seed: int = 0
    keep_on: bool = False
    """Goes on when something is wrong, to count how often it is."""


class _Course(NamedTuple):
    """What the processes of a hunt share."""

    next_seed: Any
    """A number that one process at a time takes, and counts up."""
    is_over: Any
    """An event: the hunt is over for all."""

    def take_seed(self) -> int:
        with self.next_seed.get_lock():
            seed: int = self.next_seed.value
            self.next_seed.value += 1
        return seed


@dataclass
class _Part:
    """What one process has run, and the properties that did not hold."""

    histories: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[float, int]] = field(default_factory=dict)
    """After how many seconds, and in the history of which seed, each was found first."""
    seen: set[str] = field(default_factory=set)
    """Those that had something to look at."""


_course: _Course


def _share(course: _Course) -> None:
    """Prepares a process; whoever conducts the hunt hears Ctrl-C, and ends it for all."""
    global _course  # noqa: PLW0603  # the way to hand something shared to the processes of a pool
    _course = course
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _chase(one: Chase) -> _Part:
    """Runs the histories of the seeds that it takes until the hunt is over."""
    judge = Judge(parse_question(one.path, one.text), one.overrides)
    part, started = _Part(seen=judge.seen), time.monotonic()
    with collector_paused():
        while time.monotonic() - started < one.seconds and not _course.is_over.is_set():
            seed = _course.take_seed()
            wrong = judge.wrong(judge.drawer.draw(seed))
            part.histories += 1
            for name in wrong:
                part.counts[name] += 1
                part.first.setdefault(name, (time.monotonic() - started, seed))
            if wrong and not one.keep_on:
                _course.is_over.set()
    return part


def _told(one: Chase, name: str, seed: int) -> Counterexample:
    """What is wrong in the history of a seed, as small as it can be made in some time, as a transcript."""
    judge, end = Judge(parse_question(one.path, one.text), one.overrides), time.monotonic() + _SHRINKING_S
    history = judge.drawer.draw(seed)
    small = shrink(history, lambda one: judge.is_wrong(one, name), lambda: time.monotonic() > end)
    text = judge.wrong(small)[name]
    about = f"# {name}: {text}.\n# Found by roambus explore --hunt, in the history of seed {seed}.\n"
    lines = f"{about}\n{judge.drawer.text(small)}"
    shown = lines if name == RAISES else follow(parse_document(judge.question.path, lines))
    return Counterexample(name, text, len(small.deeds), shown)


def hunt(
    one: Chase, jobs: int, announce: Announce = silently, tell: Callable[[int, float], None] = lambda *_: None
) -> Hunted:
    """Hunts with so many processes for so long, or until something is wrong.

    `announce` is told before any code runs that a scenario or the command line names, and `tell` now and then how many
    histories were begun, and how many seconds have passed. Raises UserError, AgentError, BackendError.
    """
    started, context = time.monotonic(), multiprocessing.get_context("spawn")
    judge = Judge(parse_question(one.path, one.text, announce), one.overrides)
    announce_code(judge.agent, announce)
    judge.plan(judge.drawer.draw(one.seed))  # what is wrong with the file is told before anything is started
    course = _Course(context.Value("q", one.seed), context.Event())
    with interrupts_noticed() as is_interrupted, ProcessPoolExecutor(jobs, context, _share, (course,)) as pool:
        running: list[Future[_Part]] = [pool.submit(_chase, one) for _ in range(jobs)]
        while wait(running, timeout=0.2).not_done:
            tell(course.next_seed.value - one.seed, time.monotonic() - started)
            if is_interrupted():
                course.is_over.set()
        parts = _results(running)
        found = _first_of_each(parts, one)
        wrong = tuple(pool.map(_told, [one] * len(found), found, [seed for _, seed in found.values()]))
        counts = sum((part.counts for part in parts), Counter[str]())
        return Hunted(
            one.path.stem,
            sum(part.histories for part in parts),
            f"{one.seed}..{course.next_seed.value - 1}",
            time.monotonic() - started,
            wrong,
            tuple(at for at, _ in found.values()),
            tuple(counts[name] for name in found),
            is_interrupted(),
            tuple((it.name, it.blind) for it in judge.question.must if all(it.name not in part.seen for part in parts)),
        )


def _results(running: Iterable[Future[_Part]]) -> list[_Part]:
    """What each process has done; raises BackendError if one was killed, and so has taken what it knew with it."""
    try:
        return [part.result() for part in running]
    except BrokenProcessPool:
        raise BackendError("a process of the hunt was killed, perhaps because memory was short: hunt again") from None


def _first_of_each(parts: Iterable[_Part], one: Chase) -> dict[str, tuple[float, int]]:
    """When, and in which history, each property was first found not to hold; the first alone if it does not keep on."""
    firsts = sorted(((at, seed, name) for part in parts for name, (at, seed) in part.first.items()), reverse=True)
    found = {name: (at, seed) for at, seed, name in firsts}
    ordered = sorted(found, key=lambda name: found[name])
    return {name: found[name] for name in ordered[: None if one.keep_on else 1]}
