"""The parameters of the first approach, those of election and link included."""

from __future__ import annotations

from roambus.python_protocol.brokers.parameters import StorageParameters
from roambus.python_protocol.parameters import parameter


class FirstApproachParameters(StorageParameters):
    """What can be set for the first approach; the thesis gives no values."""

    pass_back: bool = parameter(
        False,
        source="the thesis, algorithm 3.2, lines 10 and 27",
        doc="a MIG or REP may go back to where it came from, as the algorithm has it: between two brokers that point "
        "at each other it then goes to and fro for ever",
    )
    sub_redirects: bool = parameter(
        True,
        source="mends the thesis, algorithm 3.1, lines 2 and 3",
        doc="a SUB for what is known already shows the way to its subscriber, too, and brings what is stored",
    )
    connected_only: bool = parameter(
        True,
        source="the paper on the first approach, section 3.3; mends the thesis, algorithm 3.3, line 27",
        doc="C_i holds the subscribers that are connected; false: all that the routing table calls local",
    )
    follow_table: bool = parameter(
        True,
        source="mends the thesis, algorithm 3.2, line 7",
        doc="a MIG goes on where the table leads, at the subscriber's last broker, too",
    )
    keep_connected: bool = parameter(
        True,
        source="mends the thesis, algorithm 3.3, lines 2 to 6",
        doc="a broker keeps a subscriber that is connected to it when an older BMIG comes, and answers by its own",
    )
    answer_late: bool = parameter(
        True,
        source="mends the thesis, algorithm 3.1, lines 1 to 5, and algorithm 3.2, lines 1 to 13",
        doc="a broker that is connected to a subscriber answers by a BMIG when a neighbour passes on a SUB or MIG of "
        "it, which is older than its place",
    )
    filters_again: bool = parameter(
        True,
        source="mends the thesis, algorithm 3.2, line 5, and algorithm 3.3, lines 13 to 25",
        doc="a connected subscriber gets FILTERS again when a neighbour tells its broker of another subscription of it",
    )
    tell_late: bool = parameter(
        True,
        source="mends the thesis, algorithm 3.3, lines 13 to 25",
        doc="a broker that has other local subscribers when BTAB comes than it told in its BMIG sends another BMIG",
    )
