"""Margins of a design, made up from effects that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from docs.writers.factorial.design import UNCOUNTED, Reading, readings
from docs.writers.factorial.quantities import CLAIM, MARGIN, PART, READING
from roambus.bridge.runs.layout import SEED

Truth = Callable[[Reading], float]
"""The margin of a reading, without the noise of seeds."""


def margins(
    truths: Mapping[int, Truth], *, noise: float = 0.05, seeds: int = 3, uncounted: float = 0.0, start: int = 1
) -> pd.DataFrame:
    """Margins of one part each claim; without acknowledgements they are larger by `uncounted`."""
    rng = np.random.default_rng(start)
    rows = []
    for name, reading in readings().items():
        for claim, truth in truths.items():
            for seed, value in enumerate(truth(reading) + rng.normal(0, noise, seeds)):
                rows += [(name, way, claim, "part", seed, value + uncounted * way) for way in (0, 1)]
    return pd.DataFrame(rows, columns=[READING, UNCOUNTED, CLAIM, PART, SEED, MARGIN])
