"""The radio of every node: its keys, and the mode and power levels of its radio parameters file."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge.keys import (
    EVERY_NODE,
    POWER,
    TEXT,
    TRUTH,
    WHOLE,
    key,
    keys_of,
)
from roambus.python_protocol.settings import NUMBER, Range, Setting
from roambus.python_protocol.simtime import MICROSECOND, SimTime

RADIO = f"SN.{EVERY_NODE}.Communication.Radio."

MOST_BYTES = 65535
"""No frame is longer on the bridge to a simulator."""
MOST_FRAMES = 65535
"""Each node has room for so many in memory."""

FILE = Setting(RADIO + "RadioParametersFile", TEXT, None, "a file beside the ini with the radio's modes and levels")
MODE = Setting(RADIO + "mode", TEXT, '""', "the receive mode; an empty text means the first of the file")
TX_POWER = Setting(
    RADIO + "TxOutputPower", POWER, '""', "the transmit power; an empty text means the first of the file"
)


@dataclass(frozen=True, slots=True)
class RadioSettings:
    """The radio; what has no key comes from its radio parameters file."""

    data_rate_bps: int
    bits_per_symbol: int
    noise_bandwidth_hz: float
    noise_floor_dbm: float
    sensitivity_dbm: float
    rx_power_mw: float
    tx_levels_mw: tuple[tuple[float, float], ...]
    """(dBm, mW drawn), strongest first."""
    rx_to_tx: SimTime = 10 * MICROSECOND
    tx_to_rx: SimTime = 10 * MICROSECOND
    transition_power_mw: float = 62.0
    """Between RX and TX, both ways."""
    rx_to_sleep: SimTime = 50 * MICROSECOND
    tx_to_sleep: SimTime = 50 * MICROSECOND
    sleep_to_rx: SimTime = 194 * MICROSECOND
    rx_to_sleep_power_mw: float = 1.4
    tx_to_sleep_power_mw: float = 1.4
    sleep_to_rx_power_mw: float = 62.0
    sleep_power_mw: float = 1.4
    cca_threshold_dbm: float = key(
        RADIO + "CCAthreshold", NUMBER, "-95.0", "the channel is clear below it", "dBm", Range(-300, 300)
    )
    symbols_for_rssi: int = key(
        RADIO + "symbolsForRSSI", WHOLE, "8", "symbols that a reading of the power averages", within=Range(1, 65535)
    )
    buffer_size: int = key(
        RADIO + "bufferSize", WHOLE, "16", "frames that the radio has room for", "frames", Range(1, MOST_FRAMES)
    )
    max_frame_bytes: int = key(
        RADIO + "maxPhyFrameSize", WHOLE, "1024", "longest frame; 0 means no limit", "bytes", Range(0, MOST_BYTES)
    )
    frame_overhead_bytes: int = key(
        RADIO + "phyFrameOverhead", WHOLE, "6", "what the radio adds to a frame", "bytes", Range(0, MOST_BYTES)
    )
    collision_model: int = key(
        RADIO + "collisionModel", WHOLE, "2", "how signals disturb each other; 2 adds their powers up", choices=(2,)
    )


KEYS = (
    Setting(RADIO + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
    FILE,
    MODE,
    TX_POWER,
    *keys_of(RadioSettings),
    Setting(RADIO + "state", TEXT, '"RX"', "the state in which the radio boots", choices=("RX",)),
    Setting(
        RADIO + "sleepLevel", TEXT, '""', "how deep it sleeps; an empty text means the first of the file", choices=("",)
    ),
    Setting(RADIO + "carrierFreq", NUMBER, "2400.0", "carrier frequency", "MHz", choices=(2400.0,)),
    Setting(
        RADIO + "carrierSenseInterruptEnabled", TRUTH, "false", "interrupts when the channel is busy", choices=(False,)
    ),
)
