"""Checks that a run has not drawn from the generators that all code shares.

Such draws silently make results unrepeatable. An agent draws from `self.random`, seeded from the run's seed and its
node. Other non-determinism shows when `vet` makes a run twice.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from roambus.bridge.errors import SideEffectError


@contextmanager
def shared_generators_unused(agent: str) -> Iterator[None]:
    """Raise SideEffectError, naming the agent, if the block used Python's or NumPy's generator."""
    python, numpy = random.getstate(), _numpy_state()
    yield
    if random.getstate() != python:
        _refuse(agent, "Python")
    if numpy is not None and _numpy_state() != numpy:
        _refuse(agent, "NumPy")


def _refuse(agent: str, whose: str) -> None:
    raise SideEffectError(
        f"agent {agent} has drawn from {whose}'s shared generator, which makes runs unrepeatable: draw from self.random"
    )


def _numpy_state() -> Any:
    """The generator's state; None if NumPy is not loaded, since loading is no draw."""
    if "numpy.random" not in sys.modules:
        return None
    name, keys, *rest = sys.modules["numpy.random"].get_state()
    return name, keys.tobytes(), rest  # arrays do not compare as one truth value
