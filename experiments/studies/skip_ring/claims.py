"""The theorems and lemmas of the skip ring's paper, each with one precise reading, and what the sweeps vary.

More claims of the skip ring's paper: publications, joins, crashes and topics, each with one precise reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil, log2

import pandas as pd

from roambus.bridge.runs.layout import AGENT
from roambus.experiments.claims import ClaimTest, Part, Side, make_part
from roambus.experiments.measurements import Measurements, NotMeasuredError, by_seed, slopes
from roambus.experiments.studies.skip_ring.measurements import (
    BY_SUBSCRIBERS,
    INFORMED,
    KNOWN_SENT,
    MOST_JOINS,
    RESTORED,
    TWO_CONSECUTIVE,
)
from roambus.experiments.studies.skip_ring.metrics import (
    ANSWERS_PER_ROUND,
    CATCH_UP_ROUNDS,
    CAUGHT_UP,
    CONVERGED,
    DEGREE_MAX,
    DEGREE_MEAN,
    FURTHER,
    PER_SUBSCRIBE,
    PER_UNSUBSCRIBE,
    REQUESTS_PER_ROUND,
    SENT_PER_NODE_ROUND,
)
from roambus.spark.metrics import catalogue

START, SUBSCRIBERS = "start", "subscribers"
OURS, LETTER, RING_ONLY, FREQUENT = "skip-ring", "letter", "ring-only", "frequent"
STARTS = {
    "labels+neighbours+shortcuts+database+messages": "everything corrupted",
    "islands": "four rings apart",
    "none": "all subscribe at once",
}
"""What figures and claims call the states that runs start from."""

CERTAIN = 0.999
"""A share of 1 is above this one."""
HALF = 0.5
"""What lies between a whole number and the next."""
_AVERAGE_DEGREE = 4.0
"""The bound that the proof on degrees comes to."""
_MESSAGES_A_ROUND = 5.0
"""The bound of the proof: two introductions of itself, two of others, and a request."""
_MESSAGES_A_DOUBLING, _ROUNDS_A_DOUBLING, _OVERHEAD_A_DOUBLING = 0.25, 0.5, 1.0
"""What grows by less with each doubling of the subscribers is constant: logarithmic growth would add 1."""

Parts = Callable[[Measurements], Iterable[Part]]


def _converges(agent: str) -> Parts:
    def parts(measured: Measurements) -> Iterable[Part]:
        for start in measured.values(START):
            share = _table(measured, CONVERGED, agent, start=start).mean(axis=1)
            yield make_part(f"{STARTS.get(start, start)}: share of runs that converge", share, Side.ABOVE, CERTAIN)

    return parts


def _degrees(measured: Measurements) -> Iterable[Part]:
    for size, number in _sizes(measured):
        greatest = by_seed(measured, DEGREE_MAX, agent=OURS, subscribers=size)
        yield make_part(f"{size}: greatest degree", greatest, Side.BELOW, 2 * ceil(log2(number)) + HALF)
        mean = by_seed(measured, DEGREE_MEAN, agent=OURS, subscribers=size)
        yield make_part(f"{size}: mean degree", mean, Side.BELOW, _AVERAGE_DEGREE)


def _requests(agent: str) -> Parts:
    def parts(measured: Measurements) -> Iterable[Part]:
        for size in measured.values(SUBSCRIBERS):
            requests = by_seed(measured, REQUESTS_PER_ROUND, agent=agent, subscribers=size)
            yield make_part(f"{size}: requests a round", requests, Side.BELOW, 1.0)

    return parts


def _operations(measured: Measurements) -> Iterable[Part]:
    for metric in (PER_SUBSCRIBE, PER_UNSUBSCRIBE, FURTHER):
        yield _growth(measured, metric, metric.replace("_", " "), _MESSAGES_A_DOUBLING)


def _hops(measured: Measurements) -> Iterable[Part]:
    for size, number in _sizes(measured):
        hops = by_seed(measured, catalogue.HOPS_MAX, agent=OURS, subscribers=size)
        yield make_part(f"{size}: hops to the last subscriber", hops, Side.BELOW, ceil(log2(number)) + HALF)


def _maintenance(measured: Measurements) -> Iterable[Part]:
    for size in measured.values(SUBSCRIBERS):
        sent = by_seed(measured, SENT_PER_NODE_ROUND, agent=OURS, subscribers=size)
        yield make_part(f"{size}: messages a subscriber and round", sent, Side.BELOW, _MESSAGES_A_ROUND)


def _supervision(measured: Measurements) -> Iterable[Part]:
    yield _growth(measured, ANSWERS_PER_ROUND, "configurations a round", _MESSAGES_A_DOUBLING)


def _overhead(measured: Measurements) -> Iterable[Part]:
    yield _growth(measured, BY_SUBSCRIBERS, "messages of subscribers an operation", _OVERHEAD_A_DOUBLING)


def _catch_up(measured: Measurements) -> Iterable[Part]:
    share = float(_table(measured, CAUGHT_UP, OURS).to_numpy().mean())
    what = f"rounds to catch up, of the {share:.1%} of new subscribers that do"
    yield _growth(measured, CATCH_UP_ROUNDS, what, _ROUNDS_A_DOUBLING)


def _growth(measured: Measurements, metric: str, what: str, most: float) -> Part:
    doublings = [log2(number) for _, number in _sizes(measured)]
    growth = slopes(_table(measured, metric, OURS), doublings)
    return make_part(f"growth of {what} with each doubling", growth, Side.BELOW, most)


def _sizes(measured: Measurements) -> list[tuple[str, int]]:
    return [(size, int(size)) for size in measured.values(SUBSCRIBERS)]


def _table(measured: Measurements, metric: str, agent: str, **place: str) -> pd.DataFrame:
    """A row for each seed, a column for each number of subscribers; seeds that lack a value are left out."""
    sizes = measured.values(SUBSCRIBERS)
    columns = [by_seed(measured, metric, **{AGENT: agent, SUBSCRIBERS: size}, **place) for size in sizes]
    table = pd.concat(columns, axis=1, keys=sizes).dropna()
    if table.empty:
        raise NotMeasuredError(f"no seed has {metric} of {agent} at every number of subscribers")
    return table


CONVERGENCE_CLAIMS = (
    ClaimTest(
        "Network convergence and closure (theorems of section 5): any initial state becomes a skip ring, and stays it.",
        "Labels checked. Each run ends in the skip ring of the definition, unchanged for ten rounds; a part a start, "
        "mean over numbers of subscribers.",
        _converges(OURS),
    ),
    ClaimTest(
        "The same, as published.",
        "As above, with labels checked at introductions only.",
        _converges(LETTER),
    ),
)
STEADY_CLAIMS = (
    ClaimTest(
        "Node degree (lemma of section 2.1): logarithmic in the worst case, constant in the average case.",
        "Different neighbours: at most 2 ceil(log2 n), and below 4 on average, which the proof comes to.",
        _degrees,
    ),
    ClaimTest(
        "Configuration requests (lemma of section 3.2.1): fewer than one a round is expected in a legitimate state.",
        "With the probabilities that count a bit more than the label has.",
        _requests(OURS),
    ),
    ClaimTest(
        "The same, as published.",
        "With the probabilities 1 / (2^k k^2), and action (iv).",
        _requests(FREQUENT),
    ),
    ClaimTest(
        "Operations (lemma of section 4.1): the supervisor sends a constant number of messages for each.",
        "What it sends to serve a subscription, an unsubscription, and further requests that come of either, grows by "
        "less than 0.25 messages with each doubling of the subscribers.",
        _operations,
    ),
    ClaimTest(
        "Operations (lemma of section 4.1): the subscribers send a constant number of messages for each, too.",
        "What subscribers send for labels and edges beyond maintenance grows by less than one message an operation "
        "with each doubling of the subscribers.",
        _overhead,
    ),
    ClaimTest(
        "Maintenance: a constant for any process.",
        "What a subscriber sends a round in a legitimate state without publications: two introductions to ring "
        "neighbours, two of shortcuts, and less than one request.",
        _maintenance,
    ),
    ClaimTest(
        "Flooding (section 4.3): a logarithmic number of steps, for that is the diameter.",
        "No subscriber is more than ceil(log2 n) hops from who publishes.",
        _hops,
    ),
    ClaimTest(
        "A new subscriber has all publications after a constant number of rounds (section 1.2).",
        "The rounds until then, of those that get all before the run ends, grow by less than 0.5 with each doubling.",
        _catch_up,
    ),
    ClaimTest(
        "The supervisor's messages do not grow with the number of subscribers (section 1.3).",
        "The configurations that it sends a round in a legitimate state grow by less than 0.25 with each doubling.",
        _supervision,
    ),
)


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
