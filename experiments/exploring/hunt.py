"""Hunts for errors in networks that are too large to explore: random histories, one by one.

A history runs as a transcript with a witness. Deliveries are judged at the end, tables before the probes, once all has
settled. Nothing is ever proved: a hunt reports its seeds, and continues with the next when run again.

Processes take seeds from one counter, so all up to the last are run. A hunt ends after its time, at Ctrl-C, or at the
first violation, unless it keeps on and counts. Each violation's first history is shrunk and written as a transcript.
"""

from __future__ import annotations

import fcntl
import gc
import multiprocessing
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, NamedTuple

from roambus.bridge.agents import Announce, announce_code, silently
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.errors import AgentError, BackendError, UserError
from roambus.bridge.host.event_loop import collector_paused
from roambus.bridge.process import INTERRUPTING, EndedError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, Plan, follow, plan
from roambus.experiments.exploring.checker import RAISES, peak_mib
from roambus.experiments.exploring.histories import Drawer, History, shrink
from roambus.experiments.exploring.properties import EVENTUALLY_QUIET, Property, View
from roambus.experiments.exploring.property_checker import compare
from roambus.experiments.exploring.scenario_file import Question, parse_question
from roambus.experiments.exploring.verdicts import Counterexample
from roambus.experiments.exploring.world import Witness, witness_by
from roambus.python_protocol.vocabulary import SimTime


class Hunted(NamedTuple):
    """The runs and findings of a hunt."""

    name: str
    histories: int
    seeds: str
    """As "0..99", those that were run."""
    seconds: float
    counterexamples: tuple[Counterexample, ...] = ()
    found_at: tuple[float, ...] = ()
    """Seconds until each was found, before shrinking."""
    counts: tuple[int, ...] = ()
    """The number of histories that violate each property; meaningful if the hunt kept on."""
    interrupted_by: str | None = None
    """The signal that ended it."""
    blind: tuple[tuple[str, str], ...] = ()
    """The properties without anything to look at in any history, and the reason."""

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        yield f"{self.name}: {self.histories} histories in {self.seconds:.0f} s, seeds {self.seeds}"
        for one, at, count in zip(self.counterexamples, self.found_at, self.counts, strict=True):
            times = f", in {count} of them" if count > 1 else ""
            yield f"  {one.name}: does not hold{times}: {one.text} (found after {at:.1f} s)"
        if not self.counterexamples:
            ended = f", the hunt was ended by the signal {self.interrupted_by}" if self.interrupted_by else ""
            yield f"  not decided: nothing wrong was found, which proves nothing{ended}"
        yield from (f"  {name}: says nothing: {why}" for name, why in self.blind)


class Judge:
    """Runs histories of one question, and finds violations."""

    def __init__(self, question: Question, overrides: Overrides) -> None:
        self.question = question
        self.seen: set[str] = set()
        """The properties that had something to look at."""
        own = next((line.split()[1:] for line in question.head if line.startswith("agent ")), [""])
        self.agent, *given = [overrides.agent] if overrides.agent else own
        settings = dict(one.split("=", 1) for one in given) | dict(overrides.parameters)
        self.drawer = Drawer(
            question, " ".join(("agent", self.agent, *(f"{key}={it}" for key, it in settings.items())))
        )

    def plan(self, history: History) -> Plan:
        """A history as a run; raises UserError for an impossible command."""
        return plan(parse_document(self.question.path, self.drawer.text(history)))

    def wrong(self, history: History) -> dict[str, str]:
        """The violated properties, with reasons."""
        return self.run(history)[0]

    def run(self, history: History) -> tuple[dict[str, str], list[object]]:
        """The violations, and the run's messages and deliveries."""
        trial = _Trial(self.plan(history), self.question.must, len(history.probes), self.seen)
        try:
            trial.run()
        except AgentError as error:
            trial.wrong = {RAISES: str(error)}
        return trial.wrong, [*trial.witness.sent, trial.witness.world.delivered]

    def is_wrong(self, history: History, name: str) -> bool:
        """Whether the same property does not hold."""
        try:
            return name in self.wrong(history)
        except UserError:  # what is left makes no sense
            return False


