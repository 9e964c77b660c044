"""Explores what is asked for by several processes: each a network of a family, or all of them one network.

Processes that search together handle one depth at a time, all of them the same (`partition`), so that what is found is
found on a shortest way, as by one process. One more process conducts them: it says which depth is handled, hands round
what they have for each other, and sums up. It knows no states and runs no agents, so it cannot be what they wait for.

What processes tell each other is bytes: batches of digests and of answers, and figures as JSON. A message that begins
with "!" says what went wrong.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from roambus.bridge.agents import Announce, announce_code, silently
from roambus.bridge.errors import BackendError, RoambusError, UserError
from roambus.bridge.host.event_loop import collector_paused
from roambus.bridge.process import interrupts_noticed
from roambus.bridge.transcript.head import read_head
from roambus.bridge.transcript.transcript import Overrides
from roambus.experiments.exploring.checkpoint import Keeper, restore, save
from roambus.experiments.exploring.exploration import (
    Exploration,
    Report,
    Wrong,
    explore,
    file_name,
    labels_of,
    report,
    report_of,
)
from roambus.experiments.exploring.partition import ENOUGH_TO_SHARE, Exchange, SharedSearch
from roambus.experiments.exploring.properties import EVENTUALLY_QUIET
from roambus.experiments.exploring.scenario_file import Question, read_question, variants
from roambus.experiments.exploring.search import INTERRUPTED, Bounds, Found
from roambus.experiments.exploring.transcripts import document_of

DATA, FAILURE = b".", b"!"


@dataclass(frozen=True, slots=True)
class Part:
    """What a process has to do with a search by several."""

    index: int
    count: int
    bounds: Bounds
    keep: Path | None = None
    """The folder in which the search is kept."""
    enough: int = ENOUGH_TO_SHARE
    """From this number of states a process on, the processes share them."""


class Line:
    """The line to the process that conducts."""

    def __init__(self, connection: Connection, part: Part) -> None:
        self.index = part.index
        self.count = part.count
        self._connection = connection

    def swap(self, batches: list[bytes]) -> list[bytes]:
        """Gives each process its batch, and returns those that they have for this one; raises EOFError, OSError."""
        for batch in batches:
            self._connection.send_bytes(DATA + batch)
        return [self._connection.recv_bytes() for _ in batches]

    def tell(self, figures: dict[str, Any]) -> None:
        """Tells what was found."""
        self._connection.send_bytes(DATA + json.dumps(figures).encode())

    def hear(self) -> dict[str, Any]:
        """Waits until it is told what to do."""
        heard: dict[str, Any] = json.loads(self._connection.recv_bytes())
        return heard

    def fail(self, error: RoambusError) -> None:
        """Tells what went wrong."""
        self._connection.send_bytes(FAILURE + json.dumps([type(error).exit_code, str(error)]).encode())


def serve(make: Callable[[Line], Exploration], part: Part, connection: Connection, stop: Any) -> None:
    """Does its part until it is told that the search is over; `stop.value` says that somebody pressed Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    line = Line(connection, part)
    try:
        with collector_paused():
            _search(make(line), part, line, lambda: bool(stop.value) or os.getppid() != parent)
    except RoambusError as error:
        line.fail(error)
    except (EOFError, ConnectionError):  # nobody conducts any more
        return
    except OSError as error:
        line.fail(UserError(str(error)))


def _search(exploration: Exploration, part: Part, line: Line, is_interrupted: Callable[[], bool]) -> None:
    search = exploration.search
    if not isinstance(search, SharedSearch):
        raise TypeError("a search by several processes has to be made with their line")
    keep = _keep_part(exploration, part)
    with search.clock.running():
        search.run_alone(part.bounds, is_interrupted, part.enough)
        keep()
        line.tell(figures(search))
        while (depth := line.hear()["depth"]) is not None:
            search.work_off_round(depth, part.bounds, is_interrupted)
            keep()
            line.tell(figures(search))
    exploration.describe()
    line.tell({"wrong": [list(one) for one in exploration.wrong]})


def _keep_part(exploration: Exploration, part: Part) -> Callable[[], None]:
    """Goes on from what was kept; returns what keeps the search."""
    if part.keep is None:
        return lambda: None
    keeper, search = Keeper(part.keep, part.count), exploration.search
    labels = labels_of(exploration)
    if keeper.is_kept:
        restore(search, keeper.kept(part.index), labels)

    def keep() -> None:
        save(search, keeper.next(part.index), labels)
        keeper.advance()

    return keep


