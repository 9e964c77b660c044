"""The settings of the LoRa radio.

A preset gives spreading factor, bandwidth and coding rate; each of these keys can be set on its own, too, and then
counts in place of the preset's. Spreading factors may differ between nodes: a list is given to them in turn.
Gateways hear all factors, and several frames at a time. After `read` the fields hold the values that count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from roambus.bridge.keys import TEXT, TRUTH, WHOLE, key, quoted, string
from roambus.bridge.scenario.model import KeysOfIni
from roambus.bridge.scenario.radio import MOST_BYTES as MOST
from roambus.bridge.scenario.radio import RADIO
from roambus.bridge.scenario.reception import PREFIX, Reception
from roambus.extensions.lora.radio.airtime import BANDWIDTHS_KHZ, CODING_RATES, FACTORS, MOST_BYTES, Modem
from roambus.extensions.lora.radio.modems import PREAMBLE, PRESETS
from roambus.python_protocol.settings import NUMBER, Range, read_number

_OPTIMISED = {"auto": None, "on": True, "off": False}
_DB = Range(0, 300)
MOST_NOISE_DB = 50


def factors(text: str) -> tuple[int, ...]:
    """Read "7 9": spreading factors; none for ""."""
    words = string(text).split() if text.startswith('"') else [text]
    if not all(word in map(str, FACTORS) for word in words):
        raise ValueError(f"{text} is no list of spreading factors from {FACTORS[0]} to {FACTORS[-1]}")
    return tuple(map(int, words))


def numbers(text: str) -> tuple[int, ...]:
    """Read "0 7": the numbers of nodes, each once."""
    words = string(text).split()
    if not all(word.isdecimal() for word in words) or len(set(map(int, words))) < len(words):
        raise ValueError(f'{text} is no list of numbers of nodes, each once, such as "0 7"')
    return tuple(map(int, words))


def noise_figure(text: str) -> float | None:
    """Read 6 or "6"; None for ""."""
    content = string(text).strip() if text.startswith('"') else text
    value = read_number(content) if content else None
    if value is not None and not 0 <= value <= MOST_NOISE_DB:
        raise ValueError(f"{text} is no noise figure from 0 to {MOST_NOISE_DB} dB")
    return value


def is_imperfect(text: str) -> bool:
    """Read "imperfect" or "orthogonal"."""
    word = string(text)
    if word not in {"imperfect", "orthogonal"}:
        raise ValueError(f'{text} is neither "imperfect" nor "orthogonal"')
    return word == "imperfect"


@dataclass(frozen=True, slots=True)
class Frames:
    """The radio's own keys about sizes, with which LoRa must agree."""

    most_bytes: int = key(RADIO + "maxPhyFrameSize", WHOLE, "1024", "longest frame", within=Range(0, MOST))
    overhead_bytes: int = key(RADIO + "phyFrameOverhead", WHOLE, "6", "header", within=Range(0, MOST))


