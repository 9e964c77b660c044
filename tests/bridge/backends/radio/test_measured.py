"""Measured links deliver what was recorded, and interfere with the strength that was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from roambus.bridge.formats.recordings import read_k7
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.ideal import MeasuredLinks
from roambus.python_protocol.simtime import MICROSECOND, MILLISECOND, SECOND
from tests.bridge.backends.radio.runs import START, at_places, run, send, total
from tests.support.recordings import k7, row


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def recorded(folder: Path, rows: Sequence[str], nodes: int = 3, pace: float = 1) -> Scenario:
    (folder / "links.k7").write_text(k7(rows))
    links = MeasuredLinks(recording=read_k7(folder / "links.k7"), pace=pace)
    return replace(at_places(*range(nodes)), measured=links)


def test_only_recorded_links_carry_anything(folder: Path) -> None:
    """In the direction in which they were recorded, wherever the nodes are."""
    lines, totals = run(recorded(folder, [row(0, 0, 2, -90, 1), row(0, 1, 0, -90, 1)]), [send(0, "a")])
    assert lines == ["2100 us: 2 gets a from 0"]
    assert totals.counts["fail_sens"] == [0, 0, 0]


@pytest.mark.parametrize("rssi", [-60, -90, -99.5, -110])
def test_a_link_delivers_the_recorded_share_at_any_strength(folder: Path, rssi: float) -> None:
    """What the receiver's model would lose at that strength has been recorded already."""
    frames = [send(0, "a", START + k * 5 * MILLISECOND) for k in range(1000)]
    _, totals = run(recorded(folder, [row(0, 0, 1, rssi, 0.7), row(0, 2, 1, -40, 1)]), frames)
    assert totals.counts["received"][1] == pytest.approx(700, abs=50)
    assert totals.counts["fail_no_interf"][1] == 1000 - totals.counts["received"][1]


def test_links_change_when_the_recording_says_so(folder: Path) -> None:
    """A row holds until the next."""
    rows = [row(0, 0, 1, -60, 1), row(2, 0, 1, -61, 0), row(4, 0, 1, -62, 1), row(0, 1, 2, -60, 1)]
    frames = [send(0, f"{second} s", second * SECOND) for second in (1, 3, 5)]
    lines, _ = run(recorded(folder, rows), frames)
    assert [line.split(": ")[1] for line in lines] == ["1 gets 1 s from 0", "1 gets 5 s from 0"]


def test_recorded_strengths_interfere(folder: Path) -> None:
    """Two that do not hear each other meet at a third: one much stronger survives, equal ones do not."""
    late = START + 300 * MICROSECOND
    equal = [row(0, 0, 1, -80, 1), row(0, 2, 1, -80, 1)]
    lines, totals = run(recorded(folder, equal), [send(0, "a"), send(2, "b", late)])
    assert (lines, totals.counts["fail_interf"]) == ([], [0, 2, 0])
    unequal = [row(0, 0, 1, -60, 1), row(0, 2, 1, -80, 1)]
    lines, totals = run(recorded(folder, unequal), [send(0, "a"), send(2, "b", late)])
    assert (len(lines), totals.counts["rx_despite"]) == (1, [0, 1, 0])


def test_recorded_strengths_are_sensed(folder: Path) -> None:
    """A node that hears another one waits for it, though the link delivers nothing."""
    both = [row(0, 0, 1, -60, 1), row(0, 2, 1, -60, 1), row(0, 0, 2, -85, 0)]
    _, totals = run(recorded(folder, both), [send(0, "a"), send(2, "b", START + 300 * MICROSECOND)])
    assert total(totals, "fail_interf") == 0
    assert totals.counts["received"] == [0, 2, 0]


def test_a_row_without_strength_leaves_the_link_out(folder: Path) -> None:
    """Nothing was heard, so nothing is known of its interference."""
    rows = [row(0, 0, 1, "", 0), row(0, 0, 2, -60, 1), row(0, 2, 1, -70, 1)]
    lines, totals = run(recorded(folder, rows), [send(0, "a")])
    assert lines == ["2100 us: 2 gets a from 0"]
    assert totals.counts["fail_no_interf"] == [0, 0, 0]
