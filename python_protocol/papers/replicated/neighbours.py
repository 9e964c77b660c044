"""The other nodes as a broker knows them: who leads each neighbouring site, what goes there, and whether it answers.

*Neighbours* (sections 6.8 and 6.9). A neighbouring site is one peer, whoever of its brokers speaks for it, and is
called by the first of them.

*The outbox* sends what a broker has to send as the leader of its site (sections 4.1 and 6.9): to a neighbouring site
by way of the site's leader, which is watched until it has accepted everything. Whatever gets lost is sent again when
the neighbour has a new leader, or says that it is alive.

*A watch* finds out whether another node is there (section 6.4): a time-out, a question, a time-out of twice that, a
suspicion. Time-outs double with each round in which nothing moved, so that nobody asks for ever at the same pace.

*Patience* is how long the first of these time-outs is. The paper asks for a time-out (section 6.4) and for survival of
high latency (6.3), and ends in messages that are exchanged for ever (section 8): a time-out below the delay finds each
new leader dead. So patience belongs to the node, and survives a change of leader. It follows measured delays, as RFC
6298 estimates them, and never falls below `time_out`. A late answer counts as at most twice the wait: one that comes
late because the other was frozen makes little of a difference, and one that comes late each time soon is waited for.
With `follow_delays` false it is always `time_out`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from roambus.python_protocol.agent import Process
from roambus.python_protocol.papers.replicated.messages import (
    Accepted,
    AreYouAlive,
    AssumedDead,
    Event,
    Leader,
    ReplicatedParameters,
    Term,
)
from roambus.python_protocol.papers.replicated.replica import Released, Replica
from roambus.python_protocol.papers.replicated.site_state import Output, Peer
from roambus.python_protocol.papers.replicated.sites import SiteId, Sites
from roambus.python_protocol.parts.link import DelayEstimate
from roambus.python_protocol.vocabulary import ROUTE, NodeId, SimTime, node_list

_AT_MOST = 2
"""Waits as which a measured delay counts."""
_DEVIATIONS = 4
"""An estimate that begins with mean 0 and this part of a wait as deviation has the wait as its bound."""


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

    def watch(self, peer: Peer) -> Watch:
        """The watch over the leader of a site."""
        return self._watches[self.leader(peer)]

    def report(self, peer: Peer) -> None:
        """The leader does not answer (section 6.4). If nobody takes over, it is asked again later.

        Both other brokers of its site are told, because either can be the next in order, or down itself.
        """
        leader = self.leader(peer)
        for broker in self.brokers[peer]:
            if broker != leader:
                self.send(broker, AssumedDead(leader))
        self._watches[leader].again()

    def expect_nothing(self) -> None:
        """Only the leader of a site waits for its neighbours' replies."""
        for watch in self._watches.values():
            watch.satisfied()


class Outbox(Process):
    """Sends what one broker has to send as leader."""

    def __init__(self, replica: Replica, neighbours: Neighbours, of: Process | None = None) -> None:
        super().__init__(of)
        self._replica = replica
        self._neighbours = neighbours
        self._patience = neighbours.patience

    def release(self, released: Released, now: SimTime) -> None:
        """What this site has processed is safe: the reply goes to a neighbour, and what is to be sent on is sent."""
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
        """Stores who leads a neighbour, informs the replicas, and turns to the new leader (sections 6.8 and 6.9)."""
        # News can come late, and by several ways; terms only grow, so that nobody turns back to an older leader.
        neighbours = self._neighbours
        if term <= neighbours.terms[peer]:
            return
        # The old leader owes nothing more, and its answers, if any come, measure nothing.
        neighbours.watch(peer).satisfied()
        self._patience.forget(neighbours.leader(peer))
        neighbours.terms[peer] = term
        if tell_mates:
            for mate in self._replica.mates:
                self.send(mate, Leader(neighbours.leader(peer), term))
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
        # A step that was held may be released after the reply to what an earlier leader has sent.
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


@dataclass(frozen=True, slots=True)
class WatchTimer:
    """The key of the timer for a node; that of an earlier wait, which ran out while this node was frozen, is late."""

    node: NodeId
    wait: int
    """The number of the wait."""


class _Phase(Enum):
    IDLE = "nothing is expected"
    WAITING = "for a reply"
    ASKED = "are you alive?"
    DEAD = "assumed"


