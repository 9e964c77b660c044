"""Which route requests were seen (RFC 3561, section 6.5): each is processed once, further copies are dropped."""

from __future__ import annotations

from itertools import takewhile

from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.simtime import SimTime

RequestId = tuple[NodeId, int]
"""(originator, RREQ ID): names a route request."""


class IdCache:
    """Remembers requests for `lifetime` ns (PATH_DISCOVERY_TIME)."""

    def __init__(self, lifetime: SimTime) -> None:
        self._lifetime = lifetime
        self.known_until: dict[RequestId, SimTime] = {}
        """To look at, where a call of `is_known` would take too long; for some that may be over."""

    def __len__(self) -> int:
        return len(self.known_until)

    def is_known(self, request: RequestId, now: SimTime) -> bool:
        """Whether `request` was added within the lifetime."""
        return self.known_until.get(request, now) > now

    def add(self, request: RequestId, now: SimTime) -> None:
        """Remembers `request` from now on."""
        self.known_until.pop(request, None)
        self.known_until[request] = now + self._lifetime

    def sweep(self, now: SimTime) -> None:
        """Forgets what is over. All live equally long, so the oldest entries are the first of the dictionary."""
        for request, _ in list(takewhile(lambda entry: entry[1] <= now, self.known_until.items())):
            del self.known_until[request]
