"""The energy that each node has used: docs/radio.md, "Energy", has the powers, which are summed over time here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.state import LISTENING, SENDING, SLEEPING, SWITCHING, State
from roambus.bridge.errors import UserError
from roambus.bridge.scenario.node import NodeSettings
from roambus.bridge.scenario.radio import RadioSettings
from roambus.bridge.scenario.scenario import Scenario
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
