"""The theorems and lemmas of the skip ring's paper, each with one precise reading.

*Constant*: a straight line over doublings of the subscribers rises by less than a bound of at most 1. *Logarithmic*: at
each size at most the paper's function plus one half. *Always*, *each*: a share above 0.999. *Fewer than one*, *below
4*: the proof's number, at each size. Expected values are means over seeds. Statements that fail as published
(docs/deviations.md) are tested with and without corrections.
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
from roambus.extensions.skip_ring.study.measurements import (
    BY_SUBSCRIBERS,
    INFORMED,
    KNOWN_SENT,
    MOST_JOINS,
    RESTORED,
    TWO_CONSECUTIVE,
)
from roambus.extensions.skip_ring.study.metrics import (
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
"""The agents: with all corrections; `as_published` without those for convergence; `frequent` with the paper's request
probabilities; `ring-only` without shortcuts."""
STARTS = {
    "labels+neighbours+shortcuts+database+messages": "everything corrupted",
    "islands": "four rings apart",
    "none": "all subscribe at once",
}
"""Names of the start states (axis `start`)."""

CERTAIN = 0.999
"""The least share that counts as 1."""
HALF = 0.5
""""At most n" is tested as "below n and a half"."""
_AVERAGE_DEGREE = 4.0
"""The bound of the proof on degrees."""
_MESSAGES_A_ROUND = 5.0
"""The proof's bound: two introductions of itself, two of others, and a request."""
_MESSAGES_A_DOUBLING, _ROUNDS_A_DOUBLING, _OVERHEAD_A_DOUBLING = 0.25, 0.5, 1.0
"""The greatest gains per doubling of constants; logarithmic growth would add 1."""
CRASHED, TOPICS = "crashed", "topics"
FULL_STARTS = {
    "tries": "the skip ring",
    "labels+neighbours+shortcuts+database+messages+tries": "everything corrupted",
    "islands+tries": "four rings apart",
}
"""Names of the start states with unknown publications."""

_IN_VAIN = 1.0
"""The per cent of redundant publications that counts as "only missing publications"."""


def _converges(agent: str) -> Parts:
    """Claim that all runs converge; a part for each start."""
    share = mean_over(SUBSCRIBERS, CONVERGED, agent=agent)
    return at_each(
        [START], Comparison("{start}: share of runs that converge", share, Side.ABOVE, CERTAIN), names=STARTS
    )


def _at_each_size(what: str, metric: str, most: float, agent: str = OURS) -> Parts:
    """Claim that the metric is below a bound; a part for each size."""
    return at_each([SUBSCRIBERS], Comparison(f"{{subscribers}}: {what}", value(metric, agent=agent), Side.BELOW, most))


def _log_size(place: Place) -> int:
    """Return the exponent of the least power of 2 not below the subscribers."""
    return ceil(log2(int(place[SUBSCRIBERS])))


def _grows_little(what: str, metric: str, most: float) -> Comparison:
    """Claim a constant metric: it gains less than `most` with each doubling."""
    return Comparison(f"growth of {what} with each doubling", _growth(metric), Side.BELOW, most)


def _growth(metric: str) -> Quantity:
    """Return the gain per doubling, a slope a seed: one over means would have no interval."""
    return slope_over(SUBSCRIBERS, lambda size: log2(int(size)), metric, agent=OURS)


def _catch_up(measured: Measurements) -> list[Part]:
    """Claim the growth of rounds; the label has the share that arrives, over which the mean is."""
    share = table_over(measured, SUBSCRIBERS, CAUGHT_UP, agent=OURS).dropna().to_numpy().mean()
    what = f"rounds to catch up, of the {share:.1%} of new subscribers that do"
    return [_grows_little(what, CATCH_UP_ROUNDS, _ROUNDS_A_DOUBLING).part(measured, {}, {})]


def _restored(measured: Measurements) -> list[Part]:
    """Claim that all runs are restored; a part for each share of crashes (%)."""
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
    """Return growth divided by one topic's share: one bound for any number of topics."""
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
