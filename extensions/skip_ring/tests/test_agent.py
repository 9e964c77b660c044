"""The agent on its nodes: joining, leaving, crashing, being away, several topics (its paper, sections 3.3 and 4)."""

from __future__ import annotations

from copy import deepcopy
from random import Random

import pytest

from roambus.bridge.scenario.definition import Command
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.extensions.skip_ring import SkipRing, messages
from roambus.extensions.skip_ring.corrupted import CorruptedParameters, skip_ring
from roambus.extensions.skip_ring.labels import Reference
from roambus.extensions.skip_ring.messages import SkipRingParameters
from roambus.extensions.skip_ring.tests.network import (
    ANY_TOPIC,
    SUPERVISOR,
    Outcome,
    assert_skip_ring,
    published,
    run,
)
from roambus.python_protocol.actions import Send
from roambus.python_protocol.events import Attach, Detach, Publish, Received, Started, Subscribe, Unsubscribe
from roambus.python_protocol.filters import Notification, NotificationId, parse_filter
from roambus.python_protocol.roles import Role
from roambus.python_protocol.settings import parse_parameters
from roambus.python_protocol.simtime import SECOND


def agent(node: int = 3, roles: Role = Role.SUBSCRIBER, **parameters: bool) -> SkipRing:
    return SkipRing(node, roles, SkipRingParameters(**parameters), Random(0))


def delivered(outcome: Outcome) -> set[tuple[int, str]]:
    return {(row["node"], row["notification_id"]) for row in outcome.of("deliver")}


# Whole networks


def test_who_unsubscribes_is_out_and_the_others_make_the_ring() -> None:
    """It is disconnected from the graph in the end (section 4.1)."""
    outcome = run(6, rounds=60, commands=[Command(20 * SECOND, 2, Unsubscribe(ANY_TOPIC))])
    found = outcome.subscribers()
    assert found.keys() == {1, 3, 4, 5, 6}
    assert_skip_ring(found)


def test_crashed_subscribers_are_excluded_and_come_back() -> None:
    """The supervisor's failure detector alone is enough for it (section 3.3)."""
    crashes = [Fault(20 * SECOND, node, FaultKind.CRASH) for node in (2, 5)]
    outcome = run(6, rounds=80, faults=crashes)
    assert_skip_ring({node: member for node, member in outcome.subscribers().items() if node not in {2, 5}})
    recovered = run(6, rounds=80, faults=[*crashes, Fault(50 * SECOND, 2, FaultKind.RECOVER)])
    assert_skip_ring({node: member for node, member in recovered.subscribers().items() if node != 5})


def test_the_ring_comes_back_after_a_crash_of_the_supervisor() -> None:
    """Its empty database is one more corrupted state."""
    faults = [Fault(20 * SECOND, SUPERVISOR, FaultKind.CRASH), Fault(30 * SECOND, SUPERVISOR, FaultKind.RECOVER)]
    outcome = run(5, rounds=90, faults=faults)
    assert_skip_ring(outcome.subscribers())


def test_topics_have_rings_of_their_own() -> None:
    """Publications stay in theirs (section 4)."""
    other = parse_filter("topic = 2")
    commands = [Command(0, node, Subscribe(other)) for node in (2, 3, 4)]
    outcome = run(4, rounds=40, commands=[*commands, published(30 * SECOND, 1), published(30 * SECOND, 4, topic=2)])
    assert_skip_ring(outcome.subscribers(1))
    assert_skip_ring(outcome.subscribers(2))
    assert outcome.subscribers(2).keys() == {2, 3, 4}
    assert delivered(outcome) == {*((node, "1.0") for node in (1, 2, 3, 4)), *((node, "4.0") for node in (2, 3, 4))}


@pytest.mark.parametrize("topics", [1, 2, 4])
def test_the_supervisor_sends_one_configuration_a_round_for_each_topic(topics: int) -> None:
    """Beside its answers to requests: its work is linear in the topics, and not in the subscribers (section 1.3)."""
    others = [parse_filter(f"topic = {topic}") for topic in range(2, topics + 1)]
    commands = [Command(0, node, Subscribe(other)) for node in range(1, 5) for other in others]
    outcome = run(4, rounds=40, commands=commands)
    served = {row["time_s"] for row in outcome.of("serve")}
    sent = [row["time_s"] for row in outcome.of("send") if row["node"] == SUPERVISOR and row["time_s"] not in served]
    assert sum(time > 20 for time in sent) == pytest.approx(20 * topics, abs=topics)


