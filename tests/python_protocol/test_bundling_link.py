"""The link layer that sends in bundles: reliable, in order, once, and with few frames."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.actions import Action, CancelTimer, Note, Send, SetTimer
from roambus.python_protocol.messages.fields import U16
from roambus.python_protocol.messages.message import Message, MessageSet
from roambus.python_protocol.parts.bundle import Bundle, BundleParameters, Parcel, Place, split
from roambus.python_protocol.parts.bundling_link import FLUSH, BundlingLink
from roambus.python_protocol.parts.digest import Held
from roambus.python_protocol.parts.link import LinkBroken, LinkTimer
from roambus.python_protocol.vocabulary import BROADCAST, MILLISECOND, NodeId, SimTime

A, B, C = 1, 2, 3
PARAMETERS = BundleParameters()


class Number(Message, tag=1):
    """A message to carry."""

    value: U16


class Beat(Message, tag=2):
    """A heartbeat."""


MESSAGES = MessageSet((Bundle, Number, Beat))


def link(node: NodeId, seed: int = 0) -> BundlingLink:
    return BundlingLink(node, PARAMETERS, Random(seed))


def bundles(actions: Sequence[Action]) -> list[Bundle]:
    return [action.message for action in actions if isinstance(action, Send) and isinstance(action.message, Bundle)]


def values(messages: Sequence[Message]) -> list[int]:
    return [message.value for message in messages if isinstance(message, Number)]


def flush(sender: BundlingLink, now: SimTime = 0) -> Bundle:
    """What it sends when its bundle is due."""
    (bundle,) = bundles(sender.timer(FLUSH, now)[0])
    return bundle


class Channel:
    """A and B, and whatever chance does with their frames; timers run out one after the other."""

    def __init__(self, lost: Sequence[bool]) -> None:
        self.links = {A: link(A, 1), B: link(B, 2)}
        self.timers: dict[tuple[NodeId, LinkTimer], SimTime] = {}
        self.lost = iter(lost)
        self.now: SimTime = 0
        self.taken: dict[NodeId, list[int]] = {A: [], B: []}
        self.broken: list[LinkBroken] = []

    def perform(self, node: NodeId, actions: Sequence[Action]) -> None:
        for action in actions:
            if isinstance(action, SetTimer) and isinstance(action.key, LinkTimer):
                self.timers[node, action.key] = self.now + action.after
            elif isinstance(action, CancelTimer) and isinstance(action.key, LinkTimer):
                self.timers.pop((node, action.key), None)
            elif isinstance(action, Send) and not next(self.lost, False):
                self.carry(node, A + B - node, MESSAGES.decode(action.message.encode()))

    def carry(self, sender: NodeId, receiver: NodeId, frame: Message) -> None:
        actions, payloads = self.links[receiver].receive(sender, frame, self.now)
        self.taken[receiver] += values(payloads)
        self.perform(receiver, actions)

    def run(self) -> None:
        """Until no timer is left."""
        while self.timers:
            (node, key), self.now = min(self.timers.items(), key=lambda timer: timer[1])
            del self.timers[node, key]
            actions, broken = self.links[node].timer(key, self.now)
            self.broken += broken
            self.perform(node, actions)


@given(st.lists(st.tuples(st.sampled_from([A, B]), st.integers(0, 99))), st.lists(st.booleans(), max_size=60))
def test_what_is_sent_arrives_in_order_and_once_or_comes_back(sent: list[tuple[NodeId, int]], lost: list[bool]) -> None:
    """Whatever frames are lost: what has not arrived is in the messages of a link that was given up."""
    channel = Channel(lost)
    for sender, value in sent:
        channel.perform(sender, channel.links[sender].send(A + B - sender, Number(value), channel.now))
    channel.run()
    for sender in (A, B):
        mine = [value for one, value in sent if one == sender]
        arrived = channel.taken[A + B - sender]
        assert arrived == mine[: len(arrived)]
        back = [one for broken in channel.broken if broken.neighbour == A + B - sender for one in broken.messages]
        assert len(mine) - len(arrived) <= len(back)
        assert values(back) == mine[len(mine) - len(back) :]


@given(st.lists(st.integers(0, 99), min_size=1, max_size=20))
def test_where_nothing_is_lost_nothing_is_sent_again(sent: list[int]) -> None:
    """As many messages as a bundle has room for take a frame, and a frame that acknowledges them."""
    channel = Channel([])
    for value in sent:
        channel.perform(A, channel.links[A].send(B, Number(value), 0))
    channel.run()
    assert channel.taken[B] == sent
    assert channel.broken == []


def test_a_message_for_several_is_in_the_frame_once() -> None:
    """With a place in the stream to each of them."""
    sender, message = link(A), Number(7)
    sender.send(B, message, 0)
    sender.send(C, message, 0)
    (parcel,) = flush(sender).parcels
    assert parcel.payload == message
    assert [place.node for place in parcel.receivers] == [B, C]


def test_messages_keep_their_order_for_each_receiver() -> None:
    """One that another receiver gets in another order is in the frame twice."""
    sender = link(A)
    for receiver, value in ((B, 1), (B, 2), (C, 2), (C, 1)):
        sender.send(receiver, Number(value), 0)
    parcels = flush(sender).parcels
    for receiver, expected in ((B, [1, 2]), (C, [2, 1])):
        mine = [one.payload for one in parcels if receiver in [place.node for place in one.receivers]]
        assert values(mine) == expected


def test_a_heartbeat_takes_along_what_waits() -> None:
    """Messages and acknowledgements, so that neither has a frame of its own."""
    one, other = link(A), link(B)
    other.send(A, Number(1), 0)
    opened = one.open(B, flush(other), 0)
    one.send(B, Number(2), 0)
    (bundle,) = bundles(one.beat(Beat(), 0))
    assert values(opened.payloads) == [1]
    assert bundle.beat == Beat()
    assert [ack.node for ack in bundle.acks] == [B]
    assert [parcel.payload for parcel in bundle.parcels] == [Number(2)]
    assert one.timer(FLUSH, 0) == ([], [])


def test_acknowledgements_wait_for_a_frame_that_goes_anyway() -> None:
    """If none goes within `ack_delay` they have one for themselves."""
    one, other = link(A), link(B)
    other.send(A, Number(1), 0)
    actions = one.open(B, flush(other), 0).actions
    assert actions == [SetTimer(FLUSH, PARAMETERS.ack_delay)]
    assert flush(one).message_type == "ACK"


def test_what_is_spread_is_for_everybody_and_not_acknowledged() -> None:
    """Whoever hears it gets it beside what is for it alone; a parcel for another is overheard as well."""
    sender, hearer = link(A), link(B)
    sender.send(BROADCAST, Number(1), 0)
    sender.send(C, Number(2), 0)
    opened = hearer.open(A, flush(sender), 0)
    assert (values(opened.payloads), values(opened.overheard)) == ([], [1, 2])
    assert opened.actions == []


def test_a_receiver_that_has_rebooted_is_sent_a_new_session() -> None:
    """It takes nothing out of the middle of a session, says so, and misses nothing that was not acknowledged."""
    sender, receiver = link(A), link(B)
    sender.send(B, Number(1), 0)
    receiver.open(A, flush(sender), 0)
    sender.open(B, flush(receiver), 0)
    sender.send(B, Number(2), 0)
    rebooted = link(B, seed=9)
    assert rebooted.open(A, flush(sender), 0).payloads == []
    sender.open(B, flush(rebooted), 0)
    assert values(rebooted.open(A, flush(sender), 0).payloads) == [2]


def test_a_neighbour_that_never_acknowledges_is_given_up() -> None:
    """After `link_retry_limit` retransmissions, with everything that waits for it."""
    sender = link(A)
    sender.send(B, Number(1), 0)
    for _ in range(PARAMETERS.link_retry_limit):
        flush(sender)
        assert sender.timer(LinkTimer(B), 0)[1] == []
    flush(sender)
    sender.send(B, Number(2), 0)
    assert sender.timer(LinkTimer(B), 0)[1] == [LinkBroken(B, (Number(1), Number(2)))]
    assert sender.is_idle(B)


def test_a_full_queue_takes_nothing_more() -> None:
    """What does not fit is dropped, and noted."""
    sender = link(A)
    for value in range(PARAMETERS.link_queue_limit):
        sender.send(B, Number(value), 0)
    assert sender.is_full(B)
    (note,) = sender.send(B, Number(99), 0)
    assert isinstance(note, Note)
    assert sender.reset(B)[1][0].messages == tuple(map(Number, range(PARAMETERS.link_queue_limit)))


def test_timers_run_from_the_first_frame_without_an_acknowledgement() -> None:
    """The pause is longer than acknowledgements wait for a frame."""
    sender = link(A)
    sender.send(B, Number(1), 0)
    (timer,) = [one for one in sender.timer(FLUSH, 0)[0] if isinstance(one, SetTimer)]
    assert timer.key == LinkTimer(B)
    assert timer.after > PARAMETERS.ack_delay + 10 * MILLISECOND


@given(st.lists(st.integers(1, 30), max_size=20), st.integers(10, 100))
def test_parcels_are_split_into_frames_in_their_order(counts: list[int], room: int) -> None:
    """No frame has more than there is room for, unless a single parcel is longer, and none could be saved."""
    parcels = [Parcel((Place(B, 0, 0),) * count, Number(count)) for count in counts]
    groups = split(parcels, room)
    assert [one for group in groups for one in group] == parcels
    sizes = [sum(one.size() for one in group) for group in groups]
    assert all(size <= room or len(group) == 1 for size, group in zip(sizes, groups, strict=True))
    for size, following in zip(sizes, groups[1:], strict=False):
        assert size + following[0].size() > room


@pytest.mark.parametrize("beat", [None, Beat()])
def test_a_bundle_is_the_same_after_its_encoding(beat: Beat | None) -> None:
    """And a trace tells why it was sent."""
    parcel = Parcel((Place(B, 4711, 0),), Number(1))
    bundle = Bundle(beat, (Held(9, 7, 5),), (Place(C, 1, 2),), (parcel,))
    assert MESSAGES.decode(bundle.encode()) == bundle
    assert bundle.message_type == ("NUMBER" if beat is None else "BEAT")
    assert len(bundle.encode()) - len(Bundle(beat, (), (), (parcel,)).encode()) == 14 + 6
