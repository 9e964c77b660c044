"""The succession: failed leaders, and the choice of the next.

The paper (sections 6.4 to 6.8) leaves the choice open. Here place t mod 3 leads in term t, so that brokers agree
without a vote. A leader is watched only while it has work. A failed connection is a crash (section 6.2); silence takes
a time-out, a question, and twice the time-out. The next leads by the first answer (see `replica`).
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.extensions.replicated.messages import (
    AreYouAlive,
    AssumedDead,
    CatchUp,
    Empty,
    IAmAlive,
    IAmLeader,
    Inform,
    Informed,
    Leader,
    Point,
    Term,
    Yield,
)
from roambus.extensions.replicated.neighbours import Neighbours, Watch, WatchTimer
from roambus.extensions.replicated.replica import Replica
from roambus.python_protocol.agent import Process, on, on_timer
from roambus.python_protocol.events import Received, SendFailed
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

_TIMES = 4
"""Brokers wait longer than clients (section 6.4), and than a leader's three time-outs for a neighbour."""


@dataclass(frozen=True, slots=True)
class AnswerTimer:
    """The timer for questions within the site."""

    times: int
    """The time-outs of this wait."""


class Succession(Process):
    """Hears the others, watches the leader, and leads in turn."""

    def __init__(self, replica: Replica, neighbours: Neighbours) -> None:
        super().__init__(of=replica)
        self._replica, self._neighbours = replica, neighbours
        self._patience = neighbours.patience
        self._watched = replica.leader
        self._watches = {node: Watch(node, self._patience, self, _TIMES) for node in (replica.node, *replica.mates)}
        """Over the leader, while it has something to do."""
        self._timed = replica.point
        """The last step that was timed."""
        self.without_copy: set[NodeId] = set()
        """Brokers without a copy or out of reach: they will not lead."""
        self._asking: AnswerTimer | None = None
        """The wait for a copy or an answer to TAKE_OVER."""
        self._reporters: dict[NodeId, None] = {}
        """Reporters of other sites, for the new leader."""

    # Steps and copies

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """Hand messages without a handler here to the replica."""
        self._replica._handle_message(event.message, event.sender, now)

    @on(Inform)
    def inform(self, inform: Inform, sender: NodeId, now: SimTime) -> None:
        """Take the leader's step (section 6)."""
        if sender == self._watched:
            self._watch.satisfied()
        self._replica.inform(inform, sender, now)

    @on(Informed)
    def informed(self, informed: Informed, sender: NodeId, now: SimTime) -> None:
        """Take in another broker's progress."""
        self._patience.answered(sender, informed.point, now)
        self._replica.informed(informed, sender, now)

    @on(CatchUp)
    def catch_up(self, _request: CatchUp, sender: NodeId, _now: SimTime) -> None:
        """Give a copy; a leader that asks has crashed unnoticed."""
        self._patience.forget(sender)
        if self._replica.tells_empty:
            # Clients have forgotten what two brokers have, and a copy does not hold what the leader has not processed.
            self._replica.hand_pending_over(sender)
        if self._replica.is_leader:
            self._give_copy(sender)
        elif sender == self._replica.leader:
            self._take_over_if_next()
        elif self._replica.is_taking_over and self._replica.tells_empty:
            self._replica.ask_to_yield(sender)

    @on(Empty)
    def empty(self, news: Empty, sender: NodeId, now: SimTime) -> None:
        """Record a broker without a copy; perhaps none is left."""
        replica = self._replica
        if replica.is_joining:
            return
        self.without_copy.add(sender)
        # EMPTY binds as a yield does. Whoever has said it in a term that nobody leads yet follows no earlier leader, so
        # this broker, which has a copy, has to go beyond that term.
        if news.term > replica.term:
            replica.step_down(news.term)
            replica.take_over()
        elif replica.is_leader:
            self._give_copy(sender)
        elif replica.is_taking_over:
            self._go_on_without(sender, news.term)
        elif replica.leader in self.without_copy:
            self._suspect(replica.leader)
        else:
            self.send(replica.leader, AreYouAlive())

    # Who is alive, and who leads

    @on(AreYouAlive)
    def are_you_alive(self, _question: AreYouAlive, sender: NodeId, _now: SimTime) -> None:
        """Answer (section 6.4), with EMPTY if no copy is coming."""
        replica = self._replica
        self.send(sender, Empty(replica.term) if replica.is_joining else IAmAlive(replica.point.term))

    @on(AssumedDead)
    def assumed_dead(self, report: AssumedDead, sender: NodeId, _now: SimTime) -> None:
        """Take over in turn (section 6.5), with a copy."""
        if self._replica.is_joining:
            self.send(sender, Empty(self._replica.term))
        else:
            self.assume_dead(report.broker)

    @on(IAmAlive)
    def i_am_alive(self, _answer: IAmAlive, sender: NodeId, now: SimTime) -> None:
        """Repeat messages that the sender may have missed."""
        self._patience.answered(sender, AreYouAlive(), now)
        if sender == self._watched:
            # The leader is there, and has not done what it should. It may have come back from a crash that nobody saw,
            # without what clients have said; or this broker has missed its steps. Both are put right, once a round.
            self._watch.alive()
            self._replica.hand_pending_over(self._replica.leader)
            self.send(self._replica.leader, CatchUp())

    @on(Leader)
    def leader(self, news: Leader, _sender: NodeId, now: SimTime) -> None:
        """Learn a site's leader (section 6.9), or this one's."""
        peer = self._neighbours.peer_of.get(news.broker)
        if peer is not None:
            self._neighbours.learn(peer, news.term, now, tell_mates=False)
        elif news.term > self._replica.term:
            self._replica.step_down(news.term)

    @on(Yield)
    def lead(self, answer: Yield, sender: NodeId, _now: SimTime) -> None:
        """Lead, and inform the site and its neighbours (sections 6.6 and 6.8)."""
        if self._replica.is_taking_over and answer.term == self._replica.term:
            point = self._replica.point
            self._replica.take_newer(answer, sender)
            self._lead_from(point)

    def _lead_from(self, point: Point) -> None:
        """Announce the `point` of this broker's copy."""
        tell = IAmLeader(self._replica.term, point)
        self._replica.lead()
        # A neighbour's leader may have reported the failure itself, and is told once.
        neighbours = map(self._neighbours.leader, self._neighbours.brokers)
        for other in dict.fromkeys(neighbours) | self._reporters:
            self.send(other, tell)
        self._reporters.clear()

    # Suspicion

    @on(SendFailed)
    def failed(self, event: SendFailed, _: SimTime) -> None:
        """Handle a failed connection (section 6.2)."""
        self._patience.forget(event.destination)
        self._replica.lost(event.destination)
        self.without_copy.add(event.destination)
        self._suspect(event.destination)
        if not self._replica.tells_empty:
            return
        # It may have been next, and passed over from now on; or the last whose answer was waited for.
        if self._replica.leader in self.without_copy - {event.destination}:
            self._suspect(self._replica.leader)
        if self._replica.is_last_copy:
            self._lead_from(self._replica.point)

    @on_timer(WatchTimer)
    def time_up(self, key: WatchTimer, now: SimTime) -> None:
        """Suspect a late leader (section 6.4)."""
        if key.node == self._watched and self._watch.time_up(key, now):
            self._suspect(key.node)
            self._watch.again()  # whoever is next may be down, too, until it has come back with a copy

    def watch_leader(self) -> None:
        """Watch the present leader while it has work."""
        leader = self._replica.leader
        if leader != self._watched:
            self._watch.satisfied()
            self._watched = leader
        if leader != self._replica.node and self._replica.has_work and not self._replica.is_joining:
            self._watch.expect()
        else:
            self._watch.satisfied()

    def time_followers(self, now: SimTime) -> None:
        """Measure, as leader, the others' delay."""
        point = self._replica.point
        if self._replica.is_leader and point != self._timed:
            for mate in self._replica.mates:
                if point.term > self._timed.term:  # what was asked as an earlier leader perhaps is never answered
                    self._patience.forget(mate)
                self._patience.asked(mate, point, now)
            self._timed = point

    def is_other_leader(self, broker: NodeId) -> bool:
        """Whether another broker is the leader."""
        return broker == self._replica.leader != self._replica.node

    def assume_dead(self, broker: NodeId, reporter: NodeId | None = None) -> None:
        """Take over in turn (section 6.5); remote reporters learn later."""
        if self.is_other_leader(broker):
            self._take_over_if_next()
        if reporter is not None and self._replica.is_taking_over:
            self._reporters[reporter] = None

    def watch_answers(self) -> None:
        """Wait for a copy or answer: a crash can lose TAKE_OVER."""
        waits = self._replica.is_joining or self._replica.is_taking_over
        if not self._replica.tells_empty or waits == (self._asking is not None):
            return
        if waits:
            # Who takes over has time, because it is the one that can lead, and each further YIELD can bring a copy.
            self._wait_for_answers(1 if self._replica.is_joining else _TIMES)
        elif self._asking is not None:
            self.cancel_timer(self._asking)
            self._asking = None

    @on_timer(AnswerTimer)
    def ask_again(self, key: AnswerTimer, _: SimTime) -> None:
        """Repeat after doubled time-outs: a freeze delays all questions."""
        if key == self._asking:
            self._replica.ask_again()
            self._wait_for_answers(2 * key.times)

    # Helpers

    def _wait_for_answers(self, times: int) -> None:
        self._asking = AnswerTimer(times)
        self.set_timer(self._asking, times * max(map(self._patience.wait, self._replica.mates)))

    def _give_copy(self, mate: NodeId) -> None:
        self._replica.give_copy(mate)
        self._neighbours.tell_who_leads_elsewhere(mate)

    def _go_on_without(self, mate: NodeId, term: Term) -> None:
        """Lead if no other copy is left."""
        if term < self._replica.term:
            self._replica.ask_to_yield(mate)
            return
        self._replica.hear_empty(mate)
        if self._replica.is_last_copy:
            self._lead_from(self._replica.point)

    @property
    def _watch(self) -> Watch:
        return self._watches[self._watched]

    def _suspect(self, broker: NodeId) -> None:
        """Replace a failed leader, or inform the next in order."""
        replica = self._replica
        if not self.is_other_leader(broker) or replica.is_joining:
            return
        following = replica.leader_of(replica.term + 1)
        if following == replica.node:
            self._take_over_if_next()
        elif self._replica.tells_empty and following in self.without_copy:
            replica.take_over()
        else:
            self.send(following, AssumedDead(broker))

    def _take_over_if_next(self) -> None:
        replica = self._replica
        if not replica.is_joining and replica.leader_of(replica.term + 1) == replica.node:
            replica.take_over()
