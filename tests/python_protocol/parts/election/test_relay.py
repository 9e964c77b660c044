"""Leader election, one node's rules, heartbeat by heartbeat: passing a round on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roambus.python_protocol.messages.message import MessageSet
from roambus.python_protocol.parts.election import Heartbeat, Leadership
from roambus.python_protocol.simtime import MILLISECOND, SECOND
from tests.python_protocol.parts.election.one_node import (
    NOTHING,
    PARAMETERS,
    RELAY,
    STRONG,
    copy,
    election,
    fire,
    give_up,
    hear,
    one_round,
    pause,
    sent,
)

nodes = st.integers(0, 65533)
leaderships = st.builds(Leadership, st.integers(0, 2**32 - 1), nodes)
heartbeats = st.builds(
    Heartbeat, leaderships, st.integers(0, 2**32 - 1), st.integers(0, 255), st.none() | nodes, st.booleans()
)


@given(heartbeats)
def test_a_heartbeat_decodes_to_itself(heartbeat: Heartbeat) -> None:
    """The fifteen bytes hold every field."""
    assert len(heartbeat.encode()) == 15
    assert MessageSet((Heartbeat,)).decode(heartbeat.encode()) == heartbeat


def test_a_round_is_passed_on_once_with_one_hop_more() -> None:
    """After a delay of up to the jitter; it tells our parent and role."""
    made = election(is_broker=False)
    actions, _ = hear(made, 2, copy(1, 3), STRONG, 0)
    assert 0 <= pause(actions, RELAY) <= PARAMETERS.relay_jitter
    assert hear(made, 3, copy(1, 3), STRONG, 0) == NOTHING
    assert sent(fire(made, RELAY, 0)) == [copy(1, 4, parent=2, is_broker=False)]


def test_a_round_waits_for_the_parents_copy() -> None:
    """So that the hops told are those of the place in the tree; if it does not come in time the best copy counts."""
    made = election()
    one_round(made, 1, (2, 2, STRONG))
    actions, _ = hear(made, 3, copy(2, 3), STRONG, 2 * SECOND)
    assert 3 * PARAMETERS.relay_jitter <= pause(actions, RELAY) <= 4 * PARAMETERS.relay_jitter
    actions, _ = hear(made, 2, copy(2, 2), STRONG, 2 * SECOND)
    assert pause(actions, RELAY) <= PARAMETERS.relay_jitter
    assert sent(fire(made, RELAY, 2 * SECOND)) == [copy(2, 3, parent=2)]
    hear(made, 3, copy(3, 3), STRONG, 3 * SECOND)
    assert sent(fire(made, RELAY, 3 * SECOND)) == [copy(3, 4, parent=2)]


@pytest.mark.parametrize(("hops", "jitters"), [(0, 1), (1, 1), (2, 2), (5, 5), (6, 5)])
def test_the_wait_for_the_parents_copy_grows_with_the_hops(hops: int, jitters: int) -> None:
    """On its way that copy may have been late by the jitter of each hop; after `parent_window` it is too late."""
    made = election()
    one_round(made, 1, (2, hops, STRONG))
    actions, _ = hear(made, 3, copy(2, hops), STRONG, 2 * SECOND)
    assert 0 <= pause(actions, RELAY) - jitters * PARAMETERS.relay_jitter <= PARAMETERS.relay_jitter


def test_who_has_no_parent_waits_for_none() -> None:
    """Its parent was given up; the first copy of the next round is passed on within a jitter."""
    made = election()
    one_round(made, 1, (2, 5, STRONG))
    give_up(made, 2, SECOND)
    assert pause(hear(made, 3, copy(2, 5), STRONG, 2 * SECOND)[0], RELAY) <= PARAMETERS.relay_jitter


def test_another_leader_is_announced_without_waiting() -> None:
    """The parent's copy is worth waiting for only in the rounds of its leader."""
    made = election()
    one_round(made, 1, (2, 5, STRONG))
    actions, _ = hear(made, 3, copy(7, 5, leadership=Leadership(500, 8)), STRONG, 2 * SECOND)
    assert pause(actions, RELAY) <= PARAMETERS.relay_jitter
    assert sent(fire(made, RELAY, 2 * SECOND)) == [copy(7, 6, leadership=Leadership(500, 8), parent=3)]


def test_hops_do_not_overflow() -> None:
    """What a heartbeat cannot tell is cut to what it can."""
    made = election()
    hear(made, 2, copy(1, 255), STRONG, 0)
    assert sent(fire(made, RELAY, 0)) == [copy(1, 255, parent=2)]


def test_a_heartbeat_is_broadcast_on_within_milliseconds_of_its_time() -> None:
    """The relay's delay is drawn uniformly: over many rounds it fills the jitter's range."""
    made = election()
    pauses = [pause(hear(made, 2, copy(number, 1), STRONG, number * SECOND)[0], RELAY) for number in range(1, 200)]
    assert min(pauses) < 10 * MILLISECOND
    assert max(pauses) > PARAMETERS.relay_jitter - 10 * MILLISECOND
    assert max(pauses) <= PARAMETERS.relay_jitter
