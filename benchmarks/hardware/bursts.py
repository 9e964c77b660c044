"""Makes recordings on our back-ends as the testbeds made theirs: nodes send bursts in turn, and all others listen.

Each burst is 100 frames of 100 bytes, 10 ms apart, as in the public recordings of 2017 (Mercator on IoT-LAB). The
channel of the models has no frequency, so that a recording of theirs has one channel.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.agents import load_agent
from roambus.bridge.backend import Backend, BackendFactory, Transmission
from roambus.bridge.backends.castalia.backend import CastaliaFactory
from roambus.bridge.backends.radio.backend import RadioFactory
from roambus.bridge.formats.ini import read_scenario
from roambus.bridge.formats.recordings import ROW, Recording
from roambus.bridge.runs.layout import INI_FILE
from roambus.bridge.runs.run import write_inputs
from roambus.experiments.sweeps.runner import plan_run
from roambus.experiments.sweeps.sweep import AgentChoice, Point
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.baselines import BeaconMessage
from roambus.python_protocol.roles import BROADCAST, NodeId
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

FACTORIES: Mapping[str, BackendFactory] = {"radio": RadioFactory(), "castalia": CastaliaFactory(deadline_s=300)}

FRAMES, INTERVAL = 100, 10 * MILLISECOND
BEGIN = 61 * SECOND
"""After a minute links have forgotten how they began, which in Castalia is without any loss (docs/deviations.md)."""
MESSAGE_BYTES = 100 - 19
"""With the headers of network and MAC it makes 100 bytes, which is what the testbeds' frames had."""


class Sent(NamedTuple):
    """A frame that is to be sent."""

    at: SimTime
    node: NodeId


class Heard(NamedTuple):
    """Frame `frame` of those sent has arrived."""

    frame: int
    receiver: NodeId
    rssi_dbm: float


def exchange(  # noqa: PLR0913, PLR0917  # a run, what is sent in it, and how its ini differs
    factory: BackendFactory,
    variables: Mapping[str, Scalar],
    seed: int,
    frames: Sequence[Sent],
    size: int,
    changes: Mapping[str, str] = MappingProxyType({}),
) -> list[Heard]:
    """Sends the frames in a run of the template `field`; returns who heard which. Raises RoambusError.

    `changes` are texts that replace others in the ini.
    """
    end = frames[-1].at / SECOND + 1
    point = Point(AgentChoice("beacon", "beacon", (("rate", "0"),)), (), {**variables, "time_limit": end}, seed)
    agent = load_agent("beacon")
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_run(find_template("field"), point, Path(folder))
        for old, new in changes.items():
            plan = replace(plan, ini=plan.ini.replace(old, new))
        write_inputs(plan, Path(folder))
        backend = factory.make(read_scenario(Path(folder) / INI_FILE), agent, Path(folder))
        return list(_carried(backend, frames, size))


def _carried(backend: Backend, frames: Sequence[Sent], size: int) -> Iterator[Heard]:
    backend.open()
    message = BeaconMessage(size)
    newest = dict.fromkeys((frame.node for frame in frames), 0)
    due, outgoing = 0, list[Transmission]()
    try:
        while (step := backend.advance(outgoing, frames[due].at if due < len(frames) else None)) is not None:
            outgoing = []
            yield from (
                Heard(newest[delivery.sender], delivery.receiver, delivery.rssi_dbm) for delivery in step.deliveries
            )
            while not step.more and due < len(frames) and frames[due].at <= step.now:
                node = frames[due].node
                newest[node] = due
                outgoing.append(Transmission(node, step.now, BROADCAST, message, size))
                due += 1
    finally:
        backend.close()


class Plan(NamedTuple):
    """Rounds of bursts: in each, every node sends one."""

    nodes: int
    side_m: float
    rounds: int
    pause_s: float
    """From the end of a round to the beginning of the next."""
    temporal: str = ""
    """A parameters file of the temporal model, or none."""
    more: Mapping[str, Scalar] = MappingProxyType({})
    """Further variables of the template."""
    senses: bool = True
    """Whether nodes sense the channel before they send, which the testbeds' did not."""

    def frames(self) -> list[Sent]:
        """The transmissions in the order of time."""
        burst = FRAMES * INTERVAL + 50 * MILLISECOND
        lasting = self.nodes * burst + round(self.pause_s * SECOND)
        return [
            Sent(BEGIN + turn * lasting + node * burst + frame * INTERVAL, node)
            for turn in range(self.rounds)
            for node in range(self.nodes)
            for frame in range(FRAMES)
        ]

    def variables(self) -> dict[str, Scalar]:
        """Of the template `field`."""
        own: dict[str, Scalar] = {"nodes": self.nodes, "side": self.side_m}
        return own | dict(self.more) | ({"temporal": self.temporal} if self.temporal else {})


def record(factory: BackendFactory, plan: Plan, seed: int) -> Recording:
    """Return the recording that such a testbed would have made; raises RoambusError."""
    frames = plan.frames()
    changes = {} if plan.senses else {"Radio.CCAthreshold = -95": "Radio.CCAthreshold = 100"}
    heard = exchange(factory, plan.variables(), seed, frames, MESSAGE_BYTES, changes)
    rows = _rows(plan, frames, np.array(heard, np.float64).reshape(-1, 3))
    return Recording(f"{factory.name}, {plan.side_m:g} m, seed {seed}", "", 0.0, "", tuple(range(plan.nodes)), rows)


def _rows(plan: Plan, frames: Sequence[Sent], heard: NDArray[np.float64]) -> NDArray[Any]:
    bursts, receivers = heard[:, 0].astype(np.int64) // FRAMES, heard[:, 1].astype(np.int64)
    keys, burst_of, counts = np.unique(bursts * plan.nodes + receivers, return_inverse=True, return_counts=True)
    rows = np.zeros(len(keys), ROW)
    burst = keys // plan.nodes
    rows["at"] = [frames[burst_number * FRAMES].at for burst_number in burst.tolist()]
    rows["source"], rows["target"], rows["channel"] = burst % plan.nodes, keys % plan.nodes, 11
    rows["rssi_dbm"] = np.bincount(burst_of, heard[:, 2]) / counts
    rows["delivery"], rows["sent"] = counts / FRAMES, FRAMES
    return rows
