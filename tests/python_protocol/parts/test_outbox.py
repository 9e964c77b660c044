"""Flow control towards the MAC: nothing that was refused is lost."""

from random import Random

import pytest

from roambus.python_protocol.actions import Action, CancelTimer, Send, SetTimer
from roambus.python_protocol.events import (
    BUFFER_FULL,
    CHANNEL_ACCESS_FAILURE,
    NO_ACKNOWLEDGEMENT,
    NO_LINK,
    QUEUE_FULL,
    SendFailed,
    Sent,
)
from roambus.python_protocol.messages.fields import U16
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.parts.link import LinkBroken, LinkParameters, LinkTimer
from roambus.python_protocol.parts.outbox import Outbox

PEER, OTHER = 3, 4


class Numbered(Message, tag=1):
    """A message that can be told from others."""

    number: U16


A, B, C = (Numbered(number) for number in range(3))


def paced() -> Outbox:
    """An outbox whose MAC has reported a frame."""
    outbox = Outbox(LinkParameters(), Random(1))
    outbox.sent(Sent(OTHER, A))
    return outbox


def handed(actions: list[Action]) -> list[Message]:
    """The messages among the actions."""
    return [action.message for action in actions if isinstance(action, Send)]


def timers(actions: list[Action]) -> int:
    """The timers that the actions set, less those that they cancel."""
    return sum(isinstance(action, SetTimer) - isinstance(action, CancelTimer) for action in actions)


def hand_over(outbox: Outbox, *messages: Message) -> list[Message]:
    """Send messages to PEER; return those that go to the MAC at once."""
    return [sent for message in messages for sent in handed(outbox.send(PEER, message, 0))]


def test_without_reports_everything_is_handed_over_at_once() -> None:
    """As over reliable links, where nothing is refused."""
    outbox = Outbox(LinkParameters(), Random(1))
    assert hand_over(outbox, A, B, C) == [A, B, C]
    assert outbox.is_idle(PEER)


def test_a_reporting_mac_gets_a_neighbours_next_message_when_it_is_done_with_the_last() -> None:
    """Another neighbour's do not wait for it."""
    outbox = paced()
    assert hand_over(outbox, A, B) == [A]
    assert handed(outbox.send(OTHER, C, 0)) == [C]
    assert not outbox.is_idle(PEER)
    assert handed(outbox.sent(Sent(PEER, A))) == [B]
    assert handed(outbox.sent(Sent(PEER, B))) == []
    assert outbox.is_idle(PEER)


def test_the_report_of_an_earlier_message_does_not_let_the_next_one_follow() -> None:
    """Of a burst that was handed over before the first report, several are with the MAC; whether sent or refused."""
    for is_sent in (True, False):
        outbox = Outbox(LinkParameters(), Random(1))
        assert hand_over(outbox, A, B) == [A, B]
        outbox.sent(Sent(PEER, A))
        assert hand_over(outbox, C, A) == [C]
        failed = SendFailed(PEER, B, "packet longer than MAC.macMaxPacketSize")
        actions = outbox.sent(Sent(PEER, B)) if is_sent else outbox.failed(failed).actions
        assert handed(actions) == []
        assert handed(outbox.sent(Sent(PEER, C))) == [A]


@pytest.mark.parametrize("reason", [QUEUE_FULL, BUFFER_FULL])
def test_what_finds_no_room_stays_first_until_the_mac_is_done_with_another_frame(reason: str) -> None:
    """And longer if there is none: then a timer tries again."""
    outbox = paced()
    hand_over(outbox, A, B)
    handed(outbox.send(OTHER, C, 0))
    assert outbox.failed(SendFailed(PEER, A, reason)).lost == ()
    assert handed(outbox.sent(Sent(OTHER, C))) == [A]
    outbox.failed(SendFailed(PEER, A, reason))
    assert handed(outbox.timer(LinkTimer(PEER))[0]) == [A]
    assert handed(outbox.sent(Sent(PEER, A))) == [B]


def test_of_a_burst_without_reports_the_refused_ones_follow_in_their_order() -> None:
    """After a pause; later messages wait behind them."""
    outbox = Outbox(LinkParameters(), Random(1))
    hand_over(outbox, A, B, C)
    outbox.failed(SendFailed(PEER, B, QUEUE_FULL))
    outbox.failed(SendFailed(PEER, C, QUEUE_FULL))
    assert hand_over(outbox, A) == []
    assert handed(outbox.timer(LinkTimer(PEER))[0]) == [B, C, A]


def test_a_busy_channel_is_tried_again_before_the_neighbour_is_given_up() -> None:
    """As often as the link layer retransmits; then all that waits is returned, oldest first."""
    outbox = paced()
    hand_over(outbox, A, B)
    for _ in range(LinkParameters().link_retry_limit):
        assert outbox.failed(SendFailed(PEER, A, CHANNEL_ACCESS_FAILURE)).broken == ()
        assert handed(outbox.timer(LinkTimer(PEER))[0]) == [A]
    assert outbox.failed(SendFailed(PEER, A, CHANNEL_ACCESS_FAILURE)).broken == (LinkBroken(PEER, (A, B)),)
    assert outbox.is_idle(PEER)


