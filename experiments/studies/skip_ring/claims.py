"""The theorems and lemmas of the skip ring's paper, each with one precise reading, and what the sweeps vary.

The paper proves bounds for any size, and a sweep has some sizes. The readings bring one to the other:

1. *Constant*: a straight line over doublings of the subscribers rises by less than a bound that stands at the head of
   this file. Logarithmic growth would add 1 with each doubling, so that every bound is at most 1.
2. *Logarithmic*: the value is at most the paper's own function of the size, at each size. Hops and degrees are whole
   numbers, so that the threshold lies one half above that function: a mean that is equal to it is not beyond it.
3. *Always* or *each*: a share is above 0.999. A share of 1 in all runs leaves nothing to test against 1 itself.
4. *Fewer than one*, *below 4*: the number of the paper's proof is the threshold, at each size. What is expected of all
   subscribers together, such as their requests, is estimated by the mean over seeds.

What the study compares are variants of one protocol, which is why the agents have names of their own here. The theorems
of section 5 and the lemma on configuration requests do not hold for the algorithm as published, and docs/deviations.md
says where their proofs go wrong. Each of these stands twice, for the algorithm with the corrections and without, so
that the report shows what the corrections do and that they are needed.

Means of rounds are of the runs and nodes that get there. So each of them stands beside the share that does: alone, a
mean would be the better the more of the slow ones never arrived.
"""

from __future__ import annotations

from math import ceil, log2

import pandas as pd

from roambus.experiments.claims import (
    ClaimTest,
    Comparison,
    Part,
    Parts,
    Place,
    Quantity,
    Side,
    at_each,
    between,
    make_part,
    mean_over,
    slope_over,
    value,
)
from roambus.experiments.measurements import Measurements, table_over
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
OURS, AS_PUBLISHED, RING_ONLY, FREQUENT = "skip-ring", "as_published", "ring-only", "frequent"
"""What the sweeps call their agents.

The first one has all corrections. `as_published` has none of those that convergence needs, `frequent` asks for
configurations with the probabilities of the paper, and `ring-only` floods without shortcuts.
"""
STARTS = {
    "labels+neighbours+shortcuts+database+messages": "everything corrupted",
    "islands": "four rings apart",
    "none": "all subscribe at once",
}
"""What figures and claims call the states that runs start from. The keys are values of the sweeps' axis `start`."""

CERTAIN = 0.999
"""A share of 1 is above this one: what must be so in each run is tested against it and not against 1."""
HALF = 0.5
"""What lies between a whole number and the next: "at most n" is tested as "below n and a half"."""
_AVERAGE_DEGREE = 4.0
"""The bound that the proof on degrees derives, in different neighbours of a subscriber."""
_MESSAGES_A_ROUND = 5.0
"""The bound of the proof: two introductions of itself, two of others, and a request."""
_MESSAGES_A_DOUBLING, _ROUNDS_A_DOUBLING, _OVERHEAD_A_DOUBLING = 0.25, 0.5, 1.0
"""What grows by less with each doubling of the subscribers is constant: logarithmic growth would add 1."""
CRASHED, TOPICS = "crashed", "topics"
FULL_STARTS = {
    "tries": "the skip ring",
    "labels+neighbours+shortcuts+database+messages+tries": "everything corrupted",
    "islands+tries": "four rings apart",
}
"""What figures and claims call the states in which subscribers have publications that nobody else has."""

_IN_VAIN = 1.0
"""The per cent of redundant publications that still count as "only missing publications"."""


def _converges(agent: str) -> Parts:
    """All runs of the agent converge, whatever state they start from; a part for each start."""
    share = mean_over(SUBSCRIBERS, CONVERGED, agent=agent)
    return at_each(
        [START], Comparison("{start}: share of runs that converge", share, Side.ABOVE, CERTAIN), names=STARTS
    )


def _at_each_size(what: str, metric: str, most: float, agent: str = OURS) -> Parts:
    """The metric is below a bound that does not depend on the size; a part for each number of subscribers."""
    return at_each([SUBSCRIBERS], Comparison(f"{{subscribers}}: {what}", value(metric, agent=agent), Side.BELOW, most))


