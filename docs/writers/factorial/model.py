"""A model that predicts a margin under readings that were not run, with intervals that fit rows left out.

Readings with and without a link layer are modelled apart. Each group has its own mean, effects of the other choices and
of their pairs, and rest. So a choice's effect under a link layer is no average over both.

The design cannot separate all pairs, and a model of main effects with their error alone is too sure. Here effects are
random (kriging, or a Gaussian process over the choices). Those of single choices have one variance, those of pairs
another, and the rest a third. An effect that shares its column with others is shared out by these variances, and the
interval has the doubt that remains. The variances are not known either: each set of a grid weighs by its restricted
likelihood.

An interval is checked by rows left out: the model is fitted without a row and predicts it. If these errors are larger
than their intervals say, all intervals of the part are widened by that factor.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from docs.writers.factorial.design import LINK, NAMES, signs
from docs.writers.factorial.effects import BARE, LINKED, in_world
from docs.writers.factorial.quantities import CLAIM, MEAN, PART, READING, SEEDS, pooled_sd

Floats = npt.NDArray[np.floating[Any]]
OTHERS = [name for name in NAMES if name != LINK]
"""The choices within a world: all but the link layer."""
_GRID = tuple(itertools.product((0.1, 0.3, 1.0, 3.0), (0.001, 0.1, 0.3, 1.0), (0.001, 0.03, 0.3)))
"""Variances of the choices' effects together, of the pairs' together, and of the rest, in variances of the rows."""
_NEGLIGIBLE = 1e-2
"""A set of variances that weighs less than this share of the best one is left out."""
_CONFIDENCE = 0.95
_ROUNDING = 1e-9
"""Rows that differ by less than this share are equal."""


class Prediction(NamedTuple):
    """Means and variances of the margin over all networks, one each reading."""

    mean: Floats
    variance: Floats


def predict(run: Floats, means: Floats, noise: Floats, asked: Floats) -> Prediction:
    """Predict margins at the asked readings (rows of -1 and 1) from the mean margins of those that were run.

    `noise` is the variance of each such mean between seeds. Readings have their seeds in common, so this error does
    not average out, and its mean counts again.
    """
    scale = max(float(means.var()), (_ROUNDING * float(np.abs(means).max())) ** 2, np.finfo(float).tiny ** 0.5)
    covariances, towards = _kernels(run, run), _kernels(asked, run)
    fits = [_fit(covariances, means, noise, scale, variances) for variances in _GRID]
    weights = np.exp(np.array([fit.likelihood for fit in fits]) - max(fit.likelihood for fit in fits))
    kept = [(fit, weight) for fit, weight in zip(fits, weights, strict=True) if weight > _NEGLIGIBLE]
    every = [fit.at(towards) for fit, _ in kept]
    shares = np.array([weight for _, weight in kept]) / sum(weight for _, weight in kept)
    mean = shares @ np.array([each.mean for each in every])
    between = shares @ (np.array([each.mean for each in every]) - mean) ** 2
    return Prediction(mean, shares @ np.array([each.variance for each in every]) + between + noise.mean())


def _kernels(first: Floats, other: Floats) -> tuple[Floats, Floats]:
    """How far readings share their choices, and their pairs of choices; from -1 to 1 each."""
    count = first.shape[1]
    products = first @ other.T
    return products / count, (products**2 - count) / (count * (count - 1))


@dataclass(frozen=True, slots=True)
class _Fit:
    """The model under one set of variances."""

    mean: float
    weights: Floats
    inverse: Floats
    of_choices: float
    of_pairs: float
    rest: float
    likelihood: float

    def at(self, towards: tuple[Floats, Floats]) -> Prediction:
        """Predict with the covariances between asked readings and those that were run."""
        covariance = self.of_choices * towards[0] + self.of_pairs * towards[1]
        lacking = 1 - covariance @ self.inverse.sum(axis=1)
        known = np.einsum("ij,jk,ik->i", covariance, self.inverse, covariance)
        prior = self.of_choices + self.of_pairs + self.rest
        mean = self.mean + covariance @ self.weights
        return Prediction(mean, prior - known + lacking**2 / self.inverse.sum())


def _fit(
    kernels: tuple[Floats, Floats], means: Floats, noise: Floats, scale: float, variances: tuple[float, float, float]
) -> _Fit:
    of_choices, of_pairs, rest = (scale * variance for variance in variances)
    covariance = of_choices * kernels[0] + of_pairs * kernels[1] + np.diag(rest + noise)
    inverse = np.linalg.inv(covariance)
    mean = float((inverse @ means).sum() / inverse.sum())
    weights = inverse @ (means - mean)
    determinant = float(np.linalg.slogdet(covariance)[1])
    likelihood = -0.5 * (determinant + np.log(inverse.sum()) + (means - mean) @ weights)
    return _Fit(mean, weights, inverse, of_choices, of_pairs, rest, float(likelihood))


def left_out(run: Floats, means: Floats, noise: Floats) -> Prediction:
    """Predict each row from the others, with the error of its own seeds."""
    found = []
    for row in range(len(means)):
        others = np.arange(len(means)) != row
        mean, variance = predict(run[others], means[others], noise[others], run[row : row + 1])
        found.append((mean, variance - noise[others].mean() + noise[row]))
    return Prediction(*map(np.concatenate, zip(*found, strict=True)))


def quantile(rows: int) -> float:
    """Half of a 95 % interval in standard errors, by Student's t, from this many rows."""
    return float(stats.t.ppf((1 + _CONFIDENCE) / 2, rows - 1))


