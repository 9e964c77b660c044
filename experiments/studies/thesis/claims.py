"""The ten claims of the thesis' section 4.5, each with one precise reading that was fixed before any run.

Claims about a named size or speed need exactly that point. Claims about every size or speed are tested on those that
were measured. Delivery rate means the thesis' (delivered of attempted), as in its figure 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable

from roambus.experiments.evidence.claim import ClaimTest
from roambus.experiments.evidence.rule import Part, Side, make_part
from roambus.experiments.measurements.by_seed import NotMeasuredError, slopes
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.studies.thesis.size_and_speed import (
    AODV,
    CONFIG,
    MFT,
    SPEED,
    THESIS_SPEED,
    difference,
    doublings,
    log2,
    mean_by,
    seed_table,
)
from roambus.spark.metrics import catalogue as c

_FALL = -0.05
"""Claim 2: a change of the rate of less than 5 points over all speeds is no fall."""
_TWICE = 1.0
"""Claim 6, in powers of 2: up to twice the delay is keeping up, on the logarithmic axis of figure 4.6."""
_EXPLODES, _BARELY = 1.0, 0.25
"""Claim 9, as exponents of size: faster growth than the network's own, and at most doubling from C2 to C32."""


# The claims


def _falls_with_size(measured: Measurements) -> Iterable[Part]:
    configs, speeds = measured.values(CONFIG), measured.values(SPEED)
    for agent in (MFT, AODV):
        by_config = mean_by(seed_table(measured, agent, c.DELIVERY_RATE_THESIS, configs, speeds), CONFIG)
        label = f"{agent}: change of the rate a doubling, {configs[0]} to {configs[-1]}"
        yield make_part(label, slopes(by_config, doublings(configs)), Side.BELOW)


def _withstands_speed(measured: Measurements) -> Iterable[Part]:
    configs, speeds = measured.values(CONFIG), measured.values(SPEED)
    by_speed = mean_by(seed_table(measured, MFT, c.DELIVERY_RATE_THESIS, configs, speeds), SPEED)
    numbers = [float(speed) for speed in speeds]
    label = f"mft: change of the rate from {min(numbers):g} to {max(numbers):g} m/s, {configs[0]} to {configs[-1]}"
    yield make_part(label, slopes(by_speed, numbers) * (max(numbers) - min(numbers)), Side.ABOVE, _FALL)


def _number_against_rate(measured: Measurements) -> Iterable[Part]:
    at = ("C32", THESIS_SPEED)
    delivered = difference(measured, (AODV, MFT), c.DELIVERED, at)
    yield make_part("messages delivered, aodv minus mft", delivered, Side.ABOVE)
    rate = difference(measured, (MFT, AODV), c.DELIVERY_RATE_THESIS, at)
    yield make_part("delivery rate, mft minus aodv", rate, Side.ABOVE)


def _more_at_every_speed(measured: Measurements) -> Iterable[Part]:
    for speed in measured.values(SPEED):
        more = difference(measured, (MFT, AODV), c.DELIVERED, ("C16", speed))
        yield make_part(f"{speed} m/s: messages delivered, mft minus aodv", more, Side.ABOVE)


def _peaks_at_six(measured: Measurements) -> Iterable[Part]:
    speeds = sorted(measured.values(SPEED), key=float)
    if "6" not in speeds:
        raise NotMeasuredError("there are no runs at 6 m/s")
    peak = speeds.index("6")
    for side, part in ((Side.ABOVE, speeds[: peak + 1]), (Side.BELOW, speeds[peak:])):
        slope = slopes(seed_table(measured, MFT, c.DELIVERED, ["C16"], part), [float(speed) for speed in part])
        yield make_part(f"messages delivered for each m/s more, {part[0]} to {part[-1]} m/s", slope, side)


def _keeps_up_in_delay(measured: Measurements) -> Iterable[Part]:
    configs = measured.values(CONFIG)
    mft, aodv = (seed_table(measured, agent, c.DELAY_MEAN_S, configs, [THESIS_SPEED]) for agent in (MFT, AODV))
    ratio = (log2(mft) - log2(aodv)).dropna().mean(axis=1)
    yield make_part(f"doublings of delay, mft over aodv, {configs[0]} to {configs[-1]}", ratio, Side.BELOW, _TWICE)


def _most_hops_at_c4(measured: Measurements) -> Iterable[Part]:
    configs = measured.values(CONFIG)
    others = [config for config in configs if config != "C4"]
    if not others:
        raise NotMeasuredError("there is no size but C4 to compare with")
    table = seed_table(measured, AODV, c.HOPS_MEAN, ["C4", *others], [THESIS_SPEED])
    for config in others:
        more = table["C4", THESIS_SPEED] - table[config, THESIS_SPEED]
        yield make_part(f"mean hops, C4 minus {config}", more, Side.ABOVE)


def _fewer_messages_at_c2(measured: Measurements) -> Iterable[Part]:
    fewer = difference(measured, (AODV, MFT), c.MESSAGES_PER_NODE, ("C2", THESIS_SPEED))
    yield make_part("messages per node, aodv minus mft", fewer, Side.BELOW)


def _growth_of_messages(measured: Measurements) -> Iterable[Part]:
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
    ),
    ClaimTest(
        "MFT-PubSub's delivery rate does not fall with speed.",
        "From the slowest to the fastest speed, by least squares and mean over sizes, the rate loses less than 0.05.",
        _withstands_speed,
    ),
    ClaimTest(
        "At C32 and 8 m/s AODV delivers more messages, MFT-PubSub the higher rate.",
        "With equal seeds, AODV's messages delivered are more than MFT-PubSub's, and its delivery rate is lower.",
        _number_against_rate,
    ),
    ClaimTest(
        "At C16 MFT-PubSub delivers more than AODV at every speed.",
        "With equal seeds, MFT-PubSub's messages delivered are more than AODV's at each speed measured.",
        _more_at_every_speed,
    ),
    ClaimTest(
        "At C16 MFT-PubSub's messages delivered rise to about 6 m/s, then fall.",
        "The slope of messages delivered over speed is above 0 up to 6 m/s, and below 0 from 6 m/s on.",
        _peaks_at_six,
    ),
    ClaimTest(
        "MFT-PubSub keeps up with AODV in delay.",
        "With equal seeds, at 8 m/s and in the geometric mean over sizes, its mean delay is less than twice AODV's.",
        _keeps_up_in_delay,
    ),
    ClaimTest(
        "AODV takes more hops at C4 than elsewhere.",
        "With equal seeds, at 8 m/s its mean hops at C4 are more than at each other size measured.",
        _most_hops_at_c4,
    ),
    ClaimTest(
        "At C2 AODV needs fewer messages than MFT-PubSub.",
        "With equal seeds, at C2 and 8 m/s AODV's messages per node are fewer.",
        _fewer_messages_at_c2,
    ),
    ClaimTest(
        "AODV's messages per node explode with size, MFT-PubSub's barely change.",
        "At 8 m/s messages per node grow as size to a power above 1 for AODV, between -0.25 and 0.25 for MFT-PubSub.",
        _growth_of_messages,
    ),
    ClaimTest(
        "In MFT-PubSub brokers send more than clients.",
        "Over all points, a broker's messages are more than a publisher's and more than a subscriber's.",
        _brokers_send_more,
    ),
)
