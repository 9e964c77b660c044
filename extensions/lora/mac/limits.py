"""A region's limits: when a frame may begin, and the airtimes that a node has used in the last hour.

The duty cycle holds for any hour, not for hours of the clock. A node keeps the end and the airtime of its frames of the
last hour. While a frame is on the air, the airtime of the hour up to now only grows. So the hour that ends with the
frame decides. It must hold the frame, and those parts of earlier ones that lie in it. How much of the oldest ones must
leave it says when the frame may begin.

There is room for so many frames. When it is full, the two neighbours that are nearest in time become one with the
later end: they count for longer, never for less.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.state import FIRST_REASON_OF_MAC, State, record_with
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import MAC
from roambus.bridge.scenario.radio import TX_POWER
from roambus.bridge.system.errors import UserError
from roambus.extensions.lora.mac.regions import REGIONS, WINDOW
from roambus.extensions.lora.mac.settings import REFUSE, LoRaAloha

FRAMES = 1024
"""Of a node's last hour that are kept apart."""

COLUMNS = [
    ("ends", "i8", (FRAMES,)),  # of the frames of the last hour, oldest first
    ("airtimes", "i8", (FRAMES,)),
    ("kept", "i8"),  # how many
    ("counted", "i8"),  # whether the delay of the first queued frame has been counted
    ("duty_delayed", "i8"),  # frames that waited for the duty cycle
    ("duty_refused", "i8"),  # frames that would have broken it
    ("dwell_refused", "i8"),  # frames that last longer than the dwell time
]
"""For each node."""
COUNTS = ("duty_delayed", "duty_refused", "dwell_refused")

DUTY_CYCLE, DWELL_TIME = FIRST_REASON_OF_MAC, FIRST_REASON_OF_MAC + 1
REASONS = ("duty cycle used up", "frame longer than the dwell time")

NOW = 0
AT_NO_TIME, TOO_LONG = -1, -2
"""In place of a wait: the frame alone breaks the duty cycle, or the dwell time."""


@compiled
def wait_for(s: State, sender: int, airtime: int, begin: int) -> int:
    """Return ns from `begin` until a frame may begin: NOW, AT_NO_TIME, or TOO_LONG."""
    mac = s.run[0].mac
    if 0 < mac.dwell < airtime:
        return TOO_LONG
    if mac.airtime_in_window == 0:
        return NOW
    if airtime > mac.airtime_in_window:
        return AT_NO_TIME
    since = begin + airtime - WINDOW
    excess = airtime - mac.airtime_in_window
    for k in range(s.macs[sender].kept):
        excess += _part(s, sender, k, since)
    return _until_gone(s, sender, excess, since) if excess > 0 else NOW


@compiled
def _part(s: State, sender: int, k: int, since: int) -> int:
    """Return the ns of a kept frame that come after `since`."""
    own = s.macs[sender]
    return int(max(0, min(own.airtimes[k], own.ends[k] - since)))


@compiled
def _until_gone(s: State, sender: int, excess: int, since: int) -> int:
    """Return ns by which `since` must move until so much airtime lies before it."""
    own = s.macs[sender]
    k = 0
    while excess > _part(s, sender, k, since):
        excess -= _part(s, sender, k, since)
        k += 1
    return int(own.ends[k] - _part(s, sender, k, since) + excess - since)


@compiled
def keep(s: State, sender: int, airtime: int, end: int) -> None:
    """Keep a frame that ends at `end`, and forget those that no hour after it has a part of."""
    own = s.macs[sender]
    if s.run[0].mac.airtime_in_window == 0:
        return
    past = 0
    while past < own.kept and own.ends[past] <= end - WINDOW:
        past += 1
    _move_up(s, sender, past, 0)
    if own.kept == FRAMES:
        _join_nearest(s, sender)
    own.ends[own.kept], own.airtimes[own.kept] = end, airtime
    own.kept += 1


@compiled
def _join_nearest(s: State, sender: int) -> None:
    """Make one of the two neighbours that end within the shortest time."""
    own = s.macs[sender]
    nearest = 0
    for k in range(1, FRAMES - 1):
        if own.ends[k + 1] - own.ends[k] < own.ends[nearest + 1] - own.ends[nearest]:
            nearest = k
    own.airtimes[nearest + 1] += own.airtimes[nearest]
    _move_up(s, sender, nearest + 1, nearest)


@compiled
def _move_up(s: State, sender: int, first: int, to: int) -> None:
    """Move the kept frames from `first` on to the place `to`, over those in between."""
    own = s.macs[sender]
    for k in range(first, own.kept):
        own.ends[to + k - first], own.airtimes[to + k - first] = own.ends[k], own.airtimes[k]
    own.kept -= first - to


def record(scenario: Scenario) -> np.void:
    """Return the settings, with the region's limits: ns in an hour and ns of a frame, 0 without one."""
    settings = settings_of(scenario)
    region = REGIONS[settings.region]
    is_narrow = scenario.radio.noise_bandwidth_hz < 1000 * region.dwell_below_khz
    return record_with(
        settings,
        airtime_in_window=region.airtime_in_window,
        dwell=region.dwell if is_narrow else 0,
        refuses=int(settings.limit == REFUSE),
    )


def adapt(scenario: Scenario) -> Scenario:
    """Return the scenario as it is; raise UserError for a power above the region's limit."""
    settings = settings_of(scenario)
    limit = REGIONS[settings.region].eirp_dbm
    for index, node in enumerate(scenario.nodes):
        if node.tx_power_dbm > limit:
            problem = f"node {index}: {node.tx_power_dbm:g} dBm is above the {limit:g} dBm of {MAC}region"
            raise UserError(f"{TX_POWER.name}: {problem} = {settings.region}: lower it, or choose another region")
    return scenario


def settings_of(scenario: Scenario) -> Any:
    """Return the settings of a MAC of LoRa."""
    assert isinstance(scenario.mac, LoRaAloha), "`registry` chooses the MAC by the type of its settings"  # noqa: S101
    return scenario.mac
