"""The parameters of Phoenix, those of election and link included."""

from __future__ import annotations

from roambus.python_protocol.brokers.parameters import StorageParameters
from roambus.python_protocol.parameters import parameter


class PhoenixParameters(StorageParameters):
    """What can be set for Phoenix; the thesis gives no values."""

    number_migrations: bool = parameter(
        True,
        source="the thesis, algorithm 2.3, which loses, doubles and overtakes without (see `phoenix`)",
        doc="a subscriber numbers its migrations, and gets everything once and in order; false: to the letter",
    )
    hold_limit: int = parameter(
        256,
        source="reasoned: the notifications of four minutes from the thesis' publishers",
        at_least=1,
        doc="notifications that a subscriber holds back for earlier ones; with more it waits no longer",
    )
    remembered: int = parameter(
        1024,
        source="reasoned: more than are published while a migration is under way",
        at_least=1,
        doc="notifications that a subscriber remembers to have received",
    )
