"""The MACs that the embedded radio has, by the settings that choose them."""

from __future__ import annotations

from roambus.bridge.backends.radio import tunable_mac
from roambus.bridge.backends.radio.mac import Mac
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.radio import MacSettings

MACS: dict[type, Mac] = {MacSettings: tunable_mac}


def mac_of(scenario: Scenario) -> Mac:
    """Return the MAC of all nodes."""
    return MACS[type(scenario.mac)]
