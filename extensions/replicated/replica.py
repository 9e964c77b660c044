"""One broker's copy of its site's state: equal steps and the succession of leaders (section 6).

The leader processes a message in a step, which the others repeat. Its messages are held until another broker is
informed, so they survive any one broker (the paper sends first). In term t place t mod 3 leads. One answer to TAKE_OVER
is enough: two of three know each released step. EMPTY (`tell_empty`) reports a missing copy; UPDATE passes over
messages that all lost (`close_gaps`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from roambus.extensions.replicated.messages import (
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
from roambus.extensions.replicated.site_state import (
    Output,
    Peer,
    Place,
    SiteState,
    decode_state,
    encode_state,
)
from roambus.python_protocol.agent import Process, on
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

_NEVER = -1


class Replica(Process):
    """A copy of the state, useless while it `is_joining`."""

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
        """The highest term heard of, or asked for."""
        self.point = Point(0, 0)
        self.state = SiteState(place, parameters)
        self.pending: dict[tuple[Peer, Key], Numbered] = {}
        """Clients' messages that may be unprocessed."""
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
        """Lost messages, and their possible holders."""
        self._pieces = Pieces()
        self._followers = set(self.mates)
        """Informed brokers: all but crashed ones that lag."""
        self._without: dict[NodeId, bool] = {}
        """Brokers without a copy in the requested term: True if reported, False if dead."""

    @property
    def leader(self) -> NodeId:
        """The leader of the present term."""
        return self.leader_of(self.term)

    @property
    def is_settled(self) -> bool:
        """Whether this broker is in the present term."""
        return self.point.term == self.term and not self.is_joining

    @property
    def is_leader(self) -> bool:
        """Whether this broker leads its site."""
        return self.leader == self.node and self.is_settled

    @property
    def has_work(self) -> bool:
        """Whether the leader's failure would matter."""
        return bool(self.pending) or any(outgoing.unaccepted for outgoing in self.state.outgoing.values())

    def leader_of(self, term: Term) -> NodeId:
        """Return the leader of a term."""
        return self._brokers[term % len(self._brokers)]

    # Steps

    def hear_client(self, client: Peer, message: Numbered) -> None:
        """Keep a client's message, or process it (section 6)."""
        if not self.state.is_new(client, message):
            return
        if self.is_leader:
            self.take_step(client, message)
        else:
            self.pending[client, message.key] = message

    def take_step(self, peer: Peer, message: Numbered) -> None:
        """Process a message, and inform the others (section 6)."""
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
        """Repeat the leader's reply once all steps are released.

        Neighbours never repeat an accepted message.
        """
        self.releases.hold(Released(self.point.step, peer, message, ()))

    @on(Inform)
    def inform(self, inform: Inform, sender: NodeId, _: SimTime) -> None:
        """Take the leader's step; correct an old leader."""
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
        """Release messages up to another broker's point."""
        if self.is_leader and informed.point.term == self.term:
            self.releases.informed(informed.point.step)

    @on(HandOver)
    def hand_over(self, message: HandOver, sender: NodeId, _: SimTime) -> None:
        """Take in another broker's message (section 6.6), or its UPDATE."""
        if isinstance(message.message, Update):
            self._is_without(sender, message.message.key)
        else:
            self.hear_client(message.peer, message.message)

    def lost(self, mate: NodeId) -> None:
        """Count an unconnected broker as crashed; it will ask for a copy."""
        self._followers.discard(mate)
        if self.is_taking_over:
            self._without.setdefault(mate, False)
        for key in list(self._forgotten):
            self._is_without(mate, key)

    # Gaps

    def ask_for_forgotten(self, key: Key) -> None:
        """Ask the other brokers for an event that its client lacks."""
        if self.is_leader:
            self._forgotten[key] = set(self.mates)
            for mate in self.mates:
                self.send(mate, Missing(*key))

    @on(Missing)
    def missing(self, asked: Missing, sender: NodeId, _: SimTime) -> None:
        """Hand the leader a missing event, or UPDATE."""
        publisher = asked.stream  # subscriptions, whose stream is no node, are kept by clients
        self.send(sender, HandOver(publisher, self.pending.get((publisher, asked.key), Update(*asked.key))))

    def _ask_for_missing(self, peer: Peer) -> None:
        if self._parameters.close_gaps and peer in self._place.clients:
            for key in self.state.incoming[peer].missing():
                self.send(peer, Missing(*key))

    def _is_without(self, mate: NodeId, key: Key) -> None:
        """Record that a broker lacks a lost message; pass it over when all do."""
        others = self._forgotten.get(key, set())
        if others == {mate}:
            del self._forgotten[key]
            self.hear_client(key.stream, Update(*key))
        others.discard(mate)

    # Senders

    def sendable(self, peer: Peer) -> list[Output]:
        """Return a neighbour's released, unaccepted messages."""
        held = self.releases.held()
        waiting = (Output(peer, message) for message in self.state.outgoing[peer].unaccepted.values())
        return [output for output in waiting if output not in held]

    def hand_pending_over(self, to: NodeId) -> None:
        """Send a broker the clients' pending messages."""
        for (peer, _), message in self.pending.items():
            self.send(to, HandOver(peer, message))

    def name_leader(self, to: NodeId) -> None:
        """Name the leader of this site."""
        self.send(to, Leader(self.leader, self.term))

    # Taking over

    def take_over(self) -> None:
        """Ask the others to yield in this broker's next term (section 6.5)."""
        self.term += 1
        while self.leader != self.node:
            self.term += 1
        self.is_taking_over = True
        self._without = {}
        for mate in self.mates:
            self.ask_to_yield(mate)

    def ask_to_yield(self, mate: NodeId) -> None:
        """Ask for an answer in this term; repetition is harmless."""
        self.send(mate, TakeOver(self.term, self.point))

    def hear_empty(self, mate: NodeId) -> None:
        """Record that a broker has no copy in the requested term."""
        self._without[mate] = True

    @property
    def is_last_copy(self) -> bool:
        """Whether no other copy is left, and another broker runs."""
        return self.is_taking_over and len(self._without) == len(self.mates) and any(self._without.values())

    @on(TakeOver)
    def yield_to(self, asked: TakeOver, sender: NodeId, _: SimTime) -> None:
        """Yield to a new leader; the newer copy counts."""
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
        """Take the newer copy, which has every released step."""
        if newer := answer.snapshot or self._pieces.take(sender, answer.point):
            self._install(answer.point, newer)

    def lead(self) -> None:
        """Inform the others, even the assumed dead (section 6.6)."""
        if self.is_last_copy:
            for site in self._place.sites:
                self.state.outgoing[site].skip_used()
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
        """Follow a new leader, with its copy unless equal (section 6.7)."""
        if news.term < self.term or news.term == self.point.term:  # an old leader's, or one that is followed already
            return
        self.step_down(news.term)
        if self.is_joining or self.point != news.point:
            self.send(sender, CatchUp())
        else:
            self._follow_from(Point(self.term, self.point.step), sender)

    def step_down(self, term: Term) -> None:
        """Make way for the leader of a later term."""
        self.term = term
        self.is_taking_over = False
        self._forgotten.clear()
        self.releases.end_term()

    # Copies

    def join(self) -> None:
        """Ask for a copy after a crash."""
        self.is_joining = True
        for mate in self.mates:
            self.send(mate, CatchUp())

    def ask_again(self) -> None:
        """Ask a broker again that crashed or was frozen."""
        for mate in self.mates:
            if self.is_joining:
                self.send(mate, Empty(self.term))
            else:
                self.ask_to_yield(mate)

    def give_copy(self, mate: NodeId) -> None:
        """Give a broker the leader's copy."""
        self._followers.add(mate)
        self.send(mate, State(self.point, self._send_pieces(mate)))

    @on(Piece)
    def collect(self, piece: Piece, sender: NodeId, _: SimTime) -> None:
        """Keep a piece of a copy."""
        self._pieces.add(sender, piece)

    @on(State)
    def take_copy(self, copy: State, sender: NodeId, _: SimTime) -> None:
        """Replace this copy by the leader's."""
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
        """Send a long copy in pieces; return the bytes for its message."""
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
    """A step's `outputs`, and the reply to `message` of `peer`, if any."""

    step: int
    peer: Peer | None
    message: Numbered | None
    outputs: tuple[Output, ...]


