"""Nodes that stay at their places."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge.mobility.model import Mobility


@dataclass(frozen=True, slots=True)
class Static(Mobility):
    """NoMobilityManager: the node stays at its place."""
