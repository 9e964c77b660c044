"""Agents: a protocol is written as the process of one node, with handlers under `@on` and `@on_timer`.

A process is deterministic: time comes with events, randomness from the agent's generator, and state is plain data.
`send`, `set_timer`, `deliver` and the others collect actions, which the driver, a back-end or a test, carries out. A
part made with `of` collects in its whole's list, so that actions keep their order. Nearly all events are frames, so
`Agent.handle` finds their handlers itself.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from roambus.python_protocol.actions import (
    Action,
    CancelTimer,
    Deliver,
    GoTo,
    Halt,
    Note,
    Send,
    SetTimer,
)
from roambus.python_protocol.events import (
    Crashed,
    Event,
    Overheard,
    Received,
    Sent,
    Subscribe,
    TimerFired,
    TimerKey,
    Unsubscribe,
)
from roambus.python_protocol.filters import Filter, Notification
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.settings import Parameters
from roambus.python_protocol.simtime import SimTime

Handler = TypeVar("Handler", bound=Callable[..., Any])


_HANDLES, _TIMES = "__handles__", "__times__"
"""A method's arguments of `on` and `on_timer`."""


_TAKEN = ("send", "set_timer", "cancel_timer", "deliver", "note", "go_to", "halt", "perform", "take", "dispatch")
"""Methods that no other method may hide: handlers and drivers call them."""


def on(*kinds: type[Any]) -> Callable[[Handler], Handler]:
    """Make a method the handler of events, called as (event, now), or messages, as (message, sender, now).

    The handler of `Received` gets messages without a handler of their own. A method that overrides a handler is the
    handler, with or without `on`.
    """
    return _marked(_HANDLES, kinds)


def on_timer(*keys: TimerKey) -> Callable[[Handler], Handler]:
    """Make a method the handler of timers with this key or a key of this class, called as (key, now).

    The handler of `TimerFired` gets timers without a handler of their own.
    """
    return _marked(_TIMES, keys)


def _marked(mark: str, kinds: tuple[Any, ...]) -> Callable[[Handler], Handler]:
    def mark_method(method: Handler) -> Handler:
        setattr(method, mark, kinds)
        return method

    return mark_method


