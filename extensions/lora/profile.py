"""Shipped agents with the times of LoRa: `lora-gossip` is `gossip` with every parameter that is a time scaled.

The defaults of these agents hold for a CC2420, on which a notification takes 3.3 ms. One rule scales them all: the
ratio of the air times of that frame with a LoRa modem and with a CC2420, rounded to milliseconds. The modem is a
preset, by the parameter `preset`. A value that the user gives is taken as given. No other parameter changes, nor any
code. `lean` has the agent that another extension brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from types import new_class
from typing import Any, TypeVar

from roambus.extensions.lora.radio.airtime import airtime_ns
from roambus.extensions.lora.radio.modems import PRESETS
from roambus.python_protocol.baselines import (
    Flooding,
    FloodingParameters,
    Gossip,
    GossipParameters,
    RepairingGossip,
    RepairParameters,
)
from roambus.python_protocol.mft import MftPubSub
from roambus.python_protocol.mft.messages import MftParameters
from roambus.python_protocol.settings import Parameters, parameter, setting_field, settings_of
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime, format_time

REFERENCE_BYTES = 103
"""A notification with all headers: 3.3 ms on a CC2420, of which the sources of the defaults speak (`baselines`)."""
CC2420_BITS_PER_S = 250_000
USUAL = "LongFast"

P = TypeVar("P", bound=Parameters)


def ratio(preset: str) -> Fraction:
    """Return how many times longer the reference frame is on the air with a LoRa modem than with a CC2420."""
    return Fraction(airtime_ns(PRESETS[preset], REFERENCE_BYTES), REFERENCE_BYTES * 8 * SECOND // CC2420_BITS_PER_S)


def scaled_times(parameters: type[Parameters], preset: str) -> dict[str, SimTime]:
    """Return each parameter that is a time, in ns: its default times the ratio, but not above its upper bound."""
    times = {}
    for name, setting in settings_of(parameters).items():
        if setting.kind.is_time:
            exact = setting.read(setting.default) * ratio(preset)
            value = round(exact / MILLISECOND) * MILLISECOND
            times[name] = value if setting.within.at_most is None else min(value, int(setting.within.at_most))
    return times


def with_times_of_lora(parameters: type[P], module: str) -> type[P]:
    """Return the parameters with one more, `preset`, from which the defaults of all times follow.

    The class belongs into `module` under its name, which is that of `parameters` with Lora in front, to be pickled.
    """
    own = settings_of(parameters)
    fields: dict[str, Any] = {
        "preset": parameter(
            USUAL,
            source="Meshtastic, LoRa configuration",
            choices=tuple(PRESETS),
            doc="of the radio's modem, by whose air time the defaults of all times are scaled",
        )
    }
    for name, time in scaled_times(parameters, USUAL).items():
        source = f"extensions/lora, by air time from {own[name].default}: {own[name].source}"
        fields[name] = setting_field(replace(own[name], default=format_time(time), source=source), default=time)

    def implied(given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the times of the preset, beside the values that given ones imply anyway."""
        return {**scaled_times(parameters, given.get("preset", USUAL)), **parameters.implied(given)}

    body = {
        "__module__": module,
        "__doc__": f"{parameters.__name__} with the times of LoRa.",
        "__annotations__": {name: str if name == "preset" else SimTime for name in fields},
        "implied": staticmethod(implied),
        **fields,
    }
    return new_class(f"Lora{parameters.__name__}", (parameters,), exec_body=lambda names: names.update(body))


LoraFloodingParameters = with_times_of_lora(FloodingParameters, __name__)
LoraGossipParameters = with_times_of_lora(GossipParameters, __name__)
LoraRepairParameters = with_times_of_lora(RepairParameters, __name__)
LoraMftParameters = with_times_of_lora(MftParameters, __name__)


class LoraFlooding(Flooding):
    """Flooding with the times of LoRa."""

    parameters_type = LoraFloodingParameters


class LoraGossip(Gossip):
    """Gossip with the times of LoRa."""

    parameters_type = LoraGossipParameters


class LoraRepairingGossip(RepairingGossip):
    """Gossip with repair, with the times of LoRa."""

    parameters_type = LoraRepairParameters


class LoraMft(MftPubSub):
    """MFT-PubSub with the times of LoRa."""

    parameters_type = LoraMftParameters
