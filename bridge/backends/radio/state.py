"""Everything that the compiled loop works on: structured arrays, one record a node, signal, frame, ...

Times are nanoseconds, powers dBm. `n` is the number of nodes; fields used together are kept together, for the cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LISTENING, SENDING, SWITCHING = 0, 1, 2
"""Radio states: in RX; in TX; between the two."""

IDLE, CONTENDING, DRAINING = 0, 1, 2
"""MAC states: nothing to send; sensing or backing off; sending everything queued."""

RECEIVABLE, CORRUPTED, LOST = 0, 1, 2
"""Fates of a signal: no bit error yet; a bit error; interference only."""

LEVELS = 64
"""Changes of the power received that a radio remembers (a power of two): more within 128 us count as lasting."""

NODE = np.dtype(
    [
        ("start", "i8"),
        ("radio", "i4"),
        ("heard", "i4"),  # signals present
        ("total", "f8"),  # power received, noise included, while listening
        ("changed", "i8"),  # when a signal last started or ended while listening
        ("newest", "i4"),  # index of the last change of power in `levels`
        ("levels", "i4"),  # how many changes are remembered
        ("reached", "i4"),  # nodes that hear this one
        ("arrivals", "i4"),  # of these, ones that received its last frame
        ("on_air", "i4"),  # its frame in transmission
        ("arriving", "i4"),  # its frame on the way from the receivers' radios to their MACs
        ("moves_seen", "i8"),  # `RUN.moves` when `reach` was last computed
        ("cell", "i4"),
        ("mac", "i4"),
        ("backoffs", "i4"),  # busy results in a row
        ("queued", "i4"),
        ("front", "i4"),  # of the MAC's queue
        ("buffered", "i4"),
        ("buffer_front", "i4"),
        ("switches", "i4"),  # RX to TX or back, begun
        ("sending_time", "i8"),
        ("tx_power", "f8"),
        ("clock_rate", "f8"),
        ("mean_gap", "f8"),  # of the node's compiled traffic, ns
        ("rssi_sum", "f8"),  # over frames received
        ("lqi_sum", "f8"),
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
    ],
    align=True,
)

COUNTS = NODE.names[NODE.names.index("offered") :] if NODE.names else ()
"""The counts reported for each node."""

SIGNAL = np.dtype(
    [
        ("sender", "i4"),
        ("fate", "i4"),
        ("power", "f8"),
        ("interference", "f8"),
        ("worst", "f8"),  # the most interference at any signal's start
    ],
    align=True,
)

LEVEL = np.dtype([("since", "i8"), ("total", "f8")])
LINK = np.dtype([("receiver", "i8"), ("power", "f8")])
ARRIVAL = np.dtype([("receiver", "i8"), ("rssi", "f8"), ("lqi", "f8")])
MOVE = np.dtype([("time", "i8"), ("node", "i4"), ("cell", "i4")])

FRAME = np.dtype(
    [
        ("at", "i8"),  # when the MAC gets it
        ("airtime", "i8"),
        ("sender", "i4"),
        ("destination", "i4"),
        ("refusal", "i4"),  # why the MAC will not take it, or 0
    ],
    align=True,
)

REFUSAL = np.dtype([("frame", "i4"), ("reason", "i4")])

MODEL = np.dtype(
    [
        ("noise_floor", "f8"),
        ("sensitivity", "f8"),
        ("delivery_threshold", "f8"),
        ("cca_threshold", "f8"),
        ("bandwidth_db", "f8"),  # 10 log10(noise bandwidth / data rate)
        ("negligible_snr", "f8"),  # above it there are no bit errors
        ("data_rate", "i8"),
        ("averaging_time", "i8"),
        ("rx_to_tx", "i8"),
        ("tx_to_rx", "i8"),
        ("valid_cs_delay", "i8"),
        ("random_tx_offset", "i8"),
        ("backoff_base", "i8"),
        ("backoff_type", "i8"),
        ("queue_size", "i8"),
        ("buffer_size", "i8"),
        ("own_frames", "i8"),  # frames under this index are the compiled traffic's: nobody is told of them
    ]
)
"""The parameters, one record."""

RUN = np.dtype(
    [
        ("now", "i8"),
        ("events", "i8"),
        ("pushed", "i8"),  # events ever, for their order
        ("moves", "i8"),  # moves done
        ("deliveries", "i8"),
        ("refusals", "i8"),
        ("released", "i8"),
    ]
)
"""What changes for the run as a whole, one record."""


class Outbox(NamedTuple):
    """What there is to tell Python: parallel arrays for the deliveries, refusals, and frames to forget."""

    receiver: NDArray[np.int32]
    frame: NDArray[np.int32]
    rssi: NDArray[np.float64]
    lqi: NDArray[np.float64]
    refusals: NDArray[Any]
    released: NDArray[np.int32]


class State(NamedTuple):
    """All of it. Rows belong to the node of their index, as receiver (signals, levels) or sender (the others)."""

    run: Any
    """RUN, one record"""
    model: Any
    """MODEL, one record"""
    nodes: NDArray[Any]
    """NODE[n]"""
    signals: NDArray[Any]
    """SIGNAL[n, n], oldest first"""
    levels: NDArray[Any]
    """LEVEL[n, LEVELS], a ring"""
    reach: NDArray[Any]
    """LINK[n, n], by receiver"""
    arrivals: NDArray[Any]
    """ARRIVAL[n, n]"""
    path_loss: NDArray[np.float64]
    """dB[place, place], from row to column: places are nodes, or cells where nodes are mobile"""
    moves: NDArray[Any]
    """MOVE[m], by time"""
    frames: NDArray[Any]
    """FRAME[f]"""
    queues: NDArray[np.int32]
    """frames[n, queue_size], rings"""
    buffers: NDArray[np.int32]
    """frames[n, buffer_size], rings"""
    heap: NDArray[np.int64]
    """events[e, 2]"""
    streams: NDArray[np.uint64]
    """states of the random streams"""
    inbox: NDArray[np.int32]
    """frames handed over by Python"""
    outbox: Outbox
