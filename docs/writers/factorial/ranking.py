"""How many claims to expect under each reading, and what a number of seeds could have seen.

A claim holds with n seeds if the mean of each part's margin is above its interval. The model gives the mean over all
networks with its doubt; seeds add theirs. So each part has a probability, and a claim has the product of its parts'.
That is too low for parts that go together. The sum over claims is the number to expect. Rows left out check it:
expected and found verdicts stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from docs.writers.factorial.design import CONFIRMING, DESIGN, LINK, NAMES, UNCOUNTED, every_reading, signs
from docs.writers.factorial.effects import WORLD, in_world
from docs.writers.factorial.model import OTHERS, Floats, PartModel, Prediction, part_models
from docs.writers.factorial.quantities import CLAIM, PART, SD
from roambus.experiments.claims import SIGNIFICANCE, Verdict

LONGER = CONFIRMING.publish_until / DESIGN.publish_until
"""How much longer confirming runs publish. Seeds vary less in them, beside the margin: by the root of that."""
TOP = 12
SEVERAL = (9, 10)
"""Numbers of claims whose probabilities are given."""
EXPECTED = "expected"
POWER = 0.8
_SPREADS = (np.arange(20) + 0.5) / 20
"""Quantiles at which the spread between seeds is averaged over."""


def holding(at: Prediction, sd: float, seeds: int) -> Floats:
    """The probability that a part is significantly on the claimed side with so many seeds.

    The seeds' mean and spread are independent: the first is normal, the second has Student's degrees of freedom.
    """
    freedom = seeds - 1
    spread = sd * np.sqrt(stats.chi2.ppf(_SPREADS, freedom) / freedom)
    needed = float(stats.t.ppf(1 - SIGNIFICANCE / 2, freedom)) * spread / np.sqrt(seeds)
    error = np.sqrt(at.variance + sd**2 / seeds) + np.finfo(float).tiny
    return np.asarray(stats.norm.sf((needed[:, np.newaxis] - at.mean) / error).mean(axis=0))


def of_claims(parts: Iterable[tuple[int, Floats]]) -> dict[int, Floats]:
    """The probability of each claim from those of its parts."""
    found: dict[int, Floats] = {}
    for claim, probability in parts:
        found[claim] = found.get(claim, np.ones_like(probability)) * probability
    return found


def ranked(rows: pd.DataFrame, seeds: int = CONFIRMING.seed_count) -> pd.DataFrame:
    """All readings and both counts of messages, by the number of claims to expect.

    Columns: the choices, the probability of each claim, `expected`, and those of nine and of ten claims or more. Of
    readings that are equal to two digits the one with fewer changes comes first.
    """
    counted = [ranked_count(part, seeds).assign(**{UNCOUNTED: way}) for way, part in _both_counts(rows)]
    table = pd.concat(counted, ignore_index=True)
    table["changes"] = table[[*NAMES, UNCOUNTED]].sum(axis=1)
    table["rounded"] = table[EXPECTED].round(2)
    ordered = table.sort_values(["rounded", "changes"], ascending=[False, True], kind="stable", ignore_index=True)
    return ordered.drop(columns="rounded")


def _both_counts(rows: pd.DataFrame) -> Iterable[tuple[int, pd.DataFrame]]:
    """The rows of each count; a claim that the second one lacks is not about messages, and the same in both."""
    first, other = (rows[rows[UNCOUNTED] == way] for way in (0, 1))
    alike = first[~first[CLAIM].isin(other[CLAIM])]
    return ((0, first), (1, pd.concat([other, alike])))


def ranked_count(rows: pd.DataFrame, seeds: int) -> pd.DataFrame:
    """The same for one count of messages, in the order of `every_reading`."""
    readings = every_reading()
    by_claim: dict[int, Floats] = {}
    models = part_models(rows)
    for world in {model.world for model in models}:
        here = in_world(world, readings[LINK])
        asked = signs(readings)[OTHERS].to_numpy(dtype=float)[here]
        parts = ((m.claim, holding(m.at(asked), m.sd / np.sqrt(LONGER), seeds)) for m in models if m.world == world)
        for claim, probability in of_claims(parts).items():
            by_claim.setdefault(claim, np.zeros(len(readings)))[here] = probability
    every = np.array(list(by_claim.values()))
    named = {f"claim {claim}": probability for claim, probability in by_claim.items()}
    several = {f"{number} or more": at_least(every, number) for number in SEVERAL}
    return readings.assign(**named, **{EXPECTED: every.sum(axis=0)}, **several)


def at_least(probabilities: Floats, number: int) -> Floats:
    """The probability of so many claims or more, a row of probabilities each claim; claims count as independent."""
    counts = np.zeros((len(probabilities) + 1, probabilities.shape[1]))
    counts[0] = 1
    for each in probabilities:
        counts[1:] = counts[1:] * (1 - each) + counts[:-1] * each
        counts[0] *= 1 - each
    return np.asarray(counts[number:].sum(axis=0))


def top(table: pd.DataFrame, number: int = TOP, name: str = "top") -> pd.DataFrame:
    """The readings to run, the highest first, each once: runs are the same for both counts of messages."""
    chosen = table.drop_duplicates(NAMES).head(number).reset_index(drop=True)
    chosen.insert(0, "name", [f"{name}-{place:02}" for place in range(1, len(chosen) + 1)])
    return chosen


# How the model does on rows left out, and power


def verdicts_left_out(models: Sequence[PartModel], said: pd.DataFrame) -> pd.DataFrame:
    """For each claim and world, verdicts "holds" that the model expects of rows left out, and those found.

    `said` has the verdicts that were found, by reading, in columns such as "claim 13".
    """
    rows = []
    for claim, world in dict.fromkeys((model.claim, model.world) for model in models):
        parts = [model for model in models if (model.claim, model.world) == (claim, world)]
        expected = np.prod([_expected(model) for model in parts], axis=0)
        found = (said.loc[parts[0].rows, f"claim {claim}"] == Verdict.HOLDS.value).to_numpy()
        rows.append((claim, world, float(expected.sum()), int(found.sum()), float(((expected - found) ** 2).mean())))
    return pd.DataFrame(rows, columns=[CLAIM, WORLD, EXPECTED, "found", "squared error"])


def _expected(model: PartModel) -> Floats:
    wide = Prediction(model.without.mean, model.without.variance * model.widening**2)
    return holding(wide, model.sd, max(2, round(float(stats.hmean(model.seeds)))))


def power_table(models: Sequence[PartModel], seeds: Sequence[int] = (3, 10, 30)) -> pd.DataFrame:
    """For each part and world: the margin that so many seeds see with 80 %, and the rows that lean by less.

    A row leans if its mean is on the claimed side.
    """
    found = []
    for model in models:
        leaning = model.means[model.means > 0]
        seen = [detectable(model.sd, number) for number in seeds]
        missed = [int((leaning < least).sum()) for least in seen]
        found.append((model.claim, model.part, model.world, model.sd, len(leaning), *seen, *missed))
    columns = [f"{what} {number} seeds" for what in ("seen with", "leaning, unseen with") for number in seeds]
    return pd.DataFrame(found, columns=[CLAIM, PART, WORLD, SD, "leaning", *columns])


def detectable(sd: float, seeds: int, power: float = POWER) -> float:
    """The margin at which a part is significant with this probability."""
    margins = np.linspace(0, 10, 2001) * sd
    seen = holding(Prediction(margins, np.zeros_like(margins)), sd, seeds) >= power
    return float(margins[np.argmax(seen)]) if sd else 0.0
