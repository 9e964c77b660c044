"""MFT-PubSub whole, over ideal links: who gets what, whatever moves."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.scenario.definition import Publications, Subscription, Workload
from roambus.bridge.scenario.plans import LinkChange
from roambus.python_protocol.actions import Action, SetTimer
from roambus.python_protocol.events import Event, Started, TimerFired, Unsubscribe
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.mft import MftPubSub
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SECOND, SimTime
from tests.support.graphs import connected_graphs
from tests.support.runs import Edges, Row, of, publishing, run

P, S, B = Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER
LINE: Edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
"""A publisher (0), four brokers and a subscriber (5)."""
LINE_ROLES = [P, B, B, B, B, S]


class Leaving(MftPubSub):
    """Every subscriber unsubscribes from everything 16 s after its boot."""

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        if isinstance(event, Started):
            return [SetTimer("leave", 16 * SECOND), *super().handle(event, now)]
        if isinstance(event, TimerFired) and event.key == "leave":
            return super().handle(Unsubscribe(Filter()), now)
        return super().handle(event, now)


def delivered(rows: Iterable[Row]) -> list[tuple[NodeId, str]]:
    return sorted((row["node"], row["notification_id"]) for row in of(rows, "deliver"))


def published(rows: Iterable[Row], *subscribers: NodeId) -> list[tuple[NodeId, str]]:
    """Everything, for each of some subscribers."""
    return sorted((node, row["notification_id"]) for row in of(rows, "publish") for node in subscribers)


def talk(rows: Iterable[Row], after: float) -> list[str]:
    """The types of what is sent after a time, heartbeats left out."""
    types = {row["message_type"] for row in of(rows, "send") if row["time_s"] > after}
    return sorted(types - {"HEARTBEAT"})


def moves(time: int, node: NodeId, old: NodeId, new: NodeId, away: int = 0) -> list[LinkChange]:
    """The only link of a node goes from `old` to `new` at `time` s, after `away` s without any."""
    return [LinkChange(time * SECOND, node, old, up=False), LinkChange((time + away) * SECOND, node, new, up=True)]


@given(connected_graphs(7), st.integers(0, 100))
@settings(max_examples=10)
def test_everything_arrives_once_in_a_static_network(graph: tuple[int, Edges], seed: int) -> None:
    """Every node with all roles gets every notification once, and then there is nothing but heartbeats."""
    nodes, links = graph
    workload = publishing(0, range(nodes), start=14 * SECOND, until=17 * SECOND)
    rows = run(MftPubSub, nodes, links, workload, roles=[P | S | B] * nodes, seed=seed, time_limit=21 * SECOND)
    assert len(of(rows, "publish")) == 3
    assert delivered(rows) == published(rows, *range(nodes))
    assert talk(rows, after=18) == []
    assert of(rows, "drop") == []


@pytest.mark.parametrize("seed", range(3))
def test_a_line_of_brokers_takes_one_hop_a_link(seed: int) -> None:
    """From the publisher over four brokers to the subscriber."""
    workload = publishing(0, [5], start=10 * SECOND, until=15 * SECOND)
    rows = run(MftPubSub, 6, LINE, workload, roles=LINE_ROLES, seed=seed)
    assert delivered(rows) == published(rows, 5)
    assert {row["hops"] for row in of(rows, "deliver")} == {5}


@pytest.mark.parametrize("away", [0, 3, 8])
@pytest.mark.parametrize("seed", range(2))
def test_a_subscriber_that_moves_gets_what_it_missed(away: int, seed: int) -> None:
    """From one end of the line to the other, at once or after some time out of reach."""
    workload = publishing(0, [5], start=6 * SECOND, until=30 * SECOND)
    changes = moves(12, 5, 4, 1, away)
    rows = run(MftPubSub, 6, LINE, workload, roles=LINE_ROLES, changes=changes, seed=seed, time_limit=45 * SECOND)
    assert delivered(rows) == published(rows, 5)
    assert of(rows, "replay")
    assert {row["hops"] for row in of(rows, "deliver") if row["time_s"] > 28} == {2}
    assert talk(rows, after=40) == []


@pytest.mark.parametrize("away", [0, 3, 8])
@pytest.mark.parametrize("seed", range(2))
def test_a_broker_that_moves_loses_nothing_in_the_end(away: int, seed: int) -> None:
    """Broker 4 takes its subscriber from broker 3 to broker 1; what was sent the old way comes after it."""
    workload = publishing(0, [5], start=6 * SECOND, until=30 * SECOND)
    changes = moves(12, 4, 3, 1, away)
    rows = run(MftPubSub, 6, LINE, workload, roles=LINE_ROLES, changes=changes, seed=seed, time_limit=45 * SECOND)
    assert delivered(rows) == published(rows, 5)
    assert {row["hops"] for row in of(rows, "deliver") if row["time_s"] > 28} == {3}
    assert talk(rows, after=40) == []


@pytest.mark.parametrize("seed", range(2))
def test_a_publisher_that_moves_publishes_on(seed: int) -> None:
    """What it publishes out of reach it keeps until it finds a broker."""
    workload = publishing(0, [5], start=6 * SECOND, until=30 * SECOND)
    changes = moves(12, 0, 1, 3, 8)
    rows = run(MftPubSub, 6, LINE, workload, roles=LINE_ROLES, changes=changes, seed=seed, time_limit=45 * SECOND)
    assert delivered(rows) == published(rows, 5)


@pytest.mark.parametrize("seed", range(3))
def test_a_partition_stores_and_a_merge_replays(seed: int) -> None:
    """Between 12 s and 25 s the subscriber is elsewhere; afterwards it has everything, in the end once."""
    workload = publishing(0, [5], start=6 * SECOND, until=30 * SECOND)
    changes = [LinkChange(12 * SECOND, 2, 3, up=False), LinkChange(25 * SECOND, 2, 3, up=True)]
    rows = run(MftPubSub, 6, LINE, workload, roles=LINE_ROLES, changes=changes, seed=seed, time_limit=45 * SECOND)
    assert not [row for row in of(rows, "deliver") if 12.1 < row["time_s"] < 25]
    kept = {row["notification_id"] for row in of(rows, "store")}
    assert len(kept) >= 12
    assert kept <= {row["notification_id"] for row in of(rows, "replay")}
    assert delivered(rows) == published(rows, 5)
    assert talk(rows, after=40) == []


@given(connected_graphs(6), st.data(), st.integers(0, 100))
@settings(max_examples=10)
def test_a_link_that_breaks_and_comes_back_loses_nothing(
    graph: tuple[int, Edges], data: st.DataObject, seed: int
) -> None:
    """Any one link is away for a while; when it is back, everything has come everywhere, and all is quiet."""
    nodes, links = graph
    a, b = data.draw(st.sampled_from(list(links)))
    down, away = data.draw(st.integers(10, 16)), data.draw(st.integers(1, 8))
    changes = [LinkChange(down * SECOND, a, b, up=False), LinkChange((down + away) * SECOND, a, b, up=True)]
    workload = publishing(0, range(1, nodes), start=8 * SECOND, until=26 * SECOND)
    roles = [P | S | B] * nodes
    rows = run(MftPubSub, nodes, links, workload, roles=roles, changes=changes, seed=seed, time_limit=40 * SECOND)
    assert set(delivered(rows)) == set(published(rows, *range(1, nodes)))
    assert talk(rows, after=36) == []


def test_the_same_seed_gives_the_same_run() -> None:
    """Jitter and time-outs come from the seed alone."""
    workload = publishing(0, [5], start=6 * SECOND, until=10 * SECOND)
    runs = [
        run(MftPubSub, 6, LINE, workload, roles=LINE_ROLES, seed=seed, time_limit=12 * SECOND) for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_a_subscription_after_a_partition_spreads_with_the_merge() -> None:
    """Subscriber 5 comes while its brokers are alone: the merge tells the others of it."""
    workload = Workload(
        (Subscription(5, 15 * SECOND, Filter()),),
        (Publications(0, 28 * SECOND, 32 * SECOND, SECOND, (("topic", "news"),), 20),),
    )
    changes = [LinkChange(8 * SECOND, 2, 3, up=False), LinkChange(20 * SECOND, 2, 3, up=True)]
    rows = run(MftPubSub, 6, LINE, workload, roles=LINE_ROLES, changes=changes, time_limit=36 * SECOND)
    assert delivered(rows) == published(rows, 5)


@pytest.mark.parametrize(("a", "b"), [(2, 3), (3, 4), (4, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_a_subscription_that_ended_in_a_partition_does_not_survive_the_merge(a: int, b: int, seed: int) -> None:
    """Section 3.5: no phantom, whichever part joins the other, and even if the subscriber was all alone."""
    workload = publishing(0, [5], start=6 * SECOND, until=35 * SECOND)
    changes = [LinkChange(10 * SECOND, a, b, up=False), LinkChange(25 * SECOND, a, b, up=True)]
    rows = run(Leaving, 6, LINE, workload, roles=LINE_ROLES, changes=changes, seed=seed, time_limit=40 * SECOND)
    assert [row for row in of(rows, "store") if row["time_s"] < 25]
    assert [row["event"] for row in rows if row["time_s"] > 31 and row["event"] in ("route", "store", "replay")] == []
    assert [
        row for row in of(rows, "send") if row["time_s"] > 31 and row["message_type"] == "PUB" and row["node"]
    ] == []
