"""Fields of nodes that send beacons, our runs of them, and the CPU time that runs take."""

from __future__ import annotations

import math
import resource
from collections.abc import Sequence
from dataclasses import dataclass

from roambus.bridge.backend import Backend, Hello, Step, Transmission
from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.host.event_loop import Host
from roambus.bridge.mobility.paths import places_of
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.trace.parquet import TraceWriter
from roambus.experiments.inventory import TEMPLATES
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.agent import Agent
from roambus.python_protocol.simtime import SimTime

RATE_PER_S, PAYLOAD_BYTES, DELAY_S = 10.0, 40, 0.001
NODES, SIDE_M, SPEED = 66, 110.0, 8


def cpu_now_s() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@dataclass(frozen=True, slots=True)
class Field:
    """Beacons of nodes that stand still or move at 8 m/s, each with the room that it has in the thesis' C32."""

    nodes: int = NODES
    moving: bool = False
    seed: int = 1

    def settings(self, seconds: int) -> dict[str, Scalar]:
        """Return the template's variables."""
        side = SIDE_M * math.sqrt(self.nodes / NODES)
        moving: dict[str, Scalar] = {"mobility": "waypoint", "speed": SPEED} if self.moving else {}
        return {"nodes": self.nodes, "side": side, "time_limit": seconds, "seed": self.seed} | moving

    def ini(self, seconds: int, lines: Sequence[str] = ()) -> str:
        """The ini of a run, with more lines at its end."""
        parameters = f"rate={RATE_PER_S:g} payload={PAYLOAD_BYTES}"
        agent: dict[str, Scalar] = {"agent": "beacon", "agent_parameters": parameters, "publish_interval": "0s"}
        deployment: dict[str, Scalar] = {"deployment": ""} if lines else {}
        text = find_template("field").render(self.settings(seconds) | agent | deployment)
        return "\n".join([text, f"SN.ideal.delay = {DELAY_S * 1000:g}ms", *lines, ""])

    def scenario(self, seconds: int) -> Scenario:
        """The run as our back-ends read it; raises UserError."""
        return parsed(self.ini(seconds))

    def place_lines(self) -> list[str]:
        """Lines by which another simulator puts the nodes where ours are."""
        places = places_of(self.scenario(1)).tolist()
        return [
            f"SN.node[{node}].{axis}Coor = {at:.3f}"
            for node, place in enumerate(places)
            for axis, at in zip("xy", place, strict=True)
        ]


def parsed(ini: str) -> Scenario:
    """Read the ini of a field; raises UserError."""
    return parse_scenario(ini, find_template("field").file, TEMPLATES)


class Counted:
    """A back-end that also counts what it gives to agents, and knows the CPU time at which it was open (s)."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.fail, self.close = backend.fail, backend.close
        self.deliveries, self.open_s = 0, 0.0

    def open(self) -> Hello:
        """See `Backend`."""
        hello = self._backend.open()
        self.open_s = cpu_now_s()
        return hello

    def advance(self, transmissions: Sequence[Transmission], wake_up: SimTime | None) -> Step | None:
        """See `Backend`."""
        step = self._backend.advance(transmissions, wake_up)
        self.deliveries += len(step.deliveries) if step else 0
        return step


def hosted(scenario: Scenario, agent: type[Agent], backend: Backend) -> float:
    """Run our agents over the back-end; return what they received."""
    counted = Counted(backend)
    Host(scenario, agent, counted, TraceWriter()).run()
    return counted.deliveries
