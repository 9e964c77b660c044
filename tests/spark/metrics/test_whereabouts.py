"""Each expected pair is somewhere, and once."""

from typing import Any

import pytest

from roambus.spark.metrics import catalogue as c
from roambus.spark.metrics.accounting import ENDS
from roambus.spark.metrics.reasons import (
    CRASH,
    DEATH,
    LIMIT,
    LOST,
    NOT_ATTEMPTED,
    OTHER,
    QUEUE,
    STORED,
    UNDER_WAY,
    UNSEEN,
    group_of,
)
from roambus.spark.metrics.whereabouts import Whereabouts
from tests.spark.synthetic import deliver, measured, publish, random_trace, route

END_S = 100.0


def row(event: str, node: int, time_s: float = 1.0, name: str | None = "1:0", **columns: Any) -> dict[str, Any]:
    return {
        "event": event,
        "node": node,
        "time_s": time_s,
        "notification_id": name,
        "peer": None,
        "detail": None,
    } | columns


def went(*rows: dict[str, Any], pair: tuple[str, int] = ("1:0", 7)) -> tuple[str, str | None, int]:
    """Where a pair went, why, and which node says so."""
    found = Whereabouts({"1:0": {7, 8}})
    found.follow(rows)
    end = found.end(pair, END_S)
    return end.where, end.reason, end.node


ROUTED = row("route", 2, detail="7 8")
STORES = row("store", 3, 2.0, peer=7)


def test_a_pair_without_rows_was_not_attempted() -> None:
    """Others' rows, and those of other notifications, change nothing."""
    assert went(row("route", 2, name="1:1", detail="7"), row("route", 2, detail="8"))[0] == NOT_ATTEMPTED


@pytest.mark.parametrize(("time_s", "where"), [(91.0, UNDER_WAY), (89.0, UNSEEN)])
def test_what_was_sent_on_is_under_way_only_near_the_end(time_s: float, where: str) -> None:
    """Long before the end it was lost without a row."""
    assert went(row("route", 2, time_s, detail="7")) == (where, None, 2)


def test_a_pair_is_stored_until_it_is_replayed() -> None:
    """A replay of another node leaves this one's copy."""
    assert went(ROUTED, STORES) == (STORED, None, 3)
    assert went(STORES, row("replay", 4, 3.0, peer=7)) == (STORED, None, 3)
    assert went(STORES, row("replay", 3, 3.0, peer=7)) == (UNSEEN, None, 3)


def test_a_crash_loses_what_the_node_had_stored() -> None:
    """Unless another node has stored it, too, or it was stored later."""
    crash = row("crash", 3, 3.0, None)
    assert went(STORES, crash) == (LOST, CRASH, 3)
    assert went(STORES, row("store", 4, 2.5, peer=7), crash) == (STORED, None, 4)
    assert went(STORES, crash, row("store", 3, 4.0, peer=7)) == (STORED, None, 3)


def test_a_crash_of_a_node_that_stored_another_pair_changes_nothing() -> None:
    """Node 9 has got the notification, and a copy for it was stored all the same."""
    copy, crash = row("store", 3, 2.0, peer=9), row("crash", 3, 3.0, None)
    assert went(ROUTED, copy, crash) == (UNSEEN, None, 2)


def test_a_node_without_energy_loses_what_it_had_stored() -> None:
    """Its row stands at the end of a trace, after later rows of others."""
    death = row("die", 3, 3.0, None)
    assert went(STORES, death) == (LOST, DEATH, 3)
    assert went(STORES, row("replay", 4, 5.0, peer=7), death) == (UNSEEN, None, 4)
    assert group_of(DEATH) == CRASH


def test_what_a_node_drops_from_its_storage_is_not_stored() -> None:
    """Another node's drop leaves this one's copy."""
    assert went(STORES, row("drop", 3, 3.0, peer=7, detail="storage full")) == (LOST, "storage full", 3)
    assert went(STORES, row("drop", 4, 3.0, peer=7, detail="storage full")) == (STORED, None, 3)


def test_a_drop_is_of_the_subscriber_that_it_names() -> None:
    """Of the client itself if it names none; rows of the pair that come later count more."""
    drop = row("drop", 5, 2.0, peer=7, detail="no route")
    assert went(ROUTED, drop) == (LOST, "no route", 5)
    assert went(ROUTED, drop, pair=("1:0", 8)) == (UNSEEN, None, 2)
    assert went(drop, STORES) == (STORED, None, 3)
    assert went(ROUTED, row("drop", 7, 2.0, detail="not subscribed")) == (LOST, "not subscribed", 7)


KEEPS = row("keep", 3, 2.0)


def test_what_a_node_keeps_for_whoever_lacks_it_is_stored() -> None:
    """For each subscriber, until no node keeps it; frames that the MAC refuses leave it."""
    frame = row("drop", 3, 3.0, peer=4, detail="MAC queue full")
    assert went(ROUTED, KEEPS, frame) == (STORED, None, 3)
    assert went(ROUTED, KEEPS, pair=("1:0", 8)) == (STORED, None, 3)
    dropped = row("drop", 3, 3.0, detail="buffer full")
    assert went(ROUTED, KEEPS, dropped) == (LOST, "buffer full", 3)
    assert went(ROUTED, KEEPS, row("release", 3, 3.0, detail="older")) == (LOST, "older", 3)
    assert went(ROUTED, KEEPS, row("keep", 4, 2.5), dropped) == (STORED, None, 4)
    assert went(ROUTED, KEEPS, row("crash", 3, 3.0, None)) == (LOST, CRASH, 3)
    assert went(ROUTED, KEEPS, row("crash", 4, 3.0, None)) == (STORED, None, 3)


def test_a_frame_for_many_is_the_end_of_what_no_later_row_tells_of() -> None:
    """Such a row can name several notifications."""
    frame = row("drop", 5, 2.0, "1:1 1:0", peer=65535, detail="MAC queue full")
    assert went(ROUTED, frame) == (LOST, "MAC queue full", 5)
    assert went(frame, row("route", 2, 3.0, detail="7")) == (UNSEEN, None, 2)
    assert went(frame, STORES) == (STORED, None, 3)


def test_reasons_have_kinds() -> None:
    """Unknown ones too."""
    assert [group_of(one) for one in ("MAC queue full", "storage full", CRASH, "a new one")] == [
        QUEUE,
        LIMIT,
        CRASH,
        OTHER,
    ]


@pytest.mark.parametrize("seed", range(5))
def test_the_pairs_of_all_ends_are_the_expected_ones(seed: int) -> None:
    """On random traces, some of whose pairs are not delivered."""
    ends = (c.delivered, *ENDS)
    found = measured([c.expected, *ends], random_trace(seed))
    assert found["delivered"] < found["expected"]
    assert sum(found[end.column] for end in ends) == found["expected"]


def test_a_carrier_that_is_a_subscriber_drops_what_others_lack() -> None:
    """Node 2 has its own notification, and then drops its copy: subscriber 3 goes without."""
    rows = [publish(1.0, 1, "1:0", [2, 3]), route(1.5, 1, "1:0", [2, 3]), deliver(2.0, 2, "1:0", 1)]
    found = measured((c.delivered, *ENDS), [*rows, row("drop", 2, 3.0, detail="buffer full")])
    assert {name: count for name, count in found.items() if count} == {"delivered": 1, "lost_to_limit": 1}
