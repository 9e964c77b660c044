"""The embedded MAC against ns-3's lr-wpan, as `benchmarks.mac_fidelity` measured it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mac_fidelity import FILE, METRICS, SCENARIOS, agreement, check, main, on_radio, read_groups

REFERENCE = Path(__file__).parents[1] / "bridge/backends/radio/reference" / FILE


@pytest.mark.parametrize("scenario", ["pair, m", "hidden, frames/s", "broadcast beside unicast, frames/s"])
def test_the_smallest_group_of_a_scenario_agrees_with_ns3(scenario: str) -> None:
    """Reception, delay, acknowledgements, retransmissions and failures, by the rule of the Castalia reference."""
    value, groups = SCENARIOS[scenario][1][0], read_groups(REFERENCE)
    ours = [on_radio(scenario, value, seed) for seed in range(6)]
    compared = agreement(groups[scenario, value], ours, len(groups) * len(METRICS))
    assert [name for name, comparison in compared.items() if not comparison.inside] == []


def test_the_reference_has_every_group() -> None:
    """With six seeds each, but for those that take ns-3 minutes."""
    groups = read_groups(REFERENCE)
    assert set(groups) == {(name, value) for name, (_, values) in SCENARIOS.items() for value in values}
    assert min(len(rows) for rows in groups.values()) >= 2


@pytest.mark.slow
def test_what_is_outside_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    """docs/results/acknowledged.md says why."""
    check(REFERENCE, 12)
    group, outside = "", set()
    for line in capsys.readouterr().out.splitlines():
        group = line if not line.startswith(" ") else group
        outside |= {group} if line.endswith("OUTSIDE") else set()
    saturated = {f"saturated, senders: {number}" for number in (10, 20, 50)}
    assert outside <= saturated | {"mobile, frames/s: 4"}


def test_a_folder_without_the_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With exit code 2."""
    assert main([str(tmp_path)]) == 2
    assert str(tmp_path / FILE) in capsys.readouterr().err