def figures(search: SharedSearch) -> dict[str, Any]:
    """What this process has found so far; figures are those beyond what all processes have found alike."""
    search.clock.read()
    search.sum_up()
    found = search.found
    alike = search.shared_from or [found.states, found.transitions, found.quiet]
    return {
        "alike": alike,
        "more": [found.states - alike[0], found.transitions - alike[1], found.quiet - alike[2]],
        "depth": found.depth,
        "next": search.depth_of_next,
        "begins_quiet": found.begins_quiet,
        "ended_by": found.ended_by,
        "cuts": found.cuts,
        "narrowed": found.narrowed,
        "seen": found.seen,
        "seconds": found.seconds,
        "cpu_seconds": found.cpu_seconds,
        "node_states": found.node_states,
        "memory_bytes": found.memory_bytes,
        "violated": [one.name for one in found.violations],
    }


_LOOK_EVERY_S = 0.2


@dataclass(slots=True)
class Sum:
    """What all processes have found together."""

    found: Found = field(default_factory=Found)
    violated: set[str] = field(default_factory=set)
    depth: int | None = None
    """How deep the next states to be handled are; None if there are none."""
    wrong: list[Wrong] = field(default_factory=list)


def conduct(
    make: Callable[[Line], Exploration],
    parts: Sequence[Part],
    must: frozenset[str],
    tell: Callable[[Found], None] = lambda _: None,
) -> Sum:
    """Has a process for each part search, until nothing is left, a bound is reached, or something is wrong.

    As long as one of the properties `must` is not violated, it goes on when another one is. Raises the RoambusError
    that one of the processes raises, and BackendError if one of them is gone.
    """
    started, bounds = time.monotonic(), parts[0].bounds
    keeper = None if parts[0].keep is None else Keeper(parts[0].keep, len(parts))
    with _Orchestra.of(make, parts) as orchestra:
        while True:
            total = sum_of(orchestra.hear())
            if keeper is not None:
                keeper.commit()
            _look(total, bounds, time.monotonic() - started)
            tell(total.found)
            if total.depth is None or total.found.ended_by or (total.violated and not must - total.violated):
                break
            orchestra.play(total.depth)
        total.wrong = _wrong(orchestra.end())
    return total


class _Orchestra:
    """The processes, and the lines to them."""

    def __init__(self, lines: Sequence[Connection], interrupt: Callable[[], None]) -> None:
        self._lines = lines
        self._interrupt = interrupt

    @classmethod
    @contextmanager
    def of(cls, make: Callable[[Line], Exploration], parts: Sequence[Part]) -> Iterator[_Orchestra]:
        """Starts the processes, and sees to it that none is left."""
        context = multiprocessing.get_context("spawn")
        stop = context.Value("b", 0, lock=False)
        ends = [context.Pipe() for _ in parts]
        given = zip(parts, ends, strict=True)
        processes = [
            context.Process(target=serve, args=(make, part, its, stop), daemon=True) for part, (_, its) in given
        ]
        with interrupts_noticed() as is_interrupted:

            def interrupt() -> None:
                stop.value = is_interrupted()

            try:
                for process, (_, its) in zip(processes, ends, strict=True):
                    process.start()
                    its.close()
                yield cls([ours for ours, _ in ends], interrupt)
            finally:
                for process in processes:
                    process.terminate()

    def hear(self) -> list[dict[str, Any]]:
        """What each process tells."""
        return [json.loads(self._receive(line)) for line in self._lines]

    def play(self, depth: int) -> None:
        """Has all processes handle a depth, and hands round the states that they have for each other."""
        self._say({"depth": depth})
        batches = [[self._receive(line) for _ in self._lines] for line in self._lines]
        for process, line in enumerate(self._lines):
            for one in batches:
                line.send_bytes(one[process])

    def end(self) -> list[dict[str, Any]]:
        """Tells all that the search is over; returns what they say last."""
        self._say({"depth": None})
        return self.hear()

    def _say(self, what: dict[str, Any]) -> None:
        for line in self._lines:
            line.send_bytes(json.dumps(what).encode())

    def _receive(self, line: Connection) -> bytes:
        try:
            while not line.poll(_LOOK_EVERY_S):
                self._interrupt()
            message = line.recv_bytes()
        except (EOFError, ConnectionError):
            raise BackendError("one of the processes of the search has ended; what it said is above") from None
        if message.startswith(FAILURE):
            code, text = json.loads(message[1:])
            error = RoambusError(text)
            error.exit_code = code
            raise error
        return message[1:]


def sum_of(told: Sequence[dict[str, Any]]) -> Sum:
    """What all have found alike counts once."""
    alike = told[0]["alike"]
    states, transitions, quiet = (alike[place] + sum(one["more"][place] for one in told) for place in range(3))
    found = Found(states, transitions, max(_all(told, "depth")), quiet)
    found.begins_quiet = told[0]["begins_quiet"]
    found.ended_by = next(iter(_all(told, "ended_by")), None)
    for name in ("cuts", "narrowed", "seen"):
        setattr(found, name, sorted(set().union(*_all(told, name))))
    found.seconds = max(_all(told, "seconds"))
    found.cpu_seconds = sum(_all(told, "cpu_seconds"))
    found.node_states = max(_all(told, "node_states"))
    found.memory_bytes = sum(_all(told, "memory_bytes"))
    violated = {name for one in told for name in one["violated"]}
    return Sum(found, violated, min(_all(told, "next"), default=None))


