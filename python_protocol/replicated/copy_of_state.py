"""One broker's copy of its site's state, and the steps that keep the three copies the same.

The paper on replicated brokers has this in section 6. The leader takes a message in, which is a step, and informs the
others, which take the same step. What the step makes the site send is released once another broker is informed, too
(`releases`). Brokers that are no leader keep what clients say until they are informed that the leader has taken it
in.

Leaders have terms: the broker at place t mod 3 leads in term t. A broker takes part in a term once its point is of
that term, and takes no steps of earlier ones.
"""

from __future__ import annotations

from roambus.python_protocol.process import Process, on
from roambus.python_protocol.replicated.failure_messages import Leader, Point, Term
from roambus.python_protocol.replicated.messages import Key, Numbered
from roambus.python_protocol.replicated.parameters import ReplicatedParameters
from roambus.python_protocol.replicated.releases import Released, Releases
from roambus.python_protocol.replicated.replica_messages import HandOver, Inform, Informed
from roambus.python_protocol.replicated.site_state import Output, Peer, Place, SiteState
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class CopyOfState(Process):
    """The leader has one, each follower, and, of no use, a broker that `is_joining` after a crash."""

    def __init__(
        self,
        node: NodeId,
        brokers: tuple[NodeId, ...],
        place: Place,
        parameters: ReplicatedParameters,
        of: Process | None = None,
    ) -> None:
        super().__init__(of)
        self.node = node
        self.term: Term = 0
        """The highest that this broker has heard of, or wants to lead in."""
        self.point = Point(0, 0)
        self.state = SiteState(place, parameters)
        self.pending: dict[tuple[Peer, Key], Numbered] = {}
        """What clients have said, and the leader has not taken in yet as far as this broker knows."""
        self.releases = Releases()
        self.is_joining = False
        self.mates = tuple(broker for broker in brokers if broker != node)
        """The other brokers of the site."""
        self._brokers = brokers
        self._followers = set(self.mates)
        """Who is informed: all but those that have crashed, until they have caught up."""

    @property
    def leader(self) -> NodeId:
        """The broker that leads in the present term."""
        return self.leader_of(self.term)

    @property
    def is_settled(self) -> bool:
        """Whether this broker takes part in the present term."""
        return self.point.term == self.term and not self.is_joining

    @property
    def is_leader(self) -> bool:
        """Whether this broker leads its site."""
        return self.leader == self.node and self.is_settled

    @property
    def has_work(self) -> bool:
        """Whether something is to be done by the leader, so that its failure would matter."""
        return bool(self.pending) or any(one.unaccepted for one in self.state.outgoing.values())

    def leader_of(self, term: Term) -> NodeId:
        """The broker whose turn it is."""
        return self._brokers[term % len(self._brokers)]

    # Steps

    def hear_client(self, client: Peer, message: Numbered) -> None:
        """All three brokers have what a client says, and the leader takes it in (section 6)."""
        if not self.state.is_new(client, message):
            return
        if self.is_leader:
            self.take_step(client, message)
        else:
            self.pending[client, message.key] = message

    def take_step(self, peer: Peer, message: Numbered) -> None:
        """Takes a message in, as leader, and informs the others (section 6)."""
        outputs = self.state.take_in(peer, message)
        self.point = Point(self.term, self.point.step + 1)
        self.pending.pop((peer, message.key), None)
        self.releases.hold(Released(self.point.step, peer, message, outputs))
        inform = Inform(self.point, peer, message)
        for mate in self.mates:
            if mate in self._followers:
                self.send(mate, inform)

    def reply_again(self, peer: Peer, message: Numbered) -> None:
        """Replies to a message that was taken in before, as leader, once all steps up to now are released."""
        self.releases.hold(Released(self.point.step, peer, message, ()))

    @on(Inform)
    def inform(self, inform: Inform, sender: NodeId, _: SimTime) -> None:
        """Takes the leader's step. An old leader is told that there is another."""
        if inform.point.term < self.term:
            self.name_leader(sender)
        elif self.is_settled and inform.point.step > self.point.step:
            # Otherwise a whole copy will bring the step, or has brought it.
            self.state.take_in(inform.peer, inform.message)
            self.pending.pop((inform.peer, inform.message.key), None)
            self.point = Point(self.term, inform.point.step)
            self.send(sender, Informed(self.point))

    @on(Informed)
    def informed(self, informed: Informed, _sender: NodeId, _now: SimTime) -> None:
        """Another broker has come that far, which releases what a leader holds back."""
        if self.is_leader and informed.point.term == self.term:
            self.releases.informed(informed.point.step)

    @on(HandOver)
    def hand_over(self, message: HandOver, _sender: NodeId, _now: SimTime) -> None:
        """Hears what a client has said, and another broker has kept (section 6.6)."""
        self.hear_client(message.peer, message.message)

    def lost(self, mate: NodeId) -> None:
        """There is no connection to a broker of this site: it has crashed, and will ask for a copy."""
        self._followers.discard(mate)

    # Senders

    def sendable(self, peer: Peer) -> list[Output]:
        """What one neighbour has not accepted, except for what is not released yet."""
        held = self.releases.held()
        waiting = (Output(peer, message) for message in self.state.outgoing[peer].unaccepted.values())
        return [output for output in waiting if output not in held]

    def hand_pending_over(self) -> None:
        """Tells the leader what clients have said, and it may not know."""
        for (peer, _), message in self.pending.items():
            self.send(self.leader, HandOver(peer, message))

    def name_leader(self, to: NodeId) -> None:
        """Tells a node who leads this site."""
        self.send(to, Leader(self.leader, self.term))
