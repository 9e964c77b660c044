"""The state of a run: everything that the compiled loop works on, as arrays of records.

There is an array for each kind of thing, and one record RUN for the run as a whole; the tuple `State` holds them. Times
are nanoseconds, powers dBm. RUN has the settings as records with the fields of their classes. A node's record begins
with the fields that every signal touches, for the cache. A frame is a row that counts its holders; when all have let
go, a row in `done` tells Python, with the reason of a refusal.
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio import engine
from roambus.bridge.backends.radio.engine import STREAMS, compiled

_CODES = {bool: "i8", int: "i8", float: "f8"}


def record_of(settings: type[Any]) -> np.dtype[np.void]:
    """Return the type of the record that holds the numbers of a settings class."""
    hints = get_type_hints(settings)
    return np.dtype([(name, _CODES[hints[name]]) for name in hints if hints[name] in _CODES])


def record_with(settings: Any, **derived: int) -> np.void:
    """Return the record of an instance, with whole numbers derived from it."""
    form = record_of(type(settings))
    made = np.zeros(
        1, np.dtype([*((name, form[name]) for name in form.names or ()), *((name, "i8") for name in derived)])
    )
    for name in form.names or ():
        made[name] = getattr(settings, name)
    for name, value in derived.items():
        made[name] = value
    return made[0]  # type: ignore[no-any-return]  # NumPy types a row of records as Any


class Variation(NamedTuple):
    """All arrays are empty without a temporal model."""

    deviation: NDArray[np.float64]
    """dB[way]: what was last drawn"""
    seen: NDArray[np.int64]
    """ns[way]: up to when the model has run"""
    drawn_for: NDArray[np.int64]
    """frame[way] of the last draw: all nodes in one place see the same"""
    levels: NDArray[np.float64]
    """dB: least, resolution, most"""
    steps: NDArray[np.int64]
    """ns: the coherence time, and then the correlation times, which descend"""
    first_layers: NDArray[np.int64]
    """layer[distribution]: that of the coherence time, then of each correlation time by level"""
    layers: NDArray[np.int64]
    """start, values, elements[layer, 3]: first element, number of values, number of elements"""
    elements: NDArray[np.float64]
    """dB, or the number of the layer where to go on"""


CHANGE = np.dtype([("time", "i8"), ("way", "i8"), ("loss_db", "f8"), ("delivery", "f8")])
"""From `time` on a way is so."""


class Measured(NamedTuple):
    """Both arrays are empty if links are modelled."""

    delivery: NDArray[np.float64]
    """share[way] of the frames that arrive without interference"""
    changes: NDArray[Any]
    """CHANGE[change], by time"""


MODELLED = Measured(np.zeros(0), np.zeros(0, CHANGE))
"""No link is a measured one."""


LISTENING, SENDING, SWITCHING, SLEEPING = 0, 1, 2, 3
"""The states of a radio: RX, TX, between two states, asleep."""

DEAD_MAC = 4
"""The state of the MAC of a node that has crashed or has no energy."""

RECEIVABLE, CORRUPTED, LOST = 0, 1, 2
"""The fates of a signal: without a bit error, with one, or interference only."""

LEVELS = 16
"""Changes of the received power that a radio remembers, a power of two."""


LINE = 128
"""A node's record begins at a multiple of these bytes: two cache lines hold what every signal touches."""

LEVEL = np.dtype([("since", "i8"), ("total", "f8")])

COUNTS = (
    "offered",
    "transmitted",
    "air_frames",
    "air_bytes",
    "mac_overflown",
    "received",
    "rx_no_interf",
    "rx_despite",
    "fail_no_interf",
    "fail_interf",
    "fail_sens",
    "fail_nonrx",
)
"""The counts reported for each node."""