class _Trial:
    """One run, and what is asked of it."""

    def __init__(self, planned: Plan, must: tuple[Property, ...], probes: int, seen: set[str]) -> None:
        slots = planned.timeline.slots
        self._planned, self._must, self._seen = planned, must, seen
        self._first, self._probed = slots[0].end, slots[len(slots) - probes].start if probes else slots[-1].end
        self.witness = Witness(planned.timeline, planned.scenario, self._look, (planned.head.slot - 1, self._probed))
        self.wrong: dict[str, str] = {}
        self._has_looked = False
        drawn = planned.timeline.network
        self._names = tuple(map(drawn.node_name, range(len(drawn.processes))))

    def run(self) -> None:
        self._planned.run(make_ideal(self._planned.scenario), TraceWriter(), witness_by(self.witness))
        self._look(self._planned.scenario.time_limit)
        self._ask(_is_asked_at_the_end)

    def _look(self, now: SimTime) -> None:
        """Judge tables once all has settled, and properties at any time."""
        if now >= self._probed and not self._has_looked:
            self._has_looked = True
            self.witness.reach(self._probed)
            self._ask(lambda one: not _is_asked_at_the_end(one))
            self._look_for_noise()
        elif any(one.at_any_time for one in self._must):
            self._ask(lambda one: one.at_any_time)

    def _look_for_noise(self) -> None:
        """Report messages at the end, but for heartbeats: types sent before the first event, too."""
        begin = self._probed - self._planned.head.slot // 4
        beats = {kind for at, kind in self.witness.sent if at < self._first}
        late = [kind for at, kind in self.witness.sent if begin < at < self._probed and kind not in beats]
        if late and any(one.name == EVENTUALLY_QUIET for one in self._must):
            text = f"{len(late)} messages such as {late[-1]} are sent when all is over"
            self.wrong.setdefault(EVENTUALLY_QUIET, text)

    def _ask(self, is_asked: Callable[[Property], bool]) -> None:
        witness = self.witness
        agents, can_probe = dict(enumerate(witness.agents)), self._count_probes() > 0
        view = View(agents, witness.world, self._probed, self._names, self._probe, lambda: can_probe)
        for one in filter(is_asked, self._must):
            if one.name not in self._seen and one.sees(view):
                self._seen.add(one.name)
            if one.name not in self.wrong and (text := one.evaluate(view)):
                self.wrong[one.name] = text

    def _count_probes(self) -> int:
        return len(self.witness.world.published) - self.witness.published_by(self._probed)

    def _probe(self) -> str | None:
        """The error of the last publications: they are due to interested nodes in reach."""
        world = self.witness.world
        probes = world.published[len(world.published) - self._count_probes() :]
        told = (compare(one.due, world.delivered, one.notification.id, self._names) for one in probes)
        return next(filter(None, told), None)


def _is_asked_at_the_end(one: Property) -> bool:
    return one.history or one.counts or one.name == "probes arrive"


@dataclass(frozen=True)
class HuntRequest:
    """A hunt as the command line asks for it."""

    path: Path
    text: str
    overrides: Overrides
    seconds: float
    seed: int = 0
    keep_on: bool = False
    """Continue after violations, to count them."""
    memory_mib: int = 500
    """A process above this limit is replaced."""


@dataclass
class _Part:
    """The histories of one process, and the violated properties."""

    histories: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[float, int]] = field(default_factory=dict)
    """The time by `time.monotonic` and the seed of each first violation."""
    seen: set[str] = field(default_factory=set)
    """Those that had something to look at."""
    cut: tuple[int, ...] = ()
    """The seed of the history that the end of the time interrupted, which is not judged."""


class _TimeOverError(BaseException):
    """The hunt's time is over within a history."""


