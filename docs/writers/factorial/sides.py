"""Stricter and milder readings of the sentences whose formal reading decides, each with its verdict.

The words of a sentence admit more than one test. Beside the one that a claim has stand a stricter and a milder one.
All of them were chosen after results had been seen. They show how far a verdict depends on the reading; none of them
replaces a claim's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from docs.writers.factorial.quantities import CLAIMS
from roambus.bridge.runs.layout import AGENT
from roambus.experiments.claims import ClaimTest, Part, Parts, Side, Verdict, judge, make_part
from roambus.experiments.measurements import Measurements, NotMeasuredError, by_seed, slopes
from roambus.experiments.studies.thesis.claims import (
    AODV,
    CONFIG,
    MFT,
    SPEED,
    THESIS_SPEED,
    doublings,
    log2,
    seed_table,
)
from roambus.spark.metrics import catalogue as c

STRICTER, JUDGED, MILDER = "stricter", "as judged", "milder"
LOSS = -0.05
"""As in claim 2: a smaller change is no fall."""
DECADE = float(np.log2(10))
"""Figure 4.6 is logarithmic: one decade, in doublings."""
_ROLES = 2
"""Nodes for each unit of a size: a subscriber and a broker; two publishers are added."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the thesis in a few words of ours, and the readings of it by side."""

    claims: str
    words: str
    sides: Mapping[str, ClaimTest]
    note: str = field(default="")


def nodes(configs: Sequence[str]) -> list[float]:
    """The number of nodes at each size, in doublings: 6 at C2 and 66 at C32."""
    return [float(np.log2(2 + _ROLES * 2**size)) for size in doublings(configs)]


def _exponent(
    measured: Measurements, agent: str, metric: str, over: Callable[[Sequence[str]], list[float]]
) -> pd.Series[float]:
    configs = measured.values(CONFIG)
    return slopes(log2(seed_table(measured, agent, metric, configs, [THESIS_SPEED])), over(configs))


def _explodes(measured: Measurements, over: Callable[[Sequence[str]], list[float]]) -> Iterable[Part]:
    yield make_part("exponent, aodv", _exponent(measured, AODV, c.MESSAGES_PER_NODE, over), Side.ABOVE, 1.0)


def _between(agent: str, metric: str, over: Callable[[Sequence[str]], list[float]], low: float, high: float) -> Parts:
    def parts(measured: Measurements) -> Iterable[Part]:
        exponent = _exponent(measured, agent, metric, over)
        yield make_part(f"exponent, {agent} (downwards)", exponent, Side.ABOVE, low)
        yield make_part(f"exponent, {agent} (upwards)", exponent, Side.BELOW, high)

    return parts


def _faster_than_mft(measured: Measurements) -> Iterable[Part]:
    aodv, mft = (_exponent(measured, agent, c.MESSAGES_PER_NODE, doublings) for agent in (AODV, MFT))
    yield make_part("exponent of size, aodv minus mft", aodv - mft, Side.ABOVE)


def _by_nodes(measured: Measurements) -> Iterable[Part]:
    yield from _explodes(measured, nodes)
    yield from _between(MFT, c.MESSAGES_PER_NODE, nodes, -0.25, 0.25)(measured)


def _delay_ratio(measured: Measurements) -> pd.DataFrame:
    tables = (
        seed_table(measured, agent, c.DELAY_MEAN_S, measured.values(CONFIG), [THESIS_SPEED]) for agent in (MFT, AODV)
    )
    mft, aodv = map(log2, tables)
    return (mft - aodv).dropna()


def _no_slower_anywhere(measured: Measurements) -> Iterable[Part]:
    ratio = _delay_ratio(measured)
    for config in measured.values(CONFIG):
        yield make_part(f"{config}: doublings of delay, mft over aodv", ratio[config, THESIS_SPEED], Side.BELOW)


def _within_a_decade(measured: Measurements) -> Iterable[Part]:
    yield make_part("doublings of delay, mft over aodv", _delay_ratio(measured).mean(axis=1), Side.BELOW, DECADE)


