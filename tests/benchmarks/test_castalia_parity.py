"""The groups that hold keys to Castalia: the embedded radio reads their inis, and Castalia's outputs are summed."""

from pathlib import Path

import pytest

from benchmarks.castalia_beacons import sum_outputs, write_ini
from benchmarks.castalia_parity import GROUPS, METRICS, NODES, ours, read_outputs, settings_of
from benchmarks.radio_fidelity import SIGNALS
from roambus.bridge.formats.ini import read_scenario

OUTPUTS = """\
[INFO]	Castalia|	module:SN.node[0].ResourceManager
[INFO]	Castalia|		simple output name:Consumed Energy
[INFO]	Castalia|			0.25 
[INFO]	Castalia|	module:SN.node[0].Communication.Radio
[INFO]	Castalia|		simple output name:RX pkt breakdown
[INFO]	Castalia|			7 Received with NO interference
[INFO]	Castalia|		simple output name:TXed pkts
[INFO]	Castalia|			40 TX pkts
[INFO]	Castalia|	module:SN.node[0].Application
[INFO]	Castalia|		simple output name:Beacons
[INFO]	Castalia|			7 received
[INFO]	Castalia|			41 sent
[INFO]	Castalia|	module:SN.node[1].ResourceManager
[INFO]	Castalia|		simple output name:Consumed Energy
[INFO]	Castalia|			0.5 
[INFO]	Castalia|	module:SN.node[1].Application
[INFO]	Castalia|		simple output name:Beacons
[INFO]	Castalia|			2 received
"""  # noqa: W291  # as Castalia prints them


def test_castalias_outputs_are_summed_over_the_nodes() -> None:
    """What each module printed under its name."""
    expected = {"offered": 41, "transmitted": 40, "received": 9, "energy_mj": 750, "nodes": NODES}
    fates = dict.fromkeys(SIGNALS, 0) | {"rx_no_interf": 7}
    assert read_outputs(sum_outputs(OUTPUTS)) == expected | fates


@pytest.mark.parametrize("group", GROUPS)
def test_the_ini_of_each_group_says_what_the_group_is_for(group: str, tmp_path: Path) -> None:
    """Each of its lines stands once, before what else would fit."""
    ini = write_ini(tmp_path, settings_of(0), GROUPS[group].lines)
    assert len(read_scenario(ini).nodes) == NODES
    lines = ini.read_text().splitlines()
    assert [line for line in lines if line in GROUPS[group].lines] == list(GROUPS[group].lines)


def test_a_run_of_ours_has_what_the_means_are_made_of() -> None:
    """With three tries a packet there are nearly three frames."""
    row = ours(GROUPS["numTx"], 0)
    assert 2.8 < METRICS["frames a packet"](row) <= 3
    assert METRICS["receivers a frame"](row) > 1