_TIMED = {_Phase.WAITING, _Phase.ASKED}


class Watch(Process):
    """Watches one node; whoever uses it tells it when the timer of the node has run out.

    It waits `times` as long as the patience of this node says.
    """

    def __init__(self, node: NodeId, patience: Patience, of: Process | None = None, times: int = 1) -> None:
        super().__init__(of)
        self._node = node
        self._patience = patience
        self._times = self._first = times
        self._phase = _Phase.IDLE
        self._waits = 0

    @property
    def is_dead(self) -> bool:
        """Whether the node is assumed dead."""
        return self._phase is _Phase.DEAD

    def expect(self) -> None:
        """Something is to come from the node."""
        if self._phase is _Phase.IDLE:
            self._begin()

    def satisfied(self) -> None:
        """Something expected has come, or nothing is expected any more."""
        self._stop()
        self._phase, self._times = _Phase.IDLE, self._first

    def alive(self) -> None:
        """The node has answered, but what is expected has not come."""
        if self._phase is _Phase.ASKED:
            self.again()

    def again(self) -> None:
        """Another round begins, of twice the time."""
        self._times *= 2
        self._begin()

    def time_up(self, key: WatchTimer, now: SimTime) -> bool:
        """Asks the node; True if it was asked already, and is assumed dead from now on."""
        if key != self._timer or self._phase not in _TIMED:  # an earlier wait's, which came late after a freeze
            return False
        if self._phase is _Phase.WAITING:
            self._phase = _Phase.ASKED
            self.send(self._node, AreYouAlive())
            self._patience.asked(self._node, AreYouAlive(), now)
            self._set_timer(2 * self._times)
            return False
        self._phase = _Phase.DEAD
        return True

    def failed(self) -> None:
        """The connection failed: no question needs to be asked (section 6.2)."""
        self._stop()
        self._phase = _Phase.DEAD

    @property
    def _timer(self) -> WatchTimer:
        return WatchTimer(self._node, self._waits)

    def _begin(self) -> None:
        self._phase = _Phase.WAITING
        self._set_timer(self._times)

    def _set_timer(self, times: int) -> None:
        self._waits += 1
        self.set_timer(self._timer, times * self._patience.wait(self._node))

    def _stop(self) -> None:
        if self._phase in _TIMED:
            self.cancel_timer(self._timer)


class Patience:
    """What one node has measured of others: one message of a kind at a time is timed until its answer (RFC 6298)."""

    def __init__(self, parameters: ReplicatedParameters) -> None:
        self._time_out = parameters.time_out
        self._is_fixed = not parameters.follow_delays
        self._estimates: dict[NodeId, DelayEstimate] = {}
        self._timed: dict[NodeId, dict[type, tuple[Hashable, SimTime]]] = {}
        """For each node and kind of message, which one is timed, and since when."""

    def wait(self, node: NodeId) -> SimTime:
        """The time to wait for a node; for one that has not answered yet, as for the slowest of the others."""
        # The slowest, because a new leader that is taken for dead before its first answer can have come makes the site
        # change its leader for ever; to notice a failure late costs that once.
        own = self._estimates.get(node)
        bounds = [one.bound() for one in ([own] if own else self._estimates.values())]
        return max(self._time_out, *map(round, bounds)) if bounds else self._time_out

    def asked(self, node: NodeId, what: Hashable, now: SimTime) -> None:
        """Something was sent to a node that answers it; it is timed, unless something of its kind is."""
        self._timed.setdefault(node, {}).setdefault(type(what), (what, now))

    def answered(self, node: NodeId, what: Hashable, now: SimTime) -> None:
        """The answer has come, in time or not."""
        timed, since = self._timed.get(node, {}).get(type(what), (None, now))
        if timed != what:  # the answer to another message, which is not timed
            return
        del self._timed[node][type(what)]
        if not self._is_fixed:
            wait = self.wait(node)
            estimate = self._estimates.setdefault(node, DelayEstimate(0, wait / _DEVIATIONS))
            estimate.sample(min(now - since, _AT_MOST * wait))

    def forget(self, node: NodeId) -> None:
        """What was timed is sent again, or will have no answer, so that nothing can be measured by it (Karn)."""
        self._timed.pop(node, None)
