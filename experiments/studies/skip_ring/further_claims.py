"""More claims of the skip ring's paper: publications, joins, crashes and topics, each with one precise reading."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2

import pandas as pd

from roambus.experiments.evidence.claim import ClaimTest
from roambus.experiments.evidence.rule import Part, Side, make_part
from roambus.experiments.measurements.by_seed import by_seed, slopes
from roambus.experiments.measurements.measurements import Measurements
from roambus.experiments.studies.skip_ring.claims import CERTAIN, HALF, OURS, START, SUBSCRIBERS
from roambus.experiments.studies.skip_ring.crashes import RESTORED
from roambus.experiments.studies.skip_ring.informing import INFORMED, KNOWN_SENT
from roambus.experiments.studies.skip_ring.joins import MOST_JOINS, TWO_CONSECUTIVE
from roambus.experiments.studies.skip_ring.metrics import ANSWERS_PER_ROUND

CRASHED, TOPICS = "crashed", "topics"
FULL_STARTS = {
    "tries": "the skip ring",
    "labels+neighbours+shortcuts+database+messages+tries": "everything corrupted",
    "islands+tries": "four rings apart",
}
"""What figures and claims call the states in which subscribers have publications that nobody else has."""

_IN_VAIN = 1.0
"""The per cent of publications sent in vain that still count as "only missing publications"."""
_ANSWERS_A_DOUBLING = 0.25
"""What grows by less with each doubling is constant."""


def _all_have_everything(measured: Measurements) -> Iterable[Part]:
    for start in measured.values(START):
        share = _mean(measured, INFORMED, SUBSCRIBERS, start=start)
        yield make_part(f"{FULL_STARTS.get(start, start)}: share of subscribers", share, Side.ABOVE, CERTAIN)


def _only_missing(measured: Measurements) -> Iterable[Part]:
    for start in measured.values(START):
        known = _mean(measured, KNOWN_SENT, SUBSCRIBERS, start=start)
        label = f"{FULL_STARTS.get(start, start)}: publications sent in vain (%)"
        yield make_part(label, known, Side.BELOW, _IN_VAIN)


def _two_consecutive_joins(measured: Measurements) -> Iterable[Part]:
    for size in measured.values(SUBSCRIBERS):
        share = by_seed(measured, TWO_CONSECUTIVE, agent=OURS, subscribers=size)
        yield make_part(f"{size}: share of old subscribers, without label 0", share, Side.ABOVE, CERTAIN)
        most = by_seed(measured, MOST_JOINS, agent=OURS, subscribers=size)
        yield make_part(f"{size}: joins that concern one of all", most, Side.BELOW, 2 + HALF)


def _restored(measured: Measurements) -> Iterable[Part]:
    for crashed in measured.values(CRASHED):
        share = _mean(measured, RESTORED, SUBSCRIBERS, crashed=crashed)
        yield make_part(f"{float(crashed):.0%} crash: share of runs that are restored", share, Side.ABOVE, CERTAIN)


def _linear_in_topics(measured: Measurements) -> Iterable[Part]:
    topics = measured.values(TOPICS)
    for size in measured.values(SUBSCRIBERS):
        columns = [by_seed(measured, ANSWERS_PER_ROUND, agent=OURS, topics=one, subscribers=size) for one in topics]
        slope = slopes(pd.concat(columns, axis=1).dropna(), [float(one) for one in topics])
        yield make_part(f"{size}: configurations a round for each further topic", slope, Side.ABOVE, 1.0)
        yield make_part(f"{size}: configurations a round for each further topic", slope, Side.BELOW, 2.0)


def _not_in_subscribers(measured: Measurements) -> Iterable[Part]:
    sizes = measured.values(SUBSCRIBERS)
    for topics in measured.values(TOPICS):
        columns = [by_seed(measured, ANSWERS_PER_ROUND, agent=OURS, topics=topics, subscribers=one) for one in sizes]
        growth = slopes(pd.concat(columns, axis=1).dropna(), [log2(float(one)) for one in sizes]) / float(topics)
        label = f"{topics} topics: growth of configurations a round and topic with each doubling of the subscribers"
        yield make_part(label, growth, Side.BELOW, _ANSWERS_A_DOUBLING)


def _mean(measured: Measurements, metric: str, over: str, **place: str) -> pd.Series[float]:
    """The mean over the values of an axis, one a seed."""
    columns = [by_seed(measured, metric, agent=OURS, **place, **{over: value}) for value in measured.values(over)]
    return pd.concat(columns, axis=1).mean(axis=1)


PUBLICATION_CLAIMS = (
    ClaimTest(
        "Every subscriber of a topic will eventually know all publications that have been issued so far (section 4.2).",
        "Whoever has a publication at the start, all have it when the run ends; a part a start, mean over numbers of "
        "subscribers.",
        _all_have_everything,
    ),
    ClaimTest(
        "Only those publications are sent out that are assumed to be missing at the receiver (section 4.2).",
        "Less than 1 % of what is sent as missing is known to who gets it; a part a start, mean over numbers of "
        "subscribers.",
        _only_missing,
    ),
)
JOIN_CLAIMS = (
    ClaimTest(
        "While the subscribers double, an old one is involved only for two consecutive joins (section 4.1).",
        "Two consecutive joins, and no other, change the ring neighbours of each old subscriber but the one with label "
        "0, which the first and the last join concern.",
        _two_consecutive_joins,
    ),
)
CRASH_CLAIMS = (
    ClaimTest(
        "It suffices to establish one single failure detector at the supervisor (section 3.3).",
        "Each run ends in the skip ring of those that have not crashed; mean over numbers of subscribers.",
        _restored,
    ),
)
TOPIC_CLAIMS = (
    ClaimTest(
        "The message overhead of the supervisor is linear in the number of topics (section 1.3).",
        "In a legitimate state it sends one configuration a round by turns for each topic, and less than one at "
        "requests.",
        _linear_in_topics,
    ),
    ClaimTest(
        "... but not in the number of subscribers (section 1.3).",
        "What it sends a round and topic grows by less than 0.25 configurations with each doubling of the subscribers.",
        _not_in_subscribers,
    ),
)
