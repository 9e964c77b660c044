"""A copy of the state that is longer than a message travels in pieces, and is as whole as before."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from roambus.bridge.scenario.definition import Command
from roambus.bridge.scenario.plans import Fault, FaultKind
from roambus.extensions.replicated.messages import CatchUp, Point, ReplicatedParameters, State
from roambus.extensions.replicated.replica import Pieces, Replica, cut
from roambus.extensions.replicated.tests.network import (
    about,
    check_copies,
    check_deliveries,
    published,
    run,
    sites_of,
)
from roambus.extensions.replicated.tests.test_snapshot import PLACE
from roambus.python_protocol.actions import Send
from roambus.python_protocol.events import Received, Subscribe
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.support.runs import of

POINT = Point(1, 2)
SENDER, OTHER = 1, 2
PUBLISHER, SUBSCRIBER = 3, 4


@given(st.binary(min_size=1, max_size=40), st.integers(1, 50))
def test_a_copy_is_cut_and_put_together(snapshot: bytes, size: int) -> None:
    """No piece is longer than it may be, and there are none if the copy is not longer."""
    cuts = list(cut(POINT, snapshot, size))
    assert all(len(piece.data) <= size for piece in cuts)
    assert bool(cuts) == (len(snapshot) > size)
    pieces = Pieces()
    for piece in cuts:
        pieces.add(SENDER, piece)
    assert pieces.take(SENDER, POINT) == (snapshot if cuts else b"")
    assert pieces.take(SENDER, POINT) == b""


def test_what_its_sender_has_not_ended_is_forgotten() -> None:
    """A copy of another point, of another sender or with a piece missing is none."""
    pieces = Pieces()
    first, second, third = cut(POINT, b"abcde", 2)
    pieces.add(SENDER, first)
    assert pieces.take(OTHER, POINT) == b""
    assert pieces.take(SENDER, POINT) == b""
    for piece in (first, second, third):
        pieces.add(SENDER, piece)
    assert pieces.take(SENDER, Point(1, 3)) == b""
    for piece in (first, second, first, second, third):
        pieces.add(SENDER, piece)
    assert pieces.take(SENDER, POINT) == b"abcde"


def test_a_copy_with_a_piece_missing_is_asked_for_again() -> None:
    """Over a radio pieces are lost, though brokers are made for links that lose nothing: that ends no run."""
    replica = Replica(SENDER, (0, SENDER, OTHER), PLACE, ReplicatedParameters())
    replica.join()
    replica.take()
    replica.dispatch(Received(0, State(POINT, b""), 0.0, 0.0), 0)
    assert replica.take() == [Send(0, CatchUp())]
    assert replica.is_joining


def test_a_broker_recovers_while_more_than_64_kib_are_kept() -> None:
    """A frozen subscriber has missed 80 long events; it gets all of them, and the crashed broker is as before."""
    long = replace(published(1), payload=1000)
    commands = [Command(0, SUBSCRIBER, Subscribe(about(1)))]
    commands += [Command((1000 + count) * MILLISECOND, PUBLISHER, long) for count in range(80)]
    faults = [
        Fault(SECOND - 1, SUBSCRIBER, FaultKind.FREEZE),
        Fault(2 * SECOND, 1, FaultKind.CRASH),
        Fault(3 * SECOND, 1, FaultKind.RECOVER),
        Fault(4 * SECOND, SUBSCRIBER, FaultKind.RECOVER),
    ]
    result = run(sites_of([None], [2]), commands, faults)
    assert sum(row["bytes"] for row in of(result.rows, "send") if row["message_type"] == "PIECE") > 1 << 16
    check_deliveries(result)
    check_copies(result)
