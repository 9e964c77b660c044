"""Everything that the compiled loop works on: arrays of records, one for each node, signal, frame and so on.

Times are nanoseconds, powers dBm. Integers have 64 bits, so that each part is compiled for one type only. Fields used
together are kept together, for the cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio.chance import STREAMS
from roambus.bridge.backends.radio.records import record_of
from roambus.bridge.scenario.channel import ChannelSettings
from roambus.bridge.scenario.mac import MacSettings
from roambus.bridge.scenario.radio import RadioSettings

LISTENING, SENDING, SWITCHING = 0, 1, 2
"""The states of a radio: it is in RX, in TX, or between the two."""

RECEIVABLE, CORRUPTED, LOST = 0, 1, 2
"""The fates of a signal: it has no bit error yet, it has one, or it is interference only."""

LEVELS = 16
"""A radio remembers so many changes of the power received, a power of two; more within 128 us count as lasting."""


LEAST_ROOM = 32
"""A node's queue and buffer have room for so many frames at least, so that usual sizes share what is compiled."""


def node_dtype(queue_size: int, buffer_size: int) -> np.dtype[np.void]:
    """The type NODE of a node's place, radio, MAC and counts, with room for so many frames, or more."""
    return np.dtype(
        [
            *_NODE,
            ("levels", LEVEL, (LEVELS,)),
            *_COUNTS,
            ("queue", "i8", (max(queue_size, LEAST_ROOM),)),
            ("buffer", "i8", (max(buffer_size, LEAST_ROOM),)),
        ],
        align=True,
    )


LEVEL = np.dtype([("since", "i8"), ("total", "f8")])

_NODE = [
    ("start", "i8"),
    ("radio", "i8"),
    ("heard", "i8"),  # signals present
    ("total", "f8"),  # power received, noise included, while listening
    ("changed", "i8"),  # when a signal last started or ended while listening
    ("newest", "i8"),  # the last change of power in `levels`, a ring
    ("remembered", "i8"),  # how many changes
    ("cell", "i8"),
    ("reached", "i8"),  # nodes that hear this one
    ("moves_seen", "i8"),  # `RUN.moves` when they were last found
    ("on_air", "i8"),  # its frame in transmission
    ("arriving", "i8"),  # its frame on the way from the receivers' radios to their MACs
    ("arrivals", "i8"),  # how many received that one
    ("mac", "i8"),
    ("backoffs", "i8"),  # busy results in a row
    ("queued", "i8"),  # in `queue`, a ring
    ("front", "i8"),
    ("buffered", "i8"),  # in `buffer`, a ring
    ("buffer_front", "i8"),
    ("sending_time", "i8"),
    ("switches", "i8"),  # RX to TX or back, begun
    ("tx_power", "f8"),
    ("clock_rate", "f8"),
    ("mean_gap", "f8"),  # of the node's compiled traffic, ns
    ("rssi_sum", "f8"),  # over frames received
    ("lqi_sum", "f8"),
]

_COUNTS = [
    ("offered", "i8"),
    ("transmitted", "i8"),
    ("mac_overflown", "i8"),
    ("received", "i8"),
    ("rx_no_interf", "i8"),
    ("rx_despite", "i8"),
    ("fail_no_interf", "i8"),
    ("fail_interf", "i8"),
    ("fail_sens", "i8"),
    ("fail_nonrx", "i8"),
]

COUNTS = tuple(name for name, _ in _COUNTS)
"""The counts reported for each node."""

SIGNAL = np.dtype(
    [
        ("sender", "i8"),
        ("fate", "i8"),
        ("power", "f8"),
        ("interference", "f8"),
        ("worst", "f8"),  # the most interference at any signal's start
    ],
    align=True,
)

LINK = np.dtype([("receiver", "i8"), ("power", "f8")])
"""A link leads from a sender to a node that hears it."""

ARRIVAL = np.dtype([("receiver", "i8"), ("rssi", "f8"), ("lqi", "f8")])
"""An arrival is a node that received the last frame of a sender."""

FRAME = np.dtype(
    [
        ("at", "i8"),  # when the MAC gets it
        ("airtime", "i8"),
        ("sender", "i8"),
        ("destination", "i8"),
        ("refusal", "i8"),  # why the MAC will not take it, or 0
    ],
    align=True,
)

MOVE = np.dtype([("time", "i8"), ("node", "i8"), ("cell", "i8")])
DELIVERY = np.dtype([("receiver", "i8"), ("frame", "i8"), ("rssi", "f8"), ("lqi", "f8")])
DONE = np.dtype([("frame", "i8"), ("reason", "i8")])

RUN = np.dtype(
    [
        ("channel", record_of(ChannelSettings)),
        ("radio", record_of(RadioSettings)),
        ("mac", record_of(MacSettings)),
        ("bandwidth_db", "f8"),  # 10 log10(noise bandwidth / data rate)
        ("negligible_snr", "f8"),  # above it there are no bit errors
        ("averaging_time", "i8"),
        ("own_frames", "i8"),  # frames under this index are the compiled traffic's: nobody is told of them
        ("streams", "u8", (STREAMS,)),  # states of the random streams
        ("now", "i8"),
        ("events", "i8"),  # in the heap
        ("pushed", "i8"),  # events ever, for their order
        ("moves", "i8"),  # moves done
        ("deliveries", "i8"),  # in the outbox
        ("refusals", "i8"),  # of `done`
        ("done", "i8"),
    ]
)
"""The settings, what follows from them, and what changes for the run as a whole."""


class State(NamedTuple):
    """The whole state, of `n` nodes; `signals` has a row for each receiver, `links` and `arrivals` for each sender."""

    run: NDArray[Any]
    """RUN[1]"""
    nodes: NDArray[Any]
    """NODE[n]"""
    signals: NDArray[Any]
    """SIGNAL[n, n], present ones first, oldest first"""
    links: NDArray[Any]
    """LINK[n, n], by receiver"""
    arrivals: NDArray[Any]
    """ARRIVAL[n, n], by receiver"""
    way_starts: NDArray[np.int64]
    """index[cell + 1]: where the ways from each cell begin; where all nodes are static, each is a cell"""
    towards: NDArray[np.int32]
    """cell[way]; empty if every cell has a way to every cell"""
    loss_db: NDArray[np.float64]
    """dB[way]"""
    first_in: NDArray[np.int64]
    """node[cell]: the first in each cell's list of nodes"""
    next_in: NDArray[np.int64]
    """node[n]: the one after each in its cell's list"""
    moves: NDArray[Any]
    """MOVE[m], by time"""
    frames: NDArray[Any]
    """FRAME[f]"""
    heap: NDArray[np.int64]
    """events[e, 2]"""
    inbox: NDArray[np.int64]
    """frames handed over by Python"""
    deliveries: NDArray[Any]
    """DELIVERY, for Python"""
    done: NDArray[Any]
    """DONE: frames that were sent or refused, for Python to forget"""
