"""The `ideal` back-end: reliable FIFO links, for checking algorithms as the papers state them."""

from roambus.bridge.backends.ideal.backend import IdealBackend

__all__ = ["IdealBackend"]
