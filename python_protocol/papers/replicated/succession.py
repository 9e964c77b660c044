"""The succession: how the three brokers of a site notice that their leader has failed, and which of them leads next.

The paper has a site survive the failure of one of its brokers (sections 6.4 to 6.8), and leaves to its reader which of
the others takes over. Here the order is fixed, so that two that notice the same failure agree without a vote: the
broker at place t mod 3 leads in term t. The rules:

- *A leader is watched only while there is something for it to do.* An idle leader owes nobody anything, and a site
  without traffic stays silent.
- *Whoever finds the leader dead tells the next in order*, or takes over itself if it is that one. A connection that
  fails tells of a crash at once (section 6.2); silence does after a time-out, a question, and twice the time-out.
- *Who takes over asks first, and leads by the first answer* (`replica` says why one is enough). The paper's new leader
  leads at once; a leader that was only slow could then go on beside it.
- *A new leader says so to the two others, to the neighbours' leaders, and to whoever has reported the old one.* The
  paper's own authors found that theirs forgot some of these (section 8).
- *A broker without a copy cannot lead*, nor promise anything about steps that it does not know. It answers EMPTY, and
  is passed over. When all others are known to have no copy, the last one that has leads (`tell_empty`).

Steps and copies themselves are the matter of the replica; this process hears the other two first, since each of their
messages also says that they are there.
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.agent import Process, on, on_timer
from roambus.python_protocol.events import Received, SendFailed
from roambus.python_protocol.papers.replicated.messages import (
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
from roambus.python_protocol.papers.replicated.neighbours import Neighbours, Outbox, Watch, WatchTimer
from roambus.python_protocol.papers.replicated.replica import Replica
from roambus.python_protocol.vocabulary import NodeId, SimTime

_TIMES = 4
"""Brokers wait so many times as long for their leader as clients do, who learn of a failure first (section 6.4), and
longer than the three time-outs that the leader itself may need to learn of a neighbour's failure."""


@dataclass(frozen=True, slots=True)
class AnswerTimer:
    """The key of the timer for what a broker has asked the other two of its site for."""

    times: int
    """The time-outs that this wait has."""


class Succession(Process):
    """Hears the other brokers of the site, watches the leader, and has this broker lead when it is its turn."""

    def __init__(self, replica: Replica, neighbours: Neighbours, outbox: Outbox) -> None:
        super().__init__(of=replica)
        self._replica, self._neighbours, self._outbox = replica, neighbours, outbox
        self._patience = neighbours.patience
        self._watched = replica.leader
        self._watches = {node: Watch(node, self._patience, self, _TIMES) for node in (replica.node, *replica.mates)}
        """Over the leader, as long as there is something for it to do."""
        self._timed = replica.point
        """The last step that was timed."""
        self.without_copy: set[NodeId] = set()
        """Who last was heard to have no copy, or was not to be reached: it makes no sense to wait for their lead."""
        self._asking: AnswerTimer | None = None
        """Runs while this broker waits for a copy, or for an answer to TAKE_OVER."""
        self._reporters: dict[NodeId, None] = {}
        """Brokers of other sites that wait to hear who leads, now that the leader is assumed dead."""

    # Steps and copies

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """Leaves to the replica what has no handler here, because it concerns the copy of the state alone.

        `Received` is the handler of last resort, so a message that the replica has a handler for and this process has
        not gets there without being named twice.
        """
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
        """A broker is without a copy, and no leader has given it one, so perhaps none is left."""
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
        """Says that it is there (section 6.4), by EMPTY for as long as there is no copy that others could wait for."""
        replica = self._replica
        self.send(sender, Empty(replica.term) if replica.is_joining else IAmAlive(replica.point.term))

    @on(AssumedDead)
    def assumed_dead(self, report: AssumedDead, sender: NodeId, _now: SimTime) -> None:
        """Takes over if it is this broker's turn (section 6.5) and it has a copy."""
        if self._replica.is_joining:
            self.send(sender, Empty(self._replica.term))
        else:
            self.assume_dead(report.broker)

    @on(IAmAlive)
    def i_am_alive(self, _answer: IAmAlive, sender: NodeId, now: SimTime) -> None:
        """What is waited for has not come: perhaps a neighbour crashed with its reply to this broker under way."""
        self._patience.answered(sender, AreYouAlive(), now)
        if sender == self._watched:
            # The leader is there, and has not done what it should. It may have come back from a crash that nobody saw,
            # without what clients have said; or this broker has missed its steps. Both are put right, once a round.
            self._watch.alive()
            self._replica.hand_pending_over(self._replica.leader)
            self.send(self._replica.leader, CatchUp())

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
        if self._replica.is_taking_over and answer.term == self._replica.term:
            point = self._replica.point
            self._replica.take_newer(answer, sender)
            self._lead_from(point)

    def _lead_from(self, point: Point) -> None:
        """Tells the others from which copy this broker goes on: `point` is where that was before the new term."""
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
        """There is no connection to a broker (section 6.2)."""
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
        """The leader has done nothing in time (section 6.4)."""
        if key.node == self._watched and self._watch.time_up(key, now):
            self._suspect(key.node)
            self._watch.again()  # whoever is next may be down, too, until it has come back with a copy

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
        """Takes over from a leader, if it is this broker's turn: who reports one tells both others (section 6.5).

        A reporter of another site is told who leads when this broker does: it has turned to a broker that does not.
        """
        if self.is_other_leader(broker):
            self._take_over_if_next()
        if reporter is not None and self._replica.is_taking_over:
            self._reporters[reporter] = None

    def watch_answers(self) -> None:
        """Waits for a copy, or for answers to TAKE_OVER: who is asked may crash, and come back without the question."""
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
        """Time-outs double, because a broker that is frozen answers nothing, and finds all questions later."""
        if key == self._asking:
            self._replica.ask_again()
            self._wait_for_answers(2 * key.times)

    # Helpers

    def _wait_for_answers(self, times: int) -> None:
        self._asking = AnswerTimer(times)
        self.set_timer(self._asking, times * max(map(self._patience.wait, self._replica.mates)))

    def _give_copy(self, mate: NodeId) -> None:
        self._replica.give_copy(mate)
        self._outbox.tell_who_leads_elsewhere(mate)

    def _go_on_without(self, mate: NodeId, term: Term) -> None:
        """Leads if no other copy is left; a broker that has not heard of this term was down when it was asked."""
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
        """Takes over from a leader that has failed, or tells the broker whose turn it is."""
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
