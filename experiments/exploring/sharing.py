"""A process' part of a search by several.

A state belongs to the process to which its digest falls, which works it off, and keeps it. A step that leads to a state
of another process is sent to that one when the depth is over, so that each state is found at the depth at which one
process alone finds it. What is sent is the digests of what the state is made of, and the way to it: which of the
successors was taken at each step. A process that never met a part of the state goes that way itself, and learns it.

The first depths, until there are enough states to share, are searched by all processes alike.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Protocol
from zlib import crc32

from roambus.experiments.exploring.asking import Asking
from roambus.experiments.exploring.codes import Codes
from roambus.experiments.exploring.found import Bounds
from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.rules import Raised, State, Step
from roambus.experiments.exploring.search import Lesson, Manner, Search
from roambus.experiments.exploring.store import NUMBERS

ENOUGH_TO_SHARE = 200
"""From so many states for each process on they are shared."""
CHOICE_BYTES = 2


class Exchange(Protocol):
    """What connects the processes of a search."""

    index: int
    """The number of this process."""
    count: int

    def swap(self, batches: list[bytes]) -> list[bytes]:
        """Gives each process its batch, and returns those that they have for this one."""


class SharedSearch(Search):
    """A search whose states are shared with other processes."""

    def __init__(self, network: Network, first: State, asking: Asking, manner: Manner, exchange: Exchange) -> None:
        """The first depths are searched by `run_alone`, and each further one by `work_off_round`."""
        super().__init__(network, first, asking, manner)
        self.ways = [b""]
        self._exchange = exchange
        self._codes = Codes(network)
        self._batches: list[list[bytes]] = [[] for _ in range(exchange.count)]
        """What is to be sent to each process."""
        self._sent: set[bytes] = set()
        """What is among that."""

    @property
    def depth_of_next(self) -> int | None:
        """How deep the next state to be worked off is; None if there is none."""
        return None if self.is_over else self.store.depths[self.waiting[self.next]]

    def run_alone(self, bounds: Bounds, is_interrupted: Callable[[], bool], enough: int = ENOUGH_TO_SHARE) -> None:
        """Searches until there are `enough` states for each process, and keeps waiting what belongs to this one."""
        while not (self.is_over or self.is_ended or self.found.ended_by or self.shared_from):
            if len(self.waiting) - self.next >= enough * self._exchange.count:
                self._share()
            else:
                self.work_off_depth(bounds, is_interrupted)

    def _share(self) -> None:
        self.shared_from = [len(self), self.found.transitions, self.asking.quiet]
        waiting = self.waiting[self.next :]
        mine = (one for one in waiting if self._owner(self._codes.write(self.state(one))) == self._exchange.index)
        self.waiting = self.waiting[: self.next] + array(NUMBERS, mine)

    def work_off_round(self, depth: int, bounds: Bounds, is_interrupted: Callable[[], bool]) -> None:
        """Works off the states of that depth, and takes those to which the others have come."""
        if self.depth_of_next == depth:
            self.work_off_depth(bounds, is_interrupted)
        batches = [b"".join(one) for one in self._batches]
        self._batches = [[] for _ in batches]
        self._sent.clear()
        length = self._codes.length + (depth + 1) * CHOICE_BYTES
        for batch in self._exchange.swap(batches):
            for place in range(0, len(batch), length):
                self._receive(batch[place : place + length])

    def take(self, state: State, before: int, step: int, choice: int) -> None:  # noqa: ARG002  # ways have choices
        """Takes a state that is new here, or has it sent to the process to which it belongs."""
        packed = self.store.pack(*state)
        if packed in self._sent:
            return
        way = self.ways[before] + choice.to_bytes(CHOICE_BYTES, "big")
        code = self._codes.write(state) if self.shared_from else b""
        owner = self._owner(code)
        if not self.shared_from or owner == self._exchange.index:
            self._keep(state, way)
        else:
            self._sent.add(packed)
            self._batches[owner].append(code + way)

    def _receive(self, sent: bytes) -> None:
        code, way = sent[: self._codes.length], sent[self._codes.length :]
        state = self._codes.read(code)
        if state is None:
            known = self._learnt.count
            state, _ = self._follow(way)
            self.note(Lesson.FOLLOWED, len(self), known)
        if self.store.number(state) is None:
            self._keep(state, way)

    def _keep(self, state: State, way: bytes) -> None:
        self.ways.append(way)
        self.reach(state, 0, 0, len(way) // CHOICE_BYTES)

    def _owner(self, code: bytes) -> int:
        """The process to which a state belongs."""
        return crc32(code) % self._exchange.count

    def way(self, number: int) -> tuple[Step, ...]:
        """The steps from the first state to the one of that number."""
        known = self._learnt.count
        _, steps = self._follow(self.ways[number])
        self.note(Lesson.FOLLOWED, number, known)
        return steps

    def learn(self, lesson: Lesson, number: int) -> None:
        """Meets anew what a state has taught."""
        if lesson is Lesson.FOLLOWED:
            self._follow(self.ways[number])
        else:
            super().learn(lesson, number)

    def _follow(self, way: bytes) -> tuple[State, tuple[Step, ...]]:
        """Where a way leads from the first state, and by which steps."""
        state, steps = self.state(0), []
        for place in range(0, len(way), CHOICE_BYTES):
            successors = list(self.successors(state))
            step, after = successors[int.from_bytes(way[place : place + CHOICE_BYTES], "big")]
            if isinstance(after, Raised):
                raise IndexError("a way leads no further than to an error")
            steps.append(self.network.steps[step])
            state = after
        return state, tuple(steps)
