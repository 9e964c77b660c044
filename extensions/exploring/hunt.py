"""Hunts for errors in networks that are too large to explore: random histories, one by one.

A history runs as a transcript with an observer. Deliveries are judged at the end, tables before the probes, once all
has settled. Nothing is ever proved: a hunt reports its seeds, and continues with the next when run again.

A child process runs the histories, so that no agent ends the hunt; for its memory it is replaced. It records each in
memory that both processes share, so that no history is lost whatever ends it. A hunt ends after its time, at Ctrl-C, or
at the first violation, unless it keeps on and counts. Each violation's first history is shrunk and written as a
transcript.
"""

from __future__ import annotations

import gc
import os
import pickle
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from roambus.bridge.agents import Announce, announce_code, silently
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.host.event_loop import collector_paused
from roambus.bridge.system.child_process import EndedError, run_in_child
from roambus.bridge.system.errors import AgentError, UserError
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.document import parse_document
from roambus.bridge.transcript.transcript import Overrides, Plan, follow, plan
from roambus.extensions.exploring.checker import RAISES, peak_mib
from roambus.extensions.exploring.histories import History, HistoryGenerator, shrink
from roambus.extensions.exploring.properties import EVENTUALLY_QUIET, Property, View
from roambus.extensions.exploring.property_checker import compare
from roambus.extensions.exploring.scenario_file import Question, parse_question
from roambus.extensions.exploring.verdicts import Counterexample
from roambus.extensions.exploring.world import RunObserver, observed_by
from roambus.python_protocol.simtime import SimTime


class HuntResult(NamedTuple):
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
    is_interrupted: bool = False
    """Whether a signal ended it."""
    blind: tuple[tuple[str, str], ...] = ()
    """The properties without anything to look at in any history, and the lines of which nothing happened: why."""
    problem: str = ""
    """The problem that ended the hunt, such as an endless history."""

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        seeds = f", seeds {self.seeds}" if self.histories else ""
        yield f"{self.name}: {self.histories} histories in {self.seconds:.0f} s{seeds}"
        for counterexample, at, count in zip(self.counterexamples, self.found_at, self.counts, strict=True):
            times = f", in {count} of them" if count > 1 else ""
            yield f"  {counterexample.name}: does not hold{times}: {counterexample.text} (found after {at:.1f} s)"
        if self.problem:
            yield f"  not decided: {self.problem}"
        elif not self.counterexamples:
            ended = ", the hunt was interrupted by a signal" if self.is_interrupted else ""
            yield f"  not decided: nothing wrong was found, which proves nothing{ended}"
        yield from (f"  {name}: says nothing: {why}" for name, why in self.blind)


class HistoryRunner:
    """Runs histories of one question, and finds violations."""

    def __init__(self, question: Question, overrides: Overrides) -> None:
        self.question = question
        self.seen: set[str] = set()
        """The properties that had something to look at, and the lines of which something happened."""
        own = next((line.split()[1:] for line in question.head if line.startswith("agent ")), [""])
        self.agent, *given = [overrides.agent] if overrides.agent else own
        settings = dict(setting.split("=", 1) for setting in given) | dict(overrides.parameters)
        self.generator = HistoryGenerator(
            question, " ".join(("agent", self.agent, *(f"{key}={it}" for key, it in settings.items())))
        )

    def plan(self, history: History) -> Plan:
        """A history as a run; raises UserError for an impossible command."""
        return plan(parse_document(self.question.path, self.generator.text(history)))

    def wrong(self, history: History) -> dict[str, str]:
        """The violated properties, with reasons."""
        return self.run(history)[0]

    def run(self, history: History) -> tuple[dict[str, str], list[object]]:
        """The violations, and the run's messages and deliveries."""
        trial = _Trial(self.plan(history), self.question.must, len(history.probes), self.seen)
        self.seen.update(history.lines)
        try:
            trial.run()
        except AgentError as error:
            trial.wrong = {RAISES: str(error)}
        return trial.wrong, [*trial.observer.sent, trial.observer.world.delivered]

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
        self.observer = RunObserver(
            planned.timeline, planned.scenario, self._look, (planned.head.slot - 1, self._probed)
        )
        self.wrong: dict[str, str] = {}
        self._has_looked = False
        drawn = planned.timeline.network
        self._names = tuple(map(drawn.node_name, range(len(drawn.processes))))

    def run(self) -> None:
        self._planned.run(make_ideal(self._planned.scenario), TraceWriter(), observed_by(self.observer))
        self._look(self._planned.scenario.time_limit)
        self._ask(_is_asked_at_the_end)

    def _look(self, now: SimTime) -> None:
        """Judge tables once all has settled, and properties at any time."""
        if now >= self._probed and not self._has_looked:
            self._has_looked = True
            self.observer.reach(self._probed)
            self._ask(lambda property_: not _is_asked_at_the_end(property_))
            self._look_for_noise()
        elif any(property_.at_any_time for property_ in self._must):
            self._ask(lambda property_: property_.at_any_time)

    def _look_for_noise(self) -> None:
        """Report messages at the end, but for heartbeats: types sent before the first event, too."""
        begin = self._probed - self._planned.head.slot // 4
        beats = {kind for at, kind in self.observer.sent if at < self._first}
        late = [kind for at, kind in self.observer.sent if begin < at < self._probed and kind not in beats]
        if late and any(property_.name == EVENTUALLY_QUIET for property_ in self._must):
            text = f"{len(late)} messages such as {late[-1]} are sent when all is over"
            self.wrong.setdefault(EVENTUALLY_QUIET, text)

    def _ask(self, is_asked: Callable[[Property], bool]) -> None:
        observer = self.observer
        agents, can_probe = dict(enumerate(observer.agents)), self._count_probes() > 0
        view = View(agents, observer.world, self._probed, self._names, self._probe, lambda: can_probe)
        for property_ in filter(is_asked, self._must):
            if property_.name not in self._seen and property_.sees(view):
                self._seen.add(property_.name)
            if property_.name not in self.wrong and (text := property_.evaluate(view)):
                self.wrong[property_.name] = text

    def _count_probes(self) -> int:
        return len(self.observer.world.published) - self.observer.published_by(self._probed)

    def _probe(self) -> str | None:
        """The error of the last publications: they are due to interested nodes in reach."""
        world = self.observer.world
        probes = world.published[len(world.published) - self._count_probes() :]
        errors = (compare(probe.due, world.delivered, probe.notification.id, self._names) for probe in probes)
        return next(filter(None, errors), None)


