"""The page on keys says what the declarations say of Castalia's keys, and leaves none of Castalia's out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.installation import CASTALIA_ROOT
from roambus.bridge.keys import keys_of
from roambus.bridge.mobility import registry
from roambus.bridge.mobility.line import Line
from roambus.bridge.scenario import mac, macs, radio
from roambus.bridge.scenario.mac import TunableMacSettings
from roambus.bridge.scenario.propagation import LogDistance
from roambus.bridge.scenario.radio import ChannelSettings, RadioSettings
from roambus.commands.pages import pages
from roambus.python_protocol.settings import Setting, plain
from tests.bridge.formats.ini.test_declared_keys import CASTALIAS_MODULES, LINE

MODULES = {
    "TunableMAC": "MAC",
    "Radio (CC2420)": "Radio",
    "WirelessChannel": "wirelessChannel",
    "NoMobilityManager, LineMobilityManager": "LineMobilityManager",
}
OURS = {"rssiOffset", "rssiNoise"}
"""Keys of the embedded radio that Castalia lacks."""
CASTALIA_KEYS: dict[str, tuple[Setting, ...]] = {
    "TunableMAC": tuple(key for key in (*macs.KEYS["TunableMAC"], *mac.ROUTING_KEYS) if key.name.startswith(mac.MAC)),
    "Radio (CC2420)": tuple(key for key in radio.KEYS if key.name.rpartition(".")[2] not in OURS),
    "WirelessChannel": (*radio.CHANNEL_KEYS, *keys_of(LogDistance)),
    "NoMobilityManager, LineMobilityManager": (*registry.KEYS, *registry.MODEL_KEYS["LineMobilityManager"]),
}
FILES = (radio.FILE, radio.MODE, radio.TX_POWER, registry.MANAGER, radio.TEMPORAL_FILE, radio.LOSSES_FILE)
FIELDS = (
    *keys_of(TunableMacSettings),
    *keys_of(RadioSettings),
    *keys_of(ChannelSettings),
    *keys_of(LogDistance),
    *keys_of(Line),
)
"""A key becomes a number of the compiled radio by being a field of the settings."""
REPEATED = {
    mac.DATA_RATE.name: "only the rate of the radio's mode",
    mac.FRAME_OVERHEAD.name: "only the radio's",
}
"""Radio facts that the MAC repeats; another value is an error."""


def exceptions() -> Iterator[tuple[str, str, str]]:
    """Module and key with what the embedded radio accepts, unless that is all."""
    known = {field.name for field in (*FILES, *FIELDS)}
    for module, keys in CASTALIA_KEYS.items():
        for key in keys:
            choices = " or ".join(f"`{plain(choice)}`" if choice != "" else "an empty text" for choice in key.choices)
            if choices or key.name not in known:
                verdict = f"only {choices}" if choices else REPEATED.get(key.name, "no effect")
                yield module, f"`{key.name.rpartition('.')[2]}`", verdict


def table_rows() -> list[list[str]]:
    """The rows of the page's table."""
    table = pages()["ini-keys"].read_text(encoding="utf-8").partition("| Module | Key |")[2]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:] if line]


def test_the_page_has_each_exception_with_its_reason() -> None:
    """In the order of the declarations, and no others."""
    assert [tuple(row[:3]) for row in table_rows()] == list(exceptions())
    assert all(len(row) == 4 and row[3] for row in table_rows())


@pytest.mark.castalia
@pytest.mark.parametrize("part", MODULES)
def test_every_key_of_castalias_module_is_declared(part: str) -> None:
    """As its NED file declares them."""
    if not os.environ.get(CASTALIA_ROOT):
        pytest.skip(f"{CASTALIA_ROOT} does not say where Castalia is")
    ned = Path(os.environ[CASTALIA_ROOT], "src", CASTALIAS_MODULES[MODULES[part]])
    declared = {name for name, _ in LINE.findall(ned.read_text())}
    names = {key.name.rpartition(".")[2] for key in CASTALIA_KEYS[part]}
    assert declared == names - {"MobilityManagerName"}
