"""The constants of DSDV, DSR, OLSR and GPSR, as their sources have them, and the values that each may have."""

from __future__ import annotations

from typing import Any

import pytest

from roambus.extensions.routing.dsdv import DsdvParameters
from roambus.extensions.routing.dsr.agent import DsrParameters
from roambus.extensions.routing.geographic import GeographicParameters
from roambus.extensions.routing.gpsr import GpsrParameters
from roambus.extensions.routing.olsr.agent import OlsrParameters
from roambus.python_protocol.settings import Range, settings_of
from roambus.python_protocol.simtime import MILLISECOND, SECOND

FROM_0, FROM_1, ABOVE_0 = Range(at_least=0), Range(at_least=1), Range(above=0)
CONSTANTS: dict[type[Any], dict[str, tuple[object, Range | tuple[object, ...]]]] = {
    DsdvParameters: {
        "update_interval": (15 * SECOND, ABOVE_0),
        "update_jitter": (SECOND, FROM_0),
        "missed_updates": (3, FROM_1),
        "settling_time": (6 * SECOND, FROM_0),
        "settling_weight": (0.875, Range(at_least=0, at_most=1)),
        "aggregation_time": (SECOND, FROM_0),
        "sequence_triggers": (True, ()),
        "packets_each": (5, FROM_0),
        "queue_timeout": (30 * SECOND, ABOVE_0),
    },
    GeographicParameters: {
        "beacon_interval": (1500 * MILLISECOND, ABOVE_0),
        "beacon_timeout": (4.5, Range(above=1)),
        "planarization": ("rng", ("rng", "gg")),
        "perimeter": (True, ()),
    },
    GpsrParameters: {
        "positions": ("requested", ("requested", "oracle")),
        "location_timeout": (10 * SECOND, Range(above=0, at_most=600 * SECOND)),
        "request_timeout": (SECOND, ABOVE_0),
        "request_gap": (250 * MILLISECOND, FROM_0),
        "request_retries": (2, FROM_0),
        "cached_replies": (True, ()),
        "queue_limit": (64, FROM_1),
        "queue_timeout": (30 * SECOND, ABOVE_0),
    },
    DsrParameters: {
        "discovery_hop_limit": (255, Range(at_least=1, at_most=255)),
        "route_cache_timeout": (300 * SECOND, ABOVE_0),
        "route_cache_size": (64, FROM_1),
        "send_buffer_timeout": (30 * SECOND, ABOVE_0),
        "send_buffer_size": (64, FROM_1),
        "request_table": (1024, FROM_1),
        "max_request_rexmt": (16, FROM_0),
        "max_request_period": (10 * SECOND, ABOVE_0),
        "request_period": (500 * MILLISECOND, ABOVE_0),
        "nonprop_request_timeout": (30 * MILLISECOND, ABOVE_0),
        "max_salvage_count": (15, Range(at_least=0, at_most=15)),
        "cached_replies": (True, ()),
        "blacklist_timeout": (3 * SECOND, FROM_0),
        "reply_delay": (2 * MILLISECOND, FROM_0),
        "promiscuous": (False, ()),
        "grat_reply_holdoff": (SECOND, FROM_0),
    },
    OlsrParameters: {
        "hello_interval": (2 * SECOND, ABOVE_0),
        "tc_interval": (5 * SECOND, ABOVE_0),
        "dup_hold_time": (30 * SECOND, ABOVE_0),
        "willingness": (3, Range(at_least=0, at_most=7)),
    },
}


@pytest.mark.parametrize("parameters", CONSTANTS)
def test_the_constants_are_those_of_their_sources(parameters: type[Any]) -> None:
    """Each with its bounds, or its choices."""
    settings = settings_of(parameters)
    own = {name: settings[name] for name in vars(parameters)["__annotations__"]}
    assert {
        name: (
            getattr(parameters(), name),
            setting.choices or (() if setting.default in {True, False} else setting.within),
        )
        for name, setting in own.items()
    } == CONSTANTS[parameters]


@pytest.mark.parametrize(
    ("parameters", "wrong", "allowed"),
    [
        (DsdvParameters, {"update_interval": SECOND - 1}, {"update_interval": SECOND}),
        (OlsrParameters, {"tc_interval": SECOND // 2 - 1}, {"tc_interval": SECOND // 2}),
    ],
)
def test_no_jitter_is_longer_than_its_interval(
    parameters: type[Any], wrong: dict[str, int], allowed: dict[str, int]
) -> None:
    """Else a timer would run out before it is set."""
    parameters(**allowed)
    with pytest.raises(ValueError, match=f"parameter (update_jitter|{min(wrong)}): it must be at"):
        parameters(**wrong)
