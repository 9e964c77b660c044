"""One broker's copy of its site's state: the steps that keep the three copies the same, and who takes over (section 6).

The leader processes a message, which is a step, and informs the others, which take the same step. What the step makes
the site send is held until another broker is informed, too: so whatever has left the site survives any one of its
brokers. (In the paper the leader sends first; docs/deviations.md tells why that is not enough.) Brokers that are no
leader keep what clients say until they are informed that the leader has processed it.

Leaders have terms: the broker at place t mod 3 leads in term t. A broker takes part in a term once its point is of
that term, and takes no steps of earlier ones. Who takes over asks the others to yield (sections 6.5 to 6.7); one answer
is enough, for every step that was released is known to two of three, and the newer of two copies has them all. As who
has yielded takes no steps of earlier terms, an old leader that only was slow can release nothing.

*A broker without a copy* (`tell_empty`) cannot yield, but it can say that it has nothing. The sender of TAKE_OVER leads
by that if the third broker has no copy either: no other copy can be newer where there is none. Dead is a broker to
which there is no connection, because a crash leaves nothing; one that only does not answer may be frozen, and have the
newest copy, so it is waited for. The answer binds as a yield does: who has said EMPTY in a term takes no copy of an
earlier one. What two brokers knew that lost their copies together, a third that did not know it cannot bring back.

*What nobody has any more* (`close_gaps`). A client forgets what two brokers have accepted while the third is assumed
dead. If both crash before it is processed, the leader has what the client has said since, and not this. It asks the
client first, and by MISSING the two others once it has said UPDATE: from then on nobody can get it from the client.
When no broker has it, an UPDATE is processed in its place. A frozen broker is waited for.

*Points* are compared as pairs, the term first: of two copies that have taken equally many steps the one of the later
term is newer, because its last steps are those that a leader went on from. A copy that was taken over from another term
gets the point of the new one only with `lead` or `follow`; until then it does not count as taking part.

A copy goes in pieces, for a message has at most 65535 bytes, and a copy as many as its site has to keep. The pieces go
before the message that gives the copy, which then has no bytes of a copy itself. A message overtakes no other, so they
all are there when it comes. What was begun and not ended, because its sender has crashed, is forgotten when the next
copy begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from roambus.python_protocol.agent import Process, on
from roambus.python_protocol.papers.replicated.messages import (
    CatchUp,
    Empty,
    HandOver,
    IAmLeader,
    Inform,
    Informed,
    Key,
    Leader,
    Missing,
    Numbered,
    Piece,
    Point,
    ReplicatedParameters,
    State,
    TakeOver,
    Term,
    Update,
    Yield,
)
from roambus.python_protocol.papers.replicated.site_state import (
    Output,
    Peer,
    Place,
    SiteState,
    decode_state,
    encode_state,
)
from roambus.python_protocol.vocabulary import NodeId, SimTime

_NEVER = -1


class Replica(Process):
    """A copy of the state whose owner can become the leader, or follow another; of no use while it `is_joining`."""

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
        """What clients have said, and the leader has not processed yet, for all that this broker knows."""
        self.releases = Releases()
        self.is_joining = False
        self.is_taking_over = False
        self.mates = tuple(broker for broker in brokers if broker != node)
        """The other brokers of the site."""
        self._brokers = brokers
        self._place = place
        self._parameters = parameters
        self.tells_empty = parameters.tell_empty
        self._forgotten: dict[Key, set[NodeId]] = {}
        """What clients have not kept, and who has not said yet that it does not have it either."""
        self._pieces = Pieces()
        self._followers = set(self.mates)
        """Who is informed: all but those that have crashed, until they have caught up."""
        self._without: dict[NodeId, bool] = {}
        """Who has no copy in the term that this broker wants to lead in: True if it said so, False if it is dead."""

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
        """Processes a message, as leader, and informs the others (section 6)."""
        outputs = self.state.take_in(peer, message)
        self.point = Point(self.term, self.point.step + 1)
        self.pending.pop((peer, message.key), None)
        self.releases.hold(Released(self.point.step, peer, message, outputs))
        inform = Inform(self.point, peer, message)
        for mate in self.mates:
            if mate in self._followers:
                self.send(mate, inform)
        self._ask_for_missing(peer)

    def reply_again(self, peer: Peer, message: Numbered) -> None:
        """Replies to a message that was processed before, as leader, once all steps up to now are released.

        The reply must not be sent at once: the step that processed the message may be one of those that are still held,
        and a neighbour that has the reply never sends the message again.
        """
        self.releases.hold(Released(self.point.step, peer, message, ()))

    @on(Inform)
    def inform(self, inform: Inform, sender: NodeId, _: SimTime) -> None:
        """Takes the leader's step. An old leader is told that there is another."""
        # A step is skipped if this broker does not take part in the term: it would be a step from another state.
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
    def hand_over(self, message: HandOver, sender: NodeId, _: SimTime) -> None:
        """Hears what a client has said, and another broker has kept (section 6.6), or that it has not."""
        if isinstance(message.message, Update):
            self._is_without(sender, message.message.key)
        else:
            self.hear_client(message.peer, message.message)

    def lost(self, mate: NodeId) -> None:
        """There is no connection to a broker of this site: it has crashed, and will ask for a copy."""
        self._followers.discard(mate)
        if self.is_taking_over:
            self._without.setdefault(mate, False)
        for key in list(self._forgotten):
            self._is_without(mate, key)

    # Gaps

    def ask_for_forgotten(self, key: Key) -> None:
        """A client has not kept an event; this leader processes it if another broker has."""
        if self.is_leader:
            self._forgotten[key] = set(self.mates)
            for mate in self.mates:
                self.send(mate, Missing(*key))

    @on(Missing)
    def missing(self, asked: Missing, sender: NodeId, _: SimTime) -> None:
        """Hands an event over to the leader, which lacks it, or UPDATE in its place."""
        publisher = asked.stream  # subscriptions, whose stream is no node, are kept by clients
        self.send(sender, HandOver(publisher, self.pending.get((publisher, asked.key), Update(*asked.key))))

    def _ask_for_missing(self, peer: Peer) -> None:
        if self._parameters.close_gaps and peer in self._place.clients:
            for key in self.state.incoming[peer].missing():
                self.send(peer, Missing(*key))

    def _is_without(self, mate: NodeId, key: Key) -> None:
        """Another broker does not have what a client has not kept; when none has it, it is passed over."""
        others = self._forgotten.get(key, set())
        if others == {mate}:
            del self._forgotten[key]
            self.hear_client(key.stream, Update(*key))
        others.discard(mate)

    # Senders

    def sendable(self, peer: Peer) -> list[Output]:
        """What one neighbour has not accepted, except for what is not released yet."""
        held = self.releases.held()
        waiting = (Output(peer, message) for message in self.state.outgoing[peer].unaccepted.values())
        return [output for output in waiting if output not in held]

    def hand_pending_over(self, to: NodeId) -> None:
        """Tells the leader, or who has lost what it kept, what clients have said and that one may not know."""
        for (peer, _), message in self.pending.items():
            self.send(to, HandOver(peer, message))

    def name_leader(self, to: NodeId) -> None:
        """Tells a node who leads this site."""
        self.send(to, Leader(self.leader, self.term))

    # Taking over

    def take_over(self) -> None:
        """Asks the others to yield to this broker, in its next term (section 6.5)."""
        self.term += 1
        while self.leader != self.node:
            self.term += 1
        self.is_taking_over = True
        self._without = {}
        for mate in self.mates:
            self.ask_to_yield(mate)

    def ask_to_yield(self, mate: NodeId) -> None:
        """Asks for an answer in this term; to ask twice does no harm, for who has yielded takes no steps."""
        self.send(mate, TakeOver(self.term, self.point))

    def hear_empty(self, mate: NodeId) -> None:
        """The answer of a broker that has no copy, in the term that this one wants to lead in."""
        self._without[mate] = True

    @property
    def is_last_copy(self) -> bool:
        """Whether no other broker has a copy, and one of them runs, so that a step can be released."""
        return self.is_taking_over and len(self._without) == len(self.mates) and any(self._without.values())

    @on(TakeOver)
    def yield_to(self, asked: TakeOver, sender: NodeId, _: SimTime) -> None:
        """Another wants to lead. The newer of the two copies is what it goes on from."""
        if self.is_joining:
            self.term = max(self.term, asked.term)
            self.send(sender, Empty(self.term))
        elif asked.term > self.term or (self.tells_empty and asked.term == self.term != self.point.term):
            self.step_down(asked.term)
            snapshot = self._send_pieces(sender) if self.point > asked.point else b""
            self.send(sender, Yield(self.term, self.point, snapshot))
        elif asked.term < self.term and self.is_settled:
            self.name_leader(sender)

    def take_newer(self, answer: Yield, sender: NodeId) -> None:
        """The newer of two copies has every step that was released."""
        if newer := answer.snapshot or self._pieces.take(sender, answer.point):
            self._install(answer.point, newer)

    def lead(self) -> None:
        """The new leader tells the other brokers, the one assumed dead too (section 6.6)."""
        # This broker cannot know what the old leader has sent. So everything that is not accepted is sent again, as if
        # by one first step, once another broker has followed.
        tell = IAmLeader(self.term, self.point)
        self.is_taking_over = False
        self.point = Point(self.term, self.point.step)
        self._followers = set(self.mates)
        self.releases.begin_term(Released(self.point.step, None, None, self.state.unaccepted()))
        for mate in self.mates:
            self.send(mate, tell)
        for (peer, _), message in list(self.pending.items()):
            self.take_step(peer, message)  # what the old leader failed in
        for client in self._place.clients:
            self._ask_for_missing(client)

    # Following

    @on(IAmLeader)
    def follow(self, news: IAmLeader, sender: NodeId, _: SimTime) -> None:
        """Follows a new leader, with its own copy if that has come as far, else with the leader's (section 6.7)."""
        if news.term < self.term or news.term == self.point.term:  # an old leader's, or one that is followed already
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
        self._forgotten.clear()
        self.releases.end_term()

    # Copies

    def join(self) -> None:
        """Asks for a copy, after a crash that has left nothing."""
        self.is_joining = True
        for mate in self.mates:
            self.send(mate, CatchUp())

    def ask_again(self) -> None:
        """What was asked, of a broker that perhaps has crashed before it came, or is being waited for itself."""
        for mate in self.mates:
            if self.is_joining:
                self.send(mate, Empty(self.term))
            else:
                self.ask_to_yield(mate)

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
        snapshot = copy.snapshot or self._pieces.take(sender, copy.point)  # the pieces go, whether it is of use or not
        if copy.point.term < self.term:
            return
        if not snapshot:
            self.send(sender, CatchUp())  # a piece was lost, as over a radio, where brokers are not made to be
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

    def _follow_from(self, point: Point, leader: NodeId) -> None:
        self.point = point
        self.send(leader, Informed(point))
        self.hand_pending_over(leader)

    def _install(self, point: Point, snapshot: bytes) -> None:
        self.point = point
        self.state = decode_state(snapshot, SiteState(self._place, self._parameters))
        # What clients have said, and the new copy has not: the leader may not have heard of it.
        self.pending = {
            (peer, key): message for (peer, key), message in self.pending.items() if self.state.is_new(peer, message)
        }


