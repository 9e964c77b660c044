"""Processes: handlers are found by what they take, and collect what is to be done."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from random import Random

import pytest

from roambus.python_protocol.actions import CancelTimer, Deliver, Note, Send, SetTimer
from roambus.python_protocol.agent import _TAKEN, Agent, on, on_timer
from roambus.python_protocol.events import Attach, Publish, Received, Started, Subscribe, TimerFired
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.simtime import SimTime
from tests.support.documents import page, quoted, rows, section

NEWS = Notification(NotificationId(1, 2), ())


class Hello(Message, tag=1):
    """Handled below."""

    number: U8


class Bye(Message, tag=2):
    """Handled by nobody but the handler of Received."""


class Silent(Message, tag=3):
    """Only sent."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The key of a timer."""

    node: NodeId


class GreeterParameters(Parameters):
    """One of them."""

    greetings: int = parameter(3, at_least=1, doc="how often")


class Greeter(Agent):
    """Tries every kind of handler."""

    parameters: GreeterParameters
    messages = MessageSet([Silent])

    @on(Started, Attach)
    def begin(self, event: Started | Attach, now: SimTime) -> None:
        """Two kinds of events."""
        self.send(BROADCAST, Hello(1), after=5)
        self.set_timer("often", 7)
        self.set_timer(Retry(4), 8)
        self.cancel_timer("never")

    @on(Hello)
    def greet(self, hello: Hello, sender: NodeId, now: SimTime) -> None:
        """A message, its sender, and the time."""
        self.send(sender, Hello(hello.number + now))

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Delivers, and writes a row."""
        self.deliver(event.notification, hops=2)
        self.note("met", peer=3, bytes=4)

    @on_timer("often")
    def often(self, key: str, now: SimTime) -> None:
        """A timer with this very key."""
        self.note(key)

    @on_timer(Retry)
    def retry(self, key: Retry, now: SimTime) -> None:
        """A timer with a key of this class."""
        self.note("retry", peer=key.node)


class Polite(Greeter):
    """Replaces one handler, and adds those for what nobody else takes."""

    def greet(self, hello: Hello, sender: NodeId, now: SimTime) -> None:
        """The handler of Hello here, without saying so again."""
        self.note("polite")

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """Every message without a handler of its own."""
        self.note(event.message.message_type, hops=round(event.rssi_dbm))

    @on(TimerFired)
    def ring_out(self, event: TimerFired, now: SimTime) -> None:
        """Every timer without a handler of its own."""
        self.note("rung", detail=str(event.key))


def make(cls: type[Agent]) -> Agent:
    return cls(7, Role.NONE, cls.parameters_type(), Random(0))


def heard(message: Message) -> Received:
    return Received(9, message, -60.0, 30.0)


def test_a_handler_is_called_for_each_event_that_it_names() -> None:
    """What it asks for comes back in its order."""
    expected = [Send(BROADCAST, Hello(1), 5), SetTimer("often", 7), SetTimer(Retry(4), 8), CancelTimer("never")]
    assert list(make(Greeter).handle(Started(), 0)) == list(make(Greeter).handle(Attach(), 0)) == expected
    assert list(make(Greeter).handle(Publish(NEWS), 0)) == [Deliver(NEWS, 2), Note("met", peer=3, bytes=4)]


def test_a_handler_of_a_message_gets_its_sender_and_the_time() -> None:
    """The message itself, not the event around it."""
    assert list(make(Greeter).handle(heard(Hello(2)), 5)) == [Send(9, Hello(7))]


def test_timers_are_found_by_their_key_or_its_class() -> None:
    """Both kinds of keys have handlers of their own."""
    assert list(make(Greeter).handle(TimerFired("often"), 0)) == [Note("often")]
    assert list(make(Greeter).handle(TimerFired(Retry(4)), 0)) == [Note("retry", peer=4)]


def test_what_no_handler_takes_is_ignored() -> None:
    """Messages, events and timers alike."""
    for event in (heard(Bye()), heard(Silent()), Subscribe(Filter()), TimerFired("another"), TimerFired((1, 2))):
        assert list(make(Greeter).handle(event, 0)) == []


def test_a_subclass_replaces_handlers_and_takes_the_rest() -> None:
    """A method of the same name is the handler; Received and TimerFired stand for whatever has no other."""
    assert list(make(Polite).handle(heard(Hello(2)), 0)) == [Note("polite")]
    assert list(make(Polite).handle(heard(Bye()), 0)) == [Note("BYE", hops=-60)]
    assert list(make(Polite).handle(TimerFired("often"), 0)) == [Note("often")]
    assert list(make(Polite).handle(TimerFired("else"), 0)) == [Note("rung", detail="else")]


class Listener(Agent):
    """Its handlers have the names that a process's own methods would have first."""

    @on(Hello)
    def hear(self, hello: Hello, sender: NodeId, now: SimTime) -> None:
        """Notes who greets."""
        self.note("heard", peer=sender)

    @on_timer("often")
    def fire(self, key: str, now: SimTime) -> None:
        """Notes the timer."""
        self.note(key)