class Process:
    """Finds the handler of each event, and collects the actions of handlers."""

    handlers: ClassVar[Mapping[type[Any], Callable[..., Any]]] = {}
    """The handler of each class of events and messages."""
    timer_handlers: ClassVar[Mapping[Any, Callable[..., Any]]] = {}
    """The handler of each timer, by its key or the key's class."""

    def __init_subclass__(cls, **about: Any) -> None:
        super().__init_subclass__(**about)
        if hidden := [name for name in _TAKEN if name in vars(cls)]:
            what = f"{cls.__name__}.{hidden[0]} hides what every process does by {hidden[0]}()"
            raise TypeError(f"{what}: choose another name")
        cls.handlers, cls.timer_handlers = _find(cls, _HANDLES), _find(cls, _TIMES)

    def __init__(self, of: Process | None = None) -> None:
        """Make a part of the process `of`, whose list takes its actions."""
        self._actions: list[Action] = [] if of is None else of._actions

    if not TYPE_CHECKING:  # with it, any name would pass for an attribute

        def __getattr__(self, name: str) -> Any:
            """Says what is missing: Python calls this for an attribute that is not there, and for no other."""
            if name == "_actions":
                raise AttributeError(_never_made(type(self)))
            if name in ("position", "velocity"):
                raise AttributeError(f"{type(self).__name__} reads {name} without needs_position = True", name=name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    # What handlers ask for

    def send(self, destination: NodeId, message: Message, after: SimTime = 0) -> None:
        """Hand a message to the MAC, `after` nanoseconds from now (see `Send`)."""
        self._actions.append(Send(destination, message, after))

    def set_timer(self, key: TimerKey, after: SimTime) -> None:
        """Set or move a timer to `after` nanoseconds from now."""
        self._actions.append(SetTimer(key, after))

    def cancel_timer(self, key: TimerKey) -> None:
        """Forget the timer of this key, if it is set."""
        self._actions.append(CancelTimer(key))

    def deliver(self, notification: Notification, hops: int = 0) -> None:
        """Give the application a notification after this many radio hops."""
        self._actions.append(Deliver(notification, hops))

    def note(  # noqa: PLR0913  # a column of the trace each
        self,
        name: str,
        *,
        message_type: str | None = None,
        notification_id: str | None = None,
        peer: NodeId | None = None,
        bytes: int | None = None,  # noqa: A002  # the column's name
        hops: int | None = None,
        detail: str | None = None,
    ) -> None:
        """Write a row into the trace; `trace_rows` names those that metrics read."""
        self._actions.append(Note(name, message_type, notification_id, peer, bytes, hops, detail))

    def go_to(self, x: float, y: float, *, speed: float) -> None:
        """Go straight to (x, y) in m at `speed` in m/s, in place of any other way (see `GoTo`)."""
        self._actions.append(GoTo(x, y, speed))

    def halt(self) -> None:
        """Stop where the node is."""
        self._actions.append(Halt())

    def perform(self, actions: Iterable[Action]) -> None:
        """Add the actions of a part."""
        self._actions += actions

    def take(self) -> list[Action]:
        """Return the actions since the last call, those of parts included."""
        actions = self._actions.copy()
        self._actions.clear()  # it stays the same list, because the parts collect in it, too
        return actions

    # Calling handlers

    def dispatch(self, event: Any, now: SimTime) -> None:
        """Call the handler of an event, if there is one."""
        kind = type(event)
        if kind is Received:
            self._handle_message(event.message, event.sender, now, event)
        elif kind is TimerFired:
            self._handle_timer(event.key, now, event)
        elif (handler := self.handlers.get(kind)) is not None and (answer := handler(self, event, now)) is not None:
            check_answer(handler, answer)

    def _handle_message(self, message: Message, sender: NodeId, now: SimTime, event: Received | None = None) -> None:
        """Call the handler of a message, if there is one."""
        handler = self.handlers.get(type(message))
        answer = None
        if handler is not None:
            answer = handler(self, message, sender, now)
        elif event is not None and (handler := self.handlers.get(Received)) is not None:
            answer = handler(self, event, now)
        if answer is not None:
            check_answer(handler, answer)

    def _handle_timer(self, key: TimerKey, now: SimTime, event: TimerFired | None = None) -> None:
        """Call the handler of a timer."""
        handler = self.timer_handlers.get(type(key)) or self.timer_handlers.get(key)
        answer = None
        if handler is not None:
            answer = handler(self, key, now)
        elif event is not None and (handler := self.handlers.get(TimerFired)) is not None:
            answer = handler(self, event, now)
        if answer is not None:
            check_answer(handler, answer)


def _never_made(cls: type[Process]) -> str:
    """Return the error of a constructor that does not call its base's."""
    code = cls.__init__.__code__
    place = f"{Path(code.co_filename).name}:{code.co_firstlineno}"
    return f"{cls.__init__.__qualname__} at {place} does not call super().__init__(...), without which nothing is sent"


def _find(cls: type[Process], mark: str) -> dict[Any, Callable[..., Any]]:
    """Return a class's handlers by kind; an overriding method replaces the hidden one."""
    names: dict[Any, str] = {}
    for base in reversed(cls.__mro__):
        own: dict[Any, str] = {}
        for name, method in vars(base).items():
            for kind in getattr(method, mark, ()):
                if (other := own.setdefault(kind, name)) != name:
                    raise TypeError(_two_handlers(base, kind, other, name))
        names |= own
    for name in names.values():
        check_handler(cls.__name__, name, getattr(cls, name))
    return {kind: getattr(cls, name) for kind, name in names.items()}


def _two_handlers(cls: type[Any], kind: Any, *names: str) -> str:
    first, second = (f"{name} (line {inspect.unwrap(vars(cls)[name]).__code__.co_firstlineno})" for name in names)
    what = kind.__name__ if isinstance(kind, type) else f"timer {kind!r}"
    return f"{cls.__name__} has two handlers for {what}, {first} and {second}, of which one would never be called"


def heard_by(cls: type[Process]) -> list[type[Message]]:
    """Return the messages that a class handles."""
    return [kind for kind in cls.handlers if issubclass(kind, Message)]


class Agent(Process):
    """Base of every protocol; a subclass has handlers, and declares its parameters and other messages."""

    parameters: Any
    """As a subclass declares them: `parameters: GossipParameters`."""
    parameters_type: ClassVar[type[Any]] = Parameters
    """The class in that declaration."""
    messages: ClassVar[MessageSet] = MessageSet(())
    """The messages it sends: those it handles, and others listed here."""
    migration_messages: ClassVar[tuple[type[Message], ...]] = ()
    """Messages of migrations; without any, no metrics of their cost."""
    own_notes: ClassVar[Mapping[str, str]] = {}
    """Its notes in transcripts: "{node} caches {subject}", or "" for one never shown."""
    oracle_subscribers: ClassVar[bool] = False
    """Whether it uses `Publish.subscribers`, an oracle; comparison tables mark it."""
    oracle_positions: ClassVar[bool] = False
    """Whether it uses `Publish.places`, another; it needs positions, too."""
    data_files: ClassVar[tuple[str, ...]] = ()
    """Files beside its own that it reads: a change of one makes its runs again, and crates hold them."""
    needs_levels: bool = False
    """Whether it needs RSSI and LQI, which are NaN unmeasured, as in live runs."""
    needs_position: bool = False
    """Whether each event finds `position` and `velocity` set."""
    farthest_m: ClassVar[float] = inf
    """The greatest x and y that its messages carry: scenarios with farther places are refused before the run."""
    position: tuple[float, float] | None
    """(x, y) in m by the node's receiver; None without one, and in the constructor."""
    velocity: tuple[float, float] | None
    """(x, y) in m/s, likewise."""

    def __init_subclass__(cls, **about: Any) -> None:
        super().__init_subclass__(**about)
        cls.messages = MessageSet([*cls.messages, *heard_by(cls)])
        declared = inspect.get_annotations(cls).get("parameters")
        if declared is not None:
            is_text = isinstance(declared, str)  # as it is where annotations are not evaluated
            cls.parameters_type = getattr(sys.modules[cls.__module__], declared) if is_text else declared

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        """Take `random`, seeded from run and node: the only source of randomness."""
        super().__init__()
        self.node = node
        self.roles = roles
        self.parameters = parameters
        self.random = random
        if self.needs_position:
            self.position = self.velocity = None

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        """React to an event at simulator time `now`; actions take effect in order."""
        if type(event) is Received:  # nearly all events: the same as `dispatch`, in one step
            if (handler := self.handlers.get(type(message := event.message))) is not None:
                if (answer := handler(self, message, event.sender, now)) is not None:
                    check_answer(handler, answer)
            elif (handler := self.handlers.get(Received)) and (answer := handler(self, event, now)) is not None:
                check_answer(handler, answer)
        else:
            self.dispatch(event, now)
        if not (collected := self._actions):
            return ()
        actions = collected.copy()  # the same as `take`
        collected.clear()
        return actions

    @property
    def needs_sent(self) -> bool:
        """Whether the MAC is to report this node's frames by `Sent`; a report costs time."""
        return Sent in self.handlers

    @property
    def needs_overheard(self) -> bool:
        """Whether this node takes unicast frames between others by `Overheard`; each one costs time."""
        return Overheard in self.handlers

    def unsent(self) -> Iterable[tuple[Notification, NodeId]]:
        """Return the notifications that wait here, with subscribers: at a run's end each has a row `store`."""
        return ()

    def listings(self, names: Names) -> Mapping[str, Listing]:  # not all agents have any
        """Return the tables for transcripts, by name: "table" for the routing table."""
        return {}


# What many agents need


class Jitter:
    """Draws the delays of one node's sends."""

    def __init__(self, longest: SimTime, random: Random) -> None:
        """Delays are uniform between 0 and `longest` ns."""
        self._choices = longest + 1
        self._random = random

    def delay(self) -> SimTime:
        """The delay of the next send, in ns."""
        return self._random.randrange(self._choices)


class Recent:
    """Remembers the last `limit` different keys."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._keys: dict[Hashable, None] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._keys

    def add(self, key: Hashable) -> bool:
        """Remember `key`; return False if it was known."""
        if key in self._keys:
            return False
        if len(self._keys) >= self._limit:
            del self._keys[next(iter(self._keys))]
        self._keys[key] = None
        return True


class Subscriptions:
    """The filters of a node's application, each once; they survive a crash."""

    def __init__(self) -> None:
        self._filters: dict[Filter, None] = {}

    def __iter__(self) -> Iterator[Filter]:
        """Iterate over the filters in order of arrival."""
        return iter(self._filters)

    def change(self, event: Subscribe | Unsubscribe) -> None:
        """Carry out the application's command."""
        if isinstance(event, Subscribe):
            self._filters[event.filter] = None
        else:
            self._filters.pop(event.filter, None)

    def match(self, notification: Notification) -> bool:
        """Whether any filter does."""
        return any(wanted.matches(notification) for wanted in self._filters)


@dataclass(frozen=True, slots=True)
class Listing:
    """A table: column names, and a text for each cell."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self) -> list[str]:
        """The table's aligned lines, head first."""
        table = (self.head, *self.rows)
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]


