"""What would happen at or after the end of a run is refused, by the key that says so."""

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
SN.numNodes = 3
SN.node[*].Communication.Radio.RadioParametersFile = "CC2420.txt"
SN.node[*].Communication.MACProtocolName = "TunableMAC"
SN.node[*].ApplicationName = "BridgeApplication"
SN.node[*].Application.roles = "publisher subscriber broker"
SN.node[*].Application.publishInterval = 1s
"""
LATE = {
    "warmup-period": ("{}s", ""),
    "SN.node[*].Application.subscribeAt": ("{}s", ""),
    "SN.node[2].Application.publishStart": ("{}s", ""),
    "SN.node[1].faults": ('"{}s crash"', ""),
    "SN.node[1].Application.absences": ('"{}s detach, 99s attach"', 'SN.tree = "1:0 2:0"\n'),
    "SN.commands": ('"{}s 1 publish"', ""),
    "SN.ideal.changes": ('"{}s 0-1 down"', 'SN.ideal.links = "0-1 1-2"\n'),
    "SN.ideal.partitions": ('"{}s 0 | 1"', 'SN.ideal.links = "0-1 1-2"\n'),
}


def read(key: str, at: int, folder: Path) -> None:
    shutil.copy(TEMPLATES / "CC2420.txt", folder)
    value, beside = LATE[key]
    parse_scenario(f"{BASE}{beside}{key} = {value.format(at)}\n", Path("run.ini"), folder)


@pytest.mark.parametrize("key", LATE)
def test_a_time_after_the_end_is_refused(key: str, tmp_path: Path) -> None:
    """At the end is too late, too; a moment before is not."""
    for at in (30, 40):
        with pytest.raises(UserError, match=rf"run.ini:\d+: .*: {at}s is not before the end of the run, 30s"):
            read(key, at, tmp_path)
    read(key, 29, tmp_path)


def test_what_nobody_does_may_be_late(tmp_path: Path) -> None:
    """Of a node that neither subscribes nor publishes; a plan may go on after the end, as a recovery does."""
    shutil.copy(TEMPLATES / "CC2420.txt", tmp_path)
    lines = 'SN.node[*].Application.subscribeAt = 40s\nSN.node[1].faults = "10s crash, 40s recover"\n'
    text = BASE.replace("publisher subscriber ", "") + lines
    assert parse_scenario(text, Path("run.ini"), tmp_path).faults[-1].at == 40 * 10**9
