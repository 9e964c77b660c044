"""The ten claims of the thesis' section 4.5, each with one precise reading that was fixed before any run.

Claims about a named size or speed need exactly that point. Claims about every size or speed are tested on those that
were measured. Delivery rate means the thesis' (delivered of attempted), as in its figure 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.evidence import Part, Side, Verdict, judge, make_part
from experiments.measurements import CONFIG, SPEED, Measurements
from spark import catalogue as c
from spark.layout import AGENT, SEED

MFT, AODV = "mft", "aodv"
_SPEED = "8"
"""The speed, in m/s, of the thesis' figures 4.5a to 4.8."""
_FALL = -0.05
"""Claim 2: a change of the rate of less than 5 points over all speeds is no fall."""
_TWICE = 1.0
"""Claim 6: in powers of 2. Up to twice the delay is keeping up, on the logarithmic axis of figure 4.6."""
_EXPLODES, _BARELY = 1.0, 0.25
"""Claim 9, as exponents of size: growing faster than the network itself; at most doubling from C2 to C32."""


class _NotMeasuredError(Exception):
    """What is missing for a claim."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with its reading, the verdict, and the numbers behind it (or what is missing)."""

    number: int
    text: str
    reading: str
    verdict: Verdict
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Test:
    text: str
    reading: str
    parts: Callable[[Measurements], Iterable[Part]]


def check_claims(measured: Measurements) -> list[Claim]:
    """The verdict on each claim; empty for a sweep that is not the thesis'."""
    if not measured.is_thesis():
        return []
    return [_check(number, test, measured) for number, test in enumerate(_TESTS, start=1)]


def _check(number: int, test: _Test, measured: Measurements) -> Claim:
    try:
        parts = list(test.parts(measured))
    except _NotMeasuredError as missing:
        return Claim(number, test.text, test.reading, Verdict.NOT_MEASURED, (str(missing),))
    return Claim(number, test.text, test.reading, judge(parts), tuple(str(part) for part in parts))


def format_claims(claims: Sequence[Claim]) -> str:
    """The claims as lines of text: verdict, claim, reading, numbers."""
    return "\n".join(
        "\n".join([f"{claim.number:2}. {claim.verdict.value}: {claim.text}", *_indented(claim)]) for claim in claims
    )


def _indented(claim: Claim) -> list[str]:
    return [f"      {line}" for line in (claim.reading, *claim.evidence)]


# Tables: a row a seed


def _table(
    measured: Measurements, agent: str, metric: str, configs: Sequence[str], speeds: Sequence[str]
) -> pd.DataFrame:
    """The metric with a column for each (config, speed); seeds that lack a value for any of them are left out."""
    runs = measured.runs[measured.runs[AGENT] == agent]
    columns = [(config, speed) for config in configs for speed in speeds]
    table = runs.pivot(index=SEED, columns=[CONFIG, SPEED], values=metric)
    absent = [f"{agent} at {config} and {speed} m/s" for config, speed in columns if (config, speed) not in table]
    if absent:
        raise _NotMeasuredError(f"there are no runs of {', '.join(absent)}")
    complete = table[columns].astype(float).dropna()
    if complete.empty:
        raise _NotMeasuredError(f"no seed has {c.TITLES[metric]} of {agent} everywhere it is needed")
    return complete


