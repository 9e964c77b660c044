"""A node of a site: one of its replicated brokers, or one of their clients.

The scenario says which (`Sited`), and from then on the node is that process. What happens to the node as a whole is
the agent's: a crash, after which a broker begins with nothing, and a freeze, after which everything that has waited
is looked at in another order (`frozen`).
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from roambus.python_protocol.agent import Agent
from roambus.python_protocol.events import (
    Attach,
    Crashed,
    Event,
    Publish,
    Received,
    Recovered,
    SendFailed,
    Sited,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from roambus.python_protocol.listing import Listing
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.process import Process, on, on_timer
from roambus.python_protocol.replicated.broker import Broker
from roambus.python_protocol.replicated.client import Client
from roambus.python_protocol.replicated.client_side import ClientSide
from roambus.python_protocol.replicated.frozen import WAKE, in_order
from roambus.python_protocol.replicated.listings import broker_listings
from roambus.python_protocol.replicated.mate_side import MateSide
from roambus.python_protocol.replicated.neighbour_side import NeighbourSide
from roambus.python_protocol.replicated.parameters import ReplicatedParameters
from roambus.python_protocol.replicated.replica import Replica
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.sites import Sites

_LISTENERS: tuple[type[Process], ...] = (Client, ClientSide, NeighbourSide, MateSide, Replica)


class Replicated(Agent):
    """A node that is a broker or a client of a site."""

    parameters: ReplicatedParameters
    messages = MessageSet(message for listener in _LISTENERS for message in listener.heard())
    needs_sites = True

    def __init__(self, node: NodeId, roles: Role, parameters: ReplicatedParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.sites = Sites(())
        self.part: Process = Process()
        """The broker or the client; until there are sites, nobody."""
        self._has_crashed = False
        self._thawed: list[Event] | None = None
        """What has waited for a frozen node, and comes in now."""

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The tables of a broker."""
        return broker_listings(self.part, names) if isinstance(self.part, Broker) else {}

    @on(Sited)
    def become_part(self, event: Sited, _: SimTime) -> None:
        """Section 2: a node is a broker or a client of one site."""
        self.sites = event.sites
        site = self.sites[self.sites.of_node[self.node]]
        if self.node in site.brokers:
            self.part = Broker(self.node, self.sites, self.parameters, self)
        else:
            self.part = Client(self.node, site.brokers, self.parameters, self)

    @on(Received, SendFailed, TimerFired, Subscribe, Unsubscribe, Publish, Attach)
    def pass_on(self, event: Event, now: SimTime) -> None:
        """Everything else is for the broker or the client, though not while a frozen node thaws."""
        if self._thawed is None:
            self.part.tell(event, now)
        else:
            self._thawed.append(event)

    # Faults

    @on(Crashed)
    def crash(self, _event: Crashed, _now: SimTime) -> None:
        """Section 6.1: what has waited for a frozen node is lost."""
        self._has_crashed = True
        self._thawed = None

    @on(Recovered)
    def recover(self, event: Recovered, now: SimTime) -> None:
        """After a crash a broker has nothing left; after a freeze a node finds all that has waited (section 6.3)."""
        if not self._has_crashed:
            self._thawed = self._thawed or []  # a freeze at the very instant of the thaw has left it waiting
            self.set_timer(WAKE, 0)
            return
        self._has_crashed = False
        if isinstance(self.part, Broker):
            self.part = Broker(self.node, self.sites, self.parameters, self)
        self.part.tell(event, now)

    @on_timer(WAKE)
    def wake_up(self, _key: str, now: SimTime) -> None:
        """Section 6.3: all that has waited has come; new leaders are looked at first, then control, then events."""
        waited, self._thawed = in_order(self._thawed or ()), None
        for event in waited:
            self.part.tell(event, now)
