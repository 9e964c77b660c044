"""Managed flooding: repetition, waits and silence of nodes by their roles."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roambus.extensions.lora.flooding import ManagedFlooding, RepeatTimer
from roambus.extensions.lora.messages import MeshParameters, Packet
from roambus.python_protocol.actions import Action, CancelTimer, Deliver, Note, Send, SetTimer
from roambus.python_protocol.baselines import Flood
from roambus.python_protocol.events import (
    CHANNEL_ACCESS_FAILURE,
    QUEUE_FULL,
    Crashed,
    Publish,
    Received,
    SendFailed,
    Subscribe,
    TimerFired,
)
from roambus.python_protocol.filters import Filter, Notification, NotificationId
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import BROADCAST, NodeId, Role
from roambus.python_protocol.settings import parse_parameters
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime
from tests.support.graphs import connected_graphs
from tests.support.runs import Edges, distances, of, publishing, run

NEWS = Notification(NotificationId(7, 1), (("topic", "news"),), 10)
TIMER = RepeatTimer(NEWS.id)
SLOT = 28 * MILLISECOND


def make(**parameters: Any) -> ManagedFlooding:
    return ManagedFlooding(0, Role.NONE, MeshParameters(**parameters), Random(1))


def hear(agent: ManagedFlooding, packet: Packet, snr_db: float = 0.0, sender: NodeId = 3) -> list[Action]:
    return list(agent.handle(Received(sender, packet, -100.0, snr_db), 0))


def time_up(agent: ManagedFlooding) -> list[Action]:
    return list(agent.handle(TimerFired(TIMER), SECOND))


def wait_of(actions: Iterable[Action]) -> SimTime:
    (timer,) = (action for action in actions if isinstance(action, SetTimer))
    return timer.after


def test_a_new_packet_is_repeated_once_after_a_wait_with_one_hop_less() -> None:
    """The publisher's limit stays in it, so that each receiver can count the hops."""
    agent = make()
    (timer,) = hear(agent, Packet(3, 3, NEWS))
    assert isinstance(timer, SetTimer)
    assert timer.key == TIMER
    assert time_up(agent) == [Send(BROADCAST, Packet(2, 3, NEWS))]
    assert time_up(agent) == []


