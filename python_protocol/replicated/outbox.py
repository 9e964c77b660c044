"""What a broker sends on as the leader of its site: events and subscriptions, replies, and who leads where.

The paper on replicated brokers has this in sections 4.1 and 6.9. To a neighbouring site it is sent by way of the
site's leader, which is watched until it has accepted everything. Whatever gets lost is sent again when the neighbour
has a new leader, or says that it is alive.
"""

from __future__ import annotations

from roambus.python_protocol.notes import ROUTE, node_list
from roambus.python_protocol.process import Process
from roambus.python_protocol.replicated.failure_messages import Leader, Term
from roambus.python_protocol.replicated.messages import Accepted, Event
from roambus.python_protocol.replicated.neighbours import Neighbours
from roambus.python_protocol.replicated.releases import Released
from roambus.python_protocol.replicated.replica import Replica
from roambus.python_protocol.replicated.site_state import Output, Peer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Outbox(Process):
    """Sends what one broker has to send as leader."""

    def __init__(self, replica: Replica, neighbours: Neighbours, of: Process | None = None) -> None:
        super().__init__(of)
        self._replica = replica
        self._neighbours = neighbours
        self._patience = neighbours.patience

    def release(self, released: Released, now: SimTime) -> None:
        """What this site has taken in is safe: the reply goes to a neighbour, and what is to be sent on is sent."""
        if released.message is not None and released.peer in self._neighbours.brokers:
            accepted = Accepted(*released.message.key)
            for broker in self._neighbours.brokers[released.peer]:
                self.send(broker, accepted)
        for output in released.outputs:
            self._send_on(output, now)

    def send_again(self, peer: Peer, now: SimTime) -> None:
        """Sends what a neighbour has not accepted."""
        for output in self._replica.sendable(peer):
            self._send_on(output, now)

    def learn(self, peer: Peer, term: Term, now: SimTime, *, tell_mates: bool) -> None:
        """Stores who leads a neighbour, informs the replicas, and turns to the new leader (section 6.9)."""
        if not self._neighbours.learn(peer, term):
            return
        if tell_mates:
            news = Leader(self._neighbours.leader(peer), term)
            for mate in self._replica.mates:
                self.send(mate, news)
        if self._replica.is_leader:
            self.send_again(peer, now)

    def tell_who_leads_elsewhere(self, mate: NodeId) -> None:
        """A broker that has crashed has not heard of the neighbours' new leaders."""
        for peer, term in self._neighbours.terms.items():
            if term:
                self.send(mate, Leader(self._neighbours.leader(peer), term))

    def _send_on(self, output: Output, now: SimTime) -> None:
        """Sends to the leader of a site or to a client (section 4.1), if it has not been accepted meanwhile."""
        peer, message = output
        if message.key not in self._replica.state.outgoing[peer].unaccepted:
            return
        if peer in self._neighbours.brokers:
            leader = self._neighbours.leader(peer)
            self.send(leader, message)
            self._patience.asked(leader, message.key, now)
            self._neighbours.watch(peer).expect()
            return
        self.send(peer, message)
        if isinstance(message, Event):
            self.note(ROUTE, notification_id=str(message.notification.id), detail=node_list([peer]))
