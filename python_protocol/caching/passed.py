"""Which messages have gone back for which request by way of a broker: the reactive mechanism (001, section 5)."""

from __future__ import annotations

from roambus.python_protocol.filters import NotificationId
from roambus.python_protocol.parts.recent import Recent
from roambus.python_protocol.roles import NodeId


class Passed:
    """Bounded; what is forgotten can pass again."""

    def __init__(self, limit: int) -> None:
        self._recent = Recent(limit)

    def add(self, client: NodeId, number: int, message: NotificationId) -> bool:
        """A message goes back for request `number` of a client; False if it has done so before."""
        return self._recent.add((client, number, message))
