"""What single nodes do: each thing that can happen to a node in some state is worked out once.

That is right because an agent is deterministic: what it does follows from its own state, from what it is told, and from
what it draws. A network reaches few states of single nodes, however many states it reaches as a whole. So states,
messages and events have numbers, and the answer to (state, event) is kept: the agent itself runs only when something is
new. A node's state is that of its agent and its timers, which are relative to now, in the order in which they run out.

Chance has several answers: the explorer tries each representative of each draw (`bridge.transcript.by_hand`).

Numbers for values: equal values have one number, so that what is large is compared and kept once only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from roambus.bridge.backend import Delivery, Hello, NodeInfo
from roambus.bridge.backends.ideal.backend import delivered
from roambus.bridge.errors import UserError
from roambus.bridge.host.agents import describe_failure, place_of
from roambus.bridge.host.codec import CodecCheck
from roambus.bridge.host.event_loop import ActionExecutor, refuse
from roambus.bridge.host.event_queue import EventQueue
from roambus.bridge.scenario.nodes import Ring
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.transcript.by_hand import ChanceError, Hands, ScriptedChance, Timer, Timers
from roambus.experiments.exploring.state import NOW, ClockError, Freezer, Frozen, Instant, Thawer
from roambus.python_protocol.actions import Action, Deliver, Note
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Crashed, Received, TimerFired
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import ROUTE, NodeId, SimTime

Value = TypeVar("Value", bound=Hashable)


class Tally:
    """Counts how many values have got a number, in several numberings together."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Numbering(Generic[Value]):
    """Counts different values, from 0."""

    def __init__(self, tally: Tally | None = None) -> None:
        self._tally = tally or Tally()
        self._numbers: dict[Value, int] = {}
        self._values: list[Value] = []

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, number: int) -> Value:
        return self._values[number]

    def number(self, value: Value) -> int:
        """The number of a value, a new one if no equal one has come before."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self._values)
            self._values.append(value)
            self._tally.count += 1
        return number


NodeState = int
"""The number of a state of one node."""


class Taken(NamedTuple):
    """A notification is on its way to these subscribers, as the note `ROUTE` says."""

    notification: str
    subscribers: tuple[NodeId, ...]


Seen = Notification | Taken
"""What of an answer is a part of the history: what is given to the application, and what is accepted."""


class Outcome(NamedTuple):
    """What a node may do: its next state, what it sends (destination, message), and what the world sees of it."""

    state: NodeState
    sends: tuple[tuple[NodeId, int], ...]
    seen: tuple[Seen, ...]
    picks: tuple[int, ...]
    """What its chance picked; nothing if every draw took the first representative."""


class Failure(NamedTuple):
    """The agent raised an error."""

    text: str
    picks: tuple[int, ...]


class _Untraced(TraceWriter):
    """The trace of an exploration, which keeps no rows."""

    def add(self, *_: object, **__: object) -> None:
        """An exploration has no trace."""


class Nodes:
    """The states of all nodes, and what follows from them."""

    def __init__(self, size: int, agent_class: type[Agent], most_ways: int = 64, *, values: int = 1) -> None:
        """At most `most_ways` ways of chance are followed for one event, of a range so many `values`."""
        self._agent_class = agent_class
        self._down: set[NodeId] = set()
        hello, codec = Hello("exploration", [NodeInfo(0)] * size, NOW + 1), CodecCheck(agent_class)
        self._executor = ActionExecutor(hello, EventQueue(size), _Untraced(), codec, self._down, with_faults=True)
        self._chance = ScriptedChance(values)
        self._most_ways = most_ways
        self.learnt = Tally()
        """How many things have got a number, here and in networks of these nodes."""
        self._states: Numbering[tuple[Frozen, Timers]] = Numbering(self.learnt)
        self.messages: Numbering[Message] = Numbering(self.learnt)
        self.events: Numbering[Hashable] = Numbering(self.learnt)
        self._answers: dict[tuple[NodeState, int], tuple[Outcome | Failure, ...]] = {}
        self._later: dict[tuple[NodeState, SimTime], NodeState] = {}
        self._thawed: dict[NodeState, Agent] = {}
        self.horizon: SimTime | None = None
        """Moments longer ago than this are all alike; None: each counts."""
        self.cuts: set[str] = set()
        """What of the scenario was not tried, in words that follow "was cut at"."""
        self.narrowed = self._chance.narrowed
        """What stands for all that draws can come to."""
        self.keep_time = False
        """Whether any of them has set a timer, or keeps a moment."""

    def __len__(self) -> int:
        return len(self._states)

    @property
    def answers(self) -> int:
        """How many answers were worked out."""
        return len(self._answers)

    def add(self, agent: Agent, hands: Hands, now: SimTime) -> int:
        """The number of the state of an agent that was worked by hand up to `now`; raises CannotFreezeError."""
        timers = tuple(Timer(NOW + one.at - now, one.key) for one in hands.timers)
        return self._number(Freezer(agent.random, now), agent, timers)

    def _number(self, freezer: Freezer, agent: Any, timers: Timers) -> NodeState:
        frozen = freezer.freeze(agent, self._agent_class)
        self.keep_time |= bool(timers) or freezer.met_instants
        return self._states.number((frozen, timers))

    def agent(self, state: NodeState) -> Agent:
        """An agent in that state, to be looked at; nobody may tell it anything."""
        if state not in self._thawed:
            self._thawed[state] = Thawer(self._chance).thaw(self._states[state][0])
        return self._thawed[state]

    def what(self, state: NodeState) -> Hashable:
        """The state of that number itself: the frozen agent and its timers."""
        return self._states[state]

    def waits(self, state: NodeState) -> list[SimTime]:
        """After how much time each of the timers that are set runs out, the next first."""
        return [one.at - NOW for one in self._states[state][1]]

    def arrival(self, sender: NodeId, receiver: NodeId, message: int) -> int:
        """The number of the event that a message arrives."""
        return self.events.number(delivered(sender, receiver, self.messages[message]))

    def answer(self, state: NodeState, event: int) -> tuple[Outcome | Failure, ...]:
        """What a node in that state may do when it is told the event of that number."""
        found = self._answers.get((state, event))
        if found is None:
            found = self._answers[state, event] = tuple(self._work_out(state, self.events[event]))
        return found

    def later(self, state: NodeState, time: SimTime) -> NodeState:
        """The state after a time in which nothing happens to the node."""
        if not time:
            return state
        found = self._later.get((state, time))
        if found is None:
            frozen, timers = self._states[state]
            passed = tuple(Timer(max(NOW, one.at - time), one.key) for one in timers)
            found = self._states.number((_shifted(frozen, time, self.horizon), passed))
            self._later[state, time] = found
        return found

    def _work_out(self, state: NodeState, event: Any) -> Iterable[Outcome | Failure]:
        """Tries each way that chance can go, in order: like counting with digits of different ranges."""
        script: list[int] | None = []
        tried = 0
        while script is not None and tried < self._most_ways:
            yield self._try(state, event, script)
            tried += 1
            script = _next_script(script, self._chance.ways)
        if script is not None:
            self.cuts.add(f"{self._most_ways} outcomes of chance for one event")

    def _try(self, state: NodeState, event: Any, script: list[int]) -> Outcome | Failure:
        """Works the agent by hand, as a transcript does, and has the host of a run carry out what it answers."""
        frozen, timers = self._states[state]
        agent = Thawer(self._chance).thaw(frozen)
        hands = Hands(agent.handle, self._chance, timers, is_by_hand=True)
        self._chance.script.clear()
        self._chance.script.extend(script)
        self._executor.outgoing.clear()
        self._down.clear()
        if isinstance(event, Crashed):
            self._down.add(agent.node)
        if isinstance(event, Delivery):
            event = Received(*event[1:])
        try:
            actions = hands.handle(event, Instant(NOW))
            for action in actions:
                self._executor.executing.get(type(action), refuse)(agent.node, action)
        except (ClockError, ChanceError) as error:
            place = place_of(error, agent, None, ())
            raise UserError(f"agent {self._agent_class.__name__} cannot be explored{place}: {error}") from error
        except Exception as error:  # whatever the author's code raises is a finding
            told = TimerFired(timers[0].key) if isinstance(event, Ring) else event
            return Failure(str(describe_failure(agent, 0, told, error)), tuple(script))
        number = self._number(Freezer(self._chance, NOW), agent, hands.timers)
        sends = [(one.destination, self.messages.number(one.message)) for one in self._executor.outgoing]
        return Outcome(number, tuple(sends), tuple(seen_by_world(actions)), tuple(script))


def seen_by_world(actions: Iterable[Action]) -> Iterable[Seen]:
    """What of an answer is a part of the history."""
    for action in actions:
        if isinstance(action, Deliver):
            yield action.notification
        elif isinstance(action, Note) and action.name == ROUTE and action.notification_id:
            yield Taken(action.notification_id, tuple(map(int, (action.detail or "").split())))


def _next_script(script: list[int], ways: list[int]) -> list[int] | None:
    """The next picks after `script`, given the number of outcomes of each draw; None after the last."""
    # How many draws there are, and of how many outcomes, may depend on what the draws before picked: so `ways` is what
    # this script has met, and each script begins with the picks of the one before it, but for the last that can grow.
    picks = (script + [0] * len(ways))[: len(ways)]
    while picks and picks[-1] == ways[len(picks) - 1] - 1:
        picks.pop()
    if not picks:
        return None
    picks[-1] += 1
    return picks


def _shifted(frozen: Any, time: SimTime, horizon: SimTime | None) -> Any:
    """The frozen state after a time: its moments are longer ago."""
    if type(frozen) is not tuple:
        return frozen
    if len(frozen) == 2 and frozen[0] == "instant":
        past = frozen[1] - time
        return ("instant", past if horizon is None else max(past, -horizon))
    return tuple([_shifted(one, time, horizon) for one in frozen])