@pytest.mark.parametrize(("snr_db", "window"), [(-20.0, 8), (-8.0, 32), (0.0, 64), (10.0, 256), (nan, 256)])
def test_the_wait_of_a_client_follows_the_snr(snr_db: float, window: int) -> None:
    """It is a whole number of slots, after the window of routers; every part of its own window is drawn."""
    waits = {make_wait(snr_db, seed) for seed in range(200)}
    assert all(wait % SLOT == 0 for wait in waits)
    slots = {wait // SLOT - 16 for wait in waits}
    assert min(slots) >= 0
    assert max(slots) < window
    assert max(slots) >= window * 3 // 4


def make_wait(snr_db: float, seed: int, **parameters: Any) -> SimTime:
    agent = ManagedFlooding(0, Role.NONE, MeshParameters(**parameters), Random(seed))
    return wait_of(hear(agent, Packet(3, 3, NEWS), snr_db))


@pytest.mark.parametrize("role", ["router", "repeater"])
def test_a_router_waits_less_than_any_client(role: str) -> None:
    """Fewer slots than twice its exponent, 16 at most, where a client begins."""
    waits = [make_wait(10.0, seed, role=role) for seed in range(100)]
    assert max(waits) < 16 * SLOT <= min(make_wait(-20.0, seed) for seed in range(100))


def test_without_the_head_start_clients_and_routers_begin_together() -> None:
    """As firmware before 2.3 had it, and simulators still have."""
    assert min(make_wait(0.0, seed, routers_first=False) for seed in range(200)) < 4 * SLOT


def test_a_client_is_silent_when_another_node_repeats_the_packet() -> None:
    """The timer is gone, and a later copy does nothing."""
    agent = make()
    hear(agent, Packet(3, 3, NEWS))
    assert hear(agent, Packet(2, 3, NEWS), sender=4) == [CancelTimer(TIMER)]
    assert time_up(agent) == []
    assert hear(agent, Packet(2, 3, NEWS), sender=5) == []


@pytest.mark.parametrize("role", ["router", "repeater"])
def test_a_router_repeats_what_others_repeat(role: str) -> None:
    """Copies do not silence it."""
    agent = make(role=role)
    hear(agent, Packet(3, 3, NEWS))
    assert hear(agent, Packet(2, 3, NEWS), sender=4) == []
    assert time_up(agent) == [Send(BROADCAST, Packet(2, 3, NEWS))]


def test_a_packet_with_no_hops_left_is_delivered_and_not_repeated() -> None:
    """After as many hops as it was repeated, and one for the publisher's own frame."""
    agent = make()
    agent.handle(Subscribe(Filter()), 0)
    assert hear(agent, Packet(0, 3, NEWS)) == [Deliver(NEWS, 4)]


def test_a_subscriber_gets_a_packet_once_and_at_once() -> None:
    """The wait is for repeating alone."""
    agent = make()
    agent.handle(Subscribe(Filter()), 0)
    assert hear(agent, Packet(3, 3, NEWS))[0] == Deliver(NEWS, 1)
    assert not [action for action in hear(agent, Packet(2, 3, NEWS)) if isinstance(action, Deliver)]


def test_a_publisher_sends_at_once_and_does_not_repeat_its_own() -> None:
    """With the whole hop limit; the route note names the subscribers."""
    agent = make(hop_start=5)
    assert agent.handle(Publish(NEWS, (2, 5)), 0) == [
        Note("route", notification_id="7.1", detail="2 5"),
        Send(BROADCAST, Packet(5, 5, NEWS)),
    ]
    assert hear(agent, Packet(4, 5, NEWS)) == []


@pytest.mark.parametrize("roles", [Role.PUBLISHER, Role.SUBSCRIBER | Role.BROKER])
def test_a_repeater_with_an_application_is_refused(roles: Role) -> None:
    """By the key that would mend it."""
    with pytest.raises(ValueError, match=r'node 4 is a repeater.*SN\.node\[4\]\.Application\.roles = "broker"'):
        ManagedFlooding(4, roles, MeshParameters(role="repeater"), Random(1))


@pytest.mark.parametrize("role", ["client", "router"])
def test_other_nodes_may_have_an_application(role: str) -> None:
    """A router is a node with one."""
    agent = ManagedFlooding(4, Role.PUBLISHER | Role.SUBSCRIBER, MeshParameters(role=role), Random(1))
    assert Send(BROADCAST, Packet(3, 3, NEWS)) in list(agent.handle(Publish(NEWS, ()), 0))


def test_a_packet_for_which_there_is_no_room_is_dropped_and_named() -> None:
    """It was delivered here, but is not repeated."""
    agent = make(waiting=1)
    hear(agent, Packet(3, 3, NEWS))
    (drop,) = hear(agent, Packet(3, 3, Notification(NotificationId(8, 1), ())))
    assert drop == Note("drop", message_type="PACKET", notification_id="8.1", detail="too many wait")


def test_the_oldest_of_the_known_packets_is_forgotten_first() -> None:
    """Memory is bounded: a packet heard before the last `memory` ones counts as new."""
    agent = make(memory=2, waiting=100)
    for number in range(3):
        hear(agent, Packet(3, 3, Notification(NotificationId(8, number), ())))
    assert hear(agent, Packet(3, 3, Notification(NotificationId(8, 2), ()))) != []  # known: silences
    assert hear(agent, Packet(3, 3, Notification(NotificationId(8, 2), ()))) == []
    (timer,) = hear(agent, Packet(3, 3, Notification(NotificationId(8, 0), ())))  # forgotten: repeated
    assert isinstance(timer, SetTimer)


def test_a_crash_loses_what_waits_and_what_is_known_but_not_the_filters() -> None:
    """The same packet is new again."""
    agent = make()
    agent.handle(Subscribe(Filter()), 0)
    hear(agent, Packet(3, 3, NEWS))
    agent.handle(Crashed(), 0)
    assert time_up(agent) == []
    assert hear(agent, Packet(0, 3, NEWS)) == [Deliver(NEWS, 4)]


def test_messages_of_other_protocols_do_nothing() -> None:
    """They may come to a radio of the same kind."""
    assert list(make().handle(Received(3, Flood(3, 0, NEWS), -100.0, 0.0), 0)) == []


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 65533), st.integers(0, 2**32 - 1), st.integers(0, 200))
def test_a_packet_is_read_as_it_was_written(limit: int, start: int, node: int, number: int, payload: int) -> None:
    """Three bytes and the notification."""
    packet = Packet(limit, start, Notification(NotificationId(node, number), (), payload))
    assert MessageSet([Packet]).decode(packet.encode()) == packet


