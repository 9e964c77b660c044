"""What is said of Castalia's keys is what the declarations say, and leaves none of Castalia's out."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.installation import CASTALIA_ROOT
from roambus.bridge.keys import keys_of
from roambus.bridge.scenario.radio import MacSettings
from roambus.reference import CASTALIA_KEYS, MODELLED, WHY, name_of, verdict, why
from tests.bridge.ini.test_declared_keys import CASTALIAS_MODULES, LINE

MODULES = {
    "TunableMAC": "MAC",
    "Radio (CC2420)": "Radio",
    "WirelessChannel": "wirelessChannel",
    "NoMobilityManager, LineMobilityManager": "LineMobilityManager",
}


def test_whatever_is_not_known_has_its_reason() -> None:
    """And no reason is left of a key that is known by now."""
    keys = list(chain(*CASTALIA_KEYS.values()))
    assert [one.name for one in keys if verdict(one) != "yes" and not why(one)] == []
    assert set(WHY) == {name_of(one) for one in keys if verdict(one) != "yes"}


def test_what_the_radio_reads_is_what_the_table_says_it_knows() -> None:
    """A key becomes a number of the compiled radio by being a field of the settings."""
    assert {one.name for one in keys_of(MacSettings)} < MODELLED


@pytest.mark.castalia
@pytest.mark.parametrize("part", MODULES)
def test_the_table_has_every_key_of_castalias_module(part: str) -> None:
    """As its NED file declares them."""
    if not os.environ.get(CASTALIA_ROOT):
        pytest.skip(f"{CASTALIA_ROOT} does not say where Castalia is")
    ned = Path(os.environ[CASTALIA_ROOT], "src", CASTALIAS_MODULES[MODULES[part]])
    declared = {name for name, _ in LINE.findall(ned.read_text())}
    assert declared == {name_of(one) for one in CASTALIA_KEYS[part]} - {"MobilityManagerName"}
