"""Protocols that are so small that the number of states can be worked out by hand."""

from __future__ import annotations

import os
from random import Random
from typing import Any

from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Crashed, Publish, SendFailed, Started
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.vocabulary import BROADCAST, SECOND, NodeId, Role, SimTime


class Word(Message, tag=1):
    """A notification that goes to the neighbours."""

    notification: Notification


class Told(Agent):
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


class Echo(Told):
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


class Dice(Told):
    """Hears with luck only: a throw decides whether it counts."""

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.words += self.random.choice((0, 1, 2))


class Gambler(Told):
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


class Drawing(Told):
    """Delivers twice if it draws a 1 from 0, 1 and 2, which is neither end of that range."""

    LUCKY, NUMBERS = 1, 3

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        for _ in range(1 + (self.random.randrange(self.NUMBERS) == self.LUCKY)):
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


class LateBeating(Beating):
    """Beats from the first publication on."""

    @on(Started)
    def start(self, _: Started, now: SimTime) -> None:
        pass

    @on(Publish)
    def publish(self, _: Publish, now: SimTime) -> None:
        self.beat("beat", now)


class Careless(Told):
    """Raises an error when it hears a second word."""

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        self.words += 1
        if self.words == 2:
            raise RuntimeError("two words are too many")


class Reader(Told):
    """Has a state that nobody can copy."""

    def __init__(self, node: NodeId, roles: Role, parameters: Any, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.numbers = (number for number in range(3))


class OClock(Clock):
    """Goes by the absolute time."""

    @on_timer("tick")
    def tick(self, _: str, now: SimTime) -> None:
        self.ticks = now % 7


class Deadly(Told):
    """Ends its process when it hears a word."""

    @on(Word)
    def take_word(self, word: Word, sender: NodeId, now: SimTime) -> None:
        os._exit(3)


class Stubborn(Told):
    """Sends a word to a node that is not there, until it arrives."""

    @on(Publish)
    def publish(self, event: Publish, now: SimTime) -> None:
        self.send(NodeId(2), Word(event.notification))

    @on(SendFailed)
    def try_again(self, event: SendFailed, now: SimTime) -> None:
        self.send(event.destination, event.message)
