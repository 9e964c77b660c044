"""Ideal links of nodes that crash and freeze, of parted groups, and with delays of their own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.bridge.backend import Transmission
from roambus.bridge.backends.ideal import IdealBackend
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.plans import Fault, FaultKind, LinkChange, LinkDelay, LinkLoss, Partition
from roambus.python_protocol.events import NO_LINK
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from roambus.testing.backend_case import Conforming, Marker, send

CRASH, FREEZE, RECOVER = FaultKind.CRASH, FaultKind.FREEZE, FaultKind.RECOVER
Fate = tuple[SimTime, NodeId, int]
"""When, to whom, which marker."""


def fault(at_ms: float, node: NodeId, kind: FaultKind) -> Fault:
    return Fault(round(at_ms * MILLISECOND), node, kind)


def number(message: object) -> int:
    assert isinstance(message, Marker)
    return message.number


def carried(backend: IdealBackend, sent: Sequence[Transmission]) -> tuple[list[Fate], list[Fate]]:
    """What arrives where, and what fails whose, of transmissions handed over one by one at their times."""
    conforming = Conforming(backend)
    conforming.open()
    outgoing: list[Transmission] = []
    waiting = sorted(sent, key=lambda send_: send_.at)
    while (step := conforming.advance(outgoing, waiting[0].at if waiting else None)) is not None:
        outgoing = [frame for frame in waiting if frame.at == step.now]
        waiting = waiting[len(outgoing) :]
    arrived = [(at, delivery.receiver, number(delivery.message)) for at, delivery in conforming.heard]
    failed = [(at, failure.node, number(failure.message)) for at, failure in conforming.failed]
    assert all(failure.reason == NO_LINK for _, failure in conforming.failed)
    conforming.close()
    return arrived, failed


def line(*faults: Fault, changes: Sequence[LinkChange | Partition] = ()) -> IdealBackend:
    """0-1-2, with a millisecond each."""
    return IdealBackend(3, [(0, 1), (1, 2)], SECOND, changes, faults=faults)


def ms(at: float) -> SimTime:
    return round(at * MILLISECOND)


def test_a_crash_loses_what_is_under_way_both_ways() -> None:
    """The sender that is left is told; while the node is down there is no link, afterwards there is."""
    sent = [
        send(0, 1, ms(9.5), 1),
        send(1, 2, ms(9.5), 2),
        send(0, 3, ms(9.5)),
        send(0, 4, ms(15), 1),
        send(2, 5, ms(20), 1),
    ]
    arrived, failed = carried(line(fault(10, 1, CRASH), fault(20, 1, RECOVER)), sent)
    assert arrived == [(ms(21), 1, 5)]
    assert sorted(failed) == [(ms(10), 0, 1), (ms(10), 1, 2), (ms(15), 0, 4)]


def test_a_crashed_node_has_the_links_that_the_graph_has_when_it_recovers() -> None:
    """A link can come and another go while it is down."""
    changes = [LinkChange(ms(12), 0, 1, False), LinkChange(ms(13), 0, 2, True), LinkChange(ms(14), 1, 2, True)]
    sent = [send(0, 1, ms(21), 1), send(2, 2, ms(21), 1), send(2, 3, ms(15), 0)]
    arrived, failed = carried(line(fault(10, 1, CRASH), fault(20, 1, RECOVER), changes=changes), sent)
    assert arrived == [(ms(16), 0, 3), (ms(22), 1, 2)]
    assert failed == [(ms(21), 0, 1)]


def test_a_link_to_a_frozen_node_holds_what_arrives() -> None:
    """All of it arrives when the node recovers, in its order; what the node had sent arrives in time."""
    sent = [send(0, 1, ms(9.5), 1), send(1, 2, ms(9.5), 2), send(2, 3, ms(11)), send(0, 4, ms(15), 1)]
    arrived, failed = carried(line(fault(10, 1, FREEZE), fault(20, 1, RECOVER)), [*sent, send(0, 5, ms(19.5), 1)])
    assert arrived == [(ms(10.5), 2, 2), (ms(20), 1, 1), (ms(20), 1, 3), (ms(20), 1, 4), (ms(20.5), 1, 5)]
    assert failed == []


def test_who_recovers_and_freezes_at_one_instant_gets_nothing_yet() -> None:
    """Faults come before arrivals, so the link goes on holding what waits, and loses none of it."""
    faults = fault(10, 1, FREEZE), fault(20, 1, RECOVER), fault(20, 1, FREEZE), fault(30, 1, RECOVER)
    arrived, failed = carried(line(*faults), [send(0, 1, ms(11), 1), send(0, 2, ms(21), 1)])
    assert (arrived, failed) == ([(ms(30), 1, 1), (ms(30), 1, 2)], [])


def test_what_a_link_holds_is_lost_when_it_goes_down() -> None:
    """It has not arrived: its sender is told."""
    backend = line(fault(10, 1, FREEZE), fault(20, 1, RECOVER), changes=[LinkChange(ms(15), 0, 1, False)])
    arrived, failed = carried(backend, [send(0, 1, ms(11), 1), send(2, 2, ms(11), 1)])
    assert (arrived, failed) == ([(ms(20), 1, 2)], [(ms(15), 0, 1)])


def test_a_crash_of_a_frozen_node_loses_what_waits_for_it() -> None:
    """Nothing comes up when it recovers."""
    backend = line(fault(10, 1, FREEZE), fault(15, 1, CRASH), fault(20, 1, RECOVER))
    assert carried(backend, [send(0, 1, ms(11), 1)]) == ([], [(ms(15), 0, 1)])


@pytest.mark.parametrize(
    ("faults", "arrival"),
    [
        ([fault(10, 1, CRASH), fault(20, 1, RECOVER)], None),
        ([fault(10, 1, CRASH), fault(10.5, 1, RECOVER)], None),
        ([fault(10, 1, FREEZE), fault(12, 1, CRASH), fault(20, 1, RECOVER)], None),
        ([fault(10, 1, FREEZE), fault(20, 1, RECOVER)], ms(21)),
    ],
)
def test_a_processing_delay_stops_with_its_node(faults: list[Fault], arrival: SimTime | None) -> None:
    """What is to leave at 11 ms never leaves a crashed node, and nobody is told; a frozen node sends it late."""
    backend = line(*faults)
    backend.open()
    backend.advance([], 0)
    step = backend.advance([send(1, 1, ms(11), 0)], None)
    assert (step.now if step else None) == arrival


def test_a_partition_separates_groups_until_they_merge() -> None:
    """Who is in no group is with the others who are in none; the graph stays what it was."""
    parted = Partition(ms(10), (frozenset({1}), frozenset({0})))
    sent = [send(0, 1, ms(9.5), 1), send(2, 2, ms(12), 3), send(1, 3, ms(12), 2), send(0, 4, ms(20), 1)]
    backend = IdealBackend(4, [(0, 1), (1, 2), (2, 3)], SECOND, [parted, Partition(ms(20))])
    arrived, failed = carried(backend, sent)
    assert arrived == [(ms(13), 3, 2), (ms(21), 1, 4)]
    assert failed == [(ms(10), 0, 1), (ms(12), 1, 3)]


def test_a_broadcast_takes_the_delay_of_each_link() -> None:
    """Neighbours can hear it at different times."""
    backend = IdealBackend(3, [(0, 1), (1, 2)], SECOND, ideal=IdealLinks(delays=(LinkDelay(1, 2, ms(7)),)))
    arrived, _ = carried(backend, [send(1, 1, 0)])
    assert arrived == [(ms(1), 0, 1), (ms(7), 2, 1)]


def apart(delays: dict[frozenset[NodeId], SimTime]) -> IdealLinks:
    """Ideal links of which these have delays of their own."""
    return IdealLinks(delays=tuple(LinkDelay(min(pair), max(pair), delay) for pair, delay in delays.items()))


NODES = 4
PAIRS = [(a, b) for a in range(NODES) for b in range(a)]
TIMES = st.integers(0, 40).map(lambda tick: tick * MILLISECOND // 2)
CHANGES = st.builds(
    lambda at, pair, up: LinkChange(at, pair[0], pair[1], up), TIMES, st.sampled_from(PAIRS), st.booleans()
) | st.builds(Partition, TIMES, st.sampled_from([(), (frozenset({0, 1}),), (frozenset({2}), frozenset({3}))]))
DELAYS = st.dictionaries(
    st.sampled_from([frozenset(pair) for pair in PAIRS]), st.integers(1, 8).map(lambda tick: tick * MILLISECOND // 2)
)
SENDS = st.lists(
    st.tuples(TIMES, st.integers(0, NODES - 1), st.integers(0, NODES - 1) | st.just(BROADCAST)).filter(
        lambda send_: send_[1] != send_[2]
    ),
    max_size=30,
)


@st.composite
def outages(draw: st.DrawFn) -> list[Fault]:
    """For each node, up to two outages one after the other; the last one need not end."""
    faults = []
    for node in range(NODES):
        times = sorted(draw(st.sets(TIMES, max_size=4)))
        kinds = [draw(st.sampled_from([CRASH, FREEZE])) if place % 2 == 0 else RECOVER for place in range(len(times))]
        faults += [Fault(at, node, kind) for at, kind in zip(times, kinds, strict=True)]
    return sorted(faults, key=lambda fault_: fault_.at)


def is_up(faults: Sequence[Fault], node: NodeId, at: SimTime) -> bool:
    return [RECOVER, *(entry.kind for entry in faults if entry.node == node and entry.at <= at)][-1] is RECOVER


@settings(max_examples=150, deadline=None)
@given(st.sets(st.sampled_from(PAIRS)), st.lists(CHANGES, max_size=12), DELAYS, outages(), SENDS)
def test_links_are_fifo_and_account_for_every_unicast_frame(
    links: set[tuple[NodeId, NodeId]],
    changes: list[LinkChange | Partition],
    delays: dict[frozenset[NodeId], SimTime],
    faults: list[Fault],
    sends: list[tuple[SimTime, NodeId, NodeId]],
) -> None:
    """Whatever happens to graph and nodes: each arrives or fails, once, but for what still waits for a frozen node."""
    live = [entry for entry in sorted(sends, key=lambda planned: planned[0]) if is_up(faults, entry[1], entry[0])]
    sent = [send(node, count, at, destination) for count, (at, node, destination) in enumerate(live)]
    backend = IdealBackend(NODES, links, SECOND, changes, ideal=apart(delays), faults=faults)
    arrived, failed = carried(backend, sent)
    by_link = defaultdict(list)
    for _, receiver, count in arrived:
        by_link[sent[count].node, receiver].append(count)
    assert all(counts == sorted(set(counts)) for counts in by_link.values())
    fates = Counter(count for _, _, count in (*arrived, *failed))
    frozen = {entry.node for entry in faults if not is_up(faults, entry.node, SECOND)}
    for count, frame in enumerate(sent):
        if frame.destination != BROADCAST:
            assert fates[count] == 1 or (fates[count] == 0 and frame.destination in frozen)


@settings(max_examples=80, deadline=None)
@given(st.sets(st.sampled_from(PAIRS)), st.lists(CHANGES, max_size=12), DELAYS, outages(), SENDS)
def test_nothing_is_lost_on_a_link_that_stands(
    links: set[tuple[NodeId, NodeId]],
    changes: list[LinkChange | Partition],
    delays: dict[frozenset[NodeId], SimTime],
    faults: list[Fault],
    sends: list[tuple[SimTime, NodeId, NodeId]],
) -> None:
    """0-1 is never touched: all between them arrives, broadcasts too, after its delay or when the receiver thaws."""
    changes = [change for change in changes if isinstance(change, LinkChange) and {change.a, change.b} != {0, 1}]
    faults = [entry for entry in faults if entry.node > 1]
    frozen = [fault(2, 1, FREEZE), fault(9, 1, RECOVER)]
    sent = [send(node, count, at, destination) for count, (at, node, destination) in enumerate(sends)]
    both = sorted([*faults, *frozen], key=lambda fault_: fault_.at)
    backend = IdealBackend(NODES, {*links, (0, 1)}, SECOND, changes, ideal=apart(delays), faults=both)
    arrived, _ = carried(backend, sent)
    expected = []
    for count, frame in enumerate(sent):
        if frame.node == 0 and frame.destination in {1, BROADCAST}:
            due = frame.at + delays.get(frozenset({0, 1}), MILLISECOND)
            expected.append((ms(9) if ms(2) <= due < ms(9) else due, 1, count))
    assert sorted(entry for entry in arrived if entry[1] == 1 and sent[entry[2]].node == 0) == sorted(expected)


def test_a_link_loses_its_share_without_a_word_and_the_same_for_the_same_seed() -> None:
    """Of 400 messages each way half are lost one way and none the other; another seed loses others."""
    sent = [send(a, at, ms(at), 1 - a) for at in range(1, 401) for a in (0, 1)]
    ideal = IdealLinks(losses=(LinkLoss(0, 1, 0.5),))
    (first, failed), (again, _), (other, _) = (
        carried(IdealBackend(2, [(0, 1)], SECOND, ideal=ideal, seed=seed), sent) for seed in (1, 1, 2)
    )
    counts = Counter(receiver for _, receiver, _ in first)
    assert not failed
    assert counts[0] == 400
    assert 150 < counts[1] < 250
    assert first == again != other


def test_a_link_goes_down_one_way() -> None:
    """What is under way that way is lost, and told; the other way it carries on."""
    changes = [LinkChange(ms(5), 0, 1, up=False, one_way=True), LinkChange(ms(9), 0, 1, up=True, one_way=True)]
    sent = [send(a, a, ms(at), 1 - a) for at in (4.5, 6, 9) for a in (0, 1)]
    arrived, failed = carried(line(changes=changes), sent)
    assert [(at, to) for at, to, _ in arrived] == [(ms(5.5), 0), (ms(7), 0), (ms(10), 0), (ms(10), 1)]
    assert [(at, of) for at, of, _ in failed] == [(ms(5), 0), (ms(6), 0)]
