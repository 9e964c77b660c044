"""The settings of every MAC, and of the routing above it.

A MAC's settings class inherits what all have, and names the module of the MAC itself; entry points name the classes
(`macs`). IEEE 802.15.4 has the standard's names and defaults, TunableMAC Castalia's. BypassRouting adds a header to
each message and decides nothing; the agents decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from roambus.bridge.keys import EVERY_NODE, MILLISECONDS, TEXT, TRUTH, WHOLE, key, keys_of
from roambus.bridge.scenario.radio import MOST_BYTES, MOST_FRAMES
from roambus.python_protocol.settings import NUMBER, Range, Setting, settings_of
from roambus.python_protocol.simtime import SimTime

COMMUNICATION = f"SN.{EVERY_NODE}.Communication."
MAC = COMMUNICATION + "MAC."
ROUTING = COMMUNICATION + "Routing."

DATA_RATE = Setting(MAC + "phyDataRate", NUMBER, "250.0", "data rate of the radio's mode", "kbit/s", Range(above=0))
FRAME_OVERHEAD = Setting(MAC + "phyFrameOverhead", WHOLE, "6", "bytes that the radio adds to a frame", "bytes")

_BYTES = Range(0, MOST_BYTES)
MOST_MPDU_BYTES = 127
"""aMaxPHYPacketSize of IEEE 802.15.4: the length in the PHY's header has seven bits."""
_EXPONENT = Range(0, 8)
_WAIT = Range(at_least=0)


@dataclass(frozen=True, slots=True)
class MacSettings:
    """The settings of all MACs, with the sizes and defaults of Castalia's TunableMAC, and the routing's header."""

    MODULE: ClassVar[str]
    """The module that is the MAC, as `roambus.bridge.backends.radio.mac.interface` has it."""
    FURTHER_KEYS: ClassVar[tuple[Setting, ...]] = ()
    """Keys beside those of its fields."""
    ACKNOWLEDGES: ClassVar[bool] = False
    """Whether its receivers acknowledge unicasts, which a node that is down does not."""
    FOLLOWS_FAULTS: ClassVar[bool] = False
    """Whether MAC and radio of a node that is down are down, too, as with acknowledgements."""

    buffer_size: int = key(
        MAC + "macBufferSize", WHOLE, "32", "packets that fit into the queue", "packets", Range(1, MOST_FRAMES)
    )
    packet_overhead_bytes: int = key(
        MAC + "macPacketOverhead", WHOLE, "9", "bytes that the MAC adds to a packet", "bytes", _BYTES
    )
    max_packet_bytes: int = key(
        MAC + "macMaxPacketSize", WHOLE, "0", "longest packet with the MAC's header; 0 means no limit", "bytes", _BYTES
    )
    network_overhead_bytes: int = key(
        ROUTING + "netDataFrameOverhead", WHOLE, "10", "bytes that the routing adds to a message", "bytes", _BYTES
    )

    @classmethod
    def keys(cls) -> tuple[Setting, ...]:
        """Return the MAC's own keys."""
        return (*cls.FURTHER_KEYS, *(setting for setting in keys_of(cls) if setting.name.startswith(MAC)))

    @property
    def goes_down(self) -> bool:
        """Whether MAC and radio follow a node's faults."""
        return self.ACKNOWLEDGES or self.FOLLOWS_FAULTS

    @property
    def may_sleep(self) -> bool:
        """Whether the radio sleeps at all."""
        return False