@pytest.mark.parametrize("flooding", ["true", "false"])
def test_everybody_gets_everything_with_and_without_flooding(flooding: str) -> None:
    """So do those who subscribe after it was published; the tries alone are enough."""
    late = [Command(10 * SECOND, 5, Unsubscribe(ANY_TOPIC)), Command(40 * SECOND, 5, Subscribe(ANY_TOPIC))]
    outcome = run(5, rounds=60, commands=[*late, published(30 * SECOND, 1)], parameters={"flooding": flooding})
    assert delivered(outcome) == {(node, "1.0") for node in range(1, 6)}
    assert len(outcome.of("deliver")) == 5


def test_who_was_away_gets_what_it_missed() -> None:
    """Detached it is in no ring, and keeps what it has; what it publishes then spreads when it is back."""
    away = [Command(20 * SECOND, 2, Detach()), Command(40 * SECOND, 2, Attach())]
    publications = [published(15 * SECOND, 1), published(30 * SECOND, 3), published(35 * SECOND, 2)]
    outcome = run(4, rounds=60, commands=[*away, *publications])
    assert_skip_ring(outcome.subscribers())
    assert delivered(outcome) == {(node, publication) for node in range(1, 5) for publication in ("1.0", "3.0", "2.0")}
    assert len(outcome.of("deliver")) == 12


def test_flooding_over_the_ring_alone_takes_more_hops() -> None:
    """Among twelve, the oldest is two hops from everybody by shortcuts, and six by the ring."""
    commands = [published(40 * SECOND, 1)]
    hops = [
        max(
            row["hops"]
            for row in run(12, rounds=42, commands=commands, parameters={"flood_shortcuts": shortcuts}).of("deliver")
        )
        for shortcuts in ("true", "false")
    ]
    assert hops == [2, 6]


# One agent


@pytest.mark.parametrize("text", ["all", "topic prefix 'a'", "price = 3"])
def test_a_filter_without_a_topic_is_refused(text: str) -> None:
    """One sentence says what to write instead."""
    with pytest.raises(ValueError, match="names no topic: write one such as topic = 1, or set the parameter one_topic"):
        agent().handle(Subscribe(parse_filter(text)), 0)


def test_a_publication_without_a_topic_is_refused() -> None:
    """One sentence says which notification it is."""
    with pytest.raises(ValueError, match=r"notification 3\.0 has no attribute topic"):
        agent().handle(Publish(Notification(NotificationId(3, 0), (("price", 3),))), 0)


def test_with_one_topic_any_filter_is_a_subscribers_own() -> None:
    """It is in the ring of everybody, and delivers what it wants."""
    wanting = agent(one_topic=True)
    wanting.handle(Subscribe(parse_filter("price < 3")), 0)
    for price, expected in ((2, 1), (4, 0)):
        message = messages.PublishNew("", 1, Notification(NotificationId(9, price), (("price", price),)))
        actions = list(wanting.handle(Received(5, message, 0.0, 0.0), 0))
        assert len([action for action in actions if type(action).__name__ == "Deliver"]) == expected


def test_further_constraints_beside_the_topic_are_a_subscribers_own() -> None:
    """The ring is that of the topic."""
    wanting = agent()
    wanting.handle(Subscribe(parse_filter("topic = 1 and price < 3")), 0)
    assert list(wanting.members) == [1]


def test_the_supervisor_must_be_a_broker() -> None:
    """The error says how to mend it."""
    with pytest.raises(ValueError, match="node 0 is to be the supervisor, and has not the role broker: give it"):
        agent(SUPERVISOR)


@pytest.mark.parametrize(
    ("message", "answers"),
    [
        (
            messages.Introduce(1, Reference(5, "1"), cyclic=False, assumed="01"),
            [Send(5, messages.RemoveConnections(1, 3))],
        ),
        (messages.IntroduceShortcut(1, Reference(6, "1")), [Send(5, messages.RemoveConnections(1, 3))]),
        (
            messages.Linearize(1, Reference(6, "1"), cyclic=False, check=None),
            [Send(5, messages.RemoveConnections(1, 3)), Send(SUPERVISOR, messages.GetConfiguration(1, 6))],
        ),
        (messages.SetData(1, "01", None, None), [Send(SUPERVISOR, messages.Unsubscribe(1, 3))]),
        (messages.SetData(1, None, None, None), []),
        (messages.RemoveConnections(1, 5), []),
    ],
)
def test_who_is_in_no_ring_says_so(message: messages.TopicMessage, answers: list[Send]) -> None:
    """Connections to it are to be deleted, a reference that is handed over is not lost, and it wants no label."""
    assert list(agent().handle(Received(5, message, 0.0, 0.0), 0)) == answers