def _all(told: Iterable[dict[str, Any]], name: str) -> list[Any]:
    return [one[name] for one in told if one[name] is not None]


def _look(total: Sum, bounds: Bounds, seconds: float) -> None:
    total.found.look(bounds, seconds)
    if total.found.ended_by is None and bounds.depth is not None and (total.depth or 0) >= bounds.depth:
        total.found.ended_by = f"the bound of {bounds.depth} steps"


def _wrong(told: Iterable[dict[str, Any]]) -> list[Wrong]:
    """What is wrong, each property once, and as few steps as anybody knows."""
    found: dict[str, Wrong] = {}
    for one in sorted((Wrong(*one) for its in told for one in its["wrong"]), key=lambda one: one.steps):
        found.setdefault(one.name, one)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for on the command line."""

    path: Path
    agent: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds)
    reduce: bool = True
    keep_on: bool = False
    keep: Path | None = None
    """The folder in which searches are kept, to go on later."""
    enough: int = ENOUGH_TO_SHARE
    """From this number of states a process on, the processes share them."""

    def network(self, number: int) -> tuple[str, Question]:
        """What a network is called, and the question about it; raises UserError, OSError."""
        return variants(read_question(self.path))[number]

    def exploration(self, number: int, exchange: Exchange | None = None) -> Exploration:
        """Gets ready to explore the network of that number; raises UserError, AgentError, OSError."""
        overrides = Overrides(self.agent, self.parameters)
        question = self.network(number)[1]
        return explore(question, overrides, reduce=self.reduce, keep_on=self.keep_on, exchange=exchange)

    def folder(self, name: str) -> Path | None:
        """Where the search of the network of that name is kept."""
        return None if self.keep is None else self.keep / file_name(name)


def count_networks(request: Request, announce: Announce = silently) -> int:
    """How many networks a request is about; tells which code exploring them runs. Raises UserError, OSError."""
    networks = variants(read_question(request.path, announce))
    head, _ = read_head(document_of(networks[0][1]))
    announce_code(request.agent or head.agent, announce)
    return len(networks)


def explore_one(request: Request, number: int, tell: Callable[[Found], None] = lambda _: None) -> Report:
    """Explores the network of that number, from what was kept of it on; raises UserError, AgentError, OSError."""
    name, _ = request.network(number)
    exploration, folder = request.exploration(number), request.folder(name)
    keep = None if folder is None else _keep_whole(exploration, folder)
    exploration.run(request.bounds, tell, keep or (lambda: None))
    return report(name, exploration)


def _keep_whole(exploration: Exploration, folder: Path) -> Callable[[], None]:
    """Goes on from what was kept in a folder; returns what keeps the search there."""
    keeper, search, labels = Keeper(folder), exploration.search, labels_of(exploration)
    if keeper.is_kept:
        restore(search, keeper.kept(), labels)

    def keep() -> None:
        save(search, keeper.next(), labels)
        keeper.commit()

    return keep


def explore_together(
    request: Request, number: int, jobs: int, tell: Callable[[Found], None] = lambda _: None
) -> Report:
    """Explores the network of that number by several processes; raises UserError, AgentError, OSError."""
    name, question = request.network(number)
    must = {one.name for one in question.must}
    if EVENTUALLY_QUIET in must:
        raise UserError(f"{request.path}: {EVENTUALLY_QUIET!r} is asked of all states: explore with --jobs 1")
    parts = [Part(index, jobs, request.bounds, request.folder(name), request.enough) for index in range(jobs)]
    goes_on_for = frozenset(must if request.keep_on else ())
    total = conduct(partial(request.exploration, number), parts, goes_on_for, tell)
    return report_of(name, question, total.found, total.wrong, is_over=total.depth is None)


def _one_by_one(request: Request, count: int, tell: Callable[[Found], None]) -> Iterator[Report]:
    for number in range(count):
        found = explore_one(request, number, tell)
        yield found
        if found.ended_by == INTERRUPTED:
            return


def explore_all(
    request: Request, jobs: int, tell: Callable[[Found], None] = lambda _: None, announce: Announce = silently
) -> Iterator[Report]:
    """Explores every network of a request by several processes, and yields what was found as each ends.

    `announce` is told before any code runs that a scenario or the command line names.
    """
    count = count_networks(request, announce)
    if jobs == 1:
        yield from _one_by_one(request, count, tell)
    elif count == 1:
        yield explore_together(request, 0, jobs, tell)
    else:
        yield from _each_in_a_process(request, count, jobs)


def _each_in_a_process(request: Request, count: int, jobs: int) -> Iterator[Report]:
    with ProcessPoolExecutor(min(jobs, count), multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(explore_one, request, number) for number in range(count)]
        try:
            yield from (future.result() for future in as_completed(futures))
        finally:
            for future in futures:
                future.cancel()
