"""The MACs beside TunableMAC: IEEE 802.15.4, with the standard's names and defaults, and ALOHA.

A settings class names its MAC in `PROTOCOL`, the ini's `MACProtocolName`. All have ALOHA's first four fields, for the
shared parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from roambus.bridge.keys import TEXT, WHOLE, key, keys_of
from roambus.bridge.scenario.radio import (
    COMMUNICATION,
    MAC,
    MAC_KEYS,
    MOST_BYTES,
    MacSettings,
)
from roambus.python_protocol.settings import Range, Setting, setting_field, settings_of

_BYTES = Range(at_least=0, at_most=MOST_BYTES)
_EXPONENT = Range(at_least=0, at_most=8)


def _as_tunable_mac(field: str) -> Any:
    """Return a field with the key that TunableMAC declares for it."""
    declared = settings_of(MacSettings)[field]
    return setting_field(declared, default=declared.read(declared.default or ""))


@dataclass(frozen=True, slots=True)
class Ieee802154Settings:
    """Unslotted CSMA-CA of IEEE 802.15.4-2006, sections 7.5.1.4 and 7.5.6, with acknowledged unicasts."""

    PROTOCOL: ClassVar[str] = "802.15.4"

    buffer_size: int = _as_tunable_mac("buffer_size")
    packet_overhead_bytes: int = key(
        MAC + "macPacketOverhead", WHOLE, "11", "header and FCS, with short addresses in one PAN", "bytes", _BYTES
    )
    max_packet_bytes: int = key(
        MAC + "macMaxPacketSize", WHOLE, "127", "aMaxPHYPacketSize: longest frame without the PHY's header", "bytes",
        Range(1, MOST_BYTES),
    )  # fmt: skip
    network_overhead_bytes: int = _as_tunable_mac("network_overhead_bytes")
    min_be: int = key(MAC + "macMinBE", WHOLE, "3", "smallest back-off exponent", within=_EXPONENT)
    max_be: int = key(MAC + "macMaxBE", WHOLE, "5", "largest back-off exponent", within=Range(3, 8))
    max_csma_backoffs: int = key(
        MAC + "macMaxCSMABackoffs", WHOLE, "4", "busy results before a channel access failure, less one",
        within=Range(0, 5),
    )  # fmt: skip
    max_frame_retries: int = key(
        MAC + "macMaxFrameRetries",
        WHOLE,
        "3",
        "retransmissions of a frame that is not acknowledged",
        within=Range(0, 7),
    )
    ack_wait_symbols: int = key(
        MAC + "macAckWaitDuration",
        WHOLE,
        "54",
        "how long an acknowledgement is waited for",
        "symbols",
        Range(1, 10_000),
    )

    def __post_init__(self) -> None:
        """Raise ValueError for exponents in the wrong order."""
        if self.min_be > self.max_be:
            raise ValueError(f"macMinBE = {self.min_be} is above macMaxBE = {self.max_be}")

    @property
    def may_sleep(self) -> bool:
        """Whether the radio sleeps at all."""
        return False


@dataclass(frozen=True, slots=True)
class AlohaSettings:
    """Pure ALOHA: frames are sent at once."""

    PROTOCOL: ClassVar[str] = "ALOHA"

    buffer_size: int = _as_tunable_mac("buffer_size")
    packet_overhead_bytes: int = _as_tunable_mac("packet_overhead_bytes")
    max_packet_bytes: int = _as_tunable_mac("max_packet_bytes")
    network_overhead_bytes: int = _as_tunable_mac("network_overhead_bytes")

    @property
    def may_sleep(self) -> bool:
        """Whether the radio sleeps at all."""
        return False


AnyMac = MacSettings | Ieee802154Settings | AlohaSettings

SETTINGS: dict[str, type[MacSettings] | type[Ieee802154Settings] | type[AlohaSettings]] = {
    settings.PROTOCOL: settings for settings in (MacSettings, Ieee802154Settings, AlohaSettings)
}
"""The settings of each MAC, by its name in the ini."""

PROTOCOL = Setting(COMMUNICATION + "MACProtocolName", TEXT, '"BypassMAC"', "the MAC", choices=tuple(SETTINGS))

KEYS: dict[str, tuple[Setting, ...]] = {MacSettings.PROTOCOL: MAC_KEYS} | {
    name: tuple(key for key in keys_of(settings) if key.name.startswith(MAC))
    for name, settings in SETTINGS.items()
    if settings is not MacSettings
}
"""The keys of each MAC."""
