"""The message of managed flooding, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roambus.extensions.lora.contention import Window, slot_time
from roambus.extensions.lora.radio.airtime import symbol_ns
from roambus.extensions.lora.radio.modems import PRESETS
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.simtime import SimTime

CLIENT, ROUTER, REPEATER = "client", "router", "repeater"
_USUAL = "LongFast"


def slot_of(preset: str) -> SimTime:
    """Return the ns of a slot with the preset of a modem."""
    modem = PRESETS[preset]
    return slot_time(symbol_ns(modem.factor, modem.bandwidth_khz))


class Packet(Message, tag=0x01, notation="{notification} limit={hop_limit}/{hop_start}"):
    """A notification that may be repeated `hop_limit` times in a row; its publisher sent it with `hop_start`."""

    hop_limit: U8
    hop_start: U8
    notification: Notification


class MeshParameters(Parameters):
    """Parameters of managed flooding; raises ValueError for impossible values."""

    role: str = parameter(
        CLIENT,
        source="Meshtastic, device roles",
        choices=(CLIENT, ROUTER, REPEATER),
        doc="part of a node: a client is silent when another node repeats a packet, a router repeats every packet and "
        "before clients, a repeater is a router without an application; per node by SN.node[3].Application."
        "agentParameters",
    )
    hop_start: int = parameter(
        3,
        unit="hops",
        source="Meshtastic, LoRa configuration",
        at_least=0,
        at_most=7,
        doc="hop limit with which a packet starts: it is repeated so often, and with 3 goes four hops",
    )
    preset: str = parameter(
        _USUAL,
        source="Meshtastic, LoRa configuration",
        choices=tuple(PRESETS),
        doc="of the radio's modem, from which the slot follows",
    )
    slot: SimTime = parameter(
        slot_of(_USUAL),
        unit="s",
        source="Meshtastic, firmware: 2.5 symbols and 7.6 ms; follows from preset unless given",
        at_least=0,
        doc="slot of the contention windows",
    )
    cw_min: int = parameter(
        3, source="Meshtastic, firmware", at_least=1, at_most=15, doc="exponent of the least contention window"
    )
    cw_max: int = parameter(
        8, source="Meshtastic, firmware", at_least=1, at_most=15, doc="exponent of the greatest contention window"
    )
    snr_min: int = parameter(
        -20,
        unit="dB",
        source="Meshtastic, firmware: the floor of SF12",
        at_least=-100,
        at_most=100,
        doc="SNR up to which the window is the least",
    )
    snr_max: int = parameter(
        10,
        unit="dB",
        source="Meshtastic, firmware",
        at_least=-100,
        at_most=100,
        doc="SNR from which on the window is the greatest, as for an SNR that no radio has measured",
    )
    routers_first: bool = parameter(
        True,
        source="Meshtastic, firmware since 2.3",
        doc="clients wait until the window of routers is over before they draw from their own",
    )
    waiting: int = parameter(
        16, unit="packets", source="Meshtastic, firmware: its queue", at_least=1, doc="that wait to be repeated"
    )
    memory: int = parameter(1024, source="as for flooding", at_least=1, doc="notifications recognised as duplicates")

    @classmethod
    def implied(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the slot of the preset."""
        return {"slot": slot_of(given.get("preset", cls.preset))}

    def __post_init__(self) -> None:
        """Raise ValueError for windows that end before they begin."""
        super().__post_init__()
        if self.cw_min > self.cw_max:
            raise ValueError(f"parameter cw_min: {self.cw_min} is more than cw_max, {self.cw_max}")
        if self.snr_min >= self.snr_max:
            raise ValueError(f"parameter snr_min: {self.snr_min} is not below snr_max, {self.snr_max}")

    @property
    def window(self) -> Window:
        """The contention windows."""
        return Window(self.cw_min, self.cw_max, self.snr_min, self.snr_max)
