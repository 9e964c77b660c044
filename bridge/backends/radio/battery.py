"""Batteries in the compiled loop: docs/radio.md, "Energy", has the model, which is that of Castalia's ResourceManager.

What a node has drawn is worked out whenever its radio changes its state, and a while after it was last worked out. A
node whose battery is found empty is dead: its radio hears nothing, its MAC takes nothing and forgets what it has. A
frame that is on the air leaves whole.
"""

from __future__ import annotations

from roambus.bridge.backends.radio import events
from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.heap import NEVER
from roambus.bridge.backends.radio.outbox import let_go
from roambus.bridge.backends.radio.state import DEAD_MAC, LISTENING, SENDING, SLEEPING, State
from roambus.python_protocol.simtime import SECOND


@compiled
def spend(s: State, node: int, now: int) -> None:
    """Takes off what the node has drawn in the state that its radio is in; to be called before that changes."""
    if len(s.batteries) == 0 or s.batteries[node].died > 0:
        return
    battery = s.batteries[node]
    battery.left -= _power(s, node) * (now - battery.since) / SECOND
    battery.since = now
    if battery.left <= 0:
        battery.left = 0.0
        battery.died = now
        _die(s, node)


@compiled
def _power(s: State, node: int) -> float:
    """What the node draws now, in mW."""
    battery, radio = s.batteries[node], s.run[0].radio
    state = s.nodes[node].radio
    if state == LISTENING:
        own = radio.rx_power_mw
    elif state == SENDING:
        own = battery.tx
    elif state == SLEEPING:
        own = radio.sleep_power_mw
    else:
        own = _switching_power(s, node)
    total: float = own + battery.baseline
    return total


@compiled
def _switching_power(s: State, index: int) -> float:
    node, radio = s.nodes[index], s.run[0].radio
    power: float = radio.transition_power_mw
    if node.origin == SLEEPING:
        power = radio.sleep_to_rx_power_mw
    elif node.target == SLEEPING:
        power = radio.rx_to_sleep_power_mw if node.origin == LISTENING else radio.tx_to_sleep_power_mw
    return power


@compiled
def look(s: State, node: int, now: int) -> None:
    """The node looks at its battery, and will do so again after a while."""
    battery = s.batteries[node]
    if now - battery.since >= battery.interval:
        spend(s, node, now)
    if battery.died == 0:
        events.schedule(s, battery.since + battery.interval, events.BATTERY, node)


@compiled
def _die(s: State, index: int) -> None:
    """Nothing starts at this node any more, as if it had never booted."""
    node, run = s.nodes[index], s.run[0]
    node.start = NEVER
    node.heard = 0
    node.mac = DEAD_MAC
    for k in range(node.queued):
        let_go(s, s.queues[index, (node.front + k) % run.mac.buffer_size])
    for k in range(node.buffered):
        let_go(s, s.buffers[index, (node.buffer_front + k) % run.radio.buffer_size])
    node.queued = 0
    node.buffered = 0
