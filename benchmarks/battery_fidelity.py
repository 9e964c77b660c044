"""Holds batteries to Castalia: it compares when nodes that send beacons die, and what they have used.

CASTALIA_ROOT=... OMNETPP_ROOT=... python -m benchmarks.battery_fidelity [--seeds N]

Nodes of one field have batteries that last some seconds. Both back-ends look at a battery when the radio changes its
state, and a second after they last did. Boot times and traffic are drawn differently, so that means are compared: of
the times of deaths, which nodes that do nothing else but listen reach within a second.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.hardware.bursts import FACTORIES
from benchmarks.held_groups import Rows, check, exit_code
from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.runs.run import execute
from roambus.bridge.trace.parquet import read_trace
from roambus.bridge.trace.schema import DETAIL, EVENT, TIME_S
from roambus.experiments.sweeps.runner import plan_run
from roambus.experiments.sweeps.sweep import AgentChoice, Point
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.trace_rows import DIE, ENERGY

SEEDS = 10
GROUPS: Mapping[str, tuple[float, float]] = {
    "idle": (0.0, 0.7),
    "seldom": (1.0, 0.7),
    "often": (50.0, 0.7),
}
"""Beacons a second and node, and J a node."""
METRICS = ("first death, s", "mean death, s", "energy, mJ")


def run(backend: str, rate: float, joules: float, seed: int) -> dict[str, float]:
    """Deaths and energy of one run; raises RoambusError."""
    variables: dict[str, Scalar] = {"nodes": 8, "side": 30, "time_limit": 20, "battery": joules}
    choice = AgentChoice("beacon", "beacon", (("rate", f"{rate:g}"),))
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_run(find_template("field"), Point(choice, (), variables, seed), Path(folder))
        execute(plan, FACTORIES[backend])
        trace = read_trace(plan.folder / TRACE_FILE).to_pandas()
    deaths = trace[trace[EVENT] == DIE][TIME_S]
    energy = trace[trace[EVENT] == ENERGY][DETAIL].astype(float)
    return dict(zip(METRICS, (float(deaths.min()), float(deaths.mean()), float(energy.mean())), strict=True))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 if any metric is outside, 2 for a user's error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.battery_fidelity", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds = range(parser.parse_args(arguments).seeds)

    def run_group(group: str, backend: str) -> Rows:
        return [run(backend, *GROUPS[group], seed) for seed in seeds]

    return exit_code("battery_fidelity", lambda: check(GROUPS, list(GROUPS), METRICS, run_group))


if __name__ == "__main__":
    sys.exit(main())