def test_handlers_can_be_called_hear_and_fire() -> None:
    """Messages and timers without a handler are still ignored."""
    assert list(make(Listener).handle(heard(Hello(2)), 0)) == [Note("heard", peer=9)]
    assert list(make(Listener).handle(TimerFired("often"), 0)) == [Note("often")]
    assert list(make(Listener).handle(heard(Bye()), 0)) == list(make(Listener).handle(TimerFired("else"), 0)) == []


@pytest.mark.parametrize("name", _TAKEN)
def test_what_handlers_act_by_cannot_be_hidden(name: str) -> None:
    """A method that would call itself instead is refused where it is written."""
    with pytest.raises(
        TypeError, match=rf"Mine.{name} hides what every process does by {name}\(\): choose another name"
    ):
        type("Mine", (Agent,), {name: lambda _: None})


def test_two_handlers_for_one_thing_are_refused_with_their_lines() -> None:
    """Only one of them would be called; in a subclass, the one that replaces the other is meant."""
    first, second = on(Bye)(lambda *_: None), on(Bye)(lambda *_: None)
    with pytest.raises(TypeError, match=r"Mine has two handlers for Bye, one \(line \d+\) and other \(line \d+\), of"):
        type("Mine", (Agent,), {"one": first, "other": second})
    with pytest.raises(TypeError, match=r"Mine has two handlers for timer 'often', one \(line"):
        type("Mine", (Agent,), {"one": on_timer("often")(lambda *_: None), "other": on_timer("often")(lambda *_: None)})
    base: type[Agent] = type("Base", (Agent,), {"one": first})
    assert type("Mine", (base,), {"other": second}).handlers[Bye] is second  # type: ignore[attr-defined]  # made here


def test_a_constructor_without_that_of_its_base_is_named() -> None:
    """Python itself would only say that something is missing which nobody has written."""

    class Unmade(Agent):
        def __init__(self) -> None:
            self.node = 0

    with pytest.raises(AttributeError, match=r"Unmade.__init__ at test_process.py:\d+ does not call super"):
        Unmade().send(0, Hello(1))
    with pytest.raises(AttributeError, match="'Unmade' object has no attribute 'nothing'"):
        Unmade().nothing  # type: ignore[attr-defined]  # noqa: B018  # what it tests


def test_actions_are_given_once() -> None:
    """What one event asked for does not come again with the next one."""
    agent = make(Greeter)
    assert list(agent.handle(Started(), 0))
    assert list(agent.handle(heard(Bye()), 0)) == []


def test_messages_and_parameters_follow_from_the_class() -> None:
    """The messages that are handled, and those that are listed; the parameters that are declared."""
    assert set(Greeter.messages) == set(Polite.messages) == {Hello, Silent}
    assert Greeter.parameters_type is Polite.parameters_type is GreeterParameters


def test_the_state_of_an_agent_can_be_copied() -> None:
    """A copy goes on by itself, from where the agent was."""
    agent = make(Greeter)
    other = copy.deepcopy(agent)
    assert list(other.handle(heard(Hello(2)), 5)) == [Send(9, Hello(7))]
    assert vars(other).keys() == vars(agent).keys()
    assert list(agent.handle(heard(Bye()), 0)) == []


def test_the_page_lists_every_name_that_an_agent_has() -> None:
    """So that nobody hides one of them unknowingly."""
    handlers = section(page("agents"), "Handlers")
    listed = {name for row in rows(handlers, "Names") for name in quoted(row["Names"])}
    made = vars(Agent(1, Role.BROKER, Parameters(), Random(0)))
    assert listed == {name for name in (*dir(Agent), *Agent.__annotations__, *made) if name[0] != "_"}
