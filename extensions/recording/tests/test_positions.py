"""A record has the places that a simulator tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from roambus.bridge.backends.ideal.backend import IdealFactory
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.extensions.recording.record_file import RecordingBackend, open_record
from roambus.extensions.recording.record_pb2 import Header
from roambus.extensions.recording.replay import ReplayBackend
from tests.bridge.backends.castalia.test_positions import SCENARIO, looks, stand_in_with
from tests.bridge.host.test_positions import Located


def test_a_rerun_has_the_places_that_the_simulator_told(stand_in: Path, tmp_path: Path) -> None:
    """They are those of ideal links, noise included, although the ini has other ways."""
    expected = looks(IdealFactory().make(SCENARIO, Located, tmp_path))
    static = replace(SCENARIO, nodes=tuple(replace(node, mobility=NodeSettings().mobility) for node in SCENARIO.nodes))
    simulated = stand_in_with(tmp_path, stand_in, moves=True)
    assert looks(RecordingBackend(simulated, tmp_path / "record", Header(), static), static) == expected
    with open_record(tmp_path / "record") as record:
        assert looks(ReplayBackend(record, static, Located.messages), static) == expected