def test_the_slot_follows_the_preset_unless_it_is_given() -> None:
    """28 ms for LongFast, 12 ms for MediumFast."""
    assert MeshParameters().slot == SLOT
    assert MeshParameters(preset="MediumFast").slot == 12 * MILLISECOND
    assert MeshParameters(preset="MediumFast", slot=SECOND).slot == SECOND
    assert MeshParameters(cw_min=8, cw_max=8).window.exponent(-30) == 8
    assert parse_parameters(MeshParameters, {"preset": "ShortFast"}).slot == 8 * MILLISECOND


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"hop_start": 8}, "hop_start: 8 is out of range"),
        ({"cw_min": 9}, "cw_min: 9 is more than cw_max, 8"),
        ({"snr_min": 10}, "snr_min: 10 is not below snr_max, 10"),
        ({"role": "mule"}, "role: mule"),
        ({"preset": "Fast"}, "preset: Fast"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any], problem: str) -> None:
    """By their name."""
    with pytest.raises(ValueError, match=problem):
        MeshParameters(**parameters)


# Networks


@given(connected_graphs(), st.integers(0, 7))
@settings(max_examples=30, deadline=None)
def test_routers_reach_every_node_within_the_hop_limit(graph: tuple[int, Edges], limit: int) -> None:
    """And no node beyond it; each node sends once, and none delivers twice."""
    nodes, links = graph
    rows = run(
        ManagedFlooding,
        nodes,
        links,
        publishing(0, range(1, nodes), start=0, until=2 * SECOND, interval=SECOND),
        parameters={"role": "router", "hop_start": str(limit)},
    )
    near = {node for node, hops in enumerate(distances(nodes, links, 0)) if node and hops and hops <= limit + 1}
    delivered = [(row["node"], row["notification_id"]) for row in of(rows, "deliver")]
    assert {node for node, _ in delivered} == near
    assert len(set(delivered)) == len(delivered)
    published = len(of(rows, "publish"))
    assert len(of(rows, "send")) <= published * nodes


