"""States of single nodes, and a node's answer to an event.

An agent's answer follows from its state, the event, the time, and its draws. A network reaches few states of single
nodes, so states, messages and events have numbers, and answers are cached.

An answer is computed once: `repetition` finds an agent that depends on more. `is_timed` is true once an agent reads the
clock or sets a timer. Each representative of each draw is tried (`manual`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Hashable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, NoReturn

from roambus.bridge.backend import Hello, NodeInfo
from roambus.bridge.host.action_executor import ActionExecutor, refuse
from roambus.bridge.host.agents import describe_failure, handler_of, place_of, shared_generators_unused
from roambus.bridge.host.codec import CodecCheck
from roambus.bridge.host.event_queue import EventQueue
from roambus.bridge.scenario.nodes import ExpireTimer
from roambus.bridge.system.errors import SideEffectError, UserError
from roambus.bridge.system.interrupts import is_raised
from roambus.bridge.trace.parquet import TraceWriter
from roambus.extensions.exploring.copies import Copier, Numbering, shared_by
from roambus.extensions.exploring.manual import ChanceError, ManualAgent, ScriptedChance, Timers
from roambus.extensions.exploring.moments import NOW, ClockError, Moment, Probe
from roambus.python_protocol.actions import Action, Deliver, GoTo, Halt, Note
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Crashed, TimerFired
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import ROUTE


class Accepted(NamedTuple):
    """A notification is on its way to these subscribers (note `ROUTE`)."""

    notification: str
    subscribers: tuple[NodeId, ...]


Observation = Notification | Accepted
"""A delivery to the application, or a notification that was accepted for others."""


class Outcome(NamedTuple):
    """A possible answer: the next state, messages (destination, number), and the numbers of observations."""

    state: int
    sends: tuple[tuple[NodeId, int], ...]
    seen: tuple[int, ...]
    picks: tuple[int, ...]
    """The picks of its draws; empty for all first representatives."""


class Raised(NamedTuple):
    """The agent raised an error."""

    text: str
    picks: tuple[int, ...]


class _State(NamedTuple):
    """The pickle of an agent with its timers, and their times: from now on if time is relative."""

    data: bytes
    due: tuple[SimTime, ...]


class _Untraced(TraceWriter):
    """A trace that keeps no rows."""

    def add(self, *_: object, **__: object) -> None:
        """Drop a row."""


class _EndlessError(BaseException):
    """A handler has not ended."""


ENDLESS = "the handler had not ended after"
LONGEST_HANDLER_S = 10
"""CPU time after which a handler counts as endless."""
MOST_OUTCOMES = 64
"""The most outcomes of chance for one event."""


class Nodes:
    """Knows the states of nodes and works out answers."""

    def __init__(self, size: int, agent_class: type[Agent], *, values: int = 1, relative: bool = False) -> None:
        """`values` is the number of representatives of a range for draws."""
        self.relative = relative
        self.agent_class = agent_class
        self._down: set[NodeId] = set()
        hello = Hello("exploration", [NodeInfo(0)] * size, 2 * NOW)
        codec = CodecCheck(agent_class)
        self._executor = ActionExecutor(hello, EventQueue(size), _Untraced(), codec, self._down, with_faults=True)
        self._chance = ScriptedChance(values)
        self.copier = Copier(self._chance, shared_by(agent_class))
        self._states: Numbering[_State] = Numbering()
        self.messages: Numbering[Any] = Numbering(self.copier.encode)
        """By their pickles: 1, 1.0 and True are three."""
        self.events: Numbering[Any] = Numbering(self.copier.encode)
        self.seen: Numbering[Observation] = Numbering(self.copier.encode)
        self.answer = cache(self._answer)
        self.later = cache(self._later)
        self.agent = cache(lambda state: self._load(state, NOW)[0])
        """An agent in that state, read-only."""
        self.cuts: set[str] = set()
        """Untried parts of the question, with reasons: it is then not decided."""
        self.narrowed = self._chance.narrowed
        """Bounds by name: values that stand for others."""
        self._longest_s = LONGEST_HANDLER_S * (threading.current_thread() is threading.main_thread())
        if self._longest_s:
            signal.signal(signal.SIGVTALRM, _end)
        self.is_timed = False
        """Whether an agent reads the clock, or sets a timer."""

    @property
    def has_drawn(self) -> bool:
        """Whether an agent has drawn anything."""
        return self._chance.has_drawn or bool(self.narrowed)

    def __len__(self) -> int:
        return len(self._states)

    def add(self, agent: Agent, manual: ManualAgent, now: SimTime) -> int:
        """Return the number of an agent's state after the setup; raises UserError."""
        self.copier.chance = agent.random
        number = self._number(agent, manual.timers, now)
        self.copier.chance = self._chance
        return number

    def _number(self, agent: Agent, timers: Timers, now: SimTime) -> int:
        origin = now if self.relative else 0
        relative = tuple(timer._replace(at=timer.at - origin) for timer in timers)
        try:
            data = self.copier.encode_stable((agent, relative), now, self.narrowed)
        except UserError as error:
            text = str(error).replace("self[0]", "self", 1).replace("self[1]", "a key of its timers: self", 1)
            raise type(error)(f"agent {self.agent_class.__name__} cannot be explored: {text}") from error
        self.is_timed |= bool(timers) or self.copier.met_moments
        return self._states.number(_State(data, tuple(timer.at for timer in relative)))

    def _load(self, state: int, now: SimTime) -> tuple[Agent, Timers]:
        agent, timers = self.copier.decode(self._states[state].data, now)
        origin = now if self.relative else 0
        return agent, tuple(timer._replace(at=timer.at + origin) for timer in timers)

    def due(self, state: int, now: SimTime) -> tuple[SimTime, ...]:
        """Return the time left of each timer, the next first; 0 for a late one."""
        due = self._states[state].due
        return due if self.relative else tuple([max(0, at - now) for at in due])

    def timers(self, state: int, now: SimTime) -> list[tuple[SimTime, Hashable]]:
        """Return the time left of each timer, with its key."""
        _, timers = self._load(state, NOW)
        return [(left, timer.key) for left, timer in zip(self.due(state, now), timers, strict=True)]

    def _later(self, state: int, time: SimTime) -> int:
        """Return the node's state after idle time."""
        if not (time and self.relative):
            return state
        agent, timers = self._load(state, NOW - time)
        return self._number(agent, tuple(timer._replace(at=max(NOW, timer.at)) for timer in timers), NOW)

    def _answer(self, state: int, event: int, now: SimTime) -> tuple[Outcome | Raised, ...]:
        """Return the possible answers of a node in that state to that event."""
        return tuple(self._outcomes(state, self.events[event], NOW if self.relative else now))

    def _outcomes(self, state: int, event: Any, now: SimTime) -> Iterator[Outcome | Raised]:
        """Try every outcome of chance in order, like counting with mixed radix."""
        scripts: list[list[int]] = [[]]
        for script in scripts:
            outcome = self._noticing_time(state, event, now, script)
            following = _next_script(script, self._chance.ways.copy())
            yield outcome
            if following and len(scripts) == MOST_OUTCOMES:
                self.cuts.add(f"{MOST_OUTCOMES} outcomes of chance for one event")
            elif following:
                scripts.append(following)

    def _noticing_time(self, state: int, event: Any, now: SimTime, script: list[int]) -> Outcome | Raised:
        """Work out one answer, with a probe as the time until an agent reads the clock."""
        if self.is_timed or self.relative:
            return self._try(state, event, now, script)
        probe = Probe(now)
        outcome = self._try(state, event, now, script, probe)
        if not probe.is_used and not isinstance(outcome, Raised):
            return outcome
        with_time = self._try(state, event, now, script)
        # Only the type of a probe may have been wrong, as in a library's C code.
        self.is_timed = probe.is_used or not isinstance(with_time, Raised)
        return with_time

    def _try(
        self, state: int, event: Any, now: SimTime, script: list[int], probe: Probe | None = None
    ) -> Outcome | Raised:
        """Work out one answer."""
        agent, timers = self._load(state, now)
        clock: Any = probe if probe is not None else Moment(now) if self.relative else now
        handle = handler_of(agent)
        manual = ManualAgent(lambda event, _: handle(event, clock), self._chance, timers, is_manual=True)
        self._chance.script.clear()
        self._chance.script.extend(script)
        try:
            with shared_generators_unused(self.agent_class.__name__):
                signal.setitimer(signal.ITIMER_VIRTUAL, self._longest_s)
                ClockError.take()
                outcome: Outcome | Raised = self._outcome(agent, manual, event, now, tuple(script))
        except (UserError, SideEffectError):
            raise
        except BaseException as error:  # whatever the author's code raises is a finding
            if isinstance(error, KeyboardInterrupt) and not is_raised(error):
                raise
            taken = TimerFired(timers[event.number - 1].key) if isinstance(event, ExpireTimer) else event
            refused = _refused(error)
            if refused is not None and (probe is None or isinstance(refused, ChanceError)):
                self._refuse(str(refused), place_of(error, agent, taken, ()))
            text = str(describe_failure(agent, 0 if self.relative else now, taken, error))
            outcome = Raised(text, tuple(script))
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if probe is None and (refusal := ClockError.take()) is not None:
            self._refuse(f"{refusal}, and catches the error")
        return outcome

    def _outcome(self, agent: Agent, manual: ManualAgent, event: Any, now: SimTime, picks: tuple[int, ...]) -> Outcome:
        """Have an agent handle an event, and a run's host carry out its actions."""
        self._executor.outgoing.clear()
        self._down.clear()
        self._down.update([agent.node] * isinstance(event, Crashed))
        actions = manual.handle(event, now)
        for action in actions:
            if isinstance(action, GoTo | Halt):
                self._refuse("it moves its node, and an exploration has no places")
            self._executor.executing.get(type(action), refuse)(agent.node, action)
        number = self._number(agent, manual.timers, now)
        sends = tuple((send.destination, self.messages.number(send.message)) for send in self._executor.outgoing)
        return Outcome(number, sends, tuple(map(self.seen.number, observations(actions))), picks)

    def _refuse(self, why: str, place: str = "") -> NoReturn:
        raise UserError(f"agent {self.agent_class.__name__} cannot be explored{place}: {why}")


def _refused(error: BaseException | None) -> BaseException | None:
    """Return the error that refused an agent, the cause of any others."""
    while error is not None and not isinstance(error, ClockError | ChanceError):
        error = error.__cause__ or error.__context__
    return error


def _end(*_: object) -> NoReturn:
    raise _EndlessError(f"{ENDLESS} {LONGEST_HANDLER_S} s of the processor")


def observations(actions: Iterable[Action]) -> Iterator[Observation]:
    """Return the part of an answer that belongs to the history."""
    for action in actions:
        if isinstance(action, Deliver):
            yield action.notification
        elif isinstance(action, Note) and action.name == ROUTE and action.notification_id:
            yield Accepted(action.notification_id, tuple(map(int, (action.detail or "").split())))


def _next_script(script: list[int], ways: list[int]) -> list[int]:
    """Return the picks after `script`, given each draw's number of outcomes; none after the last."""
    # How many draws there are, and of how many outcomes, may depend on earlier picks. `ways` is of this script, and the
    # next begins with the same picks, but for the last that can grow.
    picks = (script + [0] * len(ways))[: len(ways)]
    while picks and picks[-1] == ways[len(picks) - 1] - 1:
        picks.pop()
    return [*picks[:-1], picks[-1] + 1] if picks else []