@dataclass(frozen=True, slots=True)
class PartModel:
    """The model of one part of a claim in one world, and how it does on rows left out."""

    claim: int
    part: str
    world: str
    rows: list[str]
    """The names of the readings that were run."""
    signs: Floats
    means: Floats
    sd: float
    """The standard deviation between seeds."""
    seeds: Floats
    """The number of seeds of each row."""
    without: Prediction
    """The prediction of each row from the others."""

    @property
    def noise(self) -> Floats:
        """The variance of each row's mean."""
        return self.sd**2 / self.seeds

    @property
    def covered(self) -> int:
        """Rows inside of the interval that the others give, before intervals are widened."""
        return int((np.abs(self.errors) <= quantile(len(self.means) - 1)).sum())

    @property
    def errors(self) -> Floats:
        """The errors of rows left out, in standard errors; 0 if there is no error at all."""
        spread = np.sqrt(self.without.variance)
        missed = self.means - self.without.mean
        return np.divide(missed, spread, out=np.zeros_like(missed), where=spread > 0)

    @property
    def widening(self) -> float:
        """The factor of all intervals of this part: never below 1."""
        return max(1.0, float(np.sqrt((self.errors**2).mean())))

    def at(self, asked: Floats) -> Prediction:
        """Predict with variances as wide as rows left out ask for."""
        plain = predict(self.signs, self.means, self.noise, asked)
        return Prediction(plain.mean, plain.variance * self.widening**2)


def foreseen(models: list[PartModel], rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each part of readings that were run later: its mean, and the interval that the models give it.

    Rows left out of a design share its chains, so they cannot contradict the pair of a chain that the model chose.
    Readings outside of the design can. The interval has the error of their own seeds as well.
    """
    found = []
    for model in models:
        here = rows[(rows[CLAIM] == model.claim) & (rows[PART] == model.part) & in_world(model.world, rows[LINK])]
        at = model.at(signs(here)[OTHERS].to_numpy(dtype=float))
        half = quantile(len(model.means)) * np.sqrt(at.variance + model.sd**2 / here[SEEDS].to_numpy(dtype=float))
        inside = np.abs(here[MEAN].to_numpy() - at.mean) <= half
        found += [
            (model.claim, model.part, *row)
            for row in zip(here[READING], here[MEAN], at.mean, half, inside, strict=True)
        ]
    return pd.DataFrame(found, columns=[CLAIM, PART, READING, MEAN, "predicted", "half width", "inside"])


def part_models(rows: pd.DataFrame) -> list[PartModel]:
    """A model for each part and world, from `row_means` of one count of messages with a column for each choice."""
    models = []
    for (claim, part), of_part in rows.groupby([CLAIM, PART], sort=False):
        for world in (LINKED, BARE):
            here = of_part[in_world(world, of_part[LINK])]
            models.append(_part_model(int(str(claim)), str(part), world, here))
    return models


def _part_model(claim: int, part: str, world: str, rows: pd.DataFrame) -> PartModel:
    run, means = signs(rows)[OTHERS].to_numpy(dtype=float), rows[MEAN].to_numpy(dtype=float)
    # A mean varies between rows by its seeds at least; an error pooled over both worlds can be too large for one.
    seeds = rows[SEEDS].to_numpy(dtype=float)
    sd = min(pooled_sd(rows), float(np.sqrt(means.var(ddof=1) * stats.hmean(seeds))))
    names = [str(name) for name in rows[READING]]
    return PartModel(claim, part, world, names, run, means, sd, seeds, left_out(run, means, sd**2 / seeds))


def coverage_table(models: list[PartModel]) -> pd.DataFrame:
    """A row for each model: its mean, the spread of its rows, rows left out that its interval has, and the widening."""
    rows = [
        (
            model.claim,
            model.part,
            model.world,
            float(model.means.mean()),
            float(model.means.std(ddof=1)),
            model.sd,
            len(model.means),
            model.covered,
            model.widening,
        )
        for model in models
    ]
    head = [CLAIM, PART, "readings", MEAN, "sd of rows", "sd of seeds", "rows", "covered", "widening"]
    return pd.DataFrame(rows, columns=head)
