"""A broker, one of three of its site, which listens to clients, to neighbouring sites, and to the other two brokers.

What an event means depends on whom it comes from, so there is a process for each of these three sides, and the broker
finds the one that an event is for. They share the replica, which is this broker's copy of the state of the site, and
what is known of the neighbours. When the replica has been told something, the broker sends what that has released, and
watches whoever has to act.
"""

from __future__ import annotations

from roambus.python_protocol.events import Publish, Received, Recovered, SendFailed, Subscribe, Unsubscribe
from roambus.python_protocol.process import Process, on, on_timer
from roambus.python_protocol.replicated.client_side import ClientSide
from roambus.python_protocol.replicated.failure_messages import IAmLeader
from roambus.python_protocol.replicated.mate_side import MateSide
from roambus.python_protocol.replicated.neighbour_side import NeighbourSide
from roambus.python_protocol.replicated.neighbours import Neighbours
from roambus.python_protocol.replicated.outbox import Outbox
from roambus.python_protocol.replicated.parameters import ReplicatedParameters
from roambus.python_protocol.replicated.patience import Patience
from roambus.python_protocol.replicated.replica import Replica
from roambus.python_protocol.replicated.replica_messages import CatchUp, Piece, State
from roambus.python_protocol.replicated.site_state import place_of
from roambus.python_protocol.replicated.watch import WatchTimer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.sites import Sites


class Broker(Process):
    """Finds whom an event comes from, and does what follows from it."""

    def __init__(self, node: NodeId, sites: Sites, parameters: ReplicatedParameters, of: Process | None = None) -> None:
        super().__init__(of)
        site, patience = sites.of_node[node], Patience(parameters)
        self.node = node
        self.brokers = sites[site].brokers
        self.replica = Replica(node, self.brokers, place_of(site, sites), parameters, self)
        self.neighbours = Neighbours(site, sites, patience, self)
        self.outbox = Outbox(self.replica, self.neighbours, self)
        self.mate_side = MateSide(self.replica, self.neighbours, self.outbox, patience, self)
        self.neighbour_side = NeighbourSide(self.replica, self.neighbours, self.outbox, self.mate_side, self)
        self.client_side = ClientSide(self.replica, self.outbox, self.mate_side, self)
        self._kept: list[Received] = []
        """What has come since a crash, until there is a copy of the state to apply it to."""

    # Handlers

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """Hears a message, which has to wait while there is no copy of the state that it could change."""
        if self.replica.is_joining and not isinstance(event.message, IAmLeader | Piece | State | CatchUp):
            self._kept.append(event)
            return
        self._side(event.sender).tell(event, now)
        if self._kept and not self.replica.is_joining:
            self._tell_kept(now)
        self._settle(now)

    @on(SendFailed)
    def failed(self, event: SendFailed, now: SimTime) -> None:
        """A node cannot be reached (section 6.2)."""
        self._side(event.destination).tell(event, now)
        if event.destination in self.brokers:
            self._settle(now)

    @on_timer(WatchTimer)
    def time_up(self, key: WatchTimer, now: SimTime) -> None:
        """Something has not come in time (section 6.4)."""
        self._side(key.node).fire(key, now)
        if key.node in self.brokers:
            self._settle(now)

    @on(Recovered)
    def join(self, _event: Recovered, _now: SimTime) -> None:
        """Asks for a copy of the state, because a crash has left nothing."""
        self.replica.join()

    @on(Subscribe, Unsubscribe, Publish)
    def refuse(self, _event: Subscribe | Unsubscribe | Publish, _now: SimTime) -> None:
        """Clients are nodes of their own (section 2); raises LookupError."""
        raise LookupError(f"node {self.node} is a broker, and has no client")

    # Helpers

    def _side(self, other: NodeId) -> Process:
        if other in self.brokers:
            return self.mate_side
        return self.neighbour_side if other in self.neighbours.peer_of else self.client_side

    def _tell_kept(self, now: SimTime) -> None:
        kept, self._kept = self._kept, []
        for event in kept:
            self._side(event.sender).tell(event, now)

    def _settle(self, now: SimTime) -> None:
        """Carries out what the replica has released, and watches whoever has to act."""
        for released in self.replica.releases.take_ready():
            self.outbox.release(released, now)
        if not self.replica.is_leader:
            self.neighbours.expect_nothing()
        self.mate_side.watch_leader()
        self.mate_side.time_followers(now)
