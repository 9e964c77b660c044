"""How long an election takes to settle, at most."""

from math import ceil

from roambus.python_protocol.parts.election import ElectionParameters

LONGEST_TIME_OUT = 1.25
"""A leader's time-out is random: up to so many times the longest of the parameters."""


def settling_rounds(parameters: ElectionParameters, depth: int) -> int:
    """Return the rounds after the last change until each partition has one leader and a tree that stays.

    `depth` is the greatest number of hops between a broker and another node of its partition. The bound adds two
    floods, the shortest and the longest time-out for a leader, a round and a flood for the announcement, and the rounds
    in which parents settle, hop by hop.
    """
    flood = depth * (parameters.parent_window + 2 * parameters.relay_jitter)
    time_outs = parameters.leader_time_out_min + LONGEST_TIME_OUT * parameters.leader_time_out_max
    parents = parameters.allowed_heartbeat_loss + 1 + depth + 1
    return ceil((3 * flood + time_outs) / parameters.heartbeat_interval) + 1 + parents
