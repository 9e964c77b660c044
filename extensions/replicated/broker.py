"""A broker, one of three of its site, with a process for each side.

*Clients* (sections 4 to 6.5) talk to all three brokers, *neighbouring sites* (sections 4 to 6.9) by their leaders, *the
other two* (sections 6.4 to 6.8) to `succession`. All share the replica. Without a copy a broker keeps messages: it
could take old ones for new. `_settle` follows each event, which can release a step or end this leadership.
"""

from __future__ import annotations

from roambus.extensions.replicated.messages import (
    Accepted,
    AreYouAlive,
    AssumedDead,
    CatchUp,
    Empty,
    Event,
    IAmAlive,
    IAmLeader,
    Leader,
    Numbered,
    Piece,
    ReplicatedParameters,
    State,
    Sub,
    TakeOver,
    Uns,
    Update,
    acceptance,
)
from roambus.extensions.replicated.neighbours import Neighbours, Patience, WatchTimer
from roambus.extensions.replicated.replica import Replica
from roambus.extensions.replicated.site_state import place_of
from roambus.extensions.replicated.sites import Sites
from roambus.extensions.replicated.succession import AnswerTimer, Succession
from roambus.python_protocol.agent import Process, on, on_timer
from roambus.python_protocol.events import Publish, Received, Recovered, SendFailed, Subscribe, Unsubscribe
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Broker(Process):
    """Hands events to their side."""

    def __init__(self, node: NodeId, sites: Sites, parameters: ReplicatedParameters, of: Process | None = None) -> None:
        super().__init__(of)
        site = sites.of_node[node]
        self.node = node
        self.brokers = sites[site].brokers
        self.replica = Replica(node, self.brokers, place_of(site, sites), parameters, self)
        self.neighbours = Neighbours(site, sites, Patience(parameters), self.replica)
        self.succession = Succession(self.replica, self.neighbours)
        self.neighbour_side = NeighbourSide(self.replica, self.neighbours, self.succession)
        self.client_side = ClientSide(self.replica, self.neighbours, self.succession)
        self._kept: list[Received] = []
        """Messages that wait for a copy of the state."""

    # Handlers

    @on(Received)
    def receive(self, event: Received, now: SimTime) -> None:
        """Handle a message, or keep it for a copy."""
        if self.replica.is_joining and not self._is_for_joining(event):
            self._kept.append(event)
            return
        # A broker without a copy says nothing but these two.
        if not isinstance(event.message, Empty | CatchUp):
            self.succession.without_copy.discard(event.sender)
        self._side(event.sender).dispatch(event, now)
        # The copy has come with this message. What was kept is looked at as if it had come after it, in its order.
        if self._kept and not self.replica.is_joining:
            kept, self._kept = self._kept, []
            for message in kept:
                self._side(message.sender).dispatch(message, now)
        self._settle(now)

    @on(SendFailed)
    def failed(self, event: SendFailed, now: SimTime) -> None:
        """Handle a failed connection (section 6.2); only this site's affects the leader."""
        self._side(event.destination).dispatch(event, now)
        if event.destination in self.brokers:
            self._settle(now)

    @on_timer(WatchTimer)
    def time_up(self, key: WatchTimer, now: SimTime) -> None:
        """Handle a time-out (section 6.4)."""
        self._side(key.node)._handle_timer(key, now)
        if key.node in self.brokers:
            self._settle(now)

    @on_timer(AnswerTimer)
    def ask_again(self, key: AnswerTimer, now: SimTime) -> None:
        """Repeat the request for a copy, or TAKE_OVER."""
        self.succession._handle_timer(key, now)
        self._settle(now)

    @on(Recovered)
    def join(self, _event: Recovered, _now: SimTime) -> None:
        """Ask for a copy of the state after a crash."""
        self.replica.join()
        self.succession.watch_answers()

    @on(Subscribe, Unsubscribe, Publish)
    def refuse(self, _event: Subscribe | Unsubscribe | Publish, _now: SimTime) -> None:
        """Raise LookupError: clients are nodes of their own (section 2)."""
        raise LookupError(f"node {self.node} is a broker, and has no client")

    # Helpers

    def _is_for_joining(self, event: Received) -> bool:
        """Whether a broker without a copy handles it."""
        asks = isinstance(event.message, TakeOver | AssumedDead | AreYouAlive | Empty)
        return isinstance(event.message, IAmLeader | Piece | State | CatchUp) or (
            asks and self.replica.tells_empty and event.sender in self.brokers
        )

    def _side(self, other: NodeId) -> Process:
        if other in self.brokers:
            return self.succession
        return self.neighbour_side if other in self.neighbours.peer_of else self.client_side

    def _settle(self, now: SimTime) -> None:
        """Send released messages, and watch nodes that must act."""
        # What is released goes out first: it can be what the watches that are set below are to wait for.
        for released in self.replica.releases.take_ready():
            self.neighbours.release(released, now)
        if not self.replica.is_leader:
            self.neighbours.expect_nothing()
        self.succession.watch_leader()
        self.succession.watch_answers()
        self.succession.time_followers(now)


