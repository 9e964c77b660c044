"""Which messages have gone back for which request by way of a broker.

The reactive mechanism asks for it (the paper on caching, section 5).
"""

from __future__ import annotations

from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.parts.recent import Recent
from roambus.python_protocol.roles import NodeId


class Passed:
    """A bounded memory; what it has forgotten can pass again."""

    def __init__(self, limit: int) -> None:
        self._recent = Recent(limit)

    def add(self, client: NodeId, number: int, message: NotificationId) -> bool:
        """Enters that a message goes back for request `number` of a client; False if it has done so before."""
        return self._recent.add((client, number, message))
