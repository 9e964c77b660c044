"""The channel and the radio of every node.

- The channel is Castalia's: a path loss for each pair of nodes, or of cells if nodes move (`propagation`).
- The radio is Castalia's, with its radio parameters file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from roambus.bridge.keys import EVERY_NODE, MILLISECONDS, OPTIONAL_FILE, POWER, TEXT, TRUTH, WHOLE, key, keys_of
from roambus.bridge.keys import FILE as BELOW
from roambus.python_protocol.settings import NUMBER, Range, Setting
from roambus.python_protocol.simtime import MICROSECOND, SimTime

RADIO = f"SN.{EVERY_NODE}.Communication.Radio."

MOST_BYTES = 65535
"""The longest frame on the bridge to a simulator."""
MOST_FRAMES = 65535
"""The most frames that a node's memory holds."""

FILE = Setting(RADIO + "RadioParametersFile", BELOW, None, "a file beside the ini with the radio's modes and levels")
MODE = Setting(RADIO + "mode", TEXT, '""', "the receive mode; an empty text means the first of the file")
TX_POWER = Setting(
    RADIO + "TxOutputPower", POWER, '""', "the transmit power; an empty text means the first of the file"
)


MODULATIONS = ("PSK", "OQPSK")
"""Castalia's, and that of IEEE 802.15.4 at 2.4 GHz, which Castalia lacks."""


@dataclass(frozen=True, slots=True)
class RadioSettings:
    """The radio; its parameters file has the rest."""

    data_rate_bps: int
    bits_per_symbol: int
    noise_bandwidth_hz: float
    noise_floor_dbm: float
    sensitivity_dbm: float
    rx_power_mw: float
    tx_levels_mw: tuple[tuple[float, float], ...]
    """(dBm, mW drawn), strongest first."""
    modulation: int = 0
    """Its place in MODULATIONS."""
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
        RADIO + "bufferSize", WHOLE, "16", "frames that fit into the radio's buffer", "frames", Range(1, MOST_FRAMES)
    )
    # Castalia's own default; a real CC2420 takes 127 bytes.
    max_frame_bytes: int = key(
        RADIO + "maxPhyFrameSize", WHOLE, "1024", "longest frame; 0 means no limit", "bytes", Range(0, MOST_BYTES)
    )
    frame_overhead_bytes: int = key(
        RADIO + "phyFrameOverhead", WHOLE, "6", "bytes that the radio adds to a frame", "bytes", Range(0, MOST_BYTES)
    )
    rssi_offset_db: float = key(
        RADIO + "rssiOffset",
        NUMBER,
        "0",
        "bound of the error of all signal strengths that a node reads, drawn once for each; Castalia ignores it",
        "dB",
        Range(0, 100),
    )
    rssi_noise_db: float = key(
        RADIO + "rssiNoise",
        NUMBER,
        "0",
        "standard deviation of the error from frame to frame; Castalia ignores it",
        "dB",
        Range(0, 100),
    )
    # Castalia's other models leave interference out, or take every overlap for a collision; 2 is the one that it
    # recommends and that papers use.
    collision_model: int = key(
        RADIO + "collisionModel", WHOLE, "2", "how signals interfere; 2 adds their powers up", choices=(2,)
    )

    @property
    def bandwidth_db(self) -> float:
        """What the bit error rate adds to an SNR: 10 log10(noise bandwidth / data rate) for PSK."""
        return 0.0 if self.modulation else 10 * math.log10(self.noise_bandwidth_hz / self.data_rate_bps)


