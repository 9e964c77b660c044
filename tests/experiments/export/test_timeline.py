"""A run as a timeline: Perfetto's own schema reads every event again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.unknown_fields import UnknownFieldSet

from roambus.experiments.export.exporter import Asked, export_results
from roambus.experiments.export.timeline import PARENT, STATE, track_of
from tests.spark.synthetic import Row, deliver, publish, role, send, write_trace

pytest.importorskip("perfetto", reason="perfetto, whose schema reads timelines, is not installed (see the group dev)")
ROWS: list[Row] = [
    role(0, "publisher"),
    {"time_s": 0.5, "node": 1, "event": "migrate", "peer": 2},
    publish(1.000000001, 0, "0.0", [1]),
    send(1.0000001, 0, "PUB", 31),
    deliver(1.25, 1, "0.0", 1),
    {"time_s": 1.5, "node": 1, "event": "migrate", "peer": 3},
    {"time_s": 2.0, "node": 1, "event": "crash"},
    {"time_s": 2.5, "node": 1, "event": "recover"},
    {"time_s": 3.0, "node": 1, "event": "strange", "detail": "words"},
    {"time_s": 3.5, "node": 1, "event": "detach"},
]


@pytest.fixture
def packets(tmp_path: Path) -> list[Any]:
    """All packets of the timeline of a run."""
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace  # noqa: PLC0415  # not there without the package

    write_trace(tmp_path, "agent=mft/seed=3", ROWS)
    ((file, problem),) = export_results(tmp_path, Asked(["perfetto"]))
    assert problem is None
    assert file is not None
    assert file.name == "agent=mft,seed=3.perfetto-trace"
    read = Trace.FromString(file.read_bytes())
    assert read.SerializeToString(deterministic=True)
    assert not any(len(UnknownFieldSet(part)) for packet in read.packet for part in parts(packet))
    return list(read.packet)


def parts(packet: Any) -> list[Any]:
    """A packet, and what it holds."""
    return [packet, packet.track_event, packet.track_descriptor, *packet.track_event.debug_annotations]


def events(packets: list[Any]) -> list[Any]:
    return [packet for packet in packets if packet.HasField("track_event")]


def test_each_node_has_its_tracks(packets: list[Any]) -> None:
    """In a group that is called like the node."""
    tracks = [packet.track_descriptor for packet in packets if packet.HasField("track_descriptor")]
    groups = {track.uuid: track.name for track in tracks if not track.parent_uuid}
    assert list(groups.values()) == ["node 0", "node 1"]
    assert Counter(groups[track.parent_uuid] for track in tracks if track.parent_uuid) == {"node 0": 5, "node 1": 5}


def test_everything_that_happens_is_there_to_the_nanosecond(packets: list[Any]) -> None:
    """An instant for each row, with what it says; a delivery is joined to its publication."""
    instants = [packet for packet in events(packets) if packet.track_event.type == 3]
    found = {packet.track_event.name: packet for packet in instants}
    assert list(found) == ["publish", "send PUB", "deliver", "strange"]
    assert [packet.timestamp for packet in instants] == [1_000_000_001, 1_000_000_100, 1_250_000_000, 3_000_000_000]
    details = {
        note.name: note.int_value or note.string_value for note in found["deliver"].track_event.debug_annotations
    }
    assert details == {"notification_id": "0.0", "hops": 1}
    assert list(found["deliver"].track_event.flow_ids) == list(found["publish"].track_event.flow_ids) != []


def test_what_lasts_is_a_slice(packets: list[Any]) -> None:
    """Parents one after the other, failures and absences; what goes on at the end ends with the run."""
    for track, wanted in (
        (PARENT, [("node 2", 0.5), ("", 1.5), ("node 3", 1.5), ("", 3.5)]),
        (STATE, [("down (crash)", 2.0), ("", 2.5), ("away", 3.5), ("", 3.5)]),
    ):
        own = [packet for packet in events(packets) if packet.track_event.track_uuid == track_of(1, track)]
        assert [(packet.track_event.name, packet.timestamp / 1e9) for packet in own] == wanted
