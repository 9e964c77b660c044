"""Compares Castalia's MACs, radios and collision models under MFT-PubSub and AODV.

python -m benchmarks.castalia_stacks --seeds 2
python -m benchmarks.castalia_stacks --seeds 2 --stack TMAC

The thesis' network C4 at 2 m/s for 60 s, publications until 43 s. Each row changes one thing of the first one, and has
Castalia's own defaults for the rest. IEEE 802.15.4 and the MAC for body networks have a coordinator, which is the last
broker; who does not hear it has no network. Means over the seeds; the processor's time is that of host and Castalia.
"""

from __future__ import annotations

import argparse
import os
import resource
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import NamedTuple

from roambus.bridge.backends.castalia.backend import CastaliaFactory
from roambus.bridge.backends.castalia.installation import CASTALIA_ROOT
from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.runs.run import execute
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.sweep import AgentChoice, Sweep
from roambus.experiments.templates.template import Template, find_template
from roambus.experiments.templates.variables import Scalar
from roambus.spark.metrics.catalogue import (
    airtime,
    delivery_rate_all,
    end_to_end_delay_mean_s,
    energy_per_node_mj,
    messages_per_node,
)
from roambus.spark.metrics.run import Run

TIME_LIMIT_S = 60
MAC = "SN.node[*].Communication.MAC."
LAST = "SN.node[9].Communication.MAC."
WPAN = (
    f"{MAC}phyDataRate = 250",
    f"{MAC}phyBitsPerSymbol = 4",
    f"{LAST}isFFD = true",
    f"{LAST}isPANCoordinator = true",
)
AWAKE = tuple(f"{MAC}{name} = 6" for name in ("frameOrder", "beaconOrder"))
BAN = (f"{MAC}phyDataRate = 250", f"{LAST}isHub = true")
FIXED: dict[str, Scalar] = {
    "publishers": 2, "subscribers": 4, "brokers": 4, "side": 45, "speed": 2, "publish_until": 43,
    "time_limit": TIME_LIMIT_S,
}  # fmt: skip
AGENTS = (AgentChoice("mft", "mft"), AgentChoice("aodv", "aodv", (("profile", "thesis"),)))


class Stack(NamedTuple):
    """Changes to the template: variables, and keys that it does not have."""

    name: str
    variables: dict[str, Scalar]
    keys: Sequence[str] = ()


def stacks(castalia: Path) -> list[Stack]:
    """All of them; radios are described in Castalia's own files."""
    radios = castalia / "Simulations" / "Parameters" / "Radio"
    return [
        Stack("CSMA, CC2420, powers add up", {}),
        Stack("collisionModel 1", {"collision_model": 1}),
        Stack("collisionModel 0", {"collision_model": 0}),
        Stack("BypassMAC", {"mac": "BypassMAC"}),
        Stack("TMAC", {"mac": "TMAC"}),
        Stack("802.15.4, awake for a quarter", {"mac": "StaticGTS802154"}, WPAN),
        Stack("802.15.4, always awake", {"mac": "StaticGTS802154"}, (*WPAN, *AWAKE)),
        Stack("BaselineBANMac", {"mac": "BaselineBANMac"}, BAN),
        Stack("CC1000", {"radio": str(radios / "CC1000.txt")}, (f"{MAC}phyDataRate = 19.2",)),
        Stack("BANRadio", {"radio": str(radios / "BANRadio.txt")}, (f"{MAC}phyDataRate = 1024",)),
    ]


def row(stack: Stack, agent: AgentChoice, seeds: int, folder: Path) -> str:
    """The runs of one agent over one stack, as a row of the table."""
    template = folder / "stack.ini.j2"
    template.write_text(find_template("thesis").file.read_text() + "".join(f"\n{key}" for key in stack.keys) + "\n")
    factory, before = CastaliaFactory(), _cpu_s()
    sweep = Sweep("stacks", Template(template), (agent,), fixed={**FIXED, **stack.variables}, seeds=tuple(range(seeds)))
    runs = []
    for plan in plan_runs(sweep, folder / "results", backend=factory):
        execute(plan, factory)
        runs.append(Run(plan.folder / TRACE_FILE))
    cpu = (_cpu_s() - before) / seeds
    delays = [delay for run in runs if (delay := end_to_end_delay_mean_s(run)) == delay]  # of NaN
    cells = (
        f"{mean(map(delivery_rate_all, runs)):.3f}",
        f"{mean(delays):.3g}" if delays else "",
        f"{mean(map(messages_per_node, runs)):.0f}",
        f"{mean(map(airtime, runs)):.3g}",
        f"{mean(map(energy_per_node_mj, runs)) / TIME_LIMIT_S:.1f}",
        f"{cpu:.1f}",
    )
    return f"| {stack.name} | {agent.label} | {' | '.join(cells)} |"


def _cpu_s() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> None:
    """Prints a row for each stack and agent, as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--stack", action="append", help="only those whose names have this in them")
    options = parser.parse_args()
    print("| stack | agent | delivered | delay, s | messages a node | airtime | mW a node | CPU, s |")
    print("|---|---|---|---|---|---|---|---|")
    for stack in stacks(Path(os.environ[CASTALIA_ROOT])):
        if not options.stack or any(word in stack.name for word in options.stack):
            for agent in AGENTS:
                with TemporaryDirectory() as folder:
                    print(row(stack, agent, options.seeds, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
