"""What is left of an agent's conduct at the end of a run, and what is not its own."""

from __future__ import annotations

import random
import signal
import sys
from contextlib import suppress

import numpy as np
import pytest

from roambus.bridge.errors import ConductError
from roambus.bridge.process import termination_interrupts
from roambus.bridge.runs.guard import conduct_seen


def draw() -> None:
    """A run whose agent draws from the shared generator."""
    with conduct_seen("mine"):
        random.random()


def draw_and_be_terminated() -> None:
    """The same, in which something swallows SIGTERM."""
    with termination_interrupts(), conduct_seen("mine"), suppress(KeyboardInterrupt):
        random.random()
        signal.raise_signal(signal.SIGTERM)


def test_who_draws_from_the_shared_generator_is_named() -> None:
    """With what it ought to do."""
    with pytest.raises(ConductError, match=r"agent mine has drawn from Python's own generator"):
        draw()


def test_a_termination_that_a_library_swallows_is_no_conduct() -> None:
    """The run ends as interrupted, whatever the signal has left undone: its handler is another one by then."""
    with pytest.raises(KeyboardInterrupt):
        draw_and_be_terminated()


def test_the_next_run_of_the_process_is_watched_again() -> None:
    """A termination that is over is none any more."""
    with pytest.raises(KeyboardInterrupt):
        draw_and_be_terminated()
    with pytest.raises(ConductError, match=r"agent mine has drawn from Python's own generator"):
        draw()


def test_to_load_numpy_is_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that was cut short is made up for in the run."""
    loaded = np.random
    monkeypatch.delitem(sys.modules, "numpy.random")
    with conduct_seen("mine"):
        monkeypatch.setitem(sys.modules, "numpy.random", loaded)
