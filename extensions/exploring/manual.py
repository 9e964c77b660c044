"""Agents driven by hand: commands decide when their timers expire and what they draw.

In a transcript with the line "by hand", each node gets `ManualTimers` after the usual setup; the host sees no timers
from then on, and messages arrive only by commands. A delayed send is a timer that sends when it expires. The explorer
shares these classes, so that its counterexamples can be transcripts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Any, NamedTuple, TypeVar

from roambus.bridge.backend import Course, Hello
from roambus.bridge.backends.ideal.backend import Frame, IdealBackend, make_links
from roambus.bridge.backends.ideal.graph import Link
from roambus.bridge.host.agents import Handle
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import ExpireTimer, Handling, ManualTimers
from roambus.bridge.system.errors import UserError
from roambus.bridge.transcript.commands import Arrive, Draw
from roambus.bridge.transcript.timeline import Timeline
from roambus.python_protocol.actions import Action, CancelTimer, Send, SetTimer
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Crashed, Event, TimerFired
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime, format_time

Element = TypeVar("Element")
BELOW_ONE = 1 - 2**-53
"""The greatest value of `Random.random`."""
_NARROWED = {1: "chance at the least value of each range", 2: "chance at the ends of each range"}
FEW = 8
"""Up to so many integers, each is tried instead of representatives."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """The timer key of a delayed send; `number` distinguishes them."""

    number: int
    send: tuple[NodeId, Any]


class ChanceError(TypeError):
    """An agent's draw has no representatives."""


