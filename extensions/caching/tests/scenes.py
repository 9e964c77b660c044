"""Random networks in which clients leave and come back while others publish: whole agents, ideal links of 1 ms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from roambus.bridge.scenario.definition import Command, Publication, Subscription, Workload
from roambus.bridge.scenario.plans import ParentChange
from roambus.extensions.caching import Caching
from roambus.extensions.caching.cache import EMERGENCY_FULL
from roambus.python_protocol.events import Attach, Detach
from roambus.python_protocol.filters import Filter, Notification, NotificationId, parse_filter
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND, SimTime
from tests.support.runs import Row, of
from tests.support.trees import run_on_tree

P, S, B = Role.PUBLISHER, Role.SUBSCRIBER, Role.BROKER
START, END = SECOND, 2 * SECOND
DEPARTURE = 30 * MILLISECOND
"""From a client's goodbye until it loses its link: longer than any way there and back."""
QUIET = 60 * MILLISECOND
FILTERS = tuple(map(parse_filter, ("all", "topic = 1", "topic = 2", "topic < 2")))
TOPICS = (1, 2)

Pair = tuple[str, NodeId]
"""A notification and a node."""


@dataclass(frozen=True)
class Scene:
    """Parents of the brokers 1, 2, ... and of the clients, who wants what, and what happens."""

    parents: dict[NodeId, NodeId]
    roles: tuple[Role, ...]
    wanted: dict[NodeId, tuple[Filter, ...]]
    moves: tuple[ParentChange, ...]
    commands: tuple[Command, ...]

    def run(self, parameters: Mapping[str, str] | None = None) -> list[Row]:
        """The trace's rows."""
        subscriptions = tuple(
            Subscription(node, START // 2, wanted) for node, its in self.wanted.items() for wanted in its
        )
        workload = Workload(subscriptions, commands=self.commands)
        limit = END + SECOND
        return run_on_tree(
            Caching, self.parents, self.roles, workload, moves=self.moves, time_limit=limit, parameters=parameters
        )

    def expected(self) -> set[Pair]:
        """Who wants what is published, wherever it is."""
        published, pairs = Counter[NodeId](), set[Pair]()
        for _, node, command in self.commands:
            if isinstance(command, Publication):
                event = Notification(NotificationId(node, published[node]), command.attributes)
                published[node] += 1
                pairs |= {
                    (str(event.id), subscriber)
                    for subscriber, its in self.wanted.items()
                    if any(f.matches(event) for f in its)
                }
        return pairs


def delivered(rows: Sequence[Row]) -> Counter[Pair]:
    """How often each pair was."""
    return Counter((row["notification_id"], row["node"]) for row in of(rows, "deliver"))


def evicted(rows: Sequence[Row]) -> set[Pair]:
    """What the trace tells to be lost to whom, for want of room."""
    return {(row["notification_id"], row["peer"]) for row in of(rows, "drop") if row["detail"] == EMERGENCY_FULL}


@st.composite
def scenes(draw: st.DrawFn, *, crossing: bool) -> Scene:
    """Two clients that move, one that stays, two publishers. Without `crossing` each thing waits for quiet."""
    brokers = draw(st.integers(1, 5))
    node = st.integers(0, brokers - 1)
    parents = {child: draw(st.integers(0, child - 1)) for child in range(1, brokers)}
    movers, publishers = (brokers, brokers + 1), (brokers + 3, brokers + 4)
    parents |= {client: draw(node) for client in range(brokers, brokers + 5)}
    some = st.lists(st.sampled_from(FILTERS), min_size=1, max_size=2, unique=True).map(tuple)
    wanted = {client: draw(some) for client in range(brokers, brokers + 3)}
    moves: list[ParentChange] = []
    commands: list[Command] = []
    for mover in movers:
        for leaves, returns in draw(_absences(crossing=crossing)):
            commands += [Command(leaves, mover, Detach()), Command(returns, mover, Attach())]
            moves += [ParentChange(leaves + DEPARTURE, mover, None), ParentChange(returns, mover, draw(node))]
    times = [command.at for command in commands] if crossing else []
    for publisher in publishers:
        commands += [Command(at, publisher, _about(draw)) for at in draw(_publications(times))]
    roles = (*(B for _ in range(brokers)), S, S, S, P, P)
    ordered = sorted(commands, key=lambda command: command[:2])
    return Scene(parents, roles, wanted, tuple(sorted(moves, key=lambda move: move.at)), tuple(ordered))


def _absences(*, crossing: bool) -> st.SearchStrategy[list[tuple[SimTime, SimTime]]]:
    """When a client leaves and comes back, up to three times; without `crossing` on even multiples of QUIET."""
    if not crossing:
        slots = st.lists(st.integers(0, 7), max_size=6, unique=True).map(sorted)
        return slots.map(lambda found: _pairs([START + 2 * slot * QUIET for slot in found]))
    pauses = st.lists(st.integers(1, 100_000), max_size=6)
    return pauses.map(lambda found: _pairs(_accumulated(found)))


def _pairs(times: list[SimTime]) -> list[tuple[SimTime, SimTime]]:
    return list(zip(times[::2], times[1::2], strict=False))


def _accumulated(pauses: Sequence[int]) -> list[SimTime]:
    """In µs after each other; a client is away for longer than it takes to leave."""
    now, times = START, list[SimTime]()
    for place, pause in enumerate(pauses):
        now += pause * MICROSECOND + (DEPARTURE if place % 2 else 0)
        times.append(now)
    return times


def _publications(times: Sequence[SimTime]) -> st.SearchStrategy[list[SimTime]]:
    """Near what else happens; without `times` on odd multiples of QUIET."""
    if not times:
        slots = st.lists(st.integers(0, 7), max_size=6, unique=True).map(sorted)
        return slots.map(lambda found: [START + (2 * slot + 1) * QUIET for slot in found])
    near = st.builds(lambda at, off: at + off * MICROSECOND, st.sampled_from(times), st.integers(-15_000, 15_000))
    return st.lists(near, max_size=8).map(sorted)


def _about(draw: st.DrawFn) -> Publication:
    return Publication((("topic", draw(st.sampled_from(TOPICS))),))
