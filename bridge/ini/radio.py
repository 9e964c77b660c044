"""The radio and the MAC of a scenario: their keys, and what the radio parameters file says of the radio's mode."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from roambus.bridge.ini.lookup import Lookup
from roambus.bridge.ini.radio_file import RadioFile, RxMode, read_radio_file
from roambus.bridge.keys.key import Key, declared_keys
from roambus.bridge.scenario.mac import DATA_RATE, FRAME_OVERHEAD, MacSettings
from roambus.bridge.scenario.radio import FILE, MODE, TX_POWER, RadioSettings
from roambus.python_protocol.roles import NodeId

MODULATION = "PSK"
"""The embedded radio models no other modulation."""


class RadioReader:
    """Reads radio and MAC; the radio parameters file lies in `folder`. Every method raises UserError."""

    def __init__(self, keys: Lookup, folder: Path) -> None:
        self._keys = keys
        self._folder = folder

    def radio(self) -> RadioSettings:
        """The settings of the radio, which all nodes have."""
        mode, file = self._mode, self._file
        if file.powers["RX", "TX"] != file.powers["TX", "RX"]:
            raise self._keys.error(FILE.path, "the embedded radio knows one power for RX to TX and TX to RX")
        return self._keys.build(
            RadioSettings,
            data_rate_bps=mode.data_rate_bps,
            bits_per_symbol=mode.bits_per_symbol,
            noise_bandwidth_hz=mode.noise_bandwidth_hz,
            noise_floor_dbm=mode.noise_floor_dbm,
            sensitivity_dbm=mode.sensitivity_dbm,
            rx_power_mw=mode.power_mw,
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
        """The settings of the MAC, which must take the radio to be what it is."""
        self._check_same(DATA_RATE, self._mode.data_rate_bps / 1000)
        self._check_same(FRAME_OVERHEAD, self._keys.value(declared_keys(RadioSettings)["frame_overhead_bytes"]))
        return self._keys.build(MacSettings)

    def tx_power_dbm(self, node: NodeId) -> float:
        """The power that a node sends with."""
        levels = self._file.tx_dbm
        power: float | None = self._keys.value(TX_POWER, node)
        if power is not None and power not in levels:
            problem = f"{power:g} dBm is none of the radio's levels: {', '.join(f'{level:g}' for level in levels)}"
            raise self._keys.error(TX_POWER.path, problem, node)
        return levels[0] if power is None else power

    @cached_property
    def _file(self) -> RadioFile:
        path = self._folder / self._keys.value(FILE)
        if not path.is_file():
            raise self._keys.error(FILE.path, f"there is no file {path}")
        return read_radio_file(path)

    @cached_property
    def _mode(self) -> RxMode:
        name = self._keys.value(MODE)
        modes = {mode.name: mode for mode in self._file.modes}
        if name and name not in modes:
            raise self._keys.error(MODE.path, f"{name}: there is {', '.join(modes)}")
        mode = modes[name] if name else self._file.modes[0]
        if mode.modulation != MODULATION:
            problem = f"mode {mode.name} has modulation {mode.modulation}; the embedded radio knows {MODULATION}"
            raise self._keys.error(MODE.path, problem)
        return mode

    def _check_same(self, key: Key, radio: float) -> None:
        value = self._keys.value(key)
        if value != radio:
            raise self._keys.error(key.path, f"{value:g} is not the radio's {radio:g}")
