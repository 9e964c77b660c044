"""The path loss of a scenario: the module that its settings name, with the parts that it leaves out."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, cast

import numpy as np

from roambus.bridge.backends.radio.modules import complete
from roambus.bridge.backends.radio.propagation import temporal
from roambus.bridge.backends.radio.propagation.interface import Draw, Fading, PathLossModel
from roambus.bridge.backends.radio.propagation.log_distance import REACH_DBM
from roambus.bridge.scenario.definition import Scenario
from roambus.bridge.scenario.models import PROPAGATIONS
from roambus.bridge.scenario.propagation import Propagation
from roambus.bridge.scenario.radio import TEMPORAL_FILE
from roambus.bridge.system.code import errors_of
from roambus.bridge.system.errors import UserError

REQUIRED = ("mean_db",)


def draws(law: Any, random: np.random.Generator, pairs: int) -> Draw:
    """Return a function that draws nothing."""
    del law, random, pairs
    return lambda _: (0.0, 0.0)


def reach_m(law: Any, loudest_dbm: float, threshold_dbm: float) -> float:
    """Return infinity: all pairs are looked at."""
    del law, loudest_dbm, threshold_dbm
    return math.inf


def best_db(law: Any) -> float:
    """Return 0: a way is at best as its path loss."""
    del law
    return 0.0


DEFAULTS = {"draws": draws, "reach_m": reach_m, "best_db": best_db}


def model_of(law: Propagation) -> PathLossModel:
    """Return the module of a path loss; raises UserError if its module is none."""
    return _complete(law.MODULE)


def fading_of(scenario: Scenario) -> Fading:
    """Return the module that varies ways: the path loss's own, or the temporal model; raises UserError for both."""
    own = cast("Fading", model_of(scenario.propagation))
    if not hasattr(own, "deviation"):
        return temporal
    if scenario.temporal is not None:
        problem = f"the path loss {PROPAGATIONS.name_of(scenario.propagation)} varies links itself"
        raise UserError(f"{TEMPORAL_FILE.name}: {problem} ({PROPAGATIONS.key.name}): leave one of the two out")
    return own


def varies(scenario: Scenario) -> bool:
    """Return whether links vary in time."""
    return scenario.temporal is not None or fading_of(scenario) is not temporal


def loudest_dbm(scenario: Scenario) -> float:
    """Return the power at which ways are sought.

    Ways that only a deviation makes audible must be there from the start, for they are never added.
    """
    strongest = max(node.tx_power_dbm for node in scenario.nodes)
    if scenario.temporal is not None:  # links that vary can be better than on average, for any transmitter
        return max(REACH_DBM, strongest)
    return strongest + _best_db(scenario.propagation)


def _best_db(law: Propagation) -> float:
    with errors_of(law.MODULE, f"the path loss {law.MODULE}"):
        best = model_of(law).best_db(law)
        if not best >= 0:
            raise UserError(f"{law.MODULE}: best_db returns {best}: it must be dB from 0")
    return best


@cache
def _complete(name: str) -> PathLossModel:
    return cast("PathLossModel", complete("path loss", name, REQUIRED, DEFAULTS))
