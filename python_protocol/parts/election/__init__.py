"""Leader election, and the tree of brokers that the leader's heartbeat spans (the thesis, section 2.5, figure 2.4).

Each round the leader broadcasts a heartbeat, which each node repeats once after a random delay, with its own parent;
the sender of the first copy becomes the parent. Decisions that the thesis leaves open:

- Only brokers lead and become parents; a client's copy announces it to its broker.
- A leadership is named by start and leader; the smaller name wins, so a stable leader stays. Without heartbeats a
  broker follows another leader it heard lately, or starts the youngest leadership. It returns to a left one only for a
  new round.
- With `sticky_parent` a parent stays while its copies have no more hops than the best, compared half a round after the
  first. A node then passes the round on after its parent's copy, so that its hops depend on its place.
- Weak copies make a parent only without others.

No node takes a parent at as many hops as it sent itself, so hops fall towards the leader.
"""

from roambus.python_protocol.parts.election.algorithm import Election, ElectionTimer
from roambus.python_protocol.parts.election.heartbeat import (
    NO_LEADERSHIP,
    ElectionParameters,
    Heartbeat,
    Leadership,
    settling_rounds,
)

__all__ = [
    "NO_LEADERSHIP",
    "Election",
    "ElectionParameters",
    "ElectionTimer",
    "Heartbeat",
    "Leadership",
    "settling_rounds",
]
