"""A broker, one of three of its site, which listens to clients, to neighbouring sites, and to the other two brokers.

What an event means depends on whom it comes from, so there is a process for each of these three sides, and the broker
finds the one that an event is for. They share the replica, which is this broker's copy of the state of the site, and
what is known of the neighbours. When the replica has changed, the broker sends what that has released, and watches
whoever has to act.

- *Clients* talk to all three brokers of their site (sections 4 to 6.5): each replies at once, and sees to it that the
  leader takes in what was said.
- *Neighbouring sites* talk by their leaders (sections 4 to 6.9). A neighbour that has not heard of a new leader talks
  to the wrong broker, which answers who leads; a new leader itself says so to all neighbours.
- *The other two of the site* (sections 6.4 to 6.8) watch the leader as long as there is something for it to do.
  Whoever finds that it has failed tells the next in order, which takes over. What concerns the copy of the state
  alone is the replica's.
"""

from __future__ import annotations

from dataclasses import dataclass

from roambus.python_protocol.agent import Process, on, on_timer
from roambus.python_protocol.events import Publish, Received, Recovered, SendFailed, Sites, Subscribe, Unsubscribe
from roambus.python_protocol.papers.replicated.messages import (
    Accepted,
    AreYouAlive,
    AssumedDead,
    CatchUp,
    Empty,
    Event,
    IAmAlive,
    IAmLeader,
    Inform,
    Informed,
    Leader,
    Numbered,
    Piece,
    Point,
    ReplicatedParameters,
    State,
    Sub,
    TakeOver,
    Term,
    Uns,
    Update,
    Yield,
)
from roambus.python_protocol.papers.replicated.neighbours import Neighbours, Outbox, Patience, Watch, WatchTimer
from roambus.python_protocol.papers.replicated.replica import Replica
from roambus.python_protocol.papers.replicated.site_state import place_of
from roambus.python_protocol.vocabulary import NodeId, SimTime

_TIMES = 4
"""Brokers wait so many times as long for their leader as clients do, who learn of a failure first (section 6.4), and
longer than the three time-outs that the leader itself may need to learn of a neighbour's failure."""


@dataclass(frozen=True, slots=True)
class AnswerTimer:
    """The key of the timer for what a broker has asked the other two of its site for."""

    times: int
    """The time-outs that this wait has."""


class Broker(Process):
    """Finds whom an event comes from, and does what follows from it."""

    def __init__(self, node: NodeId, sites: Sites, parameters: ReplicatedParameters, of: Process | None = None) -> None:
        super().__init__(of)
        site = sites.of_node[node]
        self.node = node
        self.brokers = sites[site].brokers
        self.replica = Replica(node, self.brokers, place_of(site, sites), parameters, self)
        self.neighbours = Neighbours(site, sites, Patience(parameters), self)
        self.outbox = Outbox(self.replica, self.neighbours, self)
        self.mate_side = MateSide(self, parameters)
        self.neighbour_side = NeighbourSide(self)
        self.client_side = ClientSide(self)
        self._kept: list[Received] = []
        """What has come since a crash, until there is a copy of the state to apply it to."""

    # Handlers

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """Hears a message, which has to wait while there is no copy of the state that it could change."""
        if self.replica.is_joining and not self._is_for_joining(event):
            self._kept.append(event)
            return
        if not isinstance(event.message, Empty | CatchUp):
            self.mate_side.without_copy.discard(event.sender)
        self._side(event.sender).tell(event, now)
        if self._kept and not self.replica.is_joining:
            kept, self._kept = self._kept, []
            for one in kept:
                self._side(one.sender).tell(one, now)
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

    @on_timer(AnswerTimer)
    def ask_again(self, key: AnswerTimer, now: SimTime) -> None:
        """A copy, or an answer to TAKE_OVER, has not come in time."""
        self.mate_side.fire(key, now)
        self._settle(now)

    @on(Recovered)
    def join(self, _event: Recovered, _now: SimTime) -> None:
        """Asks for a copy of the state, because a crash has left nothing."""
        self.replica.join()
        self.mate_side.watch_answers()

    @on(Subscribe, Unsubscribe, Publish)
    def refuse(self, _event: Subscribe | Unsubscribe | Publish, _now: SimTime) -> None:
        """Clients are nodes of their own (section 2); raises LookupError."""
        raise LookupError(f"node {self.node} is a broker, and has no client")

    # Helpers

    def _is_for_joining(self, event: Received) -> bool:
        """What a broker hears without a copy: what brings one, and what asks whether it has one."""
        asks = isinstance(event.message, TakeOver | AssumedDead | AreYouAlive | Empty)
        return isinstance(event.message, IAmLeader | Piece | State | CatchUp) or (
            asks and self.mate_side.tells_empty and event.sender in self.brokers
        )

    def _side(self, other: NodeId) -> Process:
        if other in self.brokers:
            return self.mate_side
        return self.neighbour_side if other in self.neighbours.peer_of else self.client_side

    def _settle(self, now: SimTime) -> None:
        """Carries out what the replica has released, and watches whoever has to act."""
        for released in self.replica.releases.take_ready():
            self.outbox.release(released, now)
        if not self.replica.is_leader:
            self.neighbours.expect_nothing()
        self.mate_side.watch_leader()
        self.mate_side.watch_answers()
        self.mate_side.time_followers(now)


