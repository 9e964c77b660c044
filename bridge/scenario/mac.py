"""The MAC of every node, which is TunableMAC, and the header that the routing above it adds."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge.keys import (
    EVERY_NODE,
    MILLISECONDS,
    TEXT,
    TRUTH,
    WHOLE,
    key,
    keys_of,
)
from roambus.bridge.scenario.radio import MOST_BYTES, MOST_FRAMES
from roambus.python_protocol.settings import NUMBER, Range, Setting
from roambus.python_protocol.simtime import SimTime

COMMUNICATION = f"SN.{EVERY_NODE}.Communication."
MAC = COMMUNICATION + "MAC."
ROUTING = COMMUNICATION + "Routing."

DATA_RATE = Setting(MAC + "phyDataRate", NUMBER, "250.0", "data rate of the radio's mode", "kbit/s", Range(above=0))
FRAME_OVERHEAD = Setting(MAC + "phyFrameOverhead", WHOLE, "6", "what the radio adds to a frame", "bytes")

_BYTES = Range(0, MOST_BYTES)
_WAIT = Range(at_least=0)


@dataclass(frozen=True, slots=True)
class MacSettings:
    """TunableMAC as CSMA, and the routing header above it."""

    buffer_size: int = key(
        MAC + "macBufferSize", WHOLE, "32", "packets that the queue has room for", "packets", Range(1, MOST_FRAMES)
    )
    packet_overhead_bytes: int = key(
        MAC + "macPacketOverhead", WHOLE, "9", "what the MAC adds to a packet", "bytes", _BYTES
    )
    max_packet_bytes: int = key(
        MAC + "macMaxPacketSize", WHOLE, "0", "longest packet with the MAC's header; 0 means no limit", "bytes", _BYTES
    )
    network_overhead_bytes: int = key(
        ROUTING + "netDataFrameOverhead", WHOLE, "10", "what the routing adds to a message", "bytes", _BYTES
    )
    backoff_base: SimTime = key(
        MAC + "backoffBaseValue", MILLISECONDS, "16", "base of the bound of a back-off", within=Range(above=0)
    )
    backoff_type: int = key(
        MAC + "backoffType",
        WHOLE,
        "1",
        "bound of a back-off: 0 and 1 the base, 2 the base times the busy results in a row, 3 doubled by each",
        choices=(0, 1, 2, 3),
    )
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
        MAC + "sleepDuringBackoff",
        TRUTH,
        "false",
        "the radio sleeps while the MAC backs off; with a duty cycle always",
    )

    @property
    def sleep_interval(self) -> SimTime:
        """How long an idle node sleeps before it listens again; 0 without a duty cycle."""
        if not 0 < self.duty_cycle < 1:
            return 0
        return round(self.listen_interval * (1 - self.duty_cycle) / self.duty_cycle)

    @property
    def may_sleep(self) -> bool:
        """Whether the radio sleeps at all."""
        return self.sleeps_in_backoff or self.sleep_interval > 0


KEYS = (
    Setting(COMMUNICATION + "MACProtocolName", TEXT, '"BypassMAC"', "the MAC", choices=("TunableMAC",)),
    Setting(MAC + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
    Setting(MAC + "printStateTransitions", TRUTH, "false", "a part of Castalia's own trace, which has no effect here"),
    *keys_of(MacSettings),
    DATA_RATE,
    FRAME_OVERHEAD,
    Setting(COMMUNICATION + "RoutingProtocolName", TEXT, '"BypassRouting"', "the routing", choices=("BypassRouting",)),
    Setting(ROUTING + "collectTraceInfo", TRUTH, "false", "Castalia's own trace, which has no effect here"),
    Setting(
        ROUTING + "maxNetFrameSize", WHOLE, "0", "longest frame of the routing; 0 means no limit", "bytes", choices=(0,)
    ),
    Setting(ROUTING + "netBufferSize", WHOLE, "32", "no effect, for packets pass straight through", "packets"),
)
