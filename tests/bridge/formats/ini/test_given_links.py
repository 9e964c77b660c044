"""Delays and losses of single links are those of links that the graph has."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import TEMPLATES

BASE = """\
[General]
network = SN
sim-time-limit = 30s
SN.numNodes = 4
SN.node[*].Communication.Radio.RadioParametersFile = "CC2420.txt"
SN.node[*].Communication.MACProtocolName = "TunableMAC"
SN.node[*].ApplicationName = "BridgeApplication"
SN.ideal.links = "0-1 1-2"
SN.ideal.changes = "5s 2-3 up"
"""


@pytest.mark.parametrize(("key", "value"), [("delays", "{} 5ms"), ("losses", "{} 0.1")])
def test_a_value_of_a_link_that_is_never_there_is_refused(key: str, value: str, tmp_path: Path) -> None:
    """A link that comes up later is one of the graph."""
    shutil.copy(TEMPLATES / "CC2420.txt", tmp_path)
    for link in ("0-1", "2-3"):
        parse_scenario(f'{BASE}SN.ideal.{key} = "{value.format(link)}"\n', Path("run.ini"), tmp_path)
    with pytest.raises(UserError, match=rf"run.ini:10: SN.ideal.{key}: there is no link between 0 and 3"):
        parse_scenario(f'{BASE}SN.ideal.{key} = "{value.format("0-3")}"\n', Path("run.ini"), tmp_path)


def test_an_empty_file_of_path_losses_is_refused(tmp_path: Path) -> None:
    """It would leave every link as it is drawn, and look as if losses were given."""
    shutil.copy(TEMPLATES / "CC2420.txt", tmp_path)
    (tmp_path / "losses.txt").write_text("# nothing\n")
    lines = 'SN.wirelessChannel.pathLossMapFile = "losses.txt"\nSN.wirelessChannel.onlyStaticNodes = true\n'
    with pytest.raises(UserError, match=r"losses\.txt: there is no way in it"):
        parse_scenario(BASE + lines, Path("run.ini"), tmp_path)
