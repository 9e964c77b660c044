"""Leader election, and the tree of brokers that the leader's heartbeat spans (the thesis, section 2.5, figure 2.4).

Every round the leader broadcasts a heartbeat. Each node that hears the round's first copy broadcasts it on, once, after
a random delay. The sender of the first copy becomes its parent, where the way to the leader begins. Each copy tells its
sender's own parent, so that a node knows its children, too. What the thesis leaves open is settled as follows:

- *Brokers make the tree; clients hang on it.* Only brokers lead and only a broker's copy makes it a parent. Clients
  broadcast the heartbeat on as figure 2.4 has every node do, but theirs only announces them to their broker.
- *Which leader.* A leadership is named by its start and its leader; where two meet the smaller name wins, so a
  stable leader stays. Nodes order the names alike whatever their clocks show; clocks decide only how old "older" is.
- *When a leader is lost.* After a time-out that adapts to the gaps between rounds, a broker follows another leader
  that it has heard meanwhile, or begins a leadership of its own, the youngest, which any other it meets will end.
- *Whom to follow again.* A leader that was left is followed again only for a round that is new, so that each node
  passes each round on at most once: the last rounds of a leader that is lost would else lead nodes astray.
- *Which parent.* Without `sticky_parent` each round's first sender is the parent. With it a parent is kept while its
  copies come at no more hops than the round's best; the choice is made half a round after the first copy, when all have
  arrived.
- *When to pass a round on.* With `sticky_parent` a node passes a round on after its parent's copy, for which it waits a
  jitter for each hop: what a node tells of its hops then depends on its place in the tree, not on which copy happened
  to be first. If that copy does not come, or without `sticky_parent`, the node passes the round on after the first
  copy.
- *Weak copies.* They travel far, and so come first and with few hops, over links that lose the longer messages. They
  make a parent only where there is no other, and a node that has heard no other waits longer before it passes the
  round on.

Nobody takes a new parent at as many hops as it has told itself, so the hops fall from node to node towards the leader.

The election is an `Overlay`, and any other overlay can take its place.

| chapter      | holds                                                                                  |
|--------------|----------------------------------------------------------------------------------------|
| `algorithm`  | one node's part: rounds, leaders, parent, children; what an agent sees of a tree       |
| `heartbeat`  | the message, what can be set, time-outs, and how soon the election comes to rest       |
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
