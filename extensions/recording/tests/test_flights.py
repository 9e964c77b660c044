"""A record has the courses of nodes that their agents move."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.mobility.steered import Steered
from roambus.extensions.recording.record_file import RecordingBackend, open_record
from roambus.extensions.recording.record_pb2 import Header
from roambus.extensions.recording.replay import DifferenceError, ReplayBackend
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.simtime import MILLISECOND
from tests.support.flights import Command, Flyer, flying, rows_of
from tests.support.steering import FLYING, LIMIT, SCRIPT, Watched

SCENARIO = flying(Steered(), agent="flying", time_limit=LIMIT, processing_delay=MILLISECOND)


def test_a_rerun_flies_as_recorded(tmp_path: Path) -> None:
    """Its trace is that of the run, positions and arrivals included."""
    watched = Watched(RecordingBackend(RadioBackend(SCENARIO), tmp_path / "record", Header(), SCENARIO))
    rows = rows_of(SCENARIO, FLYING, watched)
    assert len(watched.courses) == len(SCRIPT)
    with open_record(tmp_path / "record") as record:
        assert rows_of(SCENARIO, FLYING, ReplayBackend(record, SCENARIO, FLYING.messages)) == rows


@pytest.mark.parametrize(
    ("first", "now"),
    [
        (Command(SCRIPT[0].at, (80, 21)), r"node 0 goes to 80,21 from 304.000017ms to 7\.\d+s"),
        (Command(SCRIPT[0].at), "no node is sent anywhere"),
    ],
)
def test_another_way_is_a_difference(tmp_path: Path, first: Command, now: str) -> None:
    """The simulator would have gone on otherwise: the report names the first course that differs."""
    rows_of(SCENARIO, FLYING, RecordingBackend(RadioBackend(SCENARIO), tmp_path / "record", Header(), SCENARIO))
    other: type[Agent] = type("Other", (Flyer,), {"scripts": ((first, *SCRIPT[1:]),)})
    was = r"node 0 goes to 80,20 from 304.000017ms to 7\.\d+s"
    with open_record(tmp_path / "record") as record, pytest.raises(DifferenceError, match=f"{was}\n.*{now}"):
        rows_of(SCENARIO, other, ReplayBackend(record, SCENARIO, other.messages))
