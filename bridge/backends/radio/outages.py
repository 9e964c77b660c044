"""Outages: the MAC and the radio of a node that crashes or freezes, if its MAC acknowledges, or says that it follows.

A node must have what its MAC acknowledges. So the MAC of a frozen node takes no frame, and goes on with its own. A
crashed node is off, as one that Castalia destroys: its MAC has nothing any more, and its radio sleeps until it
recovers. A frame on the air leaves whole.

Under TunableMAC, which acknowledges nothing, MAC and radio go on: in Castalia only the host knows of faults.
"""

from __future__ import annotations

from roambus.bridge.backends.radio import state
from roambus.bridge.backends.radio.energy import forget_frames
from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.mac.interface import IDLE
from roambus.bridge.backends.radio.radio import turn_to
from roambus.bridge.backends.radio.state import CRASHED, DEAD_MAC, LISTENING, SLEEPING, State
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.plans import FaultKind

_KINDS = {FaultKind.CRASH: state.CRASH, FaultKind.FREEZE: state.FREEZE, FaultKind.RECOVER: state.RECOVER}


def first_outages(scenario: Scenario) -> list[tuple[int, int, int]]:
    """Return the events of the scenario's faults, each a (time, kind, node); none if the MAC does not follow them."""
    faults = scenario.faults if scenario.mac.goes_down else ()
    return [(fault.at, _KINDS[fault.kind], fault.node) for fault in faults]


@compiled
def happen(s: State, kind: int, index: int, now: int) -> None:
    """Begin or end an outage of a node, unless its battery is empty."""
    node = s.nodes[index]
    if now < node.start:
        return
    node.is_down = int(kind != state.RECOVER)
    if kind == state.CRASH:
        node.mac = DEAD_MAC
        forget_frames(s, index, CRASHED)
        turn_to(s, index, SLEEPING, now)
    elif kind == state.RECOVER and node.mac == DEAD_MAC:
        node.mac = IDLE
        turn_to(s, index, LISTENING, now)
