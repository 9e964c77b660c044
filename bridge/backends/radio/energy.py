"""Energy: each node's power and consumption, and batteries that run out.

Model: docs/reference/radio.md, "Energy", as in Castalia's ResourceManager. A node draws its baseline and its radio
state's power, added up before each change of state and at each `look`. Found empty, it is dead: its radio hears
nothing, its MAC refuses and forgets messages. A frame on the air leaves whole, where Castalia's never ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio import state
from roambus.bridge.backends.radio.engine import NEVER, compiled
from roambus.bridge.backends.radio.state import (
    DEAD_MAC,
    LISTENING,
    SENDING,
    SLEEPING,
    SWITCHING,
    TAKEN,
    State,
    let_go,
)
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.nodes import NodeSettings
from roambus.bridge.scenario.plans import FaultKind
from roambus.bridge.scenario.radio import RadioSettings
from roambus.bridge.system.errors import UserError
from roambus.python_protocol.simtime import SECOND, SimTime

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


def tx_power_mw(node: int, settings: NodeSettings, radio: RadioSettings) -> float:
    """Return the radio's power while sending; raise UserError for an unknown level."""
    levels = dict(radio.tx_levels_mw)
    if settings.tx_power_dbm not in levels:
        raise UserError(
            f"node {node}: the radio has no transmit power of {settings.tx_power_dbm:g} dBm; "
            f"it has {', '.join(f'{level:g}' for level in levels)}"
        )
    return levels[settings.tx_power_dbm]


def switch_power_mw(radio: RadioSettings) -> NDArray[np.float64]:
    """mW[origin, target] during the radio's changes of state."""
    power = np.full((4, 4), radio.transition_power_mw)
    power[:, SLEEPING] = radio.tx_to_sleep_power_mw
    power[LISTENING, SLEEPING] = radio.rx_to_sleep_power_mw
    power[SLEEPING] = radio.sleep_to_rx_power_mw
    return power


def batteries_of(scenario: Scenario, starts: NDArray[np.int64]) -> NDArray[Any]:
    """Return BATTERY[n]; empty if no radio sleeps and all batteries must outlast the run.

    That is the default. Batteries also count the consumption of nodes that sleep, as crashed ones do (`outages`).
    """
    radio, nodes = scenario.radio, scenario.nodes
    turn_off = scenario.mac.goes_down and any(fault.kind is FaultKind.CRASH for fault in scenario.faults)
    if scenario.batteries_last and not scenario.mac.may_sleep and not turn_off:
        return np.zeros(0, BATTERY)
    batteries = np.zeros(len(nodes), BATTERY)
    batteries["left"] = [node.initial_energy_j * MJ for node in nodes]
    batteries["since"] = starts
    batteries["baseline"] = [node.baseline_power_mw for node in nodes]
    batteries["tx"] = [tx_power_mw(node, settings, radio) for node, settings in enumerate(nodes)]
    batteries["interval"] = [node.energy_interval for node in nodes]
    return batteries


def first_looks(batteries: NDArray[Any]) -> list[tuple[int, int, int]]:
    """Return every node's first battery look, as an event."""
    times = (batteries["since"] + batteries["interval"]).tolist()
    return [(time, state.BATTERY, node) for node, time in enumerate(times)]


def energy_mj(scenario: Scenario, s: State, now: SimTime) -> NDArray[np.float64]:
    """Return mJ[n] used up to `now`; without batteries, RX except for TX and transitions.

    Activities under way count whole; they last milliseconds.
    """
    if len(s.batteries):
        return _gone_of_batteries(scenario, s, now)
    radio, nodes = scenario.radio, s.nodes
    awake = np.maximum(now - nodes["start"], 0) / SECOND
    baseline = np.array([settings.baseline_power_mw for settings in scenario.nodes])
    tx = np.array([tx_power_mw(node, settings, radio) for node, settings in enumerate(scenario.nodes)])
    sending = nodes["sending_time"] / SECOND
    away = np.isin(nodes["radio"], (SENDING, SWITCHING))
    back = (nodes["switches"] - away) // 2  # every second switch is one back to RX
    switching = (back * (radio.rx_to_tx + radio.tx_to_rx) + away * radio.rx_to_tx) / SECOND
    energy: NDArray[np.float64] = (baseline + radio.rx_power_mw) * awake + (tx - radio.rx_power_mw) * sending
    energy += (radio.transition_power_mw - radio.rx_power_mw) * switching
    return energy


def _gone_of_batteries(scenario: Scenario, s: State, now: SimTime) -> NDArray[np.float64]:
    """Return each battery's consumption, with the current draw of those not empty."""
    batteries, radio, nodes = s.batteries, scenario.radio, s.nodes
    switching = s.run["switch_power"][0][nodes["origin"], nodes["target"]]
    in_state = [nodes["radio"] == mode for mode in (LISTENING, SENDING, SLEEPING)]
    own = np.select(in_state, [radio.rx_power_mw, batteries["tx"], radio.sleep_power_mw], switching)
    since = np.where(batteries["died"] > 0, 0, np.maximum(now - batteries["since"], 0)) / SECOND
    capacity = np.array([settings.initial_energy_j * MJ for settings in scenario.nodes])
    left = np.maximum(batteries["left"] - (own + batteries["baseline"]) * since, 0.0)
    gone: NDArray[np.float64] = capacity - left
    return gone


@compiled
def spend(s: State, node: int, now: int) -> None:
    """Charge the node's draw in its radio state; call before that changes."""
    if len(s.batteries) == 0 or s.batteries[node].died > 0:
        return
    battery = s.batteries[node]
    battery.left -= (_radio_power(s, node) + battery.baseline) * (now - battery.since) / SECOND
    battery.since = now
    if battery.left <= 0:
        battery.left = 0.0
        battery.died = now
        _die(s, node)


@compiled
def _radio_power(s: State, index: int) -> float:
    """Return the radio's present mW."""
    node, run = s.nodes[index], s.run[0]
    if node.radio == LISTENING:
        return float(run.radio.rx_power_mw)
    if node.radio == SENDING:
        return float(s.batteries[index].tx)
    if node.radio == SLEEPING:
        return float(run.radio.sleep_power_mw)
    return float(run.switch_power[node.origin, node.target])


@compiled
def look(s: State, node: int, now: int) -> None:
    """Check the node's battery and schedule the next check; a new radio state defers it."""
    battery = s.batteries[node]
    if now - battery.since >= battery.interval:
        spend(s, node, now)
    if battery.died == 0:
        state.schedule(s, battery.since + battery.interval, state.BATTERY, node)


@compiled
def _die(s: State, index: int) -> None:
    """Stop the node as if never booted, without notice to its agent.

    Python learns it at the end, from `died`.
    """
    node = s.nodes[index]
    node.start = NEVER
    node.heard = 0
    node.mac = DEAD_MAC
    node.is_down = 1
    forget_frames(s, index, TAKEN)


@compiled
def forget_frames(s: State, index: int, reason: int) -> None:
    """Empty the MAC's queue and the radio's buffer; frames that are not on the air fail for this reason."""
    node, run = s.nodes[index], s.run[0]
    for k in range(node.queued):
        frame = s.queues[index, (node.front + k) % run.mac.buffer_size]
        if s.frames[frame].holders == 1:
            s.frames[frame].refusal = reason
        let_go(s, frame)
    node.queued = 0
    node.buffered = 0