def _changes(measured: Measurements, agent: str) -> dict[str, pd.Series[float]]:
    """By size, the change of the delivery rate from the slowest to the fastest speed, by least squares."""
    speeds = measured.values(SPEED)
    numbers = [float(speed) for speed in speeds]
    found = {}
    for config in measured.values(CONFIG):
        table = seed_table(measured, agent, c.DELIVERY_RATE_THESIS, [config], speeds)
        found[config] = slopes(table, numbers) * float(np.ptp(numbers))
    return found


def _change_at_each_size(bound: float, *, beyond_aodv: bool = False) -> Parts:
    def parts(measured: Measurements) -> Iterable[Part]:
        aodv = _changes(measured, AODV) if beyond_aodv else {}
        for config, change in _changes(measured, MFT).items():
            label = f"{config}: change of the rate{', mft minus aodv' if beyond_aodv else ''}"
            yield make_part(label, change - aodv[config] if beyond_aodv else change, Side.ABOVE, bound)

    return parts


def _change_at_most_a_bit_worse(measured: Measurements) -> Iterable[Part]:
    mft, aodv = (pd.DataFrame(_changes(measured, agent)).mean(axis=1) for agent in (MFT, AODV))
    yield make_part("change of the rate, mft minus aodv", mft - aodv, Side.ABOVE, LOSS)


def _mean_rate_higher(measured: Measurements) -> Iterable[Part]:
    place = measured.values(CONFIG), measured.values(SPEED)
    mft, aodv = (seed_table(measured, agent, c.DELIVERY_RATE_THESIS, *place) for agent in (MFT, AODV))
    yield make_part("delivery rate, mft minus aodv, mean", (mft - aodv).dropna().mean(axis=1), Side.ABOVE)


def _above_the_trend(measured: Measurements) -> Iterable[Part]:
    delay = log2(seed_table(measured, AODV, c.DELAY_MEAN_S, ["C2", "C4", "C8"], [THESIS_SPEED]))
    two, four, eight = (delay[config, THESIS_SPEED] for config in ("C2", "C4", "C8"))
    yield make_part("doublings of delay, C4 over the mean of C2 and C8", four - (two + eight) / 2, Side.ABOVE)


def _fewest_begun(measured: Measurements) -> Iterable[Part]:
    def begun(config: str) -> pd.Series[float]:
        place = {AGENT: MFT, CONFIG: config, SPEED: THESIS_SPEED}
        attempted, expected = (by_seed(measured, metric, **place) for metric in (c.ATTEMPTED, c.EXPECTED))
        return attempted / expected

    for config in (config for config in measured.values(CONFIG) if config != "C32"):
        yield make_part(f"share begun, C32 minus {config}", begun("C32") - begun(config), Side.BELOW)


def _test(reading: str, parts: Parts) -> ClaimTest:
    return ClaimTest("", reading, parts)


