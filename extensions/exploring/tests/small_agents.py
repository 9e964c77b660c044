"""Protocols that are so small that the number of states can be worked out by hand."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random
from typing import Any

from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Crashed, Publish, SendFailed, Started
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.fields import U32
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import SECOND, SimTime


class Word(Message, tag=1):
    """A notification that goes to the neighbours."""

    notification: Notification


class Announcing(Agent):
    """Tells its neighbours what is published, once; they only count."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.words = 0

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.send(BROADCAST, Word(event.notification))

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.words += 1

    @on(Crashed)
    def crash(self, _: Crashed, now: SimTime) -> None:
        self.words = 0


class Echo(Announcing):
    """Gives every word back for ever."""

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.send(sender, word)


class Clock(Agent):
    """Counts to two, a second each; it remembers when it began."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.ticks = 0
        self.began: SimTime | None = None

    @on(Started)
    def start(self, _: Started, now: SimTime) -> None:
        self.set_timer("tick", 2 * SECOND)

    @on_timer("tick")
    def tick(self, _: str, now: SimTime) -> None:
        self.began = now if self.began is None else self.began
        self.ticks += 1
        if self.ticks < 2:
            self.set_timer("tick", SECOND)


class Dice(Announcing):
    """Hears with luck only: a throw decides whether it counts."""

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.words += self.random.choice((0, 1, 2))


class Gambler(Announcing):
    """Throws a coin seven times before it delivers, and delivers twice after seven heads."""

    THROWS = 7

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        heads = sum(self.random.choice((0, 1)) for _ in range(self.THROWS))
        for _ in range(1 + (heads == 7)):
            self.deliver(event.notification)


class CautiousGambler(Gambler):
    """Throws six times only, and so never delivers twice."""

    THROWS = 6


class Drawing(Announcing):
    """Delivers twice if it draws a 1 from 0 to 99, which is neither end of that range."""

    LUCKY, NUMBERS = 1, 100

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        for _ in range(1 + (self.random.randrange(self.NUMBERS) == self.LUCKY)):
            self.deliver(event.notification)


class Dice3(Drawing):
    """Draws from three numbers, of which the middle one is lucky."""

    NUMBERS = 3


class Dealer(Announcing):
    """Shuffles three cards, and delivers twice if they lie the other way round then."""

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        cards = [1, 2, 3]
        self.random.shuffle(cards)
        for _ in range(1 + (cards == [3, 2, 1])):
            self.deliver(event.notification)


class Sampler(Announcing):
    """Takes two of three cards, and delivers twice if these are the last and the first."""

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        for _ in range(1 + (self.random.sample((1, 2, 3), 2) == [3, 1])):
            self.deliver(event.notification)


class Tossing(Drawing):
    """Draws from two numbers, neither of which is lucky."""

    LUCKY, NUMBERS = 5, 2


class Beating(Agent):
    """Has a timer that runs out every second for ever, and delivers nothing."""

    @on(Started)
    def start(self, _: Started, now: SimTime) -> None:
        self.beat("beat", now)

    @on_timer("beat")
    def beat(self, _: str, now: SimTime) -> None:
        self.set_timer("beat", SECOND)


class Counting(Beating):
    """Counts how often it has run out."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.beats = 0

    @on_timer("beat")
    def beat(self, _: str, now: SimTime) -> None:
        self.beats += 1
        self.set_timer("beat", SECOND)


class Herald(Beating):
    """Keeps what it hears or publishes, and tells its neighbours with every beat; delivers what is new to it."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.heard: dict[str, Notification] = {}

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.learn(event.notification)

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.learn(word.notification)

    def learn(self, notification: Notification) -> None:
        if str(notification.id) not in self.heard:
            self.heard[str(notification.id)] = notification
            self.deliver(notification)

    @on_timer("beat")
    def beat(self, _: str, now: SimTime) -> None:
        self.set_timer("beat", SECOND)
        for notification in self.heard.values():
            self.send(BROADCAST, Word(notification))


class Liar(Announcing):
    """Delivers what is published under another number."""

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        own = event.notification
        self.deliver(replace(own, id=replace(own.id, sequence=own.id.sequence + 7)))


class Pushy(Announcing):
    """Delivers whatever it hears, whether it is wanted or not."""

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.deliver(word.notification)


class Restless(Echo):
    """Begins after five seconds what never ends."""

    @on(Started)
    def start(self, _: Started, now: SimTime) -> None:
        self.set_timer("begin", 5 * SECOND)

    @on_timer("begin")
    def begin(self, _: str, now: SimTime) -> None:
        self.send(BROADCAST, Word(Notification(NotificationId(self.node, 0), ())))


class Chatterbox(Echo):
    """Delivers what it hears or publishes, once, and gives it back for ever."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.known: Notification | None = None

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.learn(event.notification)
        self.send(BROADCAST, Word(event.notification))

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.learn(word.notification)
        self.send(sender, word)

    def learn(self, notification: Notification) -> None:
        if self.known is None:
            self.known = notification
            self.deliver(notification)


