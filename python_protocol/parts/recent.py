"""A bounded memory of what was seen, for recognising duplicates.

It is bounded because a node has little memory; a duplicate that comes after as many other keys as the limit allows
counts as new.
"""

from __future__ import annotations

from collections.abc import Hashable


class Recent:
    """Remembers the last `limit` different keys; the oldest is forgotten first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._keys: dict[Hashable, None] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._keys

    def add(self, key: Hashable) -> bool:
        """Remembers `key`; False if it was known already."""
        if key in self._keys:
            return False
        if len(self._keys) >= self._limit:
            del self._keys[next(iter(self._keys))]
        self._keys[key] = None
        return True