@given(connected_graphs(), st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_clients_send_no_more_than_routers(graph: tuple[int, Edges], seed: int) -> None:
    """And deliver nothing twice."""
    nodes, links = graph
    workload = publishing(0, range(1, nodes), start=0, until=2 * SECOND, interval=SECOND)
    sent = {}
    for role in ("client", "router"):
        rows = run(ManagedFlooding, nodes, links, workload, parameters={"role": role, "hop_start": "7"}, seed=seed)
        sent[role] = len(of(rows, "send"))
        delivered = [(row["node"], row["notification_id"]) for row in of(rows, "deliver")]
        assert len(set(delivered)) == len(delivered)
    assert 0 < sent["client"] <= sent["router"]


def test_of_ten_nodes_in_one_place_one_repeats() -> None:
    """All draw from one window, so that mostly one is first; routers all repeat."""
    links = [(a, b) for a in range(11) for b in range(a)]
    workload = publishing(0, [1], start=0, until=2 * SECOND, interval=SECOND)
    clients = run(ManagedFlooding, 11, links, workload)
    routers = run(ManagedFlooding, 11, links, workload, parameters={"role": "router"})
    published = len(of(clients, "publish"))
    assert published > 0
    assert len(of(clients, "send")) == 2 * published
    assert len(of(routers, "send")) == 11 * published


# A busy channel


def handed_over(agent: ManagedFlooding) -> Packet:
    """The packet that has gone to the MAC after its wait."""
    hear(agent, Packet(3, 3, NEWS))
    (send,) = time_up(agent)
    assert isinstance(send, Send)
    assert isinstance(send.message, Packet)
    return send.message


def refuse(agent: ManagedFlooding, packet: Packet, reason: str = CHANNEL_ACCESS_FAILURE) -> list[Action]:
    return list(agent.handle(SendFailed(BROADCAST, packet, reason), SECOND))


def test_a_packet_whose_channel_is_busy_waits_anew() -> None:
    """By the SNR with which it came, and then it is sent as it was."""
    agent = make()
    packet = handed_over(agent)
    assert wait_of(refuse(agent, packet)) >= 16 * SLOT
    assert time_up(agent) == [Send(BROADCAST, packet)]


def test_a_client_can_be_silenced_while_it_waits_anew() -> None:
    """So one that found the channel busy does not repeat what it then heard."""
    agent = make()
    refuse(agent, handed_over(agent))
    assert hear(agent, Packet(2, 3, NEWS), sender=4) == [CancelTimer(TIMER)]
    assert time_up(agent) == []


def test_a_client_that_heard_a_copy_does_not_try_again() -> None:
    """The copy came while the MAC had the packet, which the MAC then gives back."""
    agent = make()
    packet = handed_over(agent)
    assert hear(agent, Packet(2, 3, NEWS), sender=4) == []
    assert refuse(agent, packet) == []


def test_a_router_tries_again_whatever_it_heard() -> None:
    """As long as the channel is busy."""
    agent = make(role="router")
    packet = handed_over(agent)
    hear(agent, Packet(2, 3, NEWS), sender=4)
    for _ in range(3):
        assert wait_of(refuse(agent, packet)) < 16 * SLOT
        assert time_up(agent) == [Send(BROADCAST, packet)]


def test_a_publisher_tries_again_within_the_least_window() -> None:
    """Its own packet has no SNR."""
    waits = set()
    for seed in range(100):
        agent = ManagedFlooding(0, Role.NONE, MeshParameters(), Random(seed))
        agent.handle(Publish(NEWS, ()), 0)
        waits.add(wait_of(refuse(agent, Packet(3, 3, NEWS))) // SLOT)
    assert waits == set(range(8))


@pytest.mark.parametrize("reason", [QUEUE_FULL, "frame longer than the dwell time"])
def test_other_refusals_are_left_to_the_trace(reason: str) -> None:
    """The host writes their drop row."""
    agent = make()
    assert refuse(agent, handed_over(agent), reason) == []


def test_a_crash_forgets_what_the_mac_has() -> None:
    """A packet that comes back later is not sent again."""
    agent = make()
    packet = handed_over(agent)
    agent.handle(Crashed(), 0)
    assert refuse(agent, packet) == []


def test_the_packets_at_the_mac_are_bounded() -> None:
    """Of more than `memory` the oldest is given up if the MAC gives it back; a MAC may have more than can wait."""
    agent = make(waiting=1, memory=2)
    packets = [Packet(3, 3, Notification(NotificationId(0, number), ())) for number in range(3)]
    for packet in packets:
        agent.handle(Publish(packet.notification, ()), 0)
    again = []
    for packet in packets:
        refuse(agent, packet)
        again.append(agent.handle(TimerFired(RepeatTimer(packet.notification.id)), SECOND) == [Send(BROADCAST, packet)])
    assert again == [False, True, True]
