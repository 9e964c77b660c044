"""Agents of students, each with one mistake, and right ones beside them: changes of a flood with beacons."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

RIGHT = '''"""A flood, whose nodes send beacons, and only repeat what they hear if they know a neighbour."""
import os, random, threading, time
from dataclasses import replace
from roambus import *
from roambus import Crashed, Recovered


class Hello(Message, tag=1):
    pass


class Frame(Message, tag=2):
    hops: U8
    notification: Notification


class Settings(Parameters):
    ttl: int = parameter(8, unit="hops", doc="most hops", source="reasoned", at_least=1, at_most=255)


class Student(Agent):
    parameters: Settings

    def __init__(self, node, roles, parameters, random):
        super().__init__(node, roles, parameters, random)
        self.filters = []
        self.forget()

    def forget(self):
        self.seen = set()
        self.neighbours = {}

    @on(Started, Recovered)
    def start(self, event, now):
        self.set_timer("hello", self.random.randrange(SECOND))

    @on(Crashed)
    def crash(self, event, now):
        self.forget()

    @on_timer("hello")
    def hello(self, key, now):
        self.send(BROADCAST, Hello())
        self.set_timer("hello", SECOND)

    @on(Hello)
    def greet(self, hello, sender, now):
        self.neighbours[sender] = now

    @on(Subscribe)
    def subscribe(self, event, now):
        self.filters.append(event.filter)

    @on(Unsubscribe)
    def unsubscribe(self, event, now):
        self.filters.remove(event.filter)

    @on(Publish)
    def publish(self, event, now):
        self.seen.add(event.notification.id)
        self.give(event.notification, 0)
        self.send(BROADCAST, Frame(0, event.notification))

    @on(Frame)
    def hear(self, frame, sender, now):
        notification = frame.notification
        if notification.id in self.seen:
            return
        self.seen.add(notification.id)
        hops = frame.hops + 1
        self.give(notification, hops)
        if hops < self.parameters.ttl:
            self.send(BROADCAST, Frame(hops, notification), self.random.randrange(10 * MILLISECOND))

    def give(self, notification, hops):
        if any(wanted.matches(notification) for wanted in self.filters):
            self.deliver(notification, hops)
'''


class Student(NamedTuple):
    """A change of the right agent, and the words of the finding; none for a right one."""

    name: str
    old: str
    new: str
    says: str = ""

    def write(self, folder: Path) -> Path:
        """Write the agent's file."""
        assert self.old in RIGHT, self.name
        file = folder / f"{re.sub('[^a-z]+', '_', self.name.lower())}.py"
        file.write_text(RIGHT.replace(self.old, self.new), encoding="utf-8")
        return file


_SEEN = "        if notification.id in self.seen:\n            return\n        self.seen.add(notification.id)\n"
_GIVE = (
    "        if any(wanted.matches(notification) for wanted in self.filters):\n"
    "            self.deliver(notification, hops)"
)

DELIVERIES = (
    Student(
        "each copy",
        _SEEN,
        "        again = notification.id in self.seen\n"
        "        self.seen.add(notification.id)\n"
        "        if again:\n"
        "            self.give(notification, frame.hops + 1)\n"
        "            return\n",
        "times: so are",
    ),
    Student(
        "twice",
        "self.give(notification, hops)",
        "self.give(notification, hops); self.give(notification, hops)",
        "2 times",
    ),
    Student("never unsubscribes", "self.filters.remove(event.filter)", "pass", "does not want it"),
    Student(
        "unsubscribes all", "self.filters.remove(event.filter)", "self.filters.clear()", "is not delivered to node 3"
    ),
    Student(
        "one filter",
        "self.filters.append(event.filter)",
        "self.filters = [event.filter]",
        "is not delivered to node 3",
    ),
    Student(
        "never again",
        "self.filters.append(event.filter)",
        "if event.filter not in self.__dict__.setdefault('old', []):\n"
        "            self.filters.append(event.filter); self.old.append(event.filter)",
        "is not delivered to node 2",
    ),
    Student("everything to everybody", _GIVE, "        self.deliver(notification, hops)", "does not want it"),
    Student("all filters", "if any(wanted", "if all(wanted", "is not delivered to node 3"),
    Student(
        "all filters if any",
        "if any(wanted.matches(notification) for wanted in self.filters):",
        "if self.filters and all(wanted.matches(notification) for wanted in self.filters):",
        "is not delivered to node 3",
    ),
    Student("not its own", "        self.give(event.notification, 0)\n", "", "is not delivered to node 7"),
    Student(
        "equal contents",
        _SEEN,
        _SEEN.replace("notification.id", "(notification.attributes, notification.payload)"),
        "is not delivered",
    ),
    Student("only neighbours", "hops < self.parameters.ttl", "False", "is not delivered"),
    Student(
        "node 0 is nobody",
        "        notification = frame.notification\n",
        "        notification = frame.notification\n        if not sender:\n            return\n",
        "is not delivered",
    ),
    Student(
        "a full buffer",
        _SEEN,
        _SEEN
        + (
            "        if self.__dict__.get('busy') == now // (2 * SECOND) and self.count > 3:\n"
            "            return\n"
            "        self.count = self.count + 1 if self.__dict__.get('busy') == now // (2 * SECOND) else 0\n"
            "        self.busy = now // (2 * SECOND)\n"
        ),
        "is not delivered",
    ),
    Student(
        "hops too few",
        "self.give(notification, hops)",
        "self.give(notification, frame.hops)",
        "hops=1: the publisher is 2 hops away",
    ),
    Student(
        "hops too many",
        "self.give(notification, hops)",
        "self.give(notification, hops + 1)",
        "hops=2: the publisher is 1 hops away",
    ),
    Student("one hop too many", "hops < self.parameters.ttl", "hops <= self.parameters.ttl", "3 with ttl=2"),
    Student(
        "forgets filters",
        "    def forget(self):\n",
        "    def forget(self):\n        self.filters = []\n",
        "recovery: .* reaches node 3, which wants it",
    ),
    Student(
        "twice after a recovery",
        "    def crash(self, event, now):\n",
        "    def crash(self, event, now):\n"
        "        give = self.give\n"
        "        self.give = lambda *its: (give(*its), give(*its))\n",
        "recovery: .*2 times",
    ),
    Student(
        "no beacon after a recovery",
        "@on(Started, Recovered)",
        "@on(Started)",
        "recovery: .*the timer 'hello' of node",
    ),
)
"""Mistakes of the protocol."""

