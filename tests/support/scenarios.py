"""Scenarios for the ideal back-end: only nodes, roles and workload matter to it."""

from collections.abc import Sequence

from benchmarks.reference_scenarios import CC2420
from roambus.bridge.scenario.definition import Scenario, Workload
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.bridge.scenario.mac import TunableMacSettings
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.plans import Fault, ParentChange
from roambus.bridge.scenario.radio import ChannelSettings
from roambus.python_protocol.roles import Role
from roambus.python_protocol.simtime import SECOND, SimTime


def scenario(
    roles: Sequence[Role],
    workload: Workload = Workload(),  # noqa: B008  # frozen, so it cannot be changed by a caller
    *,
    seed: int = 0,
    time_limit: SimTime = 10 * SECOND,
    agent_parameters: dict[str, str] | None = None,
    tree: tuple[ParentChange, ...] = (),
    faults: tuple[Fault, ...] = (),
    ideal: IdealLinks = IdealLinks(),  # frozen, likewise
) -> Scenario:
    """A scenario with a node for each entry of `roles`."""
    return Scenario(
        seed=seed,
        time_limit=time_limit,
        field_m=(100.0, 100.0),
        channel=ChannelSettings(),
        radio=CC2420,
        mac=TunableMacSettings(),
        nodes=tuple(NodeSettings(roles=entry) for entry in roles),
        workload=workload,
        agent_parameters=agent_parameters or {},
        tree=tree,
        faults=faults,
        ideal=ideal,
    )
