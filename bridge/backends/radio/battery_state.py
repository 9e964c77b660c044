"""The arrays of batteries: what each node has left, and what it draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio import events
from roambus.bridge.backends.radio.energy import tx_power_mw
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.simtime import SECOND

BATTERY = np.dtype(
    [
        ("left", "f8"),  # mJ at `since`
        ("since", "i8"),  # when that was worked out
        ("baseline", "f8"),  # mW beside the radio
        ("tx", "f8"),  # mW while it sends
        ("interval", "i8"),  # ns after which the node looks at its battery if nothing else makes it do so
        ("died", "i8"),  # when it was empty; 0 if it is not
    ]
)
MJ = 1000
"""in a joule"""


def batteries_of(scenario: Scenario, starts: NDArray[np.int64]) -> NDArray[Any]:
    """BATTERY[n]; empty if no radio sleeps and all batteries last longer than the run whatever the nodes do.

    So it is by default. What nodes use that sleep is counted by their batteries, too.
    """
    radio, nodes = scenario.radio, scenario.nodes
    highest = max(radio.rx_power_mw, radio.transition_power_mw, *(mw for _, mw in radio.tx_levels_mw))
    seconds = scenario.time_limit / SECOND
    lasting = all(one.initial_energy_j * MJ > (one.baseline_power_mw + highest) * seconds for one in nodes)
    if lasting and not scenario.mac.may_sleep:
        return np.zeros(0, BATTERY)
    batteries = np.zeros(len(nodes), BATTERY)
    batteries["left"] = [one.initial_energy_j * MJ for one in nodes]
    batteries["since"] = starts
    batteries["baseline"] = [one.baseline_power_mw for one in nodes]
    batteries["tx"] = [tx_power_mw(node, one, radio) for node, one in enumerate(nodes)]
    batteries["interval"] = [one.energy_interval for one in nodes]
    return batteries


def first_looks(batteries: NDArray[Any]) -> list[tuple[int, int, int]]:
    """Every node's first look at its battery, as an event."""
    times = (batteries["since"] + batteries["interval"]).tolist()
    return [(time, events.BATTERY, node) for node, time in enumerate(times)]