class Releases:
    """Holds back the messages of a leader."""

    def __init__(self) -> None:
        self._held: list[Released] = []
        """In the order of steps."""
        self._informed = 0
        """This term's last step that another broker knows."""

    def hold(self, item: Released) -> None:
        """Hold a step's messages until their turn."""
        self._held.append(item)

    def informed(self, step: int) -> None:
        """Take in another broker's step."""
        self._informed = max(self._informed, step)

    def begin_term(self, first: Released) -> None:
        """Begin this broker's term, with no other informed."""
        self._informed, self._held = _NEVER, [first]

    def end_term(self) -> None:
        """Leave everything to another leader."""
        self._held.clear()

    def held(self) -> set[Output]:
        """Return the messages that must wait."""
        return {output for entry in self._held if entry.step > self._informed for output in entry.outputs}

    def take_ready(self) -> list[Released]:
        """Return the safe messages in order of steps."""
        ready = [entry for entry in self._held if entry.step <= self._informed]
        del self._held[: len(ready)]
        return ready


class Pieces:
    """The pieces of one copy from each sender."""

    def __init__(self) -> None:
        self._pieces: dict[NodeId, list[Piece]] = {}

    def add(self, sender: NodeId, piece: Piece) -> None:
        """Add a piece; a first one replaces an unfinished copy."""
        if piece.number == 0:
            self._pieces[sender] = []
        self._pieces.setdefault(sender, []).append(piece)

    def take(self, sender: NodeId, point: Point) -> bytes:
        """Return the copy at this point, or no bytes."""
        pieces = self._pieces.pop(sender, [])
        numbers = [(piece.point, piece.number) for piece in pieces]
        count = pieces[0].count if pieces else 0
        is_whole = numbers == [(point, number) for number in range(count)]
        return b"".join(piece.data for piece in pieces) if is_whole else b""


def cut(point: Point, snapshot: bytes, size: int) -> Iterator[Piece]:
    """Yield pieces of at most `size` bytes; none for a copy no longer."""
    if len(snapshot) <= size:
        return
    count = -(-len(snapshot) // size)
    for number in range(count):
        yield Piece(point, number, count, snapshot[number * size : (number + 1) * size])
