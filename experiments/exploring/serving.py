"""One of the processes that search together: it is told when to work off which depth, and tells what it found.

What processes tell each other is bytes: batches of digests and of answers, and figures as JSON. A message that begins
with "!" says what went wrong.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from roambus.bridge.errors import RoambusError, UserError
from roambus.bridge.host.event_loop import collector_paused
from roambus.experiments.exploring.exploration import Exploration
from roambus.experiments.exploring.found import Bounds
from roambus.experiments.exploring.keeper import Keeper
from roambus.experiments.exploring.keeping import restore, save
from roambus.experiments.exploring.labels import labels_of
from roambus.experiments.exploring.sharing import ENOUGH_TO_SHARE, SharedSearch

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
    """From so many states for each process on they are shared."""


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
    keep = _keep(exploration, part)
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


def _keep(exploration: Exploration, part: Part) -> Callable[[], None]:
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
        "seconds": found.seconds,
        "cpu_seconds": found.cpu_seconds,
        "node_states": found.node_states,
        "memory_bytes": found.memory_bytes,
        "violated": [one.name for one in found.violations],
    }
