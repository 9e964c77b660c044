"""The claims of the thesis' section 4.5 and conclusion 5.1 about its figures, each with one precise reading.

The first ten readings were fixed before any run; six further ones, after small runs, follow them. Delivery rate is the
thesis' (delivered of attempted). Protocols are compared at equal seeds. "Falls", "rises" and "grows" are a seed's
least-squares slopes over doublings of the size. "Explodes" and "barely" are exponents of the size. Means over an axis
are within a seed with every value. "Not", "keeps up" and "barely" have a bound at the claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from roambus.bridge.runs.layout import AGENT, SEED
from roambus.experiments.claims import (
    ClaimTest,
    Comparison,
    Part,
    Parts,
    Place,
    Side,
    at_each,
    difference,
    make_part,
)
from roambus.experiments.measurements import Measurements, NotMeasuredError, by_seed, slopes
from roambus.spark.metrics import catalogue as c

CONFIG, SPEED = "config", "speed"
THESIS_SPEED, THESIS_CONFIG = "8", "C16"
"""The thesis' cuts: the speed (m/s) of figures 4.5a to 4.8, the size of figure 4.5b."""
MFT, AODV = "mft", "aodv"
"""The labels of the two protocols."""
STAND_INS = {"as in the thesis": {MFT: "mft-as-published", AODV: "aodv-thesis"}}
"""The protocols as the thesis describes them."""
_MFT_AODV, _AODV_MFT = ({AGENT: MFT}, {AGENT: AODV}), ({AGENT: AODV}, {AGENT: MFT})
"""Which protocol's number is taken from the other's."""


def seed_table(
    measured: Measurements, agent: str, metric: str, configs: Sequence[str], speeds: Sequence[str]
) -> pd.DataFrame:
    """The metric by seed, a column for each (config, speed), complete seeds only; raises NotMeasuredError."""
    runs = measured.runs[measured.runs[AGENT] == agent]
    for column in (metric, CONFIG, SPEED):
        if column not in runs:
            raise NotMeasuredError(f"no run has {column}")
    columns = [(config, speed) for config in configs for speed in speeds]
    table = runs.pivot(index=SEED, columns=[CONFIG, SPEED], values=metric)
    absent = [f"{agent} at {config} and {speed} m/s" for config, speed in columns if (config, speed) not in table]
    if absent:
        raise NotMeasuredError(f"there are no runs of {', '.join(absent)}")
    complete = table[columns].astype(float).dropna()
    if complete.empty:
        raise NotMeasuredError(f"no seed has {measured.title(metric)} of {agent} everywhere it is needed")
    return complete


