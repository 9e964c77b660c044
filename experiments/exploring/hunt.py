"""Hunts for errors in networks that are too large to explore: random histories, one by one.

A history runs as a transcript with a witness. Deliveries are judged at the end, tables before the probes, once all has
settled. Nothing is ever proved: a hunt reports its seeds, and continues with the next when run again.

Processes take seeds from one counter, so all up to the last are run. A hunt ends after its time, at Ctrl-C, or at the
first violation, unless it keeps on and counts. Each violation's first history is shrunk and written as a transcript.
"""

from __future__ import annotations

import gc
import multiprocessing
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from roambus.bridge.agents import Announce, announce_code, silently
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.errors import AgentError, BackendError, UserError
from roambus.bridge.host.event_loop import collector_paused
from roambus.bridge.process import INTERRUPTING
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


@dataclass(frozen=True)
class Hunted:
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
        """A history as a run; raises UserError for an impossible command."""
        return plan(parse_document(self.question.path, self.drawer.text(history)))

    def wrong(self, history: History) -> dict[str, str]:
        """The violated properties, with reasons."""
        return self.run(history)[0]

    def run(self, history: History) -> tuple[dict[str, str], list[object]]:
        """The violations, and the run's messages and deliveries."""
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
        """The times and types of all messages, and the deliveries."""
        return [*self._witness.sent, self._witness.world.delivered]

    def _look(self, now: SimTime) -> None:
        """Judge tables once all has settled, and properties at any time."""
        if now >= self._probed and not self._has_looked:
            self._has_looked = True
            self._witness.reach(self._probed)
            self._ask(one for one in self._must if not (one.history or one.counts or one.name == "probes arrive"))
            self._look_for_noise()
        elif any(one.at_any_time for one in self._must):
            self._ask(one for one in self._must if one.at_any_time)

    def _look_for_noise(self) -> None:
        """Report messages at the end, but for heartbeats: types sent before the first event, too."""
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
        """The error of the last publications: they are due to interested nodes in reach."""
        world = self._witness.world
        probes = len(world.published) - self._witness.published_by(self._probed)
        for one in world.published[len(world.published) - probes :]:
            text = compare(one.due, world.delivered, one.notification.id, self._names)
            if text:
                return text
        return None


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
    memory_bytes: int = 500 * 2**20
    """A process above this limit is replaced."""

    @property
    def grace_s(self) -> float:
        """Time after which remaining processes are killed."""
        return max(2.0, 0.1 * self.seconds)


class _Shared(NamedTuple):
    """State that the processes of a hunt share."""

    next_seed: Any
    """A counter that one process at a time increments."""
    is_over: Any
    """An event: the hunt is over for all."""
    deadline: float
    """By the clock `time.monotonic`, which all processes share."""

    def take_seed(self) -> int:
        with self.next_seed.get_lock():
            seed: int = self.next_seed.value
            self.next_seed.value += 1
        return seed

    @property
    def is_ended(self) -> bool:
        return bool(self.is_over.is_set()) or time.monotonic() >= self.deadline


@dataclass
class _Part:
    """The histories of one process, and the violated properties."""

    histories: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[float, int]] = field(default_factory=dict)
    """The time by `time.monotonic` and the seed of each first violation."""
    seen: set[str] = field(default_factory=set)
    """Those that had something to look at."""
    cut: int | None = None
    """The seed of the history that the end of the time interrupted, which is not judged."""


_shared: _Shared

_FAREWELL_S = 3.0
"""After a signal processes may finish their histories for so long."""


def _share(shared: _Shared) -> None:
    """Prepare a process; the parent handles Ctrl-C for all."""
    global _shared  # noqa: PLW0603  # the way to hand something shared to the processes of a pool
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _TimeOverError(BaseException):
    """The hunt's time is over within a history."""


