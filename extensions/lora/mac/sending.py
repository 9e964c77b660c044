"""Sending, as all MACs of LoRa do: the first queued frame that its region's limits allow, one at a time.

A frame goes to the radio only when that listens, so that it begins by the radio's change to TX. The radio interrupts
the MAC when it is free again. So clocks that drift neither cut frames nor leave gaps.
"""

from __future__ import annotations

from typing import Any

from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.mac.interface import (
    IDLE,
    deliver,
    drop_rest,
    enqueue,
    fail_message,
    is_for,
    overhear,
    set_timer,
    take_first,
)
from roambus.bridge.backends.radio.radio import buffer_frame
from roambus.bridge.backends.radio.state import DEAD_MAC, LISTENING, SENDING, SWITCHING, State, let_go
from roambus.extensions.lora.mac.limits import (
    AT_NO_TIME,
    DUTY_CYCLE,
    DWELL_TIME,
    NOW,
    TOO_LONG,
    keep,
    wait_for,
)

ON_AIR, HELD = 1, 2
"""States of these MACs beside IDLE: the radio is not free, or the limits hold the first frame back. 4 is DEAD_MAC."""

NOTHING = -1


@compiled
def takes_up(s: State, sender: int, frame: int, now: int) -> bool:
    """Queue a frame, and return whether an idle MAC is to begin with it."""
    if not enqueue(s, sender, frame, now) or s.nodes[sender].mac != IDLE:
        return False
    s.macs[sender].counted = 0  # a crash may have taken the frame whose delay was counted
    return True


@compiled
def next_wait(s: State, sender: int, now: int) -> int:
    """Refuse first frames that the limits forbid; return the ns until the next one may go, or NOTHING."""
    node, own, run = s.nodes[sender], s.macs[sender], s.run[0]
    while node.queued > 0:
        frame = s.queues[sender, node.front]
        wait = wait_for(s, sender, s.frames[frame].airtime, now + run.switch_time[LISTENING, SENDING])
        if wait == NOW:
            return NOW
        if wait == TOO_LONG:
            own.dwell_refused += 1
            refuse(s, sender, DWELL_TIME)
        elif wait == AT_NO_TIME or run.mac.refuses:
            own.duty_refused += 1
            refuse(s, sender, DUTY_CYCLE)
        else:
            own.duty_delayed += 1 - own.counted
            own.counted = 1
            return wait
    return NOTHING


@compiled
def refuse(s: State, sender: int, reason: int) -> None:
    """Give the first queued frame back with a reason, and with it the rest of its message."""
    frame = take_first(s, sender)
    s.macs[sender].counted = 0
    s.frames[frame].refusal = reason
    fail_message(s, frame)
    let_go(s, frame)
    drop_rest(s, sender)


@compiled
def send_first(s: State, sender: int, now: int) -> None:
    """Hand the first queued frame to the radio, which listens and has an empty buffer."""
    # The queue has the frame until it begins, so that a node that goes down before gives it back.
    buffer_frame(s, sender, s.queues[sender, s.nodes[sender].front], now)
    if s.nodes[sender].mac != DEAD_MAC:  # its last energy may have gone when the radio turned round
        await_radio(s, sender, now)


@compiled
def take_begun(s: State, sender: int) -> int:
    """Take the first frame off the queue if it is on the air, keep its airtime for the limits, and return that."""
    node = s.nodes[sender]
    if node.radio != SENDING or node.queued == 0 or s.queues[sender, node.front] != node.on_air:
        return 0
    airtime = int(s.frames[take_first(s, sender)].airtime)
    s.macs[sender].counted = 0
    keep(s, sender, airtime, node.began + airtime)
    return airtime


@compiled
def await_radio(s: State, sender: int, now: int) -> None:
    """Continue when the radio has turned round, or when it may listen again."""
    node, run = s.nodes[sender], s.run[0]
    rest, least = 0, 1
    if node.radio == SENDING:
        rest = node.began + s.frames[node.on_air].airtime - now + run.switch_time[SENDING, LISTENING]
    elif node.radio == SWITCHING:
        rest = node.switched - now
        least = int(node.target != SENDING)  # a frame that begins now is taken now, or a crash would give it back
    node.mac = ON_AIR
    set_timer(s, sender, max(rest, least) / node.clock_rate, now)


@compiled
def may_begin(s: State, sender: int, now: int) -> bool:
    """Return whether the first queued frame may begin now; otherwise wait for the radio or the limits, or rest."""
    node = s.nodes[sender]
    if node.radio != LISTENING:
        await_radio(s, sender, now)
        return False
    wait = next_wait(s, sender, now)
    if wait == NOTHING:
        node.mac = IDLE
    elif wait != NOW:
        node.mac = HELD
        set_timer(s, sender, wait / node.clock_rate, now)
    return bool(wait == NOW)


@compiled
def pass_on(s: State, frame: int, arrival: Any) -> None:
    """Pass on a frame that is for this node, or that it overhears, unless the node is down."""
    destination = s.frames[frame].destination
    if s.nodes[arrival.receiver].is_down:
        return
    if is_for(destination, arrival.receiver):
        deliver(s, frame, arrival)
    else:
        overhear(s, frame, arrival)
