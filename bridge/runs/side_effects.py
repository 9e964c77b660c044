"""Checks that a run has not drawn from the generators that all code shares.

Such draws make results unrepeatable in silence: the next run of the process begins elsewhere in the sequence. An
agent draws from `self.random`, which is seeded from the run's seed and its node. Other non-determinism shows when `vet`
makes a run twice.
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
    """Raise SideEffectError, which names the agent, if Python's or NumPy's shared generator was used in the block."""
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
    """The generator's state; None while NumPy's is not loaded: loading it is not a draw."""
    if "numpy.random" not in sys.modules:
        return None
    name, keys, *rest = sys.modules["numpy.random"].get_state()
    return name, keys.tobytes(), rest  # arrays do not compare as one truth value