_RECEIVING = [
    ("start", "i8"),
    ("radio", "i8"),
    ("heard", "i8"),  # signals present
    ("total", "f8"),  # power received, noise included, while listening
    ("changed", "i8"),  # when a signal last started or ended while listening
    ("newest", "i8"),  # the last change of power in the row of `levels`, a ring
    ("remembered", "i8"),  # how many changes
    ("fail_sens", "i8"),
    ("fail_nonrx", "i8"),
    ("rx_no_interf", "i8"),
    ("rx_despite", "i8"),
    ("fail_no_interf", "i8"),
    ("fail_interf", "i8"),
    ("received", "i8"),
]

_SENDING = [
    ("cell", "i8"),
    ("reached", "i8"),  # nodes that hear this one
    ("moves_seen", "i8"),  # `RUN.moves` when they were last found
    ("on_air", "i8"),  # its frame in transmission
    ("began", "i8"),  # when that one's transmission began
    ("kind", "i8"),  # a number of its own for the reception
    ("arriving", "i8"),  # its frame on the way from the receivers' radios to their MACs
    ("arrivals", "i8"),  # how many received that one
    ("mac", "i8"),
    ("queued", "i8"),  # in the row of `queues`, a ring
    ("front", "i8"),
    ("buffered", "i8"),  # in the row of `buffers`, a ring
    ("buffer_front", "i8"),
    ("sending_time", "i8"),
    ("switches", "i8"),  # from one state to another, begun
    ("origin", "i8"),  # while switching: where from
    ("target", "i8"),  # where to
    ("switched", "i8"),  # and until when
    ("after", "i8"),  # where to when all is sent
    ("timer", "i8"),  # when the MAC's timer runs out
    ("pending", "i8"),  # when its event is in the queue
    ("tx_power", "f8"),
    ("clock_rate", "f8"),
    ("offered", "i8"),
    ("transmitted", "i8"),
    ("air_frames", "i8"),  # of those the ones begun after the warm-up
    ("air_bytes", "i8"),  # and their bytes
    ("air_ns", "i8"),  # and how long they last
    ("mac_overflown", "i8"),
    ("failed_message", "i8"),  # the last one of which a fragment failed, by FRAME's `message`
    ("reports", "i8"),  # whether Python is told what was sent
    ("overhears", "i8"),  # whether Python gets unicasts between others that it receives
    ("is_down", "i8"),  # whether it takes no frames: crashed, frozen or dead
]


