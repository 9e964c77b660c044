"""The settings of the MACs that are installed, by their names in the ini: the entry points `roambus.macs`."""

from __future__ import annotations

from roambus.bridge.keys import TEXT
from roambus.bridge.scenario.mac import COMMUNICATION, MacSettings
from roambus.bridge.system.code import MACS, classes
from roambus.python_protocol.settings import Setting

SETTINGS = classes(MACS, MacSettings)

PROTOCOL = Setting(COMMUNICATION + "MACProtocolName", TEXT, '"BypassMAC"', "the MAC", choices=tuple(sorted(SETTINGS)))

KEYS: dict[str, tuple[Setting, ...]] = {name: settings.keys() for name, settings in SETTINGS.items()}
"""The keys of each MAC."""


def name_of(mac: MacSettings) -> str:
    """Return the name of a MAC in the ini."""
    return next(name for name, settings in SETTINGS.items() if settings is type(mac))
