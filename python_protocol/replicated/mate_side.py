"""What a broker does with what the other two of its site say, and when their leader does not act.

The paper on replicated brokers has this in sections 6.4 to 6.8. As long as there is something for the leader to do,
the other brokers watch it. Whoever finds that it has failed tells the next in order, which takes over. What concerns
the copy of the state alone is the replica's (`copy_of_state`, `replica`).
"""

from __future__ import annotations

from roambus.python_protocol.events import Received, SendFailed
from roambus.python_protocol.process import Process, on, on_timer
from roambus.python_protocol.replicated.failure_messages import AreYouAlive, AssumedDead, IAmAlive, IAmLeader, Leader
from roambus.python_protocol.replicated.neighbours import Neighbours
from roambus.python_protocol.replicated.outbox import Outbox
from roambus.python_protocol.replicated.patience import Patience
from roambus.python_protocol.replicated.replica import Replica
from roambus.python_protocol.replicated.replica_messages import CatchUp, Inform, Informed, Yield
from roambus.python_protocol.replicated.watch import Watch, WatchTimer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

_TIMES = 4
"""Brokers wait so many times as long for their leader as clients do, who learn of a failure first (section 6.4), and
longer than the three time-outs that the leader itself may need to learn of a neighbour's failure."""


class MateSide(Process):
    """Listens to the other brokers of the site, and watches the leader."""

    def __init__(
        self, replica: Replica, neighbours: Neighbours, outbox: Outbox, patience: Patience, of: Process | None = None
    ) -> None:
        super().__init__(of)
        self._replica = replica
        self._neighbours = neighbours
        self._outbox = outbox
        self._patience = patience
        self._watched = replica.leader
        self._watches = {mate: Watch(mate, patience, self, _TIMES) for mate in (replica.node, *replica.mates)}
        """Over the leader, as long as there is something for it to do."""
        self._timed = replica.point
        """The last step that was timed."""
        self._reporters: dict[NodeId, None] = {}
        """Brokers of other sites that wait to hear who leads, now that the leader is assumed dead."""

    # Steps and copies

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """Leaves to the replica what has no handler here, because it concerns the copy of the state alone."""
        self._replica.hear(event.message, event.sender, now)

    @on(Inform)
    def inform(self, inform: Inform, sender: NodeId, now: SimTime) -> None:
        """The leader is at work, and has taken a step (section 6)."""
        if sender == self._watched:
            self._watch.satisfied()
        self._replica.inform(inform, sender, now)

    @on(Informed)
    def informed(self, informed: Informed, sender: NodeId, now: SimTime) -> None:
        """Another broker has come that far."""
        self._patience.answered(sender, informed.point, now)
        self._replica.informed(informed, sender, now)

    @on(CatchUp)
    def catch_up(self, _request: CatchUp, sender: NodeId, _now: SimTime) -> None:
        """Gives a copy. A leader that asks has crashed, and come back before anybody noticed."""
        self._patience.forget(sender)
        if self._replica.is_leader:
            self._replica.give_copy(sender)
            self._outbox.tell_who_leads_elsewhere(sender)
        elif sender == self._replica.leader:
            self._take_over_if_next()

    # Who is alive, and who leads

    @on(AreYouAlive)
    def are_you_alive(self, _question: AreYouAlive, sender: NodeId, _now: SimTime) -> None:
        """Answers (section 6.4)."""
        self.send(sender, IAmAlive(self._replica.point.term))

    @on(IAmAlive)
    def i_am_alive(self, _answer: IAmAlive, sender: NodeId, now: SimTime) -> None:
        """What is waited for has not come: perhaps a neighbour crashed with its reply to this broker under way."""
        self._patience.answered(sender, AreYouAlive(), now)
        if sender == self._watched:
            self._watch.alive()
            self._replica.hand_pending_over()
            self.send(self._replica.leader, CatchUp())

    @on(AssumedDead)
    def assumed_dead(self, report: AssumedDead, _sender: NodeId, _now: SimTime) -> None:
        """If it is the leader that is assumed dead, the next in order takes over (section 6.5)."""
        self.assume_dead(report.broker)

    @on(Leader)
    def leader(self, news: Leader, _sender: NodeId, now: SimTime) -> None:
        """Learns who leads a neighbouring site (section 6.9), or this one, if the sender was taken for the leader."""
        peer = self._neighbours.peer_of.get(news.broker)
        if peer is not None:
            self._outbox.learn(peer, news.term, now, tell_mates=False)
        elif news.term > self._replica.term:
            self._replica.step_down(news.term)

    @on(Yield)
    def lead(self, answer: Yield, sender: NodeId, _now: SimTime) -> None:
        """Tells both the site and its neighbours, whoever has noticed the failure (sections 6.6 and 6.8)."""
        if not self._replica.is_taking_over or answer.term != self._replica.term:
            return
        tell = IAmLeader(self._replica.term, self._replica.point)
        self._replica.lead(answer, sender)
        for other in dict.fromkeys(self._neighbours.leaders()) | self._reporters:
            self.send(other, tell)
        self._reporters.clear()

    # Suspicion

    @on(SendFailed)
    def failed(self, event: SendFailed, _: SimTime) -> None:
        """There is no connection to a broker (section 6.2)."""
        self._patience.forget(event.destination)
        self._replica.lost(event.destination)
        self._suspect(event.destination)

    @on_timer(WatchTimer)
    def time_up(self, key: WatchTimer, now: SimTime) -> None:
        """The leader has done nothing in time (section 6.4)."""
        if key.node == self._watched and self._watch.time_up(key, now):
            self._suspect(key.node)
            self._watch.again()

    def watch_leader(self) -> None:
        """Waits for the leader of the present term, if there is something for it to do."""
        leader = self._replica.leader
        if leader != self._watched:
            self._watch.satisfied()
            self._watched = leader
        if leader != self._replica.node and self._replica.has_work and not self._replica.is_joining:
            self._watch.expect()
        else:
            self._watch.satisfied()

    def time_followers(self, now: SimTime) -> None:
        """The leader, which is not watched by itself, measures how soon the others are informed of its last step."""
        point = self._replica.point
        if self._replica.is_leader and point != self._timed:
            for mate in self._replica.mates:
                if point.term > self._timed.term:  # what was asked as an earlier leader perhaps is never answered
                    self._patience.forget(mate)
                self._patience.asked(mate, point, now)
            self._timed = point

    def is_other_leader(self, broker: NodeId) -> bool:
        """Whether the broker is the leader, and not this one."""
        return broker == self._replica.leader != self._replica.node

    def assume_dead(self, broker: NodeId, reporter: NodeId | None = None) -> None:
        """Takes over from a leader, if it is this broker's turn: who reports one tells both others (section 6.5)."""
        if self.is_other_leader(broker):
            self._take_over_if_next(reporter)

    def remember(self, reporter: NodeId) -> None:
        """A neighbour's broker is to be told who leads, when this broker does."""
        if self._replica.is_taking_over:
            self._reporters[reporter] = None

    # Helpers

    @property
    def _watch(self) -> Watch:
        return self._watches[self._watched]

    def _suspect(self, broker: NodeId) -> None:
        """Takes over from a leader that has failed, or tells the broker whose turn it is."""
        replica = self._replica
        if not self.is_other_leader(broker) or replica.is_joining:
            return
        following = replica.leader_of(replica.term + 1)
        if following == replica.node:
            self._take_over_if_next()
        else:
            self.send(following, AssumedDead(broker))

    def _take_over_if_next(self, reporter: NodeId | None = None) -> None:
        if self._replica.is_joining or self._replica.leader_of(self._replica.term + 1) != self._replica.node:
            return
        if reporter is not None:
            self._reporters[reporter] = None
        self._replica.take_over()