@dataclass(frozen=True, slots=True)
class LoRa(Reception):
    """LoRa's chirps, of Semtech's SX1276 and SX1262."""

    MODULE: ClassVar[str] = "roambus.extensions.lora.radio.reception"

    preset: str = key(PREFIX + "preset", TEXT, '"LongFast"', "Meshtastic's name of a modem", choices=tuple(PRESETS))
    factors: tuple[int, ...] = key(
        PREFIX + "spreadingFactor", quoted("spreading factors", factors), '""',
        "spreading factors of the nodes, in turn; none: the preset's",
    )  # fmt: skip
    bandwidth_khz: int = key(
        PREFIX + "bandwidth", WHOLE, "0", "bandwidth; 0: the preset's", "kHz", choices=(0, *BANDWIDTHS_KHZ)
    )
    coding_rate: int = key(
        PREFIX + "codingRate", WHOLE, "0", "n of the coding rate 4/n; 0: the preset's", choices=(0, *CODING_RATES)
    )
    preamble: int = key(
        PREFIX + "preamble", WHOLE, str(PREAMBLE), "programmed preamble, to which the radio adds 4.25 symbols",
        "symbols", Range(6, 65535),
    )  # fmt: skip
    needed: int = key(
        PREFIX + "preambleNeeded", WHOLE, "5", "last symbols of the programmed preamble that a receiver needs",
        "symbols", Range(0, 65535),
    )  # fmt: skip
    explicit_header: bool = key(PREFIX + "explicitHeader", TRUTH, "true", "frames have a header with their length")
    crc: bool = key(PREFIX + "crc", TRUTH, "true", "frames end with a CRC of their payload")
    low_data_rate: str = key(
        PREFIX + "lowDataRate", TEXT, '"auto"', "the low data rate optimisation; auto: from symbols of 16 ms on",
        choices=tuple(_OPTIMISED),
    )  # fmt: skip
    noise_figure_db: float | None = key(
        PREFIX + "noiseFigure", quoted("number, or none", noise_figure), '""',
        "noise of the receiver above that of its antenna; none: the noise floor of the radio parameters file", "dB",
    )  # fmt: skip
    capture_db: float = key(
        PREFIX + "capture", NUMBER, "6", "by which a frame survives others of its spreading factor", "dB", _DB
    )
    is_imperfect: bool = key(
        PREFIX + "interSf", quoted("imperfect or orthogonal", is_imperfect), '"imperfect"',
        "whether frames of other spreading factors interfere",
    )  # fmt: skip
    adds_up: bool = key(
        PREFIX + "addsUp", TRUTH, "true", "interferers of one spreading factor add up; else each counts alone"
    )
    preamble_harms: bool = key(
        PREFIX + "preambleHarms", TRUTH, "true",
        "the part of an interferer's preamble that its own receivers do not need interferes, too",
    )  # fmt: skip
    relocks: bool = key(
        PREFIX + "relocks", TRUTH, "true",
        "a frame strong enough takes over a demodulator that has heard another one's preamble",
    )  # fmt: skip
    gateways: tuple[int, ...] = key(
        PREFIX + "gateways", quoted("numbers of nodes", numbers), '""', "nodes that hear all spreading factors"
    )
    demodulators: int = key(
        PREFIX + "demodulators", WHOLE, "8", "frames that a gateway receives at a time; any other node receives one",
        within=Range(1, 1024),
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Raise ValueError for a receiver that needs more than the preamble."""
        if self.needed > self.preamble:
            raise ValueError(f"preambleNeeded = {self.needed} is more than the preamble of {self.preamble} symbols")

    @classmethod
    def read(cls, ini: KeysOfIni) -> Self:
        """Return the settings that count; refuse frames that LoRa does not have."""
        try:
            built: Self = ini.build(cls)
        except ValueError as error:
            ini.refuse(True, PREFIX + "preambleNeeded", str(error))  # raises, with the key's line
            raise
        frames = ini.build(Frames)
        problem = f"a LoRa frame has at most {MOST_BYTES} bytes: set it to 1 to {MOST_BYTES}"
        ini.refuse(not 0 < frames.most_bytes <= MOST_BYTES, RADIO + "maxPhyFrameSize", problem)
        problem = "LoRa's airtime has its header already: set it to 0"
        ini.refuse(frames.overhead_bytes != 0, RADIO + "phyFrameOverhead", problem)
        return built.resolved()

    def resolved(self) -> Self:
        """Return the settings with the preset's where none were given, and no preset: two spellings are equal."""
        if not self.preset:
            return self
        preset = PRESETS[self.preset]
        given: dict[str, Any] = {
            "preset": "",
            "factors": self.factors or (preset.factor,),
            "bandwidth_khz": self.bandwidth_khz or preset.bandwidth_khz,
            "coding_rate": self.coding_rate or preset.coding_rate,
        }
        return replace(self, **given)

    def modem(self, factor: int | None = None) -> Modem:
        """Return the modem of a spreading factor; without one that of node 0."""
        own = self.resolved()
        return Modem(
            own.factors[0] if factor is None else factor,
            own.bandwidth_khz,
            own.coding_rate,
            own.preamble,
            own.explicit_header,
            own.crc,
            _OPTIMISED[own.low_data_rate],
        )
