"""The study's metrics, on small traces."""

from __future__ import annotations

from roambus.extensions.ferry.study.metrics import (
    BYTES_A_DELIVERY,
    FERRY,
    LONGEST_QUEUE,
    METRES_FLOWN,
    QUIET_DELAY,
)
from tests.spark.synthetic import Row, deliver, measured, publish, send


def at(time_s: float, node: int, x: float, y: float) -> Row:
    """A node is at a place."""
    return {"time_s": time_s, "node": node, "event": "move", "detail": f"{x:.3f} {y:.3f}"}


def note(time_s: float, node: int, event: str, notification: str) -> Row:
    """A node keeps a notification, or gives it up."""
    return {"time_s": time_s, "node": node, "event": event, "notification_id": notification}


def test_metres_are_those_of_all_ways() -> None:
    """3-4-5 for one node, 10 there and 10 back for the other; a node that rests adds none."""
    rows = [at(0, 16, 0, 0), at(1, 16, 3, 4), at(0, 17, 5, 5), at(1, 17, 15, 5), at(2, 17, 5, 5), at(0, 1, 7, 7)]
    assert measured(FERRY.metrics, rows)[METRES_FLOWN] == 25


def test_nodes_that_never_move_fly_no_metres() -> None:
    """There need be no row of movement."""
    assert measured(FERRY.metrics, [publish(1, 0, "0.1", [4])])[METRES_FLOWN] == 0


def test_bytes_count_for_each_pair_that_was_delivered() -> None:
    """Two of three pairs; the second copy of one is no delivery."""
    rows = [
        publish(1, 0, "0.1", [4, 5, 6]),
        send(1, 0, "NEWS", size=30),
        send(2, 16, "CARRIED", size=70),
        *(deliver(3, node, "0.1", 2) for node in (4, 5, 5)),
    ]
    assert measured(FERRY.metrics, rows)[BYTES_A_DELIVERY] == 50


def test_the_longest_queue_is_that_of_one_node_of_an_island() -> None:
    """Node 0 had two at once, node 1 one; a ferry's cargo is no queue."""
    rows = [
        note(1, 0, "keep", "0.1"),
        note(2, 0, "release", "0.1"),
        note(3, 0, "keep", "0.2"),
        note(4, 0, "keep", "0.3"),
        note(5, 0, "drop", "0.2"),
        note(6, 0, "keep", "0.4"),
        note(3, 1, "keep", "1.1"),
        *(note(4, 16, "keep", f"0.{number}") for number in range(5)),
    ]
    assert measured(FERRY.metrics, rows)[LONGEST_QUEUE] == 2


def test_a_crash_empties_the_queue_of_its_node_alone() -> None:
    """Two wait at node 0, and after its crash one; node 1 keeps its three."""
    rows = [
        *(note(1, 0, "keep", f"0.{number}") for number in range(2)),
        *(note(1, 1, "keep", f"1.{number}") for number in range(2)),
        {"time_s": 2, "node": 0, "event": "crash"},
        *(note(3, node, "keep", f"{node}.9") for node in (0, 1)),
    ]
    assert measured(FERRY.metrics, rows)[LONGEST_QUEUE] == 3
    assert measured(FERRY.metrics, [row for row in rows if row["node"] == 0])[LONGEST_QUEUE] == 2


def test_a_packet_that_is_dropped_leaves_the_queue_as_it_is() -> None:
    """The host writes its row with a type of message; the notification waits on."""
    lost = {**note(2, 0, "drop", "0.0"), "message_type": "CARRIED", "peer": 16, "detail": "queue full"}
    rows = [note(1, 0, "keep", "0.0"), lost, note(3, 0, "keep", "0.1")]
    assert measured(FERRY.metrics, rows)[LONGEST_QUEUE] == 2


def test_a_notification_that_takes_the_place_of_another_makes_no_queue_longer() -> None:
    """An agent that keeps it first writes both rows in one instant; a node beside it does not matter."""
    rows = [note(1, 0, "keep", "0.0"), note(2, 0, "keep", "0.1"), note(2, 1, "keep", "1.0"), note(2, 0, "drop", "0.0")]
    assert measured(FERRY.metrics, rows)[LONGEST_QUEUE] == 1


def test_the_delay_from_quiet_islands_leaves_out_the_others() -> None:
    """Nodes 0 to 7 are on busy ones."""
    rows = [
        publish(1, 0, "0.1", [4]),
        publish(1, 8, "8.1", [12, 13]),
        deliver(2, 4, "0.1", 2),
        deliver(5, 12, "8.1", 2),
        deliver(7, 13, "8.1", 2),
    ]
    assert measured(FERRY.metrics, rows)[QUIET_DELAY] == 5
