"""A broker among the three of its site: who takes over from a leader, and who follows with which copy.

The paper on replicated brokers has this in sections 6.5 to 6.7. Who takes over asks the others to yield; one answer
is enough, for every step that was released is known to two of three, and the newer of two copies has them all. A
broker that has yielded takes no steps of earlier terms, so an old leader that only was slow can release nothing.
"""

from __future__ import annotations

from roambus.python_protocol.process import Process, on
from roambus.python_protocol.replicated.copy_of_state import CopyOfState
from roambus.python_protocol.replicated.failure_messages import IAmLeader, Point, Term
from roambus.python_protocol.replicated.parameters import ReplicatedParameters
from roambus.python_protocol.replicated.pieces import Pieces, cut
from roambus.python_protocol.replicated.releases import Released
from roambus.python_protocol.replicated.replica_messages import CatchUp, Informed, Piece, State, TakeOver, Yield
from roambus.python_protocol.replicated.site_state import Place, SiteState
from roambus.python_protocol.replicated.snapshot import decode_state, encode_state
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime


class Replica(CopyOfState):
    """A copy of the state whose owner can become the leader, or follow another."""

    def __init__(
        self,
        node: NodeId,
        brokers: tuple[NodeId, ...],
        place: Place,
        parameters: ReplicatedParameters,
        of: Process | None = None,
    ) -> None:
        super().__init__(node, brokers, place, parameters, of)
        self.is_taking_over = False
        self._place = place
        self._parameters = parameters
        self._pieces = Pieces()

    # Taking over

    def take_over(self) -> None:
        """Asks the others to yield to this broker, in its next term (section 6.5)."""
        self.term += 1
        while self.leader != self.node:
            self.term += 1
        self.is_taking_over = True
        for mate in self.mates:
            self.send(mate, TakeOver(self.term, self.point))

    @on(TakeOver)
    def yield_to(self, asked: TakeOver, sender: NodeId, _: SimTime) -> None:
        """Another wants to lead. The newer of the two copies is what it goes on from."""
        if asked.term > self.term:
            self.step_down(asked.term)
            snapshot = self._send_pieces(sender) if self.point > asked.point else b""
            self.send(sender, Yield(self.term, self.point, snapshot))
        elif asked.term < self.term and self.is_settled:
            self.name_leader(sender)

    def lead(self, answer: Yield, sender: NodeId) -> None:
        """The new leader tells the other brokers, the one assumed dead too (section 6.6)."""
        if newer := answer.snapshot or self._pieces.take(sender, answer.point):
            self._install(answer.point, newer)
        tell = IAmLeader(self.term, self.point)
        self._begin_term()
        for mate in self.mates:
            self.send(mate, tell)
        for (peer, _), message in list(self.pending.items()):
            self.take_step(peer, message)  # what the old leader failed in

    # Following

    @on(IAmLeader)
    def follow(self, news: IAmLeader, sender: NodeId, _: SimTime) -> None:
        """Follows a new leader, with its own copy if that has come as far, else with the leader's (section 6.7)."""
        if news.term < self.term or news.term == self.point.term:
            return
        self.step_down(news.term)
        if self.is_joining or self.point != news.point:
            self.send(sender, CatchUp())
        else:
            self._follow_from(Point(self.term, self.point.step), sender)

    def step_down(self, term: Term) -> None:
        """There is a later term, of another leader."""
        self.term = term
        self.is_taking_over = False
        self.releases.end_term()

    # Copies

    def join(self) -> None:
        """Asks for a copy, after a crash that has left nothing."""
        self.is_joining = True
        for mate in self.mates:
            self.send(mate, CatchUp())

    def give_copy(self, mate: NodeId) -> None:
        """Gives a broker the leader's copy; it is informed again from there on."""
        self._followers.add(mate)
        self.send(mate, State(self.point, self._send_pieces(mate)))

    @on(Piece)
    def collect(self, piece: Piece, sender: NodeId, _: SimTime) -> None:
        """A part of a copy has come, of which the last word is still to come."""
        self._pieces.add(sender, piece)

    @on(State)
    def take_copy(self, copy: State, sender: NodeId, _: SimTime) -> None:
        """Puts the leader's copy in place of its own."""
        snapshot = copy.snapshot or self._pieces.take(sender, copy.point)
        if copy.point.term < self.term:
            return
        self.step_down(copy.point.term)
        self.is_joining = False
        self._install(copy.point, snapshot)
        self._follow_from(copy.point, sender)

    # Helpers

    def _send_pieces(self, mate: NodeId) -> bytes:
        """Sends this broker's copy in pieces if it is too long; returns what is left for the message that gives it."""
        snapshot = encode_state(self.state)
        pieces = list(cut(self.point, snapshot, self._parameters.piece_size))
        for piece in pieces:
            self.send(mate, piece)
        return b"" if pieces else snapshot

    def _begin_term(self) -> None:
        self.is_taking_over = False
        self.point = Point(self.term, self.point.step)
        self._followers = set(self.mates)
        self.releases.begin_term(Released(self.point.step, None, None, self.state.unaccepted()))

    def _follow_from(self, point: Point, leader: NodeId) -> None:
        self.point = point
        self.send(leader, Informed(point))
        self.hand_pending_over()

    def _install(self, point: Point, snapshot: bytes) -> None:
        self.point = point
        self.state = decode_state(snapshot, SiteState(self._place, self._parameters))
        self.pending = {
            (peer, key): message for (peer, key), message in self.pending.items() if self.state.is_new(peer, message)
        }