def _log_size(place: Place) -> int:
    """The least power of 2 that is no smaller than the number of subscribers, as an exponent."""
    return ceil(log2(int(place[SUBSCRIBERS])))


def _grows_little(what: str, metric: str, most: float) -> Comparison:
    """The reading of "constant": the metric gains less than `most` with each doubling of the subscribers."""
    return Comparison(f"growth of {what} with each doubling", _growth(metric), Side.BELOW, most)


def _growth(metric: str) -> Quantity:
    """What the metric gains with each doubling: the sizes of the sweeps double from one to the next.

    A seed has one slope, and the test is over seeds. A slope over the means would have no interval.
    """
    return slope_over(SUBSCRIBERS, lambda size: log2(int(size)), metric, agent=OURS)


def _catch_up(measured: Measurements) -> list[Part]:
    """The growth of the rounds, with the share of those who get everything in its label.

    Whoever does not before the run ends has no number of rounds, so the mean is of the others: the share says how many.
    """
    share = table_over(measured, SUBSCRIBERS, CAUGHT_UP, agent=OURS).dropna().to_numpy().mean()
    what = f"rounds to catch up, of the {share:.1%} of new subscribers that do"
    return [_grows_little(what, CATCH_UP_ROUNDS, _ROUNDS_A_DOUBLING).part(measured, {}, {})]


def _restored(measured: Measurements) -> list[Part]:
    """All runs are restored, whichever share of the subscribers crashes; a part for each share.

    It is no `at_each`, because its labels have the share in per cent.
    """
    share = mean_over(SUBSCRIBERS, RESTORED, agent=OURS)
    return [
        make_part(
            f"{float(crashed):.0%} crash: share of runs that are restored",
            share(measured, {CRASHED: crashed}),
            Side.ABOVE,
            CERTAIN,
        )
        for crashed in measured.values(CRASHED)
    ]


