"""The MACs of LoRa in an ini: their keys, their defaults, and one message for each mistake."""

from __future__ import annotations

import pytest

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.scenario import macs
from roambus.bridge.scenario.mac import MacSettings
from roambus.bridge.system.errors import UserError
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.extensions.lora.mac.settings import LoRaAloha, LoRaCad


def read(*lines: str, **variables: Scalar) -> MacSettings:
    """The MAC of the template with these variables, and of further lines of the ini."""
    template = find_template("lora")
    given: dict[str, Scalar] = {"seed": 0, "agent": "beacon", "agent_parameters": "", **variables}
    text = "\n".join([template.render(given), *(f"SN.node[*].Communication.MAC.{line}" for line in lines)])
    return parse_scenario(text, template.file, template.file.parent).mac


def test_defaults_are_the_classes_own() -> None:
    """No routing, the mesh's header, and no region; a radio of another rate than 250 kbit/s is no mistake."""
    assert read(mac="LoRaAloha") == LoRaAloha()
    assert read(mac="LoRaCad") == LoRaCad()
    assert (LoRaCad().cad_symbols, LoRaCad().slot_rest) == (2.5, 7_600_000)
    assert (LoRaAloha().network_overhead_bytes, LoRaAloha().packet_overhead_bytes, LoRaAloha().region) == (
        0,
        16,
        "none",
    )


def test_variables_and_keys_are_read() -> None:
    """The template has those that most need."""
    assert read(mac="LoRaAloha", region="EU868-g3", limit="refuse") == LoRaAloha(region="EU868-g3", limit="refuse")
    lines = ("cwMin = 2", "cwMax = 5", "cadSymbols = 4", "slotRest = 1.5")
    assert read(*lines, mac="LoRaCad", first_wait=False, tries=7) == LoRaCad(
        cw_min=2, cw_max=5, cad_symbols=4, slot_rest=1_500_000, first_wait=False, tries=7
    )


@pytest.mark.parametrize(
    ("lines", "variables", "message"),
    [
        ((), {"mac": "LoRaAloha", "region": "EU867"}, r"MAC\.region: .EU867. is not known here: it must be .*EU868-g1"),
        (
            (),
            {"mac": "LoRaAloha", "limit": "drop"},
            r"MAC\.limit: .drop. is not known here: it must be delay or refuse",
        ),
        (("cwMin = 9",), {"mac": "LoRaCad"}, "cwMin = 9 is above cwMax = 8"),
        (("cadSymbols = 0",), {"mac": "LoRaCad"}, "cadSymbols: 0 is out of range"),
        (("cwMin = 1",), {"mac": "LoRaAloha"}, "this is a key of the MAC LoRaCad, and the MAC of node 0 is LoRaAloha"),
        ((), {"mac": "TunableMAC", "region": "US915"}, "this is a key of the MAC LoRa.*, and the MAC of node 0 is Tun"),
        (("macMaxPacketSize = 256",), {"mac": "LoRaAloha"}, "macMaxPacketSize: 256 is out of range"),
    ],
)
def test_a_mistake_is_one_message(lines: tuple[str, ...], variables: dict[str, Scalar], message: str) -> None:
    """It names the key."""
    with pytest.raises(UserError, match=message):
        read(*lines, **variables)


def test_keys_are_found_by_the_name_of_the_mac() -> None:
    """Both have the region's; only one listens."""
    aloha, listening = ({setting.name for setting in macs.KEYS[name]} for name in ("LoRaAloha", "LoRaCad"))
    assert aloha < listening
    assert {name.rpartition(".")[2] for name in listening - aloha} == {
        "cadSymbols",
        "slotRest",
        "cwMin",
        "cwMax",
        "firstWait",
        "tries",
    }
