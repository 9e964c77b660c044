"""The parameters of the first approach, those of election and link included."""

from __future__ import annotations

from dataclasses import dataclass

from python_protocol.brokers.parameters import StorageParameters
from python_protocol.parameters import parameter


@dataclass(frozen=True)
class FirstApproachParameters(StorageParameters):
    """What can be set for the first approach; the thesis gives no values."""

    pass_back: bool = parameter(
        False,
        source="003, algorithm 3.2, lines 10 and 27",
        doc="a MIG or REP may go back to where it came from, as the algorithm has it: between two brokers that point "
        "at each other it then goes to and fro for ever",
    )
