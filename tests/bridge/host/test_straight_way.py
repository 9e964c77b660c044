"""From `self.send` to the back-end is a short way: the calls of Python functions on it are counted."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, ClassVar

from roambus.bridge.backend import Backend
from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.host.codec import FIRST
from roambus.bridge.host.event_loop import Host
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Started
from roambus.python_protocol.messages.fields import U8, U32
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import SECOND, SimTime
from tests.bridge.backends.radio.runs import at_places

MOST_CALLS = 7
SCENARIO = at_places(0, 5)
MESSAGES = 18
"""Node 0 sends one in each of nine seconds, and node 1 answers each."""


class Ping(Message, tag=1):
    urgent: bool
    hops: U8
    number: U32


class Pinger(Agent):
    """Node 0 sends to all, and node 1 answers; the calls that follow are noted until the back-end has the message."""

    ways: ClassVar[list[list[str]]] = []

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        if self.node == 0:
            for second in range(1, 10):
                self.set_timer(second, second * SECOND)

    @on_timer(int)
    def ping(self, second: int, now: SimTime) -> None:
        ping = Ping(urgent=False, hops=0, number=second)
        note_calls(self.ways)
        self.send(BROADCAST, ping)

    @on(Ping)
    def answer(self, ping: Ping, sender: NodeId, now: SimTime) -> None:
        if self.node == 1:
            reply = Ping(urgent=True, hops=1, number=ping.number)
            note_calls(self.ways)
            self.send(sender, reply)


def note_calls(ways: list[list[str]]) -> None:
    """Notes the Python functions that are called from now on, up to the back-end's that is given a message."""
    ways.append(way := [])

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename != __file__:
            way.append(frame.f_code.co_qualname)
            if frame.f_code.co_name == "advance" and frame.f_locals["transmissions"]:
                sys.setprofile(None)

    sys.setprofile(note)


def ways_over(backend: Backend, *, check: bool = False) -> list[list[str]]:
    """The functions called for each message of a run, less those that are compared with their bytes as the first."""
    Pinger.ways.clear()
    try:
        Host(SCENARIO, Pinger, backend, TraceWriter(), check=check).run()
    finally:
        sys.setprofile(None)
    assert len(Pinger.ways) == MESSAGES
    return Pinger.ways[FIRST:]


def test_from_send_to_the_ideal_links_it_is_at_most_seven_calls() -> None:
    """Of Python functions, with that of `send` and that of the back-end."""
    ways = ways_over(IdealBackend(2, [(0, 1)], SCENARIO.time_limit))
    assert max(map(len, ways)) <= MOST_CALLS, ways


def test_from_send_to_the_embedded_radio_it_is_at_most_seven_calls() -> None:
    """Of Python functions, with that of `send` and that of the back-end."""
    ways = ways_over(RadioBackend(SCENARIO))
    assert max(map(len, ways)) <= MOST_CALLS, ways


def test_with_check_each_message_takes_the_longer_way() -> None:
    """On which it is encoded, and read from its bytes."""
    ways = ways_over(IdealBackend(2, [(0, 1)], SCENARIO.time_limit), check=True)
    assert all("Message.encode" in way and "MessageSet.decode" in way for way in ways)
