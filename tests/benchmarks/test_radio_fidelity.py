"""The comparison with Castalia: in short on the real rows, and what it makes of wrong ones."""

import shutil
from operator import itemgetter
from pathlib import Path

import pytest

from benchmarks.radio_fidelity import compare, compare_pairs, main

REFERENCE = Path(__file__).parents[1] / "bridge" / "backends" / "radio" / "reference"
"""Some row groups of the reference measurements."""


@pytest.mark.parametrize("name", ["prr_vs_distance", "shadowing", "contention", "static_field", "line_mobility"])
def test_the_radio_is_inside_castalias_interval(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A group or a few of each file."""
    shutil.copy(REFERENCE / f"{name}.csv", tmp_path)
    assert main([str(tmp_path)]) == 0
    assert "all groups inside" in capsys.readouterr().out


def test_another_radio_is_outside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A PRR of 0.95 at 34 m is not Castalia's."""
    rows = "payload_bytes,distance_m,sent,received,prr,mean_rssi_dbm,mean_lqi_db\n20,34,1995,1895,0.95,-91.7,8.2\n"
    (tmp_path / "prr_vs_distance.csv").write_text(rows)
    assert main([str(tmp_path)]) == 1
    assert "1 groups outside" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("distance_m,seed,sent\n10,0,5\n", "shadowing.csv:1: no column mean_rssi_dbm, received"),
        ("distance_m,sent,received,mean_rssi_dbm\n10,5,many,-79\n", "shadowing.csv:2: a row of numbers"),
        ("distance_m,sent,received,mean_rssi_dbm\n10,5\n", "shadowing.csv:2: a row of numbers"),
    ],
)
def test_a_wrong_file_is_one_message(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """File and line, exit code 2."""
    (tmp_path / "shadowing.csv").write_text(content)
    assert main([str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_without_files_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what was looked for."""
    assert main([str(tmp_path)]) == 2
    assert "none of prr_vs_distance.csv" in capsys.readouterr().err


def test_the_margin_is_the_wider_of_interval_and_three_percent() -> None:
    """Rows without spread may differ by 3 %; rows with spread by their interval, which more groups widen."""

    def value(row: object) -> float:
        assert isinstance(row, dict)
        return float(row["value"])

    flat = [{"value": 10.0}] * 5
    spread = [{"value": 10.0 + k} for k in (-3, -1, 0, 1, 3)]
    assert compare(flat, flat, value, 1).margin == pytest.approx(0.3)
    margin, many = (compare(spread, spread, value, groups).margin for groups in (1, 20))
    assert margin == pytest.approx(2.306 * (2 * 5 / 5) ** 0.5, rel=1e-3)
    assert many > margin


def pairs(count: int, hearing: int) -> list[dict[str, float]]:
    """Pairs of which some hear everything and the others nothing."""
    return [{"x": float(number < hearing)} for number in range(count)]


def test_means_that_hang_on_few_pairs_are_distinguished_by_permutation() -> None:
    """5 of 100 and 12 of 400 come from one chance easily; 5 of 100 and none of 400 do not, nor 5 and 30 of 100."""
    metric = itemgetter("x")
    assert compare_pairs(pairs(100, 5), pairs(400, 12), metric, groups=4).inside
    assert not compare_pairs(pairs(100, 5), pairs(400, 0), metric, groups=4).inside
    assert not compare_pairs(pairs(100, 5), pairs(100, 30), metric, groups=4).inside


def test_means_that_are_nearly_the_same_agree_however_surely_they_differ() -> None:
    """Three percent are nothing to anybody."""
    theirs, ours = [{"x": 1.0}] * 50, [{"x": 1.02}] * 50
    assert compare_pairs(theirs, ours, itemgetter("x"), groups=4).inside
    assert not compare_pairs(theirs, [{"x": 1.04}] * 50, itemgetter("x"), groups=4).inside
