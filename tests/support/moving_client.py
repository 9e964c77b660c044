"""A client that moves between brokers, or has none, while the application commands it."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from roambus.bridge.scenario.definition import Command, Publication, Workload
from roambus.bridge.scenario.plans import ParentChange
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import Subscribe, Unsubscribe
from roambus.python_protocol.filters import Filter, parse_filter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.support.runs import of
from tests.support.trees import run_on_tree

PARENTS: dict[NodeId, NodeId] = {1: 0, 2: 0, 3: 2, 4: 1, 5: 3}
"""Brokers 0 to 3, of which 0 is in the middle; the subscriber is 4 and the publisher 5."""
ROLES = [Role.BROKER] * 4 + [Role.SUBSCRIBER, Role.PUBLISHER]
SUBSCRIBER, PUBLISHER, HOME = 4, 5, 1
TOPICS = ("red", "green")
PAUSE = 50 * MILLISECOND
QUIET = 3 * SECOND


class Step(NamedTuple):
    """The subscriber comes to a broker, or to none, or the application commands something."""

    broker: NodeId | None = None
    topic: str | None = None
    wanted: bool = False


def any_step(brokers: list[NodeId]) -> st.SearchStrategy[Step]:
    places = st.sampled_from([None, None, *brokers]).map(Step)
    return places | st.builds(Step, st.none(), st.sampled_from(TOPICS), st.booleans())


def filter_of(topic: str) -> Filter:
    return parse_filter(f"topic = '{topic}'")


def wanted_at_the_end(steps: list[Step]) -> set[str]:
    wanted: set[str] = set()
    for step in steps:
        if step.topic is not None:
            (wanted.add if step.wanted else wanted.discard)(step.topic)
    return wanted


def assert_commands_hold(agent: type[Agent], steps: list[Step]) -> None:
    """Once all is quiet, the subscriber gets what it wants, and the brokers send it nothing else."""
    moves, commands = [ParentChange(QUIET - SECOND, SUBSCRIBER, HOME)], []
    for number, (broker, topic, wanted) in enumerate(steps):
        at = SECOND // 2 + number * PAUSE
        if topic is None:
            moves.insert(-1, ParentChange(at, SUBSCRIBER, broker))
        else:
            about = filter_of(topic)
            commands.append(Command(at, SUBSCRIBER, Subscribe(about) if wanted else Unsubscribe(about)))
    late = [Command(QUIET + 1, PUBLISHER, Publication((("topic", topic),))) for topic in TOPICS]
    rows = run_on_tree(agent, PARENTS, ROLES, Workload(commands=(*commands, *late)), moves=moves)
    delivered = {row["notification_id"] for row in of(rows, "deliver")}
    published = dict(zip((row["notification_id"] for row in of(rows, "publish")), TOPICS, strict=True))
    assert {published[event_id] for event_id in delivered} == wanted_at_the_end(steps)
    assert not [row for row in of(rows, "drop") if row["detail"] == "not subscribed"]
