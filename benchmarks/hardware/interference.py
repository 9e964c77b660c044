"""Fits the interference of a place to a recording, and simulates it.

python -m benchmarks.hardware.interference FILE.k7.gz ...

A testbed measures in rounds, in which every node sends on every channel; between two rounds it waits. Every second
round of a recording is fitted; errors are given for the rounds between, which are held back. (Clock hours would not do:
some rounds go on into the next hour, which then has other channels.)

The receiver is that of `fitting`: bit errors of PSK in noise, and bursts of others that hit a share of the frames with
normally distributed powers. Bins of strength count by how many bursts of frames they hold. Intervals are of 95 %, from
fits to rounds that are drawn anew (the bootstrap).

A number that the recording does not determine is reported as degenerate, with the reason: the noise, if no burst was
weak enough to have bit errors; share and power of hits, if hardly any frame is hit, or all are. Then there are no keys,
because they count powers from the noise. `--noise` gives the noise of another testbed with the same receivers.

The fit becomes the keys SN.interference.* of the embedded radio. A share of hits does not separate lengths and rates,
so that `--length` gives the length. Then fields of nodes, which send as the testbed's did and without
sensing, are recorded on the embedded radio, and their delivery stands beside the one of the rounds held back: over the
strength in dB above the place where noise alone takes half of the frames.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from benchmarks.hardware.bursts import FACTORIES, Plan, record
from benchmarks.hardware.fitting import FRAME_BITS, Receiver
from benchmarks.hardware.statistics import Curve, curve_of, part_of, sample_of
from roambus.bridge.formats.recordings import Recording, read_k7
from roambus.bridge.system.errors import RoambusError
from roambus.experiments.templates.variables import Scalar
from roambus.python_protocol.simtime import SECOND

PAUSE = 900 * SECOND
"""A round is over when no node has sent for this time."""
DRAWS = 40
"""Fits to drawn rounds; an interval is from the second to the second last but one."""
FRAME_S = FRAME_BITS / 250_000
HALF_DB = 6.96
"""So far above the noise half of the frames have no bit error."""
MODEL_NOISE_DBM = -100 - 10 * math.log10(194 / 250)
"""The CC2420's noise floor, as the receiver here has it, which knows no noise bandwidth."""
FEWEST_HIT, MOST_APART_DB = 0.01, 6.0
"""Less is next to nothing; an interval wider than this determines no power."""
FIELDS = (20.0, 40.0, 60.0)
ROWS = 12
FAR_DB, CLEAR_DB = 15, 4
AIRS = [(busy, power) for busy in (0.05, 0.4) for power in (-75.0, -55.0)]


class Fit(NamedTuple):
    """A receiver, and the receivers of drawn rounds."""

    receiver: Receiver
    drawn: Sequence[Receiver]
    weakest_dbm: float
    noise_is_given: bool

    def interval(self, name: str) -> tuple[float, float]:
        """Of 95 %."""
        low, high = np.quantile([getattr(estimate, name) for estimate in self.drawn], (0.025, 0.975))
        return float(low), float(high)

    def degenerate(self) -> Iterator[str]:
        """The numbers that the recording does not determine, in words."""
        errors = 1 - Receiver(self.receiver.noise_dbm).delivery(np.array([self.weakest_dbm]))[0]
        if errors < FEWEST_HIT and not self.noise_is_given:
            yield f"noise_dbm: at {self.weakest_dbm:.0f} dBm, the weakest strength, it costs {errors:.4f} of the frames"
        low, high = self.interval("interferer_dbm")
        # Where noise takes frames, interferers can stand for a form of the curve that is not quite that of PSK.
        clear_dbm = max(self.weakest_dbm, self.receiver.noise_dbm + HALF_DB + CLEAR_DB)
        hit = 1 - self.receiver.delivery(np.array([clear_dbm]))[0]
        if hit < FEWEST_HIT or self.receiver.busy > 1 - FEWEST_HIT or high - low > MOST_APART_DB:
            share = f"{self.receiver.busy:.3f} of the frames meet a burst, {hit:.3f} of those above the noise are lost"
            yield f"busy, interferer_dbm: {share}, half at {low:.0f} to {high:.0f} dBm"


