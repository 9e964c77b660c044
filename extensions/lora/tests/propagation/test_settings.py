"""The model of Okumura and Hata in an ini: its keys, its ranges, and one message for each mistake."""

from __future__ import annotations

import pytest

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.scenario.propagation import Propagation
from roambus.bridge.system.errors import UserError
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.extensions.lora.propagation.settings import OkumuraHata


def read(*lines: str) -> Propagation:
    """The path loss of the template with these keys."""
    template = find_template("lora")
    given: dict[str, Scalar] = {"seed": 0, "agent": "beacon", "agent_parameters": "", "propagation": "okumura-hata"}
    text = "\n".join([template.render(given), *lines])
    return parse_scenario(text, template.file, template.file.parent).propagation


def test_keys_are_read() -> None:
    """Each of them; the shadowing's are those of the channel."""
    lines = ('environment = "city"', "frequency = 433", "baseHeight = 50", "mobileHeight = 2")
    channel = ("SN.wirelessChannel.sigma = 7", "SN.wirelessChannel.bidirectionalSigma = 2")
    assert read(*(f"SN.propagation.{line}" for line in lines), *channel) == OkumuraHata("city", 433, 50, 2, 7, 2)
    assert read() == OkumuraHata()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('SN.propagation.environment = "village"', "must be large-city, city, suburban or open"),
        ("SN.propagation.frequency = 2400", "frequency: 2400 is out of range: it must be from 150 to 1500 MHz"),
        ("SN.propagation.baseHeight = 10", "baseHeight: 10 is out of range: it must be from 30 to 200 m"),
        ("SN.propagation.mobileHeight = 0.5", "mobileHeight: 0.5 is out of range: it must be from 1 to 10 m"),
        ("SN.wirelessChannel.pathLossExponent = 3", "pathLossExponent: unknown key|pathLossExponent: this is a key of"),
    ],
)
def test_a_mistake_is_one_message(line: str, message: str) -> None:
    """Beyond the ranges of 1980 the formulas say nothing, and a key of another path loss does nothing."""
    with pytest.raises(UserError, match=message):
        read(line)


def test_there_is_no_large_city_between_two_frequencies() -> None:
    """Hata corrects it up to 200 MHz, and from 400 MHz on."""
    for mhz in (200, 400):
        read('SN.propagation.environment = "large-city"', f"SN.propagation.frequency = {mhz}")
    with pytest.raises(
        UserError, match=r"SN\.propagation\.frequency: there is no model of a large city between 200 and"
    ):
        read('SN.propagation.environment = "large-city"', "SN.propagation.frequency = 300")
    assert read("SN.propagation.frequency = 300") == OkumuraHata(frequency_mhz=300)