_NAMES, _FORMATS = zip(*_RECEIVING, *_SENDING, strict=True)
_BYTES = 8 * len(_NAMES)
NODE = np.dtype({
    "names": _NAMES, "formats": _FORMATS, "offsets": range(0, _BYTES, 8), "itemsize": -(-_BYTES // LINE) * LINE,
})  # fmt: skip
"""A node's radio, place and MAC, padded to whole lines; the fields that every signal touches come first."""


def zero_nodes(count: int) -> NDArray[Any]:
    """NODE[count], each at the start of a line."""
    room = np.zeros(count * NODE.itemsize + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    nodes: NDArray[Any] = room[start : start + count * NODE.itemsize].view(NODE)
    return nodes


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
"""A node that hears a sender."""

ARRIVAL = np.dtype([("receiver", "i8"), ("rssi", "f8"), ("lqi", "f8")])
"""A node that received the last frame of a sender."""

FRAME = np.dtype(
    [
        ("at", "i8"),  # when the MAC gets it
        ("airtime", "i8"),
        ("bytes", "i8"),  # on the air, with all headers
        ("sender", "i8"),
        ("destination", "i8"),
        ("refusal", "i8"),  # why the MAC will not take it, or 0
        ("holders", "i8"),  # queue, and radio and receivers for each copy of it
        ("passed_on", "i8"),  # whether its receiver has passed it on, for a MAC that retransmits
        ("message", "i8"),  # the message that it is a fragment of, negative for the first one; 0: of none
    ],
    align=True,
)

MOVE = np.dtype([("time", "i8"), ("node", "i8"), ("cell", "i8")])
DELIVERY = np.dtype([("receiver", "i8"), ("frame", "i8"), ("rssi", "f8"), ("lqi", "f8")])
DONE = np.dtype([("frame", "i8"), ("reason", "i8")])


def run_of(**settings: np.void) -> NDArray[Any]:
    """Return RUN[1]: the settings, values derived from them, and the variables of the run as a whole."""
    made = np.zeros(1, np.dtype([*((name, record.dtype) for name, record in settings.items()), *_RUN]))
    for name, record in settings.items():
        made[name] = record
    return made


_RUN = [
    ("is_disturbed", "i8"),  # whether others send, who are no nodes
    ("switch_time", "i8", (4, 4)),  # ns from one state of the radio to another
    ("switch_power", "f8", (4, 4)),  # mW meanwhile
    ("bandwidth_db", "f8"),  # 10 log10(noise bandwidth / data rate)
    ("negligible_snr", "f8"),  # above it there are no bit errors
    ("averaging_time", "i8"),
    ("own_frames", "i8"),  # frames below this index are the MAC's
    ("first_control", "i8"),  # the index of the first of those
    ("warm_up", "i8"),  # when the count of what is on the air begins
    ("streams", "u8", (STREAMS,)),  # states of the random streams
    ("now", "i8"),
    ("events", "i8"),  # in the heap
    ("pushed", "i8"),  # events ever, for their order
    ("moves", "i8"),  # moves done
    ("varies", "i8"),  # whether links vary by the temporal model
    ("frames", "i8"),  # frames put on the air while they do
    ("is_measured", "i8"),  # whether links are measured ones
    ("changes", "i8"),  # changes of measured links done
    ("deliveries", "i8"),  # in the outbox
    ("refusals", "i8"),  # of `done`, and what was sent of nodes that are to be told so
    ("done", "i8"),
    ("most_heard", "i8"),  # at any node at any time
    ("found", "i8"),  # in `found`
]


class State(NamedTuple):
    """The state of `n` nodes: a row of `signals` for each receiver, of `links` and `arrivals` for each sender.

    Rows have room for what was needed so far; `make_room` doubles it.
    """

    run: NDArray[Any]
    """RUN[1]"""
    nodes: NDArray[Any]
    """NODE[n]"""
    macs: NDArray[Any]
    """The MAC's COLUMNS[n]"""
    levels: NDArray[Any]
    """LEVEL[n, LEVELS]: the rings of the power received"""
    queues: NDArray[np.int64]
    """frames[n, q]: the rings of the MACs"""
    buffers: NDArray[np.int64]
    """frames[n, b]: the rings of the radios"""
    signals: NDArray[Any]
    """SIGNAL[n, h], present ones first, oldest first"""
    links: NDArray[Any]
    """LINK[n, r], by receiver"""
    arrivals: NDArray[Any]
    """ARRIVAL[n, r], by receiver"""
    found: NDArray[Any]
    """LINK[n], by receiver: those of the sender that is about to send, if nodes have moved"""
    occupied: NDArray[np.int64]
    """ways[n + 1]: those that lead to somebody"""
    sorting: NDArray[Any]
    """LINK[n]: room to sort `found`"""
    places: NDArray[np.int64]
    """index[digit] into it"""
    way_starts: NDArray[np.int64]
    """index[cell + 1]: where the ways from each cell begin; a static node is a cell"""
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
    variation: Variation
    """the deviation of each way from its path loss, and the temporal model; empty without one"""
    measured: Measured
    """the delivery of each way, and its changes; empty if links are modelled"""
    batteries: NDArray[Any]
    """BATTERY[n]; empty if nobody's can run out"""
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


REQUEST, MAC_TIMER, SENDING_ON, FRAME_END, LISTENING_ON, ARRIVE, BATTERY, SLEEPING_ON, OTHERS = range(9)
CRASH, FREEZE, RECOVER = 9, 10, 11
"""The events: a frame comes down; the MAC's timer fires; the radio is in TX; its frame has left; it is in RX. A frame
comes up; a look at the battery; the radio sleeps; a burst of others begins or ends; a node's fault begins or ends."""


@compiled
def schedule(s: State, time: int, kind: int, index: int) -> None:
    """Schedule an event for a node (for REQUEST, a frame)."""
    engine.push(s.heap, s.run[0], time, kind, index)


(
    TAKEN,
    QUEUE_FULL,
    BUFFER_FULL,
    FRAME_TOO_LONG,
    PACKET_TOO_LONG,
    NOT_BOOTED,
    NO_ENERGY,
    NO_ACKNOWLEDGEMENT,
    CHANNEL_ACCESS_FAILURE,
    NOT_SENT,
    CRASHED,
) = range(11)
"""Why a frame is refused or has failed; TAKEN if it is not."""
FIRST_REASON_OF_MAC = 11
"""The number of the first of the MAC's own REASONS."""


@compiled
def let_go(s: State, frame: int) -> None:
    """Take one from a frame's holders; without any it is done."""
    if frame < s.run[0].own_frames:  # a MAC sends its own frames again and again
        s.frames[frame].refusal = TAKEN
        return
    s.frames[frame].holders -= 1
    if s.frames[frame].holders == 0:
        release(s, frame)


@compiled
def release(s: State, frame: int) -> None:
    """Tell Python that a frame is done, with its `refusal`, so that its number can be used again."""
    run = s.run[0]
    if frame >= run.own_frames:
        done = s.done[run.done]
        done.frame, done.reason = frame, s.frames[frame].refusal
        run.done += 1
        run.refusals += int(s.frames[frame].refusal != TAKEN or s.nodes[s.frames[frame].sender].reports != 0)
    s.frames[frame].refusal = TAKEN


# Growing arrays


ENOUGH, SIGNALS, LINKS, DELIVERIES, EVENTS = range(5)
"""Lacking room: none, a signal per radio, a node's hearers, a frame's deliveries, following events."""

SIGNALS_AT_FIRST, LINKS_AT_FIRST = 16, 64
"""In each row."""

EVENTS_AT_ONCE = 8
"""Exceeds the events that one causes, except at a frame's receivers."""


@compiled
def lacking(s: State, starts: bool) -> int:
    """Return the next event's lacking room; it `starts` a frame if the hearers are its own."""
    run = s.run[0]
    # Not only at nodes that hear the next frame: the most at any node so far is cheaper to know, and never too little.
    if run.most_heard >= s.signals.shape[1]:
        return SIGNALS
    if starts and run.found > s.links.shape[1]:
        return LINKS
    if run.deliveries + s.arrivals.shape[1] > len(s.deliveries):
        return DELIVERIES
    if run.events + s.arrivals.shape[1] + EVENTS_AT_ONCE > len(s.heap):
        return EVENTS
    return ENOUGH


def make_room(s: State, what: int) -> State:
    """Return the state with twice the lacking room."""
    if what == SIGNALS:
        return s._replace(signals=_wider(s.signals))
    if what == LINKS:
        return s._replace(links=_wider(s.links), arrivals=_wider(s.arrivals))
    if what == EVENTS:
        return s._replace(heap=_longer(s.heap, len(s.heap)))
    return s._replace(deliveries=_longer(s.deliveries, len(s.deliveries)))


def make_room_for_frames(s: State) -> State:
    """Return the state with room for twice the frames and their events."""
    more = len(s.frames)
    return s._replace(
        frames=_longer(s.frames, more),
        heap=_longer(s.heap, more),
        inbox=_longer(s.inbox, more),
        done=_longer(s.done, more),
    )


def _longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    """Return the array with this many zeros appended."""
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])


def _wider(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.zeros_like(array)], axis=1)