class Released(NamedTuple):
    """What a step lets the site send: the reply to `message` of `peer`, if it came from one, and `outputs`."""

    step: int
    peer: Peer | None
    message: Numbered | None
    outputs: tuple[Output, ...]


class Releases:
    """Holds back what one broker, as the leader of its site, is to send."""

    def __init__(self) -> None:
        self._held: list[Released] = []
        """In the order of the steps, so that what is ready stands in front."""
        self._informed = 0
        """The last step of this term of which another broker is informed."""

    def hold(self, one: Released) -> None:
        """A step was taken; it waits for its turn, even if others are informed of it already."""
        self._held.append(one)

    def informed(self, step: int) -> None:
        """Another broker has reached this step; one that is behind may say so later."""
        self._informed = max(self._informed, step)

    def begin_term(self, first: Released) -> None:
        """A term of this broker begins: nobody is informed of anything yet."""
        self._informed, self._held = _NEVER, [first]

    def end_term(self) -> None:
        """There is another leader, which does what this one has not done."""
        self._held.clear()

    def held(self) -> set[Output]:
        """What is not to be sent yet."""
        return {output for one in self._held if one.step > self._informed for output in one.outputs}

    def take_ready(self) -> list[Released]:
        """What has become safe since this was last called, in the order of the steps."""
        ready = [one for one in self._held if one.step <= self._informed]
        del self._held[: len(ready)]
        return ready


class Pieces:
    """The pieces that have come, of one copy from each sender."""

    def __init__(self) -> None:
        self._pieces: dict[NodeId, list[Piece]] = {}

    def add(self, sender: NodeId, piece: Piece) -> None:
        """Another piece; the first of a copy ends what was there before."""
        if piece.number == 0:
            self._pieces[sender] = []
        self._pieces.setdefault(sender, []).append(piece)

    def take(self, sender: NodeId, point: Point) -> bytes:
        """The copy of this point that a sender has given in pieces; no bytes if it has not."""
        pieces = self._pieces.pop(sender, [])
        numbers = [(piece.point, piece.number) for piece in pieces]
        count = pieces[0].count if pieces else 0
        is_whole = numbers == [(point, number) for number in range(count)]
        return b"".join(piece.data for piece in pieces) if is_whole else b""


def cut(point: Point, snapshot: bytes, size: int) -> Iterator[Piece]:
    """The pieces of a copy, none of which is longer than `size`; none if the copy is not longer."""
    if len(snapshot) <= size:
        return
    count = -(-len(snapshot) // size)
    for number in range(count):
        yield Piece(point, number, count, snapshot[number * size : (number + 1) * size])
