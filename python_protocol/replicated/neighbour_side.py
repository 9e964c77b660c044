"""What a broker does with what the brokers of neighbouring sites say, and when they do not answer.

The paper on replicated brokers has this in sections 4 to 6.9. Sites talk by their leaders. A neighbour that has not
heard of a new leader talks to the wrong broker, and is told who leads; so are all neighbours by a new leader itself.
"""

from __future__ import annotations

from roambus.python_protocol.events import SendFailed
from roambus.python_protocol.process import Process, on, on_timer
from roambus.python_protocol.replicated.failure_messages import AreYouAlive, AssumedDead, IAmAlive, IAmLeader, Leader
from roambus.python_protocol.replicated.mate_side import MateSide
from roambus.python_protocol.replicated.messages import Accepted, Event, Numbered, Sub, Uns, Update
from roambus.python_protocol.replicated.neighbours import Neighbours
from roambus.python_protocol.replicated.outbox import Outbox
from roambus.python_protocol.replicated.replica import Replica
from roambus.python_protocol.replicated.watch import WatchTimer
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class NeighbourSide(Process):
    """Listens to the brokers of neighbouring sites."""

    def __init__(
        self, replica: Replica, neighbours: Neighbours, outbox: Outbox, mates: MateSide, of: Process | None = None
    ) -> None:
        super().__init__(of)
        self._replica = replica
        self._neighbours = neighbours
        self._outbox = outbox
        self._mates = mates
        self._patience = neighbours.patience

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

    @on(AreYouAlive)
    def are_you_alive(self, _question: AreYouAlive, sender: NodeId, _now: SimTime) -> None:
        """Answers (section 6.4)."""
        self.send(sender, IAmAlive(self._replica.point.term))

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
        if self._mates.is_other_leader(report.broker):
            self._mates.assume_dead(report.broker, sender)
        else:
            self._mates.remember(sender)
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