def _mean_by(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    return table.T.groupby(level=axis, sort=False).mean().T


def log2(table: pd.DataFrame) -> pd.DataFrame:
    """The logarithm of each value; none for 0, which would count as minus infinity."""
    return table.where(table > 0).transform(np.log2)


def doublings(configs: Sequence[str]) -> list[float]:
    """The sizes of C2, C4, ... as 1, 2, ...; raises NotMeasuredError for other names."""
    try:
        return [float(np.log2(int(config.removeprefix("C")))) for config in configs]
    except ValueError:
        raise NotMeasuredError(f"sizes are read from names such as C16, not {', '.join(configs)}") from None


_FALL = -0.05
"""Claim 2: a change below 5 points over all speeds is no fall."""
_TWICE = 1.0
"""Claim 6, in powers of 2: up to twice the delay keeps up (figure 4.6 is logarithmic)."""
_EXPLODES, _BARELY = 1.0, 0.25
"""Claim 9, exponents of size: faster than the network, and at most doubling from C2 to C32."""


# The claims


def _falls_with_size(measured: Measurements) -> Iterable[Part]:
    """A part for each protocol. A seed's slope is one value: the test is over independent networks."""
    configs, speeds = measured.values(CONFIG), measured.values(SPEED)
    for agent in (MFT, AODV):
        by_config = _mean_by(seed_table(measured, agent, c.DELIVERY_RATE_THESIS, configs, speeds), CONFIG)
        label = f"{agent}: change of the rate a doubling, {configs[0]} to {configs[-1]}"
        yield make_part(label, slopes(by_config, doublings(configs)), Side.BELOW)


def _withstands_speed(measured: Measurements) -> Iterable[Part]:
    configs, numbers = measured.values(CONFIG), [float(speed) for speed in measured.values(SPEED)]
    label = f"mft: change of the rate from {min(numbers):g} to {max(numbers):g} m/s, {configs[0]} to {configs[-1]}"
    yield make_part(label, _change_with_speed(measured, MFT), Side.ABOVE, _FALL)


def _peaks_at_six(measured: Measurements) -> Iterable[Part]:
    """Two parts: deliveries rise up to 6 m/s, and fall from there on."""
    speeds = sorted(measured.values(SPEED), key=float)
    if "6" not in speeds:
        raise NotMeasuredError("there are no runs at 6 m/s")
    peak = speeds.index("6")
    for side, part in ((Side.ABOVE, speeds[: peak + 1]), (Side.BELOW, speeds[peak:])):
        slope = slopes(seed_table(measured, MFT, c.DELIVERED, ["C16"], part), [float(speed) for speed in part])
        yield make_part(f"messages delivered for each m/s more, {part[0]} to {part[-1]} m/s", slope, side)


def _keeps_up_in_delay(measured: Measurements) -> Iterable[Part]:
    """Delays compare as logarithms, as in figure 4.6; else the longest would decide alone."""
    configs = measured.values(CONFIG)
    mft, aodv = (seed_table(measured, agent, c.DELAY_MEAN_S, configs, [THESIS_SPEED]) for agent in (MFT, AODV))
    ratio = (log2(mft) - log2(aodv)).dropna().mean(axis=1)
    yield make_part(f"doublings of delay, mft over aodv, {configs[0]} to {configs[-1]}", ratio, Side.BELOW, _TWICE)


def _most_hops_at_c4(measured: Measurements) -> Iterable[Part]:
    others = [config for config in measured.values(CONFIG) if config != "C4"]
    if not others:
        raise NotMeasuredError("there is no size but C4 to compare with")
    return _more_at_c4("mean hops", c.HOPS_MEAN, others)(measured)


def _more_at_c4(what: str, metric: str, others: Sequence[str]) -> Parts:
    def more(measured: Measurements, place: Place) -> pd.Series[float]:
        table = seed_table(measured, AODV, metric, ["C4", *others], [THESIS_SPEED])
        return table["C4", THESIS_SPEED] - table[place[CONFIG], THESIS_SPEED]

    return at_each({CONFIG: others}, Comparison(f"{what}, C4 minus {{config}}", more, Side.ABOVE))


def _growth_of_messages(measured: Measurements) -> Iterable[Part]:
    """Messages grow as a power of the size: 1 is as fast as the network. "Barely" has two bounds."""
    configs = measured.values(CONFIG)
    tables = (seed_table(measured, agent, c.MESSAGES_PER_NODE, configs, [THESIS_SPEED]) for agent in (MFT, AODV))
    mft, aodv = (slopes(log2(table), doublings(configs)) for table in tables)
    yield make_part("exponent of size, aodv", aodv, Side.ABOVE, _EXPLODES)
    yield make_part("exponent of size, mft (upwards)", mft, Side.BELOW, _BARELY)
    yield make_part("exponent of size, mft (downwards)", mft, Side.ABOVE, -_BARELY)


def _brokers_send_more(measured: Measurements) -> Iterable[Part]:
    place = measured.values(CONFIG), measured.values(SPEED)
    brokers = seed_table(measured, MFT, c.MESSAGES_PER_BROKER, *place)
    for clients, metric in (("publisher", c.MESSAGES_PER_PUBLISHER), ("subscriber", c.MESSAGES_PER_SUBSCRIBER)):
        more = (brokers - seed_table(measured, MFT, metric, *place)).mean(axis=1)
        yield make_part(f"messages per broker minus messages per {clients}", more, Side.ABOVE)


THESIS_CLAIMS = (
    ClaimTest(
        "Delivery falls as the network grows, for both protocols.",
        "The slope of the delivery rate over doublings of the size, mean over speeds, is below 0 for each protocol.",
        _falls_with_size,
        figure="figure-4.4a",
    ),
    ClaimTest(
        "MFT-PubSub's delivery rate does not fall with speed.",
        "From the slowest to the fastest speed, by least squares and mean over sizes, the rate loses less than 0.05.",
        _withstands_speed,
        figure="figure-4.4a",
    ),
    ClaimTest(
        "At C32 and 8 m/s AODV delivers more messages, MFT-PubSub the higher rate.",
        "With equal seeds, AODV's messages delivered are more than MFT-PubSub's, and its delivery rate is lower.",
        at_each(
            {CONFIG: ("C32",), SPEED: (THESIS_SPEED,)},
            Comparison("messages delivered, aodv minus mft", difference(c.DELIVERED, *_AODV_MFT), Side.ABOVE),
            Comparison("delivery rate, mft minus aodv", difference(c.DELIVERY_RATE_THESIS, *_MFT_AODV), Side.ABOVE),
        ),
        figure="figure-4.5a",
    ),
    ClaimTest(
        "At C16 MFT-PubSub delivers more than AODV at every speed.",
        "With equal seeds, MFT-PubSub's messages delivered are more than AODV's at each speed measured.",
        at_each(
            {CONFIG: ("C16",), SPEED: ()},
            Comparison(
                "{speed} m/s: messages delivered, mft minus aodv", difference(c.DELIVERED, *_MFT_AODV), Side.ABOVE
            ),
        ),
        figure="figure-4.5b",
    ),
    ClaimTest(
        "At C16 MFT-PubSub's messages delivered rise to about 6 m/s, then fall.",
        "The slope of messages delivered over speed is above 0 up to 6 m/s, and below 0 from 6 m/s on.",
        _peaks_at_six,
        figure="figure-4.5b",
    ),
    ClaimTest(
        "MFT-PubSub keeps up with AODV in delay.",
        "With equal seeds, at 8 m/s and in the geometric mean over sizes, its mean delay is less than twice AODV's.",
        _keeps_up_in_delay,
        figure="figure-4.6",
    ),
    ClaimTest(
        "AODV takes more hops at C4 than elsewhere.",
        "With equal seeds, at 8 m/s its mean hops at C4 are more than at each other size measured.",
        _most_hops_at_c4,
        figure="figure-4.7a",
    ),
    ClaimTest(
        "At C2 AODV needs fewer messages than MFT-PubSub.",
        "With equal seeds, at C2 and 8 m/s AODV's messages per node are fewer.",
        at_each(
            {CONFIG: ("C2",), SPEED: (THESIS_SPEED,)},
            Comparison("messages per node, aodv minus mft", difference(c.MESSAGES_PER_NODE, *_AODV_MFT), Side.BELOW),
        ),
        figure="figure-4.8",
    ),
    ClaimTest(
        "AODV's messages per node explode with size, MFT-PubSub's barely change.",
        "At 8 m/s messages per node grow as size to a power above 1 for AODV, between -0.25 and 0.25 for MFT-PubSub.",
        _growth_of_messages,
        figure="figure-4.8",
    ),
    ClaimTest(
        "In MFT-PubSub brokers send more than clients.",
        "Over all points, a broker's messages are more than a publisher's and more than a subscriber's.",
        _brokers_send_more,
        figure="messages-by-role-mft",
    ),
)


_MOSTLY = 0.5
"""Claim 15: what is mostly the cause is more than half of it."""


def _change_with_speed(measured: Measurements, agent: str) -> pd.Series[float]:
    speeds = measured.values(SPEED)
    table = seed_table(measured, agent, c.DELIVERY_RATE_THESIS, measured.values(CONFIG), speeds)
    numbers = [float(speed) for speed in speeds]
    return slopes(_mean_by(table, SPEED), numbers) * float(np.ptp(numbers))


def _higher_rate(measured: Measurements) -> Iterable[Part]:
    """A part for each size: a mean over sizes could hide a lower one."""
    speeds = measured.values(SPEED)
    for config in measured.values(CONFIG):
        mft, aodv = (seed_table(measured, agent, c.DELIVERY_RATE_THESIS, [config], speeds) for agent in (MFT, AODV))
        better = (mft - aodv).dropna().mean(axis=1)
        yield make_part(f"{config}: delivery rate, mft minus aodv, mean over speeds", better, Side.ABOVE)


def _requests_explode(measured: Measurements) -> Iterable[Part]:
    configs = measured.values(CONFIG)
    ends = list(dict.fromkeys([configs[0], configs[-1]]))
    if len(ends) < 2:
        raise NotMeasuredError("growth needs two sizes")
    per_node, messages, requests = (
        seed_table(measured, AODV, metric, ends, [THESIS_SPEED])
        for metric in (c.MESSAGES_PER_NODE, c.MESSAGES, f"{c.SENT_PREFIX}RREQ")
    )
    grown, by_requests = (table.iloc[:, 1] - table.iloc[:, 0] for table in (per_node, requests / messages * per_node))
    label = f"share of RREQ in the growth of AODV's messages per node, {ends[0]} to {ends[1]}"
    yield make_part(label, by_requests / grown, Side.ABOVE, _MOSTLY)


def _not_begun(measured: Measurements) -> Iterable[Part]:
    place = {AGENT: MFT, CONFIG: "C32", SPEED: THESIS_SPEED}
    attempted, expected = (by_seed(measured, metric, **place) for metric in (c.ATTEMPTED, c.EXPECTED))
    yield make_part("share of the expected that MFT-PubSub begins to deliver", attempted / expected, Side.BELOW, 1.0)


FURTHER_CLAIMS = (
    ClaimTest(
        "MFT-PubSub's delivery rate even improves with speed.",
        "From the slowest to the fastest speed, by least squares and mean over sizes, the rate rises.",
        at_each(
            {AGENT: (MFT,)},
            Comparison(
                "{agent}: change of the rate, slowest to fastest",
                lambda measured, at: _change_with_speed(measured, at[AGENT]),
                Side.ABOVE,
            ),
        ),
        figure="figure-4.4a",
    ),
    ClaimTest(
        "MFT-PubSub is more resilient to speed than AODV.",
        "With equal seeds, this change of the rate is more than AODV's.",
        at_each(
            [],
            Comparison(
                "change of the rate, slowest to fastest, mft minus aodv",
                lambda measured, _: _change_with_speed(measured, MFT) - _change_with_speed(measured, AODV),
                Side.ABOVE,
            ),
        ),
        figure="figure-4.4a",
    ),
    ClaimTest(
        "MFT-PubSub improves on AODV's delivery rate.",
        "With equal seeds, and in the mean over speeds, its delivery rate is higher at each size measured.",
        _higher_rate,
        figure="figure-4.4a",
    ),
    ClaimTest(
        "AODV's delay at C4 is higher than it should be.",
        "With equal seeds, at 8 m/s its mean delay at C4 is longer than at C2 and than at C8.",
        _more_at_c4("mean delay (s)", c.DELAY_MEAN_S, ("C2", "C8")),
        figure="figure-4.6",
    ),
    ClaimTest(
        "AODV's messages explode because of the broadcasts that create routes.",
        "At 8 m/s, RREQs are more than half of what a node sends more at the largest size than at the smallest.",
        _requests_explode,
        figure="figure-4.8",
    ),
    ClaimTest(
        "At C32 MFT-PubSub does not try to deliver all messages: not to subscribers that its brokers do not know.",
        "At C32 and 8 m/s, attempted of expected is below 1.",
        _not_begun,
        figure="figure-4.4a",
    ),
)
