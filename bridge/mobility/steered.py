"""Nodes that their agents move: from command to command, straight at constant speed."""

from __future__ import annotations

from dataclasses import dataclass

from roambus.bridge.keys import MILLISECONDS, key
from roambus.bridge.mobility.model import PREFIX, SPEEDS, UPDATE, UPDATES, Mobility
from roambus.python_protocol.settings import NUMBER, Range
from roambus.python_protocol.simtime import SimTime


@dataclass(frozen=True, slots=True)
class Steered(Mobility):
    """AgentMobilityManager: the node rests where it starts until its agent sends it elsewhere."""

    max_speed_mps: float = key(
        PREFIX + "maxSpeed", NUMBER, "20", "limit of the speeds that its agent asks for", "m/s", SPEEDS
    )
    update_interval: SimTime = key(UPDATE, MILLISECONDS, "100", UPDATES, within=Range(above=0))
