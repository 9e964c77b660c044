"""The reference's rows again on a Castalia that is there: what is read, what is compared, and, with Castalia, that."""

from collections import defaultdict
from pathlib import Path

import pytest

from benchmarks import reference_castalia
from benchmarks.castalia_beacons import run_beacons
from benchmarks.radio_fidelity import FILES
from benchmarks.radio_fidelity import main as hold_groups
from benchmarks.reference_castalia import counts
from benchmarks.reference_rows import main
from benchmarks.reference_scenarios import MOBILE, Conditions
from roambus.bridge.backends.castalia.installation import OMNETPP_ROOT, Program
from roambus.bridge.system.errors import BackendError

REFERENCE = Path(__file__).parents[1] / "bridge" / "backends" / "radio" / "reference"
"""Some row groups of the reference measurements."""


def copy_rows(folder: Path, rows: int) -> None:
    """The first rows of each file."""
    for file in FILES:
        lines = (REFERENCE / file.name).read_text().splitlines()[: rows + 1]
        (folder / file.name).write_text("\n".join(lines) + "\n")


def test_the_columns_are_what_castalias_radio_counts() -> None:
    """The signals' fates by their column; no level where nothing arrived."""
    outputs = defaultdict(float, {("RX pkt breakdown", "Failed, non RX state"): 3.0, ("Beacons", "sent"): 5.0})
    found = counts(outputs)
    assert (found["fail_nonrx"], found["rx_despite"], found["offered"], found["sent"]) == (3, 0, 5, 5)
    assert found["mean_rssi_dbm"] != found["mean_rssi_dbm"]


@pytest.mark.castalia
def test_castalia_makes_the_very_rows_of_the_reference(
    castalia: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of each file, whichever OMNeT++ it is; a row that says something else is named with both values."""
    assert castalia.command
    copy_rows(tmp_path, 1)
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("1 of 1 rows are equal") == len(FILES)
    contention = tmp_path / "contention.csv"
    contention.write_text(contention.read_text().replace("7571", "7570"))
    assert main([str(tmp_path)]) == 1
    assert "contention.csv:2: transmitted 7570, now 7571" in capsys.readouterr().out


@pytest.mark.castalia
def test_castalia_is_inside_its_own_interval(
    castalia: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With other seeds, a group or a few of two files."""
    assert castalia.command
    for name in ("prr_vs_distance.csv", "shadowing.csv"):
        (tmp_path / name).write_bytes((REFERENCE / name).read_bytes())
    assert hold_groups([str(tmp_path), "--backend", "castalia", "--runs-per-row", "1"]) == 0
    assert "all groups inside" in capsys.readouterr().out


@pytest.mark.castalia
def test_a_run_that_a_node_leaves_is_made_with_another_seed(castalia: Program) -> None:
    """Castalia ends it; whatever else ends a run is one message."""
    assert castalia.command
    assert reference_castalia.line_field(10, 45, 1, Conditions(30, MOBILE, 1058))["offered"] > 0
    with pytest.raises(BackendError, match="Castalia ended with exit status 1: <!> Error: "):
        run_beacons({"nodes": 2, "seed": 0}, ["SN.node[1].Application.payload = 1"], 1, 40)


def test_a_missing_castalia_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, for both commands."""
    monkeypatch.delenv(OMNETPP_ROOT, raising=False)
    copy_rows(tmp_path, 1)
    assert main([str(tmp_path)]) == 2
    assert hold_groups([str(tmp_path), "--backend", "castalia"]) == 2
    assert capsys.readouterr().err.count(OMNETPP_ROOT) == 2


def test_a_wrong_row_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """File and line, exit code 2."""
    (tmp_path / "shadowing.csv").write_text("distance_m,seed,sent\n10,0,5\n")
    assert main([str(tmp_path)]) == 2
    assert "shadowing.csv:2: a row of numbers" in capsys.readouterr().err
