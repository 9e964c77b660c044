"""A process' part of a search by several.

A state belongs to the process to which its digest falls, which works it off, and keeps it. A step that leads to a state
of another process is sent to that one when the depth is over, so that each state is found at the depth at which one
process alone finds it. What is sent is the digests of what the state is made of, and the way to it: which of the
successors was taken at each step. A process that never met a part of the state goes that way itself, and learns it.

The first depths, until there are enough states to share, are searched by all processes alike.

States as bytes that every process reads alike: the digests of what they are made of, one after the other.

Digests of values, which are the same in every process that has an equal value.

A number stands for a value in one process only. So processes that search together tell each other of states by digests
of what they are made of. Two different states with one digest of 16 bytes are not to be expected before there are some
10^18 states.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from hashlib import blake2b
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Protocol
from zlib import crc32

from roambus.bridge.errors import UserError
from roambus.experiments.exploring.network import Network
from roambus.experiments.exploring.probes import Asking
from roambus.experiments.exploring.rules import Raised, State, Step
from roambus.experiments.exploring.search import NUMBERS, Bounds, Lesson, Manner, Search

DIGEST_BYTES = 16


def digest_of(value: Hashable) -> bytes:
    """The digest of a value that cannot change; raises UserError for one that only its own process knows."""
    digest = blake2b(digest_size=DIGEST_BYTES)
    for part in _spell(value):
        digest.update(len(part).to_bytes(4, "big"))
        digest.update(part)
    return digest.digest()


def _spell(value: Any) -> Iterator[bytes]:
    """What tells a value from all others, as parts."""
    kind = type(value)
    yield f"{kind.__module__}.{kind.__qualname__}".encode()
    if isinstance(value, Enum):
        yield value.name.encode()
    elif isinstance(value, tuple):
        yield from _spell_all(value)
    elif isinstance(value, frozenset):
        yield from sorted(digest_of(one) for one in value)
        yield b"}"
    elif isinstance(value, type | BuiltinFunctionType | ModuleType | FunctionType):
        yield from _spell_named(value)
    elif is_dataclass(value):
        yield from _spell_all(getattr(value, one.name) for one in fields(value) if one.compare)
    else:
        yield _plain(value)


def _spell_all(values: Any) -> Iterator[bytes]:
    for one in values:
        yield from _spell(one)
    yield b")"


def _spell_named(value: Any) -> Iterator[bytes]:
    """Something of a module; of a function also what it is made of, for several can have one name."""
    yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}".encode()
    if isinstance(value, FunctionType):
        code = value.__code__
        yield code.co_code
        yield from _spell_all((code.co_firstlineno, repr(code.co_consts), repr(code.co_names)))
        yield from _spell((value.__defaults__, tuple(sorted((value.__kwdefaults__ or {}).items()))))


def _plain(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if value is None or isinstance(value, int | float | complex | str | range):
        return repr(value).encode()
    raise UserError(f"{value!r} cannot be told to another process: explore with --jobs 1")


class _Numbers:
    """The digests of what has numbers in this process, and the numbers of digests."""

    def __init__(self, count: Callable[[], int], spell: Callable[[int], bytes]) -> None:
        self._count = count
        self._spell = spell
        self._digests: list[bytes] = []
        self._numbers: dict[bytes, int] = {}

    def digest(self, number: int) -> bytes:
        if number >= len(self._digests):
            self._catch_up()
        return self._digests[number]

    def number(self, digest: bytes) -> int | None:
        if digest not in self._numbers:
            self._catch_up()
        return self._numbers.get(digest)

    def _catch_up(self) -> None:
        for number in range(len(self._digests), self._count()):
            self._digests.append(self._spell(number))
            self._numbers[self._digests[-1]] = number


class Codes:
    """Writes and reads the states of one network."""

    def __init__(self, network: Network) -> None:
        nodes, queues, worlds = network.nodes, network.queues, network.worlds
        self._messages = _Numbers(lambda: len(nodes.messages), lambda number: digest_of(nodes.messages[number]))
        self._network = network
        node_states = _Numbers(lambda: len(nodes), lambda number: digest_of(nodes.what(number)))
        queued = _Numbers(lambda: len(queues), self._spell_queue)
        world = _Numbers(lambda: len(worlds), lambda number: digest_of(worlds[number]))
        self._places = [*(node_states for _ in range(network.size)), *(queued for _ in worlds.links), world]
        self.length = len(self._places) * DIGEST_BYTES
        """How many bytes a state has."""

    def write(self, state: State) -> bytes:
        """The bytes of a state."""
        return b"".join([place.digest(number) for place, number in zip(self._places, state, strict=True)])

    def read(self, code: bytes) -> State | None:
        """The state of these bytes; None if a part of it was never met in this process."""
        numbers = []
        for place, numbered in enumerate(self._places):
            number = numbered.number(code[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES])
            if number is None:
                return None
            numbers.append(number)
        return tuple(numbers)

    def _spell_queue(self, number: int) -> bytes:
        queue = self._network.queues[number]
        return digest_of(tuple((self._messages.digest(message), alone) for message, alone in queue))


ENOUGH_TO_SHARE = 200
"""From this number of states a process on, the processes share them."""
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
        """What is among that; of one depth only, for the states of the depths before would take as much room as all."""

    @property
    def depth_of_next(self) -> int | None:
        """How deep the next state to be handled is; None if there is none."""
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
        """Handles the states of that depth, and takes those to which the others have come."""
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
        else:  # the way goes with it, for the numbers of this process mean nothing to the other
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
        _, steps = self._follow(self.ways[number] if number else b"")  # what is wrong at the start is told by itself
        self.note(Lesson.FOLLOWED, number, known)
        return steps

    def learn(self, lesson: Lesson, number: int) -> None:
        """Meets again what a state has taught."""
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
