"""What a MAC that acknowledges counted, over what it was offered."""

from __future__ import annotations

from roambus.experiments.studies.thesis.metrics import ACKNOWLEDGING
from roambus.python_protocol.trace_rows import RADIO
from tests.spark.synthetic import Row, measured


def counted(node: int, name: str, value: int) -> Row:
    return {"time_s": 10.0, "node": node, "event": RADIO, "message_type": name, "detail": str(value)}


OFFERED = [counted(0, "offered", 30), counted(1, "offered", 10)]


def test_counts_of_all_nodes_are_taken_over_the_frames_offered() -> None:
    """Forty frames: twenty acknowledgements, ten retransmissions, four silences, two busy channels."""
    names = {"acknowledgements": 20, "retransmissions": 10, "unacknowledged": 4, "access_failures": 2}
    rows = [counted(1, name, value - 1) for name, value in names.items()] + [counted(0, name, 1) for name in names]
    found = measured(ACKNOWLEDGING.metrics, OFFERED + rows)
    assert list(found.values()) == [0.5, 0.25, 0.1, 0.05]


def test_a_mac_that_does_not_acknowledge_has_none_of_these() -> None:
    """TunableMAC counts no acknowledgements."""
    assert set(measured(ACKNOWLEDGING.metrics, OFFERED).values()) == {None}
