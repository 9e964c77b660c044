"""An agent that draws from a generator that all code shares is refused at the end of its run."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from roambus.bridge.host.agents import shared_generators_unused
from roambus.bridge.system.errors import SideEffectError


def test_an_agent_that_draws_from_pythons_shared_generator_is_named() -> None:
    """The message says what to do instead."""
    with (
        pytest.raises(SideEffectError, match=r"agent mine has drawn from Python's shared .* draw from self.random"),
        shared_generators_unused("mine"),
    ):
        random.random()


def test_an_agent_that_draws_from_numpys_shared_generator_is_named() -> None:
    """NumPy's legacy functions have a generator of their own."""
    with (
        pytest.raises(SideEffectError, match="agent mine has drawn from NumPy's shared generator"),
        shared_generators_unused("mine"),
    ):
        np.random.rand()  # the legacy function is the subject


def test_a_generator_of_ones_own_is_no_side_effect() -> None:
    """Such as the one that each agent is given: the shared generators are as they were."""
    before = random.getstate()
    with shared_generators_unused("mine"):
        drawn = {random.Random(1).random(), random.Random(2).random(), np.random.default_rng(1).random()}
    assert len(drawn) == 3
    assert random.getstate() == before


def test_to_load_numpy_is_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy may be imported during the run; its generator then has its first state."""
    loaded = np.random
    monkeypatch.delitem(sys.modules, "numpy.random")
    with shared_generators_unused("mine"):
        monkeypatch.setitem(sys.modules, "numpy.random", loaded)
    assert sys.modules["numpy.random"] is loaded
