"""What else the thesis' section 4.5 and conclusion 5.1 say about the figures, read like the ten claims.

These readings were fixed after small runs had been seen. So they stay apart from the ten of
`roambus.experiments.studies.thesis.claims`, which were fixed before any run.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from roambus.experiments.evidence.claim import Claim, ClaimTest, check
from roambus.experiments.evidence.rule import Part, Side, make_part
from roambus.experiments.measurements.by_seed import NotMeasuredError, slopes
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.studies.thesis.size_and_speed import (
    AODV,
    CONFIG,
    MFT,
    SPEED,
    THESIS_SPEED,
    mean_by,
    seed_table,
)
from roambus.spark.metrics import catalogue as c

FIRST = 11
"""The number of the first one: they come after the ten."""
_MOSTLY = 0.5
"""Claim 15: what is mostly the cause is more than half of it."""


def check_further_claims(measured: Measurements) -> list[Claim]:
    """The verdict on each of them."""
    return check(FURTHER_CLAIMS, measured, FIRST)


def _change_with_speed(measured: Measurements, agent: str) -> pd.Series[float]:
    """The change of the rate from the slowest to the fastest speed, one value for each seed.

    It is that of a straight line by least squares through the means over sizes.
    """
    configs, speeds = measured.values(CONFIG), measured.values(SPEED)
    by_speed = mean_by(seed_table(measured, agent, c.DELIVERY_RATE_THESIS, configs, speeds), SPEED)
    numbers = [float(speed) for speed in speeds]
    return slopes(by_speed, numbers) * (max(numbers) - min(numbers))


def _improves_with_speed(measured: Measurements) -> Iterable[Part]:
    yield make_part("mft: change of the rate, slowest to fastest", _change_with_speed(measured, MFT), Side.ABOVE)


def _more_resilient(measured: Measurements) -> Iterable[Part]:
    better = _change_with_speed(measured, MFT) - _change_with_speed(measured, AODV)
    yield make_part("change of the rate, slowest to fastest, mft minus aodv", better.dropna(), Side.ABOVE)


def _higher_rate(measured: Measurements) -> Iterable[Part]:
    speeds = measured.values(SPEED)
    for config in measured.values(CONFIG):
        mft, aodv = (seed_table(measured, agent, c.DELIVERY_RATE_THESIS, [config], speeds) for agent in (MFT, AODV))
        better = (mft - aodv).dropna().mean(axis=1)
        yield make_part(f"{config}: delivery rate, mft minus aodv, mean over speeds", better, Side.ABOVE)


def _delay_at_c4(measured: Measurements) -> Iterable[Part]:
    table = seed_table(measured, AODV, c.DELAY_MEAN_S, ["C2", "C4", "C8"], [THESIS_SPEED])
    for config in ("C2", "C8"):
        more = table["C4", THESIS_SPEED] - table[config, THESIS_SPEED]
        yield make_part(f"mean delay (s), C4 minus {config}", more, Side.ABOVE)


def _requests_explode(measured: Measurements) -> Iterable[Part]:
    configs = measured.values(CONFIG)
    ends = list(dict.fromkeys([configs[0], configs[-1]]))
    if len(ends) < 2:
        raise NotMeasuredError("growth needs two sizes")
    per_node, messages, requests = (
        seed_table(measured, AODV, metric, ends, [THESIS_SPEED])
        for metric in (c.MESSAGES_PER_NODE, c.MESSAGES, f"{c.SENT_PREFIX}RREQ")
    )
    requests_per_node = requests / messages * per_node
    grown, by_requests = (table.iloc[:, 1] - table.iloc[:, 0] for table in (per_node, requests_per_node))
    label = f"share of RREQ in the growth of AODV's messages per node, {ends[0]} to {ends[1]}"
    yield make_part(label, by_requests / grown, Side.ABOVE, _MOSTLY)


def _not_taken_on(measured: Measurements) -> Iterable[Part]:
    attempted, expected = (seed_table(measured, MFT, m, ["C32"], [THESIS_SPEED]) for m in (c.ATTEMPTED, c.EXPECTED))
    share = (attempted / expected).iloc[:, 0]
    yield make_part("share of the expected that MFT-PubSub begins to deliver", share, Side.BELOW, 1.0)


FURTHER_CLAIMS = (
    ClaimTest(
        "MFT-PubSub's delivery rate even improves with speed.",
        "From the slowest to the fastest speed, by least squares and mean over sizes, the rate rises.",
        _improves_with_speed,
    ),
    ClaimTest(
        "MFT-PubSub is more resilient to speed than AODV.",
        "With equal seeds, this change of the rate is more than AODV's.",
        _more_resilient,
    ),
    ClaimTest(
        "MFT-PubSub improves on AODV's delivery rate.",
        "With equal seeds, and in the mean over speeds, its delivery rate is higher at each size measured.",
        _higher_rate,
    ),
    ClaimTest(
        "AODV's delay at C4 is higher than it should be.",
        "With equal seeds, at 8 m/s its mean delay at C4 is longer than at C2 and than at C8.",
        _delay_at_c4,
    ),
    ClaimTest(
        "AODV's messages explode because of the broadcasts that create routes.",
        "At 8 m/s, RREQs are more than half of what a node sends more at the largest size than at the smallest.",
        _requests_explode,
    ),
    ClaimTest(
        "At C32 MFT-PubSub does not try to deliver all messages: not to subscribers that its brokers do not know.",
        "At C32 and 8 m/s, attempted of expected is below 1.",
        _not_taken_on,
    ),
)