@dataclass(frozen=True, slots=True)
class TunableMacSettings(MacSettings):
    """Castalia's TunableMAC, as CSMA."""

    MODULE: ClassVar[str] = "roambus.bridge.backends.radio.mac.tunable_mac"
    FURTHER_KEYS: ClassVar[tuple[Setting, ...]] = (
        Setting(
            MAC + "printStateTransitions", TRUTH, "false", "a part of Castalia's own trace, which has no effect here"
        ),
        DATA_RATE,
    )

    backoff_base: SimTime = key(
        MAC + "backoffBaseValue", MILLISECONDS, "16", "base of the bound of a back-off", within=Range(above=0)
    )
    # The templates set 2: with 1, Castalia's default, the bound stays as it is however busy the channel is.
    backoff_type: int = key(
        MAC + "backoffType",
        WHOLE,
        "1",
        "bound of a back-off: 0 and 1 the base, 2 the base times the busy results in a row, 3 doubled by each",
        choices=(0, 1, 2, 3),
    )
    # 0 by default, so two nodes that act at one instant into a quiet channel collide: agents need jitter of their own.
    random_tx_offset: SimTime = key(
        MAC + "randomTxOffset", MILLISECONDS, "0.0", "bound of the random wait before the first sensing", within=_WAIT
    )
    valid_cs_delay: SimTime = key(
        MAC + "phyDelayForValidCS", MILLISECONDS, "0.128", "wait for a valid sensing", within=Range(above=0)
    )
    prob_tx: float = key(
        MAC + "probTx", NUMBER, "1.0", "probability that the try to transmit a packet happens", within=Range(0, 1)
    )
    retransmission_interval: SimTime = key(
        MAC + "reTxInterval", MILLISECONDS, "0.0", "from one try to the next", within=_WAIT
    )
    tries: int = key(
        MAC + "numTx", WHOLE, "1", "tries to transmit each packet; each that happens is a copy on the air",
        within=Range(1, MOST_FRAMES),
    )  # fmt: skip
    persistence: float = key(
        MAC + "CSMApersistance",
        NUMBER,
        "0",
        "persistence of the CSMA: 0 backs off from a busy channel, else it senses on, and sends with this probability",
        within=Range(0, 1),
    )
    # While a queue is drained nobody else finds the channel clear for long: throughput goes before fairness, as in
    # Castalia.
    sends_all: bool = key(
        MAC + "txAllPacketsInFreeChannel", TRUTH, "true", "a clear channel is used for all packets, and not for one"
    )
    duty_cycle: float = key(
        MAC + "dutyCycle", NUMBER, "1.0", "share of the time that an idle node listens; at 0 and 1 it never sleeps",
        within=Range(0, 1),
    )  # fmt: skip
    listen_interval: SimTime = key(
        MAC + "listenInterval", MILLISECONDS, "10", "how long it listens before it sleeps again", within=Range(above=0)
    )
    # Below 1 a sleeper can miss a packet, which saves the sender's energy: a trade-off to be studied, and so no error.
    preamble_share: float = key(
        MAC + "beaconIntervalFraction",
        NUMBER,
        "1.0",
        "share of the time that others sleep for which a packet is announced",
        within=Range(0, 1),
    )
    preamble_bytes: int = key(
        MAC + "beaconFrameSize", WHOLE, "125", "each frame that announces a packet", "bytes", Range(1, MOST_BYTES)
    )
    sleeps_in_backoff: bool = key(
        MAC + "sleepDuringBackoff", TRUTH, "false", "the radio sleeps while the MAC backs off; with a duty cycle always"
    )

    @property
    def sleep_interval(self) -> SimTime:
        """An idle node's sleep between listening; 0 without a duty cycle."""
        # TunableMAC takes both ends for no duty cycle at all: at 0 a node would otherwise never listen.
        if not 0 < self.duty_cycle < 1:
            return 0
        return round(self.listen_interval * (1 - self.duty_cycle) / self.duty_cycle)

    @property
    def may_sleep(self) -> bool:
        """Whether the radio sleeps at all."""
        return self.sleeps_in_backoff or self.sleep_interval > 0


@dataclass(frozen=True, slots=True)
class Ieee802154Settings(MacSettings):
    """Unslotted CSMA-CA of IEEE 802.15.4-2006, sections 7.5.1.4 and 7.5.6, with acknowledged unicasts."""

    MODULE: ClassVar[str] = "roambus.bridge.backends.radio.mac.csma_ca"
    ACKNOWLEDGES: ClassVar[bool] = True

    packet_overhead_bytes: int = key(
        MAC + "macPacketOverhead", WHOLE, "11", "header and FCS, with short addresses in one PAN", "bytes", _BYTES
    )
    max_packet_bytes: int = key(
        MAC + "macMaxPacketSize", WHOLE, "127", "aMaxPHYPacketSize: longest frame without the PHY's header", "bytes",
        Range(1, MOST_MPDU_BYTES),
    )  # fmt: skip
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


ROUTING_KEYS = (
    Setting(MAC + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
    FRAME_OVERHEAD,
    settings_of(MacSettings)["network_overhead_bytes"],
    Setting(COMMUNICATION + "RoutingProtocolName", TEXT, '"BypassRouting"', "the routing", choices=("BypassRouting",)),
    Setting(ROUTING + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
    Setting(
        ROUTING + "maxNetFrameSize", WHOLE, "0", "longest frame of the routing; 0 means no limit", "bytes", choices=(0,)
    ),
    Setting(ROUTING + "netBufferSize", WHOLE, "32", "no effect, because packets pass through unchanged", "packets"),
)
