"""A node of a site: one of its replicated brokers, or one of their clients.

The scenario says which (`Sited`), and from then on the node is that process. What happens to the node as a whole is
the agent's: a crash, after which a broker begins with nothing, and a freeze, after which everything that has waited
is looked at in another order (`frozen`).

What a node finds when it is no longer frozen, and in which order it looks at it.

While a node is frozen, everything that is sent to it waits at its links, and comes in at one instant when the freeze
ends. The node first lets all of it come in, and then looks at new leaders, at control, and at events, in this order
(the paper on replicated brokers, section 6.3): else it would act on events as the leader that it no longer is.

What of a broker's state a transcript can show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

from roambus.python_protocol.agent import Agent, Listing, Process, by_first_column, on, on_timer
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
from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.messages.names import Names
from roambus.python_protocol.papers.replicated.broker import Broker, ClientSide, MateSide, NeighbourSide
from roambus.python_protocol.papers.replicated.client import Client
from roambus.python_protocol.papers.replicated.messages import (
    AreYouAlive,
    IAmLeader,
    Leader,
    ReplicatedParameters,
    Update,
)
from roambus.python_protocol.papers.replicated.messages import Event as EventMessage
from roambus.python_protocol.papers.replicated.replica import Replica
from roambus.python_protocol.roles import NodeId, Role, Sites
from roambus.python_protocol.simtime import SimTime

WAKE = "wake"
"""The key of the timer that runs out, at once, when all that has waited has come."""


def in_order(events: Iterable[Event]) -> list[Event]:
    """Sorts new leaders first, then what changes control structures, then events; last what is no message."""
    return sorted(events, key=_rank)


def _rank(event: Event) -> int:
    if not isinstance(event, Received):
        return 3
    if isinstance(event.message, IAmLeader | Leader):
        return 0
    # A question is answered when all that came before it is.
    return 2 if isinstance(event.message, EventMessage | Update | AreYouAlive) else 1


def broker_listings(broker: Broker, names: Names) -> Mapping[str, Listing]:
    """The routing tables, who leads, and what has not been accepted yet."""
    return {"table": _table(broker, names), "leader": _leaders(broker, names), "unaccepted": _unaccepted(broker, names)}


def _table(broker: Broker, names: Names) -> Listing:
    rows = (
        (names.filter(one), names.node(peer), str(times))
        for peer, wanted in broker.replica.state.wanted.items()
        for one, times in wanted.filters.items()
    )
    return by_first_column(("Filter", "Towards", "Times"), rows)


def _leaders(broker: Broker, names: Names) -> Listing:
    own = (names.node(broker.brokers[0]), names.node(broker.replica.leader), str(broker.replica.term))
    neighbours = broker.neighbours
    others = (
        (names.node(peer), names.node(neighbours.leader(peer)), str(term)) for peer, term in neighbours.terms.items()
    )
    return Listing(("Site", "Leader", "Term"), (own, *others))


def _unaccepted(broker: Broker, names: Names) -> Listing:
    rows = (
        (names.node(peer), message.message_type, message.key.describe(names))
        for peer, message in broker.replica.state.unaccepted()
    )
    return by_first_column(("To", "Message", "Number"), rows)


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
