"""The radio, MAC and channel of a scenario: their keys, and the radio and path loss files.

The radio parameters file is in Castalia's format, with headed sections: RX MODES (name, data rate in kbit/s,
modulation, bits per symbol, bandwidth in MHz, noise bandwidth in kHz, noise floor in dBm, sensitivity in dBm, power in
mW), TX LEVELS (dBm, mW), DELAY and POWER TRANSITION MATRIX (ms and mW, from the column's state to the row's), SLEEP
LEVELS (name, mW, ...). # begins a comment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from roambus.bridge.formats.ini.lookup import Lookup
from roambus.bridge.scenario import macs
from roambus.bridge.scenario.ideal import LINKS_FILE
from roambus.bridge.scenario.mac import DATA_RATE, FRAME_OVERHEAD, ROUTING_KEYS, MacSettings, TunableMacSettings
from roambus.bridge.scenario.model import Model
from roambus.bridge.scenario.models import PROPAGATIONS, RADIOS, Models
from roambus.bridge.scenario.propagation import Propagation
from roambus.bridge.scenario.radio import (
    FILE,
    LOSSES_FILE,
    MODE,
    MODULATIONS,
    TX_POWER,
    ChannelSettings,
    GivenLosses,
    RadioSettings,
)
from roambus.bridge.scenario.reception import Reception
from roambus.bridge.system.errors import UserError, mistakes_at
from roambus.bridge.system.files import read_lines
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import Range, read_number, settings_of
from roambus.python_protocol.simtime import MILLISECOND, SimTime


class RadioReader:
    """Reads radio and MAC; every method raises UserError."""

    def __init__(self, keys: Lookup) -> None:
        self._keys = keys

    def radio(self) -> RadioSettings:
        """The radio's settings, equal on all nodes."""
        mode, file = self._mode, self._file
        # Castalia charges a change by its direction. In CC2420.txt the two are equal, and one number is kept.
        two_powers = file.powers["RX", "TX"] != file.powers["TX", "RX"]
        self._refuse_beyond(two_powers, FILE.name, "the embedded radio knows one power for RX to TX and TX to RX")
        return self._keys.build(
            RadioSettings,
            **mode.settings,
            modulation=MODULATIONS.index(mode.modulation) if mode.modulation in MODULATIONS else 0,
            tx_levels_mw=tuple(zip(file.tx_dbm, file.tx_mw, strict=True)),
            rx_to_tx=file.delays["RX", "TX"],
            tx_to_rx=file.delays["TX", "RX"],
            transition_power_mw=file.powers["RX", "TX"],
            rx_to_sleep=file.delays["RX", "SLEEP"],
            tx_to_sleep=file.delays["TX", "SLEEP"],
            sleep_to_rx=file.delays["SLEEP", "RX"],
            rx_to_sleep_power_mw=file.powers["RX", "SLEEP"],
            tx_to_sleep_power_mw=file.powers["TX", "SLEEP"],
            sleep_to_rx_power_mw=file.powers["SLEEP", "RX"],
            sleep_power_mw=next(iter(file.sleep_levels.values())),
        )

    def mac(self) -> MacSettings:
        """The MAC's settings, which must agree with the radio."""
        chosen = macs.SETTINGS.get(self._keys.value(macs.PROTOCOL), TunableMacSettings)  # a simulator may have others
        overhead = self._keys.value(settings_of(RadioSettings)["frame_overhead_bytes"])
        for key, radios in ((DATA_RATE, self._mode.settings["data_rate_bps"] / 1000), (FRAME_OVERHEAD, overhead)):
            if key in (*chosen.keys(), *ROUTING_KEYS) and self._keys.has(key):  # another MAC need not know it
                value = self._keys.value(key)
                self._keys.refuse(value != radios, key.name, f"{value:g} is not the radio's {radios:g}")
        with self._keys.mistakes_of(macs.PROTOCOL.name):
            return self._keys.build(chosen)

    def propagation(self, is_measured: bool) -> Propagation:
        """The path loss of the ini."""
        return cast("Propagation", self._model(PROPAGATIONS, is_measured))

    def reception(self, is_measured: bool) -> Reception:
        """The reception of the ini."""
        return cast("Reception", self._model(RADIOS, is_measured))

    def _model(self, models: Models, is_measured: bool) -> Model:
        chosen = models.settings[self._keys.value(models.key)]
        problem = f"{LINKS_FILE.name} gives all links: leave one of the two out"
        self._keys.refuse(is_measured and chosen is not models.default, models.key.name, problem)
        return chosen.read(self._keys)

    def losses(self, is_measured: bool) -> GivenLosses | None:
        """The path losses of the ini's file, if any."""
        if not self._keys.value(LOSSES_FILE):
            return None
        self._keys.refuse(is_measured, LOSSES_FILE.name, f"{LINKS_FILE.name} gives all links: leave one of the two out")
        channel, network = self._keys.build(ChannelSettings), self._keys.network
        nodes = len(self._keys.nodes)
        if channel.only_static_nodes:
            return read_losses(self._keys.file(LOSSES_FILE), "nodes", nodes)
        columns = math.ceil(network.field_x_m / channel.x_cell_m)
        rows = math.ceil(network.field_y_m / channel.y_cell_m)
        return read_losses(self._keys.file(LOSSES_FILE), f"cells, {columns} in a row", columns * rows)

    def tx_power_dbm(self, node: NodeId) -> float:
        """A node's transmission power."""
        # The first level is the strongest, as the reader of the file has seen to: Castalia takes it by default, too.
        levels = self._file.tx_dbm
        power: float | None = self._keys.value(TX_POWER, node)
        if power is not None and power not in levels:
            problem = f"{power:g} dBm is not one of the radio's levels: {', '.join(f'{level:g}' for level in levels)}"
            raise self._keys.error(TX_POWER.name, problem, node)
        return levels[0] if power is None else power

    @cached_property
    def _file(self) -> RadioFile:
        return read_radio_file(self._keys.file(FILE))

    @cached_property
    def _mode(self) -> RxMode:
        name = self._keys.value(MODE)
        modes = {mode.name: mode for mode in self._file.modes}
        self._keys.refuse(name and name not in modes, MODE.name, f"{name}: there is {', '.join(modes)}")
        mode = modes[name] if name else self._file.modes[0]
        known = ", ".join(MODULATIONS)
        problem = f"mode {mode.name} has modulation {mode.modulation}; the embedded radio knows {known}"
        self._refuse_beyond(mode.modulation not in MODULATIONS, MODE.name, problem)
        return mode

    def _refuse_beyond(self, wrong: bool, path: str, problem: str) -> None:
        """Refuse features of Castalia's radio that the embedded one lacks."""
        self._keys.refuse(wrong and self._keys.is_limited, path, problem)


