"""One broker's copy of its site's state, and what keeps the three copies the same (002, sections 6 to 6.7).

The leader takes a message in, and informs the others. What the message makes the site send is released once another
broker is informed, too: whatever has left the site survives any one of its brokers. Leaders have terms: the broker at
place t mod 3 leads in term t. Who takes over asks the others to yield; one answer is enough, for every step that was
released is known to two of three, and the newer of two copies has them all. A broker that has yielded takes no steps of
earlier terms, so an old leader that only was slow can release nothing.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from roambus.python_protocol.actions import Action, Send
from roambus.python_protocol.replicated.failure_messages import IAmLeader, Leader, Point
from roambus.python_protocol.replicated.messages import Key, Numbered
from roambus.python_protocol.replicated.parameters import ReplicatedParameters
from roambus.python_protocol.replicated.replica_messages import (
    CatchUp,
    HandOver,
    Inform,
    Informed,
    State,
    TakeOver,
    Yield,
)
from roambus.python_protocol.replicated.site_state import Output, Peer, Place, SiteState
from roambus.python_protocol.replicated.snapshot import decode_state, encode_state
from roambus.python_protocol.roles import NodeId

_NEVER = -1


class Released(NamedTuple):
    """What a step lets the site send: the reply to `message` of `peer`, if it came from one, and `outputs`."""

    step: int
    peer: Peer | None
    message: Numbered | None
    outputs: tuple[Output, ...]


class Replica:
    """As leader, follower, about to take over, or `is_joining` after a crash until it has a copy again."""

    def __init__(
        self, node: NodeId, brokers: tuple[NodeId, ...], place: Place, parameters: ReplicatedParameters
    ) -> None:
        self.node = node
        self.term = 0
        """The highest that this broker has heard of, or wants to lead in."""
        self.point = Point(0, 0)
        self.state = SiteState(place, parameters)
        self.pending: dict[tuple[Peer, Key], Numbered] = {}
        """What clients have said, and the leader has not taken in yet as far as this broker knows."""
        self.released: list[Released] = []
        """For the broker to carry out."""
        self.is_joining = False
        self.is_taking_over = False
        self._brokers = brokers
        self._mates = tuple(broker for broker in brokers if broker != node)
        self._place = place
        self._parameters = parameters
        self._informed = 0
        """The last step of this term, as leader, of which another broker is informed."""
        self._followers = set(self._mates)
        """Who is informed: all but those that have crashed, until they have caught up."""
        self._unreleased: deque[Released] = deque()

    @property
    def leader(self) -> NodeId:
        """Of the present term."""
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

    def leader_of(self, term: int) -> NodeId:
        """The broker whose turn it is."""
        return self._brokers[term % len(self._brokers)]

    # Steps

    def take(self, peer: Peer, message: Numbered) -> list[Action]:
        """As leader: a step (section 6)."""
        outputs = self.state.take(peer, message)
        self.point = Point(self.term, self.point.step + 1)
        self.pending.pop(_entry(peer, message), None)
        self._unreleased.append(Released(self.point.step, peer, message, tuple(outputs)))
        inform = Inform(self.term, self.point.step, peer, message)
        return [Send(mate, inform) for mate in self._mates if mate in self._followers]

    def reply_again(self, peer: Peer, message: Numbered) -> None:
        """As leader: to a message that was taken in before, once all steps up to now are released."""
        self._unreleased.append(Released(self.point.step, peer, message, ()))
        self._release()

    def inform(self, sender: NodeId, message: Inform) -> list[Action]:
        """As follower: the leader's step. An old leader is told that there is another."""
        if message.term < self.term:
            return [Send(sender, Leader(self.leader, self.term))]
        if not self.is_settled or message.step <= self.point.step:
            return []  # the whole copy is under way, or has brought this step
        self.state.take(message.peer, message.message)  # type: ignore[arg-type]  # what a leader has taken is numbered
        self.pending.pop(_entry(message.peer, message.message), None)  # type: ignore[arg-type]  # likewise
        self.point = Point(self.term, message.step)
        return [Send(sender, Informed(*self.point))]

    def informed(self, message: Informed) -> None:
        """As leader: another broker has come that far."""
        if self.is_leader and message.term == self.term and message.step > self._informed:
            self._informed = message.step
            self._release()

    def lost(self, mate: NodeId) -> None:
        """There is no connection to a broker of this site: it has crashed, and will ask for a copy."""
        self._followers.discard(mate)

    def sendable(self, peer: Peer) -> list[Output]:
        """As leader: what one neighbour has not accepted, but for what is not released yet."""
        held = {(output.peer, output.message) for one in self._unreleased for output in one.outputs}
        waiting = (Output(peer, message) for message in self.state.outgoing[peer].unaccepted.values())
        return [output for output in waiting if output not in held]

    # Taking over

    def take_over(self) -> list[Action]:
        """Section 6.5: in this broker's next term."""
        self.term += 1
        while self.leader != self.node:
            self.term += 1
        self.is_taking_over = True
        return [Send(mate, TakeOver(self.term, *self.point)) for mate in self._mates]

    def asked_to_yield(self, sender: NodeId, message: TakeOver) -> list[Action]:
        """Another wants to lead. The newer of the two copies is what it goes on from."""
        if message.term <= self.term:
            is_stale = message.term < self.term and self.is_settled
            return [Send(sender, Leader(self.leader, self.term))] if is_stale else []
        self.step_down(message.term)
        snapshot = encode_state(self.state) if self.point > message.point else b""
        return [Send(sender, Yield(self.term, *self.point, snapshot))]

    def step_down(self, term: int) -> None:
        """There is a later term, of another leader."""
        self.term = term
        self.is_taking_over = False
        self._unreleased.clear()

    def yielded(self, message: Yield) -> list[Action]:
        """Section 6.6: the new leader tells the other brokers, the one assumed dead too."""
        if not self.is_taking_over or message.term != self.term:
            return []
        if message.snapshot:
            self._install(message.point, message.snapshot)
        tell = IAmLeader(self.term, *self.point)
        self._lead()
        return [*(Send(mate, tell) for mate in self._mates), *self._take_pending()]

    def follow(self, sender: NodeId, message: IAmLeader) -> list[Action]:
        """Section 6.7: as it is if it has come just as far, else with the leader's copy."""
        if message.term < self.term or message.term == self.point.term:
            return []
        self.step_down(message.term)
        if self.is_joining or self.point != message.point:
            return [Send(sender, CatchUp())]
        self.point = Point(self.term, self.point.step)
        return [Send(sender, Informed(*self.point)), *self.hand_over()]

    # Copies

    def join(self) -> list[Action]:
        """After a crash."""
        self.is_joining = True
        return [Send(mate, CatchUp()) for mate in self._mates]

    def caught_up(self, sender: NodeId) -> list[Action]:
        """As leader: a broker gets a copy, and is informed again from there on."""
        self._followers.add(sender)
        return [Send(sender, State(*self.point, encode_state(self.state)))]

    def receive_state(self, sender: NodeId, message: State) -> list[Action]:
        """The leader's copy, in place of one's own."""
        if message.term < self.term:
            return []
        self.step_down(message.term)
        self.is_joining = False
        self._install(Point(message.term, message.step), message.snapshot)
        return [Send(sender, Informed(*self.point)), *self.hand_over()]

    # Helpers

    def _lead(self) -> None:
        self.is_taking_over = False
        self.point = Point(self.term, self.point.step)
        self._followers = set(self._mates)
        self._informed = _NEVER
        self._unreleased.clear()
        self._unreleased.append(Released(self.point.step, None, None, tuple(self.state.unaccepted())))

    def _take_pending(self) -> list[Action]:
        """Section 6.6: what the old leader failed in."""
        actions: list[Action] = []
        for (peer, _), message in list(self.pending.items()):
            actions += self.take(peer, message)
        return actions

    def hand_over(self) -> list[Action]:
        """To the leader, what clients have said and it may not know."""
        return [Send(self.leader, HandOver(peer, message)) for (peer, _), message in self.pending.items()]

    def _install(self, point: Point, snapshot: bytes) -> None:
        self.point = point
        self.state = decode_state(snapshot, SiteState(self._place, self._parameters))
        self.pending = {
            (peer, key): message for (peer, key), message in self.pending.items() if self.state.is_new(peer, message)
        }

    def _release(self) -> None:
        while self._unreleased and self._unreleased[0].step <= self._informed:
            self.released.append(self._unreleased.popleft())


def _entry(peer: Peer, message: Numbered) -> tuple[Peer, Key]:
    return peer, (message.stream, message.number)
