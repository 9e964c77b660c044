"""Packets without a way: with `wait_at = source` they wait at their source, alike for all protocols."""

from __future__ import annotations

from typing import Any

import pytest

from roambus.bridge.scenario.plans import LinkChange
from roambus.extensions.routing.dsdv import Advertised, Dsdv, Update
from roambus.extensions.routing.dsr import Dsr
from roambus.extensions.routing.dsr.messages import RouteRequest
from roambus.extensions.routing.geographic import Beacon, Known, point
from roambus.extensions.routing.gpsr import Gpsr, GpsrPacket
from roambus.extensions.routing.olsr import Olsr
from roambus.extensions.routing.tests.bench import ME, NEWS, Bench, dropped, packet, sent
from roambus.python_protocol.actions import Send
from roambus.python_protocol.aodv import Aodv
from roambus.python_protocol.events import Crashed
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.unicast import WAIT_TIMER, DataPacket, Router
from roambus.python_protocol.simtime import SECOND
from tests.support.runs import of, publishing, run

FAR, LINKED = 9, 60 * SECOND


@pytest.mark.parametrize("agent", [Aodv, Dsdv, Dsr, Olsr])
def test_what_is_published_before_there_is_a_way_arrives_later(agent: type[Router]) -> None:
    """Nine packets wait for 19 s at most until the link comes up, and OLSR and DSDV need some seconds more."""
    workload = publishing(0, [1], start=LINKED - 19 * SECOND, until=LINKED - 10 * SECOND)
    came = LinkChange(LINKED, 0, 1, up=True)
    # In AODV a search ends unsuccessfully before that; the originator's packets are then gone (RFC 3561, section 6.3).
    parameters = {"wait_at": "source", "source_wait": "40"} | ({"rreq_retries": "6"} if agent is Aodv else {})
    rows = run(agent, 2, [], workload, changes=[came], time_limit=LINKED + 30 * SECOND, parameters=parameters)
    assert len(of(rows, "deliver")) == len(of(rows, "publish")) == 9
    assert of(rows, "drop") == []


@pytest.mark.parametrize(("agent", "waits"), [(Dsdv, True), (Olsr, False)])
def test_a_relay_without_a_way_drops_a_packet_that_it_would_hold(agent: type[Router], waits: bool) -> None:
    """A node of DSDV holds others' packets, too; one of OLSR none, not even its own."""
    for mode, expected in (("protocol", [] if waits else ["no route"]), ("source", ["no route"])):
        node = Bench(agent, wait_at=mode)
        node.agent.carry(packet(FAR), 0)
        assert dropped(node.agent.take()) == expected


def test_gpsr_waits_for_a_neighbour_and_not_after_a_whole_round() -> None:
    """At its source alone, and at a local maximum until a neighbour is nearer."""
    for mode in ("protocol", "source"):
        node = Bench(Gpsr, wait_at=mode, perimeter=False)
        node.agent.position = (0.0, 0.0)
        node.agent.located[FAR] = Known((50.0, 0.0), 0)
        node.agent.carry(node.agent.packet(FAR, NEWS), 0)
        node.agent.carry(node.agent.packet(FAR, NEWS).replaced(originator=5), 0)
        waits = mode == "source"
        assert dropped(node.agent.take()) == ["local maximum"] * (1 if waits else 2)
        assert len(node.agent.waiting) == waits
    node.hear(Beacon(point((20.0, 0.0))), 1)
    node.timers[WAIT_TIMER] = SECOND
    assert [to for to, _ in sent(node.fire(WAIT_TIMER), GpsrPacket)] == [1]
    node.agent.give_up(node.agent.packet(FAR, NEWS), "unreachable", SECOND)
    assert dropped(node.agent.take()) == ["unreachable"]


def test_an_own_packet_waits_for_its_time_and_the_oldest_makes_room() -> None:
    """Nothing is lost without a row, in a crash either."""
    node = Bench(Olsr, wait_at="source", source_buffer=2, source_wait=3 * SECOND)
    for number in range(3):
        node.agent.carry(packet(FAR + number, originator=ME), 0)
    actions = node.agent.take()
    assert dropped(actions) == ["source buffer full"]
    node.timers[WAIT_TIMER] = 2 * SECOND
    assert dropped(node.fire(WAIT_TIMER)) == []
    node.timers[WAIT_TIMER] = 3 * SECOND
    assert dropped(node.fire(WAIT_TIMER)) == ["no route in time"] * 2
    assert WAIT_TIMER not in node.timers
    node.agent.carry(packet(FAR, originator=ME), node.now)
    node.agent.take()
    assert dropped(node.handle(Crashed())) == ["crash"]


@pytest.mark.parametrize("agent", [Dsdv, Dsr, Gpsr])
def test_a_packet_whose_time_is_over_leaves_by_no_route_that_comes_later(agent: type[Router]) -> None:
    """However long the protocol's own timers are; it has a row, and takes no place from the next packet."""
    limits: dict[type[Router], dict[str, Any]] = {
        Dsdv: {"queue_timeout": SECOND, "packets_each": 1},
        Dsr: {"send_buffer_timeout": SECOND, "send_buffer_size": 1},
        Gpsr: {"queue_timeout": SECOND, "queue_limit": 1},
    }
    reason = "no position in time" if agent is Gpsr else "no route in time"
    came: dict[type[Router], Message] = {
        Dsdv: Update(full=False, entries=(Advertised(FAR, 0, 2),)),
        Dsr: RouteRequest(1, FAR, 1, 3, (), ()),
        Gpsr: Beacon(point((20.0, 0.0))),
    }
    node = Bench(agent, **limits[agent])
    node.agent.position = (0.0, 0.0)
    for now, expected in ((0, []), (SECOND, [reason])):
        node.agent.carry(node.agent.packet(FAR, NEWS), now)
        assert dropped(node.agent.take()) == expected
    arrived = node.hear(came[agent], FAR, 2 * SECOND)
    assert dropped(arrived) == [reason]
    assert not [action for action in arrived if isinstance(action, Send) and isinstance(action.message, DataPacket)]