def _growth_a_topic(measured: Measurements, place: Place) -> pd.Series[float]:
    """Growth over one topic's share of the configurations, so that one bound holds for any number of topics.

    The supervisor sends for each topic, so that what it sends in all grows by as much more as there are topics.
    """
    return _growth(ANSWERS_PER_ROUND)(measured, place) / float(place[TOPICS])


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
        _converges(AS_PUBLISHED),
    ),
)
STEADY_CLAIMS = (
    ClaimTest(
        "Node degree (lemma of section 2.1): logarithmic in the worst case, constant in the average case.",
        "Different neighbours: at most 2 ceil(log2 n), and below 4 on average, which the proof derives.",
        at_each(
            [SUBSCRIBERS],
            Comparison(
                "{subscribers}: greatest degree",
                value(DEGREE_MAX, agent=OURS),
                Side.BELOW,
                lambda place: 2 * _log_size(place) + HALF,
            ),
            Comparison("{subscribers}: mean degree", value(DEGREE_MEAN, agent=OURS), Side.BELOW, _AVERAGE_DEGREE),
        ),
    ),
    ClaimTest(
        "Configuration requests (lemma of section 3.2.1): fewer than one a round is expected in a legitimate state.",
        "With the probabilities that count a bit more than the label has.",
        _at_each_size("requests a round", REQUESTS_PER_ROUND, 1.0),
    ),
    ClaimTest(
        "The same, as published.",
        "With the probabilities 1 / (2^k k^2), and action (iv).",
        _at_each_size("requests a round", REQUESTS_PER_ROUND, 1.0, FREQUENT),
    ),
    ClaimTest(
        "Operations (lemma of section 4.1): the supervisor sends a constant number of messages for each.",
        "What it sends to serve a subscription, an unsubscription, and further requests that come of either, grows by "
        "less than 0.25 messages with each doubling of the subscribers.",
        at_each(
            [],
            *(
                _grows_little(metric.replace("_", " "), metric, _MESSAGES_A_DOUBLING)
                for metric in (PER_SUBSCRIBE, PER_UNSUBSCRIBE, FURTHER)
            ),
        ),
    ),
    ClaimTest(
        "Operations (lemma of section 4.1): the subscribers send a constant number of messages for each, too.",
        "What subscribers send for labels and edges beyond maintenance grows by less than one message an operation "
        "with each doubling of the subscribers.",
        at_each([], _grows_little("messages of subscribers an operation", BY_SUBSCRIBERS, _OVERHEAD_A_DOUBLING)),
    ),
    ClaimTest(
        "Maintenance: a constant for any process.",
        "What a subscriber sends a round in a legitimate state without publications: two introductions to ring "
        "neighbours, two of shortcuts, and less than one request.",
        _at_each_size("messages a subscriber and round", SENT_PER_NODE_ROUND, _MESSAGES_A_ROUND),
    ),
    ClaimTest(
        "Flooding (section 4.3): a logarithmic number of steps, for that is the diameter.",
        "No subscriber is more than ceil(log2 n) hops from who publishes.",
        at_each(
            [SUBSCRIBERS],
            Comparison(
                "{subscribers}: hops to the last subscriber",
                value(catalogue.HOPS_MAX, agent=OURS),
                Side.BELOW,
                lambda place: _log_size(place) + HALF,
            ),
        ),
    ),
    ClaimTest(
        "A new subscriber has all publications after a constant number of rounds (section 1.2).",
        "The rounds until then, of those that get all before the run ends, grow by less than 0.5 with each doubling.",
        _catch_up,
    ),
    ClaimTest(
        "The supervisor's messages do not grow with the number of subscribers (section 1.3).",
        "The configurations that it sends a round in a legitimate state grow by less than 0.25 with each doubling.",
        at_each([], _grows_little("configurations a round", ANSWERS_PER_ROUND, _MESSAGES_A_DOUBLING)),
    ),
)
PUBLICATION_CLAIMS = (
    ClaimTest(
        "Every subscriber of a topic will eventually know all publications that have been issued so far (section 4.2).",
        "Whoever has a publication at the start, all have it when the run ends; a part a start, mean over numbers of "
        "subscribers.",
        at_each(
            [START],
            Comparison(
                "{start}: share of subscribers", mean_over(SUBSCRIBERS, INFORMED, agent=OURS), Side.ABOVE, CERTAIN
            ),
            names=FULL_STARTS,
        ),
    ),
    ClaimTest(
        "Only those publications are sent out that are assumed to be missing at the receiver (section 4.2).",
        "Less than 1 % of what is sent as missing is known to who gets it; a part a start, mean over numbers of "
        "subscribers.",
        at_each(
            [START],
            Comparison(
                "{start}: redundant publications (%)",
                mean_over(SUBSCRIBERS, KNOWN_SENT, agent=OURS),
                Side.BELOW,
                _IN_VAIN,
            ),
            names=FULL_STARTS,
        ),
    ),
)
JOIN_CLAIMS = (
    ClaimTest(
        "While the subscribers double, an old one is involved only for two consecutive joins (section 4.1).",
        "Two consecutive joins, and no other, change the ring neighbours of each old subscriber but the one with label "
        "0, which the first and the last join concern.",
        at_each(
            [SUBSCRIBERS],
            Comparison(
                "{subscribers}: share of old subscribers, without label 0",
                value(TWO_CONSECUTIVE, agent=OURS),
                Side.ABOVE,
                CERTAIN,
            ),
            Comparison(
                "{subscribers}: joins that concern one of all", value(MOST_JOINS, agent=OURS), Side.BELOW, 2 + HALF
            ),
        ),
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
        at_each(
            [SUBSCRIBERS],
            *between(
                "{subscribers}: configurations a round for each further topic",
                slope_over(TOPICS, float, ANSWERS_PER_ROUND, agent=OURS),
                1.0,
                2.0,
            ),
        ),
    ),
    ClaimTest(
        "... but not in the number of subscribers (section 1.3).",
        "What it sends a round and topic grows by less than 0.25 configurations with each doubling of the subscribers.",
        at_each(
            [TOPICS],
            Comparison(
                "{topics} topics: growth of configurations a round and topic with each doubling of the subscribers",
                _growth_a_topic,
                Side.BELOW,
                _MESSAGES_A_DOUBLING,
            ),
        ),
    ),
)