# The file of path losses

MOST_LOSSES = 2_000_000
_LOSS_DB = Range(at_least=0, at_most=1000)

_Way = tuple[int, int]
"""From a place to another"""


def read_losses(path: Path, what: str, places: int) -> GivenLosses:
    """Read Castalia's `pathLossMapFile` format; raises UserError naming file and line, or OSError.

    A line is SOURCE>TARGET:DB,TARGET:DB,... and # begins a comment. Unlike in Castalia, repeated ways and unknown
    places are refused. `what` names the places.
    """
    found: dict[_Way, float] = {}
    lines: dict[_Way, int] = {}
    for number, line in read_lines(path):
        with mistakes_at(f"{path}:{number}"):
            for way, loss_db in _ways_in(line, what, places):
                if way[0] == way[1] and what == "nodes":
                    raise ValueError(f"node {way[0]} has no way to itself")
                if way in found:
                    raise ValueError(f"the way from {way[0]} to {way[1]} stands in line {lines[way]} already")
                if len(found) == MOST_LOSSES:
                    raise ValueError(f"more than {MOST_LOSSES:,} ways are too many")
                found[way], lines[way] = loss_db, number
    if not found:
        raise UserError(f"{path}: there is no way in it: write lines such as 0>1:62.5,2:80, or leave the file out")
    sources, targets = zip(*found, strict=True)
    return GivenLosses(sources, targets, tuple(found.values()))


def _ways_in(line: str, what: str, places: int) -> Iterator[tuple[_Way, float]]:
    source, arrow, ways = line.partition(">")
    if not arrow:
        raise ValueError(f"{line!r} is no line SOURCE>TARGET:DB,TARGET:DB such as 0>1:62.5,2:80")
    for way in ways.split(","):
        target, _, loss = way.partition(":")
        loss_db = read_number(loss.strip())
        if not _LOSS_DB.holds(loss_db):
            raise ValueError(f"{loss.strip()} is no loss from 0 to 1000 dB")
        yield (_place(source, what, places), _place(target, what, places)), loss_db


def _place(text: str, what: str, places: int) -> int:
    if not text.strip().isdecimal() or int(text) >= places:
        raise ValueError(f"{text.strip()!r} is no number from 0 to {places - 1}: there are {places} {what}")
    return int(text)


# The radio parameters file

STATES = ("RX", "TX", "SLEEP")
"""Castalia's radio states, in column order."""


@dataclass(frozen=True, slots=True)
class RxMode:
    """A receiving mode of the radio."""

    name: str
    modulation: str
    settings: dict[str, Any]
    """The mode's settings, by the names of `RadioSettings`."""


