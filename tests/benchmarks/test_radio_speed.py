"""The speed benchmark: what it does when it cannot run Castalia, and how it judges."""

from pathlib import Path

import pytest

from benchmarks.radio_speed import CASTALIA_SECONDS, castalia_seconds, main, report, run_alone, run_beacons


def test_a_castalia_that_is_not_built_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It names the variable; nothing is measured before."""
    monkeypatch.setenv("OMNETPP_ROOT", str(tmp_path))
    monkeypatch.setenv("CASTALIA_ROOT", str(tmp_path))
    assert main(["--runs", "1"]) == 2
    assert f"CASTALIA_ROOT={tmp_path}: no CastaliaBin" in capsys.readouterr().err


def test_without_castalia_its_measured_time_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the output says so."""
    monkeypatch.delenv("CASTALIA_ROOT", raising=False)
    seconds, source = castalia_seconds(1)
    assert seconds == CASTALIA_SECONDS
    assert "as measured with the reference" in source


def test_a_target_is_reached_by_the_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    """50 times is enough for 40, 25 times is not."""
    assert report("fast", 0.05, 2.5, 40)
    assert not report("slow", 0.1, 2.5, 40)
    assert "NOT REACHED" in capsys.readouterr().out


def test_both_ways_carry_the_same_load() -> None:
    """About 66 x 10 x 30 packets, received as often, whoever makes them."""
    alone, beacons = run_alone(1).counts, run_beacons(1).counts
    for counts in (alone, beacons):
        assert sum(counts["offered"]) == pytest.approx(66 * 10 * 30, rel=0.03)
    per_packet = [sum(counts["received"]) / sum(counts["transmitted"]) for counts in (alone, beacons)]
    assert per_packet[0] == pytest.approx(per_packet[1], rel=0.05)
