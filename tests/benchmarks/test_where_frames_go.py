"""The table of where the frames of a run go."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.where_frames_go import figures_of, main
from roambus.bridge.trace.parquet import TraceWriter
from roambus.bridge.trace.schema import TraceRow
from roambus.python_protocol.vocabulary import DELIVER, DROP, MIGRATE, PUBLISH, RADIO, ROLE, SECOND, SEND, STORE


@pytest.fixture
def trace() -> TraceWriter:
    """Two nodes, ten seconds, and two notifications for two subscribers, of which three arrive, one of them twice."""
    writer = TraceWriter()
    for node in (0, 1):
        writer.add(TraceRow(0, node, ROLE, detail="broker"))
    for number in (0, 1):
        writer.add(TraceRow(number * SECOND, 0, PUBLISH, notification_id=f"0.{number}", detail="2 3"))
    for at, node, number in ((2, 2, 0), (3, 3, 0), (4, 2, 1), (5, 2, 1)):
        writer.add(TraceRow(at * SECOND, node, DELIVER, notification_id=f"0.{number}"))
    for kind, size in (("PUB", 40), ("PUB", 60), ("ACK", 4)):
        writer.add(TraceRow(6 * SECOND, 0, SEND, kind, bytes=size))
    writer.add(TraceRow(6 * SECOND, 0, MIGRATE, peer=1))
    writer.add(TraceRow(7 * SECOND, 0, MIGRATE))
    writer.add(TraceRow(7 * SECOND, 0, STORE, notification_id="0.1", peer=3))
    writer.add(TraceRow(8 * SECOND, 0, DROP, detail="storage full"))
    writer.add(TraceRow(10 * SECOND, 0, RADIO, "received", detail="5"))
    writer.add(TraceRow(10 * SECOND, 1, RADIO, "received", detail="6"))
    return writer


def test_figures_are_those_of_the_trace(trace: TraceWriter) -> None:
    """Shares are of the pairs that were expected; what is counted is per node, but for drops and signals."""
    figures = figures_of(trace.table())
    assert figures["delivered, share"] == 0.75
    assert figures["delivered again, share"] == 0.25
    assert figures["delay, mean"] == pytest.approx((2 + 3 + 3) / 3)
    assert figures["delay, longest"] == 3
    assert (figures["frames per node"], figures["  PUB"], figures["  ACK"]) == (1.5, 1, 0.5)
    assert figures["  PUB, mean bytes"] == 50
    assert figures["parents taken per node and second"] == pytest.approx(1 / 2 / 10)
    assert (figures["store per node"], figures["drop: storage full"], figures["radio: received"]) == (0.5, 1, 11)


def test_each_run_is_a_column(trace: TraceWriter, tmp_path: Path) -> None:
    """Given as its trace, or as a folder that has it; a folder without any is an error."""
    (tmp_path / "run").mkdir()
    trace.write(tmp_path / "run" / "trace.parquet", {})
    found = CliRunner().invoke(main, [str(tmp_path), str(tmp_path / "run" / "trace.parquet")])
    assert "frames per node".ljust(34) + "         1.5" * 2 in found.output
    (tmp_path / "empty").mkdir()
    assert CliRunner().invoke(main, [str(tmp_path / "empty")]).exit_code == 1
