"""The `ideal` back-end: reliable FIFO links, for checking algorithms as the papers state them.

- `backend`: frames on links, changes and faults, and links that a transcript works by hand.
- `graph`: which links there are, and when nodes that move are in range of each other.
"""

from roambus.bridge.backends.ideal.backend import IdealBackend

__all__ = ["IdealBackend"]
