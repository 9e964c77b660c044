"""Radio parameters files: what is read, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.formats.ini.radio import RxMode, read_radio_file
from roambus.bridge.system.errors import UserError
from roambus.experiments.inventory import TEMPLATES

TEXT = (TEMPLATES / "CC2420.txt").read_text()


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(TEXT.splitlines(), 1) if line.startswith(text))


def refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TEXT
    path = tmp_path / "radio.txt"
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(UserError, match=message):
        read_radio_file(path)


def test_our_cc2420_has_the_values_of_the_design() -> None:
    """250 kbit/s, PSK, -95 dBm, eight levels, 10 us between RX and TX, 194 us out of sleep and 50 us into it."""
    radio = read_radio_file(TEMPLATES / "CC2420.txt")
    settings = {"data_rate_bps": 250_000, "bits_per_symbol": 4, "noise_bandwidth_hz": 194e3, "noise_floor_dbm": -100}
    settings |= {"sensitivity_dbm": -95, "rx_power_mw": 62}
    assert radio.modes == [RxMode("normal", "PSK", settings)]
    assert radio.tx_dbm == [0, -1, -3, -5, -7, -10, -15, -25]
    assert radio.tx_mw[0] == 57.42
    assert (radio.delays["RX", "TX"], radio.delays["TX", "RX"]) == (10_000, 10_000)
    assert (radio.delays["SLEEP", "RX"], radio.delays["RX", "SLEEP"]) == (194_000, 50_000)
    assert (radio.powers["RX", "TX"], radio.powers["TX", "SLEEP"]) == (62, 1.4)
    assert radio.sleep_levels == {"idle": 1.4}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("normal, 250", "normal", "a receive mode has 9 columns, not 8"),
        ("normal, 250", "normal, fast", "fast is not a number"),
        ("Tx_mW", "Tx_W", "'Tx_W' is neither Tx_dBm nor Tx_mW"),
        ("Tx_dBm 0 -1", "Tx_dBm -1 0", "from the strongest to the weakest"),
        ("RX - 0.01", "RX 0 0.01", "from RX to RX there is no transition"),
        ("TX 0.01 - 0.194", "TX 0.01 -", "a row of a matrix"),
        ("SLEEP 0.05 0.05 -", "OFF 0.05 0.05 -", "a row of a matrix"),
        ("idle 1.4, -, -, -, -", "idle 1.4", "a sleep level has 6 columns, not 2"),
        ("idle 1.4, -", "idle 1.4, soon", "soon is not a number"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """File and line stand first."""
    refused(tmp_path, old, new, rf"radio.txt:{line_of(old)}: .*{message}")


def test_a_mode_may_stand_once(tmp_path: Path) -> None:
    """Two modes of one name would leave open which is meant."""
    mode = TEXT.splitlines()[line_of("normal") - 1]
    refused(tmp_path, mode, f"{mode}\n{mode}", "receive mode normal is here twice")


def test_nothing_stands_before_the_first_section(tmp_path: Path) -> None:
    """A misspelt heading is read as a line of the section before, or as this."""
    refused(tmp_path, "RX MODES", "RX MODE", "comes before the first section; the sections are RX MODES")


def test_a_missing_section_is_named(tmp_path: Path) -> None:
    """An empty section, or a matrix without all of its rows, counts as missing."""
    refused(tmp_path, "TX 0.01 - 0.194", "", "it has no section DELAY TRANSITION MATRIX, or not all of it")


def test_levels_need_both_numbers(tmp_path: Path) -> None:
    """DBm and mW go in pairs."""
    refused(tmp_path, " 29.04", "", "TX LEVELS has 8 levels in dBm, but 7 in mW")
