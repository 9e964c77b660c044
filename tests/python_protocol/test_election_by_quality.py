"""The election by quality: a good way is kept, and left only for one that is much better."""

from __future__ import annotations

from random import Random

import pytest

from roambus.python_protocol.actions import Send
from roambus.python_protocol.events import Received
from roambus.python_protocol.parts.election import (
    Election,
    ElectionParameters,
    ElectionTimer,
    Heartbeat,
    Leadership,
    QualityElection,
)
from roambus.python_protocol.vocabulary import SECOND, NodeId, SimTime

LEADER, NEAR, FAR = 1, 2, 3
STRONG, WEAK = -70.0, -89.0
PARAMETERS = ElectionParameters(parent_by="quality")
CHOOSE, RELAY, TIME_OUT = (ElectionTimer(name) for name in ("choose", "relay", "time-out"))


class Node:
    """A node that hears heartbeats, round after round."""

    def __init__(self, *, is_broker: bool = True) -> None:
        self.election: Election = QualityElection(9, is_broker, PARAMETERS, Random(0))
        self.round = 0

    def hears(self, *copies: tuple[NodeId, float, float]) -> None:
        """A round with copies of (sender, its transmissions to the leader, signal in dBm); then the node chooses."""
        self.round += 1
        now = self.round * SECOND
        for sender, cost, signal in copies:
            beat = Heartbeat(Leadership(1, LEADER), self.round, round(8 * cost), None, True)
            self.election.receive(Received(sender, beat, signal, 0.0), now)
        self.election.fire(CHOOSE, now + SECOND // 2)

    def hears_rounds(self, count: int, copy: tuple[NodeId, float, float]) -> None:
        """As many rounds with one copy each, after which the link is known."""
        for _ in range(count):
            self.hears(copy)

    def misses_rounds(self, *, frames_of: NodeId | None, age: SimTime = 0) -> None:
        """Its time-out runs out; `age` ago a frame of this neighbour came that is no heartbeat."""
        self.round += 3
        if frames_of is not None:
            self.election.hear_frame(frames_of, self.round * SECOND - age)
        self.election.fire(TIME_OUT, self.round * SECOND)

    def tells(self) -> float:
        """The transmissions to the leader that it passes on."""
        self.election.take()
        self.election.fire(RELAY, self.round * SECOND)
        (beat,) = [one.message for one in self.election.take() if isinstance(one, Send)]
        assert isinstance(beat, Heartbeat)
        return beat.hops / 8


@pytest.fixture
def node() -> Node:
    return Node()


def test_the_way_of_the_fewest_transmissions_makes_the_parent(node: Node) -> None:
    """One hop over a link that loses most is longer than two over links that lose nothing."""
    for _ in range(6):
        node.hears((LEADER, 0, -93.0), (NEAR, 1, STRONG))
    assert node.election.parent == NEAR


def test_it_tells_the_cost_of_its_own_way(node: Node) -> None:
    """That of the parent, and the transmissions of the link to it."""
    for _ in range(12):
        node.hears((NEAR, 2, STRONG))
    assert node.tells() == pytest.approx(3)


def test_a_parent_is_left_for_a_way_that_is_much_shorter_only(node: Node) -> None:
    """By `parent_hysteresis` transmissions at least."""
    for _ in range(6):
        node.hears((NEAR, 1, STRONG))
    for _ in range(6):
        node.hears((NEAR, 2.4, STRONG), (FAR, 1, STRONG))
    assert node.election.parent == NEAR
    for _ in range(6):
        node.hears((NEAR, 2.6, STRONG), (FAR, 1, STRONG))
    assert node.election.parent == FAR


def test_a_way_that_is_longer_for_a_round_or_two_is_kept(node: Node) -> None:
    """Its next node has only missed a round of its own parent; after `parent_patience` rounds it is longer."""
    for _ in range(6):
        node.hears((NEAR, 1, STRONG))
    for _ in range(PARAMETERS.parent_patience - 1):
        node.hears((NEAR, 6, STRONG), (FAR, 1, STRONG))
    assert node.election.parent == NEAR
    node.hears((NEAR, 1, STRONG), (FAR, 1, STRONG))
    for _ in range(PARAMETERS.parent_patience - 1):
        node.hears((NEAR, 6, STRONG), (FAR, 1, STRONG))
    assert node.election.parent == NEAR
    node.hears((NEAR, 6, STRONG), (FAR, 1, STRONG))
    assert node.election.parent == FAR


def test_a_parent_that_is_not_heard_at_all_is_left(node: Node) -> None:
    """After `leader_time_out_max`, unless other frames of it are heard."""
    for _ in range(20):
        node.hears((NEAR, 1, STRONG), (FAR, 2, STRONG))
    for _ in range(8):
        node.election.hear_frame(NEAR, node.round * SECOND)
        node.hears((FAR, 2, STRONG))
    assert node.election.parent == NEAR
    for _ in range(PARAMETERS.leader_time_out_max // PARAMETERS.heartbeat_interval):
        node.hears((FAR, 2, STRONG))
    assert node.election.parent == FAR


def test_a_parent_that_is_heard_is_not_left_because_a_message_did_not_arrive(node: Node) -> None:
    """The next one would have to be told everything; one that fails again and again is left for one as good."""
    for _ in range(12):
        node.hears((NEAR, 1, STRONG), (FAR, 1, STRONG))
    node.election.give_up(NEAR, node.round * SECOND)
    node.hears((NEAR, 1, STRONG), (FAR, 1, STRONG))
    assert node.election.parent == NEAR
    for _ in range(3):
        node.election.give_up(NEAR, node.round * SECOND)
    node.hears((NEAR, 1, STRONG), (FAR, 1, STRONG))
    assert node.election.parent == FAR


def test_a_parent_that_is_silent_is_left_when_a_message_did_not_arrive(node: Node) -> None:
    """As is any other neighbour: it is excluded for a while."""
    for _ in range(12):
        node.hears((NEAR, 1, STRONG))
    for _ in range(3):
        node.hears()
    node.election.give_up(NEAR, node.round * SECOND)
    assert node.election.parent is None
    node.election.give_up(FAR, node.round * SECOND)
    node.hears((FAR, 1, STRONG))
    assert node.election.parent is None


def test_nobody_takes_a_parent_that_is_behind_it(node: Node) -> None:
    """Whoever tells more than this node has told may have it from this node."""
    for _ in range(6):
        node.hears((NEAR, 1, STRONG))
    node.round += 1
    beat = Heartbeat(Leadership(1, LEADER), node.round, 8, None, True)
    node.election.receive(Received(NEAR, beat, STRONG, 0.0), node.round * SECOND)
    told = node.tells()
    behind = Heartbeat(Leadership(1, LEADER), node.round, round(8 * told), 9, True)
    node.election.receive(Received(FAR, behind, STRONG, 0.0), node.round * SECOND)
    node.election.give_up(NEAR, node.round * SECOND)
    node.election.fire(CHOOSE, node.round * SECOND)
    assert node.election.parent == NEAR


def test_a_child_of_the_leader_waits_for_rounds_as_long_as_it_hears_it(node: Node) -> None:
    """Whatever else the leader sends shows that it is there."""
    node.hears_rounds(12, (LEADER, 0, STRONG))
    for _ in range(5):
        node.misses_rounds(frames_of=LEADER)
    assert node.election.parent == LEADER
    node.misses_rounds(frames_of=None)
    assert node.election.is_leader


def test_another_broker_waits_once_more_as_long_as_it_hears_its_parent(node: Node) -> None:
    """The parent is nearer to the leader, and has found out by then; a round that comes begins the count anew."""
    node.hears_rounds(12, (NEAR, 1, STRONG))
    node.misses_rounds(frames_of=NEAR)
    node.hears((NEAR, 1, STRONG))
    node.misses_rounds(frames_of=NEAR)
    assert node.election.parent == NEAR
    node.misses_rounds(frames_of=NEAR)
    assert node.election.is_leader


def test_a_client_waits_for_a_parent_that_is_silent() -> None:
    """It cannot lead: it waits for the longest time-out."""
    node = Node(is_broker=False)
    node.hears_rounds(12, (NEAR, 1, STRONG))
    node.misses_rounds(frames_of=NEAR, age=4 * SECOND)
    assert node.election.parent == NEAR
    node.misses_rounds(frames_of=NEAR, age=6 * SECOND)
    assert node.election.parent is None


def test_over_a_link_that_loses_most_every_wait_is_longer() -> None:
    """By the transmissions that a frame takes, but nobody is waited for longer than for 16 rounds."""
    node = Node(is_broker=False)
    node.hears_rounds(12, (NEAR, 1, -94.0))
    node.misses_rounds(frames_of=NEAR, age=15 * SECOND)
    assert node.election.parent == NEAR
    node.misses_rounds(frames_of=NEAR, age=16 * SECOND)
    assert node.election.parent is None


def test_who_hears_another_leader_waits_for_no_lost_one(node: Node) -> None:
    """It follows the other one, though its parent is heard."""
    node.hears_rounds(12, (LEADER, 0, STRONG))
    younger = Heartbeat(Leadership(2, FAR), 1, 0, None, True)
    node.election.receive(Received(FAR, younger, STRONG, 0.0), 14 * SECOND)
    node.misses_rounds(frames_of=LEADER)
    assert node.election.leadership.leader == FAR
