"""Each receive finds its send."""

from __future__ import annotations

from roambus.extensions.viewer.scene import ANYBODY, match_arrivals


def matched(*events: tuple[str, int, int, int]) -> list[int]:
    """How many rows back; events are (what, node, peer, content)."""
    return match_arrivals(events)


def test_a_receive_belongs_to_the_last_such_send() -> None:
    """Of that sender, with that content, to this node; of what was sent again it is the last copy."""
    assert matched(
        ("send", 1, 2, 7), ("send", 1, 2, 8), ("send", 1, 3, 7), ("send", 4, 2, 7), ("receive", 2, 1, 7)
    ) == [0, 0, 0, 0, 4]
    assert matched(("send", 1, 2, 7), ("send", 1, 2, 7), ("receive", 2, 1, 7))[-1] == 1


def test_a_broadcast_is_received_by_many() -> None:
    """Each receive names the same send."""
    assert matched(("send", 1, ANYBODY, 7), ("receive", 2, 1, 7), ("receive", 3, 1, 7)) == [0, 1, 2]


def test_a_unicast_after_a_broadcast_counts() -> None:
    """The later of the two is taken, whichever it is."""
    assert matched(("send", 1, ANYBODY, 7), ("send", 1, 2, 7), ("receive", 2, 1, 7))[-1] == 1
    assert matched(("send", 1, 2, 7), ("send", 1, ANYBODY, 7), ("receive", 2, 1, 7))[-1] == 1


def test_what_nobody_sent_has_no_send() -> None:
    """As in a trace that lacks rows."""
    assert matched(("receive", 2, 1, 7), ("send", 1, 2, 7), ("receive", 3, 1, 7)) == [0, 0, 0]
