"""Conducts several processes that search together: hands round what they have for each other, and sums up.

See `sharing` for what they do. The process that conducts knows no states, and runs no agents.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from roambus.bridge.errors import BackendError, RoambusError
from roambus.bridge.process import interrupts_noticed
from roambus.experiments.exploring.exploration import Exploration, Wrong
from roambus.experiments.exploring.found import Bounds, Found
from roambus.experiments.exploring.keeper import Keeper
from roambus.experiments.exploring.serving import FAILURE, Line, Part, serve

_LOOK_EVERY_S = 0.2


@dataclass(slots=True)
class Sum:
    """What all processes have found together."""

    found: Found = field(default_factory=Found)
    violated: set[str] = field(default_factory=set)
    depth: int | None = None
    """How deep the next states to be worked off are; None if there are none."""
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
        """Has all work off a depth, and hands round the states that they have for each other."""
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
    found.cuts, found.narrowed = (sorted(set().union(*_all(told, name))) for name in ("cuts", "narrowed"))
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
