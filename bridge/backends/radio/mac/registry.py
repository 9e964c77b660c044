"""The MACs of the embedded radio, by the settings that choose them."""

from __future__ import annotations

from roambus.bridge.backends.radio.mac import csma_ca, tunable_mac
from roambus.bridge.backends.radio.mac.interface import Mac
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.mac import Ieee802154Settings, TunableMacSettings

MACS: dict[type, Mac] = {TunableMacSettings: tunable_mac, Ieee802154Settings: csma_ca}


def mac_of(scenario: Scenario) -> Mac:
    """Return the MAC of all nodes."""
    return MACS[type(scenario.mac)]
