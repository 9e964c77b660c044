"""The effects of the choices on each claim's margins, and how they were predicted.

An effect is half the difference between a choice's levels. The table has it for all readings, and for those with
and without a link layer alone. Within one of these a choice shares its column with pairs of others. Over all readings
it does not.

One rule decides what is significant: Holm's correction at 5 % over all effects of the table, which are one family.
Choices, chains of pairs, counts of messages and means are in it alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from scipy import stats

from docs.writers.factorial.design import LINK, NAMES, UNCOUNTED, design_columns, readings
from docs.writers.factorial.quantities import CLAIM, CLAIMS, MARGIN, PART, READING
from roambus.bridge.runs.layout import SEED
from roambus.experiments.claims import SIGNIFICANCE, holm

BOTH, LINKED, BARE = "all", "with link", "without link"
WORLDS = (BOTH, LINKED, BARE)
"""The readings that an effect is about."""
WORLD, EFFECT, HALF, INTERVAL, P, SIGNIFICANT = "readings", "effect", "half", "interval", "p", "significant"
_MEAN = "mean"
Effect = tuple[str, float, float, float]
"""Its name, half the difference, half of its 95 % interval, and its p."""


def in_world(world: str, bare: pd.Series[bool] | np.ndarray) -> np.ndarray:
    """Which readings these are, from their choice of no link layer."""
    without = np.asarray(bare, dtype=bool)
    return np.ones_like(without) if world == BOTH else without if world == BARE else ~without


def effects(margins: pd.DataFrame) -> pd.DataFrame:
    """A row for each part of a claim, count of messages, group of readings and effect.

    A claim that is not about messages has the same effects for both counts, and stands once.
    """
    rows = []
    for uncounted in (0, 1):
        for key, table in _tables(margins[margins[UNCOUNTED] == uncounted]).items():
            for world in WORLDS:
                rows += [(*key, uncounted, world, *effect) for effect in _effects_on(table, world)]
    rows += [(*key, 1, BOTH, *effect) for key, effect in _effects_of_counting(margins)]
    table = pd.DataFrame(rows, columns=[CLAIM, PART, UNCOUNTED, WORLD, EFFECT, HALF, INTERVAL, P])
    unlike = table.drop_duplicates([column for column in table if column != UNCOUNTED]).reset_index(drop=True)
    unlike[SIGNIFICANT] = np.array(holm(unlike[P].tolist())) < SIGNIFICANCE
    return unlike


def _tables(margins: pd.DataFrame) -> dict[tuple[int, str], pd.DataFrame]:
    """By claim and part, a table of margins: a row for each reading of the design, a column for each seed."""
    found = {}
    for (claim, part), rows in margins.groupby([CLAIM, PART], sort=False):
        table = rows.pivot(index=READING, columns=SEED, values=MARGIN)
        found[int(str(claim)), str(part)] = table.reindex(list(readings())).dropna(axis=1)
    return found


def _effects_on(table: pd.DataFrame, world: str) -> Iterator[Effect]:
    """The effects on a part; the model is a mean, the reading and the seed, and the error is the rest."""
    here = in_world(world, np.array([reading[LINK] for reading in readings().values()]))
    chosen = table[here]
    error, freedom = _error(chosen)
    by_reading = chosen.mean(axis=1).to_numpy()
    for name, column in design_columns().items():
        if world == BOTH or (name in NAMES and name != LINK):
            yield _tested(name, float((by_reading * column[here]).mean()), error, freedom)
    yield _over_seeds(_MEAN, chosen.mean(axis=0))


def _error(table: pd.DataFrame) -> tuple[float, int]:
    """The standard error of an effect, and its degrees of freedom; both 0 with one seed."""
    residual = table.sub(table.mean(axis=1), axis=0).sub(table.mean(axis=0), axis=1) + table.to_numpy().mean()
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    return (float(np.sqrt((residual.to_numpy() ** 2).sum() / freedom / table.size)), freedom) if freedom else (0.0, 0)


def _tested(name: str, half: float, error: float, freedom: int) -> Effect:
    """The effect with its test; without any difference between seeds there is no error, and no test."""
    if not error:
        return name, half, float("nan"), 1.0
    width = float(stats.t.ppf(1 - SIGNIFICANCE / 2, freedom)) * error
    return name, half, width, float(2 * stats.t.sf(abs(half) / error, freedom))


def _over_seeds(name: str, by_seed: pd.Series[float]) -> Effect:
    """An effect that is within each reading: its error is between seeds, which all readings share."""
    count = len(by_seed)
    error = float(by_seed.std() / np.sqrt(count)) if count > 1 else 0.0
    return _tested(name, float(by_seed.mean()), error, count - 1)


def _effects_of_counting(margins: pd.DataFrame) -> Iterator[tuple[tuple[int, str], Effect]]:
    """For each part, half the change of its margin if acknowledgements do not count."""
    counted, uncounted = (_tables(margins[margins[UNCOUNTED] == way]) for way in (0, 1))
    for key, table in uncounted.items():
        change = (table - counted[key]).mean(axis=0) / 2
        if (change != 0).any():
            yield key, _over_seeds(UNCOUNTED, change)


def against_predictions(table: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    """A row for each choice and claim: the predicted sign, and those of the significant effects on its parts.

    A sign is empty for none. `found` is over all readings, the others with and without a link layer.
    """
    rows = []
    for claim in (claim for claim in map(str, CLAIMS) if claim in expected):
        for choice in expected.index:
            effect = table[(table[CLAIM] == int(claim)) & (table[EFFECT] == choice)]
            counted = effect if choice == UNCOUNTED else effect[effect[UNCOUNTED] == 0]
            found = (found_signs(counted[counted[WORLD] == world]) for world in WORLDS)
            rows.append((choice, int(claim), expected.loc[choice, claim], *found))
    return pd.DataFrame(rows, columns=["choice", CLAIM, "predicted", "found", LINKED, BARE])


def found_signs(effect: pd.DataFrame) -> str:
    """The signs of the significant effects among these: "+", "-", "+-" or none."""
    halves = effect.loc[effect[SIGNIFICANT], HALF]
    return "".join(sign for sign, there in (("+", (halves > 0).any()), ("-", (halves < 0).any())) if there)


def choices_by_side(table: pd.DataFrame, claim: int, world: str) -> Mapping[str, str]:
    """The choices that help and harm a claim, as words; a choice can do both, on different parts."""
    here = (table[CLAIM] == claim) & (table[WORLD] == world) & (table[UNCOUNTED] == 0) & table[EFFECT].isin(NAMES)
    chosen = table[here & table[SIGNIFICANT]]
    sides = (("helped by", chosen[HALF] > 0), ("harmed by", chosen[HALF] < 0))
    return {side: " ".join(chosen.loc[rows, EFFECT].unique()) for side, rows in sides}
