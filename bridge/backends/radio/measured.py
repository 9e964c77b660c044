"""Measured links in the compiled loop: they change when the recording says so, and lose what they lost then.

docs/radio.md, "Measured links", has the model. Interference and carrier sense are computed from the recorded signal
strengths, as they are from modelled ones; what is lost without interference is drawn from the recorded delivery.
"""

from __future__ import annotations

from roambus.bridge.backends.radio.chance import MEASURED_LOSS, uniform
from roambus.bridge.backends.radio.compiled import compiled
from roambus.bridge.backends.radio.state import State


@compiled
def apply_changes(s: State, now: int) -> None:
    """Makes the links what they are at `now`; whoever sends on a changed one has to look anew who hears it."""
    run, changes = s.run[0], s.measured.changes
    while run.changes < len(changes) and changes[run.changes].time <= now:
        change = changes[run.changes]
        s.loss_db[change.way] = change.loss_db
        s.measured.delivery[change.way] = change.delivery
        s.nodes[change.way // len(s.nodes)].moves_seen = -1
        run.changes += 1


@compiled
def is_lost(s: State, sender: int, receiver: int) -> bool:
    """Whether this frame is one of those that the link loses without any interference."""
    delivery: float = s.measured.delivery[sender * len(s.nodes) + receiver]
    return delivery < 1.0 and uniform(s.run[0], MEASURED_LOSS) >= delivery
