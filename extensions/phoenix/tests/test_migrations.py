"""Phoenix with numbered migrations: nothing lost, nothing twice, in order per publisher, whatever the clients do.

Whole agents over bare ideal links of 1 ms, on static trees of brokers; clients move at any times, with pauses below and
above a link's delay, so that all messages cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.scenario.definition import Command, Publication, Subscription, Workload
from roambus.bridge.scenario.plans import ParentChange
from roambus.extensions.phoenix import Phoenix
from roambus.python_protocol.filters import Filter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime
from tests.support.runs import Row, of
from tests.support.trees import run_on_tree

P, S, B = Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER
START = SECOND


class Scene(NamedTuple):
    """Brokers, then clients; who moves and publishes when."""

    parents: dict[NodeId, NodeId]
    roles: list[Role]
    moves: list[ParentChange]
    commands: list[Command]

    def workload(self, subscribed: SimTime) -> Workload:
        """Every subscriber wants everything."""
        nodes = [node for node, roles in enumerate(self.roles) if S in roles]
        return Workload(
            tuple(Subscription(node, subscribed, Filter()) for node in nodes), commands=tuple(self.commands)
        )


@st.composite
def scenes(draw: st.DrawFn, *, most: int, publishers_move: bool = False) -> Scene:
    """A random tree of brokers, some with clients of their own, and three clients that move among them."""
    brokers = draw(st.integers(1, most))
    node = st.integers(0, brokers - 1)
    roles = [
        B | role for role in draw(st.lists(st.sampled_from([P, S, Role.NONE]), min_size=brokers, max_size=brokers))
    ]
    roles += [S, S, P | S] if publishers_move else [S, S, P]
    parents = {child: draw(st.integers(0, child - 1)) for child in range(1, brokers)}
    parents |= {client: draw(node) for client in range(brokers, len(roles))}
    pause = draw(st.sampled_from([300 * MICROSECOND, MILLISECOND, 4 * MILLISECOND, 20 * MILLISECOND]))
    times = st.lists(st.integers(1, pause), max_size=8).map(_accumulated)
    movers = [client for client in range(brokers, len(roles)) if S in roles[client]]
    places = st.one_of(st.none(), node)
    moves = [ParentChange(at, mover, draw(places)) for mover in movers for at in draw(times)]
    moves += [ParentChange(2 * START, mover, draw(node)) for mover in movers]
    publishers = [node for node, role in enumerate(roles) if P in role]
    commands = [Command(at, node, Publication((("topic", "n"),))) for node in publishers for at in draw(times)]
    return Scene(
        parents, roles, sorted(moves, key=lambda move: move.at), sorted(commands, key=lambda command: command.at)
    )


def _accumulated(pauses: Sequence[SimTime]) -> list[SimTime]:
    return [START + sum(pauses[: number + 1]) for number in range(len(pauses))]


def run(scene: Scene, subscribed: SimTime) -> list[Row]:
    workload = scene.workload(subscribed)
    return run_on_tree(Phoenix, scene.parents, scene.roles, workload, moves=scene.moves, time_limit=3 * START)


def published(rows: Sequence[Row]) -> dict[NodeId, list[str]]:
    """The notifications of each publisher, in their order."""
    ids: dict[NodeId, list[str]] = {}
    for row in of(rows, "publish"):
        ids.setdefault(row["node"], []).append(row["notification_id"])
    return ids


def deliveries(rows: Sequence[Row], subscriber: NodeId, publisher: NodeId) -> list[str]:
    """What a subscriber gets from a publisher, in its order."""
    ids = [row["notification_id"] for row in of(rows, "deliver") if row["node"] == subscriber]
    return [number for number in ids if number.split(".")[0] == str(publisher)]


def subscribers(scene: Scene) -> list[NodeId]:
    return [node for node, roles in enumerate(scene.roles) if S in roles]


@given(scenes(most=6))
@settings(max_examples=150)
def test_every_subscriber_gets_everything_once_and_in_order(scene: Scene) -> None:
    """Few brokers, so that moves often cross and come back."""
    assert_all_in_order(scene)


@given(scenes(most=30))
@settings(max_examples=40)
def test_so_it_is_with_many_brokers(scene: Scene) -> None:
    """MIGs and REPs are under way for longer than a subscriber stays."""
    assert_all_in_order(scene)


def assert_all_in_order(scene: Scene) -> None:
    rows = run(scene, subscribed=START // 2)
    for publisher, ids in published(rows).items():
        for subscriber in subscribers(scene):
            assert deliveries(rows, subscriber, publisher) == ids


@given(scenes(most=6, publishers_move=True))
@settings(max_examples=60)
def test_publishers_may_move_too(scene: Scene) -> None:
    """Everything arrives once; in order only from publishers that stay where they are."""
    rows = run(scene, subscribed=START // 2)
    for publisher, ids in published(rows).items():
        for subscriber in subscribers(scene):
            assert sorted(deliveries(rows, subscriber, publisher)) == sorted(ids)


@given(scenes(most=6))
@settings(max_examples=60)
def test_a_subscriber_may_move_before_its_subscription_has_spread(scene: Scene) -> None:
    """Nothing comes twice or out of order, and what is published when all is quiet comes to everybody."""
    late = [
        Command(2 * START + START // 2, node, Publication((("topic", "late"),))) for node in range(len(scene.roles))
    ]
    scene.commands.extend(command for command in late if P in scene.roles[command.node])
    rows = run(scene, subscribed=START)
    for publisher, ids in published(rows).items():
        for subscriber in subscribers(scene):
            mine = deliveries(rows, subscriber, publisher)
            assert mine == [number for number in ids if number in mine]
            assert mine[-1:] == ids[-1:]
