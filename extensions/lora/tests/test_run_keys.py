"""The code of LoRa in a run's key."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.runs.run import model_sources

LORA = Path(__file__).parents[1].resolve()


def parts(ini: str) -> set[str]:
    """The folders and files of LoRa whose code is in the key."""
    files = (file.resolve() for file in model_sources(ini))
    return {file.relative_to(LORA).parts[0] for file in files if file.is_relative_to(LORA)}


@pytest.mark.parametrize(
    ("ini", "folder"),
    [
        ('SN.radio.model = "LoRa"', "radio"),
        ('SN.node[*].Communication.MACProtocolName = "LoRaCad"', "mac"),
        ('SN.propagation.model = "okumura-hata"', "propagation"),
    ],
)
def test_a_run_has_the_code_of_the_models_that_its_ini_names(ini: str, folder: str) -> None:
    """A change of it makes the run again."""
    assert folder in parts(ini)


def test_any_other_run_has_none() -> None:
    """Results without LoRa stay when LoRa changes, or is removed."""
    assert parts('SN.node[*].Communication.MACProtocolName = "TunableMAC"') == set()
