"""The `ideal` back-end: reliable FIFO links, to check algorithms as their papers state them.

- `backend`: frames on links, changes and faults, and hand-worked links.
- `graph`: links, and contacts of moving nodes.
"""

from roambus.bridge.backends.ideal.backend import IdealBackend

__all__ = ["IdealBackend"]
