"""The settings of the MACs of LoRa, with the sizes of Meshtastic's frames and the window of its documentation.

The mesh's header has sixteen bytes: addresses, a number, flags, hashes. They precede each payload in the clear, below
any protocol, and are the MAC's header here. The PHY's header is in the airtime's formula. Routing adds none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from roambus.bridge.keys import MILLISECONDS, TEXT, TRUTH, WHOLE, key
from roambus.bridge.scenario.mac import MAC, ROUTING, MacSettings
from roambus.extensions.lora.contention import CAD_SYMBOLS, PROCESSING, PROPAGATION, TURNAROUND
from roambus.extensions.lora.mac.regions import NO_LIMITS, REGIONS
from roambus.python_protocol.settings import NUMBER, Range
from roambus.python_protocol.simtime import MILLISECOND, SimTime

LONGEST_PACKET = 255
"""The length in the PHY's header has eight bits (SX1276, section 4.1.1)."""
DELAY, REFUSE = "delay", "refuse"
_EXPONENT = Range(0, 16)
_REST_MS = str((PROPAGATION + TURNAROUND + PROCESSING) / MILLISECOND)


@dataclass(frozen=True, slots=True)
class LoRaAloha(MacSettings):
    """Pure ALOHA: each frame goes on the air as soon as the radio is free, within the region's limits."""

    MODULE: ClassVar[str] = "roambus.extensions.lora.mac.aloha"
    FOLLOWS_FAULTS: ClassVar[bool] = True  # a frame may wait for an hour, and a node that is off sends nothing

    packet_overhead_bytes: int = key(
        MAC + "macPacketOverhead", WHOLE, "16", "header of the mesh, in the clear", "bytes", Range(0, LONGEST_PACKET)
    )
    max_packet_bytes: int = key(
        MAC + "macMaxPacketSize", WHOLE, "255", "longest packet with that header", "bytes", Range(1, LONGEST_PACKET)
    )
    network_overhead_bytes: int = key(
        ROUTING + "netDataFrameOverhead", WHOLE, "0", "bytes that the routing adds", "bytes", Range(0, LONGEST_PACKET)
    )
    region: str = key(
        MAC + "region", TEXT, f'"{NO_LIMITS}"',
        "the band whose limits of power, duty cycle and dwell time hold; European meshes are in EU868-g3",
        choices=tuple(REGIONS),
    )  # fmt: skip
    limit: str = key(
        MAC + "limit", TEXT, f'"{DELAY}"', "whether a frame that would break the duty cycle waits, or is refused",
        choices=(DELAY, REFUSE),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoRaCad(LoRaAloha):
    """Listen before talk: a random number of slots, then channel activity detection; a busy channel begins it anew."""

    MODULE: ClassVar[str] = "roambus.extensions.lora.mac.listening"

    cad_symbols: float = key(
        MAC + "cadSymbols",
        NUMBER,
        str(CAD_SYMBOLS),
        "how long a channel activity detection takes",
        "symbols",
        Range(0.5, 100),
    )
    slot_rest: SimTime = key(
        MAC + "slotRest", MILLISECONDS, _REST_MS, "the rest of a slot: 30 km there and back, turnaround, processing",
        within=Range(at_least=0),
    )  # fmt: skip
    cw_min: int = key(
        MAC + "cwMin", WHOLE, "3", "the window of a quiet channel: 2 to this power slots", within=_EXPONENT
    )
    cw_max: int = key(MAC + "cwMax", WHOLE, "8", "the window of a channel in use all the time", within=_EXPONENT)
    first_wait: bool = key(
        MAC + "firstWait",
        TRUTH,
        "true",
        "a frame waits before its first detection, too; otherwise the agent has waited",
    )
    tries: int = key(
        MAC + "tries", WHOLE, "0", "detections of a busy channel after which a frame fails; 0: there is no limit",
        within=Range(0, 1000),
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Raise ValueError for windows in the wrong order."""
        if self.cw_min > self.cw_max:
            raise ValueError(f"cwMin = {self.cw_min} is above cwMax = {self.cw_max}")
