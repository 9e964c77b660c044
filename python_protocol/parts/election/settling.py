"""How soon the election comes to rest, as far as it can be proved.

The tests of networks take the bound from here: whatever has happened before, there is one leader and one tree by then.
"""

from __future__ import annotations

from math import ceil

from roambus.python_protocol.parts.election.parameters import ElectionParameters
from roambus.python_protocol.parts.election.time_out import longest_time_out


def settling_rounds(parameters: ElectionParameters, depth: int) -> int:
    """Rounds after the last change within which each partition has one leader, and its tree does not change any more.

    A change is a link or a node that comes or goes, and so is the start of the run. `depth` is the greatest number of
    hops between a broker and any other node of its partition. It takes:

    1. two floods, until no copy is under way of a leader that is lost, or that gave way to one that is;
    2. `leader_time_out_min`, until nobody has heard of such a leader lately enough to follow it next, and one longest
       time-out, until nobody follows one;
    3. a round and a flood, until all know the oldest leader that is left: nothing older is under way to stop it;
    4. with `sticky_parent`, the rounds that a parent may miss and one more, until all parents are within reach; a round
       for each hop, because the nodes at that distance find the shortest way once those before them tell theirs; and
       a round in which the last of them tell their parents. Without it parents never come to rest.

    A flood is what `depth` nodes can take to pass a round on: each waits for its parent's copy, then its jitter, and
    once more when that copy comes at the end. Links lose nothing and take no time; the jitter of a way (`depth` times
    `relay_jitter`) stays within `parent_window`, else a late parent may be taken for a lost one.
    """
    flood = depth * (parameters.parent_window + 2 * parameters.relay_jitter)
    leaders = 3 * flood + parameters.leader_time_out_min + longest_time_out(parameters)
    parents = parameters.allowed_heartbeat_loss + 1 + depth + 1
    return ceil(leaders / parameters.heartbeat_interval) + 1 + parents
