"""The scenarios of the Castalia reference measurements, run on a Castalia that is there, with beacons made in C++.

Each function makes one run and returns its counts under the names of the reference files' columns, as those of
`benchmarks.reference_scenarios` do for the embedded radio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.castalia_beacons import Outputs, run_beacons
from benchmarks.reference_scenarios import LINE_SPEED_MPS, PAYLOAD_BYTES, Conditions, Counts
from roambus.bridge.system.errors import BackendError
from roambus.experiments.templates.variables import Scalar

FIRST_SEED = 1000
"""The reference has the seed sets from 0 on: runs with these owe nothing to them."""

RESOLUTION = "simtime-resolution = ps"
"""OMNeT++'s default, with which the reference was made; with the nanoseconds of our templates it is a packet or two of
30,000 that end otherwise."""

SPARE_SEEDS = 100_000
"""So much is added to a seed whose run Castalia gives up."""
LEFT_THE_FIELD = "We cannot have negative node coordinates"
"""Castalia's own LineMobilityManager can go past the end of its line by a step. Where that end is at the edge of the
field, Castalia's channel ends the run."""

BREAKDOWN = {
    "rx_no_interf": "Received with NO interference",
    "rx_despite": "Received despite interference",
    "fail_no_interf": "Failed with NO interference",
    "fail_interf": "Failed with interference",
    "fail_sens": "Failed, below sensitivity",
    "fail_nonrx": "Failed, non RX state",
}
"""The columns of the signals' fates, and how Castalia's radio calls them."""


def pair(distance_m: float, payload: int, rate_per_s: float, conditions: Conditions) -> Counts:
    """Two static nodes, the first sends."""
    places = [f"SN.node[0..1].{axis} = 0" for axis in ("yCoor", "zCoor")]
    places += ["SN.node[0].xCoor = 0", f"SN.node[1].xCoor = {distance_m}", "SN.node[1].Application.rate = 0"]
    settings: dict[str, Scalar] = {"nodes": 2, "side": max(distance_m, 1.0), "deployment": ""}
    return _run(settings, places, rate_per_s, payload, conditions)


def static_field(nodes: int, side_m: float, rate_per_s: float, conditions: Conditions) -> Counts:
    """Static nodes placed uniformly, all send."""
    return _run({"nodes": nodes, "side": side_m}, (), rate_per_s, PAYLOAD_BYTES, conditions)


def line_field(nodes: int, side_m: float, rate_per_s: float, conditions: Conditions) -> Counts:
    """Nodes that go to and fro between two uniform places each, all send; another seed if one leaves the field."""
    moving: dict[str, Scalar] = {"mobility": "line", "speed": LINE_SPEED_MPS}
    try:
        return _run({"nodes": nodes, "side": side_m, **moving}, (), rate_per_s, PAYLOAD_BYTES, conditions)
    except BackendError as error:
        if LEFT_THE_FIELD not in str(error):
            raise
    return line_field(nodes, side_m, rate_per_s, conditions._replace(seed=conditions.seed + SPARE_SEEDS))


def _run(
    settings: dict[str, Scalar], lines: Sequence[str], rate_per_s: float, payload: int, conditions: Conditions
) -> Counts:
    seconds, air, seed = conditions
    common: dict[str, Scalar] = {"time_limit": seconds, "seed": seed}
    common |= {"sigma": air.propagation.sigma_db, "bidirectional_sigma": air.propagation.bidirectional_sigma_db}
    return counts(run_beacons({**settings, **common}, [RESOLUTION, *lines], rate_per_s, payload))


def counts(outputs: Outputs) -> Counts:
    """The columns; the levels are those of the only node that receives."""
    found: Counts = {
        "offered": outputs["Beacons", "sent"],
        "sent": outputs["Beacons", "sent"],
        "transmitted": outputs["TXed pkts", "TX pkts"],
        "received": outputs["Beacons", "received"],
        "mean_rssi_dbm": outputs["Beacons", "mean RSSI"] or math.nan,
        "mean_lqi_db": outputs["Beacons", "mean LQI"] or math.nan,
    }
    return found | {column: outputs["RX pkt breakdown", label] for column, label in BREAKDOWN.items()}
