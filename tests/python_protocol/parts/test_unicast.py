"""Unicast routing's own switch: what a router does with reports of broken links."""

from __future__ import annotations

from random import Random

import pytest

from roambus.python_protocol.actions import Note
from roambus.python_protocol.agent import on
from roambus.python_protocol.events import NO_ACKNOWLEDGEMENT, Event, SendFailed, TimerFired
from roambus.python_protocol.filters import Notification, NotificationId
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import LinkAck, link_timer
from roambus.python_protocol.parts.unicast import DataPacket, Router, UnicastParameters
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime

PACKET = DataPacket(0, 35, 0, 9, Notification(NotificationId(0, 1), (), 10))
NEIGHBOUR: NodeId = 1


class Losing(Router):
    """Keeps the links that it has lost."""

    @on(DataPacket)
    def receive_packet(self, packet: DataPacket, sender: NodeId, now: SimTime) -> None:
        """Nothing comes here."""

    def lose_link(self, neighbour: NodeId, undelivered: object, now: SimTime) -> None:
        """Keep it."""
        self.lost = [*getattr(self, "lost", []), neighbour]


def give_up(router: Losing, message: Message) -> list[str | None]:
    """A message that the link layer or the MAC gives up; return why packets are dropped."""
    parameters = router.parameters
    if parameters.link_layer:
        router.frames.unicast(NEIGHBOUR, message, 0)
        events: list[Event] = [TimerFired(link_timer(NEIGHBOUR))] * (parameters.link_retry_limit + 1)
    else:
        events = [SendFailed(NEIGHBOUR, message, NO_ACKNOWLEDGEMENT)]
    actions = [action for event in events for action in router.handle(event, 0)]
    return [action.detail for action in actions if isinstance(action, Note)]


@pytest.mark.parametrize("link_layer", [True, False])
@pytest.mark.parametrize("hears", [True, False])
def test_a_unicast_that_is_given_up_breaks_its_link_unless_the_router_is_deaf_to_that(
    link_layer: bool, hears: bool
) -> None:
    """A deaf one has a row for the packet."""
    router = Losing(0, Role.NONE, UnicastParameters(link_layer=link_layer, link_feedback=hears), Random(0))
    assert give_up(router, PACKET) == ([] if hears else ["not acknowledged"])
    assert getattr(router, "lost", []) == ([NEIGHBOUR] if hears else [])


@pytest.mark.parametrize("link_layer", [True, False])
def test_a_deaf_router_has_no_row_for_what_carries_no_notification(link_layer: bool) -> None:
    """A routing message is lost without one."""
    router = Losing(0, Role.NONE, UnicastParameters(link_layer=link_layer, link_feedback=False), Random(0))
    assert give_up(router, LinkAck(1, 1)) == []
