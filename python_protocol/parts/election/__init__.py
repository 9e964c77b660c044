"""Leader election, and the tree of brokers that the leader's heartbeat spans (the thesis, section 2.5, figure 2.4).

Each node repeats a round's heartbeat once after a random delay, with its own parent; the first copy's sender becomes
the parent. Where the thesis leaves a choice:

- Only brokers lead and become parents.
- The older leadership wins. Without heartbeats a broker follows another leader heard lately, or leads; it returns to a
  left one only for a new round.
- A `sticky_parent` stays while no copy has fewer hops; rounds go on after its copy.
- Weak copies make a parent only without others. No node takes a parent at as many hops as it sent, so hops fall.
"""

from roambus.python_protocol.parts.election.algorithm import Election, ElectionTimer
from roambus.python_protocol.parts.election.heartbeat import (
    NO_LEADERSHIP,
    ElectionParameters,
    Heartbeat,
    Leadership,
)

__all__ = [
    "NO_LEADERSHIP",
    "Election",
    "ElectionParameters",
    "ElectionTimer",
    "Heartbeat",
    "Leadership",
]