_RESILIENCE = "One sentence gives claims 2, 11 and 12: speed does little harm, or even helps."
SENTENCES = (
    Sentence(
        "2",
        "The rate does not fall with speed.",
        {
            STRICTER: _test("At each size it loses less than 0.05.", _change_at_each_size(LOSS)),
            JUDGED: CLAIMS[2],
        },
        _RESILIENCE,
    ),
    Sentence(
        "11",
        "It even improves with speed.",
        {
            STRICTER: _test("It rises at each size.", _change_at_each_size(0.0)),
            JUDGED: CLAIMS[11],
            MILDER: CLAIMS[2],
        },
        _RESILIENCE,
    ),
    Sentence(
        "12",
        "Speed harms it less than AODV.",
        {
            STRICTER: _test(
                "Its change is more than AODV's at each size.", _change_at_each_size(0.0, beyond_aodv=True)
            ),
            JUDGED: CLAIMS[12],
            MILDER: _test("In the mean its change is at most 0.05 below AODV's.", _change_at_most_a_bit_worse),
        },
        _RESILIENCE,
    ),
    Sentence(
        "6",
        "Its delay keeps up with AODV's.",
        {
            STRICTER: _test("At each size its mean delay is shorter.", _no_slower_anywhere),
            JUDGED: CLAIMS[6],
            MILDER: _test("In the geometric mean it is less than ten times as long.", _within_a_decade),
        },
    ),
    Sentence(
        "9",
        "AODV's messages per node explode, the other's hardly change.",
        {
            STRICTER: _test("The bounds of the claim, on exponents of the number of nodes (6 to 66).", _by_nodes),
            JUDGED: CLAIMS[9],
            MILDER: _test("AODV's exponent is above MFT-PubSub's.", _faster_than_mft),
        },
        "Exponents of nodes are about 1.15 times those of the size: stricter for MFT-PubSub, milder for AODV.",
    ),
    Sentence(
        "9, first half",
        "AODV's messages per node explode.",
        {
            STRICTER: _test("Faster than the size C: exponent above 1.", lambda m: _explodes(m, doublings)),
            MILDER: _test("Faster than the number of nodes: exponent above 1.", lambda m: _explodes(m, nodes)),
        },
    ),
    Sentence(
        "9, second half",
        "MFT-PubSub's hardly change.",
        {
            STRICTER: _test(
                "Exponent of nodes between -0.25 and 0.25.", _between(MFT, c.MESSAGES_PER_NODE, nodes, -0.25, 0.25)
            ),
            MILDER: _test(
                "Exponent of the size between -0.25 and 0.25.",
                _between(MFT, c.MESSAGES_PER_NODE, doublings, -0.25, 0.25),
            ),
        },
    ),
    Sentence(
        "13",
        "It improves on AODV's delivery rate.",
        {JUDGED: CLAIMS[13], MILDER: _test("In the mean over sizes and speeds.", _mean_rate_higher)},
        "The claim's own reading, at each size, is the stricter one.",
    ),
    Sentence(
        "14",
        "AODV's delay at C4 is too high.",
        {
            JUDGED: CLAIMS[14],
            MILDER: _test("It is above the geometric mean of those at C2 and C8.", _above_the_trend),
        },
        "The claim's own reading, a peak, is the stricter one.",
    ),
    Sentence(
        "16",
        "At C32 it does not try to deliver everything.",
        {STRICTER: _test("It begins a smaller share than at each other size.", _fewest_begun), JUDGED: CLAIMS[16]},
        "A share cannot be above 1, so the claim's own reading is mild; no reading tests the reason.",
    ),
    Sentence(
        "none",
        "Messages increase linearly with the network (4.6, 5.1).",
        {
            STRICTER: _test(
                "MFT-PubSub's messages grow as nodes to a power between 0.9 and 1.1.",
                _between(MFT, c.MESSAGES, nodes, 0.9, 1.1),
            ),
            MILDER: _test("The power is between 0.75 and 1.25.", _between(MFT, c.MESSAGES, nodes, 0.75, 1.25)),
        },
        "No claim of the sixteen has this sentence.",
    ),
)


def sides_of(measured: Measurements) -> pd.DataFrame:
    """A row for each sentence and side: its reading, the verdict and the numbers."""
    rows = []
    for sentence in SENTENCES:
        for side, test in sentence.sides.items():
            verdict, numbers = _judged(test, measured)
            rows.append((sentence.claims, sentence.words, side, test.reading, verdict.value, numbers, sentence.note))
    return pd.DataFrame(rows, columns=["claim", "sentence", "side", "reading", "verdict", "numbers", "note"])


def _judged(test: ClaimTest, measured: Measurements) -> tuple[Verdict, str]:
    try:
        parts = list(test.parts(measured))
    except NotMeasuredError as missing:
        return Verdict.NOT_MEASURED, str(missing)
    return judge(parts), "; ".join(map(str, parts))


def side_table(name: str, measured: Measurements) -> pd.DataFrame:
    """The same for a result, with its name and number of seeds."""
    table = sides_of(measured)
    table.insert(0, "seeds", measured.seeds)
    table.insert(0, "result", name)
    return table