def _is_asked_at_the_end(property_: Property) -> bool:
    return property_.history or property_.counts or property_.name == "probes arrive"


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
    """A process above this limit is replaced by another."""


class _Record(NamedTuple):
    """A history that was run: its seed, the time by `time.monotonic`, and the violated properties with reasons."""

    seed: int
    at: float
    wrong: dict[str, str]
    seen: frozenset[str]
    """The properties that had something to look at until then, and the lines of which something happened."""


class _Records:
    """The histories so far, in memory that the process of the hunt and its parent share."""

    def __init__(self, seed: int) -> None:
        """`seed` is that of the first history."""
        self.seed = seed
        if sys.platform == "linux":
            self._file = os.fdopen(os.memfd_create("histories"), "r+b")
        else:  # there it needs room on a disk
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `close`

        self.close = self._file.close

    def add(self, record: _Record) -> None:
        """Add the next history."""
        self._file.seek(0, os.SEEK_END)
        pickle.dump(record, self._file)
        self._file.flush()

    def __iter__(self) -> Iterator[_Record]:
        self._file.seek(0)
        while True:
            try:
                yield pickle.load(self._file)  # noqa: S301  # from our own child
            except (EOFError, pickle.UnpicklingError):  # the last may be cut
                return

    @property
    def next(self) -> int:
        """The seed of the next history."""
        return max((record.seed for record in self), default=self.seed - 1) + 1

    @property
    def seen(self) -> set[str]:
        """The properties that had something to look at, and the lines of which something happened."""
        return set[str]().union(*(record.seen for record in self))

    def firsts(self) -> dict[str, _Record]:
        """The first record of each violated property."""
        return {name: record for record in reversed(list(self)) for name in record.wrong}


class _TimeOverError(BaseException):
    """The hunt's time is over within a history."""


Show = Callable[[], AbstractContextManager[Callable[[int], object]]]
"""Shows the number of histories so far."""
_GRACE_S = 2.0
"""A hunt may exceed its time by this, or by a tenth."""
_LOOK_S = 0.1
_COLLECT_EVERY = 16
"""Histories between collections of garbage."""
_LONG_S, _MUCH_LONGER = 1.0, 20
"""A history that the end of a hunt cuts off is named after this time, if it took so many times the longest other."""


def _not_ended(seed: int, error: str = "") -> str:
    """Return the problem of a history that was cut off; the error of its interruption has the place."""
    place = re.search(r" at \S+:\d+ in \w+", error)
    return f"the history of seed {seed} had not ended{place[0] if place else ''}: it may loop, sleep or send for ever"


def _about(name: str, text: str, seed: int) -> str:
    return f"# {name}: {text}.\n# Found by roambus explore --hunt, in the history of seed {seed}"


