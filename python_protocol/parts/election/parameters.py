"""The parameters of the election."""

from __future__ import annotations

from roambus.python_protocol.parameters import Parameters, parameter
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime


class ElectionParameters(Parameters):
    """What the parameters of an agent inherit if it uses the election."""

    heartbeat_interval: SimTime = parameter(
        SECOND,
        unit="s",
        source="reasoned: changes must be noticed quickly (the thesis, section 4.5), as by the hellos of AODV",
        above=0,
        doc="time from one round to the next",
    )
    relay_jitter: SimTime = parameter(
        100 * MILLISECOND,
        unit="s",
        source="reasoned: room for 25 neighbours' frames of 1.3 ms at a third of the channel",
        at_least=0,
        doc="a heartbeat is broadcast on after a delay drawn uniformly up to this",
    )
    round_jitter: SimTime = parameter(
        0,
        unit="s",
        source="tuned: RFC 5148, section 5.2: a quarter of the interval at most",
        at_least=0,
        doc="a round begins earlier by a time drawn up to this, or it may meet the same publication each time",
    )
    sticky_parent: bool = parameter(
        True,
        source="reasoned: on a contended channel the first copy's sender changes without any movement",
        doc="keep a parent whose copies come at no more hops than the best; the letter of the thesis does not",
    )
    parent_by: str = parameter(
        "hops",
        source="quality: ETX (De Couto et al., 2003), the four-bit link estimator, RFC 6719",
        choices=("hops", "quality"),
        doc="a sticky parent is the one at the fewest hops, or at the fewest transmissions that are to be expected",
    )
    parent_hysteresis: float = parameter(
        1.5,
        unit="transmissions",
        source="RFC 6719, section 5, PARENT_SWITCH_THRESHOLD",
        at_least=0,
        doc="with parent_by = quality another way must be shorter by this for a parent to be left",
    )
    parent_patience: int = parameter(
        3,
        unit="rounds",
        source="as allowed_heartbeat_loss: RFC 3561, section 10; a way is not longer for a round that was missed on it",
        at_least=1,
        doc="with parent_by = quality a parent's way counts as the shortest that it has told in so many rounds",
    )
    weak_signal_dbm: float = parameter(
        -87.0,
        unit="dBm",
        source="reasoned: a CC2420 loses a tenth of the frames of 127 bytes at 9.5 dB over its noise floor; 3 dB for "
        "interference (compare the gray zones of Lundgren et al., 2002)",
        doc="a weaker copy makes its sender a parent only if there is no stronger one; a parent may grow weaker",
    )
    parent_window: SimTime = parameter(
        SECOND // 2,
        unit="s",
        source="reasoned: half a round, five relays deep",
        at_least=0,
        doc="time after a round's first copy at which a sticky parent is compared with the round's best",
    )
    quiet_rounds: int = parameter(
        1,
        unit="rounds",
        source="RFC 6206, I_max",
        at_least=1,
        doc="with bundles a client beats ever more rarely, up to this, while nothing changes",
    )
    allowed_heartbeat_loss: int = parameter(
        2,
        source="RFC 3561, section 10, ALLOWED_HELLO_LOSS",
        at_least=0,
        doc="rounds in a row that a neighbour may miss; when it misses one more it counts as gone",
    )
    leader_time_out_min: SimTime = parameter(
        2500 * MILLISECOND,
        unit="s",
        source="reasoned: two rounds lost, and half a round for relays",
        above=0,
        doc="lower bound of the adaptive time-out for the leader, and its first value",
    )
    leader_time_out_max: SimTime = parameter(
        5 * SECOND,
        unit="s",
        source="reasoned: twice the lower bound",
        above=0,
        doc="upper bound of the adaptive time-out for the leader",
    )
    exclusion: SimTime = parameter(
        3 * SECOND,
        unit="s",
        source="reasoned: three rounds, as for a neighbour that is silent (compare the blacklist of RFC 3561, 6.8)",
        at_least=0,
        doc="time for which a neighbour that the link layer gave up is not made a parent",
    )