def _mean_by(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """A column for each value of the axis: the mean over the other axis."""
    return table.T.groupby(level=axis, sort=False).mean().T


def _slopes(table: pd.DataFrame, x: Sequence[float]) -> pd.Series[float]:
    """The least-squares slope of each row over x, one value a column."""
    if len(x) < 2:
        raise _NotMeasuredError("a trend needs at least two values of the axis")
    centred = np.asarray(x) - np.mean(x)
    return pd.Series(table.to_numpy() @ centred / (centred @ centred), table.index)


def _log2(table: pd.DataFrame) -> pd.DataFrame:
    """The logarithm of each value; none of 0."""
    return table.where(table > 0).transform(np.log2)


def _doublings(configs: Sequence[str]) -> list[float]:
    """The sizes of configurations C2, C4, ... in doublings: 1, 2, ..."""
    try:
        return [float(np.log2(int(config.removeprefix("C")))) for config in configs]
    except ValueError:
        raise _NotMeasuredError(f"sizes are read from names such as C16, not {', '.join(configs)}") from None


def _difference(measured: Measurements, agents: tuple[str, str], metric: str, at: tuple[str, str]) -> pd.Series[float]:
    """First agent minus second at (config, speed), by seed."""
    first, second = (_table(measured, agent, metric, at[:1], at[1:])[at] for agent in agents)
    return (first - second).dropna()


# The claims


def _falls_with_size(measured: Measurements) -> Iterable[Part]:
    configs, speeds = measured.values(CONFIG), measured.values(SPEED)
    for agent in (MFT, AODV):
        by_config = _mean_by(_table(measured, agent, c.DELIVERY_RATE_THESIS, configs, speeds), CONFIG)
        label = f"{agent}: change of the rate a doubling, {configs[0]} to {configs[-1]}"
        yield make_part(label, _slopes(by_config, _doublings(configs)), Side.BELOW)


def _withstands_speed(measured: Measurements) -> Iterable[Part]:
    configs, speeds = measured.values(CONFIG), measured.values(SPEED)
    by_speed = _mean_by(_table(measured, MFT, c.DELIVERY_RATE_THESIS, configs, speeds), SPEED)
    numbers = [float(speed) for speed in speeds]
    label = f"mft: change of the rate from {min(numbers):g} to {max(numbers):g} m/s, {configs[0]} to {configs[-1]}"
    yield make_part(label, _slopes(by_speed, numbers) * (max(numbers) - min(numbers)), Side.ABOVE, _FALL)


def _number_against_rate(measured: Measurements) -> Iterable[Part]:
    at = ("C32", _SPEED)
    delivered = _difference(measured, (AODV, MFT), c.DELIVERED, at)
    yield make_part("messages delivered, aodv minus mft", delivered, Side.ABOVE)
    rate = _difference(measured, (MFT, AODV), c.DELIVERY_RATE_THESIS, at)
    yield make_part("delivery rate, mft minus aodv", rate, Side.ABOVE)


def _more_at_every_speed(measured: Measurements) -> Iterable[Part]:
    for speed in measured.values(SPEED):
        more = _difference(measured, (MFT, AODV), c.DELIVERED, ("C16", speed))
        yield make_part(f"{speed} m/s: messages delivered, mft minus aodv", more, Side.ABOVE)


def _peaks_at_six(measured: Measurements) -> Iterable[Part]:
    speeds = sorted(measured.values(SPEED), key=float)
    if "6" not in speeds:
        raise _NotMeasuredError("there are no runs at 6 m/s")
    peak = speeds.index("6")
    for side, part in ((Side.ABOVE, speeds[: peak + 1]), (Side.BELOW, speeds[peak:])):
        slopes = _slopes(_table(measured, MFT, c.DELIVERED, ["C16"], part), [float(speed) for speed in part])
        yield make_part(f"messages delivered for each m/s more, {part[0]} to {part[-1]} m/s", slopes, side)


def _keeps_up_in_delay(measured: Measurements) -> Iterable[Part]:
    configs = measured.values(CONFIG)
    mft, aodv = (_table(measured, agent, c.DELAY_MEAN_S, configs, [_SPEED]) for agent in (MFT, AODV))
    ratio = (_log2(mft) - _log2(aodv)).dropna().mean(axis=1)
    yield make_part(f"doublings of delay, mft over aodv, {configs[0]} to {configs[-1]}", ratio, Side.BELOW, _TWICE)


def _most_hops_at_c4(measured: Measurements) -> Iterable[Part]:
    configs = measured.values(CONFIG)
    others = [config for config in configs if config != "C4"]
    if not others:
        raise _NotMeasuredError("there is no size but C4 to compare with")
    table = _table(measured, AODV, c.HOPS_MEAN, ["C4", *others], [_SPEED])
    for config in others:
        more = table["C4", _SPEED] - table[config, _SPEED]
        yield make_part(f"mean hops, C4 minus {config}", more, Side.ABOVE)


def _fewer_messages_at_c2(measured: Measurements) -> Iterable[Part]:
    fewer = _difference(measured, (AODV, MFT), c.MESSAGES_PER_NODE, ("C2", _SPEED))
    yield make_part("messages per node, aodv minus mft", fewer, Side.BELOW)


def _growth_of_messages(measured: Measurements) -> Iterable[Part]:
    configs = measured.values(CONFIG)
    per_node = {agent: _table(measured, agent, c.MESSAGES_PER_NODE, configs, [_SPEED]) for agent in (MFT, AODV)}
    exponent = {agent: _slopes(_log2(table), _doublings(configs)) for agent, table in per_node.items()}
    yield make_part("exponent of size, aodv", exponent[AODV], Side.ABOVE, _EXPLODES)
    yield make_part("exponent of size, mft (upwards)", exponent[MFT], Side.BELOW, _BARELY)
    yield make_part("exponent of size, mft (downwards)", exponent[MFT], Side.ABOVE, -_BARELY)


def _brokers_send_more(measured: Measurements) -> Iterable[Part]:
    place = measured.values(CONFIG), measured.values(SPEED)
    brokers = _table(measured, MFT, c.MESSAGES_PER_BROKER, *place)
    for clients, metric in (("publisher", c.MESSAGES_PER_PUBLISHER), ("subscriber", c.MESSAGES_PER_SUBSCRIBER)):
        more = (brokers - _table(measured, MFT, metric, *place)).mean(axis=1)
        yield make_part(f"messages per broker minus messages per {clients}", more, Side.ABOVE)


_TESTS = (
    _Test(
        "Delivery falls as the network grows, for both protocols.",
        "The slope of the delivery rate over doublings of the size, mean over speeds, is below 0 for each protocol.",
        _falls_with_size,
    ),
    _Test(
        "MFT-PubSub's delivery rate does not fall with speed.",
        "From the slowest to the fastest speed, by least squares and mean over sizes, the rate loses less than 0.05.",
        _withstands_speed,
    ),
    _Test(
        "At C32 and 8 m/s AODV delivers more messages, MFT-PubSub the higher rate.",
        "With equal seeds, AODV's messages delivered are more than MFT-PubSub's, and its delivery rate is lower.",
        _number_against_rate,
    ),
    _Test(
        "At C16 MFT-PubSub delivers more than AODV at every speed.",
        "With equal seeds, MFT-PubSub's messages delivered are more than AODV's at each speed measured.",
        _more_at_every_speed,
    ),
    _Test(
        "At C16 MFT-PubSub's messages delivered rise to about 6 m/s, then fall.",
        "The slope of messages delivered over speed is above 0 up to 6 m/s, and below 0 from 6 m/s on.",
        _peaks_at_six,
    ),
    _Test(
        "MFT-PubSub keeps up with AODV in delay.",
        "With equal seeds, at 8 m/s and in the geometric mean over sizes, its mean delay is less than twice AODV's.",
        _keeps_up_in_delay,
    ),
    _Test(
        "AODV takes more hops at C4 than elsewhere.",
        "With equal seeds, at 8 m/s its mean hops at C4 are more than at each other size measured.",
        _most_hops_at_c4,
    ),
    _Test(
        "At C2 AODV needs fewer messages than MFT-PubSub.",
        "With equal seeds, at C2 and 8 m/s AODV's messages per node are fewer.",
        _fewer_messages_at_c2,
    ),
    _Test(
        "AODV's messages per node explode with size, MFT-PubSub's barely change.",
        "At 8 m/s messages per node grow as size to a power above 1 for AODV, between -0.25 and 0.25 for MFT-PubSub.",
        _growth_of_messages,
    ),
    _Test(
        "In MFT-PubSub brokers send more than clients.",
        "Over all points, a broker's messages are more than a publisher's and more than a subscriber's.",
        _brokers_send_more,
    ),
)