class ScriptedChance(Random):
    """A generator whose draws follow `script`, then take the first representative.

    `ways` has the number of representatives of each draw since it was last cleared, `narrowed` the values of draws with
    more outcomes than representatives.
    """

    def __init__(self, values: int = 2) -> None:
        """A range has so many `values` as representatives; a script can pick others."""
        super().__init__(0)
        self._values = values
        self.script: deque[int] = deque()
        self.ways: list[int] = []
        self.has_drawn = False
        """Whether a draw had several representatives."""
        self.narrowed: set[str] = set()

    def pick(self, representatives: Sequence[Element]) -> Element:
        """Take the next representative."""
        last = len(representatives) - 1
        self.has_drawn |= last > 0
        self.ways.append(last + 1)
        return representatives[min(self.script.popleft(), last) if self.script else 0]

    def random(self) -> float:
        """From 0 to the greatest below 1; both at least, for they often decide a branch."""
        return self._share(max(2, self._values)) * BELOW_ONE

    def uniform(self, a: float, b: float) -> float:
        """A value of that range."""
        return a + (b - a) * self._share(self._values) if a != b else a

    def expovariate(self, lambd: float = 1.0) -> float:
        """The mean: neither end of the range is a possible delay."""
        self.narrowed.add("chance at the mean of each exponential distribution")
        return 1 / lambd

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """The least or greatest of the range, or any of few."""
        values = range(start) if stop is None else range(start, stop, step)
        if not values:
            raise ValueError(f"there is nothing in {values}")
        few = values[: FEW + 1]  # the length of a long range is more than Python can tell
        if len(few) <= FEW:
            return self.pick(few)
        return values[0] + round((values[-1] - values[0]) // step * self._share(self._values)) * step

    def randint(self, a: int, b: int) -> int:
        """A `randrange` with both ends included, as in Python's own."""
        return self.randrange(a, b + 1)

    def choice(self, seq: Any) -> Any:
        """The scripted element; every element is a representative, so nothing is narrowed."""
        if not len(seq):
            raise IndexError("there is nothing to choose from")
        return self.pick(seq)

    def getrandbits(self, k: int, /) -> int:
        """No bit set, or all."""
        return self.randrange(1 << k)

    def randbytes(self, n: int) -> bytes:
        """Zeros, or the greatest bytes."""
        return bytes([self.getrandbits(8)]) * n

    def shuffle(self, x: Any) -> None:
        """Any order, place by place; zeros keep the order."""
        x[:] = self.sample(x, len(x))

    def sample(self, population: Any, k: int, **_: Any) -> list[Any]:
        """Any of the elements, then any of the rest."""
        left = list(population)
        if not 0 <= k <= len(left):
            raise ValueError(f"{k} cannot be taken of {len(left)}")
        return [left.pop(self.pick(range(len(left)))) for _ in range(k)]

    def choices(self, population: Any, weights: Any = None, *, k: int = 1, **_: Any) -> list[Any]:
        """Any element of some weight, k times."""
        possible = [
            element for element, weight in zip(population, weights or (1,) * len(population), strict=True) if weight
        ]
        return [self.choice(possible) for _ in range(k)]

    def _share(self, values: int) -> float:
        """The value's position in a range: 0, 1, 1/2, 1/4, 3/4, 1/8, ... (van der Corput, 1935)."""
        self.narrowed.add(_NARROWED.get(values, f"chance at {values} values of each range"))
        number = self.pick(range(max(values, 1 + (self.script[0] if self.script else 0))))
        if number < len(_NARROWED):
            return number
        return int(f"{number - 1:b}"[::-1], 2) / (1 << (number - 1).bit_length())

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise ChanceError(
            "it draws from a distribution that is neither a range nor a choice, of which no values stand for all"
        )

    betavariate = binomialvariate = gammavariate = gauss = lognormvariate = normalvariate = _refuse
    paretovariate = triangular = vonmisesvariate = weibullvariate = _refuse


class Timer(NamedTuple):
    """A set timer: its expiry and its key."""

    at: SimTime
    key: Hashable


Draws = tuple[SimTime, tuple[int, ...]]
"""From this time, the next event's draws."""
Timers = tuple[Timer, ...]
"""One node's timers, the next first; at one time, the one set first."""


def follow(timers: Timers, actions: Iterable[Action], now: SimTime) -> tuple[Timers, list[Action]]:
    """The timers after these actions, and the actions other than on timers."""
    due = {timer.key: timer.at for timer in timers}
    others: list[Action] = []
    for action in actions:
        if isinstance(action, SetTimer | CancelTimer):
            due.pop(action.key, None)  # one that is set again comes after those set before
        if isinstance(action, SetTimer):
            due[action.key] = int(now) + action.after
        elif isinstance(action, Send) and action.after:
            due[_postponed(due, action)] = int(now) + action.after
        elif not isinstance(action, CancelTimer):
            others.append(action)
    return tuple(sorted((Timer(at, key) for key, at in due.items()), key=lambda timer: timer.at)), others


def _postponed(due: Iterable[Hashable], send: Send) -> Postponed:
    """The key with the least free number, so that equal states have equal keys."""
    taken = {key.number for key in due if isinstance(key, Postponed)}
    return Postponed(next(number for number in count() if number not in taken), (send.destination, send.message))


class ManualAgent:
    """Works one agent by hand, whose own handler is `handle`.

    It follows timers even before `ManualTimers`. A crash clears them.
    """

    def __init__(self, handle: Handle, chance: ScriptedChance, timers: Timers = (), *, is_manual: bool = False) -> None:
        self.chance = chance
        self.timers = timers
        self._handle_alone = handle
        self._is_manual = is_manual
        self.draws: deque[Draws] = deque()

    def handle(self, event: Event | Handling, now: SimTime) -> list[Action]:
        """The node's actions, except those on timers that are worked by hand."""
        if isinstance(event, ManualTimers):
            self._is_manual = True
            return [CancelTimer(timer.key) for timer in self.timers]
        self.chance.ways.clear()
        actions = self._ring(event.number - 1, now) if isinstance(event, ExpireTimer) else self._handle(event, now)
        self.chance.script.clear()
        return actions

    def _handle(self, event: Event, now: SimTime) -> list[Action]:
        if isinstance(event, TimerFired):
            self.timers = tuple(timer for timer in self.timers if timer.key != event.key)
        actions = list(self._handle_alone(event, now))
        if self._is_manual:
            self.timers, actions = follow(self.timers, actions, now)
        else:
            self.timers, _ = follow(self.timers, (action for action in actions if not isinstance(action, Send)), now)
        if isinstance(event, Crashed):
            self.timers = ()
        return actions

    def _ring(self, place: int, now: SimTime) -> list[Action]:
        """The actions after that timer expires; none without it."""
        if place >= len(self.timers):
            return []
        key = self.timers[place].key
        if isinstance(key, Postponed):
            self.timers = (*self.timers[:place], *self.timers[place + 1 :])
            return [Send(*key.send)]
        return self._handle(TimerFired(key), now)


class ManualBackend(IdealBackend):
    """An `ideal` back-end; from `begin` on frames wait for `arrivals`."""

    begin: SimTime
    arrivals: deque[tuple[SimTime, Arrive]]
    look: Callable[[SimTime], object] = staticmethod(lambda _: None)
    """Is called before anything happens at a moment."""

    def _steer(self, course: Course) -> None:
        raise UserError(f"node {course.node} moves, and by hand nodes stay at their places")

    def open(self) -> Hello:
        """Hand up no frames between others: no command lets them arrive."""
        return replace(super().open(), overhear=None)

    def messages(self) -> dict[Link, list[Message]]:
        """The messages under way on each link, the oldest first."""
        return {link: [frame.delivery.message for frame in frames] for link, frames in self._under_way.items()}

    def _next(self) -> SimTime | None:
        following = super()._next()
        if not self.arrivals:
            return following
        return self.arrivals[0][0] if following is None else min(following, self.arrivals[0][0])

    def _happen(self) -> None:
        self.look(self._now)
        super()._happen()
        while self.arrivals and self.arrivals[0][0] == self._now:
            self._let_arrive(*self.arrivals.popleft())

    def _loses(self, sender: NodeId, receiver: NodeId) -> bool:
        """By hand a message is lost when that is said."""
        return self._now < self.begin and super()._loses(sender, receiver)

    def _set_out(self, frame: Frame) -> None:
        if self._now < self.begin:
            super()._set_out(frame)

    def _let_arrive(self, at: SimTime, arrive: Arrive) -> None:
        """Deliver one of a link's frames, numbered from the oldest."""
        link = arrive.sender, arrive.receiver
        under_way = self._under_way.get(link, deque())
        if len(under_way) < arrive.number:
            raise UserError(
                f"at {format_time(at)}, from node {link[0]} to node {link[1]}: {len(under_way)} messages are "
                f"under way there, and number {arrive.number} is to arrive"
            )
        frame = under_way[arrive.number - 1]
        if arrive.lost:
            under_way.remove(frame)
        else:
            self._take(frame)


class ManualDriver:
    """Drives agents and links of one run by a transcript's commands (`Driver`).

    A draw's numbers are for one event, but no event themselves: a node draws while it recovers.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.agents: list[ManualAgent] = []
        """The driver of each node's agent."""
        self._chances: list[ScriptedChance] = []

    def carrier(self, scenario: Scenario) -> ManualBackend:
        """Make the scenario's ideal links; from the end of the setup on only commands let messages arrive."""
        backend = make_links(ManualBackend, scenario)
        begin, orders = self._timeline.manual_from, self._timeline.orders
        backend.begin = scenario.time_limit if begin is None else begin
        backend.arrivals = deque((at, order) for at, order in orders if isinstance(order, Arrive))
        return backend

    def chance(self, _: NodeId) -> Random:
        """Make the generator of the next node."""
        self._chances.append(ScriptedChance())
        return self._chances[-1]

    def wrap(self, agent: Agent, handle: Handle) -> Handle:
        """Let the agent also handle `ManualTimers` and `ExpireTimer`, and draw by the script."""
        manual = ManualAgent(handle, self._chances[agent.node])
        for at, order in self._timeline.orders:
            if isinstance(order, Draw) and order.node == agent.node:
                manual.draws.append((at, order.picks))
        self.agents.append(manual)

        def handle_manually(event: Event | Handling, now: SimTime) -> Iterable[Action]:
            if manual.draws and manual.draws[0][0] <= now:
                manual.chance.script.extend(manual.draws.popleft()[1])
            return manual.handle(event, self._timeline.moment(now))

        return handle_manually
