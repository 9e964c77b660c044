"""Scenarios for the ideal back-end: only nodes, roles and workload matter to it."""

from collections.abc import Sequence

from bridge.scenario import (
    ChannelParameters,
    MacParameters,
    NodeSettings,
    RadioParameters,
    Scenario,
    Workload,
)
from python_protocol.roles import Role
from python_protocol.simtime import SECOND, SimTime

CC2420 = RadioParameters(
    data_rate_bps=250_000,
    bits_per_symbol=4,
    noise_bandwidth_hz=194_000.0,
    noise_floor_dbm=-100.0,
    sensitivity_dbm=-95.0,
    rx_power_mw=62.0,
    tx_levels_mw=(
        (0, 57.42),
        (-1, 55.18),
        (-3, 50.69),
        (-5, 46.2),
        (-7, 42.24),
        (-10, 36.3),
        (-15, 32.67),
        (-25, 29.04),
    ),
)


def scenario(
    roles: Sequence[Role],
    workload: Workload = Workload(),  # noqa: B008  # frozen, so it cannot be changed by a caller
    *,
    seed: int = 0,
    time_limit: SimTime = 10 * SECOND,
    agent_parameters: dict[str, str] | None = None,
) -> Scenario:
    """A scenario with a node for each entry of `roles`."""
    return Scenario(
        seed=seed,
        time_limit=time_limit,
        field_m=(100.0, 100.0),
        channel=ChannelParameters(),
        radio=CC2420,
        mac=MacParameters(),
        nodes=tuple(NodeSettings(roles=entry) for entry in roles),
        workload=workload,
        agent_parameters=agent_parameters or {},
    )
