"""A replicated broker of a site, or one of its clients (sections 2, 6.1 and 6.3).

A crash clears a broker; a client's state is in stable storage. Messages to a frozen node arrive when the freeze ends.
New leaders are handled first, then control, then events (section 6.3), so that a replaced leader does not act. A timer
of no delay marks the end of that instant.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from roambus.extensions.replicated.broker import Broker, ClientSide, NeighbourSide
from roambus.extensions.replicated.client import Client
from roambus.extensions.replicated.messages import (
    AreYouAlive,
    IAmLeader,
    Leader,
    ReplicatedParameters,
    Update,
)
from roambus.extensions.replicated.messages import Event as EventMessage
from roambus.extensions.replicated.replica import Replica
from roambus.extensions.replicated.sites import parse_sites
from roambus.extensions.replicated.succession import Succession
from roambus.python_protocol.agent import Agent, Listing, Process, by_first_column, heard_by, on, on_timer
from roambus.python_protocol.events import (
    Attach,
    Crashed,
    Event,
    Publish,
    Received,
    Recovered,
    SendFailed,
    Started,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from roambus.python_protocol.messages.fields import Names
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.roles import NodeId, Role
from roambus.python_protocol.simtime import SimTime

WAKE = "wake"
"""The timer key for the end of the waiting messages."""
_LISTENERS: tuple[type[Process], ...] = (Client, ClientSide, NeighbourSide, Succession, Replica)


class Replicated(Agent):
    """A node that is a broker or a client of a site."""

    parameters: ReplicatedParameters
    messages = MessageSet(message for listener in _LISTENERS for message in heard_by(listener))

    def __init__(self, node: NodeId, roles: Role, parameters: ReplicatedParameters, random: Random) -> None:
        super().__init__(node, roles, parameters, random)
        self.sites = parse_sites(parameters.sites)
        self.site = self.sites.site_of(node, roles)
        self.part: Process = Process()
        """The broker or client, once booted."""
        self._has_crashed = False
        self._waiting: list[Event] | None = None
        """Messages that arrive as a freeze ends."""

    def listings(self, names: Names) -> Mapping[str, Listing]:
        """The tables of a broker."""
        return broker_listings(self.part, names) if isinstance(self.part, Broker) else {}

    @on(Started)
    def become_part(self, _event: Started, _: SimTime) -> None:
        """Become a site's broker or client (section 2)."""
        if self.node in self.site.brokers:
            self.part = Broker(self.node, self.sites, self.parameters, self)
        else:
            self.part = Client(self.node, self.site.brokers, self.parameters, self)

    @on(Received, SendFailed, TimerFired, Subscribe, Unsubscribe, Publish, Attach)
    def pass_on(self, event: Event, now: SimTime) -> None:
        """Hand the rest on; after a freeze, once all messages are here."""
        if self._waiting is None:
            self.part.dispatch(event, now)
        else:
            self._waiting.append(event)

    # Faults

    @on(Crashed)
    def crash(self, _event: Crashed, _now: SimTime) -> None:
        """Lose waiting messages and a broker's state (section 6.1)."""
        self._has_crashed = True
        self._waiting = None

    @on(Recovered)
    def recover(self, event: Recovered, now: SimTime) -> None:
        """Begin empty after a crash, with waiting messages after a freeze (section 6.3)."""
        # `Recovered` does not say from what. A node that was frozen, then crashed, has lost what had waited.
        if not self._has_crashed:
            self._waiting = self._waiting or []  # another freeze at this very instant has left it waiting
            self.set_timer(WAKE, 0)
            return
        self._has_crashed = False
        if isinstance(self.part, Broker):
            self.part = Broker(self.node, self.sites, self.parameters, self)
        self.part.dispatch(event, now)

    @on_timer(WAKE)
    def wake_up(self, _key: str, now: SimTime) -> None:
        """Handle new leaders, then control, then events (section 6.3)."""
        waited, self._waiting = sorted(self._waiting or (), key=_rank), None
        for event in waited:
            self.part.dispatch(event, now)


def _rank(event: Event) -> int:
    """Rank new leaders, then control, then events, then the rest."""
    if not isinstance(event, Received):
        return 3
    if isinstance(event.message, IAmLeader | Leader):  # first of all whether this broker still leads
        return 0
    # A question is answered when all that came before it is.
    return 2 if isinstance(event.message, EventMessage | Update | AreYouAlive) else 1


def broker_listings(broker: Broker, names: Names) -> Mapping[str, Listing]:
    """Return the broker's own tables, since copies may differ."""
    wanted = (
        (names.filter(filter_), names.node(peer), str(times))
        for peer, its in broker.replica.state.wanted.items()
        for filter_, times in its.items()
    )
    unaccepted = (
        (names.node(peer), message.message_type, message.key.describe(names))
        for peer, message in broker.replica.state.unaccepted()
    )
    return {
        "table": by_first_column(("Filter", "Towards", "Times"), wanted),
        "leader": Listing(("Site", "Leader", "Term"), _leaders(broker, names)),
        "unaccepted": by_first_column(("To", "Message", "Number"), unaccepted),
    }


def _leaders(broker: Broker, names: Names) -> tuple[tuple[str, str, str], ...]:
    """Return the leaders of this and neighbouring sites."""
    own = (names.node(broker.brokers[0]), names.node(broker.replica.leader), str(broker.replica.term))
    terms, leader = broker.neighbours.terms.items(), broker.neighbours.leader
    return (own, *((names.node(peer), names.node(leader(peer)), str(term)) for peer, term in terms))