class Side(Process):
    """Listens to some of those that a broker hears; anybody may ask, and may assume the leader dead."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._broker = broker
        self._replica = broker.replica
        self._neighbours = broker.neighbours
        self._outbox = broker.outbox
        self._patience = broker.neighbours.patience

    @on(AreYouAlive)
    def are_you_alive(self, _question: AreYouAlive, sender: NodeId, now: SimTime) -> None:
        """Answers (section 6.4)."""
        self.send(sender, IAmAlive(self._replica.point.term))

    @on(AssumedDead)
    def assumed_dead(self, report: AssumedDead, sender: NodeId, _now: SimTime) -> None:
        """If it is the leader that is assumed dead, the next in order takes over (section 6.5)."""
        self._broker.mate_side.assume_dead(report.broker)


class ClientSide(Side):
    """Listens to clients. One that cannot be reached asks by itself when it is back, so its failure is ignored."""

    @on(Sub, Uns, Event)
    def hear_client(self, message: Sub | Uns | Event, client: NodeId, _: SimTime) -> None:
        """Replies, and takes the message in or keeps it until the leader has (section 6)."""
        self.send(client, Accepted(*message.key))
        self._replica.hear_client(client, message)

    @on(Accepted)
    def accepted(self, accepted: Accepted, client: NodeId, _: SimTime) -> None:
        """An event has arrived, and is not sent again (section 6.4)."""
        self._replica.state.outgoing[client].accept(accepted.key)

    @on(AreYouAlive)
    def are_you_alive(self, question: AreYouAlive, client: NodeId, now: SimTime) -> None:
        """Answers (section 6.4). A client that asks may have missed something."""
        super().are_you_alive(question, client, now)
        if self._replica.is_leader:
            self._outbox.send_again(client, now)


class NeighbourSide(Side):
    """Listens to the brokers of neighbouring sites."""

    # Subscriptions and events

    @on(Sub, Uns, Event, Update)
    def hear_neighbour(self, message: Numbered, sender: NodeId, _: SimTime) -> None:
        """A leader takes the message in (section 4), and replies when that is safe."""
        peer = self._neighbours.peer_of[sender]
        if not self._replica.is_leader:
            self._say_who_leads(sender)
        elif self._replica.state.is_new(peer, message):
            self._replica.take_step(peer, message)
        else:
            self._replica.reply_again(peer, message)

    @on(Accepted)
    def accepted(self, accepted: Accepted, sender: NodeId, now: SimTime) -> None:
        """What has arrived is not sent again, and the rest is waited for (section 6.4)."""
        self._patience.answered(sender, accepted.key, now)
        peer = self._neighbours.peer_of[sender]
        outgoing, watch = self._replica.state.outgoing[peer], self._neighbours.watch(peer)
        outgoing.accept(accepted.key)
        watch.satisfied()
        if outgoing.unaccepted:
            watch.expect()

    # Who is alive, and who leads

    @on(IAmAlive)
    def i_am_alive(self, answer: IAmAlive, sender: NodeId, now: SimTime) -> None:
        """Says again what the neighbour's leader has not accepted (section 6.4)."""
        self._patience.answered(sender, AreYouAlive(), now)
        peer = self._neighbours.peer_of[sender]
        self._outbox.learn(peer, answer.term, now, tell_mates=True)
        if self._is_watched(sender):
            self._neighbours.watch(peer).alive()
            self._patience.forget(sender)
            self._outbox.send_again(peer, now)

    @on(AssumedDead)
    def assumed_dead(self, report: AssumedDead, sender: NodeId, _: SimTime) -> None:
        """A neighbour that is wrong about who leads is told; one that is right, when there is another (section 6.5)."""
        mates = self._broker.mate_side
        if mates.is_other_leader(report.broker):
            mates.assume_dead(report.broker, sender)
        else:
            mates.remember(sender)
            self._say_who_leads(sender)

    @on(IAmLeader)
    def i_am_leader(self, news: IAmLeader, sender: NodeId, now: SimTime) -> None:
        """Turns to the new leader (section 6.9), which is told who leads here if it has chosen the wrong broker."""
        self._outbox.learn(self._neighbours.peer_of[sender], news.term, now, tell_mates=True)
        if not self._replica.is_leader:
            self._say_who_leads(sender)

    @on(Leader)
    def leader(self, news: Leader, sender: NodeId, now: SimTime) -> None:
        """Turns to the leader (section 6.9), because this broker has talked to one that does not lead."""
        self._outbox.learn(self._neighbours.peer_of[sender], news.term, now, tell_mates=True)

    # Failures

    @on(SendFailed)
    def failed(self, event: SendFailed, _: SimTime) -> None:
        """Reports a broker without connection (section 6.2), if it is the one to send to."""
        self._patience.forget(event.destination)
        if self._is_watched(event.destination):
            peer = self._neighbours.peer_of[event.destination]
            self._neighbours.watch(peer).failed()
            self._neighbours.report(peer)

    @on_timer(WatchTimer)
    def time_up(self, key: WatchTimer, now: SimTime) -> None:
        """Asks or reports a leader whose reply has not come in time (section 6.4)."""
        peer = self._neighbours.peer_of[key.node]
        if self._neighbours.watch(peer).time_up(key, now):
            self._neighbours.report(peer)

    # Helpers

    def _is_watched(self, broker: NodeId) -> bool:
        """Whether this broker leads, and sends to this one."""
        return self._replica.is_leader and broker == self._neighbours.leader(self._neighbours.peer_of[broker])

    def _say_who_leads(self, sender: NodeId) -> None:
        if self._replica.is_settled:
            self._replica.name_leader(sender)


