"""AODV nodes that check after each of their events that no route over them leads in a circle."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import ClassVar

from roambus.python_protocol.actions import Action
from roambus.python_protocol.aodv import Aodv, AodvParameters
from roambus.python_protocol.aodv.routing_table import Route, RouteState
from roambus.python_protocol.events import Crashed, Event, Recovered
from roambus.python_protocol.parts.link import is_newer
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime


class Watched(Aodv):
    """Only the table of the node that handles an event changes, so the routes over that node are all to check."""

    agents: ClassVar[dict[NodeId, Watched]] = {}
    first_sequence: ClassVar[int] = 0
    """What every node's own number starts from, to see it roll over."""

    @classmethod
    def prepare(cls, first_sequence: int = 0) -> None:
        """To be called before each run."""
        cls.agents.clear()
        cls.first_sequence = first_sequence

    def __init__(self, node: NodeId, roles: Role, parameters: AodvParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.table.sequence = self.first_sequence
        self._is_down = False
        self.agents[node] = self

    def handle(self, event: Event, now: SimTime) -> Iterable[Action]:
        actions = super().handle(event, now)
        if isinstance(event, Crashed | Recovered):
            self._is_down = isinstance(event, Crashed)
        self.check_circles(now)
        self.check_order(now)
        return actions

    def check_circles(self, now: SimTime) -> None:
        """No way from here comes back to a node that it has passed."""
        for route in self.table:
            path = self.follow(route.destination, now)
            assert len(path) == len(set(path)), f"the way to {route.destination} is {path} at {now}"

    def check_order(self, now: SimTime) -> None:
        """What makes circles impossible: each next hop knows better than who sends over it."""
        for route in self.table:
            self._check_next_hop(route, now)
        for agent in self.agents.values():
            for route in agent.table:
                if route.next_hop == self.node:
                    agent._check_next_hop(route, now)

    def follow(self, destination: NodeId, now: SimTime) -> list[NodeId]:
        """The nodes that pass data on to `destination`, as far as it goes, or up to the first repetition."""
        path: list[NodeId] = [self.node]
        while path[-1] != destination and path[-1] not in path[:-1]:
            route = self.agents[path[-1]].table.get(destination)
            if route is None or not _is_active(route, now) or self.agents[route.next_hop].passes_nothing_on(now):
                break
            path.append(route.next_hop)
        return path

    def passes_nothing_on(self, now: SimTime) -> bool:
        """Whether the node is down, or waits after a reboot and refuses all data of others (section 6.13)."""
        return self._is_down or self.is_silent(now)

    def _check_next_hop(self, route: Route, now: SimTime) -> None:
        next_hop = self.agents[route.next_hop]
        if not _is_active(route, now) or route.next_hop == route.destination or next_hop.passes_nothing_on(now):
            return
        ahead = next_hop.table.get(route.destination)
        assert ahead is not None, f"{self.node} relies on {route}, of which {route.next_hop} knows nothing, at {now}"
        assert _knows_better(ahead, route), f"{self.node} relies on {route}, but {route.next_hop} has {ahead} at {now}"


def _is_active(route: Route, now: SimTime) -> bool:
    return route.state is RouteState.VALID and route.lifetime > now


def _knows_better(ahead: Route, route: Route) -> bool:
    """Whether `ahead` is newer than `route`, or equally new and nearer.

    A route that was lost got the number after the one under which it was good. One of unknown number leads to a
    neighbour that was heard, and nowhere else.
    """
    if not ahead.sequence_valid:
        return ahead.next_hop == ahead.destination
    number = ahead.sequence if ahead.state is RouteState.VALID else (ahead.sequence - 1) % 2**32
    return is_newer(number, route.sequence) or (number == route.sequence and ahead.hop_count < route.hop_count)