def test_supervisor_and_subscriber_of_one_node_need_no_messages() -> None:
    """What they say to each other is not sent."""
    both = agent(SUPERVISOR, Role.BROKER | Role.SUBSCRIBER)
    both.handle(Started(), 0)
    actions = list(both.handle(Subscribe(ANY_TOPIC), 0))
    assert not any(isinstance(action, Send) for action in actions)
    assert both.members[1].ring.label == "0"


def test_an_unknown_kind_of_corruption_is_refused() -> None:
    """The error names a kind that there is."""
    with pytest.raises(ValueError, match="parameter corruption: unknown kind 'label': did you mean 'labels'"):
        CorruptedParameters(corruption="label")


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("supervisor", "-1", "-1 is out of range: it must be from 0 to 65533"),
        ("supervisor", "65534", "65534 is out of range: it must be from 0 to 65533"),
        ("key_bits", "0", "0 is out of range: it must be from 1 to 128 bits"),
        ("key_bits", "129", "129 is out of range: it must be from 1 to 128 bits"),
        ("round", "0s", "0s is out of range: it must be above 0s"),
        ("jitter", "-1s", "-1s is out of range: it must be at least 0s"),
        ("jitter", "2s", "it is not below twice the round"),
        ("nodes", "1", "1 is out of range: it must be from 2 to 65534"),
        ("nodes", "65535", "65535 is out of range: it must be from 2 to 65534"),
        ("topic", "-1", "-1 is out of range: it must be from 0 to 9223372036854775807"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name: str, value: str, problem: str) -> None:
    """The error names the parameter, and the bound that it violates."""
    with pytest.raises(ValueError, match=f"^parameter {name}: {problem}$"):
        parse_parameters(CorruptedParameters, {name: value})


def test_nothing_goes_over_a_shortcut_to_who_has_left() -> None:
    """Section 4.1, lemma on unsubscribe: RemoveConnections takes the one shortcut that leads to its sender."""
    first = agent()
    first.handle(Subscribe(ANY_TOPIC), 0)
    configuration = messages.SetData(1, "0", Reference(8, "1111"), Reference(9, "0001"))
    shortcuts = [messages.IntroduceShortcut(1, Reference(node, label)) for node, label in ((6, "001"), (7, "111"))]
    for message in (configuration, *shortcuts):
        first.handle(Received(8, message, 0.0, 0.0), 0)
    assert set(first.members[1].neighbours()) == {6, 7, 8, 9}
    first.handle(Received(6, messages.RemoveConnections(1, 6), 0.0, 0.0), 0)
    assert set(first.members[1].neighbours()) == {7, 8, 9}


def test_the_trace_tells_shortcuts_by_label_and_node() -> None:
    """In the end they are those of the definition; before, a dash stands for a node that is not known yet."""
    rows = [(row["node"], row["detail"].split(" ")) for row in run(8, rounds=30).of("overlay")]
    last = dict(rows)
    node_of = {fields[1]: node for node, fields in last.items()}
    for label, place in skip_ring(8).items():
        shown = last[node_of[label]][5]
        assert set(shown.split(",")) == ({f"{label}:{node_of[label]}" for label in place.shortcuts} or {"-"})
    assert any(word.endswith(":-") for _, fields in rows for word in fields[5].split(","))


def test_a_copy_of_an_agent_lives_a_life_of_its_own() -> None:
    """Its state is plain data, with which an exploration can go on in another way."""
    first = agent(SUPERVISOR, Role.BROKER | Role.SUBSCRIBER)
    first.handle(Subscribe(ANY_TOPIC), 0)
    second = deepcopy(first)
    message = messages.Subscribe(1, 5)
    answers = list(second.handle(Received(5, message, 0.0, 0.0), 0))
    assert list(first.members[1].ring.neighbours()) == []
    assert list(first.handle(Received(5, message, 0.0, 0.0), 0)) == answers != []
