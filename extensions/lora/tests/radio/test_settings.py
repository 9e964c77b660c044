"""The keys of the radio: presets and what replaces parts of them, and settings that contradict each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Template as Jinja

from roambus.bridge.formats.ini import parse_scenario
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.models import RADIOS
from roambus.bridge.system.errors import UserError
from roambus.experiments.templates.template import find_template
from roambus.experiments.templates.variables import Scalar
from roambus.extensions.lora.radio.modems import PRESETS
from roambus.extensions.lora.radio.reception import adapt, noise_floor_dbm
from roambus.extensions.lora.radio.settings import LoRa

STUDY = Path(__file__).parents[2] / "study"
RADIO = "SN.node[*].Communication.Radio."


def scenario(*lines: str, **variables: Scalar) -> Scenario:
    """Return the template's scenario, with these lines before its own."""
    template = find_template("lora")
    run: dict[str, Scalar] = {"seed": 1, "agent": "beacon", "agent_parameters": "", "nodes": 3}
    ini = template.render({**run, **variables})
    return parse_scenario(ini.replace("[General]", "\n".join(["[General]", *lines])), template.file, STUDY)


def law_of(found: Scenario) -> LoRa:
    """Return its settings of LoRa."""
    assert isinstance(found.reception, LoRa)
    return found.reception


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_gives_the_modem(name: str) -> None:
    """With the radio's mode of its bandwidth, which is in both files."""
    for file, power in (("SX1262.txt", "22dBm"), ("SX1276.txt", "20dBm")):
        found = scenario(preset=name, radio=file, tx_power=power)
        assert law_of(found).modem() == PRESETS[name]
        radio = adapt(found).radio
        assert radio.noise_bandwidth_hz == PRESETS[name].bandwidth_khz * 1000
        assert radio.noise_floor_dbm == pytest.approx(noise_floor_dbm(PRESETS[name].bandwidth_khz, 6), abs=1e-4)


def test_each_key_takes_the_place_of_the_presets() -> None:
    """And the others stay."""
    law = law_of(scenario(preset="LongFast", sf="7 12", coding_rate=8))
    assert (law.factors, law.bandwidth_khz, law.coding_rate) == ((7, 12), 250, 8)
    assert law.modem(12).factor == 12
    assert law_of(scenario(bandwidth=500)).modem() == PRESETS["LongFast"]._replace(bandwidth_khz=500)


def test_two_spellings_of_one_modem_are_equal() -> None:
    """So that a sweep refuses points that differ by a preset of which nothing is left."""
    named, spelt = scenario(preset="LongFast"), scenario(preset="ShortSlow", sf="11", coding_rate=5, bandwidth=250)
    assert named.reception == spelt.reception
    assert law_of(named).resolved() == law_of(named)


def test_a_noise_figure_takes_the_place_of_the_files_noise() -> None:
    """Quoted or not."""
    for line in ("SN.radio.noiseFigure = 10", 'SN.radio.noiseFigure = "10"'):
        assert adapt(scenario(line)).radio.noise_floor_dbm == pytest.approx(-174 + 53.979 + 10, abs=0.001)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('SN.radio.preset = "Fast"', r"SN\.radio\.preset: .*Fast.* is not known here: it must be ShortTurbo"),
        ('SN.radio.spreadingFactor = "6"', r"SN\.radio\.spreadingFactor: .* no list of spreading factors from 7 to 12"),
        ("SN.radio.bandwidth = 62", r"SN\.radio\.bandwidth: 62 is not known here"),
        ("SN.radio.codingRate = 4", r"SN\.radio\.codingRate: 4 is not known here"),
        ("SN.radio.preamble = 5", r"SN\.radio\.preamble: 5 is out of range"),
        ("SN.radio.preambleNeeded = 17", r"preambleNeeded: .*17 is more than the preamble of 16 symbols"),
        ('SN.radio.interSf = "none"', r'SN\.radio\.interSf: .* is neither "imperfect" nor "orthogonal"'),
        ('SN.radio.lowDataRate = "maybe"', r"SN\.radio\.lowDataRate: .* is not known here"),
        ("SN.radio.noiseFigure = 51", r"SN\.radio\.noiseFigure: 51 is no noise figure from 0 to 50 dB"),
        ('SN.radio.gateways = "1 01"', r"SN\.radio\.gateways: .* is no list of numbers of nodes, each once"),
        ('SN.radio.gateways = "0 0"', r"SN\.radio\.gateways: .* is no list of numbers of nodes, each once"),
        (f"{RADIO}maxPhyFrameSize = 256", r"maxPhyFrameSize: a LoRa frame has at most 255 bytes: set it to 1 to 255"),
        (f"{RADIO}maxPhyFrameSize = 0", r"maxPhyFrameSize: a LoRa frame has at most 255 bytes"),
    ],
)
def test_wrong_settings_are_refused_by_one_line(line: str, message: str) -> None:
    """With the line of the ini."""
    with pytest.raises(UserError, match=r"lora\.ini\.j2:\d+: .*" + message):
        scenario(line)


def test_a_header_of_the_radio_beside_the_formulas_is_refused() -> None:
    """For the airtime has it."""
    lines = (f"{RADIO}phyFrameOverhead = 6", "SN.node[*].Communication.MAC.phyFrameOverhead = 6")
    with pytest.raises(UserError, match=r"phyFrameOverhead: LoRa's airtime has its header already: set it to 0"):
        scenario(*lines)


def test_a_mode_of_another_bandwidth_is_refused() -> None:
    """By the radio."""
    with pytest.raises(UserError, match=r"bandwidth: 250 kHz is not the noise bandwidth of the radio's mode, 125 kHz"):
        adapt(scenario(f'{RADIO}mode = "LoRa125"'))


def test_the_radio_is_known_by_its_name() -> None:
    """Beside the core's."""
    assert RADIOS.settings["LoRa"] is LoRa


def test_the_template_knows_the_bandwidth_of_each_preset() -> None:
    """Which it needs for the radio's mode."""
    text = (STUDY / "lora.ini.j2").read_text()
    line = next(line for line in text.splitlines() if "of_presets =" in line)
    shown = Jinja(line + "{% for name in names %}{{ of_presets.get(name, 250) }} {% endfor %}").render(
        names=list(PRESETS)
    )
    assert list(map(int, shown.split())) == [modem.bandwidth_khz for modem in PRESETS.values()]