KEYS = (
    Setting(RADIO + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
    FILE,
    MODE,
    TX_POWER,
    *keys_of(RadioSettings),
    Setting(RADIO + "state", TEXT, '"RX"', "the state in which the radio boots", choices=("RX",)),
    Setting(
        RADIO + "sleepLevel", TEXT, '""', "the sleep level; an empty text means the first of the file", choices=("",)
    ),
    Setting(RADIO + "carrierFreq", NUMBER, "2400.0", "carrier frequency", "MHz", choices=(2400.0,)),
    Setting(
        RADIO + "carrierSenseInterruptEnabled", TRUTH, "false", "interrupts when the channel is busy", choices=(False,)
    ),
)


CHANNEL = "SN.wirelessChannel."

TEMPORAL_FILE = Setting(
    CHANNEL + "temporalModelParametersFile",
    OPTIONAL_FILE,
    '""',
    "the parameters of Castalia's temporal model, by which links vary in time; without a file they do not vary",
)

LOSSES_FILE = Setting(
    CHANNEL + "pathLossMapFile",
    OPTIONAL_FILE,
    '""',
    "path losses that are given, for pairs of nodes, or of cells where nodes may move; all others are drawn",
)


@dataclass(frozen=True, slots=True)
class GivenLosses:
    """Path losses from a file: both places (nodes or cells) of each way, and its loss."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    losses_db: tuple[float, ...]


# A cell of a centimetre is finer than any movement step; a smaller one would only use up memory.
_CELL = Range(at_least=0.01, at_most=1e6)
LEVEL = Range(at_least=-300, at_most=300)
DEVIATION = Range(at_least=0, at_most=100)


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """The wireless channel; its ranges keep the reach finite."""

    only_static_nodes: bool = key(
        CHANNEL + "onlyStaticNodes", TRUTH, "true", "path loss is drawn for each pair of nodes, and not of cells"
    )
    x_cell_m: float = key(CHANNEL + "xCellSize", NUMBER, "5", "width of a cell", "m", _CELL)
    y_cell_m: float = key(CHANNEL + "yCellSize", NUMBER, "5", "height of a cell", "m", _CELL)
    signal_delivery_threshold_dbm: float = key(
        CHANNEL + "signalDeliveryThreshold", NUMBER, "-100", "weakest signal that reaches a radio", "dBm", LEVEL
    )


CHANNEL_KEYS = (
    Setting(CHANNEL + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
    *keys_of(ChannelSettings),
    Setting(CHANNEL + "zCellSize", NUMBER, "1", "depth of a cell, which has no effect in a flat field", "m"),
    LOSSES_FILE,
    TEMPORAL_FILE,
)


@dataclass(frozen=True, slots=True)
class Ns3Settings:
    """The ns-3 network stack; other back-ends ignore it."""

    stack: str = key(
        "SN.ns3.stack",
        TEXT,
        '"lr-wpan"',
        "MAC and radio of ns-3: IEEE 802.15.4, or 802.11b at 1 Mbit/s, ad hoc; Castalia ignores it",
        choices=("lr-wpan", "wifi"),
    )


NS3_KEYS = keys_of(Ns3Settings)


_OUTSIDE = "SN.interference."
_NOT_CASTALIAS = "; Castalia ignores it"


@dataclass(frozen=True, slots=True)
class InterferenceSettings:
    """Bursts from a foreign sender, which all nodes hear.

    Bursts and pauses are exponential. Each node draws its power (dBm, normal), so that only some bursts disturb it.
    """

    rate_per_s: float = key(
        _OUTSIDE + "rate",
        NUMBER,
        "0",
        f"bursts of other traffic in a second of pause; 0: there is none{_NOT_CASTALIAS}",
        "bursts/s",
        Range(0, 1e5),
    )  # fmt: skip
    length: SimTime = key(
        _OUTSIDE + "length", MILLISECONDS, "1", f"mean length of a burst{_NOT_CASTALIAS}", within=Range(0.01, 1e6)
    )
    power_dbm: float = key(
        _OUTSIDE + "power", NUMBER, "-80", f"median power with which a node receives a burst{_NOT_CASTALIAS}", "dBm",
        LEVEL,
    )  # fmt: skip
    spread_db: float = key(
        _OUTSIDE + "spread", NUMBER, "10", f"standard deviation of this power, for each burst and node{_NOT_CASTALIAS}",
        "dB", DEVIATION,
    )  # fmt: skip


INTERFERENCE_KEYS = keys_of(InterferenceSettings)
