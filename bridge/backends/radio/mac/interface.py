"""The interface of a MAC, and the parts that every MAC shares: its queue, its timer, and deliveries to the host.

A MAC is a module that its settings class names. The kernel calls three compiled functions of it: `accept` takes a frame
from the network layer, `receive` gets one from a node's radio, and `timer_fired` continues after a wait. `registry` has
the rest for a MAC that leaves it out. docs/guide/models.md builds the smallest one.

A MAC has one timer a node, by the node's clock. A timer set to a later time leaves its event in place, and renews it
when that comes; one set to an earlier time leaves a stale event behind.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from roambus.bridge.backends.radio import state
from roambus.bridge.backends.radio.engine import NEVER, compiled
from roambus.bridge.backends.radio.state import (
    CRASHED,
    DEAD_MAC,
    NO_ENERGY,
    NOT_BOOTED,
    NOT_SENT,
    QUEUE_FULL,
    TAKEN,
    State,
    let_go,
    release,
)
from roambus.bridge.scenario.definition import Scenario
from roambus.python_protocol.roles import BROADCAST

IDLE = 0
"""The state of a MAC that has nothing to send. `state.DEAD_MAC` is 4; a MAC numbers its other states as it likes."""


class Mac(Protocol):
    """A module that is a MAC. Its compiled functions get the state, node numbers, frame numbers, and the time in ns."""

    COLUMNS: np.dtype[Any]
    """A record for each node, `s.macs[node]`, that starts as zeros."""
    COUNTS: tuple[str, ...]
    """The columns among them that are reported for each node."""
    REASONS: tuple[str, ...]
    """Why it refuses frames beside the reasons in `state`: numbers for `refusal`, from FIRST_REASON_OF_MAC on."""

    def accept(self, s: State, sender: int, frame: int, now: int) -> None:
        """Take a frame from the network layer, or refuse it; `enqueue` does both."""

    def receive(self, s: State, frame: int, arrival: Any, now: int) -> None:
        """Handle a frame that `arrival.receiver` received; `deliver` passes it to the host."""

    def timer_fired(self, s: State, index: int, now: int) -> None:
        """Continue after the wait that `set_timer` began."""

    def record(self, scenario: Scenario) -> np.void:
        """Return what the compiled functions read as `s.run[0].mac`; it has at least `buffer_size`."""

    def control_frames(self, scenario: Scenario) -> NDArray[Any]:
        """Return FRAME[k], the frames of the MAC's own, such as acknowledgements; agents never see them."""

    def first_events(self, nodes: NDArray[Any], scenario: Scenario) -> list[tuple[int, int, int]]:
        """Set the timers that run before any frame, and return their events (time, kind, node)."""

    def adapt(self, scenario: Scenario) -> Scenario:
        """Return the scenario as the radio under this MAC is to be, for example with another turnaround."""


@compiled
def enqueue(s: State, sender: int, frame: int, now: int) -> bool:
    """Queue a frame from the network layer; release it, with the reason, if the MAC does not take it."""
    node = s.nodes[sender]
    if not takes(s, sender, frame, now):
        release(s, frame)
        return False
    s.queues[sender, (node.front + node.queued) % s.run[0].mac.buffer_size] = frame
    node.queued += 1
    s.frames[frame].holders = 1
    return True


@compiled
def takes(s: State, sender: int, number: int, now: int) -> bool:
    """Whether the MAC takes the frame; if not its `refusal` has the reason."""
    node, frame = s.nodes[sender], s.frames[number]
    node.offered += 1
    if now < node.start:
        frame.refusal = NO_ENERGY if node.mac == DEAD_MAC else NOT_BOOTED
    elif node.mac == DEAD_MAC:  # what the agent sent before, and the processing delay postponed
        frame.refusal = CRASHED
    elif frame.refusal == TAKEN and frame.message > 0 and frame.message == node.failed_message:
        frame.refusal = NOT_SENT
    elif frame.refusal == TAKEN and node.queued == s.run[0].mac.buffer_size:
        node.mac_overflown += 1
        frame.refusal = QUEUE_FULL
    if frame.message < 0:  # the first fragment of a message is the rest of none
        node.failed_message = 0
    if frame.refusal != TAKEN:
        fail_message(s, number)
    return bool(frame.refusal == TAKEN)


@compiled
def fail_message(s: State, frame: int) -> None:
    """Remember the message of a failed fragment: its receivers cannot join the rest."""
    if s.frames[frame].message != 0:
        s.nodes[s.frames[frame].sender].failed_message = abs(s.frames[frame].message)


@compiled
def drop_rest(s: State, sender: int) -> None:
    """Take the other fragments of the failed message off the head of the queue."""
    node = s.nodes[sender]
    while node.queued > 0:
        frame = s.queues[sender, node.front]
        if s.frames[frame].message <= 0 or s.frames[frame].message != node.failed_message:
            return
        take_first(s, sender)
        s.frames[frame].refusal = NOT_SENT
        let_go(s, frame)


@compiled
def take_first(s: State, sender: int) -> int:
    """Take the first frame off the queue. The caller lets go of the frame."""
    node = s.nodes[sender]
    frame = s.queues[sender, node.front]
    node.front = (node.front + 1) % s.run[0].mac.buffer_size
    node.queued -= 1
    return int(frame)


@compiled
def is_for(destination: int, receiver: int) -> bool:
    """Whether a node passes on a frame with this destination."""
    return bool(destination == BROADCAST or destination == receiver)  # noqa: PLR1714, SIM109  # Numba wants one type in a tuple


@compiled
def deliver(s: State, frame: int, arrival: Any) -> None:
    """Count the frame, and put it into the outbox."""
    s.nodes[arrival.receiver].received += 1
    _put_out(s, frame, arrival)


@compiled
def overhear(s: State, frame: int, arrival: Any) -> None:
    """Put a unicast between others into the outbox if the node listens to them."""
    if s.nodes[arrival.receiver].overhears:
        _put_out(s, frame, arrival)


@compiled
def _put_out(s: State, frame: int, arrival: Any) -> None:
    run = s.run[0]
    delivery = s.deliveries[run.deliveries]
    delivery.receiver, delivery.frame = arrival.receiver, frame
    delivery.rssi, delivery.lqi = arrival.rssi, arrival.lqi
    run.deliveries += 1


@compiled
def set_timer(s: State, index: int, delay: float, now: int) -> None:
    """Set the timer to run out after `delay` ns of the node's clock.

    An event that comes later needs a new one; an earlier one finds out when it comes.
    """
    node = s.nodes[index]
    node.timer = now + round(delay * node.clock_rate)
    if node.timer < node.pending:
        _put(s, index)


@compiled
def is_due(s: State, index: int, now: int) -> bool:
    """Whether the timer runs out with this event; if it runs out later, its event is put there."""
    node = s.nodes[index]
    if now != node.pending:
        return False
    node.pending = NEVER
    if now < node.timer:
        if node.timer != NEVER:
            _put(s, index)
        return False
    node.timer = NEVER
    return True


@compiled
def _put(s: State, index: int) -> None:
    """Schedule the timer's event; any other event of the timer is stale from now on."""
    node = s.nodes[index]
    node.pending = node.timer
    state.schedule(s, node.timer, state.MAC_TIMER, index)
