"""The neighbouring sites as a broker knows them: who leads each, and whether it still answers (002, 6.4, 6.8, 6.9)."""

from __future__ import annotations

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.replicated.failure_messages import AssumedDead
from roambus.python_protocol.replicated.site_state import Peer
from roambus.python_protocol.replicated.watch import Watch
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.sites import SiteId, Sites


class Neighbours:
    """Of one site; a peer is a site, called by the first of its brokers."""

    def __init__(self, site: SiteId, sites: Sites, time_out: SimTime) -> None:
        self.brokers: dict[Peer, tuple[NodeId, ...]] = {}
        self.peer_of: dict[NodeId, Peer] = {}
        """The site of each of their brokers."""
        self.terms: dict[Peer, int] = {}
        for neighbour in sites.neighbours(site):
            brokers = sites[neighbour].brokers
            self.brokers[brokers[0]] = brokers
            self.terms[brokers[0]] = 0
            self.peer_of |= dict.fromkeys(brokers, brokers[0])
        self._time_out = time_out
        self._watches = {peer: Watch(peer, time_out) for peer in self.brokers}

    def leader(self, peer: Peer) -> NodeId:
        """Whom to send to (section 4.1)."""
        brokers = self.brokers[peer]
        return brokers[self.terms[peer] % len(brokers)]

    def learn(self, peer: Peer, term: int) -> tuple[bool, list[Action]]:
        """Sections 6.8 and 6.9: whether the term is a later one than known so far."""
        if term <= self.terms[peer]:
            return False, []
        actions = self._watches[peer].satisfied()
        self.terms[peer] = term
        self._watches[peer] = Watch(self.leader(peer), self._time_out)
        return True, actions

    def watch(self, peer: Peer) -> Watch:
        """Over the leader of a site."""
        return self._watches[peer]

    def report(self, peer: Peer) -> list[Action]:
        """Section 6.4: the leader does not answer. If nobody takes over, it is asked again later."""
        leader = self.leader(peer)
        others = [broker for broker in self.brokers[peer] if broker != leader]
        return [*(Send(other, AssumedDead(leader)) for other in others), *self._watches[peer].again()]
