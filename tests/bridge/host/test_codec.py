"""Messages are their bytes: the first of each type and a sample are compared in every run, all of them with `check`."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.host import codec
from roambus.bridge.host.codec import EVERY, FIRST, CodecCheck
from roambus.bridge.host.event_loop import Host
from roambus.bridge.trace.parquet import TraceWriter
from roambus.python_protocol.agent import Agent, on, on_timer
from roambus.python_protocol.events import Started
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.scenarios import scenario


class Reading(Message, tag=1):
    number: U8
    value: float


class Careful(Agent):
    """Sends readings, and leaves those of others as they are."""

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        self.set_timer("tick", 10 * MILLISECOND)

    @on_timer("tick")
    def tick(self, key: object, now: SimTime) -> None:
        self.send(BROADCAST, Reading(self.node, math.nan))
        self.set_timer("tick", 10 * MILLISECOND)

    @on(Reading)
    def on_reading(self, reading: Reading, sender: NodeId, now: SimTime) -> None:
        """Have a handler, so that the message is one of the agent's."""


class Hasty(Agent):
    """Node 0 sends many readings at once."""

    messages = MessageSet([Reading])

    @on(Started)
    def start(self, event: Started, now: SimTime) -> None:
        for number in range(2 * EVERY + 1 if self.node == 0 else 0):
            self.send(BROADCAST, Reading(1, number))


def run(agent: type[Agent], *, check: bool) -> TraceWriter:
    trace = TraceWriter()
    described = scenario([Role.NONE] * 3, time_limit=2 * SECOND)
    Host(described, agent, IdealBackend(3, [(0, 1), (1, 2)], 2 * SECOND), trace, check=check).run()
    return trace


@pytest.mark.parametrize(
    ("everything", "expected"), [(False, [*range(FIRST), EVERY, 2 * EVERY]), (True, list(range(2 * EVERY + 1)))]
)
def test_the_first_messages_and_a_sample_are_compared(
    everything: bool, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample is the same in each run."""
    compared: list[float] = []
    monkeypatch.setattr(CodecCheck, "compare", lambda _, message, __: compared.append(message.value))
    described = scenario([Role.NONE] * 2, time_limit=SECOND)
    Host(described, Hasty, IdealBackend(2, [], SECOND), TraceWriter(), check=everything).run()
    assert compared == expected


def test_a_run_with_check_makes_the_same_trace() -> None:
    """It compares more, and does nothing else; a NaN is what it was."""
    assert run(Careful, check=True).table().equals(run(Careful, check=False).table())


def test_the_place_of_a_message_is_its_class_or_its_own_read() -> None:
    """That is where its bytes are said."""
    line = 1 + Path(__file__).read_text().splitlines().index("class Reading(Message, tag=1):")
    assert codec.place_of_class(Reading) == f"{Path(__file__).name}:{line}"
