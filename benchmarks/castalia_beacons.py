"""Runs of Castalia whose nodes send beacons made in C++, without any host.

Castalia is found through OMNETPP_ROOT and CASTALIA_ROOT, and needs our modules for it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.backends.castalia.simulators import linked_directory
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.system.errors import BackendError
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar

APPLICATION = "SN.node[*].Application."

Outputs = Mapping[tuple[str, str], float]
"""The sums over the nodes, by the name of an output and the label of its value."""

_OUTPUT = re.compile(r"Castalia\|\t\tsimple output name:(.*)")
_VALUE = re.compile(r"Castalia\|\t\t\t(\S+) ?(.*)")


def write_ini(folder: Path, settings: Mapping[str, Scalar], lines: Sequence[str]) -> Path:
    """The ini of the template `field`; `lines` come first, for OMNeT++ takes the first line that fits."""
    text = find_template("field").render({**settings, "agent": "beacon", "agent_parameters": ""})
    names = {line.partition(" = ")[0] for line in lines}
    kept = [line for line in text.splitlines() if line.partition(" = ")[0] not in names]
    place = kept.index("[General]") + 1
    ini = folder / INI_FILE
    ini.write_text("\n".join([*kept[:place], *lines, *kept[place:], ""]), encoding="utf-8")
    shutil.copy(TEMPLATES / "CC2420.txt", folder)
    return ini


def run_beacons(settings: Mapping[str, Scalar], lines: Sequence[str], rate_per_s: float, payload: int) -> Outputs:
    """The output of Castalia's modules at the end of a run.

    Raises UserError if Castalia is not there, and BackendError if it fails.
    """
    found = find_installation()
    program = found.program()
    beacons = ['SN.node[*].ApplicationName = "NativeBeacon"']
    beacons += [f"{APPLICATION}rate = {rate_per_s}", f"{APPLICATION}payload = {payload}"]
    with tempfile.TemporaryDirectory() as name, linked_directory(Path(name), found.links()):
        write_ini(Path(name), settings, [*lines, *beacons])
        done = subprocess.run(  # the user's own simulator, without a shell
            program.command, cwd=name, env=program.environment, check=False, capture_output=True, text=True
        )
    if done.returncode != 0:
        raise BackendError(f"Castalia ended with exit status {done.returncode}: {_last_line(done.stderr)}")
    return sum_outputs(done.stdout)


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "without a word")


def sum_outputs(text: str) -> Outputs:
    """The sums over the nodes of what Castalia's modules print at the end; 0 for what none of them printed."""
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    output = ""
    for line in text.splitlines():
        if named := _OUTPUT.search(line):
            output = named[1]
        elif value := _VALUE.search(line):
            sums[output, value[2]] += float(value[1])
    return sums