_GRACE_S = 2.0
"""A hunt may exceed its time by this, or by a tenth."""
_FAREWELL_S = 2.0
"""After a signal processes may finish their histories for so long."""
_LOOK_S = 0.1
_COLLECT_EVERY = 16
"""Histories between collections of garbage."""


class Hunt:
    """The processes of one hunt, which share a counter of seeds and the end of the time."""

    def __init__(self, one: HuntRequest, judge: Judge) -> None:
        self._context = multiprocessing.get_context("fork")
        self._one, self._judge, self._process = one, judge, os.getpid()
        self._started = time.monotonic()
        self._grace_s = max(_GRACE_S, one.seconds / 10)
        self._next_seed: Any = self._context.RawValue("q", one.seed)
        self._deadline: Any = self._context.RawValue("d", self._started + one.seconds)
        """By the clock `time.monotonic`, which all processes share."""
        self._seeds: Any = None
        """A file whose lock is free again when a process is killed."""
        self._running: dict[Any, Any] = {}
        """The processes, by the ends of their pipes."""
        self._signals: list[str] = []

    def run(self, jobs: int, tell: Callable[[int, float], None]) -> Hunted:
        """Hunt with so many processes, and shrink the first history of each violation."""
        one, started = self._one, self._started
        with self._ended_by_signals(), tempfile.TemporaryFile() as self._seeds:
            parts = self._hunt(jobs, tell)
            firsts = sorted((at, seed, name) for part in parts for name, (at, seed) in part.first.items())
            found = {name: (at, seed) for at, seed, name in reversed(firsts if one.keep_on else firsts[:1])}
            left = 0 if self._signals else started + one.seconds - time.monotonic()
            self._deadline.value = time.monotonic() + max(left, self._grace_s / 4)
            for name, (_, seed) in found.items():
                self._start(partial(self._shrink, name, seed))
            shrunk = [(found[wrong.name][0] - started, wrong) for wrong in self._results()]
        counts = sum((part.counts for part in parts), Counter[str]())
        after = min((seed for part in parts for seed in part.cut), default=self._next_seed.value)
        found_at, wrongs = zip(*sorted(shrunk), strict=True) if shrunk else ((), ())
        return Hunted(
            one.path.stem,
            sum(part.histories for part in parts),
            f"{one.seed}..{after - 1}",
            time.monotonic() - started,
            wrongs,
            found_at,
            tuple(counts[wrong.name] for wrong in wrongs),
            next(iter(self._signals), None),
            tuple((it.name, it.blind) for it in self._judge.question.must if not any(it.name in p.seen for p in parts)),
        )

    def _hunt(self, jobs: int, tell: Callable[[int, float], None]) -> list[_Part]:
        """Return the parts of all processes; replace one that ends for its memory."""
        parts: list[_Part] = []
        for _ in range(jobs):
            self._start(self._run_histories)
        for part in self._results(
            lambda: tell(self._next_seed.value - self._one.seed, time.monotonic() - self._started)
        ):
            parts.append(part)
            if not self._is_over:
                self._start(self._run_histories)
        return parts

    def _start(self, make: Callable[[], object]) -> None:
        """Start a process that sends what a function returns."""
        reading, writing = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_answer, args=(make, writing), daemon=True)
        process.start()
        writing.close()
        self._running[reading] = process

    def _results(self, meanwhile: Callable[[], object] = lambda: None) -> Iterator[Any]:
        """Yield the results of all processes; raises BackendError with the signal that ended one."""
        while self._running:
            meanwhile()
            ready: list[Any] = wait(list(self._running), _LOOK_S)
            for reading in ready:
                process = self._running.pop(reading)
                try:
                    yield reading.recv()
                except EOFError:
                    process.join()  # before, its exit code is not known
                    if not self._is_over:
                        self._end()
                        how = EndedError(process.exitcode).how
                        raise BackendError(f"a process of the hunt was ended {how}: hunt again") from None

    @property
    def _is_over(self) -> bool:
        """Whether its time is over, or something was found."""
        return bool(self._signals) or time.monotonic() >= self._deadline.value

    def _end(self, after: float = 0) -> None:
        """End the time for all processes, unless it ends before."""
        self._deadline.value = min(self._deadline.value, time.monotonic() + after)

    @contextmanager
    def _ended_by_signals(self) -> Iterator[None]:
        """End the hunt by signals, and note their names."""

        def note(number: int, _: object) -> None:
            self._signals.append(signal.Signals(number).name)
            self._end(_FAREWELL_S)

        before = {number: signal.signal(number, note) for number in INTERRUPTING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    # In the processes

    def _run_histories(self) -> _Part:
        """Run histories by seed until the hunt is over or the process has too much memory."""
        judge, part = self._judge, _Part(seen=self._judge.seen)
        while not self._is_over:
            fcntl.lockf(self._seeds, fcntl.LOCK_EX)
            seed = self._next_seed.value
            self._next_seed.value += 1
            fcntl.lockf(self._seeds, fcntl.LOCK_UN)
            wrong: list[dict[str, str]] = []
            with self._in_time(), collector_paused():
                wrong.append(judge.wrong(judge.drawer.draw(seed)))
            # The end of the time can come as an agent's error.
            if not wrong or (RAISES in wrong[0] and time.monotonic() >= self._deadline.value):
                part.cut = (seed,)
                break
            part.histories += 1
            part.counts.update(list(wrong[0]))
            part.first |= {name: (time.monotonic(), seed) for name in wrong[0] if name not in part.first}
            if wrong[0] and not self._one.keep_on:
                self._end()
            if peak_mib() > self._one.memory_mib:
                break
            if part.histories % _COLLECT_EVERY == 0:
                gc.collect()
        return part

    def _shrink(self, name: str, seed: int) -> Counterexample:
        """Return a seed's history as a transcript, shrunk in the remaining time."""
        judge = self._judge
        smaller = [judge.drawer.draw(seed)]
        with self._in_time():
            smaller.extend(shrink(smaller[0], lambda one: judge.is_wrong(one, name)))
        small = next(one for one in reversed(smaller) if judge.is_wrong(one, name))
        text = judge.wrong(small)[name]
        about = f"# {name}: {text}.\n# Found by roambus explore --hunt, in the history of seed {seed}.\n"
        lines = f"{about}\n{judge.drawer.text(small)}"
        shown = lines if name == RAISES else follow(parse_document(judge.question.path, lines))
        return Counterexample(name, text, len(small.timed), shown)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Leave the block when the time is over, whatever an agent does; at last kill the process."""

        def look(*_: object) -> None:
            late = time.monotonic() - self._deadline.value
            if late > self._grace_s / 2 or os.getppid() != self._process:
                os.kill(os.getpid(), signal.SIGKILL)
            if late >= 0:
                raise _TimeOverError

        signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
        with suppress(_TimeOverError):
            try:
                yield
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)


def hunt(
    one: HuntRequest, jobs: int, announce: Announce = silently, tell: Callable[[int, float], None] = lambda *_: None
) -> Hunted:
    """Hunt with so many processes for so long, or until a property is violated.

    `announce` is called before any code that a scenario or the command line names; `tell` receives histories and
    seconds. Raises UserError, AgentError, BackendError.
    """
    judge = Judge(parse_question(one.path, one.text, announce), one.overrides)
    announce_code(judge.agent, announce)
    judge.plan(judge.drawer.draw(one.seed))  # a mistake in the file is an error before anything is started
    return Hunt(one, judge).run(jobs, tell)


def _answer(make: Callable[[], object], writing: Any) -> None:
    """Send what a function returns; the parent handles signals for all."""
    for number in INTERRUPTING:
        signal.signal(number, signal.SIG_IGN)
    writing.send(make())
