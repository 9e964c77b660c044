"""The arrays of batteries: what each node has left, and what it draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.energy import tx_power_mw
from roambus.bridge.backends.radio.heap import INDEX_BITS, KIND_BITS
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
    """BATTERY[n]; empty if all batteries last longer than the run whatever the nodes do, as they do by default."""
    radio, nodes = scenario.radio, scenario.nodes
    highest = max(radio.rx_power_mw, radio.transition_power_mw, *(mw for _, mw in radio.tx_levels_mw))
    seconds = scenario.time_limit / SECOND
    if all(one.initial_energy_j * MJ > (one.baseline_power_mw + highest) * seconds for one in nodes):
        return np.zeros(0, BATTERY)
    batteries = np.zeros(len(nodes), BATTERY)
    batteries["left"] = [one.initial_energy_j * MJ for one in nodes]
    batteries["since"] = starts
    batteries["baseline"] = [one.baseline_power_mw for one in nodes]
    batteries["tx"] = [tx_power_mw(node, one, radio) for node, one in enumerate(nodes)]
    batteries["interval"] = [one.energy_interval for one in nodes]
    return batteries


def put_first_looks(heap: NDArray[np.int64], run: NDArray[Any], batteries: NDArray[Any], kind: int) -> None:
    """Puts every node's first look at its battery into the empty queue of events; in order they are a heap."""
    times = batteries["since"] + batteries["interval"]
    for place, node in enumerate(np.argsort(times, kind="stable").tolist()):
        heap[place] = times[node], (place << (INDEX_BITS + KIND_BITS)) | (kind << INDEX_BITS) | node
    run["events"] = run["pushed"] = len(batteries)
