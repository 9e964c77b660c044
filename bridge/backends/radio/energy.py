"""The energy that each node has used: docs/radio.md, "Energy", has the powers, which are summed over time here.

Batteries in the compiled loop: docs/radio.md, "Energy", has the model, which is that of Castalia's ResourceManager.

What a node has drawn is worked out whenever its radio changes its state, and a while after it was last worked out. A
node whose battery is found empty is dead: its radio hears nothing, its MAC takes nothing and forgets what it has. A
frame that is on the air leaves whole.

The arrays of batteries: what each node has left, and what it draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio import state
from roambus.bridge.backends.radio.heap import NEVER, compiled
from roambus.bridge.backends.radio.state import DEAD_MAC, LISTENING, SENDING, SLEEPING, SWITCHING, State, let_go
from roambus.bridge.errors import UserError
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.radio import RadioSettings
from roambus.python_protocol.simtime import SECOND, SimTime


def tx_power_mw(node: int, settings: NodeSettings, radio: RadioSettings) -> float:
    """What the radio draws while it sends; raises UserError if it has no such level."""
    levels = dict(radio.tx_levels_mw)
    if settings.tx_power_dbm not in levels:
        raise UserError(
            f"node {node}: the radio has no transmit power of {settings.tx_power_dbm:g} dBm; "
            f"it has {', '.join(f'{level:g}' for level in levels)}"
        )
    return levels[settings.tx_power_dbm]


def energy_mj(scenario: Scenario, s: State, now: SimTime) -> NDArray[np.float64]:
    """The mJ[n] used up to `now`: baseline and RX count all the time, TX and transitions in place of RX.

    What is under way at `now` counts whole; it lasts some milliseconds at most.
    """
    if len(s.batteries):
        return _out_of_batteries(scenario, s, now)
    radio = scenario.radio
    awake = np.maximum(now - s.nodes["start"], 0) / SECOND
    baseline = np.array([settings.baseline_power_mw for settings in scenario.nodes])
    tx = np.array([tx_power_mw(node, settings, radio) for node, settings in enumerate(scenario.nodes)])
    sending = s.nodes["sending_time"] / SECOND
    energy: NDArray[np.float64] = (baseline + radio.rx_power_mw) * awake + (tx - radio.rx_power_mw) * sending
    return energy + (radio.transition_power_mw - radio.rx_power_mw) * _switching_s(radio, s)


def _out_of_batteries(scenario: Scenario, s: State, now: SimTime) -> NDArray[np.float64]:
    """What is gone of each battery; of those that are not empty also what was drawn since it was last worked out."""
    batteries, radio, state = s.batteries, scenario.radio, s.nodes["radio"]
    origin, falls_asleep = s.nodes["origin"], s.nodes["target"] == SLEEPING
    drawn = [  # as in `battery`: the first that holds
        (state == LISTENING, radio.rx_power_mw),
        (state == SENDING, batteries["tx"]),
        (state == SLEEPING, radio.sleep_power_mw),
        (origin == SLEEPING, radio.sleep_to_rx_power_mw),
        (falls_asleep & (origin == LISTENING), radio.rx_to_sleep_power_mw),
        (falls_asleep, radio.tx_to_sleep_power_mw),
    ]
    conditions, choices = zip(*drawn, strict=True)
    powers = np.select(conditions, choices, radio.transition_power_mw) + batteries["baseline"]
    since = np.where(batteries["died"] > 0, 0, np.maximum(now - batteries["since"], 0)) / SECOND
    capacity = np.array([settings.initial_energy_j * 1000 for settings in scenario.nodes])
    gone: NDArray[np.float64] = capacity - np.maximum(batteries["left"] - powers * since, 0.0)
    return gone


def _switching_s(radio: RadioSettings, s: State) -> NDArray[np.float64]:
    away = np.isin(s.nodes["radio"], (SENDING, SWITCHING))
    back = (s.nodes["switches"] - away) // 2
    seconds: NDArray[np.float64] = (back * (radio.rx_to_tx + radio.tx_to_rx) + away * radio.rx_to_tx) / SECOND
    return seconds


@compiled
def spend(s: State, node: int, now: int) -> None:
    """Takes off what the node has drawn in the state that its radio is in; to be called before that changes."""
    if len(s.batteries) == 0 or s.batteries[node].died > 0:
        return
    battery = s.batteries[node]
    battery.left -= _power(s, node) * (now - battery.since) / SECOND
    battery.since = now
    if battery.left <= 0:
        battery.left = 0.0
        battery.died = now
        _die(s, node)


@compiled
def _power(s: State, node: int) -> float:
    """What the node draws now, in mW."""
    battery, radio = s.batteries[node], s.run[0].radio
    state = s.nodes[node].radio
    if state == LISTENING:
        own = radio.rx_power_mw
    elif state == SENDING:
        own = battery.tx
    elif state == SLEEPING:
        own = radio.sleep_power_mw
    else:
        own = _switching_power(s, node)
    total: float = own + battery.baseline
    return total


@compiled
def _switching_power(s: State, index: int) -> float:
    node, radio = s.nodes[index], s.run[0].radio
    power: float = radio.transition_power_mw
    if node.origin == SLEEPING:
        power = radio.sleep_to_rx_power_mw
    elif node.target == SLEEPING:
        power = radio.rx_to_sleep_power_mw if node.origin == LISTENING else radio.tx_to_sleep_power_mw
    return power


@compiled
def look(s: State, node: int, now: int) -> None:
    """The node looks at its battery, and will do so again after a while."""
    battery = s.batteries[node]
    if now - battery.since >= battery.interval:
        spend(s, node, now)
    if battery.died == 0:
        state.schedule(s, battery.since + battery.interval, state.BATTERY, node)


@compiled
def _die(s: State, index: int) -> None:
    """Nothing starts at this node any more, as if it had never booted."""
    node, run = s.nodes[index], s.run[0]
    node.start = NEVER
    node.heard = 0
    node.mac = DEAD_MAC
    for k in range(node.queued):
        let_go(s, s.queues[index, (node.front + k) % run.mac.buffer_size])
    for k in range(node.buffered):
        let_go(s, s.buffers[index, (node.buffer_front + k) % run.radio.buffer_size])
    node.queued = 0
    node.buffered = 0


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
    return [(time, state.BATTERY, node) for node, time in enumerate(times)]
