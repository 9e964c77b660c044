"""The kinds of events of the compiled loop, and how one is scheduled."""

from __future__ import annotations

from roambus.bridge.backends.radio import heap
from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.state import State

REQUEST, MAC_TIMER, SENDING_ON, FRAME_END, LISTENING_ON, ARRIVE, BATTERY, SLEEPING_ON = range(8)
"""What happens: a frame comes down to the MAC; the MAC's timer fires, and its state says what for; the radio is in TX;
its frame has left; the radio is in RX; a frame comes up to its receivers' MACs; the node looks at its battery; the
radio sleeps."""


@compiled
def schedule(s: State, time: int, kind: int, index: int) -> None:
    """Has the event of `kind` happen at `time` to node (for REQUEST, frame) `index`."""
    heap.push(s.heap, s.run[0], time, kind, index)
