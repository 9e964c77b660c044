"""Explores what is asked for by several processes: each a network of a family, or all of them one network."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from roambus.bridge.agents.code import Announce, announce_code, silently
from roambus.bridge.errors import UserError
from roambus.bridge.transcript.head import read_head
from roambus.bridge.transcript.transcript import Overrides
from roambus.experiments.exploring.beginning import document_of
from roambus.experiments.exploring.conducting import conduct
from roambus.experiments.exploring.exploration import Exploration, explore
from roambus.experiments.exploring.families import variants
from roambus.experiments.exploring.found import INTERRUPTED, Bounds, Found
from roambus.experiments.exploring.keeper import Keeper
from roambus.experiments.exploring.keeping import restore, save
from roambus.experiments.exploring.labels import labels_of
from roambus.experiments.exploring.properties.catalogue import EVENTUALLY_QUIET
from roambus.experiments.exploring.report import Report, file_name, report, report_of
from roambus.experiments.exploring.scenario_file import Question, read_question
from roambus.experiments.exploring.serving import Part
from roambus.experiments.exploring.sharing import ENOUGH_TO_SHARE, Exchange


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
    """From so many states for each process on they are shared."""

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
    keep = None if folder is None else _keep(exploration, folder)
    exploration.run(request.bounds, tell, keep or (lambda: None))
    return report(name, exploration)


def _keep(exploration: Exploration, folder: Path) -> Callable[[], None]:
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
    """Explores the network of that number by so many processes; raises UserError, AgentError, OSError."""
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
    """Explores every network of a request by so many processes, and yields what was found as each ends.

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