class Again(Message, tag=2):
    """A notification that is repeated until somebody says that it has come."""

    notification: Notification


class Heard(Message, tag=3):
    """It has come."""


class Repeater(Agent):
    """Tells its neighbour every second what was published, until that says that it has it."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.owed: Notification | None = None
        self.given: list[NotificationId] = []

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.owed = event.notification
        self.deliver(event.notification)
        self.say()

    def say(self) -> None:
        if self.owed is not None:
            self.send(BROADCAST, Again(self.owed))
            self.set_timer("again", SECOND)

    @on_timer("again")
    def say_again(self, _: str, now: SimTime) -> None:
        self.say()

    @on(Again)
    def take_in(self, word: Again, sender: NodeId, now: SimTime) -> None:
        self.send(sender, Heard())
        if word.notification.id not in self.given:
            self.given.append(word.notification.id)
            self.deliver(word.notification)

    @on(Heard)
    def rest(self, _: Heard, sender: NodeId, now: SimTime) -> None:
        self.owed = None
        self.cancel_timer("again")


class DoubtfulRepeater(Repeater):
    """Believes what it has heard twice without a second between in which it has not, and says so only then."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.is_half_sure = False

    @on(Again)
    def take_in(self, word: Again, sender: NodeId, now: SimTime) -> None:
        if self.is_half_sure:
            super().take_in(word, sender, now)
        self.is_half_sure = True
        self.set_timer("doubt", SECOND + SECOND // 2)

    @on_timer("doubt")
    def doubt(self, _: str, now: SimTime) -> None:
        self.is_half_sure = False


class Coin(Beating):
    """Throws a coin every second, and delivers what was published when it shows heads."""

    FACES, HEADS = 2, 1

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.owed: Notification | None = None

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.owed = event.notification
        self.send(BROADCAST, Word(event.notification))

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.owed = word.notification

    @on_timer("beat")
    def beat(self, _: str, now: SimTime) -> None:
        self.set_timer("beat", SECOND)
        if self.owed is not None and self.random.randrange(self.FACES) == self.HEADS:
            self.deliver(self.owed)
            self.owed = None


class LoadedCoin(Coin):
    """Waits for a face that the coin does not have."""

    HEADS = 7


class Racing(Announcing):
    """Draws a time up to a second when something is published, and delivers twice if it lies in the middle third."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.passed = 0

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.owed = event.notification
        self.set_timer("first third", SECOND // 3)
        self.set_timer("second third", 2 * SECOND // 3)
        self.set_timer("drawn", self.random.randrange(SECOND))

    @on_timer("first third")
    def pass_first(self, _: str, now: SimTime) -> None:
        self.passed += 1

    @on_timer("second third")
    def pass_second(self, _: str, now: SimTime) -> None:
        self.passed += 1

    @on_timer("drawn")
    def run_out(self, _: str, now: SimTime) -> None:
        for _ in "12"[: 1 + (self.passed == 1)]:
            self.deliver(self.owed)


class Normal(Announcing):
    """Draws from the normal distribution."""

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.random.normalvariate(0.0, 1.0)


class Ping(Message, tag=4):
    """Goes to and fro, with how often it has been there."""

    count: U32


class PingPong(Agent):
    """Stateright's ping-pong: a node counts what it was waiting for, and up to five its answer says one more."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.count = 0

    @on(Publish)
    def serve(self, event: Publish, now: SimTime) -> None:
        self.send(NodeId(1), Ping(0))

    @on(Ping)
    def answer(self, ping: Ping, sender: NodeId, now: SimTime) -> None:
        if ping.count == self.count and self.count < 5 + self.node:
            self.count += 1
            self.send(sender, Ping(ping.count + (self.node == 0)))


class Careless(Announcing):
    """Raises an error when it hears a second word."""

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.words += 1
        if self.words == 2:
            raise RuntimeError("two words are too many")


class Reader(Announcing):
    """Has a state that nobody can copy."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.numbers = (number for number in range(3))


class OClock(Clock):
    """Goes by the absolute time."""

    @on_timer("tick")
    def tick(self, _: str, now: SimTime) -> None:
        self.ticks = now % 7


class Wanderer(Announcing):
    """Goes away when it has something to say."""

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.go_to(2, 3, speed=1)


class Deadly(Announcing):
    """Ends its process when it hears a word."""

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        os._exit(3)


class Stubborn(Announcing):
    """Sends a word to a node that is not there, until it arrives."""

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.send(NodeId(2), Word(event.notification))

    @on(SendFailed)
    def try_again(self, event: SendFailed, now: SimTime) -> None:
        self.send(event.destination, event.message)


class Hanging(Announcing):
    """Never ends the handling of a publication."""

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        """Goes on for ever, and catches what would end it."""
        while True:
            try:
                self.words = (self.words + 1) % 9
            except BaseException:  # noqa: S112  # an agent as bad as can be
                continue