@dataclass(slots=True)
class RadioFile:
    """The file's contents; `delays` (ns) and `powers` (mW) go from (state before, state after)."""

    modes: list[RxMode] = field(default_factory=list)
    tx_dbm: list[float] = field(default_factory=list)
    tx_mw: list[float] = field(default_factory=list)
    delays: dict[tuple[str, str], SimTime] = field(default_factory=dict)
    powers: dict[tuple[str, str], float] = field(default_factory=dict)
    sleep_levels: dict[str, float] = field(default_factory=dict)


def read_radio_file(path: Path) -> RadioFile:
    """Read the file; raises UserError naming file and line, or OSError."""
    radio = RadioFile()
    read_line: Callable[[RadioFile, list[str]], None] | None = None
    for number, line in read_lines(path):
        if line in _SECTIONS:
            read_line = _SECTIONS[line]
        else:
            with mistakes_at(f"{path}:{number}"):
                if read_line is None:
                    raise ValueError(
                        f"{line!r} comes before the first section; the sections are {', '.join(_SECTIONS)}"
                    )
                read_line(radio, re.split(r"[,\s]+", line))
    _check_complete(path, radio)
    return radio


def _read_mode(radio: RadioFile, words: list[str]) -> None:
    if len(words) != 9:
        raise ValueError(f"a receive mode has 9 columns, not {len(words)}")
    name, rate, modulation, bits, bandwidth, noise_bandwidth, floor, sensitivity, power = words
    if any(mode.name == name for mode in radio.modes):
        raise ValueError(f"receive mode {name} is here twice")
    read_number(bandwidth)  # of the channel, which the model does not need: it is read for its form only
    settings = {
        "data_rate_bps": round(read_number(rate) * 1e3),
        "bits_per_symbol": round(read_number(bits)),
        "noise_bandwidth_hz": read_number(noise_bandwidth) * 1e3,
        "noise_floor_dbm": read_number(floor),
        "sensitivity_dbm": read_number(sensitivity),
        "rx_power_mw": read_number(power),
    }
    radio.modes.append(RxMode(name, modulation, settings))


def _read_tx_levels(radio: RadioFile, words: list[str]) -> None:
    if words[0] not in ("Tx_dBm", "Tx_mW"):
        raise ValueError(f"{words[0]!r} is neither Tx_dBm nor Tx_mW")
    levels = [read_number(word) for word in words[1:]]
    if words[0] == "Tx_mW":
        radio.tx_mw = levels
    elif levels != sorted(levels, reverse=True):
        raise ValueError("transmit levels must go from the strongest to the weakest")
    else:
        radio.tx_dbm = levels


def _matrix_row(words: list[str]) -> dict[tuple[str, str], float]:
    """By (state before, state after); the row's label is the state after."""
    after = words[0]
    if after not in STATES or len(words) != 1 + len(STATES):
        raise ValueError(f"a row of a matrix is one of {', '.join(STATES)} and then a column for each of them")
    row = dict(zip(STATES, words[1:], strict=True))
    if row.pop(after) != "-":
        raise ValueError(f"from {after} to {after} there is no transition: write -")
    return {(before, after): read_number(word) for before, word in row.items()}


def _read_sleep_level(radio: RadioFile, words: list[str]) -> None:
    """Only the form is checked: the CC2420 has one sleep level."""
    if len(words) != 6:
        raise ValueError(f"a sleep level has 6 columns, not {len(words)}")
    for word in words[2:]:
        if word != "-":
            read_number(word)
    radio.sleep_levels[words[0]] = read_number(words[1])


_SECTIONS: dict[str, Callable[[RadioFile, list[str]], None]] = {
    "RX MODES": _read_mode,
    "TX LEVELS": _read_tx_levels,
    "DELAY TRANSITION MATRIX": lambda radio, words: radio.delays.update(
        {states: round(value * MILLISECOND) for states, value in _matrix_row(words).items()}
    ),
    "POWER TRANSITION MATRIX": lambda radio, words: radio.powers.update(_matrix_row(words)),
    "SLEEP LEVELS": _read_sleep_level,
}


def _check_complete(path: Path, radio: RadioFile) -> None:
    contents: tuple[Sized, ...] = (radio.modes, radio.tx_dbm, radio.delays, radio.powers, radio.sleep_levels)
    least = (1, 1, *[len(STATES) * (len(STATES) - 1)] * 2, 1)
    missing = [name for name, has, needs in zip(_SECTIONS, contents, least, strict=True) if len(has) < needs]
    if missing:
        raise UserError(f"{path}: it has no section {', '.join(missing)}, or not all of it")
    if len(radio.tx_dbm) != len(radio.tx_mw):
        counts = f"{len(radio.tx_dbm)} levels in dBm, but {len(radio.tx_mw)} in mW"
        raise UserError(f"{path}: TX LEVELS has {counts}")