INTERFACE = (
    Student(
        "acts in the constructor",
        "        self.forget()\n\n",
        "        self.forget()\n        self.set_timer('hello', SECOND)\n\n",
        "the constructor asks for SetTimer",
    ),
    Student(
        "sets its number",
        "        self.neighbours[sender] = now\n",
        "        self.neighbours[sender] = now\n        self.node = self.node + 0 if sender else 1000\n",
        "a handler sets self.node",
    ),
    Student(
        "returns a message",
        "        self.send(BROADCAST, Hello())\n",
        "        return Hello()\n",
        "returns Hello, which nobody sends",
    ),
    Student(
        "swallows",
        "        self.give(event.notification, 0)\n",
        "        try:\n            self.give(event.notification, 0)\n        except Exception:\n            pass\n",
        "every error is swallowed here",
    ),
    Student(
        "swallows all",
        "        self.give(event.notification, 0)\n",
        "        try:\n            self.give(event.notification, 0)\n        except:\n            ...\n",
        "every error is swallowed here",
    ),
    Student(
        "suppresses",
        "        self.give(event.notification, 0)\n",
        "        import contextlib\n"
        "        with contextlib.suppress(BaseException):\n"
        "            self.give(event.notification, 0)\n",
        "every error is swallowed here",
    ),
    Student(
        "another content",
        "self.deliver(notification, hops)",
        "self.deliver(replace(notification, payload=0), hops)",
        "is delivered with another content",
    ),
    Student(
        "invents",
        "self.deliver(notification, hops)",
        "self.deliver(replace(notification, id=NotificationId(5, 99)), hops)",
        "which nobody has published",
    ),
    Student(
        "a thread",
        "        self.send(BROADCAST, Hello())\n",
        "        self.send(BROADCAST, Hello())\n        threading.Thread(target=print).start()\n",
        "it starts a thread",
    ),
    Student(
        "a process",
        "        self.send(BROADCAST, Hello())\n",
        "        self.send(BROADCAST, Hello())\n        os.system('true') if now < 2 * SECOND else None\n",
        "it starts a process",
    ),
)
"""Mistakes against the reference of agents."""

HONEST = (
    Student("right", "self.filters", "self.filters"),
    Student(
        "gossip with probability",
        "hops < self.parameters.ttl",
        "hops < self.parameters.ttl and self.random.random() < 0.6",
    ),
    Student(
        "filters in a dictionary",
        "any(wanted.matches(notification) for wanted in self.filters)",
        "any(map(lambda wanted: wanted.matches(notification), dict.fromkeys(self.filters)))",
    ),
    Student("limit by another rule", "hops < self.parameters.ttl", "frame.hops + 2 <= self.parameters.ttl"),
    Student(
        "beacons that slow down",
        '        self.set_timer("hello", SECOND)\n',
        '        self.set_timer("hello", SECOND + self.random.randrange(SECOND))\n',
    ),
    Student(
        "handles an error",
        "        self.give(event.notification, 0)\n",
        "        try:\n            self.give(event.notification, 0)\n        except ValueError:\n            pass\n",
    ),
    Student("no beacons", "@on(Started, Recovered)", "@on(Detach)"),
    Student("delivers nothing", _GIVE, "        pass"),
)
"""Right ones, some with a weaker guarantee."""