@contextmanager
def _until(deadline: float) -> Iterator[list[bool]]:
    """Interrupt the block at the deadline; the list is then not empty, even if an agent caught the error."""
    over: list[bool] = []

    def end(*_: object) -> None:
        over.append(True)
        raise _TimeOverError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, deadline - time.monotonic()), 0.5)
    try:
        yield over
    except _TimeOverError:
        over.append(True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _run_histories(one: HuntRequest) -> _Part:
    """Run histories by seed until the hunt is over or the process has too much memory."""
    judge = Judge(parse_question(one.path, one.text), one.overrides)
    part = _Part(seen=judge.seen)
    while not _shared.is_ended:
        seed, wrong = _shared.take_seed(), dict[str, str]()
        with _until(_shared.deadline) as over, collector_paused():
            wrong = judge.wrong(judge.drawer.draw(seed))
        if over:
            part.cut = seed
            break
        part.histories += 1
        for name in wrong:
            part.counts[name] += 1
            part.first.setdefault(name, (time.monotonic(), seed))
        if wrong and not one.keep_on:
            _shared.is_over.set()
        if resident_bytes() > one.memory_bytes // 2:
            gc.collect()
        if resident_bytes() > one.memory_bytes:
            break
    return part


def resident_bytes() -> int:
    """Return this process's memory, or its peak where the system hides the current value."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _shrunk(one: HuntRequest, name: str, seed: int) -> Counterexample:
    """Return a seed's history as a transcript, shrunk in the remaining time."""
    judge = Judge(parse_question(one.path, one.text), one.overrides)
    end = max(_shared.deadline, time.monotonic() + one.grace_s / 2)
    history = judge.drawer.draw(seed)
    small = shrink(history, lambda one: judge.is_wrong(one, name), lambda: time.monotonic() > end)
    text = judge.wrong(small)[name]
    about = f"# {name}: {text}.\n# Found by roambus explore --hunt, in the history of seed {seed}.\n"
    lines = f"{about}\n{judge.drawer.text(small)}"
    shown = lines if name == RAISES else follow(parse_document(judge.question.path, lines))
    return Counterexample(name, text, len(small.timed), shown)


def hunt(
    one: HuntRequest, jobs: int, announce: Announce = silently, tell: Callable[[int, float], None] = lambda *_: None
) -> Hunted:
    """Hunt with so many processes for so long, or until a property is violated.

    `announce` is called before any code that a scenario or the command line names; `tell` receives histories and
    seconds. Raises UserError, AgentError, BackendError.
    """
    started, context = time.monotonic(), multiprocessing.get_context("spawn")
    judge = Judge(parse_question(one.path, one.text, announce), one.overrides)
    announce_code(judge.agent, announce)
    judge.plan(judge.drawer.draw(one.seed))  # a mistake in the file is an error before anything is started
    shared = _Shared(context.Value("q", one.seed), context.Event(), started + one.seconds)
    make_pool = partial(ProcessPoolExecutor, jobs, context, _share, (shared,), max_tasks_per_child=1)
    with _signals() as signals:
        with make_pool() as pool:
            parts = _hunt_in(pool, one, jobs, shared, lambda: bool(signals), tell)
        found = _first_of_each(parts, one)
        with make_pool() as pool:  # a process that was killed has broken the first one
            wrong = tuple(pool.map(_shrunk, [one] * len(found), found, [seed for _, seed in found.values()]))
    counts = sum((part.counts for part in parts), Counter[str]())
    return Hunted(
        one.path.stem,
        sum(part.histories for part in parts),
        f"{one.seed}..{min((it.cut for it in parts if it.cut is not None), default=shared.next_seed.value) - 1}",
        time.monotonic() - started,
        wrong,
        tuple(at - started for at, _ in found.values()),
        tuple(counts[name] for name in found),
        signal.Signals(signals[0]).name if signals else None,
        tuple((it.name, it.blind) for it in judge.question.must if all(it.name not in part.seen for part in parts)),
    )


def _hunt_in(  # noqa: PLR0913, PLR0917  # the parts of a hunt
    pool: ProcessPoolExecutor,
    one: HuntRequest,
    jobs: int,
    shared: _Shared,
    is_interrupted: Callable[[], bool],
    tell: Callable[[int, float], None],
) -> list[_Part]:
    """Return the parts of all processes; replace one that ends for its memory, kill one that hangs."""
    begin, last = time.monotonic(), shared.deadline + one.grace_s
    running = {pool.submit(_run_histories, one) for _ in range(jobs)}
    children = multiprocessing.active_children()
    parts: list[_Part] = []
    while running:
        done, running = wait(running, timeout=0.2)
        parts += _results(done, children, is_interrupted)
        tell(shared.next_seed.value - one.seed, time.monotonic() - begin)
        if is_interrupted() and not shared.is_over.is_set():
            shared.is_over.set()
            last = min(last, time.monotonic() + _FAREWELL_S)
        if not shared.is_ended:
            running |= {pool.submit(_run_histories, one) for _ in done}
        elif time.monotonic() > last:
            for child in multiprocessing.active_children():
                child.kill()
            return parts
        children = list({*children, *multiprocessing.active_children()})
    return parts


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Collect the numbers of the signals that end a hunt."""
    got: list[int] = []
    before = {number: signal.signal(number, lambda its, _: got.append(its)) for number in INTERRUPTING}
    try:
        yield got
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _results(
    done: Iterable[Future[_Part]], children: Iterable[Any], is_interrupted: Callable[[], bool]
) -> Iterator[_Part]:
    """Yield the processes' results; raises BackendError with the signal that killed one."""
    for part in done:
        try:
            yield part.result()
        except BrokenProcessPool:
            if is_interrupted():
                return
            codes = [child.exitcode for child in children if child.exitcode]
            how = (
                f"by the signal {signal.Signals(-codes[0]).name}"
                if codes and codes[0] < 0
                else f"with exit code {codes}"
            )
            raise BackendError(f"a process of the hunt was ended {how}: hunt again") from None


def _first_of_each(parts: Iterable[_Part], one: HuntRequest) -> dict[str, tuple[float, int]]:
    """Return time and history of each property's first violation; only the first unless it keeps on."""
    firsts = sorted(((at, seed, name) for part in parts for name, (at, seed) in part.first.items()), reverse=True)
    found = {name: (at, seed) for at, seed, name in firsts}
    ordered = sorted(found, key=lambda name: found[name])
    return {name: found[name] for name in ordered[: None if one.keep_on else 1]}