class MateSide(Side):
    """Listens to the other brokers of the site, and watches the leader."""

    def __init__(self, broker: Broker, parameters: ReplicatedParameters) -> None:
        super().__init__(broker)
        self._watched = self._replica.leader
        self._watches = {node: Watch(node, self._patience, self, _TIMES) for node in broker.brokers}
        """Over the leader, as long as there is something for it to do."""
        self._timed = self._replica.point
        """The last step that was timed."""
        self.tells_empty = parameters.tell_empty
        self.without_copy: set[NodeId] = set()
        """Who last was heard to have no copy, or was not to be reached: it makes no sense to wait for their lead."""
        self._asking: AnswerTimer | None = None
        """Runs while this broker waits for a copy, or for an answer to TAKE_OVER."""
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
        if self.tells_empty:
            # Clients have forgotten what two brokers have, and a copy does not hold what the leader has not taken in.
            self._replica.hand_pending_over(sender)
        if self._replica.is_leader:
            self._give_copy(sender)
        elif sender == self._replica.leader:
            self._take_over_if_next()
        elif self._replica.is_taking_over and self.tells_empty:
            self._replica.ask_to_yield(sender)

    @on(Empty)
    def empty(self, news: Empty, sender: NodeId, now: SimTime) -> None:
        """A broker is without a copy, and no leader has given it one, so perhaps none is left."""
        replica = self._replica
        if replica.is_joining:
            return
        self.without_copy.add(sender)
        if news.term > replica.term:  # it has promised to wait for a leader that came no further
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
    def are_you_alive(self, question: AreYouAlive, sender: NodeId, now: SimTime) -> None:
        """Answers (section 6.4), by EMPTY for as long as there is no copy that others could wait for."""
        if self._replica.is_joining:
            self.send(sender, Empty(self._replica.term))
        else:
            super().are_you_alive(question, sender, now)

    @on(AssumedDead)
    def assumed_dead(self, report: AssumedDead, sender: NodeId, now: SimTime) -> None:
        """Takes over if it is this broker's turn (section 6.5) and it has a copy."""
        if self._replica.is_joining:
            self.send(sender, Empty(self._replica.term))
        else:
            super().assumed_dead(report, sender, now)

    @on(IAmAlive)
    def i_am_alive(self, _answer: IAmAlive, sender: NodeId, now: SimTime) -> None:
        """What is waited for has not come: perhaps a neighbour crashed with its reply to this broker under way."""
        self._patience.answered(sender, AreYouAlive(), now)
        if sender == self._watched:
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
        tell = IAmLeader(self._replica.term, point)
        self._replica.lead()
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
        if not self.tells_empty:
            return
        if self._replica.leader in self.without_copy - {event.destination}:
            self._suspect(self._replica.leader)
        if self._replica.is_last_copy:
            self._lead_from(self._replica.point)

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

    def watch_answers(self) -> None:
        """Waits for a copy, or for answers to TAKE_OVER: who is asked may crash, and come back without the question."""
        waits = self._replica.is_joining or self._replica.is_taking_over
        if not self.tells_empty or waits == (self._asking is not None):
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
        elif self.tells_empty and following in self.without_copy:
            replica.take_over()
        else:
            self.send(following, AssumedDead(broker))

    def _take_over_if_next(self, reporter: NodeId | None = None) -> None:
        if self._replica.is_joining or self._replica.leader_of(self._replica.term + 1) != self._replica.node:
            return
        if reporter is not None:
            self._reporters[reporter] = None
        self._replica.take_over()