def rounds_of(recording: Recording) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The round of each row, and the rounds that are fitted: every second one."""
    times = np.unique(recording.rows["at"])
    ends = times[:-1][np.diff(times) > PAUSE]
    found = np.searchsorted(ends, recording.rows["at"])
    return found, np.arange(0, len(ends) + 1, 2)


def fit(recording: Recording, noise_dbm: float | None = None, draws: int = DRAWS) -> Fit:
    """Fits every second round."""
    number, fitted = rounds_of(recording)
    curve = curve_of(part_of(recording, np.isin(number, fitted)))
    best = fit_weighted(curve, noise_dbm)
    random, drawn = np.random.default_rng(0), []
    for _ in range(draws):
        again = random.choice(fitted, len(fitted))
        rows = np.concatenate([np.flatnonzero(number == round_number) for round_number in again])
        drawn.append(fit_weighted(curve_of(part_of(recording, rows)), noise_dbm, best))
    return Fit(best, drawn, float(curve.dbm[0]), noise_dbm is not None)


def fit_weighted(curve: Curve, noise_dbm: float | None = None, start: Receiver | None = None) -> Receiver:
    """The receiver that comes nearest to the means of a curve, bins weighted by their bursts.

    The noise is given, or at most so low that the weakest bin has no errors: below that nothing changes.
    """
    weights = curve.bursts / curve.bursts.sum()
    weakest = float(curve.dbm[0])

    def receiver(values: NDArray[np.float64]) -> Receiver:
        noise, busy, power, spread = map(float, values)
        noise = max(noise, weakest - FAR_DB) if noise_dbm is None else noise_dbm
        return Receiver(noise, *np.clip((busy, power, abs(spread)), (0, -120, 0.1), (1, 20, 40)).tolist())

    def error(values: NDArray[np.float64]) -> float:
        return float(weights @ (receiver(values).delivery(curve.dbm) - curve.mean) ** 2)

    starts = [tuple(start)] if start else [(weakest + up, *air, 10.0) for up in (-8, 0) for air in AIRS]
    found = [minimize(error, first_guess, method="Nelder-Mead", options={"maxiter": 2000}) for first_guess in starts]
    return receiver(min(found, key=lambda minimum: float(minimum.fun)).x)


def weighted_error(delivery: NDArray[np.float64], measured: NDArray[np.float64], bursts: NDArray[np.int64]) -> float:
    """Mean distance between two curves, over their bursts; NaN if one has no value somewhere."""
    return float(np.average(np.abs(delivery - measured), weights=bursts)) if len(bursts) else math.nan


def keys_of(receiver: Receiver, length_ms: float) -> dict[str, Scalar]:
    """The variables of the templates that make the embedded radio's air like this receiver's."""
    length = length_ms / 1000

    def hit(pause: float) -> float:
        return 1 - pause / (pause + length) * math.exp(-FRAME_S / pause) - receiver.busy

    pause = float(brentq(hit, 1e-5, 1e4)) if receiver.busy > 1e-6 else math.inf
    power = receiver.interferer_dbm - receiver.noise_dbm - HALF_DB + MODEL_NOISE_DBM + 10 * math.log10(194 / 250)
    return {
        "interference": round(1 / pause, 4),
        "interference_length": length_ms,
        "interference_power": round(power, 2),
        "interference_spread": round(receiver.spread_db, 2),
    }


def simulated(keys: Mapping[str, Scalar], nodes: int, seeds: int) -> Curve:
    """Delivery over strength on the embedded radio, in fields of several sizes."""
    plans = [Plan(nodes, side, 2, 5.0, more=keys, senses=False) for side in FIELDS]
    return curve_of(sample_of(*(record(FACTORIES["radio"], plan, seed) for plan in plans for seed in range(seeds))))


def report(file: Path, asked: argparse.Namespace) -> None:
    """Prints fit, errors, keys and the table; raises RoambusError, OSError."""
    recording = read_k7(file)
    number, fitted = rounds_of(recording)
    is_fitted = np.isin(number, fitted)
    own, held = curve_of(part_of(recording, is_fitted)), curve_of(part_of(recording, ~is_fitted))
    found = fit(recording, asked.noise)
    print(f"\n{file.name}: {len(fitted)} rounds fitted, {len(np.unique(number)) - len(fitted)} held back")
    for name in Receiver._fields:
        low, high = found.interval(name)
        print(f"  {name} {getattr(found.receiver, name):.3g} ({low:.3g} to {high:.3g})")
    curves = {
        "noise alone": Receiver(found.receiver.noise_dbm).delivery(held.dbm),
        "fitted": found.receiver.delivery(held.dbm),
        "the fitted rounds": np.interp(held.dbm, own.dbm, own.mean),
    }
    problems = list(found.degenerate())
    for problem in problems:
        print(f"  degenerate: {problem}")
    if not problems:
        keys = keys_of(found.receiver, asked.length)
        print("  " + " ".join(f"--set {name}={value}" for name, value in keys.items()))
        curves["simulated"] = over_the_noise(simulated(keys, asked.nodes, asked.seeds), held, found.receiver)
    print_errors(held, curves)
    print_table(held, found.receiver.noise_dbm + HALF_DB, curves)


def over_the_noise(model: Curve, held: Curve, receiver: Receiver) -> NDArray[np.float64]:
    """The delivery of a model at a curve's strengths, counted from the noise of each; NaN beyond what it has."""
    at = np.asarray(held.dbm - receiver.noise_dbm)
    return np.interp(at, model.dbm - MODEL_NOISE_DBM, model.mean, left=math.nan, right=math.nan)