def test_the_pauses_of_a_busy_channel_grow_and_are_jittered() -> None:
    """They double from the shortest to the longest of the link layer, stretched by its jitter; no two are the same."""
    limits = LinkParameters(link_retry_limit=8)
    outbox = Outbox(limits, Random(1))
    outbox.sent(Sent(OTHER, A))
    hand_over(outbox, A)
    pauses = []
    for _ in range(8):
        (timer,) = outbox.failed(SendFailed(PEER, A, CHANNEL_ACCESS_FAILURE)).actions
        assert isinstance(timer, SetTimer)
        pauses.append(timer.after)
        outbox.timer(LinkTimer(PEER))
    shortest = [min(limits.link_time_out_min << k, limits.link_time_out_max) for k in range(1, 9)]
    stretches = [pause / least for pause, least in zip(pauses, shortest, strict=True)]
    assert all(1 <= stretch <= 1 + limits.link_jitter for stretch in stretches)
    assert len(set(stretches)) == len(stretches)


def test_room_in_the_mac_does_not_end_a_busy_channels_pause() -> None:
    """Another neighbour's frame was sent; the channel is tried again when the pause is over."""
    outbox = paced()
    hand_over(outbox, A)
    outbox.failed(SendFailed(PEER, A, CHANNEL_ACCESS_FAILURE))
    assert outbox.sent(Sent(OTHER, C)) == []
    assert handed(outbox.timer(LinkTimer(PEER))[0]) == [A]


def test_retries_are_counted_for_each_message() -> None:
    """A message that was sent gives the next one all its retries."""
    outbox = paced()
    hand_over(outbox, A, B)
    for message in (A, B):
        for _ in range(LinkParameters().link_retry_limit):
            assert outbox.failed(SendFailed(PEER, message, CHANNEL_ACCESS_FAILURE)).broken == ()
            outbox.timer(LinkTimer(PEER))
        outbox.sent(Sent(PEER, message))


def test_without_reports_a_busy_channel_is_a_break_at_once() -> None:
    """No report would say that a later try has been sent, and end the count of tries."""
    outbox = Outbox(LinkParameters(), Random(1))
    hand_over(outbox, A)
    assert outbox.failed(SendFailed(PEER, A, CHANNEL_ACCESS_FAILURE)).broken == (LinkBroken(PEER, (A,)),)


def test_a_burst_that_is_refused_pauses_once() -> None:
    """The timer of the first refusal stands: a long burst does not put its own end off."""
    outbox = Outbox(LinkParameters(), Random(1))
    hand_over(outbox, A, B, C)
    assert [timers(outbox.failed(SendFailed(PEER, each, QUEUE_FULL)).actions) for each in (A, B, C)] == [1, 0, 0]


def test_a_neighbour_that_is_given_up_has_no_timer() -> None:
    """During a pause it is cancelled; there is none to cancel before."""
    outbox = paced()
    hand_over(outbox, A)
    assert timers(outbox.reset(PEER)[0]) == 0
    hand_over(outbox, A)
    outbox.failed(SendFailed(PEER, A, CHANNEL_ACCESS_FAILURE))
    assert timers(outbox.reset(PEER)[0]) == -1


def test_a_broken_link_makes_room_for_another_neighbours_message() -> None:
    """The MAC is done with a frame, even if with one that failed."""
    outbox = paced()
    hand_over(outbox, A)
    outbox.send(OTHER, C, 0)
    outbox.failed(SendFailed(OTHER, C, QUEUE_FULL))
    outcome = outbox.failed(SendFailed(PEER, A, NO_ACKNOWLEDGEMENT))
    assert (handed(outcome.actions), timers(outcome.actions)) == ([C], -1)


@pytest.mark.parametrize("reason", [NO_ACKNOWLEDGEMENT, NO_LINK])
def test_what_nobody_acknowledges_gives_the_neighbour_up(reason: str) -> None:
    """With everything that waits for it."""
    outbox = paced()
    hand_over(outbox, A, B)
    assert outbox.failed(SendFailed(PEER, A, reason)).broken == (LinkBroken(PEER, (A, B)),)


def test_a_message_that_can_never_be_sent_is_lost_alone() -> None:
    """The next one follows."""
    outbox = paced()
    hand_over(outbox, A, B)
    outcome = outbox.failed(SendFailed(PEER, A, "packet longer than MAC.macMaxPacketSize"))
    assert (handed(outcome.actions), outcome.broken, outcome.lost) == ([B], (), (A,))


def test_a_message_that_can_never_be_sent_leaves_the_next_one_all_its_retries() -> None:
    """They are counted for each message, whatever became of the one before."""
    outbox = paced()
    hand_over(outbox, A, B)
    for message, last in ((A, "packet longer than MAC.macMaxPacketSize"), (B, NO_ACKNOWLEDGEMENT)):
        for _ in range(LinkParameters().link_retry_limit):
            assert outbox.failed(SendFailed(PEER, message, CHANNEL_ACCESS_FAILURE)).broken == ()
            assert handed(outbox.timer(LinkTimer(PEER))[0]) == [message]
        outbox.failed(SendFailed(PEER, message, last))
    assert outbox.is_idle(PEER)


def test_what_waits_and_what_the_mac_is_at_are_held() -> None:
    """For all neighbours, oldest first; what was sent is not."""
    outbox = paced()
    hand_over(outbox, A, B)
    outbox.send(OTHER, C, 0)
    assert outbox.held() == [A, B, C]
    outbox.sent(Sent(PEER, A))
    outbox.failed(SendFailed(OTHER, C, QUEUE_FULL))
    assert outbox.held() == [B, C]


def test_a_queue_has_a_limit() -> None:
    """Beyond it the agent gives the neighbour up, so that no loss is silent."""
    outbox = paced()
    hand_over(outbox, *[A] * (1 + LinkParameters().link_queue_limit))
    assert outbox.is_full(PEER)
    assert len(outbox.reset(PEER)[1][0].messages) == LinkParameters().link_queue_limit
    assert not outbox.is_full(PEER)
