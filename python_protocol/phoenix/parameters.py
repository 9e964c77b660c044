"""The parameters of Phoenix, those of election and link included."""

from __future__ import annotations

from dataclasses import dataclass

from python_protocol.brokers.parameters import StorageParameters


@dataclass(frozen=True)
class PhoenixParameters(StorageParameters):
    """What can be set for Phoenix; the thesis gives no values."""
