"""The other nodes as a broker knows them: leaders, outgoing messages, and watches.

A neighbouring site is one peer (sections 6.8 and 6.9), called by its first broker. Leaders send to
neighbouring leaders (sections 4.1 and 6.9). A watch (section 6.4) is a time-out, a question, twice the time-out, a
suspicion; time-outs double while nothing moves. The first, the patience, follows measured delays (RFC 6298), at least
`time_out`: below the delay each new leader would seem dead (section 8).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from roambus.extensions.replicated.messages import (
    AreYouAlive,
    AssumedDead,
    Event,
    Leader,
    ReplicatedParameters,
    Term,
    acceptance,
)
from roambus.extensions.replicated.replica import Released, Replica
from roambus.extensions.replicated.site_state import Output, Peer
from roambus.extensions.replicated.sites import SiteId, Sites
from roambus.python_protocol.agent import Process
from roambus.python_protocol.parts.link import DelayEstimate
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime
from roambus.python_protocol.trace_rows import ROUTE, node_list

_AT_MOST = 2
"""The most waits that a measured delay counts."""
_DEVIATIONS = 4
"""The first wait, as deviations from a mean of 0."""


class Neighbours(Process):
    """The neighbours of one site, and the messages to them and to clients."""

    def __init__(self, site: SiteId, sites: Sites, patience: Patience, replica: Replica) -> None:
        super().__init__(of=replica)
        self._replica = replica
        self.brokers: dict[Peer, tuple[NodeId, ...]] = {}
        self.peer_of: dict[NodeId, Peer] = {}
        """The site of each neighbouring broker."""
        self.terms: dict[Peer, Term] = {}
        for neighbour in sites.neighbours(site):
            brokers = sites[neighbour].brokers
            self.brokers[brokers[0]] = brokers
            self.terms[brokers[0]] = 0
            self.peer_of |= dict.fromkeys(brokers, brokers[0])
        self.patience = patience
        """For the leaders of the neighbours."""
        self._watches = {broker: Watch(broker, patience, self) for broker in self.peer_of}

    def leader(self, peer: Peer) -> NodeId:
        """Return the broker to send to (section 4.1)."""
        brokers = self.brokers[peer]
        return brokers[self.terms[peer] % len(brokers)]

    def watch(self, peer: Peer) -> Watch:
        """Return the watch over the leader of a site."""
        return self._watches[self.leader(peer)]

    def report(self, peer: Peer) -> None:
        """Report a silent leader to both other brokers (section 6.4)."""
        leader = self.leader(peer)
        for broker in self.brokers[peer]:
            if broker != leader:
                self.send(broker, AssumedDead(leader))
        self._watches[leader].again()

    def expect_nothing(self) -> None:
        """Stop waiting: only leaders await neighbours' replies."""
        for watch in self._watches.values():
            watch.satisfied()

    # What this broker sends as leader

    def release(self, released: Released, now: SimTime) -> None:
        """Send a safe step's reply and messages."""
        if released.message is not None and released.peer in self.brokers:
            accepted = acceptance(released.message)
            for broker in self.brokers[released.peer]:
                self.send(broker, accepted)
        for output in released.outputs:
            self._send_on(output, now)

    def send_again(self, peer: Peer, now: SimTime) -> None:
        """Repeat a neighbour's unaccepted messages."""
        for output in self._replica.sendable(peer):
            self._send_on(output, now)

    def learn(self, peer: Peer, term: Term, now: SimTime, *, tell_mates: bool) -> None:
        """Store a leader, inform the replicas, and turn to it (sections 6.8 and 6.9)."""
        # News can come late, and by several ways; terms only grow, so that nobody turns back to an older leader.
        if term <= self.terms[peer]:
            return
        # The old leader owes nothing more, and its answers, if any come, measure nothing.
        self.watch(peer).satisfied()
        self.patience.forget(self.leader(peer))
        self.terms[peer] = term
        if tell_mates:
            for mate in self._replica.mates:
                self.send(mate, Leader(self.leader(peer), term))
        if self._replica.is_leader:
            self.send_again(peer, now)

    def tell_who_leads_elsewhere(self, mate: NodeId) -> None:
        """Send a crashed broker the neighbours' leaders."""
        for peer, term in self.terms.items():
            if term:
                self.send(mate, Leader(self.leader(peer), term))

    def _send_on(self, output: Output, now: SimTime) -> None:
        """Send unaccepted messages to a site's leader or a client (section 4.1)."""
        peer, message = output
        # A step that was held may be released after the reply to what an earlier leader has sent.
        if message.key not in self._replica.state.outgoing[peer].unaccepted:
            return
        if peer in self.brokers:
            leader = self.leader(peer)
            self.send(leader, message)
            self.patience.asked(leader, message.key, now)
            self.watch(peer).expect()
            return
        self.send(peer, message)
        if isinstance(message, Event):
            self.note(ROUTE, notification_id=str(message.notification.id), detail=node_list([peer]))


@dataclass(frozen=True, slots=True)
class WatchTimer:
    """The timer of a watch; a freeze can make it late."""

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
    """Watches one node for `times` the patience."""

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
        """Begin to wait."""
        if self._phase is _Phase.IDLE:
            self._begin()

    def satisfied(self) -> None:
        """Stop waiting."""
        self._stop()
        self._phase, self._times = _Phase.IDLE, self._first

    def alive(self) -> None:
        """Go on waiting: the node only answered."""
        if self._phase is _Phase.ASKED:
            self.again()

    def again(self) -> None:
        """Begin another round, twice as long."""
        self._times *= 2
        self._begin()

    def time_up(self, key: WatchTimer, now: SimTime) -> bool:
        """Ask the node; return True if it was asked, and is now assumed dead."""
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
        """Assume the node dead: the connection failed (section 6.2)."""
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
    """Measured delays, timing one message of each kind (RFC 6298)."""

    def __init__(self, parameters: ReplicatedParameters) -> None:
        self._time_out = parameters.time_out
        self._is_fixed = not parameters.follow_delays
        self._estimates: dict[NodeId, DelayEstimate] = {}
        self._timed: dict[NodeId, dict[type, tuple[Hashable, SimTime]]] = {}
        """Each node's timed messages and times by kind."""

    def wait(self, node: NodeId) -> SimTime:
        """Return the wait for a node; one without answers counts as the slowest."""
        # The slowest, because a new leader that is taken for dead before its first answer can have come makes the site
        # change its leader for ever; to notice a failure late costs that once.
        own = self._estimates.get(node)
        bounds = [estimate.bound() for estimate in ([own] if own else self._estimates.values())]
        return max(self._time_out, *map(round, bounds)) if bounds else self._time_out

    def asked(self, node: NodeId, what: Hashable, now: SimTime) -> None:
        """Time a message, unless one of its kind is timed."""
        self._timed.setdefault(node, {}).setdefault(type(what), (what, now))

    def answered(self, node: NodeId, what: Hashable, now: SimTime) -> None:
        """Take in an answer, late or not."""
        timed, since = self._timed.get(node, {}).get(type(what), (None, now))
        if timed != what:  # the answer to another message, which is not timed
            return
        del self._timed[node][type(what)]
        if not self._is_fixed:
            wait = self.wait(node)
            estimate = self._estimates.setdefault(node, DelayEstimate(0, wait / _DEVIATIONS))
            estimate.sample(min(now - since, _AT_MOST * wait))

    def forget(self, node: NodeId) -> None:
        """Forget repeated or unanswered timed messages (Karn)."""
        self._timed.pop(node, None)