def by_first_column(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Listing:
    """Sort a table stably by its first column, f2 before f10."""
    return Listing(head, tuple(sorted(rows, key=lambda row: (len(row[0]), row[0]))))


# Mistakes in handlers


def check_answer(handler: Any, answer: Any) -> None:
    """Raise TypeError if a handler returns actions, which would be lost."""
    for action in answer if isinstance(answer, list | tuple) else [answer]:
        if isinstance(action, Action):
            raise TypeError(
                f"{handler.__qualname__} returns {action!r}, which nobody carries out: "
                "a handler asks for actions by self.send, self.set_timer and so on"
            )


def check_handler(owner: str, name: str, handler: Any) -> None:
    """Raise TypeError for a generator or a coroutine, which would never run."""
    if inspect.isgeneratorfunction(handler):
        raise TypeError(f"{owner}.{name} has a yield, so it would never be run: ask for actions by self.send and so on")
    if inspect.iscoroutinefunction(handler) or inspect.isasyncgenfunction(handler):
        raise TypeError(f"{owner}.{name} is async, so it would never be run: a handler does not wait, it sets a timer")


class Brokerless(Agent):
    """Base of protocols without brokers: a node knows its own subscriptions alone, which survive a crash."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.subscriptions = Subscriptions()
        self.forget()

    def forget(self) -> None:
        """Start empty, as after a crash."""

    @on(Subscribe, Unsubscribe)
    def change_subscriptions(self, event: Subscribe | Unsubscribe, _: SimTime) -> None:
        """Deliver matching notifications from now on."""
        self.subscriptions.change(event)

    @on(Crashed)
    def crash(self, _: Crashed, __: SimTime) -> None:
        """Lose everything outside stable storage."""
        self.forget()