class _Hunt:
    """One hunt, in one child process after the other."""

    def __init__(self, request: HuntRequest, runner: HistoryRunner, records: _Records) -> None:
        self._request, self._runner, self._records = request, runner, records
        self._deadline = time.monotonic() + request.seconds
        self._grace_s = max(_GRACE_S, request.seconds / 10)
        self._is_interrupted, self._problem = False, ""

    def run(self, show: Show) -> HuntResult:
        """Hunt, and shrink the first history of each violation."""
        request, records, started, end = self._request, self._records, time.monotonic(), self._deadline
        while not (self._is_interrupted or self._problem or self._is_over()):
            self._problem = self._in_child(partial(self._go_on, show)) or self._problem
        histories, seen, counts = list(records), records.seen, Counter(name for it in records for name in it.wrong)
        shrunk, firsts = [], list(records.firsts().items())[: None if request.keep_on else 1]
        for left, (name, first) in zip(range(len(firsts), 0, -1), firsts, strict=True):
            self._deadline = time.monotonic() + max(end - time.monotonic(), self._grace_s / 4) / left
            wrong = self._in_child(partial(self._shrink, name, first.seed))
            if not isinstance(wrong, Counterexample):  # its process was ended
                wrong = self._whole(name, first)
            shrunk.append((first.at - started, wrong))
        found_at, wrongs = zip(*sorted(shrunk), strict=True) if shrunk else ((), ())
        question = self._runner.question
        never = {f"may {text}": "nothing of it happened in any history" for _, text in question.may}
        blind = ({it.name: it.blind for it in question.must} | never) if histories else {}
        return HuntResult(
            request.path.stem,
            len(histories),
            f"{request.seed}..{records.next - 1}",
            time.monotonic() - started,
            wrongs,
            found_at,
            tuple(counts[wrong.name] for wrong in wrongs),
            self._is_interrupted,
            tuple((name, why) for name, why in blind.items() if name not in seen),
            self._problem,
        )

    def _in_child(self, make: Callable[[], Any]) -> Any:
        """Return the result of a child process, or the problem that ended it; None after Ctrl-C."""
        try:
            return run_in_child(make)
        except KeyboardInterrupt:
            self._is_interrupted = True
            return None
        except EndedError as ended:
            if time.monotonic() >= self._deadline:
                return _not_ended(self._records.next)
            if ended.status >= 0:  # the agent has called `os._exit`
                raise
            return f"the process of the hunt was ended {ended.how}, in the history of seed {self._records.next}"

    def _is_over(self) -> bool:
        is_found = not self._request.keep_on and bool(self._records.firsts())
        return is_found or time.monotonic() >= self._deadline

    # In a child process

    def _go_on(self, show: Show) -> str:
        """Run histories by seed until the hunt is over or the process has too much memory; return any problem."""
        request, runner, records, begin = self._request, self._runner, self._records, self._records.next
        seed, longest, known = begin, 0.0, records.seen
        with show() as show_count:
            while time.monotonic() < self._deadline and (seed == begin or peak_mib() <= request.memory_mib):
                began, wrong = time.monotonic(), list[dict[str, str]]()
                with self._in_time(), collector_paused():
                    wrong.append(runner.wrong(runner.generator.draw(seed)))
                took = time.monotonic() - began
                if time.monotonic() >= self._deadline:
                    is_endless = took > min(request.seconds / 2, max(_LONG_S, _MUCH_LONGER * longest))
                    return _not_ended(seed, "".join(wrong[0].values() if wrong else ())) if is_endless else ""
                records.add(_Record(seed, time.monotonic(), wrong[0], frozenset(runner.seen - known)))
                seed, longest, known = seed + 1, max(longest, took), known | runner.seen
                show_count(seed - request.seed)
                if wrong[0] and not request.keep_on:
                    break
                if seed % _COLLECT_EVERY == 0:
                    gc.collect()
        return ""

    def _shrink(self, name: str, seed: int) -> Counterexample:
        """Return a seed's history as a transcript, shrunk in the remaining time."""
        smaller = [self._runner.generator.draw(seed)]
        runner = self._runner
        with self._in_time():
            smaller.extend(shrink(smaller[0], lambda history: runner.is_wrong(history, name)))
        small = next(history for history in reversed(smaller) if runner.is_wrong(history, name))
        text = runner.wrong(small)[name]
        lines = f"{_about(name, text, seed)}.\n\n{runner.generator.text(small)}"
        shown = lines if name == RAISES else follow(parse_document(runner.question.path, lines))
        return Counterexample(name, text, len(small.timed), shown)

    def _whole(self, name: str, first: _Record) -> Counterexample:
        """Return the history of a record as a transcript without outputs, for no process of its own can run it."""
        generator, about = self._runner.generator, _about(name, first.wrong[name], first.seed)
        history = generator.draw(first.seed)
        shown = f"{about}; nothing was made smaller.\n\n{generator.text(history)}"
        return Counterexample(name, first.wrong[name], len(history.timed), shown)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Leave the block when the time is over, whatever an agent does; at last kill the process."""

        def look(*_: object) -> None:
            late = time.monotonic() - self._deadline
            if late > self._grace_s / 2:
                os.kill(os.getpid(), signal.SIGKILL)
            if late >= 0:
                raise _TimeOverError

        signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
        try:
            yield
        except (Exception, _TimeOverError):
            if time.monotonic() < self._deadline:
                raise  # else an import, for example, has made another error of it
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def hunt(
    request: HuntRequest, announce: Announce = silently, show: Show = lambda: nullcontext(lambda _: None)
) -> HuntResult:
    """Hunt for so long, or until a property is violated.

    `announce` is called before any code that a scenario or the command line names. Raises UserError, AgentError.
    """
    runner = HistoryRunner(parse_question(request.path, request.text, announce), request.overrides)
    announce_code(runner.agent, announce)
    runner.plan(runner.generator.draw(request.seed))  # a mistake in the file is an error before anything is started
    with closing(_Records(request.seed)) as records:
        return _Hunt(request, runner, records).run(show)
