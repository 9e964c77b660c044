"""What a duty cycle adds to the state of the compiled loop: preambles, and when nodes first sleep.

TunableMAC calls its preambles beacons. All that a node sends are alike, so each node has one frame for them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio import events
from roambus.bridge.backends.radio.state import FRAME
from roambus.bridge.scenario.mac import MacSettings
from roambus.bridge.scenario.scenario import Scenario
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import SECOND, SimTime


def preambles_of(scenario: Scenario) -> int:
    """How many frames are kept for preambles: one for each node if nodes sleep in turns."""
    return len(scenario.nodes) if scenario.mac.sleep_interval > 0 else 0


def preamble_airtime(scenario: Scenario) -> SimTime:
    """The time that a preamble is on the air."""
    size = scenario.mac.preamble_bytes + scenario.radio.frame_overhead_bytes
    return size * 8 * SECOND // scenario.radio.data_rate_bps


def preambles_a_packet(scenario: Scenario) -> int:
    """How many go before a packet: as many as cover the time that others sleep, or the given share of it."""
    return math.ceil(scenario.mac.sleep_interval * scenario.mac.preamble_share / preamble_airtime(scenario))


def frames_of(scenario: Scenario, own_frames: int, frames: int) -> NDArray[Any]:
    """FRAME[frames]; of the first `own_frames` the last ones are the preambles."""
    made = np.zeros(frames, FRAME)
    preambles = made[own_frames - preambles_of(scenario) : own_frames]
    preambles["airtime"], preambles["destination"] = preamble_airtime(scenario), BROADCAST
    preambles["sender"] = np.arange(len(preambles))
    return made


def first_naps(nodes: NDArray[Any], mac: MacSettings) -> list[tuple[int, int, int]]:
    """Sets the MACs' timers to when nodes first go to sleep, and returns the events: none without a duty cycle."""
    if mac.sleep_interval == 0:
        return []
    times = nodes["start"] + np.round(mac.listen_interval * nodes["clock_rate"]).astype(np.int64)
    nodes["timer"] = nodes["pending"] = times
    return [(time, events.MAC_TIMER, node) for node, time in enumerate(times.tolist())]
