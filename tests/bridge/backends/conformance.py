"""The back-ends under test: `roambus.testing.backend_promises` has what each of them promises.

A further back-end of the core is one more entry of SUBJECTS; an extension's has a test of its own.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from types import ModuleType

import pytest

from roambus.bridge.backend import Backend
from roambus.bridge.backends.castalia.backend import CastaliaBackend
from roambus.bridge.backends.castalia.simulators import StartedSimulator, ways_of
from roambus.bridge.backends.ideal.backend import make_ideal
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.scenario.ideal import IdealLinks
from roambus.python_protocol.agent import Agent
from roambus.testing.backend_case import Case
from tests.support.omnet import castalia
from tests.support.steering import over_stand_in

DEADLINE_S = 20
ROOT = Path(__file__).parents[3]


def make_given_graph(case: Case) -> Backend:
    """Ideal links between all nodes."""
    links = tuple(combinations(range(len(case.scenario.nodes)), 2))
    return make_ideal(replace(case.scenario, ideal=IdealLinks(links=links)))


def make_unit_disk(case: Case) -> Backend:
    """Ideal links between nodes in range of each other, as all are."""
    return make_ideal(case.scenario)


def make_radio(case: Case) -> Backend:
    """The embedded radio."""
    return RadioBackend(case.scenario)


def make_stand_in(case: Case, *, batching: bool = True) -> Backend:
    """The scripted simulator, over the real wire; all nodes are in reach of each other, but for one that moves."""
    return over_stand_in(case.folder, case.scenario, case.messages, batching=batching)


def make_castalia(case: Case, *, batching: bool = True) -> Backend:
    """Real Castalia."""
    simulator = StartedSimulator(case.folder, castalia(), DEADLINE_S, ways_of(case.scenario))
    return CastaliaBackend(case.scenario, case.messages, simulator, batching=batching)


def documented_files() -> list[str]:
    """The example back-end of docs/guide/backends.md, and its tests."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "guide" / "backends.md").read_text(), re.DOTALL)


@cache
def documented() -> ModuleType:
    """The back-end that docs/guide/backends.md has as its example."""
    source, _ = documented_files()
    module = ModuleType("bus")
    sys.modules[module.__name__] = module  # a dataclass looks for its own module
    exec(compile(source, "docs/guide/backends.md", "exec"), module.__dict__)  # noqa: S102  # our own page
    return module


def make_documented(case: Case) -> Backend:
    """The bus of the documentation."""
    backend: Backend = documented().BusFactory().make(case.scenario, Agent, case.folder)
    return backend


SUBJECTS = [
    pytest.param(make_given_graph, id="ideal"),
    pytest.param(make_unit_disk, id="ideal-disk"),
    pytest.param(make_radio, id="radio"),
    pytest.param(make_documented, id="documented"),
    pytest.param(make_stand_in, id="stand-in"),
    pytest.param(partial(make_stand_in, batching=False), id="stand-in-unbatched"),
    pytest.param(make_castalia, id="castalia", marks=pytest.mark.castalia),
    pytest.param(partial(make_castalia, batching=False), id="castalia-unbatched", marks=pytest.mark.castalia),
]
