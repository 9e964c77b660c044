"""The message of managed flooding, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roambus.extensions.lora.contention import Window, slot_time
from roambus.python_protocol.filters import Notification
from roambus.python_protocol.messages.fields import U8
from roambus.python_protocol.messages.message import Message
from roambus.python_protocol.settings import Parameters, parameter
from roambus.python_protocol.simtime import SECOND, SimTime

CLIENT, ROUTER, REPEATER = "client", "router", "repeater"
MODEMS = {"LongFast": (11, 250), "MediumFast": (9, 250), "ShortFast": (7, 250)}


def symbol_time(name: str) -> SimTime:
    """The ns of a symbol of the modem."""
    factor, bandwidth_khz = MODEMS[name]
    return SECOND * 2**factor // (bandwidth_khz * 1000)


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
    modem: str = parameter(
        "LongFast",
        source="Meshtastic, LoRa configuration",
        choices=tuple(MODEMS),
        doc="preset of the radio, from which the slot follows",
    )
    slot: SimTime = parameter(
        slot_time(symbol_time("LongFast")),
        unit="s",
        source="Meshtastic, firmware: 2.5 symbols and 7.6 ms; follows from modem unless given",
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
        """Return the slot of the modem."""
        return {"slot": slot_time(symbol_time(given.get("modem", cls.modem)))}

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
