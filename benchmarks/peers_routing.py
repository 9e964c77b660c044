"""AODV at C16 and C32 on several simulators, with the same movement files: the second table of `benchmarks.peers`.

Two publishers send a packet a second to each subscriber for 60 s; all nodes wander at 8 m/s, by the files of
`benchmarks.ns3_aodv`, whose page docs/ns3.md says what differs between the two AODVs. Each repetition has a seed, and
movements, of its own. Times are processor time of the simulation, which other programs on the machine change least.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.ns3_aodv import CASES, Case, Result, has_ns3, hosted, ini_of, run_ns3, run_ours, scenario_of
from roambus.bridge.backends.castalia.backend import DEADLINE_S, CastaliaBackend
from roambus.bridge.backends.castalia.installation import find_installation
from roambus.bridge.backends.castalia.simulators import StartedSimulator, ways_of
from roambus.bridge.errors import UserError
from roambus.bridge.runs.layout import INI_FILE
from roambus.experiments.measurements import markdown_table
from roambus.experiments.shipped import TEMPLATES
from roambus.python_protocol.aodv import Aodv

ROUTING = tuple(case for case in CASES if case.name.startswith(("C16", "C32")))
HEAD = ("scenario", "simulator", "what it simulates", "delivered", "hops", "CPU s", "simulated s per CPU s")
CSMA, WIFI = (
    "CC2420 at 250 kbit/s, CSMA without retransmissions, our links",
    "802.11b at 1 Mbit/s, MAC acknowledges",
)
CAVEATS = """\
Both radios have the same mean path loss and no shadowing. 802.11b sends a packet in a fifth of the time, and its MAC
acknowledges and repeats unicasts, so that ns-3 simulates fewer collisions and fewer searches for routes. Over its
lr-wpan, the radio of 802.15.4, ns-3 carries IPv6, but its AODV is for IPv4, so that it is not here.
GrADyS-SIM NextGen has neither a MAC nor AODV."""


class Row(NamedTuple):
    """A simulator with its results at one scenario, one for each seed."""

    case: Case
    name: str
    channel: str
    results: Sequence[Result]

    @property
    def cells(self) -> tuple[str, ...]:
        """The medians, as the table shows them."""
        delivered = statistics.median(one.delivered for one in self.results)
        hops = statistics.median(one.hops for one in self.results)
        seconds = statistics.median(one.seconds for one in self.results)
        speed = self.case.seconds / seconds
        scenario = self.case.name.partition(",")[0]
        return (scenario, self.name, self.channel, f"{delivered:.3f}", f"{hops:.2f}", f"{seconds:.2f}", f"{speed:.1f}")


def routing_table(repeats: int, ns3_python: str, cases: Sequence[Case] = ROUTING) -> str:
    """The table, what it does not say, and which simulators are not here; raises UserError if one fails."""
    seeds = range(repeats)
    rows = [Row(case, "roambus, embedded radio", CSMA, [run_ours(case, seed) for seed in seeds]) for case in cases]
    missing = []
    if has_ns3(ns3_python):
        theirs = run_ns3(cases, repeats, ns3_python)
        rows += [Row(case, "ns-3, AODV in C++", WIFI, theirs[case.name]) for case in cases]
    else:
        missing.append(f"ns-3 is left out: {ns3_python} has no package ns3 (pip install ns3; --ns3-python)")
    try:
        rows += list(_castalia(cases, repeats))
    except UserError as error:
        missing.append(f"Castalia is left out: {error}")
    rows.sort(key=lambda row: cases.index(row.case))
    return "\n".join([markdown_table(HEAD, [row.cells for row in rows]), "", CAVEATS, *missing])


def _castalia(cases: Sequence[Case], repeats: int) -> Iterator[Row]:
    find_installation()
    for case in cases:
        found = [_run_castalia(case, seed) for seed in range(repeats)]
        yield Row(case, "Castalia, our AODV over the bridge", CSMA, found)


def _run_castalia(case: Case, seed: int) -> Result:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = scenario_of(case, seed, folder)
        (folder / INI_FILE).write_text(ini_of(case, seed), encoding="utf-8")
        shutil.copy(TEMPLATES / "CC2420.txt", folder)
        simulator = StartedSimulator(folder, find_installation().program(), DEADLINE_S, ways_of(scenario))
        return hosted(case, scenario, CastaliaBackend(scenario, Aodv.messages, simulator))