def print_errors(held: Curve, curves: Mapping[str, NDArray[np.float64]]) -> None:
    """Mean distances from the rounds held back: over all bursts, and over those whose strengths all curves have."""
    shared = ~np.isnan(sum(curves.values()))
    part = held.bursts[shared].sum() / held.bursts.sum()
    print(f"  error on the rounds held back, and on those {part:.2f} of their bursts whose strengths were simulated:")
    for name, delivery in curves.items():
        near = weighted_error(delivery[shared], held.mean[shared], held.bursts[shared])
        print(f"    {name}: {weighted_error(delivery, held.mean, held.bursts):.4f}, {near:.4f}")


def print_table(held: Curve, half_dbm: float, curves: Mapping[str, NDArray[np.float64]]) -> None:
    """Some strengths, and the delivery of each curve there."""
    print(f"  | dB above 0.5 | bursts | held back | {' | '.join(curves)} |\n  |{'---|' * (3 + len(curves))}")
    for k in range(0, len(held.dbm), max(1, len(held.dbm) // ROWS)):
        cells = ("" if math.isnan(curve[k]) else f"{curve[k]:.3f}" for curve in curves.values())
        print(f"  | {held.dbm[k] - half_dbm:.0f} | {held.bursts[k]} | {held.mean[k]:.3f} | {' | '.join(cells)} |")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="recordings in the K7 format")
    parser.add_argument("--length", type=float, default=1.0, help="mean length of a burst in ms (1)")
    parser.add_argument("--noise", type=float, help="the receivers' noise in dBm, instead of fitting it")
    parser.add_argument("--nodes", type=int, default=20, help="nodes of each simulated field (20)")
    parser.add_argument("--seeds", type=int, default=2, help="simulated fields of each size (2)")
    asked = parser.parse_args(arguments)
    try:
        for file in asked.files:
            report(file, asked)
    except (RoambusError, OSError) as error:
        print(f"interference: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
