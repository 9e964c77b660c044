"""How fast IEEE 802.15.4 is: the embedded radio, ns-3 with our agents, and both alone with the frames of that run.

    NS3_ROOT=... python -m benchmarks.mac_speed --seconds 20

MFT-PubSub at 8 m/s publishes to the end. Alone, a radio carries the frames that the agents sent on the embedded one,
with their sizes and times, and no agent hears what arrives. The figures are simulated seconds per CPU second, of this
process and of ns-3's, less a run of five seconds.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Backend, Step, Transmission
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.runs.run import RunPlan
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.sweeps.runner import plan_runs
from roambus.experiments.sweeps.selection import override
from roambus.experiments.sweeps.sweep_file import read_sweep
from roambus.extensions.ns3.backend import Ns3Factory
from roambus.python_protocol.simtime import SimTime

START_S = 5


class Recording(RadioBackend):
    """The embedded radio, which keeps what it is given."""

    def __init__(self, scenario: Scenario) -> None:
        """See `RadioBackend`."""
        super().__init__(scenario)
        self.frames: list[Transmission] = []

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """See `RadioBackend`."""
        self.frames += transmissions
        return super().advance(transmissions, wake_up)


def planned(config: str, seconds: int, folder: Path) -> RunPlan:
    """The study's run of this size and length."""
    settings = {
        "agent": "mft",
        "config": config,
        "speed": "8",
        "time_limit": str(seconds),
        "publish_until": str(seconds),
    }
    (plan,) = plan_runs(override(read_sweep("thesis-acknowledged"), settings, seeds=1), folder)
    return plan


def with_agents(plan: RunPlan, backend: Backend) -> None:
    """A run as in a sweep, but for its file."""
    scenario = parse_scenario(plan.ini, plan.folder, plan.radio_file.parent)
    Host(scenario, load_agent(plan.agent), backend, TraceWriter(plan.level)).run()


def alone(backend: Backend, frames: Sequence[Transmission]) -> None:
    """Carry the frames."""
    backend.open()
    backend.advance([], frames[0].at - 1)  # a simulator is given frames from its first answer on
    while backend.advance(frames, None) is not None:
        frames = []
    backend.close()


def cpu_s(work: Callable[[], None]) -> float:
    """What it takes of the CPU, here and in processes that have ended."""
    before = _cpu_now_s()
    work()
    return _cpu_now_s() - before


def _cpu_now_s() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def costs(config: str, seconds: int) -> dict[str, float]:
    """The CPU seconds of each kind of run."""
    with TemporaryDirectory() as folder:
        plan = planned(config, seconds, Path(folder))
        scenario, agent = parse_scenario(plan.ini, plan.folder, plan.radio_file.parent), load_agent(plan.agent)
        recording = Recording(scenario)
        with_agents(plan, recording)
        frames = sorted(recording.frames, key=lambda frame: frame.at)

        def ns3() -> Backend:
            return Ns3Factory().make(scenario, agent, Path(folder))

        return {
            "embedded": cpu_s(lambda: with_agents(plan, RadioBackend(scenario))),
            "embedded alone": cpu_s(lambda: alone(RadioBackend(scenario), frames)),
            "ns-3": cpu_s(lambda: with_agents(plan, ns3())),
            "ns-3 alone": cpu_s(lambda: alone(ns3(), frames)),
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mac_speed", description=__doc__)
    parser.add_argument("--seconds", type=int, default=20)
    asked = parser.parse_args(arguments)
    for config in ("C16", "C32"):
        start, whole = costs(config, START_S), costs(config, START_S + asked.seconds)
        for kind, taken in whole.items():
            print(f"{config},{kind},{asked.seconds / (taken - start[kind]):.3g}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
