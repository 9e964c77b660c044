"""Which route requests were seen (RFC 3561, section 6.5): each is processed once, further copies are dropped."""

from __future__ import annotations

from itertools import takewhile

from python_protocol.roles import NodeId
from python_protocol.simtime import SimTime

RequestId = tuple[NodeId, int]
"""(originator, RREQ ID): names a route request."""


class IdCache:
    """Remembers requests for `lifetime` ns (PATH_DISCOVERY_TIME)."""

    def __init__(self, lifetime: SimTime) -> None:
        self._lifetime = lifetime
        self._seen: dict[RequestId, SimTime] = {}

    def __len__(self) -> int:
        return len(self._seen)

    def is_known(self, request: RequestId, now: SimTime) -> bool:
        """Whether `request` was added within the lifetime."""
        until = self._seen.get(request)
        return until is not None and until > now

    def add(self, request: RequestId, now: SimTime) -> None:
        """Remembers `request` from now on."""
        self._seen.pop(request, None)
        self._seen[request] = now + self._lifetime

    def sweep(self, now: SimTime) -> None:
        """Forgets what is over. All live equally long, so the oldest entries are the first of the dictionary."""
        for request, _ in list(takewhile(lambda entry: entry[1] <= now, self._seen.items())):
            del self._seen[request]
