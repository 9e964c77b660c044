"""Explores the networks of a family, several at once: each in a process of its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from roambus.bridge.agents.code import Announce, announce_code, silently
from roambus.bridge.transcript.head import read_head
from roambus.bridge.transcript.transcript import Overrides
from roambus.experiments.exploring.beginning import document_of
from roambus.experiments.exploring.exploration import explore
from roambus.experiments.exploring.families import variants
from roambus.experiments.exploring.found import INTERRUPTED, Bounds, Found
from roambus.experiments.exploring.report import Report, report
from roambus.experiments.exploring.scenario_file import read_question


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for on the command line."""

    path: Path
    agent: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds)
    reduce: bool = True
    keep_on: bool = False


def count_networks(request: Request, announce: Announce = silently) -> int:
    """How many networks a request is about; tells which code exploring them runs. Raises UserError, OSError."""
    networks = variants(read_question(request.path, announce))
    head, _ = read_head(document_of(networks[0][1]))
    announce_code(request.agent or head.agent, announce)
    return len(networks)


def explore_one(request: Request, number: int, tell: Callable[[Found], None] = lambda _: None) -> Report:
    """Explores the network of that number; raises UserError, AgentError, OSError."""
    name, question = variants(read_question(request.path))[number]
    overrides = Overrides(request.agent, request.parameters)
    exploration = explore(question, overrides, reduce=request.reduce, keep_on=request.keep_on)
    exploration.run(request.bounds, tell)
    return report(name, exploration)


def _one_by_one(request: Request, count: int, tell: Callable[[Found], None]) -> Iterator[Report]:
    for number in range(count):
        found = explore_one(request, number, tell)
        yield found
        if found.ended_by == INTERRUPTED:
            return


def explore_all(
    request: Request, jobs: int, tell: Callable[[Found], None] = lambda _: None, announce: Announce = silently
) -> Iterator[Report]:
    """Explores every network of a request, so many at once, and yields what was found as each ends.

    `announce` is told before any code runs that a scenario or the command line names.
    """
    count = count_networks(request, announce)
    if jobs == 1 or count == 1:
        yield from _one_by_one(request, count, tell)
        return
    with ProcessPoolExecutor(min(jobs, count), multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(explore_one, request, number) for number in range(count)]
        try:
            yield from (future.result() for future in as_completed(futures))
        finally:
            for future in futures:
                future.cancel()
