"""The declarations of keys: they say the same as Castalia's own modules."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.installation import CASTALIA_ROOT
from roambus.bridge.formats.ini.lookup import KEYS, PER_MAC, PER_MANAGER, PER_NODE, SHARED
from roambus.bridge.scenario.models import PROPAGATIONS
from roambus.python_protocol.settings import Setting

ROOT = Path(__file__).parents[4]
LINE = re.compile(r"(?:int|double|string|bool)\s+(\w+)\s*(?:@unit\(s\)\s*)?(?:=\s*default\s*\(([^)]*)\))?\s*;")
"""A parameter of a NED file with its default."""

OUR_MODULES = {
    "Application": "BridgeApplication",
    "RandomWaypointMobilityManager": "RandomWaypointMobilityManager",
    "MovementFileMobilityManager": "MovementFileMobilityManager",
}
CASTALIAS_MODULES = {
    "SN": "SensorNetwork.ned",
    "wirelessChannel": "wirelessChannel/defaultChannel/WirelessChannel.ned",
    "node[*]": "node/Node.ned",
    "Radio": "node/communication/radio/Radio.ned",
    "MAC": "node/communication/mac/tunableMac/TunableMAC.ned",
    "Communication": "node/communication/CommunicationModule.ned",
    "Routing": "node/communication/routing/bypassRouting/BypassRouting.ned",
    "ResourceManager": "node/resourceManager/ResourceManager.ned",
    "LineMobilityManager": "node/mobilityManager/lineMobilityManager/LineMobilityManager.ned",
}
NEVER_ASKED_FOR = {"tree", "commands", "departure", "faults", "unicast", "absences"} | {
    "fragments", "topics", "topicExponent", "burst", "rssiOffset", "rssiNoise",
}  # fmt: skip
"""Keys of ours that only the host reads, so that no NED file has them."""


def modules() -> Iterator[tuple[str, tuple[Setting, ...]]]:
    """The keys by the module that they are of."""
    of_modules = PROPAGATIONS.keys["log-distance"], PER_MAC["TunableMAC"]
    for key in chain(*SHARED.values(), *PER_NODE.values(), *of_modules):
        words = key.name.split(".")
        if len(words) > 1 and words[-1] not in NEVER_ASKED_FOR and words[-2] not in ("ideal", "MobilityManager"):
            yield words[-2], (key,)
    yield from PER_MANAGER.items()


def defaults(ned: Path) -> dict[str, str]:
    """The defaults of a NED file's parameters; those without one are left out."""
    return {name: default for name, default in LINE.findall(ned.read_text()) if default}


def as_value(text: str) -> object:
    """A default as a number if it is one, so that 5 and 5.0 are the same."""
    try:
        return float(text)
    except ValueError:
        return text


def check(ned: Path, keys: tuple[Setting, ...]) -> None:
    declared = defaults(ned)
    for key in keys:
        declared_default = declared.get(key.name.rpartition(".")[2])
        assert as_value(declared_default or "none") == as_value(key.default or "none") or (
            declared_default == '""' and key.default is None
        ), key


def test_no_key_is_declared_twice() -> None:
    """A path loss, a manager of mobility or a MAC may have a key that another one has, too."""
    for law, manager, mac in product(PROPAGATIONS.keys.values(), PER_MANAGER.values(), PER_MAC.values()):
        paths = [key.name for key in chain(*SHARED.values(), *PER_NODE.values(), law, manager, mac)]
        assert len(paths) == len(set(paths))


@pytest.mark.parametrize("key", [key for key in KEYS if key.default is not None], ids=lambda key: key.name)
def test_every_default_is_a_value_of_its_key(key: Setting) -> None:
    """It can be read, and is within the range; some are Castalia's that the embedded radio does not know."""
    default = key.default or ""
    read = replace(key, choices=()).read(default)
    assert read == default.strip('"') or not isinstance(read, str)


@pytest.mark.parametrize("module", sorted(OUR_MODULES))
def test_defaults_are_those_of_our_own_ned_files(module: str) -> None:
    """A key left out means the same to Castalia as to us."""
    ned = ROOT / "omnet" / "castalia" / "ned" / f"{OUR_MODULES[module]}.ned"
    for name, keys in modules():
        if name == module:
            check(ned, keys)


@pytest.mark.castalia
@pytest.mark.parametrize("module", sorted(CASTALIAS_MODULES))
def test_defaults_are_those_of_castalias_ned_files(module: str) -> None:
    """A key left out means the same to Castalia as to us."""
    if not (root := os.environ.get(CASTALIA_ROOT)):
        pytest.skip(f"{CASTALIA_ROOT} does not say where Castalia is")
    ned = Path(root) / "src" / CASTALIAS_MODULES[module]
    for name, keys in modules():
        if name == module:
            check(ned, keys)
