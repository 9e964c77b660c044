"""The reception of a scenario: the module that its settings name, with the parts that it leaves out."""

from __future__ import annotations

from functools import cache
from typing import cast

from roambus.bridge.backends.radio.engine import compiled
from roambus.bridge.backends.radio.modules import complete
from roambus.bridge.backends.radio.reception import bit_errors
from roambus.bridge.backends.radio.reception.interface import ReceptionModel
from roambus.bridge.backends.radio.state import State
from roambus.bridge.scenario.definition import Scenario

REQUIRED = ("begin",)


@compiled
def unchanged(s: State, receiver: int, now: int) -> None:
    """Leave all signals as they are."""


def adapt(scenario: Scenario) -> Scenario:
    """Return the scenario as it is."""
    return scenario


DEFAULTS = {
    "adapt": adapt,
    "kinds": bit_errors.kinds,
    "airtime": bit_errors.airtime,
    "disturb": unchanged,
    "settle": unchanged,
}


def reception_of(scenario: Scenario) -> ReceptionModel:
    """Return the reception of all nodes; raises UserError if its module is none."""
    return _complete(scenario.reception.MODULE)


@cache
def _complete(name: str) -> ReceptionModel:
    if name == bit_errors.__name__:
        return bit_errors
    return cast("ReceptionModel", complete("reception", name, REQUIRED, DEFAULTS))
