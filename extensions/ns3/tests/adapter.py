"""The adapter for ns-3, built where its compiler and libraries are, and a back-end of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from roambus.bridge.backend import Backend
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.installation import Program
from roambus.bridge.backends.castalia.simulators import StartedSimulator
from roambus.bridge.scenario.radio import Ns3Settings
from roambus.bridge.system.errors import UserError
from roambus.extensions.ns3.backend import NS3_ROOT, PROGRAM, SETTINGS_FILE, find_ns3, settings_text, ways_of
from roambus.testing.backend_case import Case
from tests.support.omnet import build

DEADLINE_S = 20


@cache
def ns3() -> Program:
    """The adapter for ns-3; skips unless the package ns3 is here, or the environment says where it is."""
    try:
        find_ns3()
    except UserError as error:
        pytest.skip(str(error))
    return Program((str(build("ns3", PROGRAM, f"{NS3_ROOT}={find_ns3()}")),))


def make_ns3(case: Case, *, stack: str = "lr-wpan", batching: bool = True) -> Backend:
    """Real ns-3."""
    scenario = replace(case.scenario, ns3=Ns3Settings(stack))
    program = replace(ns3(), files={SETTINGS_FILE: settings_text(scenario)})
    simulator = StartedSimulator(case.folder, program, DEADLINE_S, ways_of(scenario))
    return CastaliaBackend(scenario, case.messages, simulator, batching=batching)
