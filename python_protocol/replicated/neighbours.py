"""The neighbouring sites as a broker knows them: who leads each, and whether that leader still answers.

The paper on replicated brokers has this in sections 6.4, 6.8 and 6.9. A neighbouring site is one peer, whoever of its
brokers speaks for it, and is called by the first of them.
"""

from __future__ import annotations

from roambus.python_protocol.process import Process
from roambus.python_protocol.replicated.failure_messages import AssumedDead, Term
from roambus.python_protocol.replicated.patience import Patience
from roambus.python_protocol.replicated.site_state import Peer
from roambus.python_protocol.replicated.watch import Watch
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.sites import SiteId, Sites


class Neighbours(Process):
    """Knows the neighbours of one site."""

    def __init__(self, site: SiteId, sites: Sites, patience: Patience, of: Process | None = None) -> None:
        super().__init__(of)
        self.brokers: dict[Peer, tuple[NodeId, ...]] = {}
        self.peer_of: dict[NodeId, Peer] = {}
        """The site of each of their brokers."""
        self.terms: dict[Peer, Term] = {}
        for neighbour in sites.neighbours(site):
            brokers = sites[neighbour].brokers
            self.brokers[brokers[0]] = brokers
            self.terms[brokers[0]] = 0
            self.peer_of |= dict.fromkeys(brokers, brokers[0])
        self.patience = patience
        """With the leaders of the neighbours."""
        self._watches = {broker: Watch(broker, patience, self) for broker in self.peer_of}

    def leader(self, peer: Peer) -> NodeId:
        """Whom to send to (section 4.1)."""
        brokers = self.brokers[peer]
        return brokers[self.terms[peer] % len(brokers)]

    def leaders(self) -> list[NodeId]:
        """Whom to send to in each site."""
        return [self.leader(peer) for peer in self.brokers]

    def learn(self, peer: Peer, term: Term) -> bool:
        """Turns to a new leader; False if the term is none later than is known (sections 6.8 and 6.9)."""
        if term <= self.terms[peer]:
            return False
        self.watch(peer).satisfied()
        self.patience.forget(self.leader(peer))
        self.terms[peer] = term
        return True

    def watch(self, peer: Peer) -> Watch:
        """The watch over the leader of a site."""
        return self._watches[self.leader(peer)]

    def report(self, peer: Peer) -> None:
        """The leader does not answer (section 6.4). If nobody takes over, it is asked again later."""
        leader = self.leader(peer)
        for broker in self.brokers[peer]:
            if broker != leader:
                self.send(broker, AssumedDead(leader))
        self._watches[leader].again()

    def expect_nothing(self) -> None:
        """Only the leader of a site waits for its neighbours' replies."""
        for watch in self._watches.values():
            watch.satisfied()