class ClientSide(Process):
    """Listens to clients, which ask on return, so failures are ignored."""

    def __init__(self, replica: Replica, neighbours: Neighbours, succession: Succession) -> None:
        super().__init__(of=replica)
        self._replica, self._neighbours, self._succession = replica, neighbours, succession

    @on(Sub, Uns, Event)
    def hear_client(self, message: Sub | Uns | Event, client: NodeId, _: SimTime) -> None:
        """Reply, and process the message or keep it for the leader (section 6).

        All three have it, so the reply is immediate.
        """
        self.send(client, acceptance(message))
        self._replica.hear_client(client, message)

    @on(Update)
    def forgotten(self, update: Update, _client: NodeId, _now: SimTime) -> None:
        """Record that a client lacks a MISSING message."""
        self._replica.ask_for_forgotten(update.key)

    @on(Accepted)
    def accepted(self, accepted: Accepted, client: NodeId, _: SimTime) -> None:
        """Stop sending an event that arrived (section 6.4)."""
        self._replica.state.outgoing[client].accept(accepted)

    @on(AreYouAlive)
    def are_you_alive(self, _question: AreYouAlive, client: NodeId, now: SimTime) -> None:
        """Answer (section 6.4), and repeat perhaps missed messages."""
        self.send(client, IAmAlive(self._replica.point.term))
        if self._replica.is_leader:
            self._neighbours.send_again(client, now)

    @on(AssumedDead)
    def assumed_dead(self, report: AssumedDead, _client: NodeId, _now: SimTime) -> None:
        """Have the next broker replace a leader (section 6.5)."""
        self._succession.assume_dead(report.broker)


class NeighbourSide(Process):
    """Listens to neighbouring brokers; watches their leaders."""

    def __init__(self, replica: Replica, neighbours: Neighbours, succession: Succession) -> None:
        super().__init__(of=replica)
        self._replica, self._neighbours, self._succession = replica, neighbours, succession
        self._patience = neighbours.patience

    # Subscriptions and events

    @on(Sub, Uns, Event, Update)
    def hear_neighbour(self, message: Numbered, sender: NodeId, _: SimTime) -> None:
        """Process a message as leader (section 4); reply when that is safe."""
        peer = self._neighbours.peer_of[sender]
        if not self._replica.is_leader:
            self._say_who_leads(sender)
        elif self._replica.state.is_new(peer, message):
            self._replica.take_step(peer, message)
        else:
            self._replica.reply_again(peer, message)

    @on(Accepted)
    def accepted(self, accepted: Accepted, sender: NodeId, now: SimTime) -> None:
        """Stop sending a message; await the rest (section 6.4)."""
        self._patience.answered(sender, accepted.key, now)
        # A neighbour answers all three brokers: the two that do not lead forget what they would otherwise send again.
        peer = self._neighbours.peer_of[sender]
        outgoing, watch = self._replica.state.outgoing[peer], self._neighbours.watch(peer)
        outgoing.accept(accepted)
        watch.satisfied()
        if outgoing.unaccepted:
            watch.expect()

    # Who is alive, and who leads

    @on(AreYouAlive)
    def are_you_alive(self, _question: AreYouAlive, sender: NodeId, _now: SimTime) -> None:
        """Answer (section 6.4), leader or not."""
        self.send(sender, IAmAlive(self._replica.point.term))

    @on(IAmAlive)
    def i_am_alive(self, answer: IAmAlive, sender: NodeId, now: SimTime) -> None:
        """Repeat the leader's unaccepted messages (section 6.4)."""
        self._patience.answered(sender, AreYouAlive(), now)
        peer = self._neighbours.peer_of[sender]
        self._neighbours.learn(peer, answer.term, now, tell_mates=True)
        # Any broker answers the question; only of the one that is sent to it says that it lacks something.
        if self._is_watched(sender):
            self._neighbours.watch(peer).alive()
            self._patience.forget(sender)
            self._neighbours.send_again(peer, now)

    @on(AssumedDead)
    def assumed_dead(self, report: AssumedDead, sender: NodeId, _: SimTime) -> None:
        """Send a neighbour the true leader, or replace a dead one (section 6.5)."""
        if not self._succession.is_other_leader(report.broker):
            self._say_who_leads(sender)
        self._succession.assume_dead(report.broker, sender)

    @on(IAmLeader, Leader)
    def learn_leader(self, news: IAmLeader | Leader, sender: NodeId, now: SimTime) -> None:
        """Turn to a new leader (section 6.9), and correct its choice."""
        self._neighbours.learn(self._neighbours.peer_of[sender], news.term, now, tell_mates=True)
        if isinstance(news, IAmLeader) and not self._replica.is_leader:
            self._say_who_leads(sender)

    # Failures

    @on(SendFailed)
    def failed(self, event: SendFailed, _: SimTime) -> None:
        """Report an unconnected broker (section 6.2), if this one sends to it."""
        self._patience.forget(event.destination)
        if self._is_watched(event.destination):
            peer = self._neighbours.peer_of[event.destination]
            self._neighbours.watch(peer).failed()
            self._neighbours.report(peer)

    @on_timer(WatchTimer)
    def time_up(self, key: WatchTimer, now: SimTime) -> None:
        """Ask or report a late leader (section 6.4)."""
        peer = self._neighbours.peer_of[key.node]
        if self._neighbours.watch(peer).time_up(key, now):
            self._neighbours.report(peer)

    # Helpers

    def _is_watched(self, broker: NodeId) -> bool:
        """Whether this broker leads, and sends to that one."""
        return self._replica.is_leader and broker == self._neighbours.leader(self._neighbours.peer_of[broker])

    def _say_who_leads(self, sender: NodeId) -> None:
        if self._replica.is_settled:
            self._replica.name_leader(sender)
